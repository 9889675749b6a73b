"""Whether a judge can be asked: its key, its model, and one small ask.

Only texts of this file are sent, and they go the way of every ask: consent, key, redaction, caps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from admit.core.question import Ask, Reply

from .bounded import BoundedJudge
from .limits import Estimate
from .load import load_judge
from .parse import decode
from .profiles import Profile
from .remote import RemoteJudge
from .rubric import guidance_question, outputs_question
from .standing import forgive
from .wire import Sent, model_name

State = Literal["valid", "invalid", "no_credit", "rate_limited", "model_unavailable", "unreachable", "failed"]

DEADLINE_MS = 30_000
"""Of one ask here: a server that has yet to load its model is slow once, and no door waits."""

LIST_S = 10.0
"""How long the list of models is waited for."""

_STATES: Mapping[str, State] = MappingProxyType(
    {
        "no_key": "invalid",
        "provider_401": "invalid",
        "provider_403": "invalid",
        "provider_402": "no_credit",
        "provider_404": "model_unavailable",
        "provider_429": "rate_limited",
        **dict.fromkeys(("connect", "tls", "dns", "redirect", "deadline", "transport"), "unreachable"),
    }
)

TASK = "Find out why the build failed."
TEXT = "error: no space left on device while writing build/app.o"


def probe(door: str) -> Ask:
    """One small question in the words of a door, about a text of our own."""
    make = outputs_question if door == "outputs" else guidance_question
    return Ask(door, TASK, (), (make("q1", TEXT),), None, DEADLINE_MS, "check")


def state_of(reply: Reply, model: str = "", listed: Sequence[str] | None = None) -> State:
    """What a reply says of a judge.

    Args:
        model: The model that was asked for.
        listed: The models that the server lists, where it lists any: a request refused with 400 or 422 for
            a model that is not among them means the model.
    """
    if reply.status == "judged":
        return "valid"
    reason = reply.reason or ""
    if listed and model not in listed and reason in ("provider_400", "provider_422"):
        return "model_unavailable"
    return _STATES.get(reason, "failed")


class Checked(NamedTuple):
    """What one small ask showed.

    Attributes:
        models: The names that the server lists; None where it lists none, which is no fault.
        said: What the server said of an error, redacted; empty where it said nothing.
    """

    state: State
    door: str
    reply: Reply
    models: tuple[str, ...] | None = None
    said: str = ""


def check(profile: Profile, values: Mapping[str, Any], door: str) -> Checked:
    """Ask a judge one small question. Ends a cool-down of its destination, for this is the try."""
    judge = load_judge(profile, config=values, variables=True)
    remote = judge.judge if isinstance(judge.judge, RemoteJudge) else None
    try:
        listed = None if remote is None else models(remote)
        if remote is not None:
            forgive(profile.address)
        reply = judge.ask(probe(door))
    finally:
        close(judge)
    said = "" if remote is None else remote.said
    return Checked(state_of(reply, profile.model, listed), door, reply, listed, said)


def models(judge: RemoteJudge) -> tuple[str, ...] | None:
    """The names of the models that a server lists, under ``models`` beside its endpoint; None where it
    lists none, or nothing may be sent without a key."""
    from .http import HttpTransport
    from .keyfile import Keys, needs_key

    profile, transport = judge.profile, judge.transport
    key = Keys().read(profile, variables=True)
    if not isinstance(transport, HttpTransport) or (key is None and needs_key(profile)):
        return None
    path = urlsplit(profile.url).path
    root = path.removesuffix("/completions").rpartition("/")[0]  # /v1/chat/completions, or /v1/messages
    return _names(transport.get(f"{root}/models", judge.headers(key), LIST_S))


def _names(got: Sent) -> tuple[str, ...] | None:
    """Of ``{"models": [{"name"}]}`` or ``{"data": [{"id"}]}``; an answer in another form lists nothing."""
    value = decode(got.body) if got.reason is None else None
    rows = value.get("models") or value.get("data") if isinstance(value, dict) else None
    if not isinstance(rows, list):
        return None
    named = (model_name(row.get("name") or row.get("id")) for row in rows if isinstance(row, dict))
    return tuple(name for name in named if name is not None) or None


def estimate(profile: Profile, values: Mapping[str, Any], door: str) -> Estimate | None:
    """The most that a check takes; None for a judge that sends nothing."""
    judge = load_judge(profile, config=values).judge
    return judge.estimate(probe(door)) if isinstance(judge, RemoteJudge) else None


def close(judge: BoundedJudge) -> None:
    """Give up what a judge keeps open."""
    if isinstance(judge.judge, RemoteJudge):
        judge.judge.transport.close()
