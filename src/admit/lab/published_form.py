"""The public capability surface in the form in which it was published: tools with endpoints, and tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from admit.core.events import canonical, sha256
from admit.tools.model import Field, Param, Route
from admit.tools.route import route_id

SOURCE = "surface"


def task(row: Mapping[str, Any]) -> dict[str, Any]:
    """A task as a row of the own form; it has no `semantic_id`, so its own id stands for it."""
    return {
        "id": row["task_id"],
        "query": row["query"],
        "required": [_id(*needed.split(".", 1)) for needed in row["required_route_ids"]],
        "stratum": row["task_stratum"],
        "language": row["language"],
        "semantic_id": row["task_id"],
    }


def routes(tools: Iterable[Mapping[str, Any]]) -> Iterator[Route]:
    """Each endpoint as a route in the group of its tool."""
    for tool in tools:
        for one in tool["endpoints"]:
            yield Route(
                id=_id(tool["name"], one["name"]),
                source=SOURCE,
                source_kind="json",
                name=one["name"],
                group=tool["name"],
                aliases=tuple(one["operation_aliases"]),
                description=one["description"],
                group_description=tool["description"],
                params=tuple(
                    Param(
                        given["name"],
                        description=given["description"],
                        required=given["required"],
                        schema=given["json_schema"],
                        aliases=tuple(given["aliases"]),
                    )
                    for given in one["parameters"]
                ),
                outputs=tuple(
                    Field(
                        path=given["name"],
                        name=given["name"],
                        semantic_id=given["semantic_id"] or "",
                        description=given["description"],
                        schema=given["json_schema"],
                        unit=given["unit"],
                        qualifiers=given["qualifiers"],
                        aliases=tuple(given["aliases"]),
                    )
                    for given in one["output_fields"]
                ),
                input_schema=one["input_schema"] or _schema(one["parameters"]),
                output_schema=one["output_schema"],
                read_only=one["read_only"],
                destructive=one["destructive"],
                fingerprint=sha256(canonical([tool["name"], one])),
                tool=one,
            )


def _id(tool: str, endpoint: str) -> str:
    return route_id(SOURCE, endpoint, tool)


def _schema(parameters: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What an endpoint that lists its parameters is exported with."""
    given = list(parameters)
    return {
        "type": "object",
        "properties": {
            one["name"]: {**one["json_schema"], "description": one["description"]} for one in given
        },
        "required": [one["name"] for one in given if one["required"]],
    }
