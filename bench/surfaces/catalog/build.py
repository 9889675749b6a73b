"""Writes the catalogs of 100, 250 and 500 routes from `routes.txt` and `families.txt`.

``python bench/surfaces/catalog/build.py`` writes ``catalog-100.json``, ``-250.json`` and ``-500.json`` beside
itself; with ``--check`` it writes nothing and exits 1 where a file differs from its sources. Each file is a
list of servers, ``{"source", "tools"}``, and each tool has the shape that an MCP server gives it. A smaller
catalog is a subset of a larger one.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
SIZES = (100, 250, 500)

HINTS: dict[str, dict[str, bool]] = {
    "R": {"readOnlyHint": True},
    "W": {"readOnlyHint": False, "destructiveHint": False},
    "D": {"readOnlyHint": False, "destructiveHint": True},
    "-": {},
}

STYLES: dict[str, Callable[[str, str], str]] = {
    "snake": lambda operation, noun: f"{operation}_{noun}",
    "camel": lambda operation, noun: operation + "".join(part.capitalize() for part in noun.split("_")),
    "kebab": lambda operation, noun: f"{operation}-{noun}".replace("_", "-"),
    "dotted": lambda operation, noun: f"{noun}.{operation}",
}


class Operation(NamedTuple):
    """What a family does with its resource; `sentence` takes the noun, the fields are written as in a row."""

    kind: str
    sentence: str
    inputs: str
    outputs: str = "id"
    plural: bool = False


OPERATIONS = {
    "list": Operation("R", "List the {}, page by page.", "page:integer", "items:array", True),
    "get": Operation("R", "Get one {} by its id.", "id!", "id name status"),
    "search": Operation("R", "Search the {} by words.", "query! limit:integer", "items:array", True),
    "create": Operation("W", "Create a new {}.", "name! details:object"),
    "update": Operation("W", "Update fields of one {}.", "id! changes:object!"),
    "delete": Operation("D", "Delete one {} for good.", "id!", ""),
    "archive": Operation("W", "Archive one {}; it can be restored.", "id!"),
    "restore": Operation("W", "Restore one {} from the archive.", "id!"),
    "export": Operation("R", "Export the {} to a file.", "format:csv|json filter", "url", True),
    "import": Operation("W", "Import {} from a file.", "url! dry_run:boolean", "count:integer", True),
    "assign": Operation("W", "Assign one {} to a person.", "id! person!"),
    "approve": Operation("W", "Approve one {}.", "id! note"),
    "duplicate": Operation("W", "Duplicate one {}.", "id! name"),
    "merge": Operation("W", "Merge two {} into one.", "keep_id! other_id!", "id", True),
}


class Row(NamedTuple):
    """One route, and the smallest catalog that holds it."""

    size: int
    source: str
    tool: dict[str, Any]


FIELD = re.compile(r"(?P<name>\w+)(?::(?P<kind>[\w|]+))?(?:\{(?P<unit>[^}]+)\})?(?P<must>!?)")


def schema(text: str) -> dict[str, Any]:
    """A JSON Schema object of fields written as ``name:type{unit}!``; the type is string if absent."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    for word in text.split():
        field = FIELD.fullmatch(word)
        if not field:
            raise SystemExit(f"not a field: {word}")
        kind = field["kind"] or "string"
        property = {"type": "string", "enum": kind.split("|")} if "|" in kind else {"type": kind}
        properties[field["name"]] = property | ({"x-unit": field["unit"]} if field["unit"] else {})
        if field["must"]:
            required.append(field["name"])
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


def tool(name: str, kind: str, description: str, inputs: str, outputs: str) -> dict[str, Any]:
    """A tool as an MCP server lists it; a claim or a schema that is not given is left out."""
    made: dict[str, Any] = {"name": name, "description": description, "inputSchema": schema(inputs)}
    if HINTS[kind]:
        made["annotations"] = HINTS[kind]
    return made | ({"outputSchema": schema(outputs)} if outputs else {})


def split(line: str) -> list[str]:
    """The columns of a row; a bar without a space before it belongs to an enum."""
    return [column.strip() for column in re.split(r" \|", line)]


def written(text: str) -> Iterator[Row]:
    """The rows of `routes.txt`, in its order."""
    source = ""
    for line in text.splitlines():
        if line.startswith("["):
            source = line.strip("[]")
        elif line and not line.startswith("#"):
            head, description, inputs, outputs = split(line)
            size, kind, name = head.split()
            yield Row(int(size), source, tool(name, kind, description, inputs, outputs))


def composed(text: str) -> Iterator[Row]:
    """A row for each operation of each family of `families.txt`, in its order."""
    for line in text.splitlines():
        if line and not line.startswith("#"):
            head, many, about, operations = split(line)
            size, source, style, noun = head.split()
            one = many.removesuffix("s") if many != many.lower() else noun.replace("_", " ")
            for name in operations.split():
                operation = OPERATIONS[name]
                sentence = operation.sentence.format(many if operation.plural else one)
                named = STYLES[style](name, many.lower().replace(" ", "_") if operation.plural else noun)
                described = f"{sentence} {about}"
                made = tool(named, operation.kind, described, operation.inputs, operation.outputs)
                yield Row(int(size), source, made)


def catalogs() -> dict[int, list[dict[str, Any]]]:
    """The servers of each size, in the order in which the sources name them first."""
    rows = [*written((HERE / "routes.txt").read_text("utf-8"))]
    rows += composed((HERE / "families.txt").read_text("utf-8"))
    found: dict[int, list[dict[str, Any]]] = {}
    for size in SIZES:
        servers: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            if row.size <= size:
                servers.setdefault(row.source, []).append(row.tool)
        found[size] = [{"source": source, "tools": tools} for source, tools in servers.items()]
    return found


def as_json(servers: list[dict[str, Any]]) -> str:
    """A catalog as its file holds it: one tool a line."""
    blocks = []
    for server in servers:
        lines = ",\n".join("  " + json.dumps(tool, ensure_ascii=False) for tool in server["tools"])
        blocks.append(f'{{"source": {json.dumps(server["source"])}, "tools": [\n{lines}\n]}}')
    return "[\n" + ",\n".join(blocks) + "\n]\n"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a file differs")
    check = parser.parse_args(argv).check
    differs = 0
    for size, servers in catalogs().items():
        path, text = HERE / f"catalog-{size}.json", as_json(servers)
        count = sum(len(server["tools"]) for server in servers)
        same = path.exists() and path.read_text("utf-8") == text
        differs += not same
        if not check:
            path.write_text(text, "utf-8")
        print(f"{path.name}: {count} routes of {len(servers)} servers{'' if same else ', changed'}")
    return 1 if check and differs else 0


if __name__ == "__main__":
    sys.exit(main())
