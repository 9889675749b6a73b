"""What a candidate is at this door: a snippet, what may set it off, and what became of it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from admit.core.decision import Decision, Ruling

Kind = Literal["way", "skill", "rule"]
Source = Literal["agent-ways", "skill", "cursor", "claude", "copilot"]
RootKind = Literal["project", "user", "bundled", "extra"]
TriggerKind = Literal["pattern", "commands", "files", "semantic", "mention", "state"]
Form = Literal["regex", "glob", "literal", "auto"]
Lane = Literal["prompt", "queued", "task", "command", "file", "state"]
Scope = Literal["agent", "subagent", "teammate"]

SOURCES: tuple[Source, ...] = ("agent-ways", "skill", "cursor", "claude", "copilot")
JUDGED_LANES = frozenset(("prompt", "queued"))

STAGES = (
    "envelope", "disabled", "out_of_scope", "precondition", "no_trigger", "masked", "vetoed",
    "below_threshold", "outcompeted", "held_refire", "blocked", "ancestor", "overflow_blocked",
    "parent_withheld", "turn_cap", "over_budget", "undeliverable", "shown",
)  # fmt: skip
"""Where a snippet's way through one scan ends: exactly one each."""


class Trigger(NamedTuple):
    """One thing that sets a snippet off.

    Attributes:
        kind: ``pattern`` on what a person wrote; ``commands`` on a shell command; ``files`` on a path;
            ``semantic`` by meaning; ``mention`` of ``@name``; ``state`` of the session.
        text: The source: a regular expression, a glob, a name, or for a state its word
            (``session-start``, ``context-threshold``, ``file-exists``).
        value: Of ``context-threshold`` the percent; of ``file-exists`` the glob.
    """

    kind: TriggerKind
    text: str
    form: Form = "regex"
    value: str | float | None = None


class When(NamedTuple):
    """Hard preconditions: a project folder (``~`` expanded) and a glob that must match under the project."""

    project: str | None = None
    file_exists: str | None = None


class Snippet(NamedTuple):
    """One stored piece of guidance, without its body, which is read when it is needed.

    Attributes:
        id: A way's is its folder under the root; others carry a prefix: ``skill:``, ``cursor:``, ``rule:``,
            ``copilot:``.
        path: Absolute path of the file.
        vocabulary: Words for the matcher; never sent to a judge.
        refire: How long it is held after it was shown, as a fraction of the context window; 0 never holds.
        strict: Its pattern is exempt from the keyword floor, from masking and from the judge.
        body_at: Characters of the file before the body.
        chars: Characters of the body.
        digest: ``sha256:`` of the file.
    """

    id: str
    kind: Kind
    source: Source
    root: RootKind
    path: str
    title: str
    description: str
    vocabulary: str
    triggers: tuple[Trigger, ...]
    scope: frozenset[str]
    when: When | None
    refire: float
    strict: bool
    digest: str
    body_at: int
    chars: int

    @property
    def pointer(self) -> bool:
        """Whether it is shown by title, description and path instead of its body."""
        return self.kind == "skill"

    def semantic(self) -> bool:
        """Whether it can be set off by meaning."""
        return any(trigger.kind == "semantic" for trigger in self.triggers)


class Finding(NamedTuple):
    """Something wrong with a file of guidance.

    Attributes:
        code: A lint code, such as ``front-matter-recovered``.
        level: An error makes `admit guide lint` fail.
        line: From 1; 0 is the whole file.
        fix: What to do about it, in words; may be empty.
    """

    code: str
    level: Literal["error", "warning", "note"]
    path: str
    line: int
    text: str
    fix: str = ""


class Root(NamedTuple):
    """One place that is searched for one kind of source.

    Attributes:
        folder: Absolute path of what is walked.
        real: Absolute folder that no symlink may lead out of.
        left_to: The host that loads this itself, so that it is not read; empty where it is read.
    """

    source: Source
    kind: RootKind
    folder: str
    real: str
    left_to: str = ""


