"""What a recorded session is: the requests, the tool uses with what the model saw of them, and the rest."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

Host = Literal["claude-code", "codex"]
ToolKind = Literal["command", "file_read", "search", "fetch", "mcp", "edit", "agent", "other"]
Cut = Literal["", "preview", "middle"]
TaskSource = Literal["prompt", "prompt+previous", "agent_task", "none"]

NO_COUNTS: Mapping[str, int] = MappingProxyType({})


class TaskText(NamedTuple):
    """What the agent was asked to do at one moment.

    Attributes:
        text: At most 1,500 characters.
        source: Where it comes from.
        age_turns: Requests made since the one it rests on.
    """

    text: str = ""
    source: TaskSource = "none"
    age_turns: int = 0


class UserTurn(NamedTuple):
    """One message in the user's place.

    Attributes:
        order: Its place in the session, from 1, shared with tool uses and results.
        agent: Empty for the main agent.
        machine: The host wrote it, not a person: no task.
        ts_ms: UTC epoch milliseconds; None is unknown.
        repeated: As in `ToolUse`.
    """

    order: int
    text: str
    agent: str = ""
    machine: bool = False
    ts_ms: int | None = None
    repeated: bool = False


class Said(NamedTuple):
    """Other text that stood in an agent's context: its own words, summaries, what hooks added."""

    order: int
    agent: str
    text: str


class ToolUse(NamedTuple):
    """One tool call with its result.

    Attributes:
        order: Place of the call in the session, from 1.
        result_order: Place of the result; None where there is none.
        answer: Id of the model's answer that made the call; parallel calls share it.
        input: The call's arguments as recorded.
        command: The command line of a command, else empty.
        agent: Empty for the main agent.
        task: What the agent was doing.
        ts_ms: UTC epoch milliseconds of the call; None is unknown.
        shown: Text of the result as the model saw it, images aside; None where there is no result.
        whole: A fuller text where one was found; None where `shown` is the fullest.
        complete: Whether `text` is everything the tool gave.
        original_chars: Characters the tool gave, as far as known; None is unknown.
        cut_by_host: How the host shortened it before the model saw it; empty where it did not.
        stored_path: The file the host keeps the whole in; empty where there is none.
        failed: The host marked the result as an error.
        exit_code: None is unknown, never 0.
        images: Images in the result, which are never read.
        repeated: The same record stands in an earlier file (a fork): context here, counted there.
    """

    order: int
    id: str
    tool: str
    kind: ToolKind
    input: Mapping[str, Any]
    result_order: int | None = None
    answer: str = ""
    command: str = ""
    agent: str = ""
    task: TaskText = TaskText()
    ts_ms: int | None = None
    shown: str | None = None
    whole: str | None = None
    complete: bool = True
    original_chars: int | None = None
    cut_by_host: Cut = ""
    stored_path: str = ""
    failed: bool = False
    exit_code: int | None = None
    images: int = 0
    repeated: bool = False

    @property
    def text(self) -> str:
        """The fullest text that was found; empty where there is no result."""
        return (self.shown or "") if self.whole is None else self.whole


class Usage(NamedTuple):
    """Tokens as the provider counted them, each answer once."""

    input: int = 0
    cache_creation: int = 0
    cache_read: int = 0
    output: int = 0


class Session(NamedTuple):
    """One recorded session with its subagents; every list is in the order of the files.

    Attributes:
        path: The main file.
        said: Text of the context that is neither a request nor a tool's.
        compactions: Places after which the earlier context was replaced, with the agent.
        answers: Answers of the model; one answer may take several lines.
        odd: What was left out or not known, by name: ``too_long``, ``broken``, ``unfinished``, ``no call``,
            ``type:NAME``, ``block:NAME``, ``payload:NAME``.
    """

    host: Host
    id: str
    path: str
    cwd: str = ""
    version: str = ""
    turns: tuple[UserTurn, ...] = ()
    uses: tuple[ToolUse, ...] = ()
    said: tuple[Said, ...] = ()
    compactions: tuple[tuple[int, str], ...] = ()
    answers: int = 0
    usage: Usage = Usage()
    odd: Mapping[str, int] = NO_COUNTS


def time_ms(value: Any) -> int | None:
    """UTC epoch milliseconds of an ISO 8601 text, UTC where it names no zone; None for anything else."""
    try:
        when = datetime.fromisoformat(value)
        return round((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000)
    except (TypeError, ValueError, OverflowError):
        return None


def word(value: Any) -> str:
    """A name from a file as text of at most 60 characters; empty for what is no text."""
    return value[:60] if isinstance(value, str) else ""


def text(value: Any) -> str:
    """A text as it is; empty for what is none."""
    return value if isinstance(value, str) else ""


def input_texts(value: Any) -> tuple[str, ...]:
    """Every text in a call's arguments, in order, names left out."""
    found: list[str] = []
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, Mapping):
            stack.extend(reversed(list(one.values())))
        elif isinstance(one, (list, tuple)):
            stack.extend(reversed(one))
    return tuple(found)
