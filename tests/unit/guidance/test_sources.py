"""What each source makes of its files."""

from __future__ import annotations

import pytest

from admit.guidance.model import Trigger, When
from admit.guidance.sources.page import comma_list

from .project import codes

START = Trigger("state", "session-start", "literal")
MEANING = Trigger("semantic", "description", "auto")


def files(*globs: str) -> tuple[Trigger, ...]:
    return tuple(Trigger("files", glob, "glob") for glob in globs)


def test_a_way_with_every_field(guidance):
    path = guidance.way(
        "user",
        "dev/commits",
        "description: Commits\nvocabulary: git squash\npattern: commit|push\ncommands: ^git\\ commit\n"
        "files: \\.gitmessage$\nscope: agent, subagent\nrefire: rare\npattern_strict: true\n"
        "when:\n  project: ~/code\n  file_exists: '*.toml'",
        "# Git *commits*\n\ntext\n",
    )
    way = guidance.only()
    assert way.id == "dev/commits" and way.kind == "way" and way.root == "user" and way.path == str(path)
    assert (way.title, way.description, way.vocabulary) == ("Git *commits*", "Commits", "git squash")
    assert way.triggers == (
        Trigger("pattern", "commit|push"),
        Trigger("commands", "^git\\ commit"),
        Trigger("files", "\\.gitmessage$"),
        MEANING,
    )
    assert way.scope == {"agent", "subagent"} and way.refire == 0.4 and way.strict
    assert way.when == When(str(guidance.home / "code"), "*.toml")
    assert path.read_text()[way.body_at :] == "# Git *commits*\n\ntext\n" and way.chars == 22
    assert way.digest.startswith("sha256:") and not way.pointer and way.semantic()


@pytest.mark.parametrize(
    ("matter", "refire"),
    [
        ("refire: once", 1.0), ("refire: rare", 0.4), ("refire: Normal", 0.15), ("refire: frequent", 0.05),
        ("refire: 0", 0.0), ("refire: 10", 10.0), ("refire: 2.5", 2.5), ("pattern: x", 0.15),
        ("repeat: true", 0.05), ("repeat: false", 0.15), ("repeat: true\nrefire: 1", 1.0),
    ],
)  # fmt: skip
def test_refire_is_a_number_or_a_word(matter, refire, guidance):
    guidance.way("user", "a", matter)
    assert guidance.only().refire == refire and guidance.load()[1] == ()


@pytest.mark.parametrize("word", ["-1", "10.01", "nan", "inf", "often", "1,5"])
def test_a_refire_out_of_range_is_found_and_the_default_holds(word, guidance):
    path = guidance.way("user", "a", f"description: d\nrefire: {word}")
    (finding,) = guidance.load()[1]
    assert (finding.code, finding.level, finding.path, finding.line) == (
        "refire-range",
        "error",
        str(path),
        3,
    )
    assert guidance.only().refire == 0.15


@pytest.mark.parametrize(
    ("matter", "triggers"),
    [
        ("trigger: session-start", (START,)),
        (
            "trigger: context-threshold\nthreshold: 80",
            (Trigger("state", "context-threshold", "literal", 80.0),),
        ),
        ("trigger: context-threshold\nthreshold: 800", ()),
        ("trigger: context-threshold", ()),
        ("trigger: file-exists\npath: '*.md'", (Trigger("state", "file-exists", "glob", "*.md"),)),
        ("trigger: file-exists", ()),
        ("trigger: moonrise", ()),
        ("threshold: 2.0", ()),
        ("pattern:\n  - one\n  - two", (Trigger("pattern", "one"), Trigger("pattern", "two"))),
        ("pattern_strict: ssh|scp", (Trigger("pattern", "ssh|scp"),)),
        ("vocabulary: words", ()),
    ],
)
def test_what_sets_a_way_off(matter, triggers, guidance):
    guidance.way("user", "a", matter)
    assert guidance.only().triggers == triggers


def test_core_stands_at_the_top_of_a_root_and_starts_every_session(guidance):
    guidance.file(guidance.places["bundled"] / "core.md", "# Core\n")
    guidance.file(guidance.places["bundled"] / "deep" / "core.md", "# Core\n")
    assert guidance.only().id == "core" and guidance.only().triggers == (START,)


def test_other_files_of_a_root_are_no_ways(guidance):
    guidance.way("project", "a/b")
    for name in (
        "README.md",
        "a/notes.md",
        "a/b/b.check.md",
        "a/c.check/c.check.md",
        "a/b/b.txt",
        ".a/.a.md",
    ):
        guidance.file(guidance.places["project"] / name, "---\ndescription: x\n---\n")
    assert guidance.ids() == ["a/b"]


def test_a_skill_is_a_pointer_that_is_found_by_meaning_or_by_path(guidance):
    guidance.file(
        ".claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Read PDF\npaths: '*.pdf'\n---\n# H"
    )
    guidance.file(".agents/skills/x/SKILL.md", "---\nname: 'Not a/name'\ndescription: X\n---\n")
    guidance.file(".agents/skills/x/deep/SKILL.md", "---\nname: y\n---\n")
    index, findings = guidance.load()
    pdf, other = index.snippets
    assert pdf.id == "skill:pdf" and pdf.title == "pdf" and pdf.pointer and pdf.source == "skill"
    assert pdf.triggers == (MEANING, *files("*.pdf")) and pdf.scope == {"agent"}
    assert other.id == "skill:x" and findings == ()


def test_a_skill_that_a_model_may_not_call_has_no_trigger(guidance):
    matter = "name: x\ndescription: X\npaths: a\ndisable-model-invocation: true"
    guidance.file(".claude/skills/x/SKILL.md", f"---\n{matter}\n---\n")
    assert guidance.only().triggers == ()


