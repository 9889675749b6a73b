"""What the judge reads of each candidate: name, description, arguments, outputs; no score and no rank."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from admit.core.question import Ask, Judge, Reply
from admit.judges.rubric import tools_question
from admit.text.plain import one_line

from .model import Field, Param, Route

MOST_DESCRIPTION = 300
MOST_FIELDS = 20
MOST_TASK = 4000


def subject(route: Route) -> str:
    """One route as JSON lines of text: name, description of at most 300 characters, arguments, outputs."""
    shown: dict[str, Any] = {"name": one_line(route.name), "source": one_line(route.source)}
    if route.group:
        shown["group"] = one_line(route.group)
    if route.description:
        shown["description"] = one_line(route.description)[:MOST_DESCRIPTION]
    if route.params:
        shown["arguments"] = [_param(one) for one in route.params[:MOST_FIELDS]]
    if route.outputs:
        shown["returns"] = [_field(one) for one in route.outputs[:MOST_FIELDS]]
    return json.dumps(shown, ensure_ascii=False)


def ask(
    query: str,
    routes: Sequence[Route],
    *,
    context: str,
    deadline_ms: int,
    request_id: str,
    session: str | None = None,
) -> Ask:
    """One question a route, in pool order."""  # fmt: skip
    questions = tuple(tools_question(f"q{k}", subject(route)) for k, route in enumerate(routes, 1))
    earlier = (("conversation", context),) if context.strip() else ()
    return Ask("tools", query[:MOST_TASK], earlier, questions, None, deadline_ms, request_id, session)


def asker(
    judge: Judge, query: str, *, context: str, deadline_ms: int, session: str | None = None
) -> Callable[[Sequence[Route]], Reply]:
    """Puts routes to a judge."""

    def asked(routes: Sequence[Route]) -> Reply:
        request = secrets.token_hex(8)
        return judge.ask(
            ask(query, routes, context=context, deadline_ms=deadline_ms, request_id=request, session=session)
        )

    return asked


def _param(param: Param) -> str:
    kind = _type(param.schema)
    return one_line(f"{param.name}: {kind}" if kind else param.name)


def _field(field: Field) -> str:
    name = field.name or field.path
    return one_line(f"{name} [{field.unit}]" if field.unit else name)


def _type(schema: Mapping[str, Any]) -> str:
    """The type a schema names, as a word; empty where it names none."""
    kind = schema.get("type")
    if isinstance(kind, str):
        return kind
    if isinstance(kind, list):
        return "|".join(one for one in kind if isinstance(one, str))
    return "enum" if isinstance(schema.get("enum"), list) else ""
