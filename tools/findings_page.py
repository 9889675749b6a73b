"""The page of findings, made from the results beside it: `python tools/findings_page.py > docs/findings.md`."""

# ruff: noqa: E501 (a line of a document is one line)

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from admit.lab.report import FAMILIES, cell, kind

FOLDER = Path(__file__).parents[1] / "docs" / "findings"

HEAD = """\
# Findings

<!-- Made by `python tools/findings_page.py > docs/findings.md` from docs/findings/*.json. -->

What was measured under frozen plans. Each figure comes from a result that stands beside this page in `findings/`, with
the plan, its frozen form and its hash. How the steps work: [lab.md](lab.md).

The bars and the order of choice are those of the published decision, unchanged. The development surfaces had been scored
with them before these plans were frozen, while the lab and the tools door were written: here a frozen plan fixes the rule
and is not a first look. A first look is what a sealed surface is for, and none was opened.

A figure in brackets is a 95 % interval: whole clusters of cases drawn again, Wilson's for shares of cases. Recall is over
required instances, full coverage over the cases that need a route, tools exposed and schema tokens over all cases.
*near* and *far* are requests that no route answers, in the domain and out of it: tools exposed for them.
*difference* is said only where the interval is apart from 0, the exact test agrees where there is one, and the
repeat arm, the same arm run twice, moves less.
"""

MAIN = (
    ("recall", "recall"),
    ("full_coverage", "full coverage"),
    ("mean_exposed", "tools exposed"),
    ("p95_exposed", "p95"),
    ("mean_tokens", "schema tokens"),
    ("near_domain_exposed", "near"),
    ("out_of_domain_exposed", "far"),
)
APART = (
    ("typed_recall", "typed and unit recall"),
    ("collisions_at_cut", "missed: collision at the cut"),
    ("below_cut", "missed: below the cut"),
    ("not_in_top_10", "of these not in the top 10"),
    ("recall_per_1000_tokens", "recall by 1,000 tokens"),
    ("bits_over_random", "bits over random"),
)


def page(results: Sequence[Mapping[str, Any]]) -> str:
    """The whole page, in Markdown."""
    return HEAD + "".join("\n".join(("", *_section(one), "")) for one in results)


def results() -> list[dict[str, Any]]:
    """The results, by the names of their files."""
    files = sorted(path for path in FOLDER.glob("*.json") if not path.name.endswith(".frozen.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in files]


def _section(found: Mapping[str, Any]) -> Iterator[str]:
    surface, chosen, repeat = found["surface"], found["selection"], found["repeat"]
    yield f"## {found['name']} ({kind(found)} figures)"
    yield ""
    yield f"{found['question']} {surface['cases']:,} cases of `{surface['name']}`. {found['claim_boundary']}"
    yield ""
    if chosen["policy"] is None:
        yield "**Result: nothing is eligible, and that ends this line.** No sealed surface was opened."
    else:
        yield f"**Result: {chosen['policy']} is chosen.**"
    for policy, bars in chosen["failed"].items():
        yield f"- {policy}: {'eligible' if not bars else 'does not keep ' + ', '.join(f'`{bar}`' for bar in bars)}"
    yield ""
    yield (
        f"Repeat arm: {repeat['changed']:,} of {repeat['of']:,} rows changed. Tokens by the counter "
        f"`{found['counter']}`. {_waiver(found)}"
    )
    for size, policies in found["estimates"].items():
        yield from ("", f"### {int(size):,} routes ({kind(found)})", "")
        yield from _table(
            ("policy", "family", *(words for _, words in MAIN)),
            [(policy, FAMILIES[found["families"][policy]], *(cell(values[name]) for name, _ in MAIN))
             for policy, values in policies.items()],
        )  # fmt: skip
        control = found["against"]["control"]
        yield from ("", f"Less {control}, case by case:", "")
        yield from _table(
            ("policy", "full coverage", "", "tools exposed", "", "schema tokens", ""),
            [(policy, *(part for one in values.values() for part in (cell(one), one["verdict"])))
             for policy, values in found["against"]["sizes"][size].items()],
        )  # fmt: skip
        yield from ("", "Apart; bits over random is a diagnostic that decides nothing:", "")
        yield from _table(
            ("policy", *(words for _, words in APART)),
            [(policy, *(cell(values[name]) for name, _ in APART)) for policy, values in policies.items()],
        )
    yield ""
    yield f"Printed by `{found['command']}`; plan `{found['plan']}`, code `{found['code']}`, data:"
    for files in found["data"].values():
        for name, hash in files.items():
            yield f"- `{name}` `{hash}`"


def _waiver(found: Mapping[str, Any]) -> str:
    power = found["power"]
    if not power["waiver"]:
        return f"The gate on task passes takes {power['cases_needed']:,} cases."
    return f"The gate on task passes takes about {power['cases_needed']:,} cases; waived: {power['waiver']}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    print(page(results()), end="")
