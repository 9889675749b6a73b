"""Tool objects of every kind made into routes: nothing in them raises, and nothing in them is changed."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import SourceError, UsageError
from admit.tools.model import Route
from admit.tools.route import Routes, fingerprint, route_id, routes_of
from admit.tools.schema import Bounds
from admit.tools.sources.json_list import from_json

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=6) | st.sampled_from(["$ref", "properties", "allOf"]), inner, max_size=4
        )
    ),
    max_leaves=20,
)
words = (
    "name",
    "description",
    "title",
    "inputSchema",
    "outputSchema",
    "annotations",
    "x-admit",
    "parameters",
)
toolish = st.dictionaries(st.sampled_from(words), anything, max_size=8)
schemas = st.recursive(
    st.sampled_from([{}, {"type": "string"}, {"type": "number", "x-unit": "K"}, True, {"$ref": "#/$defs/a"}]),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
            "$defs": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "anyOf": st.lists(inner, max_size=3),
            "allOf": st.lists(inner, max_size=2),
            "items": inner,
            "$ref": st.sampled_from(["#", "#/$defs/a", "#/$defs/b", "#/properties/a", "http://x", "#/%"]),
            "required": st.lists(st.sampled_from("abcd"), max_size=3),
        },
    ),
    max_leaves=15,
)


def one(tool: dict[str, Any], kind: Any = "json", **more: Any) -> Route:
    (route,) = routes_of("s", kind, [tool], **more)
    return route


def codes(routes: Routes) -> list[tuple[str, str]]:
    return [(problem.tool, problem.code) for problem in routes.problems]


@given(st.lists(anything | toolish, max_size=5), st.sampled_from(["mcp", "openapi", "python", "json"]))
def test_no_json_makes_it_raise_and_every_tool_with_a_name_is_a_route(tools, kind):
    routes = routes_of("s", kind, tools)
    named = [t for t in tools if isinstance(t, dict) and isinstance(t.get("name"), str) and t["name"].strip()]
    assert [route.name for route in routes] == [tool["name"] for tool in named]
    assert len({route.id for route in routes}) == len(routes)
    assert len([p for p in routes.problems if p.code in ("no_name", "not_an_object")]) == len(tools) - len(
        named
    )


@given(anything)
def test_no_json_given_as_a_list_of_tools_raises_anything_but_a_source_error(value):
    try:
        from_json("s", value)
    except SourceError as fault:
        assert fault.source == "s"


@given(schemas, schemas)
def test_a_schema_is_walked_to_its_end_and_stays_as_it_was(given_schema, results):
    tool = {"name": "t", "inputSchema": given_schema, "outputSchema": results}
    before = copy.deepcopy(tool)
    route = one(tool)
    assert tool == before
    assert route.input_schema is tool["inputSchema"] and route.output_schema is tool["outputSchema"]
    assert len({param.name for param in route.params}) == len(route.params)


def test_any_form_of_a_tool_gives_the_same_route_but_for_its_fingerprint():
    schema = {
        "type": "object",
        "properties": {"q": {"type": "string", "description": "what"}},
        "required": ["q"],
    }
    about = {"name": "find", "description": "Finds"}
    forms = [
        {"type": "function", "function": {**about, "parameters": schema}},
        {"type": "function", **about, "parameters": schema, "strict": True},
        {**about, "input_schema": schema},
        {**about, "inputSchema": schema},
    ]
    for shape in (forms, {"tools": forms}, {"result": {"tools": forms}}, json.dumps(forms)):
        routes = from_json("s", shape)
        assert [route.name for route in routes] == ["find"] * 4
        plain = [route._replace(id="", fingerprint="", tool={}, problems=()) for route in routes]
        assert plain[1:] == plain[:-1]
        assert all(route.params[0][:4] == ("q", None, "what", True) for route in routes)
        assert all(route.input_schema == schema for route in routes)
        assert len({route.fingerprint for route in routes}) == 4


def test_one_tool_alone_is_a_list_of_one_and_what_is_none_says_what_is_needed():
    assert [route.name for route in from_json("s", {"name": "a"})] == ["a"]
    with pytest.raises(SourceError, match="`tools`"):
        from_json("s", {"servers": []})
    with pytest.raises(SourceError, match="not JSON"):
        from_json("s", "{")
    with pytest.raises(SourceError, match="duplicate"):
        from_json("s", '[{"name": "a", "name": "b"}]')
    with pytest.raises(UsageError, match="name"):
        from_json(" ", [])


@pytest.mark.parametrize("schema", [None, [], "object", 3, True, {"properties": []}, {"properties": None}])
def test_an_invalid_schema_leaves_name_and_description(schema):
    route = one({"name": "t", "description": "does", "inputSchema": schema}, "mcp")
    assert (route.name, route.description, route.params) == ("t", "does", ())
    assert route.problems == ("schema_invalid",)
    assert route.input_schema == schema


def test_a_schema_that_is_not_there_is_a_problem_only_where_the_protocol_demands_it():
    assert one({"name": "t"}, "mcp").problems == ("schema_invalid",)
    assert one({"name": "t"}, "json").problems == ()


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"properties": {"x": schema}}
    return schema


def doubling(levels: int) -> dict[str, Any]:
    """A small schema whose references lead to 2 ** levels others."""
    defs = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"properties": {"x": {"$ref": "#/$defs/d0"}}, "$ref": "#/$defs/d0", "$defs": defs}


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"description": "x" * 300_000}}},
        nested(20),
        nested(4000),
        {"properties": {f"p{n}": {} for n in range(1001)}},
        doubling(20),
        {"$ref": "#/$defs/d0", "$defs": {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(500)}},
    ],
    ids=["bytes", "depth", "far too deep", "properties", "references", "chain"],
)
def test_beyond_a_bound_name_and_description_are_left(schema):
    routes = routes_of("s", "mcp", [{"name": "t", "description": "d", "inputSchema": schema}, {"name": "u"}])
    first = routes[0]
    assert (first.name, first.description, first.params, first.outputs) == ("t", "d", (), ())
    assert "schema_capped" in first.problems and len(routes) == 2


def test_the_bounds_are_the_largest_that_is_read():
    schema = {"properties": {f"p{n}": {} for n in range(1000)}}
    assert len(one({"name": "t", "inputSchema": schema}).params) == 1000
    tool = {"name": "t", "inputSchema": {"properties": {"a": {}}}}
    size = len(json.dumps(tool, separators=(",", ":")))
    assert one(tool, bounds=Bounds(max_bytes=size)).params
    assert one(tool, bounds=Bounds(max_bytes=size - 1)).problems == ("schema_capped",)
    assert one(tool, bounds=Bounds(max_depth=4)).params
    assert one(tool, bounds=Bounds(max_depth=3)).problems == ("schema_capped",)


def test_a_circle_of_references_is_cut_and_the_rest_is_read():
    tree = {
        "type": "object",
        "properties": {"name": {}, "kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}},
    }
    schema = {"$ref": "#/$defs/T", "$defs": {"T": tree}}
    route = one({"name": "t", "inputSchema": schema, "outputSchema": schema})
    assert [param.name for param in route.params] == ["name", "kids"]
    assert [field.path for field in route.outputs] == ["name", "kids"]
    assert route.problems == ()


def test_results_that_several_references_lead_to_are_named_once():
    """Each of twenty classes refers to all the others: walked along every path that is 20! fields."""
    every = {
        f"d{n}": {"properties": {f"p{k}": {"$ref": f"#/$defs/d{k}"} for k in range(20)}} for n in range(20)
    }
    route = one({"name": "t", "outputSchema": {"$ref": "#/$defs/d0", "$defs": every}})
    assert len(route.outputs) == 400 and route.problems == ()


def test_results_beyond_a_bound_leave_the_arguments():
    small = {"properties": {"q": {}}}
    many = {f"d{n}": {"properties": {f"p{k}": {"$ref": "#/$defs/d0"} for k in range(60)}} for n in range(15)}
    results = {"properties": {f"r{n}": {"$ref": f"#/$defs/d{n}"} for n in range(15)}, "$defs": many}
    route = one({"name": "t", "inputSchema": small, "outputSchema": results}, bounds=Bounds(max_nodes=500))
    assert [param.name for param in route.params] == ["q"]
    assert (route.outputs, route.problems) == ((), ("schema_capped",))


def test_parts_of_a_schema_give_arguments_and_only_what_always_holds_is_required():
    schema = {
        "properties": {"a": {"$ref": "#/$defs/text"}},
        "required": ["a"],
        "allOf": [{"properties": {"b": {}}, "required": ["b"]}],
        "anyOf": [{"properties": {"c": {}, "a": {"description": "late"}}, "required": ["c"]}],
        "$defs": {"text": {"type": "string", "description": "a text"}},
    }
    params = one({"name": "t", "inputSchema": schema}).params
    assert [(p.name, p.required, p.description) for p in params] == [
        ("a", True, "a text"), ("b", True, ""), ("c", False, ""),
    ]  # fmt: skip


def test_a_reference_to_another_document_is_not_followed():
    schema = {"properties": {"a": {"$ref": "https://example.org/s.json"}}, "$ref": "file:///etc/passwd"}
    route = one({"name": "t", "inputSchema": schema})
    assert [(param.name, param.description) for param in route.params] == [("a", "")]


def test_results_say_what_they_are_where_the_source_states_it_and_units_of_numbers_alone():
    held = {
        "temperature": {"type": "number", "x-unit": "K", "x-dimension": "temperature",
                        "x-semantic-id": "temp.abs", "x-qualifiers": {"method": "dsc", "n": 3}},
        "runs": {"type": "array", "items": {"type": "integer", "unit": "s"}},
        "label": {"type": "string", "unit": "K"},
        "weight": {"type": ["number", "null"], "unitText": "kg"},
        "sample": {"type": "object", "x-identifier": True, "properties": {"id": {"x-aliases": ["key", 2]}}},
        "by_day": {"additionalProperties": {"properties": {"high": {"type": "number"}}}},
    }  # fmt: skip
    fields = {f.path: f for f in one({"name": "t", "outputSchema": {"properties": held}}).outputs}
    assert list(fields) == [
        "temperature", "runs", "label", "weight", "sample", "sample.id", "by_day", "by_day.*.high",
    ]  # fmt: skip
    first = fields["temperature"]
    assert (first.unit, first.dimension, first.semantic_id) == ("K", "temperature", "temp.abs")
    assert first.qualifiers == {"method": "dsc"}
    assert [fields[name].unit for name in ("runs", "label", "weight")] == ["s", None, "kg"]
    assert fields["sample"].identifier and fields["sample.id"].aliases == ("key",)


def test_claims_are_what_the_source_says_and_unknown_where_it_says_nothing_or_no_boolean():
    claims = {"readOnlyHint": True, "destructiveHint": "yes", "title": "From the claims"}
    route = one({"name": "t", "annotations": claims})
    assert (route.read_only, route.destructive, route.idempotent) == (True, None, None)
    assert route.title == "From the claims"
    assert one({"name": "t"}).read_only is None


def test_the_whole_tool_is_in_its_fingerprint_but_for_the_order_of_keys():
    tool = {"name": "t", "inputSchema": {"properties": {"n": {"default": 1.0}}}, "unheard": {"of": [1, 2]}}
    turned = {key: tool[key] for key in reversed(list(tool))}
    assert fingerprint(tool) == fingerprint(turned) == one(tool).fingerprint
    for change in ({"unheard": {"of": [2, 1]}}, {"unheard": {"of": [1, 2.0]}}, {"name": "t "}, {"icons": []}):
        assert fingerprint({**tool, **change}) != fingerprint(tool)


@given(toolish, toolish)
def test_two_tools_have_one_fingerprint_only_where_they_are_one_value(first, second):
    def told(value: Any) -> str:
        return json.dumps(value, sort_keys=True, ensure_ascii=True)

    printed = fingerprint(first)
    if printed:
        assert (printed == fingerprint(second)) == (told(first) == told(second))


def test_what_has_no_canonical_form_has_no_fingerprint_and_says_so():
    route = one({"name": "t", "extra": float("nan")})
    assert (route.fingerprint, route.problems) == ("", ("no_fingerprint",))


def test_two_tools_of_one_name_are_both_kept_and_numbered_in_the_order_of_the_list():
    routes = routes_of("s", "mcp", [{"name": n, "inputSchema": {}} for n in ("a", "a~2", "a", "a", "b")])
    assert [route.id for route in routes] == ["s/a", "s/a~2", "s/a~3", "s/a~4", "s/b"]
    assert [route.name for route in routes] == ["a", "a~2", "a", "a", "b"]
    assert codes(routes) == [("s/a~3", "duplicate_name"), ("s/a~4", "duplicate_name")]


def test_an_id_has_no_slash_inside_a_part():
    assert route_id("s", "a/b", "g/h") == "s/g%2Fh/a%2Fb"
    assert one({"name": "issues/list"}).id == "s/issues%2Flist"


def test_a_server_cannot_say_what_only_our_own_sources_may():
    tool = {"name": "t", "inputSchema": {}, "x-admit": {"group": "admin", "aliases": ["root"]}}
    assert one(tool, "mcp").group == "" and one(tool, "mcp").aliases == ()
    assert one(tool, "json").group == "admin"


def test_texts_that_are_none_are_left_out_and_said():
    route = one({"name": "t", "description": {"a": 1}, "title": ["x"]})
    assert (route.title, route.description, route.problems) == ("", "", ("text_invalid",))
