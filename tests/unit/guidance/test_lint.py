"""What lint says about guidance that loads."""

from __future__ import annotations

import pytest

from admit.guidance.codes import LEVELS
from admit.guidance.lint import lint
from admit.guidance.model import Finding

GOOD = "description: Something quite telling\nrefire: normal\n"


def of(guidance, **more) -> tuple[Finding, ...]:
    index, findings = guidance.load()
    assert findings == ()
    return lint(index, **more)


def short(findings: tuple[Finding, ...]) -> list[tuple[str, int]]:
    return [(one.code, one.line) for one in findings]


def test_a_good_way_has_no_finding(guidance):
    matter = GOOD + "pattern: release notes|\\bssh\\b\nfiles: \\.md$\nvocabulary: v\nscope: agent,teammate"
    guidance.way("user", "a", matter + "\ncommands: ^git\\ push\nwhen:\n  project: /x\n  file_exists: y")
    assert of(guidance) == ()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("patern: x y z", "unknown-field"),
        ("scope: agent, subagents", "unknown-field"),
        ("when:\n  projekt: x", "unknown-field"),
        ("when: project", "unknown-field"),
        ("when: [project]", "unknown-field"),
        ("trigger: session-begin", "unknown-field"),
        ("threshold: 2.0", "ignored-field"),
        ("path: x", "ignored-field"),
        ("embed_threshold: 0.3", "ignored-field"),
        ("curve: x", "ignored-field"),
        ("requires: x", "ignored-field"),
        ("macro: prepend", "ignored-field"),
        ("scan_exclude: x", "ignored-field"),
        ("pattern: (?=look)ahead", "regex-unsupported"),
        ("commands: '(twin) \\1'", "regex-unsupported"),
        ("files: '[open'", "regex-unsupported"),
        ("pattern: '((a{1,100}){1,100}){1,100} long'", "regex-too-large"),
        (f"pattern: {'long' * 1100}", "regex-too-large"),
        ("pattern: '(telling)?'", "regex-empty-match"),
        ("files: 'x*'", "regex-empty-match"),
        ("pattern: schema|flamegraph", "bare-common-word"),
        ("pattern: ssh", "short-unanchored"),
        ("pattern: save.*memory", "dot-star"),
        ("commands: git.+push", "dot-star"),
        ("pattern_strict: save.*memory", "dot-star"),
    ],
)
def test_a_line_of_a_way_and_its_finding(line, code, guidance):
    path = guidance.way("user", "a", GOOD + line)
    found = [one for one in of(guidance) if one.code == code]
    assert [(one.path, one.line, one.level) for one in found] == [(str(path), 4, LEVELS[code])]
    assert found[0].fix and found[0].text.isprintable()


def test_an_unknown_field_names_the_nearest_and_is_an_error_in_a_bundled_root(guidance):
    guidance.way("bundled", "a", GOOD + "vocabularies: x")
    (finding,) = of(guidance)
    assert (finding.level, finding.fix) == ("error", "did you mean vocabulary?")


@pytest.mark.parametrize("keep", ["true", "schema", "other, Schema"])
def test_pattern_keep_waives_common_words(keep, guidance):
    guidance.way("user", "a", GOOD + f"pattern: schema|flamegraph\npattern_keep: {keep}")
    assert of(guidance) == ()
    guidance.way("user", "a", GOOD + "pattern: schema|flamegraph\npattern_keep: profile")
    assert short(of(guidance)) == [("bare-common-word", 4)]


@pytest.mark.parametrize(
    ("matter", "codes"),
    [
        ("vocabulary: x", ["never-fires"]),
        ("description: d\nrefire: once\nscope: everybody", ["never-fires", "unknown-field"]),
        ("trigger: context-threshold\nthreshold: 200", ["never-fires"]),
        (
            "refire: once\npattern: (?=x)",
            ["description-missing", "never-fires", "regex-unsupported", "short-unanchored"],
        ),
        ("pattern: flamegraph", ["description-missing", "no-refire"]),
        ("description: d", ["no-refire"]),
        ("description: d\nrepeat: true", []),
        ("trigger: session-start\nrefire: 0", []),
    ],
)
def test_what_is_missing(matter, codes, guidance):
    guidance.way("user", "a", matter)
    assert sorted(one.code for one in of(guidance)) == codes


