"""What a candidate is at this door: a callable route; and what a request is shown of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from admit.core.decision import Decision

SourceKind = Literal["mcp", "openapi", "python", "json"]
Location = Literal["argument", "path", "query", "header", "body"]
PinState = Literal["approved", "new", "changed", "gone"]
Verdict = Literal["admitted", "exempt", "unjudged"]
OutcomeWord = Literal["admitted", "none_fits", "no_match", "already", "empty_catalog", "fallback"]

NOTHING: Mapping[str, Any] = MappingProxyType({})

EXCLUSIONS = ("disabled", "not_authorised", "changed", "new", "not_ready", "out_of_filter", "already_exposed")
"""Why a route is taken out before ranking, in the order in which the first that holds wins."""

HIDDEN = frozenset(("disabled", "not_authorised", "changed", "new"))
"""Exclusions that the agent is told nothing of: to it these routes do not exist."""


class Param(NamedTuple):
    """One argument of a route.

    Attributes:
        wire_name: As it is sent, where that differs from `name`.
        schema: JSON Schema as received.
    """

    name: str
    wire_name: str | None = None
    description: str = ""
    required: bool = False
    location: Location = "argument"
    schema: Mapping[str, Any] = NOTHING
    aliases: tuple[str, ...] = ()


class Field(NamedTuple):
    """One value of what a route returns.

    Attributes:
        path: Where it stands in the answer, dotted.
        semantic_id: What it means, where the source says so.
        unit, dimension: Only where the source states them; nothing is converted or inferred.
        qualifiers: Further conditions, such as ``{"method": "dsc"}``.
        identifier: Whether it identifies a thing.
    """

    path: str
    name: str = ""
    semantic_id: str = ""
    description: str = ""
    schema: Mapping[str, Any] = NOTHING
    unit: str | None = None
    dimension: str | None = None
    qualifiers: Mapping[str, str] = MappingProxyType({})
    identifier: bool = False
    aliases: tuple[str, ...] = ()


class Route(NamedTuple):
    """One callable thing. Everything but `id`, `source` and `name` may be missing.

    Attributes:
        id: ``source/name`` or ``source/group/name``; a ``/`` inside a part is written ``%2F``.
        group: An OpenAPI tag, the tool of a tool and endpoint pair, a Python module.
        aliases: Other names of the operation.
        description, group_description: As given; untrusted.
        input_schema, output_schema: JSON as received, never rewritten.
        read_only, destructive, idempotent: Claims of the source; None is unknown. They order ties and stand
            in reports, and grant nothing.
        requires: Scopes or roles that the source names.
        fingerprint: ``sha256:`` over the canonical JSON of the whole tool as received; empty where it has no
            such form, and then it can never be approved.
        problems: Codes of what is wrong with it, such as ``schema_capped``.
        tool: The whole tool as received, or, where the source has no tool objects, as it was put together.
    """

    id: str
    source: str
    source_kind: SourceKind
    name: str
    group: str = ""
    title: str = ""
    aliases: tuple[str, ...] = ()
    description: str = ""
    group_description: str = ""
    params: tuple[Param, ...] = ()
    outputs: tuple[Field, ...] = ()
    input_schema: Any = None
    output_schema: Any = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    requires: tuple[str, ...] = ()
    fingerprint: str = ""
    problems: tuple[str, ...] = ()
    tool: Mapping[str, Any] = NOTHING


class Problem(NamedTuple):
    """What is wrong with one tool, or with a source as a whole; the others are not touched by it.

    Attributes:
        tool: Its id; ``#3`` where it has none, by its place from 1; empty for the source.
        code: ``schema_capped``, ``schema_invalid``, ``duplicate_name``, ``text_invalid``, ``no_fingerprint``,
            ``no_name``, ``not_an_object``, ``ref_not_local``, ``cursor_repeat``, ``too_many_pages``,
            ``source_empty``.
    """

    source: str
    tool: str
    code: str
    text: str


class Component(NamedTuple):
    """One part of a score: which lane and signal gave it, its value, and the words that matched."""

    lane: str
    signal: str
    value: float
    words: tuple[str, ...] = ()


class Ranked(NamedTuple):
    """One route in the order for a request.

    Attributes:
        rank: From 1.
        score: The sum of `components`, exactly; 0 where nothing matched. No probability.
        matched: Words of the request that the route answers to, in the request's order.
        exact: Whether the request names it.
    """

    route_id: str
    rank: int
    score: float
    components: tuple[Component, ...] = ()
    matched: tuple[str, ...] = ()
    exact: bool = False


class Exclusion(NamedTuple):
    """A route that is left out: by one of `EXCLUSIONS`, or as ``over_tokens`` where it did not fit."""

    route_id: str
    reason: str
    detail: str = ""


class Admitted(NamedTuple):
    """One route that is shown.

    Attributes:
        verdict: ``unjudged`` where no judge was asked or its answer is missing.
        reason: Why it is in: ``exact``, ``judge``, ``budget``, ``depth``, or a fallback's.
        p: The judge's probability.
        tokens: Of its own definition, by the shortlist's counter.
    """

    route: Route
    rank: int
    score: float
    components: tuple[Component, ...]
    verdict: Verdict
    reason: str
    p: float | None = None
    tokens: int = 0


class Shortlist(NamedTuple):
    """What a request is shown. Tuples are in rank order.

    Attributes:
        nearest: Names of the next in the order after what is shown.
        excluded: What was taken out or passed over and may be known of.
        overflow: Routes that matched and are not shown, a count.
        matched: Routes with a score above 0, a count.
        schema_tokens: Tokens of all definitions together as exported, by `counter`.
        none_p: 1 less the best probability; None where no judge answered.
        judge: The profile that was asked; empty where none was.
        text: What the agent reads beside the tools.
    """

    decision_id: str
    query_hash: str
    catalog_revision: str
    outcome: OutcomeWord
    admitted: tuple[Admitted, ...]
    nearest: tuple[str, ...]
    excluded: tuple[Exclusion, ...]
    overflow: int
    matched: int
    schema_tokens: int
    counter: str
    none_p: float | None
    judge: str
    elapsed_ms: float
    text: str = ""
    reason: str | None = None
    depth: str = "budget"
    decision: Decision | None = None

    @property
    def routes(self) -> tuple[Route, ...]:
        """The routes shown, in rank order."""
        return tuple(one.route for one in self.admitted)

    def has(self, id_or_name: str) -> bool:
        """Whether a route of this id or name is shown."""
        return any(id_or_name in (one.id, one.name) for one in self.routes)
