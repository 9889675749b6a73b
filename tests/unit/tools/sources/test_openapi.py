"""OpenAPI documents: a route for each path and method, and references inside the document alone."""

import copy
import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from admit.core.events import canonical
from admit.errors import SourceError
from admit.tools.export import to_mcp
from admit.tools.model import Route
from admit.tools.route import fingerprint
from admit.tools.sources import components
from admit.tools.sources.openapi import from_openapi

PET = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "description": "What it is called"},
        "weight": {"type": "number", "x-unit": "kg"},
        "parent": {"$ref": "#/components/schemas/Pet"},
        "tags": {"type": "array", "items": {"$ref": "#/components/schemas/Tag"}},
    },
}
DOC: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1"},
    "security": [{"key": []}],
    "tags": [{"name": "pets", "description": "All about pets"}],
    "paths": {
        "/pets/{id}": {
            "parameters": [
                {"$ref": "#/components/parameters/Id"},
                {"name": "trace", "in": "header", "schema": {}},
            ],
            "get": {
                "operationId": "getPet",
                "summary": "One pet",
                "description": "Gives one pet by its id.",
                "tags": ["pets", "more"],
                "security": [{"oauth": ["pets:read"]}, {"other": ["pets:read", "all"]}],
                "responses": {
                    "default": {
                        "description": "x",
                        "content": {"application/json": {"schema": {"type": "null"}}},
                    },
                    "201": {"description": "x"},
                    "200": {"$ref": "#/components/responses/Pet"},
                },
            },
            "delete": {"tags": ["pets"], "responses": {"204": {"description": "gone"}}},
            "put": {
                "operationId": "putPet",
                "parameters": [
                    {"name": "id", "in": "query", "schema": {"type": "integer"}, "required": True}
                ],
                "requestBody": {
                    "required": True,
                    "content": {
                        "text/plain": {"schema": {"type": "string"}},
                        "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}},
                    },
                },
                "responses": {"200": {"description": "ok"}},
            },
        },
        "/pets": {
            "post": {
                "requestBody": {"content": {"application/json": {"schema": {"oneOf": [{"type": "object"}]}}}},
                "responses": {},
            },
            "summary": "not a method",
        },
    },
    "components": {
        "parameters": {
            "Id": {
                "name": "id",
                "in": "path",
                "required": True,
                "description": "Which",
                "schema": {"type": "string"},
            }
        },
        "schemas": {
            "Pet": PET,
            "Tag": {"type": "object", "properties": {"word": {}}},
            "Unused": {"type": "string"},
        },
        "responses": {
            "Pet": {
                "description": "x",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}},
            }
        },
    },
}


def routes(doc: Any = DOC) -> dict[str, Route]:
    return {route.name: route for route in from_openapi("api", doc)}


def changed(change: Any) -> dict[str, Any]:
    doc = copy.deepcopy(DOC)
    change(doc)
    return doc


def test_each_path_and_method_is_one_route_in_the_order_of_the_document():
    assert [(route.name, route.id) for route in from_openapi("api", DOC)] == [
        ("getPet", "api/pets/getPet"),
        ("delete_pets_id", "api/pets/delete_pets_id"),
        ("putPet", "api/putPet"),
        ("post_pets", "api/post_pets"),
    ]


def test_an_operation_says_what_it_does_to_whom_and_with_which_rights():
    get, delete, put = (routes()[name] for name in ("getPet", "delete_pets_id", "putPet"))
    assert (get.title, get.description, get.aliases) == (
        "One pet",
        "Gives one pet by its id.",
        ("get_pets_id",),
    )
    assert (get.group, get.group_description, get.requires) == (
        "pets",
        "All about pets",
        ("pets:read", "all"),
    )
    assert (get.read_only, get.destructive) == (True, None)
    assert (delete.read_only, delete.destructive) == (None, True)
    assert (put.read_only, put.destructive, put.requires) == (None, None, ())


def test_arguments_come_from_path_query_header_and_body_each_with_its_place():
    def told(route: Route) -> list[Any]:
        return [(p.name, p.wire_name, p.location, p.required, p.description) for p in route.params]

    assert told(routes()["getPet"]) == [
        ("id", None, "path", True, "Which"), ("trace", None, "header", False, ""),
    ]  # fmt: skip
    assert told(routes()["putPet"]) == [
        ("id", None, "path", True, "Which"),
        ("trace", None, "header", False, ""),
        ("query_id", "id", "query", True, ""),
        ("name", None, "body", True, "What it is called"),
        ("weight", None, "body", False, ""),
        ("parent", None, "body", False, ""),
        ("tags", None, "body", False, ""),
    ]
    assert told(routes()["post_pets"]) == [("body", None, "body", False, "")]


