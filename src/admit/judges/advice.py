"""Every reason in a sentence, and what to do about it: one table for all that speaks of a judge.

The reasons of `core.reasons`, those a door adds, and ``shadow:`` before why answers only were recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from admit.core.reasons import PROVIDER, family

SHADOW = "shadow:"


class Advice(NamedTuple):
    """A reason for a person. `fix` is a command or a sentence; empty where there is nothing to do."""

    sentence: str
    fix: str = ""


_CHECK = "admit judge check {profile}"
_WAIT = "Nothing to do; if it lasts: " + _CHECK
_TIME = "Raise judge.profiles.{profile}.{door}.timeout_ms, or ask about less: lower its max_candidates."
_SPOILED = "If it lasts, the model does not keep to the form of answers: " + _CHECK
_THRESHOLD = "admit config set judge.profiles.{profile}.{door}.threshold N"

# One row a reason reads better than one line an argument.
# fmt: off
ADVICE: Mapping[str, Advice] = MappingProxyType({
    # before anything is sent
    "off": Advice("No judge is asked: judge.mode is off.", "admit config set judge.mode enforce"),
    "config": Advice("No judge is asked: a settings file cannot be used as it is.", "admit config check"),
    "no_key": Advice("There is no key for the profile {profile}.", "admit judge key {profile}"),
    "no_consent": Advice("Nobody allowed that texts of the {door} door go to {destination}.",
        "admit consent grant {destination} --door {door}"),
    "not_calibrated": Advice("No calibration of the local judge passes its gate at the {door} door.",
        "admit doctor says which"),
    "unsupported": Advice("The profile {profile} cannot answer what the {door} door asks.",
        "Choose another: admit judge list"),
    "busy": Advice("All calls to {destination} that may run at once were taken.",
        "If it lasts: admit config set limits.slots N"),
    "shed": Advice("Too many requests were waiting.", "Nothing to do; if it lasts: admit doctor"),
    "budget_requests": Advice("A cap on requests is reached.",
        "Wait, or raise limits.session.requests or limits.day.requests with admit config set."),
    "budget_tokens": Advice("The day's cap on input tokens is reached.",
        "Wait for the next day (UTC), or admit config set limits.day.input_tokens N"),
    "budget_usd": Advice("The day's cap on cost is reached.",
        "Wait for the next day (UTC), or admit config set limits.day.usd N"),
    "budget_unknown": Advice("What was spent cannot be counted, so nothing is sent.",
        "admit doctor: limits.db in the state folder must be writable"),
    "cooldown": Advice("{destination} failed and is left alone for a while.", _WAIT),
    "redaction": Advice("A text could not be cleared of credentials in time, or one was left in the request.",
        "Nothing was sent; admit redact < TEXT shows what is masked"),
    "too_large": Advice("The request is larger than one of the profile {profile} may be.",
        "Lower max_candidates of the {door} door, or state the model's own context_tokens."),
    "deadline_before_call": Advice("So little time was left that nothing was sent.", _TIME),
    # no connection
    "connect": Advice("{destination} does not take connections.", _CHECK),
    "tls": Advice("The certificate of {destination} cannot be trusted.", _CHECK),
    "dns": Advice("The name of {destination} cannot be resolved, or leads to a private address.", _CHECK),
    "redirect": Advice("{destination} sent the request elsewhere; it was not followed.",
        "Put the final address into judge.profiles.{profile}.destination."),
    # at the call
    "deadline": Advice("The answer did not come in time.", _TIME),
    "transport": Advice("The connection to {destination} broke.", _WAIT),
    "command_exit": Advice("The program of the profile {profile} ended.", "Run it by hand: " + _CHECK),
    "internal": Advice("A fault in Admit or in the judge's own code.",
        "Please report it; admit doctor shows it."),
    "agent_error": Advice("The judge answered with an error; it may be older than this profile's settings.",
        "Update it, or: " + _CHECK),
    # the answer
    "answer_not_json": Advice("The answer is not JSON.", _SPOILED),
    "answer_encoding": Advice("The answer is no valid text (UTF-8).", _SPOILED),
    "answer_nan": Advice("The answer holds a number that is none.", _SPOILED),
    "answer_duplicate_key": Advice("The answer says one thing twice.", _SPOILED),
    "answer_too_deep": Advice("The answer is nested too deeply.", _SPOILED),
    "answer_too_large": Advice("The answer is too large.", _SPOILED),
    "answer_envelope": Advice("The answer lacks what every answer holds.", _SPOILED),
    "answer_extra_id": Advice("The answer speaks of something that was not asked.", _SPOILED),
    "answer_truncated": Advice("The answer was cut off.", "Lower max_candidates of the {door} door."),
    "answer_no_call": Advice("The model gave no judgement in the form asked for.", _SPOILED),
    "answer_many_calls": Advice("The model gave more than one judgement of the whole.", _SPOILED),
    "answer_refusal": Advice("The model refused to judge.",
        "Choose another model, or set {door} to another profile."),
    "answer_mostly_invalid": Advice("Most single answers cannot be used.", _SPOILED),
    "answer_defects": Advice("Single answers cannot be used.", _SPOILED),
    # what the provider says
    "provider_400": Advice("{destination} does not accept the request (400).", _CHECK),
    "provider_401": Advice("{destination} does not accept the key (401).", "admit judge key {profile}"),
    "provider_402": Advice("There is no credit left at {destination} (402).", "Top it up there."),
    "provider_403": Advice("The key may not be used for this at {destination} (403).",
        "admit judge key {profile}"),
    "provider_404": Advice("{destination} does not know the model or the path (404).",
        "admit judge show {profile}: its model, destination and path"),
    "provider_413": Advice("The request is too large for {destination} (413).",
        "Lower judge.profiles.{profile}.batch_bytes or context_tokens."),
    "provider_422": Advice("{destination} does not accept the request (422).", _CHECK),
    "provider_429": Advice("{destination} gets more requests than it takes (429).",
        "Wait, or lower limits.slots."),
    "provider_500": Advice("{destination} had a fault of its own (500).", _WAIT),
    "provider_529": Advice("{destination} is overloaded (529).", _WAIT),
    PROVIDER: Advice("{destination} answered with the status {status}.", _WAIT),
    # what a door adds
    "no_task": Advice("It is not known what the agent is doing, so there was nothing to judge by.",
        "Give --task; a host tells it by itself."),
    "coverage": Advice("Under half of what was asked was judged.",
        "The first failure is in the calls: admit why --json"),
    "partial": Advice("An answer was lost, and outputs.filter.partial is reject.",
        "admit config set outputs.filter.partial keep uses the others"),
    "none_passed": Advice("Nothing reached the least value that admits.",
        "Nothing to do; if it is the rule, lower the threshold of the {door} door."),
    "not_asked": Advice("No judge was asked."),
    # why answers were only recorded
    SHADOW + "mode": Advice(
        "Answers are recorded and do not act: judge.mode, or the door's own mode, is shadow.",
        "admit config set judge.mode enforce"),
    SHADOW + "unverified": Advice(
        "Answers are recorded and do not act: no threshold is known for this model.", _THRESHOLD),
    SHADOW + "alias": Advice(
        "Answers are recorded and do not act: the model's name may come to mean another model.",
        "Pin a version: admit config set judge.profiles.{profile}.model MODEL, and set its threshold"),
    SHADOW + "model_drift": Advice(
        "Answers are recorded and do not act: another model answered than was asked.",
        "Pin the model that answers, then " + _THRESHOLD),
})
# fmt: on


def advice(
    reason: str, *, profile: str | None = None, door: str | None = None, destination: str | None = None
) -> Advice:
    """The sentence and the fix of a reason, with names filled in; a reason of no list gives its own word.

    Args:
        destination: `Profile.address`; what is not known is said in general.
    """
    found = ADVICE.get(reason) or ADVICE.get(family(reason))
    if found is None:
        return Advice(f"The reason is {reason}.")
    server = f"the program of the profile {profile}" if _is_program(destination) else destination
    names = {
        "profile": profile or "PROFILE",
        "door": door or "DOOR",
        "destination": server or "the judge's server",
        "status": reason.rpartition("_")[2],
    }
    fix = names if destination else names | {"destination": "DESTINATION"}
    return Advice(_first_upper(found.sentence.format_map(names)), found.fix.format_map(fix))


def _is_program(destination: str | None) -> bool:
    """Whether it is a `command` judge, which has a kind for an address and no server."""
    return destination is not None and destination.startswith("command:")


def _first_upper(text: str) -> str:
    return text if text.startswith("http") else text[:1].upper() + text[1:]
