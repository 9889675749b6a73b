"""OpenAPI 3.0 and 3.1 documents, as JSON or YAML: one route for each path and method.

References are followed inside the document alone; nothing is fetched. The parts of ``components`` that an
operation refers to stand in its schemas under the same path, so that every reference there still leads
somewhere; where there are too many, the last are left open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from admit.core.events import parse
from admit.errors import SourceError

from ..model import Problem
from ..route import Routes, fingerprint, routes_of
from ..schema import BOUNDS, Bounds, at_pointer
from .components import Components

MOST_CHARS = 64 << 20
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_LOCATIONS = ("path", "query", "header")
# Says OpenAPI 3.1 of parameters of these names: they are ignored.
_IGNORED_HEADERS = frozenset(("accept", "content-type", "authorization"))
_MOST_DEPTH = 200
_RESULTS = 8  # a schema of results may hold this part of what one of arguments may, for it is only searched


def from_openapi(name: str, doc: Mapping[str, Any] | str | bytes, *, bounds: Bounds = BOUNDS) -> Routes:
    """The routes of a document, in its order.

    Args:
        name: The source's name.
        doc: The document, or its JSON or YAML text. YAML's aliases are refused.

    Raises:
        SourceError: It cannot be read, or is no document of OpenAPI 3.
    """
    whole = _read(name, doc) if isinstance(doc, (str, bytes)) else doc
    try:
        whole = _with_text_keys(whole, 0)
    except ValueError as fault:
        raise SourceError(name, str(fault)) from None
    version = whole.get("openapi") if isinstance(whole, Mapping) else None
    if not str(version).startswith("3."):
        older = isinstance(whole, Mapping) and "swagger" in whole
        told = "is Swagger 2; convert it to OpenAPI 3" if older else "is no document of OpenAPI 3"
        raise SourceError(name, told)
    document = _Document(whole, bounds)
    tools, prints, problems = [], [], []
    for path, method, shared, operation in document.operations():
        tool = document.tool(path, method, shared, operation)
        tools.append(tool)
        schemas = [document.components.told(tool.get(key)) for key in ("inputSchema", "outputSchema")]
        prints.append(fingerprint([path, method, shared, operation, *schemas]))
    routes = routes_of(name, "openapi", tools, bounds=bounds, fingerprints=prints)
    for place, what in sorted(document.problems.items()):
        tool = routes[place].id if place < len(routes) else ""
        problems += [Problem(name, tool, code, text) for code, text in sorted(what.items())]
    return Routes(routes, (*routes.problems, *problems))


class _Document:
    """A document while its operations are read.

    Attributes:
        components: What operations refer to.
        problems: Code and sentence, by the number of the operation.
    """

    def __init__(self, whole: Mapping[str, Any], bounds: Bounds) -> None:
        self._whole = whole
        self._most = bounds.max_nodes
        self.problems: dict[int, dict[str, str]] = {}
        self._number = -1
        self.components = Components(whole, self._note)
        self._tags = {
            tag["name"]: tag.get("description")
            for tag in _list(whole.get("tags"))
            if isinstance(tag, Mapping) and isinstance(tag.get("name"), str)
        }

    def operations(self) -> Iterator[tuple[str, str, list[Any], Mapping[str, Any]]]:
        """Path, method, the path's own parameters, and the operation."""
        for path, held in _mapping(self._whole.get("paths")).items():
            item = self._followed(held)
            for method, operation in item.items():
                if method in _METHODS and isinstance(operation, Mapping):
                    self._number += 1
                    yield path, method, _list(item.get("parameters")), operation

    def tool(self, path: str, method: str, shared: list[Any], operation: Mapping[str, Any]) -> dict[str, Any]:
        """An operation as a tool object of MCP's shape, with the rest under ``x-admit``."""
        slug = _slug(f"{method}_{path}")
        name = operation.get("operationId")
        named = isinstance(name, str) and bool(name.strip())
        tags = [tag for tag in _list(operation.get("tags")) if isinstance(tag, str)]
        properties, required, places, sent = self._arguments(shared, operation)
        given: dict[str, Any] = {"type": "object", "properties": properties}
        if required:
            given["required"] = required
        extra = {
            "method": method,
            "path": path,
            "group": tags[0] if tags else "",
            "group_description": self._tags.get(tags[0]) or "" if tags else "",
            "aliases": [slug] if named else [],
            "requires": self._scopes(operation),
            "locations": places,
            "wire_names": sent,
        }
        tool: dict[str, Any] = {"name": name if named else slug}
        for key, words in (("title", ("summary",)), ("description", ("description", "summary"))):
            texts = (operation.get(word) for word in words)
            text = next((one for one in texts if isinstance(one, str) and one), "")
            if text:
                tool[key] = text
        tool["inputSchema"] = self.components.closed(given, self._most)
        results = self._results(operation)
        if results is not None:
            tool["outputSchema"] = self.components.closed(results, self._most // _RESULTS)
        claims = {"get": "readOnlyHint", "head": "readOnlyHint", "delete": "destructiveHint"}
        if method in claims:
            tool["annotations"] = {claims[method]: True}
        tool["x-admit"] = {key: value for key, value in extra.items() if value}
        return tool

    def _arguments(
        self, shared: list[Any], operation: Mapping[str, Any]
    ) -> tuple[dict[str, Any], list[str], dict[str, str], dict[str, str]]:
        """Schemas by argument, the required ones, the location of each, and its name there if another."""
        own: dict[tuple[str, str], Mapping[str, Any]] = {}
        for held in (*shared, *_list(operation.get("parameters"))):
            one = self._followed(held)
            name, place = one.get("name"), one.get("in")
            if isinstance(name, str) and place in _LOCATIONS:
                own[name, place] = one  # an operation's takes the place of its path's
        found: list[tuple[str, str, Any, bool]] = [
            (name, place, self._schema_of(one), one.get("required") is True or place == "path")
            for (name, place), one in own.items()
            if place != "header" or name.lower() not in _IGNORED_HEADERS
        ]
        found += self._body(operation)
        properties: dict[str, Any] = {}
        required: list[str] = []
        places: dict[str, str] = {}
        sent: dict[str, str] = {}
        for name, place, schema, needed in found:
            free = name
            while free in properties:
                free = f"{place}_{free}"
            properties[free], places[free] = schema, place
            if free != name:
                sent[free] = name
            if needed:
                required.append(free)
        return properties, required, places, sent

    def _schema_of(self, parameter: Mapping[str, Any]) -> Any:
        """A parameter's schema, with its description where the schema has none."""
        schema = parameter.get("schema")
        if schema is None:
            schema = next(iter(_content(parameter)), {})
        text = parameter.get("description")
        if isinstance(text, str) and isinstance(schema, Mapping) and "description" not in schema:
            return {**schema, "description": text}
        return schema if isinstance(schema, Mapping) else {}

    def _body(self, operation: Mapping[str, Any]) -> Iterator[tuple[str, str, Any, bool]]:
        """The members of a body that is a plain object, else the body as one argument."""
        body = self._followed(operation.get("requestBody"))
        schema = next(iter(_content(body)), None)
        if schema is None:
            return
        inner = self._followed(schema)
        properties = inner.get("properties")
        plain = not any(key in inner for key in ("allOf", "anyOf", "oneOf", "additionalProperties"))
        needed = body.get("required") is True
        if isinstance(properties, Mapping) and properties and plain:
            names = _list(inner.get("required"))
            for name, one in properties.items():
                yield name, "body", one, needed and name in names
        else:
            yield "body", "body", schema, needed

    def _results(self, operation: Mapping[str, Any]) -> Any:
        """The schema of the lowest answer of success that has one."""
        answers = _mapping(operation.get("responses"))
        for code in sorted(code for code in answers if code[:1] == "2" and len(code) == 3):
            schema = next(iter(_content(self._followed(answers[code]))), None)
            if isinstance(schema, Mapping):
                return schema
        return None

    def _scopes(self, operation: Mapping[str, Any]) -> list[str]:
        wanted = operation.get("security", self._whole.get("security"))
        scopes = [
            scope
            for choice in _list(wanted)
            for held in _mapping(choice).values()
            for scope in _list(held)
            if isinstance(scope, str)
        ]
        return list(dict.fromkeys(scopes))

    def _followed(self, node: Any) -> Mapping[str, Any]:
        """What a node is, its references followed; nothing where they lead out, nowhere, or in a circle."""
        seen: set[str] = set()
        while isinstance(node, Mapping) and isinstance(ref := node.get("$ref"), str):
            if not ref.startswith("#"):
                self._note("ref_not_local", "refers to another document, which is not read")
                return {}
            if ref in seen:
                return {}
            seen.add(ref)
            node = at_pointer(self._whole, ref[1:])
        return _mapping(node)

    def _note(self, code: str, text: str) -> None:
        self.problems.setdefault(max(self._number, 0), {})[code] = text


def _content(held: Mapping[str, Any]) -> Iterable[Any]:
    """The schemas of contents, JSON's first."""
    contents = _mapping(held.get("content"))
    ordered = sorted(contents, key=lambda kind: "json" not in kind.lower())
    schemas = (_mapping(contents[kind]).get("schema") for kind in ordered)
    return [schema for schema in schemas if isinstance(schema, Mapping)]


def _slug(text: str) -> str:
    words = "".join(char if char.isalnum() else " " for char in text).split()
    return "_".join(words)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _read(name: str, text: str | bytes) -> Any:
    """The value of a JSON or YAML text.

    Raises:
        SourceError: It is neither.
    """
    if len(text) > MOST_CHARS:
        raise SourceError(name, f"is larger than {MOST_CHARS:,} characters")
    try:
        words = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise SourceError(name, "is not UTF-8") from None
    try:
        return parse(words)
    except ValueError as fault:
        if words.lstrip().startswith(("{", "[")):
            raise SourceError(name, f"is not JSON: {fault}") from None
    return _yaml(name, words)


def _yaml(name: str, text: str) -> Any:
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    # A date stays the text it is.
    rules = {
        first: [rule for rule in held if rule[0] != "tag:yaml.org,2002:timestamp"]
        for first, held in base.yaml_implicit_resolvers.items()
    }
    loader = type("_Loader", (base,), {"yaml_implicit_resolvers": rules})
    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                line = event.start_mark.line + 1
                raise SourceError(name, f"line {line} is a YAML alias, which is not read; write it out")
        return yaml.load(text, Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError) as fault:
        told = " ".join(str(fault).split()) or "nested too deeply"
        raise SourceError(name, f"is neither JSON nor YAML: {told}") from None


def _with_text_keys(value: Any, depth: int) -> Any:
    """The value with its keys as JSON has them: in YAML ``200:`` is a number.

    Raises:
        ValueError: It is nested too deeply.
    """
    if depth > _MOST_DEPTH:
        raise ValueError("is nested too deeply")
    if isinstance(value, Mapping):
        return {_key(key): _with_text_keys(one, depth + 1) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_text_keys(one, depth + 1) for one in value]
    return value


def _key(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return key if isinstance(key, str) else str(key)
