"""Definitions that nothing uses or that stand twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from admit.evidence.markdown import parse
from admit.evidence.references import normal


def test_labels_compare_folded_and_with_white_space_collapsed() -> None:
    assert normal(" Foo \n  BAR ") == normal("foo bar")
    assert normal("ẞ") == normal("SS")


def test_a_label_that_is_used_by_an_image_or_in_another_case_is_used() -> None:
    assert parse("![x][FOO  bar] [ẞ]\n\n[foo bar]: a\n[SS]: b\n").unused == ()


def test_a_duplicate_is_found_in_items_and_quotes_and_not_where_text_goes_on() -> None:
    text = "[a]: 1\n\n- [a]: 2\n- x\n  [a]: 3\n\n> [a]: 4\n\ntext\n[a]: 5\n\n    [a]: 6\n\n[a] x: y\n"
    assert parse(text).duplicate == (3, 7)


def test_a_footnote_is_neither_a_definition_nor_an_undefined_reference() -> None:
    document = parse("[^a] [^b] x\n\n[^a]: n\n[^a]: m\n")
    assert (document.undefined, document.unused, document.duplicate) == ((), (), ())


@given(st.lists(st.sampled_from("abc"), max_size=12), st.sets(st.sampled_from("abc")))
def test_of_plain_definitions_each_after_the_first_is_a_duplicate(labels: list[str], used: set[str]) -> None:
    text = "".join(f"[x][{label}] " for label in sorted(used)) + "\n\n"
    text += "".join(f"[{label}]: t.md\n" for label in labels)
    document = parse(text)
    first = {label: labels.index(label) for label in labels}
    rest = [n for n, label in enumerate(labels) if first[label] != n]
    assert document.duplicate == tuple(n + 3 for n in rest)
    assert document.unused == tuple(sorted(n + 3 for label, n in first.items() if label not in used))
    assert document.undefined == (1,) * len(used - set(labels))
