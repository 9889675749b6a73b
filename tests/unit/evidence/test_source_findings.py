from __future__ import annotations

import hashlib

import pytest
from tests.unit.evidence.conftest import MakeBase
from tests.unit.evidence.looks import found, only

from admit.evidence.lint import lint

SNAPSHOT = "---\nsource: https://example.org/p\n---\n# Paper\n\nA budget bounds\nreading.\n"
SHA = hashlib.sha256(SNAPSHOT.encode()).hexdigest()


def ingest(
    extract: str = "A budget bounds reading.", sha: str = SHA, source: str = "https://example.org/p"
) -> str:
    return (
        f"---\nsource: {source}\nsnapshot_sha256: {sha}\n---\n# P\n\nOwn words.\n\n## Quotes\n\n"
        f"Source extract (verbatim): {extract}\n\nSource location: page 1\n"
    )


def files(count: int) -> dict[str, str]:
    return {f"p{n}.ingest.md": ingest() for n in range(count)}


def test_more_unquoted_sources_than_allowed_fail(base: MakeBase) -> None:
    links = "".join(f"- One [p{n}](p{n}.ingest.md) more [p{n}](p{n}.ingest.md#p)\n" for n in range(6))
    made = base({"n.md": links, **files(6)})
    one = only(made, "unquoted-sources")
    assert one.severity == "FAIL"
    assert one.claim == "[p5](p5.ingest.md)"
    assert "6 sources" in one.text
    assert not found(base({"n.md": links.replace("p5", "p0")}), "unquoted-sources")
    assert not found(base({"n.md": links}, max_unquoted_sources=6), "unquoted-sources")


def test_a_verified_quotation_takes_a_source_out_of_the_count(base: MakeBase) -> None:
    links = "".join(f"- One [p{n}](p{n}.ingest.md)\n" for n in range(6))
    quote = '\nVerbatim "A budget bounds reading" [p5](p5.ingest.md)\n'
    assert not found(base({"n.md": links + quote, **files(6)}), "unquoted-sources")
    wrong = quote.replace("bounds", "limits")
    assert only(base({"n.md": links + wrong}), "unquoted-sources")


def test_a_declared_snapshot_always_counts_and_ordinary_notes_never(base: MakeBase) -> None:
    made = {**files(1), "a.md": "x", "b.md": "y", ".snapshots/p0.md": SNAPSHOT}
    quote = 'Verbatim "A budget bounds reading" [p (snapshot required)](p0.ingest.md) [a](a.md) [b](b.md)\n'
    assert only(base({"n.md": quote, **made}, max_unquoted_sources=0), "unquoted-sources")
    plain = quote.replace(" (snapshot required)", "")
    assert not found(base({"n.md": plain}, max_unquoted_sources=0), "unquoted-sources")


def test_a_link_straight_to_a_snapshot_is_warned_of(base: MakeBase) -> None:
    made = base({"n.md": "[s](.snapshots/p.md)\n", ".snapshots/p.md": SNAPSHOT, "s.md": "x"})
    assert only(made, "snapshot-linked").artifact == ".snapshots/p.md"
    assert not found(base({"n.md": "[s](s.md)\n"}), "snapshot-linked")


@pytest.mark.parametrize(
    ("rule", "record", "kept"),
    [
        ("snapshot-missing", ingest(), None),
        ("snapshot-hash", ingest(sha="0" * 64), SNAPSHOT),
        ("snapshot-source", ingest(source="https://example.org/other"), SNAPSHOT),
    ],
)
def test_a_declared_snapshot_that_cannot_be_served_fails(
    base: MakeBase, rule: str, record: str, kept: str | None
) -> None:
    made = {"p.ingest.md": record, **({".snapshots/p.md": kept} if kept else {})}
    opened = base({"n.md": "See [p (snapshot required)](p.ingest.md)\n", **made})
    one = only(opened, rule)
    assert (one.severity, one.artifact) == ("FAIL", "p.ingest.md")
    assert not found(base({"n.md": "See [p](p.ingest.md)\n"}), rule)


def test_a_declared_snapshot_in_order_is_searched_and_is_no_finding(base: MakeBase) -> None:
    note = 'Verbatim "Paper A budget" and "A budget holds" [p (snapshot required)](p.ingest.md)\n'
    made = base({"n.md": note, "p.ingest.md": ingest(), ".snapshots/p.md": SNAPSHOT})
    for rule in ("snapshot-missing", "snapshot-hash", "snapshot-source"):
        assert not found(made, rule)
    one = only(made, "quote")
    assert (one.claim, one.artifact, one.passage_line) == ("A budget holds", ".snapshots/p.md", 6)


