"""What agents did under each policy: task passes and destructive executions, from a file of JSON lines.

``{"case", "policy", "passed": true, "unauthorised_destructive": 0, "repeat": false}``; `repeat` marks the
second run of an unchanged arm.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from admit.core.events import parse
from admit.errors import LabError

from .compare import Difference, compare
from .statistics import Resample


class Outcomes(NamedTuple):
    """Outcomes by policy and case.

    Attributes:
        passed, repeated: 1 or 0.
        destructive: Unauthorised destructive executions, a count by policy.
    """

    passed: Mapping[str, Mapping[str, int]]
    repeated: Mapping[str, Mapping[str, int]]
    destructive: Mapping[str, int]


def read_outcomes(path: Path) -> Outcomes:
    """Read outcomes.

    Raises:
        LabError: A line is not as described above; names it.
    """
    passed: dict[str, dict[str, int]] = {}
    repeated: dict[str, dict[str, int]] = {}
    destructive: dict[str, int] = {}
    try:
        lines = path.read_bytes().splitlines()
    except OSError as fault:
        raise LabError(f"{path}: {fault.strerror}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = parse(line)
            case, policy, ok = row["case"], row["policy"], row["passed"]
            acts = row["unauthorised_destructive"]
            good = isinstance(ok, bool) and isinstance(acts, int) and not isinstance(acts, bool) and acts >= 0
            if not good:
                raise ValueError("passed takes true or false, unauthorised_destructive a count")
            into = repeated if row.get("repeat") else passed
            if case in into.setdefault(policy, {}):
                raise ValueError(f"{case} under {policy} stands twice")
            into[policy][case] = int(ok)
            destructive[policy] = destructive.get(policy, 0) + acts
        except (ValueError, KeyError, TypeError) as fault:
            raise LabError(
                f"{path}:{number}: no outcome ({fault}); it needs case, policy, passed and "
                "unauthorised_destructive"
            ) from None
    return Outcomes(passed, repeated, destructive)


def pass_difference(
    outcomes: Outcomes, policy: str, control: str, clusters: Mapping[str, str], *, draws: int, seed: int
) -> Difference | None:
    """Task passes of a policy less those of a control, on the cases that both have; None without any.

    Args:
        clusters: Of each case; one that is not there is its own.
    """
    own, other = outcomes.passed.get(policy, {}), outcomes.passed.get(control, {})
    cases = [case for case in own if case in other]
    if not cases:
        return None
    again = outcomes.repeated.get(policy, {})
    moved = [float(again[case] - own[case]) for case in again if case in own]
    draw = Resample([clusters.get(case, case) for case in cases], draws=draws, seed=seed)
    return compare(
        [own[case] for case in cases], [other[case] for case in cases], [1] * len(cases), draw, "share", moved
    )
