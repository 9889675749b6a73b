"""Every command, key and event is documented, and the repository speaks of itself alone."""

import importlib
import importlib.util
import re
import subprocess

import pytest

from admit.cli.frame import COMMANDS
from admit.config.keys import KEYS
from admit.core.events import EVENTS

from .house import DOCS, ROOT


def text_of(page):
    return (DOCS / page).read_text(encoding="utf-8")


def events_page():
    spec = importlib.util.spec_from_file_location("events_page", ROOT / "tools" / "events_page.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_and_each_of_its_fields_is_documented(name):
    row = next(line for line in text_of("events.md").splitlines() if line.startswith(f"| `{name}` |"))
    assert all(f"`{field}`" in row for field in EVENTS[name].fields)


def test_the_page_of_events_is_the_one_that_the_list_makes():
    assert text_of("events.md") == events_page().page(), "run: python tools/events_page.py > docs/events.md"


def test_no_event_has_a_meaning_that_is_not_in_the_list():
    assert set(events_page().MEANINGS) == set(EVENTS)


@pytest.mark.parametrize("name", KEYS)
def test_every_key_is_documented(name):
    page, section = text_of("configuration.md"), name
    while f"`[{section}]`" not in page:
        section, dot, _ = section.rpartition(".")
        assert dot, f"{name} is in no section"
    assert f"`{name[len(section) + 1 :]}`" in page.partition(f"`[{section}]`")[2].partition("\n## ")[0]


def options_of(command, path):
    """Every subcommand's path with its options, as they are typed."""
    yield path, sorted(option for parameter in command.params for option in parameter.opts if "--" in option)
    for name, inner in getattr(command, "commands", {}).items():
        yield from options_of(inner, f"{path} {name}")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_each_of_its_options_is_documented(name):
    page = text_of("commands.md")
    for path, options in options_of(importlib.import_module(COMMANDS[name][0]).command, f"admit {name}"):
        assert path in page, f"{path} is not in docs/commands.md"
        for option in options:
            assert re.search(rf"{option}\b", page), f"{option} of {path} is not in docs/commands.md"


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    names = [name for name in listed.stdout.decode().split("\0") if name]
    files = [ROOT / name for name in names] or [*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/*.md")]
    return [file for file in files if file.is_file()]


# Taken apart, so that this file does not hold them.
NOT_OURS = (
    "Co-Authored" + "-By",
    "Generated " + "with",
    "/wo" + "rk/",
    "../sha" + "red",
    "the spec" + " says",
)


def test_the_repository_speaks_of_itself_alone():
    mentioned = [
        f"{file.relative_to(ROOT)}: {word}"
        for file in tracked()
        for word in (*NOT_OURS, f"{ROOT}/")
        if word.encode().lower() in file.read_bytes().lower()
    ]
    assert mentioned == []


def test_documents_point_at_files_that_exist():
    missing = [
        f"{page.name}: {target}"
        for page in [*DOCS.glob("*.md"), *ROOT.glob("*.md")]
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert missing == []
