"""What a hook is about: one event of a host, the tool call in it, and what a door answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from admit.core.events import NO_FIELDS
from admit.transcripts.model import TaskText

Moment = Literal[
    "session_start",
    "session_end",
    "prompt",
    "before_tool",
    "after_tool",
    "after_failure",
    "agent_start",
    "stop",
    "before_compaction",
    "after_compaction",
    "other",
]
Shape = Literal["bash", "text", "mcp_blocks", "read", "unknown"]
Ability = Literal["yes", "mcp_only", "refusal_channel", "no", "unproven"]
Scope = Literal["subagent", "teammate"]

MOST_PAYLOAD_BYTES = 8 << 20
MOST_REPLY_BYTES = 64 << 10
NOTHING = b""


class Odd(Exception):
    """A payload that cannot be served; the cause is a word of `core.event_fields.HOOK_ODD_CAUSES`."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class ToolOutput(NamedTuple):
    """A tool's output as the host hands it over.

    Attributes:
        shape: Which form it has.
        texts: What may be replaced, in order: a JSON pointer (RFC 6901) into `original`, and the text there.
            The text may be fuller than the one there, where the host keeps the whole in a file.
        original: The host's own value, untouched.
        size_host: Characters the host would have shown of it; None is unknown.
        exit_code: Of a command; None is unknown, never 0.
    """

    shape: Shape
    texts: tuple[tuple[str, str], ...] = ()
    original: Any = None
    size_host: int | None = None
    exit_code: int | None = None


class Start(NamedTuple):
    """A subagent that a call is about to start.

    Attributes:
        kind: Its type.
        prompt: What it is started with.
        scope: Whose guidance it gets: ``subagent``, or ``teammate`` for one of a team.
        background: The call ends before the subagent does.
    """

    kind: str
    prompt: str
    scope: Scope = "subagent"
    background: bool = False


class ToolCall(NamedTuple):
    """One tool call.

    Attributes:
        use_id: The host's id of the call; empty where it gives none.
        input: The call's arguments.
        output: None before the call, and where the output is not one that any door looks at.
        failed: The host says that the call failed; then its output is what the host says of it.
        server: The MCP server, where it is known.
        starts: The subagent that the call starts; None where it starts none.
        writes: Files that the call itself says it writes.
    """

    name: str
    use_id: str = ""
    input: Mapping[str, Any] = NO_FIELDS
    output: ToolOutput | None = None
    failed: bool = False
    server: str = ""
    starts: Start | None = None
    writes: tuple[str, ...] = ()


class HostEvent(NamedTuple):
    """One event of a host.

    Attributes:
        host: The adapter's name.
        event: The host's own name of it.
        moment: What it is to the doors.
        session: The host's session id.
        raw: The payload as it came.
        host_version: None is unknown.
        agent: Id of the subagent it happened in; empty is the main agent.
        agent_type: That subagent's type.
        cwd: The agent's working folder.
        task: What the agent is doing; set by the daemon's state, not by the adapter.
        prompt: What was typed, at a prompt.
        prompt_id: The host's id of that prompt, at every event it led to; empty is none.
        machine: The host, not a person, wrote the prompt.
        cause: Why the moment came: how a session started or ended, what started a compaction.
        tool: The tool call, around tools.
        transcript: The session's transcript file; empty is unknown.
        context_tokens: Tokens in the agent's context; None is unknown.
        window: Size of the context window in tokens; None is unknown.
        deadline_at: On the monotonic clock, in seconds; 0 is none.
    """

    host: str
    event: str
    moment: Moment
    session: str
    raw: bytes = b""
    host_version: str | None = None
    agent: str = ""
    agent_type: str = ""
    cwd: str = ""
    task: TaskText = TaskText()
    prompt: str = ""
    prompt_id: str = ""
    machine: bool = False
    cause: str = ""
    tool: ToolCall | None = None
    transcript: str = ""
    context_tokens: int | None = None
    window: int | None = None
    deadline_at: float = 0.0