def test_a_skill_that_a_model_may_not_call_is_silent_on_purpose(guidance):
    guidance.file(".claude/skills/x/SKILL.md", "---\nname: x\ndescription: X\nlicense: MIT\n---\n")
    guidance.file(".claude/skills/y/SKILL.md", "---\nname: y\ndisable-model-invocation: true\n---\n")
    assert of(guidance) == ()
    guidance.file(".claude/skills/z/SKILL.md", "---\nname: z\n---\n")
    assert [one.code for one in of(guidance)] == ["never-fires"]


@pytest.mark.parametrize(
    ("name", "field"),
    [
        (".claude/rules/r.md", "paths"),
        (".cursor/rules/r.mdc", "globs"),
        (".github/instructions/r.instructions.md", "applyTo"),
    ],
)
def test_a_glob_of_a_rule_is_looked_at_too(name, field, guidance):
    guidance.file(name, f"---\ntitle: x\n{field}: '{'x' * 5000}'\n---\n")
    assert short(of(guidance)) == [("never-fires", 0), ("regex-too-large", 3)]


def test_a_body_over_the_budget_is_found_in_utf16_units_but_not_of_a_skill(guidance):
    guidance.way("user", "a", GOOD, "😀" * 50)
    guidance.file(".claude/skills/x/SKILL.md", "---\nname: x\ndescription: X\n---\n" + "x" * 200)
    assert of(guidance, budget=100) == ()
    assert [one.code for one in of(guidance, budget=99)] == ["body-over-budget"]


def test_links_that_lead_nowhere_are_found_at_their_line(guidance):
    body = (
        "[a](there.md#x) [b](gone.md) ![i](img%20s.png)\n\n`[c](code.md)`\n```\n[d](fence.md)\n```\n"
        '[e](https://x.y/z) [f](#local) [g](/abs) [h](~/home) [i](mailto:a@b) [j](sub/gone.md "t") [k](<a>)\n'
    )
    path = guidance.way("user", "a", GOOD.strip(), body)
    (path.parent / "there.md").touch()
    (path.parent / "img s.png").touch()
    found = of(guidance)
    assert short(found) == [("dead-link", 5), ("dead-link", 11)]
    assert "gone.md" in found[0].text and "sub/gone.md" in found[1].text


def test_a_shadowing_file_names_what_it_hides(guidance):
    path = guidance.way("project", "a", GOOD)
    hidden = guidance.way("user", "a", GOOD)
    (finding,) = of(guidance)
    assert (finding.code, finding.path) == ("shadows", str(path)) and str(hidden) in finding.text
    (finding,) = lint(guidance.load(disable=("a",))[0])
    assert finding.code == "shadows"


def test_near_duplicates_are_named_once_each(guidance):
    for id, text in (("a", "one two"), ("b", "one two"), ("c", "other"), ("d", "one two")):
        guidance.way("user", id, f"description: {text}\nvocabulary: words\nrefire: once")
    guidance.way("user", "e", "pattern: long enough\nrefire: once\ndescription:")
    asked: list[list[str]] = []

    def cosines(texts):
        asked.append(list(texts))
        return [[0.95 if one == other else 0.94 for one in texts] for other in texts]

    found = [one for one in of(guidance, cosines=cosines) if one.code == "near-duplicate"]
    assert asked == [["one two words", "one two words", "other words", "one two words"]]
    assert [one.text for one in found] == ["b says nearly the same as a", "d says nearly the same as a"]


def test_ids_without_a_probe_are_found_when_probes_are_asked_for(guidance):
    guidance.way("user", "a", GOOD)
    guidance.way("user", "b", GOOD)
    assert [(one.code, one.text) for one in of(guidance, probed=["b", "x"])] == [
        ("no-probe", "no probe names a")
    ]


def test_a_file_that_is_gone_since_it_was_loaded_is_passed_over(guidance):
    path = guidance.way("user", "a", "pattern: ssh")
    index, _ = guidance.load()
    path.unlink()
    assert lint(index) == ()


def test_findings_stand_by_path_and_line(guidance):
    for id in "ba":
        guidance.way("user", id, "macro: x\ndescription: d\ncurve: y\npattern: tag")
    found = of(guidance)
    assert list(found) == sorted(found, key=lambda one: (one.path, one.line, one.code))
    assert {one.path[-4:] for one in found} == {"a.md", "b.md"}
