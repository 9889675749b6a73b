"""Dividing a long file of instructions, to the byte."""

from __future__ import annotations

import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import GuidanceError
from admit.guidance import split_files
from admit.guidance.split import Split, slug, split
from admit.guidance.split_files import apply, propose
from admit.guidance.walk import MAX_BYTES
from admit.text.front_matter import parse

LONG = "Some words about this that fill the section well. " * 8


def section(heading: str, text: str = LONG) -> str:
    return f"## {heading}\n\n{text}\n\n"


def together(divided: Split) -> str:
    """What stays and the bodies, put back in their places."""
    text = divided.kept
    for one in divided.sections:
        text = text[: one.at] + one.body + text[one.at :]
    return text


def headings(text: str, *named: str) -> list[str]:
    return [one.heading for one in split(text, named=named).sections]


def test_long_sections_move_and_the_rest_stays():
    text = (
        "# Project\n\nIntro.\n\n"
        + section("Commits")
        + section("Short", "Few.")
        + section("Tests")
        + "# End\n"
    )
    divided = split(text)
    assert [one.heading for one in divided.sections] == ["Commits", "Tests"]
    assert divided.kept == "# Project\n\nIntro.\n\n" + section("Short", "Few.") + "# End\n"
    assert divided.stays == (("Short", "shorter than 300 characters"),)
    assert divided.sections[0].body == section("Commits") and together(divided) == text


@pytest.mark.parametrize("word", ["always", "NEVER", "Must"])
def test_what_holds_always_stays_unless_it_is_named(word):
    text = section("Rules, all", f"You {word} do. {LONG}") + section(
        "Other", f"Mustard is nevertheless fine. {LONG}"
    )
    assert headings(text) == ["Other"]
    assert split(text).stays == (("Rules, all", f"says {word.lower()}"),)
    assert headings(text, "rules, ALL") == headings(text, "rules-all") == ["Rules, all", "Other"]


def test_a_short_section_moves_when_it_is_named():
    assert headings(section("Short", "Few."), " short ") == ["Short"]


@pytest.mark.parametrize(
    ("odd", "why"), [("\0", "holds NUL"), ("x" * MAX_BYTES, "larger than 258,048 bytes")]
)
def test_a_section_that_could_not_be_read_by_itself_stays_also_when_it_is_named(odd, why):
    text = f"## A\n{LONG}{odd}\n## B\n{LONG}"
    found = split(text, named=["A"])
    assert [one.heading for one in found.sections] == ["B"]
    assert [(heading, reason.startswith(why)) for heading, reason in found.stays] == [("A", True)]


def test_a_name_that_is_not_there_is_an_error_that_lists_what_is():
    with pytest.raises(GuidanceError, match='no section "Nope"; sections are: A, B'):
        split(section("A") + section("B"), named=["A", "Nope"])


def test_lower_headings_belong_to_their_section_and_a_higher_one_ends_it():
    text = section("A") + f"### Below\n\n{LONG}\n#### Deeper\n" + f"# Top\n\n{LONG}\n"
    divided = split(text)
    assert divided.sections[0].body.endswith("#### Deeper\n") and divided.kept.startswith("# Top\n")


@pytest.mark.parametrize(
    "block",
    [
        "```\n## No\n```\n", "~~~~ md\n## No\n~~~\n## No\n~~~~\n", "````\n```\n## No\n````\n",
        "   ```py\n## No\n   ```\n", "<!--\n## No\n-->\n", "<!-- ## No -->\n",
        "#No\n##No\n    ## No\n\\## No\n", "No\n--\n", "``` a`b\n" * 2,
    ],
)  # fmt: skip
def test_what_only_looks_like_a_heading_begins_nothing(block):
    text = section("A", LONG + "\n" + block) + section("B")
    assert headings(text) == ["A", "B"] and together(split(text)) == text


