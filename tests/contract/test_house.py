"""Rules of the house: what a file may hold, and what it may import."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from admit import errors

from .house import MODULES, ROOT, SOURCE, name_of

MOST_LINES = 400
ORDINARY = {"admit.errors", "admit.core", "admit.text"}


@pytest.mark.parametrize("file", MODULES, ids=name_of)
def test_every_module_says_what_it_is_for_and_stays_one_room(file):
    source = file.read_text(encoding="utf-8")
    only_marks_a_package = file.name == "__init__.py" and not source.strip()
    assert only_marks_a_package or ast.get_docstring(ast.parse(source)), f"{file} has no docstring"
    assert source.count("\n") <= MOST_LINES, f"{file} is two rooms"


def imports_of(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            here = name_of(file).split(".")
            up = len(here) - node.level + (file.name == "__init__.py")
            base = ".".join(here[:up]) if node.level else ""
            yield ".".join(filter(None, [base, node.module or ""]))


PURE = sorted([*(SOURCE / "core").glob("*.py"), *(SOURCE / "text").glob("*.py")])
OUTSIDE = {
    "os",
    "io",
    "pathlib",
    "socket",
    "time",
    "datetime",
    "random",
    "sqlite3",
    "subprocess",
    "threading",
}
OUTSIDE |= {"asyncio", "tempfile", "shutil", "secrets", "uuid", "urllib", "http", "logging"}


# Pure craft that a kept library does: stems, and the events of YAML.
LIBRARIES = {("admit.text.terms", "Stemmer"), ("admit.text.front_matter", "yaml")}


@pytest.mark.parametrize("file", PURE, ids=name_of)
def test_core_and_text_import_the_standard_library_and_nothing_that_touches_the_world(file):
    for module in imports_of(file):
        first = module.split(".")[0]
        own = any(module == one or module.startswith(f"{one}.") for one in ORDINARY)
        library = (name_of(file), module) in LIBRARIES
        assert own or library or first in sys.stdlib_module_names, f"{file} imports {module}"
        assert first not in OUTSIDE, f"{file} imports {module}"


def test_imports_point_down():
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([tool, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_drawn_error_tree_is_the_tree():
    drawn, path = set(), []
    for line in (errors.__doc__ or "").splitlines():
        branch = re.match(r"^ {4}((?:│   |    )*)(?:[├└]── )?([A-Z]\w+)(?: |$)", line)
        if branch and ("──" in line or branch[2] == "AdmitError"):
            depth = len(branch[1]) // 4 + ("──" in line)
            path[depth:] = [branch[2]]
            drawn.add(tuple(path))

    def grown(error, above):
        yield (*above, error.__name__)
        for child in error.__subclasses__():
            if child.__module__ == "admit.errors":
                yield from grown(child, (*above, error.__name__))

    assert drawn == set(grown(errors.AdmitError, ()))


def test_no_branch_of_the_tree_grows_in_another_file():
    tree = {name for name, value in vars(errors).items() if isinstance(value, type)}
    for file in MODULES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and name_of(file) != "admit.errors":
                bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
                assert not bases & tree, f"{file}: {node.name}"
