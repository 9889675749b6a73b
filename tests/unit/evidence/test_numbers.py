from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.evidence.conftest import MakeBase
from tests.unit.evidence.looks import found, only

from admit.evidence.checks.values import numbers_in, values_in


@pytest.mark.parametrize(
    ("claim", "artifact"),
    [
        ("1,234 files", "1234 files"),
        ("1234 files", "1 234 files".replace(" ", "\u202f")),
        ("1000000 files", "1 000 000 files"),
        ("1000000 files", "1\u00a0000\u00a0000 files"),
        ("1 000 000 files", "1\u2009000\u2009000 files"),
        ("1 000 000 files", "1.000.000 files"),
        ("1.234.567,89 of them", "1,234,567.89"),
        ("1,234.89 of them", "1.234,89"),
        ("1000 of them", "1'000"),
        ("1'000 of them", "1’000"),
        ("the years 12 345 and", "12 of them and 345"),
        ("12 and 345", "12 345"),
        ("RFC 8785 and ISO 8601-42 and SP 800-53", "none"),
        ("12.50 ms", "12.5 ms"),
        ("−15 points", "15 points"),
        ("7 percent", "7%"),
        ("7 %", "7 per cent"),
        ("$5", "5 USD"),
        ("35B parameters", "35,000,000,000 parameters"),
        ("2 million tokens and 20", "2M tokens, 20"),
        ("10–20 notes", "20 or 10 notes"),
        ("42", "id-42"),
        ("75.4 %", "| 75.4 |"),
        ("9 notes", "none"),
        ("GPT-40 and H100 and #512 and 3f9a1c", "none"),
        ("`99` and https://x.org/98", "none"),
    ],
)
def test_a_number_in_another_spelling_or_none_at_all_is_no_finding(
    base: MakeBase, claim: str, artifact: str
) -> None:
    assert not found(base({"n.md": f"It has {claim} [a](a.md).\n", "a.md": artifact}), "number")


@pytest.mark.parametrize(
    ("claim", "artifact", "words"),
    [
        ("1,234 files", "1,243 files", "1,234"),
        ("12.5 ms", "125 ms", "12.5"),
        ("1 000 000 files", "1 000 001 files", "1 000 000"),
        ("1.234.567,89", "1.234.567,88", "1.234.567,89"),
        ("a CPU 80 % busy", "8", "80"),
        ("7 percent", "7 notes", "7"),
        ("$5", "5 notes", "5"),
        ("16 of them", "160 of 116", "16"),
    ],
)
def test_a_number_that_no_artifact_holds_is_told(
    base: MakeBase, claim: str, artifact: str, words: str
) -> None:
    one = only(base({"n.md": f"It has {claim} [a](a.md).\n", "a.md": artifact}), "number")
    assert one.claim == words
    assert (one.severity, one.artifact, one.block) == ("INFO", "a.md", "b1")


def test_any_artifact_of_the_block_will_do_and_each_number_is_told_once(base: MakeBase) -> None:
    made = base({"n.md": "12 and 34 and 34 [a](a.md) [b](b.md)\n", "a.md": "x", "b.md": "12"})
    one = only(made, "number")
    assert one.claim == "34"
    assert one.artifact == ""


def test_only_claims_are_looked_at_without_their_markers_and_targets(base: MakeBase) -> None:
    note = "12. Item [a](a-77.md)\n\n- [a](a-77.md) — extends: 88 times\n\n99 without a link\n"
    assert not found(base({"n.md": note, "a-77.md": "x"}), "number")


def test_a_block_with_an_artifact_that_cannot_be_read_is_left_alone(base: MakeBase) -> None:
    note = "There are 77 [p (snapshot required)](p.ingest.md) [a](a.md)\n"
    made = base({"n.md": note, "a.md": "x", "p.ingest.md": "---\nsource: u\n---\n77"})
    assert not found(made, "number")


def test_a_block_with_an_ingest_that_has_no_extract_is_left_alone(base: MakeBase) -> None:
    note = "There are 77 since March 2026 [p](p.ingest.md) [a](a.md)\n"
    made = base({"n.md": note, "a.md": "x", "p.ingest.md": "---\nsource: u\n---\nNothing.\n"})
    assert not found(made, "number") and not found(made, "date")


def test_of_an_ingest_the_analysis_does_not_count(base: MakeBase) -> None:
    quotes = "## Quotes\n\nSource extract (verbatim): 78 here\n\nSource location: 79\n"
    ingest = f"---\nsource: u\n---\n77 here\n\n{quotes}"
    made = base({"n.md": "There are 77 and 78 [p](p.ingest.md)\n", "p.ingest.md": ingest})
    assert only(made, "number").claim == "77"


@given(st.integers(10, 10**15))
def test_a_number_is_found_with_and_without_separators(number: int) -> None:
    [(with_commas, _)] = numbers_in(f" {number:,} ")
    assert values_in(f"({number})").hold(with_commas)
    [(without, _)] = numbers_in(f"{number}")
    assert values_in(f"{number:_}.").hold(without)
    assert not values_in(f"{number + 1}").hold(without)


@given(st.text(st.sampled_from("0123456789.,’ -%$€kMmillion\u00a0"), max_size=60))
def test_any_text_with_digits_can_be_read(text: str) -> None:
    spans = [span for _, span in numbers_in(text)]
    assert all(text[span.start].isdigit() and text[span.end - 1].isdigit() for span in spans)
    assert spans == sorted(spans)


def test_footnotes_sizes_of_images_and_numbers_of_named_documents_are_no_claims(base: MakeBase) -> None:
    note = "As [a](a.md) says[^22], by RFC 9110 and ISO 8601.\n\n![[pic.png|100]] [a](a.md)\n\n[^22]: x\n"
    assert not found(base({"n.md": note, "a.md": "x", "pic.png": b"\0"}), "number")
    assert found(base({"n.md": "It cost USD 9110 ([a](a.md)).\n", "a.md": "x"}), "number")
