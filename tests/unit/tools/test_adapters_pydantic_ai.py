"""Pydantic AI agents over a gate: real agents, and models that show what they were given."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent, ApprovalRequired, BinaryContent, DeferredToolRequests, RunContext, Tool
from pydantic_ai.capabilities import PrepareTools
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import FunctionToolset

from admit.errors import UsageError
from admit.tools.adapters.narrowing import FAULT
from admit.tools.adapters.pydantic_ai import prepare, routes_from_pydantic_ai, toolset
from admit.tools.catalog import Catalog
from admit.tools.gate import ToolGate


def create_issue(title: str) -> str:
    """Open an issue in the tracker."""
    return f"opened {title}"


def read_weather(city: str) -> str:
    """Forecast of rain and wind."""
    return "rain"


def send_mail(to: str, text: str) -> str:
    """Send a letter to somebody."""
    return "sent"


def write_todos(items: list[str]) -> str:
    """Keep a plan; in no catalog."""
    return "kept"


FUNCTIONS = [send_mail, read_weather, create_issue]


class Broken(ToolGate):
    def find(self, *args: Any, **options: Any) -> Any:
        raise RuntimeError("no index")


def gate_over(kind: type[ToolGate] = ToolGate, **options: Any) -> ToolGate:
    catalog = Catalog()
    catalog.add(routes_from_pydantic_ai("app", FunctionToolset(FUNCTIONS)))
    return kind(catalog, **options)


def inner(*more: Any) -> FunctionToolset[Any]:
    return FunctionToolset([*FUNCTIONS, write_todos, *more])


class Seeing:
    """A model that gives its answers in order, and keeps the names of the tools of each step."""

    def __init__(self, *answers: Any) -> None:
        self.seen: list[list[str]] = []
        self._answers = iter(answers)
        self.model = FunctionModel(self._answer)

    def _answer(self, messages: Any, info: AgentInfo) -> ModelResponse:
        self.seen.append([one.name for one in info.function_tools])
        one = next(self._answers)
        return ModelResponse([TextPart(one) if isinstance(one, str) else ToolCallPart(*one)])


def answers_of(run: Any) -> list[Any]:
    parts = [part for message in run.all_messages() for part in message.parts]
    return [part.content for part in parts if isinstance(part, ToolReturnPart)]


def test_a_model_sees_the_shortlist_and_the_way_to_more_at_each_step_of_one_request():
    saw = Seeing(("read_weather", {"city": "Paris"}), "It rains.")
    run = Agent(saw.model, toolsets=[toolset(gate_over(), inner())]).run_sync("what is the weather in Paris")
    assert saw.seen == [["find_tools", "write_todos", "read_weather"]] * 2
    assert run.output == "It rains." and answers_of(run) == ["rain"]


def test_a_shortlist_holds_the_inner_toolsets_own_tool_objects(monkeypatch):
    tools = inner()
    given: dict[str, Any] = {}
    get_tools = tools.get_tools

    async def kept(context: Any) -> Any:
        given.update(await get_tools(context))
        return dict(given)

    monkeypatch.setattr(tools, "get_tools", kept)
    narrowed = toolset(gate_over(), tools)
    context = RunContext(deps=None, model=TestModel(), usage=None, prompt="what is the weather")  # type: ignore[arg-type]
    shown = asyncio.run(narrowed.get_tools(context))
    assert list(shown) == ["find_tools", "write_todos", "read_weather"]
    assert all(shown[name] is given[name] for name in ("write_todos", "read_weather"))


def test_the_gate_is_asked_once_a_request_however_many_steps_it_takes(monkeypatch):
    gate = gate_over()
    asked: list[str] = []
    find = gate.find
    monkeypatch.setattr(gate, "find", lambda query, **more: asked.append(query) or find(query, **more))
    agent = Agent(toolsets=[toolset(gate, inner())])
    call = ("read_weather", {"city": "Paris"})
    run = agent.run_sync("weather", model=Seeing(call, call, "Rain.").model)
    assert asked == ["weather"]
    saw = Seeing("Sent.")
    agent.run_sync("send a letter", model=saw.model, message_history=run.all_messages())
    assert asked == ["weather", "send a letter"] and saw.seen == [["find_tools", "write_todos", "send_mail"]]


def test_find_tools_adds_what_it_finds_to_the_next_step_and_says_so():
    saw = Seeing(("find_tools", {"query": "open an issue"}), ("create_issue", {"title": "rain"}), "Done.")
    run = Agent(saw.model, toolsets=[toolset(gate_over(), inner())]).run_sync("what is the weather in Paris")
    assert saw.seen[0] == ["find_tools", "write_todos", "read_weather"]
    assert saw.seen[1] == saw.seen[2] == ["find_tools", "write_todos", "create_issue", "read_weather"]
    assert answers_of(run) == ["Now available: create_issue.", "opened rain"]


def test_what_was_found_for_one_request_is_gone_at_the_next():
    agent = Agent(toolsets=[toolset(gate_over(), inner())])
    run = agent.run_sync("weather", model=Seeing(("find_tools", {"query": "open an issue"}), "Done.").model)
    saw = Seeing("Sent.")
    agent.run_sync("send a letter", model=saw.model, message_history=run.all_messages())
    assert saw.seen == [["find_tools", "write_todos", "send_mail"]]


def test_find_tools_says_what_is_there_already_and_what_nothing_does():
    saw = Seeing(("find_tools", {"query": "weather"}), ("find_tools", {"query": "sing"}), "No.")
    run = Agent(saw.model, toolsets=[toolset(gate_over(), inner())]).run_sync("what is the weather in Paris")
    already, none = answers_of(run)
    assert already == "already available: read_weather" and none.startswith("No available tool does this.")
    assert saw.seen[0] == saw.seen[1] == saw.seen[2]


def test_find_tools_without_a_query_is_for_the_model_to_mend():
    saw = Seeing(("find_tools", {}), ("find_tools", {"query": "open an issue"}), "Done.")
    run = Agent(saw.model, toolsets=[toolset(gate_over(), inner())]).run_sync("weather")
    assert len(saw.seen) == 3 and answers_of(run)[-1] == "Now available: create_issue."


def test_find_tools_is_not_shown_where_nothing_is_left_out():
    saw = Seeing("Done.")
    Agent(saw.model, toolsets=[toolset(gate_over(), inner())]).run_sync(
        "send_mail, read_weather and create_issue"
    )
    assert saw.seen == [["write_todos", "create_issue", "read_weather", "send_mail"]]


def test_a_find_that_fails_leaves_the_tools_as_they_were_and_is_counted_once():
    gate, saw = gate_over(Broken), Seeing(("create_issue", {"title": "rain"}), "Rain.")
    Agent(saw.model, toolsets=[toolset(gate, inner())]).run_sync("what is the weather in Paris")
    assert saw.seen == [["send_mail", "read_weather", "create_issue", "write_todos"]] * 2
    assert gate.totals[FAULT] == 1


def test_a_search_of_the_agent_that_fails_leaves_its_tools_as_they_were(monkeypatch):
    gate = gate_over()
    find = gate.find

    def second(query: str, **options: Any) -> Any:
        if query == "open an issue":
            raise RuntimeError("no index")
        return find(query, **options)

    monkeypatch.setattr(gate, "find", second)
    saw = Seeing(("find_tools", {"query": "open an issue"}), "No.")
    run = Agent(saw.model, toolsets=[toolset(gate, inner())]).run_sync("what is the weather in Paris")
    assert saw.seen[0] == saw.seen[1] == ["find_tools", "write_todos", "read_weather"]
    assert answers_of(run) == ["The search failed; the tools are as they were."]


@pytest.mark.parametrize("wrap", ["capability", "prepared"])
def test_a_prepare_function_narrows_and_adds_nothing(wrap):
    saw, function = Seeing("Rain."), prepare(gate_over())
    if wrap == "capability":
        agent = Agent(saw.model, toolsets=[inner()], capabilities=[PrepareTools(function)])
    else:
        agent = Agent(saw.model, toolsets=[inner().prepared(function)])
    agent.run_sync("what is the weather in Paris")
    assert saw.seen == [["write_todos", "read_weather"]]


def test_a_prepare_function_hands_on_the_very_definitions_and_all_of_them_where_the_find_fails():
    definitions = [*(Tool(one).tool_def for one in FUNCTIONS)]
    context = RunContext(deps=None, model=TestModel(), usage=None, prompt="weather")  # type: ignore[arg-type]
    [only] = asyncio.run(prepare(gate_over())(context, definitions))
    assert only is definitions[1]
    kept = asyncio.run(prepare(gate_over(Broken))(context, definitions))
    assert all(one is own for one, own in zip(kept, definitions, strict=True))


def test_the_librarys_test_model_calls_only_what_is_shown():
    model = TestModel(call_tools=["read_weather"])
    run = Agent(model, toolsets=[toolset(gate_over(), inner())]).run_sync("what is the weather in Paris")
    shown = model.last_model_request_parameters
    assert shown is not None and [one.name for one in shown.function_tools] == [
        "find_tools", "write_todos", "read_weather",
    ]  # fmt: skip
    assert answers_of(run) == ["rain"]


def test_S11_approval_stays_with_the_host():
    def pay(context: RunContext[None], amount: int) -> str:
        """Pay a bill."""
        raise ApprovalRequired

    catalog = Catalog()
    held = [Tool(pay), Tool(create_issue, requires_approval=True)]
    catalog.add(routes_from_pydantic_ai("app", held))
    for said, call in (
        ("pay a bill", ("pay", {"amount": 3})),
        ("open an issue", ("create_issue", {"title": "x"})),
    ):
        tools = toolset(ToolGate(catalog), FunctionToolset(held))
        agent = Agent(Seeing(call).model, toolsets=[tools], output_type=[str, DeferredToolRequests])
        output = agent.run_sync(said).output
        assert isinstance(output, DeferredToolRequests) and [one.tool_name for one in output.approvals] == [
            call[0]
        ]


def test_each_run_is_asked_about_for_its_own_principal():
    gate = gate_over(authorised=lambda who, route: who == "owner" or route.name != "create_issue")
    agent = Agent(
        toolsets=[toolset(gate, FunctionToolset(FUNCTIONS), principal_of=lambda run: run.deps)], deps_type=str
    )
    for who, more in (("owner", ["create_issue"]), ("guest", [])):
        saw = Seeing(("find_tools", {"query": "open an issue"}), "Done.")
        agent.run_sync("weather", deps=who, model=saw.model)
        assert saw.seen == [["find_tools", "read_weather"], ["find_tools", *more, "read_weather"]]


def test_a_toolset_with_a_find_tools_of_its_own_is_refused():
    def find_tools(query: str) -> str:
        """Another search."""
        return query

    with pytest.raises(UsageError, match="renamed"):
        Agent(TestModel(), toolsets=[toolset(gate_over(), inner(find_tools))]).run_sync("weather")


def test_a_prefixed_toolset_is_known_by_its_prefix():
    saw = Seeing("Rain.")
    Agent(saw.model, toolsets=[toolset(gate_over(), FunctionToolset(FUNCTIONS).prefixed("app"))]).run_sync(
        "weather"
    )
    assert saw.seen == [["find_tools", "app_read_weather"]]


def test_the_words_of_a_request_beside_an_image_are_read():
    saw, image = Seeing("Rain."), BinaryContent(b"\x89PNG", media_type="image/png")
    Agent(saw.model, toolsets=[toolset(gate_over(), inner())]).run_sync(["the weather here?", image])
    assert saw.seen == [["find_tools", "write_todos", "read_weather"]]


def test_a_request_without_words_leaves_the_tools_as_they_were():
    saw, image = Seeing("Rain."), BinaryContent(b"\x89PNG", media_type="image/png")
    Agent(saw.model, toolsets=[toolset(gate_over(), inner())]).run_sync([image])
    assert saw.seen == [["send_mail", "read_weather", "create_issue", "write_todos"]]


def test_routes_hold_arguments_results_and_the_claims_of_a_server():
    claimed = ToolDefinition(
        name="drop",
        description="Drop a table",
        parameters_json_schema={"type": "object", "properties": {"table": {"type": "string"}}},
        return_schema={"type": "object", "properties": {"rows": {"type": "integer"}}},
        metadata={"annotations": {"destructiveHint": True}},
    )
    drop, weather = routes_from_pydantic_ai("app", [claimed, Tool(read_weather)])
    assert [one.name for one in drop.params] == ["table"] and drop.destructive is True
    assert [one.name for one in drop.outputs] == ["rows"]
    assert (weather.id, weather.description) == ("app/read_weather", "Forecast of rain and wind.")
