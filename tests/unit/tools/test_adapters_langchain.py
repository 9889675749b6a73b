"""LangChain agents and LangGraph graphs over a gate: real ones, and a model that shows what it was given."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("langchain")
pytest.importorskip("langgraph")

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from admit.errors import UsageError
from admit.tools.adapters.langchain import (
    ShortlistState,
    find_tools,
    middleware,
    node,
    routes_from_langchain,
    shortlist,
    shown,
)
from admit.tools.adapters.narrowing import FAULT
from admit.tools.catalog import Catalog
from admit.tools.filters import Globs
from admit.tools.gate import ToolGate
from admit.tools.policy import ToolPolicy
from admit.tools.sources.json_list import from_json

RAN: list[str] = []


@tool
def create_issue(title: str) -> str:
    """Open an issue in the tracker."""
    RAN.append(f"create_issue {title}")
    return f"opened {title}"


@tool
def read_weather(city: str) -> str:
    """Forecast of rain and wind."""
    RAN.append(f"read_weather {city}")
    return "rain"


@tool
def send_mail(to: str, text: str) -> str:
    """Send a letter to somebody."""
    RAN.append(f"send_mail {to}")
    return "sent"


@tool
def write_todos(items: list[str]) -> str:
    """Keep a plan; in no catalog."""
    return "kept"


class Button:
    """A type that no JSON Schema can say."""


def press(button: Button) -> str:
    return "pressed"


TOOLS = [send_mail, read_weather, create_issue]


class Seeing(GenericFakeChatModel):
    """Gives its answers in order, and keeps the names of the tools of each call."""

    seen: list[list[str]] = []  # noqa: RUF012 - pydantic copies it for each model

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        self.seen.append([one.name for one in tools])
        return self


def model_of(*answers: Any) -> Seeing:
    """Answers are texts, or a tool's name and its arguments."""
    messages = [
        AIMessage(one) if isinstance(one, str)
        else AIMessage("", tool_calls=[{"name": one[0], "args": one[1], "id": f"call{k}"}])
        for k, one in enumerate(answers)
    ]  # fmt: skip
    return Seeing(messages=iter(messages), seen=[])


def gate_over(*tools: Any, **options: Any) -> ToolGate:
    catalog = Catalog()
    catalog.add(routes_from_langchain("app", tools))
    return ToolGate(catalog, **options)


def run(
    model: Seeing, gate: ToolGate, said: str, tools: Any = (*TOOLS, write_todos), **options: Any
) -> list[Any]:
    agent = create_agent(model, list(tools), middleware=[middleware(gate, **options)])
    return agent.invoke({"messages": [HumanMessage(said)]})["messages"]


class Broken(ToolGate):
    def find(self, *args: Any, **options: Any) -> Any:
        raise RuntimeError("no index")


def test_a_shortlist_is_the_hosts_own_objects_in_the_order_of_an_export():
    gate = gate_over(*TOOLS)
    found = shortlist(gate, [*TOOLS, write_todos], "mail the weather to the issue")
    assert [one.name for one in found] == ["write_todos", "create_issue", "read_weather", "send_mail"]
    assert all(
        one in (*TOOLS, write_todos) and any(one is own for own in (*TOOLS, write_todos)) for one in found
    )
    assert shortlist(gate, TOOLS, "what is the weather in Paris") == [read_weather]


def test_a_shortlist_stands_in_rank_order_where_the_policy_says_so():
    gate = gate_over(*TOOLS, policy=ToolPolicy(order_out="rank"))
    found = shortlist(gate, TOOLS, "send_mail about create_issue")
    assert [one.name for one in found] == ["send_mail", "create_issue"]


def test_a_request_that_is_no_text_is_refused_and_a_blank_one_leaves_the_tools_as_they_were():
    gate = gate_over(*TOOLS)
    with pytest.raises(UsageError, match="must be text"):
        shortlist(gate, TOOLS, None)  # type: ignore[arg-type]
    assert shortlist(gate, TOOLS, "  ") == TOOLS


def test_a_request_that_no_tool_fits_is_shown_only_what_the_catalog_does_not_know():
    assert shortlist(gate_over(*TOOLS), [*TOOLS, write_todos], "sing") == [write_todos]


def test_a_host_name_with_its_source_before_it_is_the_same_tool():
    catalog = Catalog()
    catalog.add(from_json("git", [{"name": "create_issue", "description": "Open an issue"}]))
    catalog.add(from_json("mail", [{"name": "send", "description": "Send a letter"}]))
    tools = [{"name": "git_create_issue"}, {"type": "function", "function": {"name": "mcp__mail__send"}}]
    assert shortlist(ToolGate(catalog), tools, "send a letter") == tools[1:]


