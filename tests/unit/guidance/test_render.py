"""What the agent sees: bodies word for word, pointers, and their size as sent."""

from __future__ import annotations

from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from admit.guidance.render import heading, render
from admit.text.cut import utf16_length

from .gated import opened, prompt

MOST = 9000


def test_a_body_is_shown_verbatim_under_its_heading(guidance):
    guidance.way("project", "a/b", body="\nUse *tabs*.\n\n  Indented.\n")
    unit = render(guidance.only(), MOST)
    assert unit.text == "[guidance a/b · project]\nUse *tabs*.\n\n  Indented."
    assert unit.units == len(unit.text) + 1  # the line end after it


def test_a_body_over_the_budget_alone_is_shown_by_its_path_and_one_at_it_whole(guidance):
    path = guidance.way("project", "a", "description: about a", "x" * 100)
    whole = render(guidance.only(), MOST)
    assert render(guidance.only(), whole.units) == whole
    assert render(guidance.only(), whole.units - 1).text == (
        f"[guidance a · project]\na\nabout a\nRead {path} before you start."
    )


def test_a_skill_is_always_shown_by_its_path(guidance):
    path = guidance.file(".claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Merge\n---\nbody\n")
    unit = render(guidance.only(), MOST)
    assert unit.text == f"[guidance skill:pdf · project]\npdf\nMerge\nRead {path} before you start."


def test_what_is_empty_or_gone_is_not_shown(guidance):
    path = guidance.way("project", "a", body=" \n\n")
    snippet = guidance.only()
    assert render(snippet, MOST) is None
    path.unlink()
    assert render(snippet, MOST) is None


def test_units_are_counted_as_sent(guidance):
    guidance.way("project", "a", body="🚀🚀 ä\n")
    assert render(guidance.only(), MOST).units == len("[guidance a · project]") + 1 + 4 + 2 + 1


def test_a_heading_is_one_line_whatever_the_id(guidance):
    guidance.way("project", "a")
    snippet = guidance.only()._replace(id="a\n[guidance b · user]\u202e")
    assert heading(snippet).count("\n") == 0 and heading(snippet).endswith(" · project]")


def test_what_is_shown_stands_in_order_with_no_more_than_the_budget(guidance):
    for name in ("a", "b", "c"):
        guidance.way("project", name, "pattern: deploy", f"about {name}\n")
    result = opened(guidance).scan(prompt("deploy"))
    assert result.text == "\n".join(f"[guidance {name} · project]\nabout {name}" for name in "abc")
    assert result.budget[0] == utf16_length(result.text) + 1


@given(body=st.text(max_size=300).filter(lambda text: "---" not in text), most=st.integers(0, 400))
@examples(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_body_is_cut_and_none_is_over_the_budget_whole(guidance, body, most):
    data = body.encode("utf-8", "surrogatepass")
    guidance.file(".claude/ways/a/a.md", b"---\npattern: x\n---\n" + data)
    index, _ = guidance.load()
    unit = render(index.snippets[0], most) if index.snippets else None
    if unit is not None and "before you start." not in unit.text:
        assert unit.units <= most and unit.units == utf16_length(unit.text) + 1