def test_an_extract_that_its_snapshot_does_not_hold_fails(base: MakeBase) -> None:
    made = base({"p.ingest.md": ingest("A budget bounds writing."), ".snapshots/p.md": SNAPSHOT})
    one = only(made, "ingest-quote", "p.ingest.md")
    assert one.claim.endswith("A budget bounds writing.")
    assert (one.severity, one.passage, one.passage_line) == ("FAIL", "A budget bounds", 6)
    assert not found(base({"p.ingest.md": ingest()}), "ingest-quote", "p.ingest.md")


def test_a_snapshot_of_another_hash_is_warned_of_and_not_searched(base: MakeBase) -> None:
    made = base({"p.ingest.md": ingest("Nowhere.", "0" * 64), ".snapshots/p.md": SNAPSHOT})
    one = only(made, "ingest-hash", "p.ingest.md")
    assert one.line == 3
    assert not found(made, "ingest-quote", "p.ingest.md")


def test_an_absent_snapshot_is_no_finding(base: MakeBase) -> None:
    made = base({"p.ingest.md": ingest("Nowhere.")})
    for rule in ("ingest-quote", "ingest-hash", "ingest-source"):
        assert not found(made, rule, "p.ingest.md")


def test_an_ingest_without_a_source_is_warned_of(base: MakeBase) -> None:
    made = base({"p.ingest.md": "---\ntitle: P\n---\n# P\n", "n.md": "# n\n"})
    assert only(made, "ingest-source", "p.ingest.md").severity == "WARN"
    assert not found(made, "ingest-source")


@pytest.mark.parametrize("heading", ["## quotes", "### Quotes", "## Quotes:", "## Notes"])
def test_an_ingest_without_an_extract_is_warned_of_with_the_heading_that_is_there(
    base: MakeBase, heading: str
) -> None:
    record = ingest().replace("## Quotes", heading)
    one = only(base({"p.ingest.md": record}), "ingest-quotes", "p.ingest.md")
    assert ("there is" in one.text) == ("uotes" in heading)


def test_a_declared_snapshot_of_what_is_no_ingest_or_names_no_hash_says_so(base: MakeBase) -> None:
    link = "[p (snapshot required)]({})\n"
    made = base({"n.md": link.format("t.md"), "t.md": "# t\n"})
    one = only(made, "snapshot-missing")
    assert "no ingest" in one.text and "take (snapshot required) out" in one.fix
    record = ingest().replace(f"snapshot_sha256: {SHA}\n", "")
    made = base({"n.md": link.format("p.ingest.md"), "p.ingest.md": record, ".snapshots/p.md": SNAPSHOT})
    assert "names no snapshot_sha256" in only(made, "snapshot-hash").text
    bare = base({"n.md": link.format("q.ingest.md"), "q.ingest.md": "# Q\n"})
    assert "give it a source" in only(bare, "snapshot-missing").fix
    lost = base({"n.md": link.format("r.ingest.md"), "r.ingest.md": record})
    assert "there is no snapshot of" in only(lost, "snapshot-missing").text


@pytest.mark.parametrize(
    "quotes",
    ["", "## Quotes\n\n| extract | location |\n|---|---|\n| a | b |\n", "## Quotes\n\nx\n\n## Quotes\n\ny\n"],
)
def test_an_ingest_that_nobody_links_and_without_a_snapshot_is_warned_of_once(
    base: MakeBase, quotes: str
) -> None:
    record = f"---\nsource: https://example.org/p\n---\n# P\n\n{quotes}"
    one = only(base({"p.ingest.md": record}), "ingest-quotes", "p.ingest.md")
    assert (one.severity, one.line) == ("WARN", 1)
    assert one.text.count("## Quotes in line") == quotes.count("## Quotes")


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_an_ingest_is_read_the_same_with_any_end_of_lines(base: MakeBase, end: str) -> None:
    record, kept = ingest("A budget bounds writing.").replace("\n", end), SNAPSHOT.replace("\n", end)
    record = record.replace(SHA, hashlib.sha256(kept.encode()).hexdigest())
    made = base({"p.ingest.md": record, ".snapshots/p.md": kept})
    findings = [one for one in lint(made, ["p.ingest.md"]) if one.rule == "ingest-quote"]
    [one] = findings
    assert (one.line, one.claim) == (11, "Source extract (verbatim): A budget bounds writing.")
    assert (one.passage, one.passage_line) == ("A budget bounds", 6)
