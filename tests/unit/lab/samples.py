"""A small surface, a plan over it, and a ledger: enough to take every step of an experiment in a second."""

from __future__ import annotations

import json
from pathlib import Path

from admit.lab import freeze, run, selection
from admit.lab.journal import Journal
from admit.lab.plan import Plan
from admit.ledger.memory import MemoryLedger

STRATA = ("clear_single_tool", "out_of_domain")
LANGUAGES = ("en", "de")
NOUNS = ("invoice", "ticket", "calendar", "branch", "table", "parcel")
NOUNS += ("contract", "lamp", "garden", "recipe", "report", "ferry")
VERBS = ("create", "list", "delete")

PLAN = """
schema = 1
name = "small"
door = "tools"
question = "How deep?"
claim_boundary = "These cases only."
seed = 7
draws = 1000
repeat_share = 0.5
pad = false
controls = ["FIXED-3", "FIXED-5", "FIXED-10"]
candidates = ["REL-GAP-005", "REL-GAP-010", "REL-GAP-020", "MAX-GAP-010"]
refused = ["learned", "absolute-threshold"]
outside = ["budget", "cover"]
depends_on = []
forbidden_surfaces = []
arms_close_before = ""
arms = []
overlap_max = 0
[surfaces.dev]
path = "dev"
[surfaces.confirm]
path = "sealed"
[surface]
tasks = 24
per_cell = 6
catalog_sizes = [12, 36]
languages = ["en", "de"]
strata = ["clear_single_tool", "out_of_domain"]
[eligible]
recall_min = 0.97
mean_exposed_below = 6
p95_exposed_max = 10
[select]
order = ["mean_exposed", "-recall", "-full_coverage", "mean_tokens", "p95_latency", "id"]
[promote]
recall_min = 0.97
task_pass_delta_min = -0.02
unauthorised_destructive_max = 0
[power]
discordant_share = 0.10
chance = 0.80
waiver = "a small test"
"""


def tool(verb: str, noun: str) -> dict:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    return {"name": f"{verb}_{noun}", "description": f"{verb} a {noun}", "inputSchema": schema}


def catalog(size: int) -> list[dict]:
    # The smallest holds what every case needs: the first verb of each noun.
    pairs = [(verb, noun) for verb in VERBS for noun in NOUNS][:size]
    return [{"source": "office", "tools": [tool(verb, noun) for verb, noun in pairs]}]


def rows(word: str = "please") -> list[dict]:
    found = []
    for language in LANGUAGES:
        nouns = NOUNS[:6] if language == "en" else NOUNS[6:]
        for noun in nouns:
            found.append(
                {
                    "id": f"{word}-{noun}",
                    "semantic_id": f"{word}-task-{noun}",
                    "stratum": "clear_single_tool",
                    "language": language,
                    "query": f"{word} create the {noun}",
                    "required": [f"office/create_{noun}"],
                }
            )
        for k in range(6):
            found.append(
                {
                    "id": f"{word}-{language}-none-{k}",
                    "semantic_id": f"{word}-{language}-{k}",
                    "stratum": "out_of_domain",
                    "language": language,
                    "query": f"{word} whistle {language} {'zyx' * (k + 1)}",
                    "required": [],
                }
            )
    return found


def write_surface(folder: Path, cases: list[dict], state: str = "open") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(row) + "\n" for row in cases)
    (folder / "tasks.jsonl").write_text(lines, encoding="utf-8")
    for size in (12, 36):
        (folder / f"catalog-{size}.json").write_text(json.dumps(catalog(size)), encoding="utf-8")
    (folder / "surface.json").write_text(json.dumps({"state": state, "synthetic": True}), encoding="utf-8")
    return folder


def write_plan(folder: Path, stem: str = "plan", **changes: str) -> Path:
    """A plan with lines replaced: the text of a line's key, and what stands in its place."""
    text = PLAN
    for key, value in changes.items():
        lines = [f"{key} = {value}" if line.startswith(f"{key} = ") else line for line in text.split("\n")]
        assert lines != text.split("\n"), key
        text = "\n".join(lines)
    path = folder / f"{stem}.toml"
    path.write_text(text, encoding="utf-8")
    return path


class Lab:
    """A folder with two surfaces and a plan, and a ledger."""

    def __init__(self, folder: Path, **changes: str) -> None:
        self.folder = folder
        write_surface(folder / "dev", rows())
        write_surface(folder / "sealed", rows("kindly"), "sealed")
        self.path = write_plan(folder, **changes)
        self.ledger = MemoryLedger()
        self.journal = Journal(self.ledger)

    def freeze(self):
        return freeze.freeze(Plan.load(self.path), self.journal)

    def frozen(self):
        return freeze.frozen(Plan.load(self.path), self.journal)

    def run(self):
        return run.run(self.freeze(), self.journal)

    def selected(self):
        self.run()
        frozen = self.frozen()
        return frozen, selection.select(frozen, self.journal)

    def steps(self) -> list[str]:
        said = self.journal.steps()
        return [f"{one.type.removeprefix('lab.')} {one.body.get('result', '')}".strip() for one in said]