def test_the_answer_of_the_lowest_success_gives_the_results_and_circles_are_cut():
    fields = {field.path: field for field in routes()["getPet"].outputs}
    assert list(fields) == ["name", "weight", "parent", "tags", "tags[].word"]
    assert fields["weight"].unit == "kg"
    assert routes()["delete_pets_id"].output_schema is None


def test_a_schema_holds_all_that_it_refers_to_and_nothing_else():
    schema = routes()["getPet"].output_schema
    assert schema["components"] == {"schemas": {"Pet": PET, "Tag": DOC["components"]["schemas"]["Tag"]}}
    assert "components" not in routes()["post_pets"].input_schema


def test_an_operation_overrides_a_parameter_of_its_path():
    def change(doc: Any) -> None:
        own = {
            "name": "id",
            "in": "path",
            "required": True,
            "schema": {"type": "integer"},
            "description": "Mine",
        }
        doc["paths"]["/pets/{id}"]["get"]["parameters"] = [own]

    (param, _) = routes(changed(change))["getPet"].params
    assert (param.description, param.schema["type"]) == ("Mine", "integer")


def test_nothing_is_read_that_stands_in_another_document():
    def change(doc: Any) -> None:
        doc["paths"]["/pets"]["post"]["parameters"] = [{"$ref": "https://example.org/p.json"}]
        doc["components"]["schemas"]["Tag"] = {"$ref": "file:///etc/passwd"}

    found = from_openapi("api", changed(change))
    assert [route.name for route in found][-1] == "post_pets" and found[-1].params[0].name == "body"
    assert sorted((p.tool, p.code) for p in found.problems) == [
        ("api/pets/getPet", "ref_not_local"),
        ("api/post_pets", "ref_not_local"),
        ("api/putPet", "ref_not_local"),
    ]


def test_what_refers_to_more_than_is_read_keeps_its_arguments_and_a_schema_without_open_ends():
    def change(doc: Any) -> None:
        schemas = doc["components"]["schemas"]
        schemas["Tag"] = {"properties": {f"p{n}": {"$ref": f"#/components/schemas/S{n}"} for n in range(300)}}
        schemas |= {f"S{n}": {"anyOf": [{}] * 20} for n in range(300)}

    found = from_openapi("api", changed(change))
    put = {route.name: route for route in found}["putPet"]
    assert ("api/putPet", "schema_capped") in [(problem.tool, problem.code) for problem in found.problems]
    held = put.input_schema["components"]["schemas"]
    wanted = set(json.dumps(put.input_schema).split('"#/components/schemas/')[1:])
    assert {one.partition('"')[0] for one in wanted} <= set(held)


def test_json_and_yaml_say_the_same():
    whole = from_openapi("api", DOC)
    assert from_openapi("api", json.dumps(DOC)) == whole
    assert from_openapi("api", json.dumps(DOC).encode()) == whole

    class Plain(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    assert from_openapi("api", yaml.dump(DOC, Dumper=Plain, sort_keys=False)) == whole


def test_in_yaml_a_number_for_a_code_is_one_and_a_date_is_a_text():
    text = """
openapi: 3.0.3
paths:
  /a:
    get:
      operationId: a
      parameters: [{name: day, in: query, schema: {type: string, example: 2024-01-01}}]
      responses:
        200: {content: {application/json: {schema: {properties: {x: {}}}}}}
"""
    (route,) = from_openapi("api", text)
    assert [field.path for field in route.outputs] == ["x"]
    assert route.params[0].schema["example"] == "2024-01-01" and route.fingerprint


@pytest.mark.parametrize(
    ("doc", "words"),
    [
        ("a: &a [x, x]\nopenapi: 3.0.0\nb: [*a, *a]", "line 3 is a YAML alias"),
        ("openapi: !!python/object/apply:os.system ['true']", "neither JSON nor YAML"),
        ("{", "not JSON"),
        ("a: [", "neither JSON nor YAML"),
        ("[" * 5000, "not JSON|nested"),
        ("- " * 5000, "nested|neither"),
        (b"\xff\xfe", "not UTF-8"),
        ("swagger: '2.0'", "Swagger 2"),
        ("openapi: 4.0.0", "no document of OpenAPI 3"),
        ("hello", "no document of OpenAPI 3"),
        ([], "no document of OpenAPI 3"),
    ],
)
def test_what_is_no_such_document_is_refused_with_the_reason(doc, words):
    with pytest.raises(SourceError, match=words):
        from_openapi("api", doc)


def test_the_whole_operation_is_in_its_fingerprint():
    before = routes()["getPet"].fingerprint

    def changes(change: Any) -> bool:
        return routes(changed(change))["getPet"].fingerprint != before

    operation = ("paths", "/pets/{id}", "get")

    def at(doc: Any, *path: str) -> Any:
        for step in path:
            doc = doc[step]
        return doc

    assert changes(lambda doc: at(doc, *operation).update({"x-odd": 1}))
    assert changes(lambda doc: at(doc, *operation, "responses", "201").update({"description": "y"}))
    assert changes(lambda doc: at(doc, "components", "schemas", "Tag", "properties", "word").update({"a": 1}))
    assert not changes(lambda doc: at(doc, "components", "schemas", "Unused").update({"a": 1}))
    assert not changes(lambda doc: doc["info"].update({"title": "Other"}))


def test_a_part_that_all_operations_share_is_hashed_once(monkeypatch: pytest.MonkeyPatch):
    hashed = []
    monkeypatch.setattr(components, "fingerprint", lambda value: hashed.append(value) or fingerprint(value))
    answer = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}
    schemas = {
        "A": {"properties": {"b": {"$ref": "#/components/schemas/B"}}},
        "B": {"properties": {"a": {"$ref": "#/components/schemas/A"}}},
    }
    paths = {f"/p{k}": {"get": {"responses": {"200": answer}}} for k in range(20)}
    found = from_openapi("api", {"openapi": "3.1.0", "paths": paths, "components": {"schemas": schemas}})
    assert len({route.fingerprint for route in found}) == 20
    assert hashed == [schemas["A"], schemas["B"]]


