"""The page of reviews: complete, escaped, and the same bytes each time."""

from __future__ import annotations

from admit.core.decision import Plan as CorePlan
from admit.evidence.curve import curve
from admit.evidence.model import Coverage, Finding, Material, Offer, Opened, Pair, Unavailable, Unread
from admit.evidence.note import Document, Note
from admit.evidence.plan import Plan
from admit.evidence.recorded import Recorded, queue
from admit.report.evidence_report import EvidenceReport, page

EVIL = "</blockquote><script>alert(1)</script>\u202e\x1b[31m"
NOTE = Note("n.md", "", 0, "", None, "", (), "", "", Document(None, (), (), ()), (), ())
PLAN = Plan(NOTE, None, 1, "distinct-v1", "document", (), (), (), (), "", "", CorePlan((), (), (), ()))
COVERAGE = Coverage(
    2, 1, 900, 500,
    (Opened(1, f"t{EVIL}.md", "whole", "note", "sha256:0"),),
    (Unread("a2", "x.md", (2,), ("b9",), "all", "budget"),),
    (Unavailable("gone.md", 3, "missing", ""),),
    1, 1, "distinct-v1", "budget", False,
)  # fmt: skip


def recorded(note: str, verdict: str, *findings: Finding) -> Recorded:
    scoped = f"{verdict} on 1 of 2 artifacts; not read: a2 x.md (b9)"
    pair = Pair(note, "grounding-alignment", "m")
    return Recorded(pair, verdict, "judged", 1_800_000_000_000, "e-0", 1, findings, COVERAGE, scoped, PLAN)


def overreach(claim: str) -> Finding:
    return Finding("overreach", "WARN", "n.md", 12, "b3", claim, "t.md", EVIL, 7, f"why{EVIL}", "judge")


def report(*reviews: Recorded) -> EvidenceReport:
    offer = Offer("t.md", "a1", (1,), (), (Material("note", "t.md", (1,), 500, ""),), 1, 500, "")
    return EvidenceReport(reviews, queue(reviews), curve("distinct-v1", [[offer], []]))


def test_nothing_of_a_note_runs_or_hides():
    text = page(report(recorded(f"a{EVIL}.md", "WARN", overreach(EVIL))))
    assert "<script" not in text and "\x1b" not in text and "\u202e" not in text
    assert text.count("&lt;/blockquote&gt;&lt;script&gt;") >= 5
    assert "default-src &#x27;none&#x27;" in text


def test_a_verdict_stands_with_what_it_does_not_rest_on():
    text = page(report(recorded("n.md", "PASS")))
    assert "<b>PASS on 1 of 2 artifacts; not read: a2 x.md (b9)</b>" in text
    assert "not read: budget" in text and "unavailable: missing" in text
    assert "1 slot (distinct-v1), 500 of 900 bytes; cap 1; stopped by budget" in text


def test_the_queue_holds_all_but_passes_the_gravest_first_and_links_to_each():
    reviews = (recorded("a.md", "WARN", overreach("c")), recorded("b.md", "PASS"), recorded("c.md", "FAIL"))
    text = page(report(*reviews))
    rows = text.split("<h2>What asks for work</h2>")[1].split("</table>")[0]
    assert rows.index('#pair3">c.md') < rows.index('#pair1">a.md') and "b.md" not in rows
    assert all(f'id="pair{number}"' in text for number in (1, 2, 3))


def test_the_curve_is_drawn_and_told():
    text = page(report(recorded("n.md", "PASS")))
    assert "<svg" in text and "Of 2 notes with 1 artifacts in all" in text and "100 %" in text


def test_without_reviews_it_says_so():
    assert "No review is on record here." in page(EvidenceReport((), ()))


def test_the_same_report_gives_the_same_bytes():
    given = report(recorded("n.md", "WARN", overreach("c")))
    assert page(given) == page(given)
