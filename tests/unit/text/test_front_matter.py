"""Reading the block of keys at the top of a file, whatever stands there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.text.front_matter import MAX_BYTES, parse

TEXT = "---\ndescription: Commits\nscope: agent, subagent\n---\n# Body\n"


def codes(text: str) -> list[str]:
    return [problem.code for problem in parse(text).problems]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_fields_lines_and_the_place_of_the_body(mark, newline):
    text = mark + TEXT.replace("\n", newline)
    read = parse(text)
    assert read.fields == {"description": "Commits", "scope": "agent, subagent"}
    assert read.lines == {"description": 2, "scope": 3}
    assert text[read.body_at :] == f"# Body{newline}"
    assert read.problems == ()


def test_a_scalar_stays_the_text_it_is():
    read = parse("---\na: no\nb: 2024-01-01\nc: 0.150\nd: 0x1f\ne: ~\nf: '~'\ng:\nh: 'it''s'\n---\n")
    assert [read.text(key) for key in "abcdefgh"] == [
        "no", "2024-01-01", "0.150", "0x1f", "", "~", "", "it's",
    ]  # fmt: skip


def test_lists_mappings_and_blocks_are_read():
    read = parse(
        "---\nglobs:\n  - a/*.py\n  - '**/*.ts'\nwhen:\n  project: ~/x\ndescription: >\n  two\n  lines\n---\n"
    )
    assert read.texts("globs") == ("a/*.py", "**/*.ts")
    assert read.text("globs") == "a/*.py, **/*.ts"
    assert read.fields["when"] == {"project": "~/x"} and read.text("when") == ""
    assert read.text("description") == "two lines"


def test_flags_are_words_for_true():
    read = parse("---\na: true\nb: Yes\nc: on\nd: false\ne: 1\n---\n")
    assert [read.flag(key) for key in "abcdef"] == [True, True, True, False, False, False]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("globs: **/*.ts", "**/*.ts"),
        ("description: a: b", "a: b"),
        ("pattern: [x", "[x"),
        ("pattern: @scope|%x", "@scope|%x"),
        ("pattern: *alias", "*alias"),
        ("description: 'open", "'open"),
        ("description: `code` first", "`code` first"),
        ("description: tab\there: x", "tab\there: x"),
    ],
)
def test_what_is_not_yaml_is_taken_as_it_stands_and_reported(line, value):
    read = parse(f"---\nscope: agent\n{line}\nrefire: rare\n---\nbody")
    assert read.text(line.split(":")[0]) == value
    assert (read.text("scope"), read.text("refire")) == ("agent", "rare")
    assert [problem.code for problem in read.problems] == ["front-matter-recovered"]
    assert read.body_at == len(f"---\nscope: agent\n{line}\nrefire: rare\n---\n")


def test_good_neighbours_of_a_bad_line_keep_their_meaning():
    read = parse(
        "---\nwhen:\n  project: ~/x\ndescription: a: b\npattern: 'x''y' # note\nfiles:\n  - a\n---\n"
    )
    assert read.fields["when"] == {"project": "~/x"}
    assert read.text("description") == "a: b"
    assert read.text("pattern") == "x'y"
    assert read.texts("files") == ("a",)
    assert read.lines == {"when": 2, "description": 4, "pattern": 5, "files": 6}


@pytest.mark.parametrize("more", ["", "globs: **/*.ts\n"])
def test_the_first_of_duplicate_keys_counts_and_the_second_is_reported(more):
    read = parse(f"---\npattern: one\npattern: two\n{more}---\n")
    assert read.text("pattern") == "one"
    assert [(p.code, p.line) for p in read.problems if p.code == "duplicate-key"] == [("duplicate-key", 3)]


def test_aliases_are_refused_so_that_no_few_lines_grow_to_gigabytes():
    bomb = "a: &a [x, x]\n" + "".join(
        f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefg", "bcdefgh", strict=True)
    )
    read = parse(f"---\n{bomb}description: fine\n---\n")
    assert read.problems[0].code == "front-matter-recovered" and "alias" in read.problems[0].text
    assert read.fields["a"] == ["x", "x"] and read.fields["h"] == "&h [*g, *g]"
    assert read.text("description") == "fine"


@pytest.mark.parametrize("deep", ["[" * 4000, "{a: " * 2000, "? " * 4000, "- " * 4000, "[" * 20 + "]" * 20])
def test_deep_nesting_is_refused(deep):
    read = parse(f"---\na: {deep}\ndescription: fine\n---\n")
    assert read.text("description") == "fine"
    assert read.problems[0].code == "front-matter-recovered"


def test_tags_make_no_objects():
    read = parse("---\na: !!python/object/apply:os.system ['true']\nb: !!binary aGk=\n---\n")
    assert read.fields == {"a": ["true"], "b": "aGk="}


def test_a_second_document_is_not_lost_in_silence():
    assert codes("---\na: b\n--- c: d\n---\n") == ["front-matter-recovered"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "# Title\n---\na: b\n---\n",
        " ---\na: b\n---\n",
        "---\nJust prose.\n---\nmore",
        "----\na: b\n---\n",
    ],
)
def test_a_text_without_front_matter_is_all_body(text):
    assert parse(text) == ({}, {}, 0, (), False)


def test_an_unclosed_block_is_reported_where_keys_were_meant():
    assert codes("---\ndescription: x\n\n# Body\n") == ["front-matter-unclosed"]
    assert codes("---\n\nprose under a rule\n") == []
    assert parse("\ufeff---\ndescription: x\n").body_at == 1


def test_an_empty_block_is_front_matter():
    assert parse("---\n---\nbody").body_at == 8
    assert parse("---\n# only a comment\n---\nbody").body_at == len("---\n# only a comment\n---\n")


def test_a_closing_line_may_end_the_file():
    assert parse("---\na: b\n---").fields == {"a": "b"}


def test_front_matter_over_its_limit_is_not_read():
    fits = "a: " + "x" * (MAX_BYTES - 4) + "\n"
    assert not parse(f"---\n{fits}---\n").too_large
    over = parse(f"---\n{fits}b: c\n---\n")
    assert over.too_large and over.fields == {}


LINES = st.lists(
    st.sampled_from(
        [
            "---",
            "a: b",
            "a: *x",
            "a: &x y",
            "- a",
            "  - b",
            "when:",
            "  project: x",
            "a: [",
            "'",
            "? x",
            "!t",
            "%Y",
            "#",
            "",
        ]
    ),
    max_size=12,
)


@given(st.one_of(st.text(), LINES.map("\n".join)), st.sampled_from(["", "---\n", "\ufeff---\r\n"]))
def test_nothing_raises_and_the_body_is_an_end_of_the_text(text, start):
    read = parse(start + text)
    assert 0 <= read.body_at <= len(start + text)
    assert set(read.fields) == set(read.lines)
    count = (start + text).count("\n") + 1
    assert all(1 <= line <= count for line in read.lines.values())
    assert all(1 <= problem.line <= count for problem in read.problems)


@pytest.mark.parametrize("escape", ["\\0", "\\x00", "\\ud800"])
def test_what_no_file_may_hold_no_escape_may_write_either(escape):
    read = parse(f'---\nscope: agent\npath: "a{escape}b"\nfiles: ["{escape}"]\n---\nbody')
    assert read.text("path") == f'"a{escape}b"' and read.text("scope") == "agent"
    assert [problem.code for problem in read.problems] == ["front-matter-recovered"]


@given(st.binary())
def test_no_bytes_make_it_raise(data):
    parse("---\n" + data.decode("utf-8", "surrogateescape") + "\n---\n")


@given(
    st.dictionaries(
        st.from_regex(r"[a-z_]{1,9}", fullmatch=True),
        st.from_regex(r"[ !#-&(-Z\\\]^-z|}~]{0,30}", fullmatch=True),
    )
)
def test_every_key_of_plain_lines_is_found_in_order(fields):
    read = parse("---\n" + "".join(f"{key}: {value}\n" for key, value in fields.items()) + "---\n")
    assert list(read.fields) == list(fields)


def test_a_list_has_no_keys_and_is_no_body() -> None:
    read = parse("---\n- a\n- b: c\n---\nbody\n")
    assert (dict(read.fields), [problem.text for problem in read.problems]) == (
        {},
        ["is a list and has no keys"],
    )
    assert "---\n- a\n- b: c\n---\nbody\n"[read.body_at :] == "body\n"