@pytest.mark.parametrize(
    ("matter", "triggers"),
    [
        ("description: D\nglobs: a/*.py, **/*.{ts,tsx}\nalwaysApply: true", (START,)),
        (
            "description: D\nglobs: a/*.py, **/*.{ts,tsx}\nalwaysApply: false",
            files("a/*.py", "**/*.{ts,tsx}"),
        ),
        ("description: D\nglobs:\nalwaysApply: false", (MEANING,)),
        ("description:\nglobs:\nalwaysApply: false", (Trigger("mention", "@style", "literal"),)),
    ],
)
def test_a_rule_of_cursor(matter, triggers, guidance):
    guidance.file(".cursor/rules/web/style.mdc", f"---\n{matter}\n---\nbody")
    rule = guidance.only()
    assert (rule.id, rule.kind, rule.title) == ("cursor:web/style", "rule", "style")
    assert rule.triggers == triggers


@pytest.mark.parametrize(
    ("text", "triggers"),
    [
        ("# Always\n", (START,)),
        ("---\npaths: src/**/*.py, '*.md'\n---\n", files("src/**/*.py", "'*.md'")),
        ("---\npaths:\n  - 'src/**/*.{py,pyi}'\n  - a.md\n---\n", files("src/**/*.{py,pyi}", "a.md")),
    ],
)
def test_a_rule_of_claude(text, triggers, guidance):
    guidance.file(".claude/rules/api/http.md", text)
    assert guidance.only().id == "rule:api/http" and guidance.only().triggers == triggers


@pytest.mark.parametrize(
    ("matter", "triggers"),
    [
        ("applyTo: '**/*.ts,**/*.tsx'", files("**/*.ts", "**/*.tsx")),
        ("applyTo: '**'\ndescription: D", (*files("**"), MEANING)),
        ("description: D", (MEANING,)),
        ("name: x", (Trigger("mention", "@react", "literal"),)),
    ],
)
def test_instructions_of_copilot(matter, triggers, guidance):
    guidance.file(".github/instructions/ui/react.instructions.md", f"---\n{matter}\n---\n")
    guidance.file(".github/instructions/ui/readme.md", "no")
    assert guidance.only().id == "copilot:ui/react" and guidance.only().triggers == triggers


def test_a_comma_list_is_not_divided_inside_braces():
    assert comma_list(" a , b/{c,d{e,f}},, [g,h] ,") == ("a", "b/{c,d{e,f}}", "[g,h]")
    assert comma_list("{a,b") == ("{a,b",) and comma_list("a},b") == ("a}", "b")


def test_what_the_host_loads_itself_is_left_to_it(guidance):
    guidance.file(".claude/skills/x/SKILL.md", "---\nname: x\ndescription: X\n---\n")
    guidance.file(".claude/rules/r.md", "always")
    guidance.way("user", "a")

    def ids(host: str | None) -> list[str]:
        return [one.id for one in guidance.load(host)[0].snippets]

    assert ids(None) == ["skill:x", "rule:r", "a"]
    assert ids("codex") == ["rule:r", "a"]
    assert ids("claude-code") == ["a"]
    searched = {one.root.folder: one for one in guidance.load("claude-code")[0].searched}
    rules = searched[str(guidance.project / ".claude/rules")]
    assert (rules.root.left_to, rules.exists, rules.files, rules.loaded) == ("claude-code", True, 1, 0)


def test_sources_that_are_named_are_read_also_where_the_host_does(guidance):
    named = guidance.roots("claude-code", sources=("skill",))
    assert {root.source for root in named} == {"skill"} and not any(root.left_to for root in named)
    assert guidance.roots(sources=()) == ()


def test_roots_are_listed_by_precedence_also_those_that_are_missing(guidance):
    extra = guidance.roots(extra_roots=("~/more", "/srv/ways"))
    assert [root.kind for root in extra] == ["project"] * 6 + ["user"] * 4 + ["bundled"] + ["extra"] * 2
    assert [root.folder for root in extra[-2:]] == [str(guidance.home / "more"), "/srv/ways"]
    assert [root.kind for root in guidance.roots(project=False)] == ["user"] * 4 + ["bundled"]
    index, findings = guidance.load()
    assert findings == () and index.snippets == () and not any(one.exists for one in index.searched)
    assert len(index.searched) == 11


def test_the_project_is_found_from_a_folder_within_it(guidance, monkeypatch):
    guidance.way("project", "a")
    guidance.project = guidance.project / "src" / "deep"
    assert guidance.ids() == ["a"]


def test_in_the_home_folder_the_places_of_a_project_are_the_users_own(guidance):
    guidance.file(guidance.home / ".claude/skills/x/SKILL.md", "---\nname: x\ndescription: X\n---\n")
    guidance.project = guidance.home
    assert [(one.id, one.root) for one in guidance.load()[0].snippets] == [("skill:x", "user")]


def test_the_configuration_folder_of_the_environment_holds(guidance, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    guidance.file(tmp_path / "xdg/agent-ways/ways/a/a.md", "---\npattern: x\n---\n")
    assert guidance.ids() == ["a"]
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert guidance.ids() == []


def test_a_recovered_way_loads_and_says_so(guidance):
    path = guidance.way("project", "a", "pattern: x\ndescription: x: y")
    index, findings = guidance.load()
    assert index.snippets[0].description == "x: y"
    assert codes(findings) == ["front-matter-recovered"] and (findings[0].path, findings[0].line) == (
        str(path),
        3,
    )
    assert findings[0].level == "error"
