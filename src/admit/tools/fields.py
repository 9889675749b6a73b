"""What of a route is searched, field by field."""

from __future__ import annotations

from collections.abc import Iterable

from .model import Field, Param, Route
from .words import terms

FIELDS = (
    "name",
    "aliases",
    "outputs",
    "title",
    "group",
    "params",
    "source",
    "description",
    "group_description",
    "param_descriptions",
    "output_descriptions",
)
"""Names of the fields; a field's number is its place here."""

NAME = FIELDS.index("name")
SOURCE = FIELDS.index("source")

LONGEST_TEXT = 8_000
"""Characters of one field that are indexed; what stands behind is not searched."""


def field_terms(route: Route) -> tuple[list[str], ...]:
    """The terms of each field of a route, in the order of `FIELDS`."""
    return tuple(terms(text[:LONGEST_TEXT]) for text in field_texts(route))


def field_texts(route: Route) -> tuple[str, ...]:
    """The text of each field of a route, in the order of `FIELDS`."""
    return (
        route.name,
        " ".join(route.aliases),
        " ".join(_outputs(route.outputs)),
        route.title,
        route.group,
        " ".join(_params(route.params)),
        route.source,
        route.description,
        route.group_description,
        " ".join(param.description for param in route.params),
        " ".join(field.description for field in route.outputs),
    )


def _outputs(fields: Iterable[Field]) -> Iterable[str]:
    for field in fields:
        yield from (field.name, field.semantic_id, field.unit or "", *field.aliases)
        yield from (value for _, value in sorted(field.qualifiers.items()))


def _params(params: Iterable[Param]) -> Iterable[str]:
    for param in params:
        yield from (param.name, *param.aliases)
