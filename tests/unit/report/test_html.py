"""The page: one file without scripts or outside resources, everything escaped, the same every time."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.ledger.memory import MemoryLedger
from admit.ledger.port import Counters, DecisionRow, Recall, Record
from admit.report.html import page
from admit.report.ledger_report import DAY_MS, LARGEST, MOST_BARS, MOST_POINTS, gather, saved
from admit.report.svg import Column, Dot, columns, scatter

START = 1_772_323_200_000  # 2026-03-01
EVIL = "<script>alert(1)</script>\"'&\u202e\u200b\ud800\x1b[31m"


def decision(number: int, how: str = "local", *, day: int = 0, **fields) -> Record:
    size_in, size_out = fields.pop("size_in", 20_000), fields.pop("size_out", 5_000)
    extra = {"how": how, "reason": fields.get("reason") or "", "tool": fields.pop("tool", "Bash")}
    extra |= {"original_chars": size_in, "kept_chars": size_out, "requests": 3 if how == "judged" else 0}
    row = DecisionRow(
        f"{number:032x}",
        ts_ms=START + day * DAY_MS + number,
        door=fields.pop("door", "outputs"),
        output_id=fields.pop("output_id", f"o_{number:012x}"),
        size_in=size_in,
        size_out=size_out,
        extra=extra,
        **fields,
    )
    return Record(row)


def report_of(*records: Record, **options):
    ledger = MemoryLedger()
    for record in records:
        ledger.append(record)
    return gather(ledger.query(), **options)


def some_records() -> list[Record]:
    return [
        decision(1, "judged", status="judged", size_host=30_000),
        decision(2, "local", size_in=200_000, size_host=30_000),
        decision(3, "local", day=2, reason="deadline", status="fallback"),
        decision(4, "exempt", day=2, reason="under_gate", size_in=5_000),
        decision(5, "duplicate", day=3, size_out=160),
        decision(6, door="tools", size_in=None, size_out=None, status="judged"),
        Record(recalls=(Recall("r1", f"o_{2:012x}", START, "range", "cli", 700),)),
    ]


class Checked(HTMLParser):
    """Every tag that opens is closed, in order."""

    VOID = frozenset(("meta", "br", "hr"))

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def checked(text: str) -> list[tuple[str, dict]]:
    parser = Checked()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    return parser.tags


def test_the_page_needs_nothing_from_outside_and_runs_nothing():
    text = page(report_of(*some_records()))
    tags = checked(text)
    assert not {"script", "link", "img", "iframe", "object", "base", "form"} & {tag for tag, _ in tags}
    assert not [name for _, attributes in tags for name in attributes if name in ("src", "href", "srcset")]
    assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]
    assert "url(" not in text and "@import" not in text and "http:" not in text and "https:" not in text
    assert "default-src &#x27;none&#x27;" in text
    assert "prefers-color-scheme: dark" in text and 'name="viewport"' in text


def test_the_plots_are_well_formed_and_named():
    text = page(report_of(*some_records()))
    plots = re.findall(r"<svg.*?</svg>", text)
    assert len(plots) == 3
    assert all(ElementTree.fromstring(plot).get("aria-label") for plot in plots)


def test_everything_that_is_not_ours_is_escaped():
    records = [decision(1, EVIL, tool=EVIL, reason=EVIL, output_id=EVIL), decision(2, door=EVIL)]
    text = page(report_of(*records, dropped={EVIL: 2}, counters=Counters(findings=(EVIL,))))
    checked(text)
    assert "<script" not in text and not {"\u202e", "\u200b", "\ud800", "\x1b"} & set(text)
    assert "&lt;script&gt;" in text and "\\u202e" in text
    text.encode()


@given(st.text(), st.text(), st.integers(0, 10**12), st.integers(0, 10**12))
def test_any_record_gives_a_page_that_can_be_written(tool, reason, size_in, size_out):
    record = decision(1, tool=tool, reason=reason, size_in=size_in, size_out=size_out)
    text = page(gather([_view(record)]))
    checked(text)
    text.encode()


def _view(record: Record):
    from admit.ledger.port import DecisionView

    assert record.decision is not None
    return DecisionView(record.decision)


def test_the_same_record_gives_the_same_bytes():
    assert page(report_of(*some_records())) == page(report_of(*some_records()))


def test_an_empty_record_is_a_page_that_says_so():
    text = page(report_of())
    checked(text)
    assert "has decided nothing" in text and "Nothing: no record was dropped or lost." in text


def test_saved_is_against_what_the_host_would_have_shown_where_that_is_known():
    report = report_of(*some_records())
    assert (report.saved_host, report.known) == (15_000 + 25_000, 2)
    assert (report.saved_raw, report.unknown) == (15_000 + 0 + 19_840, 3)
    assert report.restored == 700
    text = page(report)
    assert "40,000 against what the host would have shown" in text and "against the raw output" in text
    assert "Recalls brought 700 back: 74,140 in all, about 18,535 tokens (estimate" in text


@pytest.mark.parametrize(
    ("fields", "spared"),
    [
        ({"size_in": 100, "size_out": 40}, 60),
        ({"size_in": 100, "size_out": 40, "size_host": 50}, 10),
        ({"size_in": 100, "size_out": 60, "size_host": 50}, 0),
        ({"size_in": 100, "size_out": None}, 0),
        ({"size_in": None, "size_out": 4}, 0),
        ({"size_in": 100, "size_out": 40, "mode": "shadow"}, 0),
    ],
)
def test_nothing_is_saved_that_is_not_known_to_be(fields, spared):
    assert saved(_view(decision(1, **fields))) == spared


def test_days_without_a_decision_are_columns_too():
    report = report_of(*some_records())
    assert [(bar.start, bar.filtered, bar.excerpt, bar.other) for bar in report.bars] == [
        ("2026-03-01", 1, 1, 0),
        ("2026-03-02", 0, 0, 0),
        ("2026-03-03", 0, 1, 1),
        ("2026-03-04", 0, 0, 1),
    ]


def test_a_long_time_is_drawn_in_few_columns_and_no_decision_is_lost():
    report = report_of(*(decision(n, day=n) for n in range(400)))
    assert len(report.bars) <= MOST_BARS and report.bar_days == 7
    assert sum(bar.excerpt for bar in report.bars) == 400
    assert "One column is 7 days." in page(report)


def test_the_largest_outputs_stand_once_with_their_recalls():
    records = [decision(n, size_in=1_000 * n, day=n) for n in range(1, 30)]
    again = decision(40, "duplicate", output_id=f"o_{29:012x}", size_in=29_000, size_out=160)
    recalls = Record(recalls=(Recall("r1", f"o_{29:012x}", 0, "whole", "cli", 1),))
    report = report_of(*records, again, recalls)
    assert len(report.largest) == LARGEST
    assert report.largest[0][0] == f"o_{29:012x}" and report.largest[0].recalls == 1
    assert report.largest[0].how == "duplicate" and report.largest[1].original == 28_000


def test_what_is_missing_from_the_record_stands_on_the_page():
    counters = Counters(gaps={"w1": 3, "w2": 1}, spool_dropped=5, bad=2, findings=("The disk is full.",))
    text = page(report_of(*some_records(), dropped={"busy": 2, "full": 1}, counters=counters))
    assert "Not recorded: 3 records (2 busy, 1 full)." in text and "Lost: 4 records" in text
    assert "unread: 5 records" in text and "could not be read: 2" in text and "The disk is full." in text


def test_reasons_are_counted_apart():
    report = report_of(*some_records())
    assert report.fallbacks == {"deadline": 1} and report.whole == {"under_gate": 1}


def test_only_the_newest_dots_are_drawn():
    report = report_of(*(decision(n) for n in range(MOST_POINTS + 5)))
    assert len(report.points) == MOST_POINTS and "The newest 1,500 are drawn." in page(report)


def test_columns_stack_from_zero_to_their_sum():
    plot = ElementTree.fromstring(columns([Column("a", (("x", 3), ("y", 1), ("z", 0)))], title="t", unit="u"))
    rects = [one for one in plot if one.tag == "rect"]
    tops = [(float(one.get("y", "")), float(one.get("height", ""))) for one in rects]
    assert len(tops) == 2 and tops[0][0] == pytest.approx(tops[1][0] + tops[1][1], abs=0.11)
    assert tops[0][1] == pytest.approx(3 * tops[1][1], abs=0.3)


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)), max_size=20))
def test_dots_lie_inside_the_plot(pairs):
    text = scatter([Dot(x, y, "excerpt") for x, y in pairs], title="t", x="a", y="b")
    if not pairs:
        assert text == ""
        return
    plot = ElementTree.fromstring(text)
    width, height = map(float, plot.get("viewBox", "").split()[2:])
    for dot in plot.iter("circle"):
        assert 0 <= float(dot.get("cx", "")) <= width and 0 <= float(dot.get("cy", "")) <= height