def test_a_fence_that_is_never_closed_runs_to_the_end():
    assert headings(section("A") + "```\n" + section("B")) == ["A"]


def test_comments_of_front_matter_are_no_headings():
    text = "---\ndescription: x\n## note: y\n---\n" + section("A")
    assert headings(text) == ["A"] and split(text).kept == "---\ndescription: x\n## note: y\n---\n"


def test_a_fence_crlf_and_no_final_newline_come_back_to_the_byte():
    text = "# T\r\n\r\n## A\r\n```\r\n## in a fence\r\n```\r\n" + LONG + "\r\n## B ##\r\n" + LONG
    divided = split(text)
    assert [one.heading for one in divided.sections] == ["A", "B"] and together(divided) == text
    for one in divided.sections:
        assert one.text.startswith("---\r\n") and one.text.replace("\r\n", "").count("\n") == 0
        assert one.text[parse(one.text).body_at :] == one.body


def test_a_way_is_described_by_its_heading_and_first_sentence():
    text = section("It's: a [test]", "- **Run** `make test`. Then look.\n" + LONG) + section(
        "Code", "```\nx\n```\n" + LONG
    )
    first, second = split(text).sections
    assert first.description == "It's: a [test]: Run** `make test`."
    assert second.description == "Code"
    assert parse(first.text).text("description") == first.description
    assert parse(first.text).problems == ()


def test_the_vocabulary_is_what_tells_a_section_from_the_others():
    text = (
        section("Git", f"rebase squash rebase. {LONG}")
        + section("Css", f"flexbox grid grid. {LONG}")
        + "shared"
    )
    first, second = split(text).sections
    assert first.vocabulary.split()[:3] == ["rebase", "git", "squash"]
    assert second.vocabulary.split()[:3] == ["grid", "css", "flexbox"]
    assert len(first.vocabulary.split()) <= 12


def test_equal_headings_get_names_of_their_own():
    text = section("Notes!") + section("notes") + section("Notes 2") + section("***")
    assert [one.slug for one in split(text).sections] == ["notes", "notes-2", "notes-2-2", "section"]


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("A & B: c/d", "a-b-c-d"),
        ("../../etc", "etc"),
        ("  ", "section"),
        ("测试 规则", "测试-规则"),
        ("x" * 80, "x" * 50),
    ],
)
def test_a_slug_is_a_plain_folder_name(heading, name):
    assert slug(heading) == name


PIECES = st.lists(
    st.sampled_from(
        [
            "## A", "## B", "##", "# T", "### c", "```", "~~~", "````", "<!--", "-->", "---", "===", "a: b",
            LONG, "x", " ## D", "must", "", "\ufeff", "## A\r",
        ]
    ),
    max_size=30,
)  # fmt: skip