def test_a_name_as_it_is_written_wins_over_another_source_and_name():
    catalog = Catalog()
    catalog.add(from_json("git", [{"name": "issue", "description": "Look at an issue"}]))
    catalog.add(from_json("app", [{"name": "git_issue", "description": "Paint a wall"}]))
    assert shortlist(ToolGate(catalog), [{"name": "git_issue"}], "look at an issue", sources=["git"]) == []


def test_routes_hold_what_the_model_is_told_of_a_tool_and_what_its_metadata_claims():
    reading = StructuredTool.from_function(
        lambda path: path, name="read_file", description="Read a file", metadata={"readOnlyHint": True}
    )
    weather, read = routes_from_langchain("app", [read_weather, reading])
    assert (weather.id, weather.description) == ("app/read_weather", "Forecast of rain and wind.")
    assert [one.name for one in weather.params] == ["city"] and weather.params[0].required
    assert read.read_only is True and weather.read_only is None


def test_a_tool_whose_arguments_no_schema_can_say_is_found_by_its_description():
    odd = StructuredTool.from_function(press, description="Press a button")
    gate = gate_over(odd, *TOOLS)
    assert shortlist(gate, [odd, *TOOLS], "press a button") == [odd]


def test_an_agents_model_sees_the_shortlist_and_the_way_to_more_at_each_call_of_one_request():
    RAN.clear()
    model = model_of(("read_weather", {"city": "Paris"}), "It rains.")
    messages = run(model, gate_over(*TOOLS), "what is the weather in Paris")
    assert model.seen == [["find_tools", "write_todos", "read_weather"]] * 2
    assert messages[-1].text == "It rains." and RAN == ["read_weather Paris"]


def test_the_gate_is_asked_once_a_request_however_many_model_calls_it_takes(monkeypatch):
    gate = gate_over(*TOOLS)
    asked: list[str] = []
    find = gate.find
    monkeypatch.setattr(gate, "find", lambda query, **more: asked.append(query) or find(query, **more))
    run(
        model_of(("read_weather", {"city": "Paris"}), ("read_weather", {"city": "Rome"}), "Rain."),
        gate,
        "weather",
    )
    assert asked == ["weather"]


def test_find_tools_adds_what_it_finds_to_the_next_model_call_and_says_so():
    model = model_of(("find_tools", {"query": "open an issue"}), ("create_issue", {"title": "rain"}), "Done.")
    messages = run(model, gate_over(*TOOLS), "what is the weather in Paris")
    assert model.seen[0] == ["find_tools", "write_todos", "read_weather"]
    assert model.seen[1] == model.seen[2] == ["find_tools", "write_todos", "create_issue", "read_weather"]
    answers = [one.text for one in messages if isinstance(one, ToolMessage)]
    assert answers == ["Now available: create_issue.", "opened rain"]


def test_find_tools_says_what_is_there_already_and_what_nothing_does():
    model = model_of(("find_tools", {"query": "weather"}), ("find_tools", {"query": "sing"}), "No.")
    messages = run(model, gate_over(*TOOLS), "what is the weather in Paris")
    answers = [one.text for one in messages if isinstance(one, ToolMessage)]
    assert answers[0] == "already available: read_weather"
    assert answers[1].startswith("No available tool does this.")
    assert model.seen[0] == model.seen[1] == model.seen[2]


def test_find_tools_is_not_shown_where_nothing_is_left_out():
    model = model_of("Done.")
    run(model, gate_over(*TOOLS), "send_mail, read_weather and create_issue")
    assert model.seen == [["write_todos", "create_issue", "read_weather", "send_mail"]]


def test_a_find_that_fails_leaves_the_agents_tools_as_they_were_and_is_counted():
    gate = Broken(gate_over(*TOOLS).catalog)
    model = model_of("Rain.")
    run(model, gate, "what is the weather in Paris")
    assert model.seen == [["send_mail", "read_weather", "create_issue", "write_todos"]]
    assert gate.totals[FAULT] == 1


def test_a_search_of_the_agent_that_fails_leaves_its_tools_as_they_were(monkeypatch):
    gate = gate_over(*TOOLS)
    find = gate.find

    def second(query: str, **options: Any) -> Any:
        if query == "open an issue":
            raise RuntimeError("no index")
        return find(query, **options)

    monkeypatch.setattr(gate, "find", second)
    model = model_of(("find_tools", {"query": "open an issue"}), "No.")
    messages = run(model, gate, "what is the weather in Paris")
    assert model.seen[0] == model.seen[1] == ["find_tools", "write_todos", "read_weather"]
    assert messages[2].text == "The search failed; the tools are as they were."


