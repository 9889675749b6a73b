"""Probes: rows that can be read, the full ranking, and figures that a hand can check."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import GuidanceError, ProbeFormatError
from admit.guidance.model import Hit, Outcome, Snippet, Trigger
from admit.guidance.probe import METRICS, ProbeRow, auc, figures_of, parse_rows, probe, ranking, read_rows

from .gated import judged_by, opened


def rows(text):
    return list(parse_rows(text))


def test_rows_of_tabs_say_any_all_or_none():
    text = (
        "prompt\texpected\tkind\n"
        "deploy it\ta/b\tdirect\n"
        "# a remark\n\n"
        "both\ta & c\t\tz, y\r\n"
        "either\ta|c\n"
        "thanks\tnone\tnone\n"
    )
    assert rows(text) == [
        ProbeRow("deploy it", ("a/b",), "any", "direct"),
        ProbeRow("both", ("a", "c"), "all", "", ("z", "y")),
        ProbeRow("either", ("a", "c")),
        ProbeRow("thanks", (), "any", "none"),
    ]


def test_rows_of_json_say_an_id_a_list_or_null():
    text = (
        '{"prompt": "p", "expected": "a", "category": "direct"}\n'
        '{"prompt": "q", "expected": ["a", "b"], "must_not": ["c"], "more": 1}\n'
        '{"prompt": "r", "expected": null}\n'
    )
    assert rows(text) == [
        ProbeRow("p", ("a",), "any", "direct"),
        ProbeRow("q", ("a", "b"), "all", "", ("c",)),
        ProbeRow("r", ()),
    ]


@pytest.mark.parametrize(
    "text, says",
    [
        ("only one cell", "probe:1: give 2 to 4 cells"),
        ("a\tb\tc\td\te", "probe:1: give 2 to 4 cells"),
        ("ok\ta\n\tb", "probe:2: neither"),
        ("p\ta|b&c", "not both"),
        ("p\ta||b", "an id is empty"),
        ('{"prompt": ""}', "not empty"),
        ('{"prompt": "p"}', '"expected" is missing'),
        ('{"prompt": "p", "expected": [1]}', "an id is a text"),
        ('{"prompt": "p", "expected": 1}', "an id is a text"),
        ('{"prompt": "p", "expected": "a"}\nnot json', "probe:2: this is no JSON object"),
    ],
)
def test_a_row_that_is_wrong_is_named_by_its_line(text, says):
    with pytest.raises(ProbeFormatError, match="probe:") as error:
        rows(text)
    assert says in str(error.value) and isinstance(error.value, GuidanceError)


def test_a_file_that_cannot_be_read_is_said(tmp_path):
    with pytest.raises(ProbeFormatError, match="cannot be read"):
        read_rows(str(tmp_path / "nowhere"))
    (tmp_path / "x").write_bytes(b"\xff\xfe")
    with pytest.raises(ProbeFormatError, match="not UTF-8"):
        read_rows(str(tmp_path / "x"))
    (tmp_path / "y").write_bytes("\ufeffp\ta\r\n".encode())
    assert read_rows(str(tmp_path / "y")) == [ProbeRow("p", ("a",))]


@given(st.text())
def test_no_text_makes_it_fall_over(text):
    try:
        assert all(isinstance(row, ProbeRow) and row.prompt.strip() for row in parse_rows(text))
    except ProbeFormatError as error:
        assert str(error).startswith("probe:")


def outcome(name, kind="semantic", explicit=None, score=None, hit=True):
    snippet = Snippet(
        name, "way", "agent-ways", "project", "", "", "", "", (), frozenset(), None, 0.1, False, "", 0, 0
    )
    found = Hit(snippet, explicit, score, "", Trigger(kind, "x")) if hit else None
    return Outcome(name, "shown" if hit else "below_threshold", hit=found, score=score)


def test_the_ranking_is_by_tier_and_value_then_by_probability_of_the_rest():
    outcomes = [
        outcome("low", score=0.1, hit=False), outcome("vetoed", score=0.12, hit=False),
        outcome("never", hit=False), outcome("meant", score=0.9), outcome("word", "pattern", 4, 0.2),
        outcome("longer", "pattern", 9), outcome("state", "state", 0), outcome("also", "pattern", 4, 0.1),
    ]  # fmt: skip
    order = ["state", "longer", "also", "word", "meant", "vetoed", "low"]
    assert ranking(outcomes) == order == ranking(reversed(outcomes))


@pytest.fixture
def gate(guidance):
    for name in ("a", "b", "c", "d"):
        guidance.way("project", name, f"description: about {name}\npattern: word-{name}")
    return opened(guidance, judge=judged_by({"b": 0.0}), scores={"a": 0.9, "b": 0.8, "c": 0.3, "d": 0.2})


def test_the_figures_are_those_of_a_hand_count(gate):
    report = probe(
        gate,
        [
            ProbeRow("x", ("a",), kind="one"),
            ProbeRow("x", ("c",), kind="one", must_not=("a",)),
            ProbeRow("x", ("a", "d"), "all", kind="two"),
            ProbeRow("x", ("b", "nowhere"), "any", kind="two"),
            ProbeRow("word-d", ("d",)),
            ProbeRow("x", ()),
        ],
    )
    ranks = [one.ranks for one in report.rows]
    assert ranks == [(1,), (3,), (1, 4), (2, None), (1,), ()]
    assert report.figures["top1"] == 3 / 5
    assert report.figures["recall@3"] == 4 / 5  # not the pair, of which one is fourth
    assert report.figures["recall@5"] == 1
    assert report.figures["mrr"] == pytest.approx((1 + 1 / 3 + 1 + 1 / 2 + 1) / 5)
    assert report.figures["shown"] == 3 / 5 and report.figures["none_quiet"] == 0
    assert report.lost == {"below_threshold": 2} and (report.fires, report.wrong) == (1, 1)
    assert report.kinds["one"]["top1"] == 0.5 and list(report.kinds) == ["one", "two"]
    assert set(report.figures) == set(METRICS)


def test_the_judge_is_asked_only_where_it_may_be_and_what_it_blocks_is_lost_there(gate):
    row = ProbeRow("x", ("b",))
    assert probe(gate, [row]).lost == {} and gate.judge.judge.asks == []
    report = probe(gate, [row], ask=True)
    assert report.lost == {"blocked": 1} and len(gate.judge.judge.asks) == 1


def test_an_id_that_is_not_there_is_lost_as_such(gate):
    assert probe(gate, [ProbeRow("x", ("nowhere",))]).lost == {"unknown_id": 1}


def test_without_rows_of_a_sort_its_figures_are_unknown():
    assert set(figures_of([]).values()) == {None}


@pytest.mark.parametrize(
    "positive, negative, value",
    [
        ([0.9, 0.8], [0.1], 1.0),
        ([0.5], [0.5], 0.5),
        ([0.1], [0.9], 0.0),
        ([0.9, 0.2], [0.5, 0.1], 0.75),
        ([], [0.5], None),
        ([0.5], [], None),
        ([0.5, None], [0.1], None),
    ],
)
def test_auc_is_the_chance_of_a_pair_in_the_right_order(positive, negative, value):
    assert auc(positive, negative) == value
