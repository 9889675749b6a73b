import pytest

from admit.guidance.model import Snippet, Surface, Trigger
from admit.guidance.triggers import MOST_PROJECT_BYTES, MOST_SURFACE, Triggers, cut_surface, relative


def snippet(name, *triggers, root="user", strict=False):
    return Snippet(
        name, "way", "agent-ways", root, f"/{name}.md", name, "", "", triggers, frozenset({"agent"}), None,
        0.15, strict, "sha256:0", 0, 0,
    )  # fmt: skip


def fired(snippets, surface):
    return {name: one.span for name, one in Triggers(snippets).search(surface).fired.items()}


PATTERN = Trigger("pattern", r"\bssh\b")


@pytest.mark.parametrize("lane", ["prompt", "queued", "task"])
def test_a_pattern_sees_what_a_person_wrote(lane):
    assert fired([snippet("a", PATTERN)], Surface(lane, "use SSH here")) == {"a": "SSH"}


def test_a_quoted_word_fires_a_strict_pattern_alone_and_the_other_is_told_as_hidden():
    snippets = [snippet("a", PATTERN), snippet("b", PATTERN, strict=True)]
    explicit = Triggers(snippets).search(Surface("prompt", "look at `ssh x`"))
    assert set(explicit.fired) == {"b"} and explicit.hidden == {"a"}


def test_a_command_runs_its_own_triggers_and_its_description_the_patterns():
    snippets = [
        snippet("commit", Trigger("commands", r"^git\ commit")),
        snippet("ssh", PATTERN),
        snippet("docs", Trigger("files", "**/*.md", "glob")),
    ]
    surface = Surface("command", "git commit -m ssh > log.md", description="connect by ssh", cwd="/p")
    assert fired(snippets, surface) == {"commit": "git commit", "ssh": "ssh", "docs": "log.md"}
    assert "ssh" not in fired(snippets, surface._replace(description=""))


def test_a_file_is_held_against_globs_relative_to_the_project():
    snippets = [
        snippet("src", Trigger("files", "src/*.py", "glob")),
        snippet("re", Trigger("files", r"\.py$")),
    ]
    assert fired(snippets, Surface("file", paths=("/p/src/a.py",), cwd="/p")) == {
        "src": "src/a.py",
        "re": ".py",
    }
    assert fired(snippets, Surface("file", paths=("/q/src/a.py",), cwd="/p")) == {"re": ".py"}


def test_the_most_telling_trigger_counts():
    two = snippet("a", Trigger("pattern", "deploy"), Trigger("pattern", "deploy the site"))
    (one,) = Triggers([two]).search(Surface("prompt", "deploy the site")).fired.values()
    assert (one.explicit, one.trigger.text) == (15, "deploy the site")


def test_a_projects_patterns_see_the_ends_of_a_long_text():
    text = "x " * MOST_PROJECT_BYTES + " ssh " + "x " * MOST_PROJECT_BYTES
    assert fired([snippet("a", PATTERN)], Surface("prompt", text)) == {"a": "ssh"}
    assert fired([snippet("a", PATTERN, root="project")], Surface("prompt", text)) == {}
    assert fired([snippet("a", PATTERN, root="project")], Surface("prompt", text + "ssh")) == {"a": "ssh"}


def test_a_long_surface_keeps_its_ends():
    text = "ä" * MOST_SURFACE + "z"
    assert len(cut_surface(text)) == MOST_SURFACE and cut_surface(text).endswith("z")


@pytest.mark.parametrize("text", ["", "\0", "\ud800 ssh", "日本 ssh", "ssh\n" * 50_000])
def test_no_text_is_too_odd(text):
    assert ("a" in fired([snippet("a", PATTERN)], Surface("prompt", text))) == ("ssh" in text)


def test_paths_are_relative_to_the_project():
    assert relative("/p/a.py", "/p/") == "a.py"
    assert relative("C:\\x\\a.py", "") == "C:/x/a.py"
    assert relative("./a.py", "/p") == "a.py"
    assert relative("a.py", "/p/src", "/p") == "src/a.py" == relative("/p/src/a.py", "/p/src", "/p")
    assert relative("../b.py", "/p/src", "/p") == "b.py"
    assert relative("../../q/b.py", "/p/src", "/p") == "/q/b.py"
