"""Checks the surfaces of the tools door: balance, ids, routes, languages by script, and repeated sentences.

``python bench/surfaces/check.py`` prints a line for each surface and each fault, and exits 1 where there is a
fault. It reads the sealed surface for its form alone: nothing is ranked or scored here.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from admit.text.terms import terms

HERE = Path(__file__).parent
SIZES = (100, 250, 500)
BALANCED = ("office-240", "office-240-sealed")
SURFACES = (*BALANCED, "hard")
PER_CELL = 5
HARD_ROWS = 120

UNSUPPORTED = ("near_domain_unsupported", "out_of_domain")
STRATA = (
    "clear_single_tool",
    "sibling_operation_ambiguity",
    "semantically_adjacent_distractors",
    "multi_step_first_hop",
    "typed_numeric_units",
    "read_write_siblings",
    *UNSUPPORTED,
)
LANGUAGES = ("en", "ko", "es", "ja", "de", "mixed")
HARD_STRATA = (
    "synonyms",
    "typos",
    "native_words",
    "ten_siblings",
    "names_in_sentences",
    "long_chat",
    "no_tool_fits",
)
WORDLESS = ("synonyms", "native_words")
"""Strata whose rows hold no stem of what they require."""

LONG = 600
"""Characters that a row of `long_chat` has at least."""

KEYS = frozenset(("id", "semantic_id", "stratum", "language", "query", "required", "cluster"))
HARD_KEYS = frozenset(("id", "stratum", "language", "query", "required"))

SCRIPTS = {"ko": "HANGUL", "ja": "HIRAGANA KATAKANA", "zh": "CJK", "ru": "CYRILLIC"}
FOREIGN = ("HANGUL", "HIRAGANA", "KATAKANA", "CJK", "CYRILLIC")
FUNCTION_WORDS = {
    "en": "an and are at do does for how i is it me my need not of on our please should that the this "
    "to we what when which who why with you your but just then only now thanks",
    "es": "al como cuando de del dime el en es esta este haz la las lo los mi para por qué que quiero "
    "se sin su un una y cuánto cuál si porfa oye",
    "de": "auf aus bei bitte das dem den der ein eine einen für ich im ist man mir mit nicht noch nur "
    "oder und vom von welche wer wie wann gegen haben zum zur eigentlich",
}
"""The commonest words of each language that none of the other two has."""


def load(surface: str) -> list[dict[str, Any]]:
    """The rows of a surface, in the order of its file."""
    return [json.loads(line) for line in (HERE / surface / "tasks.jsonl").read_text("utf-8").splitlines()]


def routes(size: int) -> dict[str, dict[str, Any]]:
    """The tools of the catalog of a size by id, ``source/name``."""
    servers = json.loads((HERE / "catalog" / f"catalog-{size}.json").read_text("utf-8"))
    return {f"{server['source']}/{tool['name']}": tool for server in servers for tool in server["tools"]}


def own_words(id: str, tool: Mapping[str, Any]) -> set[str]:
    """The stems of a route: of its id, its sentence, its inputs and its outputs."""
    fields = [*tool["inputSchema"]["properties"], *tool.get("outputSchema", {}).get("properties", {})]
    return set(terms(" ".join((id, tool["description"], *fields))))


def normalised(query: str) -> str:
    """The letters alone, case folded: two rows that differ in a number or a comma are one sentence."""
    folded = unicodedata.normalize("NFKC", query).casefold()
    return "".join(letter for letter in folded if letter.isalpha())


def scripts(query: str) -> set[str]:
    """The first words of its letters' Unicode names: ``LATIN``, ``HANGUL``, ``CJK`` …"""
    return {unicodedata.name(letter, "?").split()[0] for letter in query if letter.isalpha()}


def holds(query: str, language: str) -> bool:
    """Whether a query holds a function word of a language that is written in Latin letters."""
    return not set(FUNCTION_WORDS[language].split()).isdisjoint(re.findall(r"\w+", query.casefold()))


def written_in(query: str, language: str) -> bool:
    """Whether a query's scripts and function words are those of its language.

    Chinese has no kana. A mixed query has Latin letters beside another script, or English function words
    beside Spanish or German ones.
    """
    found = scripts(query)
    foreign = found & set(FOREIGN)
    if language == "mixed":
        if foreign:
            return "LATIN" in found
        return holds(query, "en") and (holds(query, "es") or holds(query, "de"))
    if language in SCRIPTS:
        kana = found & {"HIRAGANA", "KATAKANA"}
        return bool(found & set(SCRIPTS[language].split())) and not (language == "zh" and kana)
    return not foreign and holds(query, language)


