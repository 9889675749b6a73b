"""The public surface, and what importing it costs."""

import pytest

import admit

from .house import loaded_by

PUBLIC = [
    "Budget",
    "Candidate",
    "OutputGate",
    "OutputResult",
    "Policy",
    "RawOutput",
    "Task",
    "as_given",
    "by_rank",
    "decide",
    "filter_output",
    "fit",
    "forest",
    "plan",
    "rule",
    "show",
]
HEAVY = {"pydantic", "rich", "onnxruntime", "tokenizers", "numpy", "scipy", "asyncio", "httpcore2", "altair"}


def test_the_public_names_are_these():
    assert admit.__all__ == PUBLIC == sorted(PUBLIC)
    assert dir(admit) == sorted([*PUBLIC, "__version__"])


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_there_and_explained(name):
    assert (getattr(admit, name).__doc__ or "").strip()


def test_any_other_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        admit.nothing  # noqa: B018 - the access is the point


def test_importing_the_package_loads_itself_and_nothing_else():
    bare = loaded_by("import typing, __future__")
    assert loaded_by("import admit") - bare == {"admit"}


def test_the_pipeline_loads_the_core_and_the_standard_library():
    ours = {one for one in loaded_by("from admit import plan, decide, forest, fit") if "admit" in one}
    assert {one for one in ours if not one.startswith("admit.core")} <= {"admit", "admit.errors"} | {
        one for one in ours if one.startswith(("_", "__editable__"))
    }


LIGHT = [
    "admit",
    "admit.core.admission",
    "admit.text.terms",
    "admit.judges",
    "admit.outputs.gate",
    "admit.cli",
    "admit.cli.output",
    "admit.cli.run",
    "admit.cli.recall",
]


@pytest.mark.parametrize("module", LIGHT)
def test_the_light_path_loads_nothing_heavy(module):
    assert not HEAVY & loaded_by(f"import {module}")


def test_filtering_an_output_loads_nothing_heavy(tmp_path):
    """The whole way of `admit output`, not only its imports."""
    lines = "".join(f"line {k} of a long build\n" for k in range(2000))
    filtered = tmp_path / "filtered"
    code = f"""
import os
from admit.cli.frame import run
kept, real = os.open({str(filtered)!r}, os.O_WRONLY | os.O_CREAT), os.dup(1)
os.dup2(kept, 1)
assert run(["output", "--task", "why does the build fail"]) == 0
os.dup2(real, 1)
"""
    places = {name: str(tmp_path / name) for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")}
    assert not HEAVY & loaded_by(code, lines, **places)
    assert 1000 < len(filtered.read_text()) < 8000
