"""The figures of a run as one page: no outside resource, no script, every figure with its interval.

Drawn is recall against what it costs, with the oracle (each case shown exactly what it needs) beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 300, 64, 150, 20, 44
FAMILIES = {"control": "control", "candidate": "candidate", "outside": "outside the family"}
COLUMNS = (
    ("recall", "recall"),
    ("full_coverage", "full coverage"),
    ("mean_exposed", "exposed"),
    ("p95_exposed", "p95 exposed"),
    ("mean_tokens", "schema tokens"),
    ("near_domain_exposed", "near-domain unsupported, exposed"),
    ("out_of_domain_exposed", "out of domain, exposed"),
    ("typed_recall", "typed and unit recall"),
    ("collisions_at_cut", "missed: collision at the cut"),
    ("below_cut", "missed: below the cut"),
    ("not_in_top_10", "of these not in the top 10"),
    ("bits_over_random", "bits over random (diagnostic)"),
)
STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; margin: 0.5rem 0 1.5rem; }
th, td { padding: 0.25rem 0.6rem; text-align: right; border-bottom: 1px solid #8884; white-space: nowrap; }
th { vertical-align: bottom; white-space: normal; } th:first-child, td:first-child { text-align: left; }
.tag { background: #c60; color: #fff; border-radius: 0.3rem; padding: 0 0.4rem; font-size: 0.8rem; }
svg { width: 100%; max-width: 45rem; } svg text { font-size: 11px; fill: currentColor; }
.grid { stroke: #8884; } .bar { stroke: currentColor; opacity: 0.5; }
.control { fill: #2563eb; }
.candidate { fill: #d97706; } .outside { fill: #64748b; } .oracle { fill: #16a34a; }
.soft { opacity: 0.75; }
"""


def page(found: Mapping[str, Any]) -> str:
    """The page as text; the same figures give the same bytes."""
    body = "\n".join(_body(found))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(found['name'])}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def kind(found: Mapping[str, Any]) -> str:
    """What kind of figures these are, for every chart, table and caption."""
    surface = found["surface"]
    words = (
        []
        if surface["synthetic"] is False
        else ["synthetic" if surface["synthetic"] else "origin not stated"]
    )
    return ", ".join([*words, "development" if surface["role"] == "dev" else "confirmation"])


def cell(one: Mapping[str, Any]) -> str:
    """A figure with its interval: shares in percent."""
    value, low, high = one["value"], one["low"], one["high"]
    if value is None:
        return "-"
    factor, places = (
        (100, 1) if one["unit"] == "share" else (1, 0 if one["unit"] in ("tokens", "count") else 2)
    )
    said = f"{factor * value:,.{places}f}{' %' if one['unit'] == 'share' else ''}"
    if low is not None and high is not None:
        said += f" ({factor * low:,.{places}f} to {factor * high:,.{places}f})"
    return said