def test_S11_a_tool_that_is_not_shown_runs_when_it_is_called():
    RAN.clear()
    model = model_of(("create_issue", {"title": "rain"}), "Done.")
    run(model, gate_over(*TOOLS), "what is the weather in Paris")
    assert "create_issue" not in model.seen[0] and RAN == ["create_issue rain"]


def test_S11_what_a_call_forces_stays_in():
    state = {"messages": [HumanMessage("weather")], "admit_shortlist": ["app/read_weather"]}
    gate = gate_over(*TOOLS)
    for choice in ("send_mail", {"type": "function", "function": {"name": "send_mail"}}):
        assert shown(gate, TOOLS, state, tool_choice=choice) == [read_weather, send_mail]
    assert shown(gate, TOOLS, state, tool_choice="auto") == [read_weather]


def test_what_is_off_or_not_authorised_is_left_out_even_where_the_find_fails():
    options = {"globs": {"app": Globs(deny=("send_mail",))}, "authorised": lambda who, route: who == "owner"}
    gate = Broken(gate_over(*TOOLS).catalog, **options)
    assert shortlist(gate, [*TOOLS, write_todos], "weather", principal="owner") == [
        read_weather, create_issue, write_todos,
    ]  # fmt: skip
    assert shortlist(gate, [*TOOLS, write_todos], "weather", principal="guest") == [write_todos]


def test_each_run_is_asked_about_for_its_own_principal():
    gate = gate_over(*TOOLS, authorised=lambda who, route: who == "owner" or route.name != "create_issue")
    for who, more in (("owner", ["create_issue"]), ("guest", [])):
        model = model_of(("find_tools", {"query": "open an issue"}), "Done.")
        agent = create_agent(
            model,
            TOOLS,
            context_schema=dict,
            middleware=[middleware(gate, principal_of=lambda run: run.context["who"])],
        )
        agent.invoke({"messages": [HumanMessage("weather")]}, context={"who": who})
        assert model.seen == [["find_tools", "read_weather"], ["find_tools", *more, "read_weather"]]


def test_a_checkpointed_thread_is_narrowed_anew_for_each_human_message():
    gate = gate_over(*TOOLS)
    model = model_of(("find_tools", {"query": "open an issue"}), "Rain.", "Sent.")
    agent = create_agent(model, TOOLS, middleware=[middleware(gate)], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    agent.invoke({"messages": [HumanMessage("what is the weather")]}, thread)
    agent.invoke({"messages": [HumanMessage("send a letter")]}, thread)
    assert model.seen[1:] == [["find_tools", "create_issue", "read_weather"], ["find_tools", "send_mail"]]


def test_an_agent_that_runs_asynchronously_is_narrowed_alike():
    model = model_of(("find_tools", {"query": "open an issue"}), "Rain.")
    agent = create_agent(model, TOOLS, middleware=[middleware(gate_over(*TOOLS))])
    asyncio.run(agent.ainvoke({"messages": [HumanMessage("what is the weather")]}))
    assert model.seen == [["find_tools", "read_weather"], ["find_tools", "create_issue", "read_weather"]]


def graph_of(gate: ToolGate, model: Seeing) -> Any:
    """A graph of one's own: shortlist, model, tools."""
    tools = [*TOOLS, find_tools(gate)]

    def call(state: ShortlistState) -> Any:
        return {"messages": [model.bind_tools(shown(gate, tools, state)).invoke(state["messages"])]}

    graph = StateGraph(ShortlistState)
    graph.add_node("shortlist", node(gate))
    graph.add_node("model", call)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "shortlist")
    graph.add_edge("shortlist", "model")
    graph.add_conditional_edges("model", tools_condition, {"tools": "tools", END: END})
    graph.add_edge("tools", "model")
    return graph.compile()


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_a_node_narrows_the_tools_of_a_graph_of_ones_own(how):
    model = model_of(("find_tools", {"query": "open an issue"}), "Rain.")
    graph = graph_of(gate_over(*TOOLS), model)
    said = {"messages": [HumanMessage("what is the weather")]}
    asyncio.run(graph.ainvoke(said)) if how == "ainvoke" else graph.invoke(said)
    assert model.seen == [["find_tools", "read_weather"], ["find_tools", "create_issue", "read_weather"]]


def test_a_node_whose_find_fails_leaves_the_tools_as_they_were():
    model = model_of("Rain.")
    graph_of(Broken(gate_over(*TOOLS).catalog), model).invoke({"messages": [HumanMessage("weather")]})
    assert model.seen == [["send_mail", "read_weather", "create_issue"]]


def test_a_catalog_without_tools_leaves_every_tool_in():
    model = model_of("Rain.")
    run(model, ToolGate(Catalog()), "weather")
    assert model.seen == [["send_mail", "read_weather", "create_issue", "write_todos"]]