@given(PIECES, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_every_text_comes_back_to_the_byte(pieces, newline, ends):
    text = newline.join(pieces) + (newline if ends else "")
    divided = split(text)
    assert together(divided) == text
    assert len({one.slug for one in divided.sections}) == len(divided.sections)
    for one in divided.sections:
        read = parse(one.text)
        assert one.text[read.body_at :] == one.body and read.problems == ()
        assert read.text("description") == one.description


@given(st.text(alphabet=st.characters(), max_size=200), st.text(max_size=30))
def test_any_text_divides_and_any_heading_describes(text, heading):
    whole = section(heading.replace("\n", " "), LONG + text)
    divided = split(whole)
    assert together(divided) == whole
    for one in divided.sections:
        assert parse(one.text).text("description") == one.description


@pytest.fixture
def claude(guidance):
    return guidance.file("CLAUDE.md", "# P\n\n" + section("Commits") + section("Tests"))


def test_a_proposal_writes_nothing_and_shows_one_diff(claude, guidance):
    before = claude.read_bytes()
    proposal = propose(str(claude))
    assert [path for path, _ in proposal.targets] == [
        str(guidance.project / f".claude/ways/{name}/{name}.md") for name in ("commits", "tests")
    ]
    diff = proposal.diff()
    assert diff.count("\n--- /dev/null\n") == 2 and f"--- {claude}\n" in diff and "\n-## Commits\n" in diff
    assert claude.read_bytes() == before and not (guidance.project / ".claude").exists()


def test_applied_sections_load_as_ways_with_their_bodies(claude, guidance):
    claude.chmod(0o640)
    proposal = propose(str(claude))
    written = apply(proposal)
    assert claude.read_text() == "# P\n\n" and stat.S_IMODE(claude.stat().st_mode) == 0o640
    index, findings = guidance.load()
    assert [(one.id, one.path) for one in index.snippets] == list(
        zip(("commits", "tests"), written, strict=True)
    )
    assert findings == ()
    assert sorted(os.listdir(guidance.project)) == [".claude", ".git", "CLAUDE.md"]


def test_a_target_that_exists_stops_everything(claude, guidance):
    proposal = propose(str(claude))
    there = guidance.way("project", "tests")
    before = (claude.read_bytes(), there.read_bytes())
    with pytest.raises(GuidanceError, match=r"tests\.md exists"):
        apply(proposal)
    assert (claude.read_bytes(), there.read_bytes()) == before
    assert not (there.parent.parent / "commits").exists()


def test_a_file_that_changed_meanwhile_stops_everything(claude, guidance):
    proposal = propose(str(claude))
    claude.write_text("other")
    with pytest.raises(GuidanceError, match="changed meanwhile"):
        apply(proposal)
    assert claude.read_text() == "other" and not (guidance.project / ".claude").exists()


@pytest.mark.parametrize("at", range(6))
def test_a_write_that_fails_at_any_point_leaves_everything_as_it_was(at, claude, guidance, monkeypatch):
    before = claude.read_bytes()
    proposal = propose(str(claude))
    calls = iter(range(100))

    def failing(plain):
        def call(*arguments, **options):
            if next(calls) == at:
                raise OSError(28, "No space left on device")
            return plain(*arguments, **options)

        return call

    monkeypatch.setattr(split_files.os, "mkdir", failing(os.mkdir))
    monkeypatch.setattr(split_files.os, "replace", failing(os.replace))
    monkeypatch.setattr(split_files.tempfile, "mkstemp", failing(split_files.tempfile.mkstemp))
    with pytest.raises(GuidanceError, match="No space left on device; nothing was changed"):
        apply(proposal)
    monkeypatch.undo()
    assert claude.read_bytes() == before
    assert sorted(os.listdir(guidance.project)) == [".git", "CLAUDE.md"]


def test_a_file_of_the_users_host_folder_splits_into_the_users_own_ways(guidance):
    path = guidance.file(guidance.home / ".claude/CLAUDE.md", section("Commits"))
    ((target, _),) = propose(str(path)).targets
    assert target == str(guidance.places["user"] / "commits/commits.md")


@pytest.mark.parametrize(
    ("data", "says"),
    [(b"\xff\xfe", "not UTF-8"), (None, "cannot be read: No such file"), (b"x" * 5_000_000, "larger")],
)
def test_a_file_that_cannot_be_split_says_why(data, says, guidance):
    path = guidance.project / "X.md"
    if data is not None:
        guidance.file(path, data)
    with pytest.raises(GuidanceError, match=says):
        propose(str(path))


def test_nothing_to_split_changes_nothing(guidance):
    path = guidance.file("CLAUDE.md", "# Only\n")
    proposal = propose(str(path))
    assert proposal.diff() == "" and apply(proposal) == () and path.read_text() == "# Only\n"


def test_a_line_without_its_end_is_marked_in_the_diff(guidance):
    path = guidance.file("CLAUDE.md", "# P\n" + section("A").rstrip("\n"))
    assert propose(str(path)).diff().count("\\ No newline at end of file\n") == 2
