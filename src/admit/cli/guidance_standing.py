"""How guidance stands in a folder: what there is, what finds it, who judges it, and what is wrong with it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from admit.cli.checks import Fault
from admit.cli.frame import counted
from admit.config.check import visible
from admit.config.layers import Config
from admit.errors import ConfigError
from admit.guidance.model import Finding

MATCHED = {
    "fused": "words and embeddings",
    "lexical": "words",
    "explicit_only": "patterns, commands, files and states alone",
}

JUDGED = {
    "enforce": "judged by",
    "shadow": "judged for the record alone by",
    "off": "not judged, with the judge",
}


class Standing(NamedTuple):
    """Guidance in a folder.

    Attributes:
        snippets: How many there are.
        errors: What is wrong with the files.
        matcher: ``fused``, ``lexical`` or ``explicit_only``.
        gate: ``enforce``, ``shadow`` or ``off``.
        judge: The profile that answers.
    """

    snippets: int
    errors: tuple[Finding, ...]
    matcher: str
    gate: str
    judge: str

    @property
    def sentence(self) -> str:
        """The same for a person."""
        many = counted(self.snippets, "snippet")
        return f"Guidance here: {many}, found by {MATCHED[self.matcher]}; {JUDGED[self.gate]} {self.judge}."


def standing(config: Config, folder: str) -> Standing:
    """Read the files of a folder, as a host that is connected gets them."""
    from admit.cli.guide_gate import host_of
    from admit.guidance.fused import FusedMatcher
    from admit.guidance.gather import load, settings_of
    from admit.guidance.opening import matcher
    from admit.guidance.roots import roots_of

    index, findings = load(roots_of(folder, host_of(None), config.values), settings=settings_of(config))
    one = next((one for one in index.snippets if one.semantic()), None)
    found = matcher(index._replace(snippets=(one,) if one is not None else ()), config)
    return Standing(
        len(index.snippets),
        tuple(finding for finding in findings if finding.level == "error"),
        "fused" if isinstance(found, FusedMatcher) else found.mode,
        _gate(config),
        config.values["judge.profile"],
    )


def asks(config: Config) -> bool:
    """Whether a judge is asked about guidance in the working folder."""
    return _gate(config) != "off" and standing(config, os.getcwd()).snippets > 0


def guidance(config: Config) -> Iterator[Fault]:
    """The files of guidance in this folder, and what they are matched by."""
    found = standing(config, os.getcwd())
    if found.errors:
        first = found.errors[0]
        place = f"{first.path}:{first.line}" if first.line else first.path
        text = f"{counted(len(found.errors), 'error')} in files of guidance; the first: "
        text += f"{visible(place, 400)}: {visible(first.text, 200)}."
        yield Fault("guidance", text, "admit guide lint")
    if found.snippets and config.values["guidance.matcher.encoder"] == "local" and found.matcher != "fused":
        text = f"Guidance is found by {MATCHED[found.matcher]}, for there is no embedder that may be used."
        fix = "pip install 'admit[local]', or admit config set guidance.matcher.encoder off"
        yield Fault("guidance", text, fix)


def _gate(config: Config) -> str:
    """The mode in force: as it is set, else off with a judge on this machine's own and on with any other."""
    from admit.judges.profiles import profile

    values = config.values
    if not config.may_ask("guidance") or values["judge.mode"] == "off":
        return "off"
    try:
        chosen = profile(values["judge.profile"], values)
    except ConfigError:
        return "off"  # the check of the judge says it
    if "guidance" not in chosen.doors:
        return "off"
    return values["guidance.mode"] or ("off" if chosen.backend == "local" else "enforce")