class Searched(NamedTuple):
    """What a root held: files found, snippets loaded; `exists` is false where there is no such folder."""

    root: Root
    exists: bool
    files: int
    loaded: int


class Index(NamedTuple):
    """Every snippet of a project, in the order of roots and then of path segments.

    Attributes:
        shadowed: Ids that a later root holds too, with the paths that count for nothing.
        disabled: Ids that a toggle turned off; they are in `snippets` no more.
        digest: ``sha256:`` over ids and digests of the snippets.
    """

    snippets: tuple[Snippet, ...]
    searched: tuple[Searched, ...]
    shadowed: tuple[tuple[str, str], ...]
    disabled: tuple[Snippet, ...]
    digest: str


class Surface(NamedTuple):
    """What guidance is matched against: one prompt, command, file or state of one agent.

    Attributes:
        text: The message, the prompt of a subagent, or the command.
        description: Of a command, in the agent's words.
        paths: Files about to be written.
        agent: Id of a subagent; None is the main agent.
        agent_kind: Whose scope counts.
        tokens_used: Tokens in the context; None is unknown.
        window: Size of the context window in tokens; None is unknown.
        state: Of the state lane: ``startup``, ``resume``, ``clear``, ``compact``, ``fork`` or ``turn``.
        delivery_key: Names the host's event, so that a repeat gets the same answer.
        judge_task: What a judge reads as the task; None is `text`.
        reply: The assistant's last reply, for a judge that reads two turns.
        estimated: `tokens_used` was derived from the length of the transcript.
        delivers: Whether the host hands on what is shown at this event.
        project: Root of the project that `cwd` lies in, which globs are relative to; empty is `cwd` itself.
    """

    lane: Lane
    text: str = ""
    description: str = ""
    paths: tuple[str, ...] = ()
    session: str | None = None
    agent: str | None = None
    agent_kind: Scope = "agent"
    cwd: str = ""
    tokens_used: int | None = None
    window: int | None = None
    hook_event: str = ""
    state: str = ""
    delivery_key: str | None = None
    judge_task: str | None = None
    reply: str = ""
    estimated: bool = False
    delivers: bool = True
    project: str = ""


class Hit(NamedTuple):
    """A snippet that something set off.

    Attributes:
        explicit: Specificity of the trigger, in characters; None where it was set off by meaning alone.
        score: The matcher's probability, rounded to 6 decimals; None where it has none.
        span: What of the text set it off.
        trigger: Which trigger did.
    """

    snippet: Snippet
    explicit: int | None
    score: float | None
    span: str
    trigger: Trigger


class Outcome(NamedTuple):
    """What became of one snippet in one scan.

    Attributes:
        stage: One of `STAGES`.
        hit: Where something set it off.
        score: The matcher's probability, also below the bar; None where it was not scored.
        ruling: Of the judge, where it came so far.
        detail: For a person: what would have to change.
    """

    id: str
    stage: str
    rank: int | None = None
    hit: Hit | None = None
    score: float | None = None
    ruling: Ruling | None = None
    detail: str = ""

    @property
    def would_block(self) -> bool:
        """Whether a shadowed judge would have withheld it."""
        return self.ruling is not None and self.ruling.would == "blocked"


class GateReport(NamedTuple):
    """What the gate did, in numbers: candidates judged and past the cap, time in ms."""

    status: str
    mode: str
    judge: str
    threshold: float | None
    judged: int = 0
    unjudged: int = 0
    ms: float = 0.0
    reason: str | None = None


class GuidanceResult(NamedTuple):
    """What one scan shows, and why.

    Attributes:
        text: What goes into the agent's context; empty where nothing is shown.
        shown: Ids in the order shown.
        outcomes: One for every snippet of the index.
        matcher: ``fused``, ``lexical`` or ``explicit_only``.
        result_id: What `GuidanceGate.delivered` takes.
        budget: UTF-16 units used, and the most there were.
    """

    text: str
    shown: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    gate: GateReport
    matcher: str
    result_id: str
    decision: Decision | None = None
    decision_id: str = ""
    budget: tuple[int, int] = (0, 0)
