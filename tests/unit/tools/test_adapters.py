"""Adapters are loaded on demand alone, and say which extra they need."""

from __future__ import annotations

import subprocess
import sys

import pytest

WITHOUT = """
import sys
sys.modules[{missing!r}] = None
try:
    import admit.tools.adapters.{adapter}
except ImportError as fault:
    print(fault)
"""


@pytest.mark.parametrize(
    ("adapter", "missing", "extra"),
    [("langchain", "langchain", "langchain"), ("pydantic_ai", "pydantic_ai", "pydantic-ai")],
)
def test_a_missing_library_is_named_with_its_extra(adapter, missing, extra):
    code = WITHOUT.format(adapter=adapter, missing=missing)
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert (
        said.startswith(f"admit.tools.adapters.{adapter} needs ") and f"pip install 'admit[{extra}]'" in said
    )


def test_a_gate_and_its_catalog_load_no_agent_library():
    code = (
        "import sys, admit.tools.gate, admit.tools.catalog, admit.tools.adapters.narrowing\n"
        "print(sorted({'langchain', 'langchain_core', 'langgraph', 'pydantic_ai'} & sys.modules.keys()))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"