def row_faults(row: Mapping[str, Any], balanced: bool, known: Mapping[str, Any]) -> Iterable[str]:
    """What is wrong with one row by itself."""
    if row.keys() != (KEYS if balanced else HARD_KEYS):
        yield "keys " + " ".join(sorted(row))
    if not written_in(row["query"], row["language"]):
        yield f"is not written in {row['language']}: {row['query']}"
    unsupported = row["stratum"] in (UNSUPPORTED if balanced else ("no_tool_fits",))
    if unsupported == bool(row["required"]):
        yield f"requires {len(row['required'])} routes"
    yield from (f"requires an unknown route {id}" for id in row["required"] if id not in known)
    if row["stratum"] in WORDLESS:
        for id in row["required"]:
            shared = own_words(id, known[id]).intersection(terms(row["query"])) if id in known else ()
            yield from (f"shares the stem {stem} with {id}" for stem in sorted(shared))
    if row["stratum"] == "multi_step_first_hop" and len(row["required"]) < 2:
        yield "has one step"
    if row["stratum"] == "long_chat" and len(row["query"]) < LONG:
        yield f"has {len(row['query'])} characters"


def balance_faults(rows: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    """Cells that do not hold five rows, cells that are none of ours, and rows of a stratum with one need."""
    cells = Counter((row["stratum"], row["language"]) for row in rows)
    wanted = {(stratum, language) for stratum in STRATA for language in LANGUAGES}
    for cell in sorted(wanted | set(cells)):
        if cells[cell] != (PER_CELL if cell in wanted else 0):
            yield f"{' / '.join(cell)}: {cells[cell]} rows"
    needs = Counter((row["stratum"], *row["required"]) for row in rows if row["required"])
    for (stratum, *required), count in needs.items():
        if count > 1:
            yield f"{stratum}: {count} rows require {' '.join(required)}"


def repeated(surfaces: Mapping[str, Iterable[Mapping[str, Any]]]) -> Iterable[str]:
    """Ids, semantic ids and sentences that occur twice, in one surface or in two."""
    seen: dict[str, dict[str, list[str]]] = {"id": {}, "semantic_id": {}, "query": {}}
    for surface, rows in surfaces.items():
        for row in rows:
            for key, values in seen.items():
                if key in row:
                    value = normalised(row[key]) if key == "query" else row[key]
                    values.setdefault(value, []).append(f"{surface} {row['id']}")
    for key, values in seen.items():
        yield from (f"one {key}: {', '.join(places)}" for places in values.values() if len(places) > 1)


def faults(surfaces: Mapping[str, list[dict[str, Any]]]) -> list[str]:
    """Everything that is wrong with the surfaces, in the order of their rows."""
    smallest, largest = routes(SIZES[0]), routes(SIZES[-1])
    found = [
        f"{surface} {row['id']} {fault}"
        for surface, rows in surfaces.items()
        for row in rows
        for fault in row_faults(row, surface in BALANCED, smallest if surface in BALANCED else largest)
    ]
    for surface, rows in surfaces.items():
        if surface in BALANCED:
            found += (f"{surface} {fault}" for fault in balance_faults(rows))
        else:
            strays = {row["stratum"] for row in rows} ^ set(HARD_STRATA)
            found += (f"{surface} stratum {stray}" for stray in sorted(strays))
            found += [f"{surface} has {len(rows)} rows"] if len(rows) < HARD_ROWS else []
    if not smallest.items() <= routes(SIZES[1]).items() <= largest.items():
        found.append("a smaller catalog is no subset of a larger one")
    return [*found, *repeated(surfaces)]


def main() -> int:
    surfaces = {surface: load(surface) for surface in SURFACES}
    for surface, rows in surfaces.items():
        counts = Counter(row["stratum"] for row in rows)
        listed = ", ".join(f"{stratum} {count}" for stratum, count in counts.items())
        required = {id for row in rows for id in row["required"]}
        print(f"{surface}: {len(rows)} rows, {len(required)} routes required; {listed}")
    wrong = faults(surfaces)
    print("\n".join(wrong) if wrong else "no faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
