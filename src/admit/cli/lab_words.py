"""What the commands of the lab print: figures, choices and gates in lines and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from admit.text.table import table

if TYPE_CHECKING:
    from admit.lab.promote import Promotion

HEAD = (
    "",
    "family",
    "recall",
    "full coverage",
    "exposed",
    "p95",
    "schema tokens",
    "unsupported: near",
    "far",
)


def run_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The table of each size, with what kind of figures they are."""
    yield label(found)
    for size, policies in found["estimates"].items():
        yield ""
        yield f"{int(size):,} routes"
        rows = [
            (
                policy,
                _family(found["families"][policy]),
                interval(values["recall"]),
                interval(values["full_coverage"]),
                interval(values["mean_exposed"]),
                interval(values["p95_exposed"], ends=False),
                interval(values["mean_tokens"], ends=False),
                interval(values["near_domain_exposed"], ends=False),
                interval(values["out_of_domain_exposed"], ends=False),
            )
            for policy, values in policies.items()
        ]
        yield table(rows, HEAD, right=range(2, len(HEAD)))
    repeat = found["repeat"]
    yield ""
    yield f"Repeat arm: {repeat['changed']:,} of {repeat['of']:,} changed. Token counter: {found['counter']}."
    if found["power"]["waiver"]:
        yield (
            f"Waived: {found['power']['cases_needed']:,} cases are needed to show task passes; "
            f"{found['power']['waiver']}"
        )


def label(found: Mapping[str, Any]) -> str:
    """What kind of figures these are."""
    surface = found["surface"]
    kind = {True: "synthetic, ", False: "", None: "not stated whether synthetic, "}[surface["synthetic"]]
    role = "development" if surface["role"] == "dev" else "confirmation"
    return f"{found['name']}: {surface['name']}, {surface['cases']:,} cases ({kind}{role} figures)"


def selection_lines(chosen: Mapping[str, Any]) -> Iterator[str]:
    """Which policy was chosen and why, and the bars that the others do not keep."""
    if chosen["policy"] is None:
        yield "Nothing is eligible. That is the result, and it ends this line."
    else:
        yield f"Chosen: {chosen['policy']}. There is no retuning after this."
    for policy, bars in chosen["failed"].items():
        yield f"  {policy}: {'eligible' if not bars else 'does not keep ' + ', '.join(bars)}"


def promotion_lines(done: Promotion) -> Iterator[str]:
    """Each gate, and what was written or not."""
    yield table([(one.bar, one.state, one.says) for one in done.gates], ("gate", "", ""))
    if done.promoted:
        yield f'Written to your file: {done.key} = "{done.value}".'
    else:
        yield f"Nothing was written; {done.key} stays as it is."


def interval(one: Mapping[str, Any], *, ends: bool = True) -> str:
    """A figure with its interval: shares in percent."""
    from admit.lab.report import cell

    return cell(one if ends else {**one, "low": None})


def _family(family: str) -> str:
    return "outside the family" if family == "outside" else family