def _body(found: Mapping[str, Any]) -> Iterator[str]:
    surface, chosen = found["surface"], found["selection"]
    tag = f'<span class="tag">{escape(kind(found))}</span>'
    yield f"<h1>{escape(found['name'])} {tag}</h1>"
    yield f"<p>{escape(found['question'])}</p>"
    yield (
        f'<p class="soft">{escape(surface["name"])}, {surface["cases"]:,} cases. '
        f"{escape(found['claim_boundary'])} Plan {escape(found['plan'])}. Intervals are 95 %: "
        f"{found['draws']:,} draws of whole clusters, Wilson for shares of cases.</p>"
    )
    yield "<h2>The decision</h2>"
    if chosen["policy"] is None:
        yield "<p>Nothing is eligible, and that is the result.</p>"
    else:
        yield f"<p>Chosen: <b>{escape(chosen['policy'])}</b>, by the order of the plan.</p>"
    rows = [(policy, ", ".join(bars) or "eligible") for policy, bars in chosen["failed"].items()]
    yield _table(("candidate", "bars that it does not keep"), rows)
    repeat = found["repeat"]
    yield f"<p>Repeat arm: {repeat['changed']:,} of {repeat['of']:,} unchanged rows moved.</p>"
    if found["power"]["waiver"]:
        needed = found["power"]["cases_needed"]
        yield f"<p>Waived: task passes take about {needed:,} cases. {escape(found['power']['waiver'])}</p>"
    for size, policies in found["estimates"].items():
        yield f"<h2>{int(size):,} routes {tag}</h2>"
        yield _chart(found, size, "mean_exposed", "tools exposed in a case")
        yield _chart(found, size, "mean_tokens", "schema tokens")
        head = ("policy", "family", *(words for _, words in COLUMNS))
        yield _table(
            head,
            [
                (policy, FAMILIES[found["families"][policy]], *(cell(values[name]) for name, _ in COLUMNS))
                for policy, values in policies.items()
            ],
            f"Every policy at {int(size):,} routes ({kind(found)}); tokens by the counter {found['counter']}",
        )
        control = found["against"]["control"]
        yield _table(
            ("policy", "full coverage", "", "tools exposed", "", "schema tokens", ""),
            [
                (policy, *(part for one in values.values() for part in (cell(one), one["verdict"])))
                for policy, values in found["against"]["sizes"][size].items()
            ],
            f"Less {control}, case by case ({kind(found)})",
        )
        strata = found["strata"][size]
        names = list(next(iter(strata.values())))
        yield _table(
            ("policy", *(name.replace("_", " ") for name in names)),
            [(policy, *(cell(values[name]) for name in names)) for policy, values in strata.items()],
            f"Recall by stratum; where nothing is needed, tools exposed ({kind(found)})",
        )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    said = f"<caption>{escape(caption)}</caption>" if caption else ""
    top = "".join(f"<th>{escape(one)}</th>" for one in head)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(one)}</td>' for one in row)}</tr>" for row in rows)
    return f'<div class="wide"><table>{said}<tr>{top}</tr>{lines}</table></div>'


def _chart(found: Mapping[str, Any], size: str, cost: str, words: str) -> str:
    """Recall against a cost, each policy a dot with its interval, and the oracle at its own cost."""
    policies = found["estimates"][size]
    dots = [(policy, values[cost], values["recall"]) for policy, values in policies.items()]
    most = max(one["value"] for _, one, _ in dots) * 1.05 or 1.0
    least = min(one["low"] if one["low"] is not None else one["value"] for *_, one in dots)
    floor = max(0.0, min(0.95, int(20 * least) / 20))

    def x(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * value / most

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - floor) / (1 - floor))

    parts = []
    for step in range(5):
        share = floor + (1 - floor) * step / 4
        parts.append(_line("grid", LEFT, y(share), WIDTH - RIGHT, y(share)))
        parts.append(_text(LEFT - 6, y(share) + 4, f"{100 * share:.0f} %", "end"))
        parts.append(_text(x(most * step / 4), HEIGHT - 24, f"{most * step / 4:,.3g}", "middle"))
    if cost == "mean_exposed" and found["oracle"].get(size) is not None:
        parts.append(
            _dot("oracle", x(found["oracle"][size]), y(1.0), "the oracle", "each case what it needs")
        )
    for policy, paid, recall in dots:
        if recall["low"] is not None:
            parts.append(
                _line("bar", x(paid["value"]), y(recall["low"]), x(paid["value"]), y(recall["high"]))
            )
        family = found["families"][policy]
        said = f"recall {cell(recall)}, {words} {cell(paid)}, {FAMILIES[family]}"
        parts.append(_dot(family, x(paid["value"]), y(recall["value"]), policy, said))
    title = f"Recall against {words} at {int(size):,} routes ({kind(found)})"
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, words, "middle"))
    return (
        f'<figure><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg><figcaption>{escape(title)}</figcaption></figure>"
    )


def _dot(name: str, x: float, y: float, label: str, said: str) -> str:
    circle = (
        f'<circle class="{name}" cx="{x:.1f}" cy="{y:.1f}" r="5"><title>{escape(f"{label}: {said}")}</title>'
    )
    return f"{circle}</circle>{_text(x + 8, y + 4, label, 'start')}"


def _line(name: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{name}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
