"""Checks the situational prompts against a corpus: none may hold a content word of its own guidance.

``python bench/guidance_set/check.py --data PATH``, where PATH holds the corpus under ``ways-2026-04``. Prints
each prompt that shares a stem with the description, vocabulary or path of what it expects, or that its
pattern matches, and each piece of guidance with a description that no prompt expects. Exit 1 on the former.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any, Literal

import yaml

from admit.text.terms import terms

PROMPTS = Path(__file__).with_name("prompts.jsonl")
SALT = "guidance:"
ROOT = "ways-2026-04/hooks/ways"


def half(key: str) -> Literal["tune", "test"]:
    """The side of an id (of the first, where a row expects several; of the prompt, where it expects none)."""
    return "test" if hashlib.sha256((SALT + key).encode()).digest()[0] % 2 else "tune"


def load(split: str | None = None) -> list[dict[str, Any]]:
    """The rows in the order of the file; of one side, where it is named."""
    rows = [json.loads(line) for line in PROMPTS.read_text("utf-8").splitlines()]
    return [row for row in rows if split in (None, row["split"])]


def corpus(root: Path) -> dict[str, dict[str, Any]]:
    """Front matter by id, of what has a description."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(root.rglob("*.md")):
        opened = re.match(r"---\n(.*?)\n---\n", path.read_text("utf-8"), re.DOTALL)
        if path.stem == path.parent.name and opened:
            front = yaml.safe_load(opened[1])
            if "description" in front:
                found[path.parent.relative_to(root).as_posix()] = front
    return found


def shared(prompt: str, id: str, front: dict[str, Any]) -> list[str]:
    """Stems that a prompt has in common with its guidance's own words, and what its pattern finds."""
    own = f"{front['description']} {front.get('vocabulary', '')} {id.replace('/', ' ')}"
    common = set(terms(prompt)) & set(terms(own))
    found = re.search(front["pattern"], prompt, re.IGNORECASE) if "pattern" in front else None
    return sorted(common) + ([f"pattern: {found[0]}"] if found else [])


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds the corpus")
    known = corpus(parser.parse_args(argv).data / ROOT)
    rows = load()
    expected = {id for row in rows for id in row["expected"] or ()}
    faults = 0
    for row in rows:
        for id in row["expected"] or ():
            common = [f"no such id {id}"] if id not in known else []
            if row["category"] == "situational" and id in known:
                common = shared(row["prompt"], id, known[id])
            if common:
                faults += 1
                print(f"{row['id']} {id}: {', '.join(common)}")
    print(f"{len(rows)} prompts, {faults} at fault; expected by none: {sorted(set(known) - expected)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
