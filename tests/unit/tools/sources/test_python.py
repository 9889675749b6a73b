"""Python functions: signature and hints as a schema, docstring as text; nothing of the function is called."""

import dataclasses
import datetime
import enum
import sys
from collections.abc import Awaitable, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import SourceError, UsageError
from admit.tools.export import to_openai
from admit.tools.sources.hints import Hints
from admit.tools.sources.python import argument_texts, find, from_python


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Tree:
    name: str
    kids: "list[Tree]" = dataclasses.field(default_factory=list)


class Query(TypedDict):
    text: Annotated[str, "What is looked for"]
    limit: NotRequired[int]


class Point(NamedTuple):
    x: float
    y: float = 0.0


def paint(
    what: Annotated[str, "The thing"],
    colour: Colour = Colour.RED,
    times: int = 3,
    *,
    where: Point | None = None,
) -> Tree:
    """Paint a thing
    in one colour.

    It dries by itself.

    Args:
        what: Never seen, for the hint says it.
        colour (Colour): Which colour,
            red: the best one.
        times: How often.

    Returns:
        What was painted.
    """
    raise AssertionError("nothing is called")


def one(function: Any):
    (route,) = from_python("py", function)
    return route


def test_a_function_is_a_route_with_its_first_paragraph_its_arguments_and_its_result():
    route = one(paint)
    assert (route.name, route.id, route.group) == ("paint", f"py/{__name__}/paint", __name__)
    assert route.description == "Paint a thing in one colour."
    assert [(p.name, p.required, p.description) for p in route.params] == [
        ("what", True, "The thing"),
        ("colour", False, "Which colour, red: the best one."),
        ("times", False, "How often."),
        ("where", False, ""),
    ]
    assert [field.path for field in route.outputs] == ["name", "kids"]
    assert (route.read_only, route.destructive) == (None, None)
    properties = route.input_schema["properties"]
    assert properties["times"] == {"type": "integer", "default": 3, "description": "How often."}
    assert properties["colour"]["enum"] == ["red", "blue"]
    assert properties["where"]["anyOf"] == [{"$ref": "#/$defs/Point"}, {"type": "null"}]


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (bool, {"type": "boolean"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (set[str], {"type": "array", "uniqueItems": True, "items": {"type": "string"}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (tuple[int, str], {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (Literal["a", "b"], {"enum": ["a", "b"], "type": "string"}),
        (Literal["a", 1], {"enum": ["a", 1]}),
        (Colour, {"enum": ["red", "blue"], "type": "string"}),
        (datetime.datetime, {"type": "string", "format": "date-time"}),
        (datetime.date, {"type": "string", "format": "date"}),
        (UUID, {"type": "string", "format": "uuid"}),
        (Path, {"type": "string", "format": "path"}),
        (Awaitable[int], {"type": "integer"}),
        (Annotated[int, "How many", "again"], {"type": "integer", "description": "How many"}),
        (Any, {}),
        (object, {}),
        ("Nowhere", {}),
        (3, {}),
    ],
    ids=str,
)
def test_a_hint_is_the_schema_of_its_values(hint, schema):
    assert Hints().of(hint) == schema


def test_a_class_with_fields_stands_once_and_may_hold_itself():
    hints = Hints()
    closed = hints.closed(
        {"properties": {"a": hints.of(Tree), "b": hints.of(list[Tree]), "q": hints.of(Query)}}
    )
    assert closed["properties"]["a"] == {"$ref": "#/$defs/Tree"}
    assert closed["$defs"]["Tree"]["required"] == ["name"]
    assert closed["$defs"]["Tree"]["properties"]["kids"]["items"] == {"$ref": "#/$defs/Tree"}
    assert closed["$defs"]["Query"]["required"] == ["text"]
    assert closed["$defs"]["Query"]["properties"]["text"]["description"] == "What is looked for"


def test_two_classes_of_one_name_stay_two():
    other = dataclasses.make_dataclass("Tree", ["rings"])
    hints = Hints()
    assert hints.of(Tree) != hints.of(other)


def test_a_pydantic_model_says_its_own_schema():
    pydantic = pytest.importorskip("pydantic")
    inner = pydantic.create_model("Inner", x=(int, pydantic.Field(description="an x")))
    model = pydantic.create_model("Model", inner=(inner, ...), by=(str, "me"))

    def put(what): ...

    put.__annotations__ = {"what": model}
    schema = one(put).input_schema
    assert schema["properties"]["what"] == {"$ref": "#/$defs/Model"}
    assert schema["$defs"]["Inner"]["properties"]["x"]["description"] == "an x"


class Shelf:
    def add(self, book: str) -> int:
        """Add a book."""
        return 1

    def __call__(self, book: str) -> None:
        """Take a book."""


def decorated(function):
    @wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


def test_methods_objects_partials_and_decorated_functions_have_the_signature_that_callers_see():
    def told(function: Any) -> Any:
        route = one(function)
        return route.name, [param.name for param in route.params], route.aliases

    assert told(Shelf().add) == ("add", ["book"], ("Shelf.add",))
    assert told(Shelf()) == ("Shelf", ["book"], ())
    assert told(partial(paint, "x")) == ("paint", ["colour", "times", "where"], ())
    assert told(decorated(paint)) == ("paint", ["what", "colour", "times", "where"], ())


def test_a_hint_that_cannot_be_found_out_is_any_value():
    def odd(a: "Nowhere", b: int = 1): ...  # noqa: F821 # pyright: ignore

    assert one(odd).input_schema["properties"] == {"a": {}, "b": {"type": "integer", "default": 1}}


def test_only_defaults_that_json_has_are_told():
    def odd(a=float("nan"), b=object(), c=None): ...  # noqa: B008

    assert one(odd).input_schema == {
        "type": "object", "properties": {"a": {}, "b": {}, "c": {"default": None}},
    }  # fmt: skip


def test_a_function_that_takes_any_arguments_is_refused_by_name():
    def spread(*rest, **more): ...

    with pytest.raises(UsageError, match=r"spread takes \*rest, \*\*more"):
        from_python("py", paint, spread)


@pytest.mark.parametrize("thing", [lambda x: x, 3, "paint", None])
def test_what_is_no_function_with_a_name_is_refused(thing):
    with pytest.raises(UsageError, match="def"):
        from_python("py", thing)


def test_the_exported_schema_is_whole():
    (tool,) = to_openai(from_python("py", paint)).tools
    assert tool["name"] == "py__paint" and tool["parameters"]["$defs"]["Point"]["required"] == ["x"]


NUMPY = """Sum.

Parameters
----------
a : int
    The first,
    which counts.
b

Returns
-------
int
    The sum.
"""
SPHINX = """Sum.

:param a: The first,
    which counts.
:param int b:
:returns: The sum.
"""


@pytest.mark.parametrize("text", [NUMPY, SPHINX], ids=["numpy", "sphinx"])
def test_other_styles_of_docstrings_are_read(text):
    assert argument_texts(text) == {"a": "The first, which counts."}


@given(st.text(max_size=200) | st.lists(st.sampled_from([
    "Args:", "    a: b", "  a: b", "Parameters", "----------", ":param a: b", "", "x", "        more: y",
])).map("\n".join))  # fmt: skip
def test_no_docstring_makes_it_raise(text):
    def documented(a): ...

    documented.__doc__ = text
    assert [param.name for param in one(documented).params] == ["a"]


def test_functions_are_found_by_module_and_name(tmp_path, monkeypatch):
    (tmp_path / "own_tools.py").write_text(
        "def a(x: int): ...\nclass B:\n    @staticmethod\n    def c(): ...\nALL = [a, B.c]\nN = 3\n"
    )
    (tmp_path / "broken_tools.py").write_text("raise RuntimeError('no')")
    monkeypatch.syspath_prepend(tmp_path)
    assert [route.name for route in from_python("py", *find("py", "own_tools:ALL"))] == ["a", "c"]
    assert find("py", "own_tools:B.c")[0].__name__ == "c"
    for place, words in (
        ("own_tools", "module:function"), ("own_tools:N", "no function"), ("own_tools:z", "cannot be loaded"),
        ("no_such_tools:a", "cannot be loaded"), ("broken_tools:a", "no"),
    ):  # fmt: skip
        with pytest.raises(SourceError, match=words):
            find("py", place)
    for name in ("own_tools", "broken_tools"):
        sys.modules.pop(name, None)