class HookAnswer(NamedTuple):
    """What a door has to say; all empty says nothing.

    Attributes:
        context: Text beside what the agent sees.
        replace: Pointers of `ToolOutput.texts` with the text to stand there.
        rewrite_input: The whole arguments of the call, changed.
        tools: Names of the tools to offer.
        note: For the record only; no host sees it.
    """

    context: str = ""
    replace: tuple[tuple[str, str], ...] = ()
    rewrite_input: Mapping[str, Any] | None = None
    tools: tuple[str, ...] | None = None
    note: str = ""

    @property
    def says_nothing(self) -> bool:
        """Whether there is nothing for the host in it."""
        return not (self.context or self.replace or self.rewrite_input or self.tools)


class Capability(NamedTuple):
    """What one version of a host lets a hook do."""

    replace_ok: Ability = "unproven"
    replace_failed: Ability = "unproven"
    inject: Ability = "unproven"
    rewrite_input: Ability = "unproven"
    restrict_tools: Ability = "unproven"


class Sent(NamedTuple):
    """An answer that the host has taken and that no transcript has proven yet.

    Attributes:
        nonce: What stands in its text and nowhere else: hex digits, or of guidance its first heading.
        decision_id: The decision it carries; None is none.
        use_id: The tool call it belongs to; empty is none.
        chars: Its length.
        channel: ``replace`` or ``context``.
        transcript: The file that will hold it.
        offset: Length of that file, in bytes, when it was sent.
        door: Whose answer it is.
    """

    nonce: str
    decision_id: str | None
    use_id: str
    chars: int
    channel: str
    transcript: str
    offset: int = 0
    door: str = "outputs"


class Recent(NamedTuple):
    """What was said lately in a session, as its transcript has it.

    Attributes:
        prompts: What people asked for, oldest first.
        words: The main agent's last text.
        version: The host's version; None is unknown.
        offset: How far the transcript was read, in bytes.
        queued: Of the prompts, what was typed while the agent worked.
        tokens: In the main agent's context as its last request counted them; None is no news.
    """

    prompts: tuple[str, ...] = ()
    words: str = ""
    version: str | None = None
    offset: int = 0
    queued: tuple[str, ...] = ()
    tokens: int | None = None


class HostAdapter(Protocol):
    """One host's way of speaking, and of writing its transcripts."""

    name: str

    def moment(self, event: str) -> Moment | None:
        """What an event of this name is to the doors; None where the host has none of this name."""
        ...

    def read(self, raw: bytes, event: str) -> HostEvent:
        """The event of a payload; unknown fields are ignored.

        Raises:
            Odd: It is none, or none of this host's events.
        """
        ...

    def write(self, ev: HostEvent, answer: HookAnswer) -> bytes:
        """The documented answer of that event, one line of JSON; empty where it has nothing to say.

        Raises:
            Odd: It cannot be written within the caps.
        """
        ...

    def capabilities(self, version: str | None) -> Capability:
        """What this version is known to do."""
        ...

    def wrap(
        self, call: ToolCall, commands: Sequence[str], admit: str, ticket: Callable[[], str]
    ) -> Mapping[str, Any] | None:
        """The call's input with its command run by `admit run`; None where it is to be left alone."""
        ...

    def recent(self, transcript: str, start: int | None) -> Recent:
        """What was said since `start` bytes; None is not read yet. What cannot be read says nothing."""
        ...

    def transcript_of(self, ev: HostEvent) -> str:
        """The file that will hold what is shown at this event; empty where it is not known."""
        ...

    def agent_prompt(self, ev: HostEvent) -> str:
        """What the event's subagent was started with, as its transcript has it; empty is unknown."""
        ...

    def delivered(self, waiting: Sequence[Sent]) -> Iterable[tuple[Sent, str]]:
        """Which answers a transcript proves, each with the record that does."""
        ...


class Handled(NamedTuple):
    """What one hook gets.

    Attributes:
        data: For the host's eyes; empty is nothing to say.
        after: To be called once, after the reply has left, with whether the client wrote it to the host.
        odd: A word of `HOOK_ODD_CAUSES`, which `after` records; empty where nothing was odd.
    """

    data: bytes
    after: Callable[[bool], None]
    odd: str = ""
