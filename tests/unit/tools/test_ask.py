"""What a judge reads of a tool: its claims as JSON on one line, bounded, and no score or rank."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from admit.tools.ask import MOST_DESCRIPTION, MOST_FIELDS, ask, subject
from admit.tools.model import Field, Param, Route


def route(**more):
    return Route("app/find", "app", "json", "find", **more)


def test_a_tool_is_its_name_description_arguments_with_types_and_results_with_units():
    read = json.loads(
        subject(
            route(
                group="search",
                description="Finds  a\nthing",
                params=(
                    Param("q", schema={"type": "string"}),
                    Param("n", schema={"type": ["integer", "null"]}),
                    Param("mode", schema={"enum": ["a"]}),
                    Param("any"),
                ),
                outputs=(Field("t", "temperature", unit="K"), Field("items.id")),
            )
        )
    )
    assert read == {
        "name": "find",
        "source": "app",
        "group": "search",
        "description": "Finds a thing",
        "arguments": ["q: string", "n: integer|null", "mode: enum", "any"],
        "returns": ["temperature [K]", "items.id"],
    }


def test_what_is_missing_is_left_out():
    assert json.loads(subject(route())) == {"name": "find", "source": "app"}


@given(st.text(), st.text(), st.lists(st.text(), max_size=40))
def test_no_text_breaks_out_of_its_member_and_all_is_bounded(name, description, arguments):
    one = Route("app/x", "app", "json", name, description=description, params=tuple(map(Param, arguments)))
    text = subject(one)
    read = json.loads(text)
    assert "\n" not in text
    assert set(read) <= {"name", "source", "description", "arguments"}
    assert len(read.get("description", "")) <= MOST_DESCRIPTION
    assert len(read.get("arguments", ())) <= MOST_FIELDS


def test_questions_are_numbered_in_the_order_of_the_pool_and_the_request_is_cut():
    made = ask("x" * 9000, [route(), route()], context=" ", deadline_ms=700, request_id="r", session="s")
    assert [one.id for one in made.questions] == ["q1", "q2"]
    assert len(made.task) == 4000 and made.context == ()
    assert (made.deadline_ms, made.session) == (700, "s")
