"""The JSON of reviews: exact keys, in one order."""

from __future__ import annotations

import json

from admit.evidence.as_json import document, finding, pair
from admit.evidence.model import Coverage, Finding, Opened, Pair, Review, Unavailable, Unread

SHA = "sha256:" + "0" * 64
FINDING = Finding("overreach", "WARN", "kb/n.md", 12, "b3", "A claim.", "kb/t.md", "", 0, "", "judge")
COVERAGE = Coverage(
    21, 16, 120_400, 88_100, (Opened(1, "kb/t.md", "whole", "note", SHA),),
    (Unread("a17", "kb/x.md", (9,), ("b9",), "all", "budget"),), (Unavailable("y.md", 3, "missing", "case"),),
    16, 16, "distinct-v1", "budget", False,
)  # fmt: skip
REVIEW = Review(
    Pair("kb/n.md", "grounding-alignment", "x"), "WARN", "judged", (FINDING,), COVERAGE, "p", "q", stored=True
)

EXPECTED = (
    '{"schema":"admit.evidence/1","command":"review",'
    '"summary":{"pairs":1,"PASS":0,"WARN":1,"FAIL":0,"ERROR":0,"UNJUDGED":0},'
    '"pairs":[{"note":"kb/n.md","criterion":"grounding-alignment","partition":"x","verdict":"WARN",'
    '"reason":"judged","plan_hash":"p","pack_hash":"q","stored":true,'
    '"coverage":{"cap":16,"unit":"distinct-v1","offered":21,"read":16,"slots_used":16,'
    '"bytes_offered":120400,"bytes_read":88100,"stop":"budget","complete":false,'
    '"opened":[{"n":1,"path":"kb/t.md","shape":"whole","route":"note","sha256":"' + SHA + '"}],'
    '"unread":[{"id":"a17","artifact":"kb/x.md","blocks":["b9"],"part":"all","reason":"budget"}],'
    '"unavailable":[{"dest":"y.md","link":3,"kind":"missing","reason":"case"}]},'
    '"findings":[{"rule":"overreach","severity":"WARN","line":12,"block":"b3","claim":"A claim.",'
    '"artifact":"kb/t.md","origin":"judge"}]}]}'
)


def test_a_review_is_told_in_exactly_these_keys_in_this_order():
    assert json.dumps(document("review", [REVIEW]), separators=(",", ":")) == EXPECTED


def test_every_verdict_is_counted_and_so_is_what_made_no_pair():
    verdicts = ("PASS", "PASS", "FAIL", "ERROR", "UNJUDGED")
    told = document("review", [REVIEW._replace(verdict=one) for one in verdicts], {"not_applicable": 4})
    assert told["summary"] == {
        "pairs": 5, "PASS": 2, "WARN": 0, "FAIL": 1, "ERROR": 1, "UNJUDGED": 1, "not_applicable": 4,
    }  # fmt: skip


def test_a_pair_without_a_plan_has_no_coverage():
    assert pair(Review(Pair("n.md", "c", "x"), "ERROR", "missing"))["coverage"] is None


def test_a_conflict_and_a_shadow_are_told_where_they_are_so():
    assert list(pair(REVIEW._replace(conflict=True, shadow="mode")))[-2:] == ["conflict", "shadow"]
    assert "conflict" not in pair(REVIEW)


def test_a_passage_and_words_are_told_where_there_are_any():
    told = finding(FINDING._replace(passage="Its own words.", passage_line=4, text="why"))
    assert list(told)[-3:] == ["passage", "passage_line", "text"]
