"""The documentation page says what the table says."""

from __future__ import annotations

from pathlib import Path

from admit.config.keys import KEYS
from admit.config.page import page

PAGE = Path(__file__).parents[3] / "docs" / "configuration.md"


def test_the_page_in_docs_is_the_one_that_the_table_makes():
    assert PAGE.read_text() == page(), "run: python -m admit.config.page > docs/configuration.md"


def test_every_key_has_one_row():
    rows = [line for line in page().splitlines() if line.startswith("| `") and line.count("|") == 7]
    assert len([row for row in rows if "| `" in row]) == len(KEYS)
