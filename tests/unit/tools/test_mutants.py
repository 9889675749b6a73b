"""Removing statements: what is removed, what is left alone, and that the unnoticed ones are listed."""

import ast
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SPEC = importlib.util.spec_from_file_location("mutants", ROOT / "tools" / "mutants.py")
assert SPEC and SPEC.loader
mutants = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(mutants)

SOURCE = '''"""Words."""

from typing import Literal, Protocol

Word = Literal["a", "b"]
Either = int | str
LIMIT = 3


class Shape(Protocol):
    """Words."""

    name: str

    def area(self) -> int: ...


def cut(value):
    """Words."""
    if value < 0:
        return 0
    elif value > LIMIT:
        value = (
            LIMIT
        )
    else:
        value += 1
    cache[value] = value  # mutant: only faster
    return value
'''


def removed():
    return [one.statement for one in mutants.mutants_of(SOURCE, "x.py")]


def test_statements_are_removed_and_words_imports_definitions_and_aliases_are_not():
    assert removed() == [
        "LIMIT = 3",
        "if value < 0:",
        "return 0",
        "value = (",
        "value += 1",
        "return value",
    ]


def test_what_is_left_is_python_with_every_other_line_in_its_place():
    for mutant in mutants.mutants_of(SOURCE, "x.py"):
        text = mutants.without(SOURCE, mutant)
        ast.parse(text)
        before, after = SOURCE.splitlines(), text.splitlines()
        assert len(before) == len(after)
        changed = {k for k, (a, b) in enumerate(zip(before, after, strict=True), 1) if a != b}
        assert changed <= set(range(mutant.first, mutant.last + 1))


def test_a_sample_is_the_same_for_the_same_seed_and_in_order():
    paths = ["src/admit/core/*.py"]
    everything = mutants.chosen(paths, 0, 0)
    sample = mutants.chosen(paths, 10, 1)
    assert sample == mutants.chosen(paths, 10, 1) != mutants.chosen(paths, 10, 2)
    assert [one for one in everything if one in sample] == sample


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A small tree with one function, of which half is tested."""
    (tmp_path / "src/admit/core").mkdir(parents=True)
    (tmp_path / "tests/unit/core").mkdir(parents=True)
    (tmp_path / "src/admit/__init__.py").touch()
    (tmp_path / "src/admit/core/__init__.py").touch()
    (tmp_path / "src/admit/core/half.py").write_text(
        "def half(x):\n    if x > 10:\n        x = 10\n    return x / 2\n"
    )
    test = "from admit.core.half import half\n\n\ndef test_half():\n    assert half(4) == 2\n"
    (tmp_path / "tests/unit/core/test_half.py").write_text(test)
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    return tmp_path


def test_what_no_test_notices_is_listed_by_file_and_line(house, capsys):
    assert mutants.main(["--paths", "src/admit/core/half.py"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "src/admit/core/half.py:2: if x > 10:",
        "src/admit/core/half.py:3: x = 10",
        "3 statements removed: 1 noticed by a failing test, 0 by a test that hung, 2 not noticed",
    ]
    assert "x = 10" in (house / "src/admit/core/half.py").read_text()


def test_tests_that_fail_by_themselves_are_said_so(house, capsys):
    (house / "tests/unit/core/test_half.py").write_text("def test_it():\n    assert False\n")
    assert mutants.main(["--paths", "src/admit/core/half.py"]) == 2
    assert "fail without a mutant" in capsys.readouterr().out
