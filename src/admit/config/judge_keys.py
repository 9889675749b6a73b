"""The settings of judges, their profiles and their limits; and what ships under each profile's name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from admit.config.key import CHARS, DOORS, MODES, Key, Kind, Trust

# One row a key reads better than one line a field.
# fmt: off
JUDGE_KEYS = (
    Key("judge.profile", "local", "", "text", help="The profile that answers."),
    Key("judge.mode", "enforce", "", "text", choices=MODES,
        help="Act on answers, only record them, or ask nothing."),
    Key("judge.min_valid_share", 0.5, "share", "float", 0, 1,
        help="With fewer usable answers than this the whole reply counts as failed."),
    Key("judge.min_call_ms", 150, "ms", "int", 1, 60_000, help="With less time left no call is made."),
    Key("judge.redact_patterns", (), "", "texts",
        help="RE2 patterns that are masked in all that is sent, beside the built-in shapes."),
    Key("judge.proxy", None, "", "text", help="URL of a proxy for every call of a judge.",
        absent="none; proxy variables of the environment are not read"),
    Key("judge.allow_plain_http", False, "", "bool", tighten="false",
        help="Let a judge at a private address be asked over plain http."),
    Key("judge.local.mode", "embed", "", "text", choices=("embed", "lexical"),
        help="Use the embedder, or words alone."),
    Key("judge.local.threads", 1, "threads", "int", 1, 64, help="Threads of the embedder."),
    Key("judge.local.embed_max", 24, "candidates", "int", 0, 1000,
        help="Candidates of one ask that are embedded; the rest are judged by words."),
    Key("judge.local.embed_chars", 500, CHARS, "int", 100, 10_000,
        help="A longer candidate is embedded as its best window of this length."),
    Key("judge.local.model_path", None, "", "text", help="Another model file.", absent="the packaged model"),
)

LIMIT_KEYS = (
    Key("limits.slots", 8, "calls", "int", 1, 64, help="Calls to one destination at once."),
    Key("limits.session.requests", 500, "requests", "int", 0, 1_000_000,
        help="The most that one session sends; the local judge has no limit."),
    Key("limits.day.requests", 5000, "requests", "int", 0, 10_000_000, help="The most a day (UTC) sends."),
    Key("limits.day.input_tokens", 5_000_000, "tokens", "int", 0, 10_000_000_000,
        help="The most a day (UTC) sends, in estimated tokens until the judge says its count."),
    Key("limits.day.usd", 1.0, "USD", "float", 0, 100_000,
        help="The most a day (UTC) may cost; a destination without prices obeys the other limits alone."),
    Key("limits.cooldown_failures", 3, "failures", "int", 1, 1000,
        help="Failures in a row after which a destination is left alone."),
    Key("limits.cooldown_s", 60, "s", "int", 1, 86_400,
        help="How long it is left alone, unless it says how long; then one call tries again."),
)

_FIELDS: tuple[tuple[str, Any, str, Kind, float | None, float | None, str, str], ...] = (
    ("backend", None, "", "text", None, None, "Who answers.", "required in a profile of your own"),
    ("destination", None, "", "text", None, None, "URL of the server, without the path below.", ""),
    ("path", None, "", "text", None, None, "Path of the endpoint under the destination.", ""),
    ("model", None, "", "text", None, None, "The pinned model. Another one needs its own thresholds.", ""),
    ("form", None, "", "text", None, None,
     "How the answer is forced: a JSON schema, a tool call, or a tool call in Anthropic messages.", ""),
    ("temperature", None, "of 2", "float", 0, 2, "Sent with a request.", "none is sent"),
    ("price_in", None, "USD per million tokens", "float", 0, 10_000, "Price of input tokens.", "unknown"),
    ("price_out", None, "USD per million tokens", "float", 0, 10_000, "Price of output tokens.", "unknown"),
    ("argv", (), "", "texts", None, None, "Program and arguments of a `command` judge; no shell.", ""),
    ("env", (), "", "texts", None, None,
     "Names of variables that a `command` judge gets, beside PATH, HOME and LANG.", ""),
    ("key_variable", None, "", "text", None, None,
     "A variable that holds the key for commands; hooks and the daemon read the key's file alone.", ""),
    ("batch_questions", None, "questions", "int", 1, 10_000, "The most one request asks.", "no limit"),
    ("batch_bytes", None, "bytes", "int", 1000, 100_000_000, "The most one request carries.", "no limit"),
    ("context_tokens", None, "tokens", "int", 100, 10_000_000,
     "The model's context, 3 bytes a token.", "no limit; 8,000 for a chat model"),
)
_WORDS = MappingProxyType({
    "backend": ("local", "systemone", "chat", "command"), "form": ("schema", "tool", "messages"),
})
# fmt: on


def _door_keys(door: str) -> tuple[Key, ...]:
    """What a profile says of one door; a grounding review (evidence) has neither cap nor threshold."""
    prefix = f"judge.profiles.NAME.{door}"
    absent = "the profile's own"  # its threshold may be that of its calibration
    # Where overflow is blocked a lower cap would hide things, so there it is the user's alone: always at the
    # tools door, and at the guidance door where the user chose so.
    trust: Trust = "narrow" if door in ("guidance", "outputs") else "user"
    levels = 3 if door == "outputs" else 1
    # fmt: off
    keys = (
        Key(f"{prefix}.max_candidates", None, "candidates", "int", 1, 10_000, trust=trust, tighten="lower",
            unless=("guidance.gate.overflow", "block") if door == "guidance" else None,
            help=f"The most that one ask of the {door} door judges.", absent=absent),
        Key(f"{prefix}.threshold", None, "of 3" if levels == 3 else "probability", "float", 0, levels,
            help=f"The least value that admits at the {door} door.", absent=absent),
        Key(f"{prefix}.timeout_ms", None, "ms", "int", 1, 600_000 if door == "evidence" else 60_000,
            help=f"The deadline of one ask of the {door} door.", absent=absent),
    )
    # fmt: on
    return keys[2:] if door == "evidence" else keys


PROFILE_KEYS = (
    *(
        Key(
            f"judge.profiles.NAME.{name}",
            value,
            unit,
            kind,
            low,
            high,
            _WORDS.get(name, ()),
            help=text,
            absent=absent or "the profile's own",
        )
        for name, value, unit, kind, low, high, text, absent in _FIELDS
    ),
    *(key for door in DOORS for key in _door_keys(door)),
)

# What the shipped profiles bring: name, then door, then (max_candidates, threshold, timeout_ms).
# A threshold of None is the one of the calibration artefact at a local judge; at any other the door
# only records until one is set.
_JEV = MappingProxyType(
    {
        "guidance": (8, 0.3, 2000),
        "tools": (50, 0.3, 2000),
        "outputs": (192, 1.5, 4000),
        "evidence": (None, None, 120_000),
    }
)
_UNSET = MappingProxyType(
    {
        "guidance": (8, None, 2000),
        "tools": (12, None, 2000),
        "outputs": (12, None, 4000),
        "evidence": (None, None, 120_000),
    }
)
PROFILES: Mapping[str, Mapping[str, tuple[int | None, float | None, int]]] = MappingProxyType(
    {
        "local": MappingProxyType(
            {"guidance": (8, None, 1000), "tools": (24, None, 1000), "outputs": (24, None, 2000)}
        ),
        "jev": _JEV,
        "openrouter-jev": _JEV,
        "anthropic": MappingProxyType({**_UNSET, "guidance": (8, 0.3, 2000), "tools": (12, 0.3, 2000)}),
        "openai-compatible": _UNSET,
        "ollama": _UNSET,
        "command": _UNSET,
    }
)

_SYSTEMONE = MappingProxyType(
    {"backend": "systemone", "batch_questions": 32, "batch_bytes": 60_000, "context_tokens": 60_000}
)
PROFILE_FIELDS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "local": MappingProxyType({"backend": "local", "model": "minilm-int8"}),
        "jev": MappingProxyType(
            {
                **_SYSTEMONE,
                "destination": "https://api.typesafe.ai",
                "path": "/v1/systemone",
                "model": "jev-1.13.0",
                "price_in": 0.042,
                "price_out": 0.0,
            }
        ),
        "openrouter-jev": MappingProxyType(
            {
                **_SYSTEMONE,
                "destination": "https://openrouter.ai",
                "path": "/api/alpha/decisions",
                "model": "typesafe/jev-1.13-20260917",
                "price_in": 0.042,
                "price_out": 0.0,
            }
        ),
        "anthropic": MappingProxyType(
            {
                "backend": "chat",
                "destination": "https://api.anthropic.com",
                "path": "/v1/messages",
                "model": "claude-haiku-4-5-20251001",
                "form": "messages",
                "price_in": 1.0,
                "price_out": 5.0,
                "context_tokens": 200_000,
            }
        ),
        "openai-compatible": MappingProxyType(
            {"backend": "chat", "path": "/chat/completions", "form": "schema", "context_tokens": 8000}
        ),
        "ollama": MappingProxyType(
            {
                "backend": "chat",
                "destination": "http://127.0.0.1:11434/v1",
                "path": "/chat/completions",
                "form": "schema",
                "context_tokens": 8000,
            }
        ),
        "command": MappingProxyType({"backend": "command"}),
    }
)
BASE_PROFILES: Mapping[str, str] = MappingProxyType(
    {"local": "local", "systemone": "jev", "chat": "openai-compatible", "command": "command"}
)
"""The shipped profile that a user's own one of a backend inherits from."""