def test_a_part_whose_name_is_escaped_in_the_reference_is_found():
    schema = {"$ref": "#/components/schemas/a%20pet~1one"}
    answer = {"content": {"application/json": {"schema": schema}}}
    doc = {
        "openapi": "3.1.0",
        "paths": {"/p": {"get": {"responses": {"200": answer}}}},
        "components": {"schemas": {"a pet/one": {"properties": {"name": {"type": "string"}}}}},
    }
    (route,) = from_openapi("api", doc)
    assert [field.name for field in route.outputs] == ["name"]


def test_a_schema_with_a_key_components_of_its_own_is_in_the_fingerprint():
    def printed(own: Any) -> str:
        answer = {"content": {"application/json": {"schema": {"components": own}}}}
        held = {"200": {"$ref": "#/components/responses/R"}}
        doc = {
            "openapi": "3.1.0",
            "paths": {"/p": {"get": {"responses": held}}},
            "components": {"responses": {"R": answer}},
        }
        return from_openapi("api", doc)[0].fingerprint

    assert len({printed(own) for own in ({"schemas": {"A": 1}}, {"schemas": {"A": 2}}, {}, [], 3)}) == 5


def test_what_is_exported_carries_nothing_of_ours():
    exported = to_mcp(from_openapi("api", DOC)).tools
    assert b"x-admit" not in canonical(exported)
    assert {tool["name"] for tool in exported} == {f"api__{name}" for name in routes()}


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
refs = st.sampled_from(
    ["#/components/schemas/A", "#/components/schemas/B", "#/paths/~1a", "#", "x.json", "#/%"]
)
schemas = st.recursive(
    anything | st.builds(lambda ref: {"$ref": ref}, refs),
    lambda inner: st.builds(
        lambda p, i: {"properties": p, "items": i},
        st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
        inner,
    ),
    max_leaves=6,
)
contents = anything | st.builds(lambda s: {"content": {"application/json": {"schema": s}}}, schemas)
parameters = st.lists(
    anything
    | st.builds(
        lambda n, i, s: {"name": n, "in": i, "schema": s},
        st.sampled_from(["a", "b", 3]),
        st.sampled_from(["path", "query", "header", "cookie", None]),
        schemas,
    ),
    max_size=3,
)
operations = anything | st.fixed_dictionaries(
    {},
    optional={
        "operationId": anything,
        "tags": anything | st.just(["t"]),
        "parameters": parameters | anything,
        "requestBody": contents,
        "responses": anything | st.dictionaries(st.sampled_from(["200", "2XX", "404"]), contents, max_size=2),
        "security": anything,
        "summary": anything,
    },
)
items = anything | st.dictionaries(
    st.sampled_from(["get", "post", "delete", "parameters", "$ref"]), operations
)
documents = st.fixed_dictionaries(
    {
        "openapi": st.just("3.0.0"),
        "paths": anything | st.dictionaries(st.sampled_from(["/a", "/b/{c}"]), items),
    },
    optional={
        "components": st.builds(lambda a, b: {"schemas": {"A": a, "B": b}}, schemas, schemas),
        "tags": anything,
    },
)


@given(documents)
def test_no_document_makes_it_raise(doc):
    before = copy.deepcopy(doc)
    found = from_openapi("api", doc)
    assert doc == before
    assert len({route.id for route in found}) == len(found)
