"""What the daemon knows of each session: requests, subagents, what was shown, what waits for proof.

In memory only, at most 64 sessions, the longest unused out first. A session stays under 1 MiB: every list in
it has a cap, and at the cap the oldest entry goes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Iterable
from hashlib import sha256
from typing import NamedTuple

from admit.text.cut import tail
from admit.transcripts.model import TaskText
from admit.transcripts.task import TaskTracker, agent_task

from .model import Scope, Sent, Start

MOST_SESSIONS = 64
MOST_PROMPTS = 8
MOST_PROMPT_CHARS = 4_000
MOST_EARLIER, MOST_EARLIER_CHARS = 4, 1_200
MOST_AGENTS = 44
MOST_STARTING = 16
MOST_START_CHARS = 3_000
STARTING_S = 300.0
MOST_QUEUED, MOST_HEARD = 3, 32
MOST_MARKS = 512
MOST_SENT = 256
MOST_FILES = 64


class Claim(NamedTuple):
    """A text taken for showing by one hook.

    Attributes:
        key: What it is, such as ``stored:o_3f9a1c2b7d10``.
        agent: In whose context; empty is the main agent.
        epoch: Compactions of that context before.
    """

    key: str
    agent: str
    epoch: int


class Starting(NamedTuple):
    """A call that is about to start a subagent; `at` is in monotonic seconds."""

    start: Start
    use_id: str
    at: float


class Working(NamedTuple):
    """A subagent: what it is doing, and whose guidance it gets."""

    task: TaskText = TaskText()
    scope: Scope = "subagent"


class SessionState:
    """One session. Every method may be called from several threads at once.

    Attributes:
        version: The host's; None is unknown.
        agent_words: The main agent's last text, or its end.
        tokens: In the main agent's context when it was last known; None is unknown.
        window: Size of its context window in tokens; None is unknown.
        context_start: Where its context begins in the transcript, in bytes.
        known_before: What was shown before this process began was looked up.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._prompts: deque[str] = deque(maxlen=MOST_PROMPTS)
        self._tracker = TaskTracker()
        self._starting: deque[Starting] = deque(maxlen=MOST_STARTING)
        self._agents: OrderedDict[str, Working] = OrderedDict()
        self._queued: deque[str] = deque(maxlen=MOST_QUEUED)
        self._heard: deque[bytes] = deque(maxlen=MOST_HEARD)
        self._epochs: OrderedDict[str, int] = OrderedDict()
        self._marks: OrderedDict[tuple[str, str], bool] = OrderedDict()  # (agent, key): whether it was shown
        self._sent: deque[Sent] = deque(maxlen=MOST_SENT)
        self._offsets: OrderedDict[str, int] = OrderedDict()
        self.version: str | None = None
        self.agent_words = ""
        self.tokens: int | None = None
        self.window: int | None = None
        self.context_start = 0
        self.known_before = False

    def prompt(self, text: str) -> None:
        """A person asked for something: a new turn."""
        with self._lock:
            self._take(text)
            self._starting.clear()  # a call of the turn before that has started no agent never will
            self._queued.clear()

    def catch_up(self, prompts: Iterable[str], path: str, offset: int, queued: Iterable[str] = ()) -> None:
        """Take in the requests of the transcript up to `offset` bytes; those known already are left out.

        The first time they came before everything known, for only then the hooks missed them. What of them
        was typed while the agent worked waits, each once, for `queued`.
        """
        with self._lock:
            first = path not in self._offsets
            put_newest(self._offsets, path, offset, MOST_FILES)
            found = [tail(text, MOST_PROMPT_CHARS) for text in prompts]
            if first:
                known = list(self._prompts)
                found += [text for text in known if text not in found]
                self._prompts.clear()
                self._tracker = TaskTracker()
            for text in found:
                if first or text not in self._prompts:
                    self._take(text)
            for text in queued:
                digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
                if digest not in self._heard:
                    self._heard.append(digest)
                    if not first:
                        self._queued.append(tail(text, MOST_PROMPT_CHARS))

    def queued(self) -> tuple[str, ...]:
        """What a person typed while the agent worked and nobody has looked at, oldest first; each once."""
        with self._lock:
            found = tuple(self._queued)
            self._queued.clear()
            return found

    def read_to(self, path: str) -> int | None:
        """How far a transcript has been read, in bytes; None is not yet."""
        with self._lock:
            return self._offsets.get(path)

    def task(self, agent: str = "") -> TaskText:
        """What an agent is doing; the main one where `agent` is empty."""
        with self._lock:
            return self._agents.get(agent, Working()).task if agent else self._tracker.current()

    def scope(self, agent: str) -> Scope:
        """Whose guidance a subagent gets."""
        with self._lock:
            return self._agents.get(agent, Working()).scope

    def earlier(self) -> tuple[str, ...]:
        """Requests before the newest: the newest 4 of them, oldest first, 1,200 characters together."""
        with self._lock:
            room, found = MOST_EARLIER_CHARS, []
            for text in list(self._prompts)[-2 : -2 - MOST_EARLIER : -1]:
                part = tail(text, room)
                room -= len(part)
                if part:
                    found.append(part)
            return tuple(reversed(found))

    def agent_called(self, start: Start, use_id: str, now: float = 0.0) -> None:
        """A call is about to start a subagent; of a long prompt the first and the last half are kept."""
        with self._lock:
            self._not_called(use_id)
            self._starting.append(Starting(start._replace(prompt=_ends(start.prompt)), use_id, now))

    def agent_started(self, agent: str, kind: str, now: float = 0.0) -> Start | None:
        """A subagent has started: the oldest call of its type that waits, at most 300 s; None where none."""
        with self._lock:
            for waiting in self._starting:
                if waiting.start.kind == kind and now - waiting.at <= STARTING_S:
                    self._starting.remove(waiting)
                    working = Working(agent_task(waiting.start.prompt), waiting.start.scope)
                    put_newest(self._agents, agent, working, MOST_AGENTS)
                    return waiting.start
            return None

    def agent_ended(self, use_id: str) -> None:
        """A call is over, or was denied; what it did not start it never will."""
        with self._lock:
            self._not_called(use_id)

    def agent_is_doing(self, agent: str, prompt: str) -> TaskText:
        """A subagent's task, found in its transcript; what is known already stays."""
        with self._lock:
            if agent not in self._agents:
                put_newest(self._agents, agent, Working(agent_task(prompt)), MOST_AGENTS)
            return self._agents[agent].task

    def claim(self, key: str, agent: str = "") -> Claim | None:
        """Take a text for showing; None where it was shown in this context, or another hook has it."""
        with self._lock:
            if (agent, key) in self._marks:
                return None
            put_newest(self._marks, (agent, key), False, MOST_MARKS)
            return Claim(key, agent, self._epochs.get(agent, 0))

    def settle(self, claim: Claim, written: bool) -> None:
        """Whether the host got the text: then it is shown, else free again. Too late after a compaction."""
        with self._lock:
            if claim.epoch != self._epochs.get(claim.agent, 0):
                return
            if written:
                put_newest(self._marks, (claim.agent, claim.key), True, MOST_MARKS)
            else:
                self._marks.pop((claim.agent, claim.key), None)

    def is_shown(self, key: str, agent: str = "") -> bool:
        """Whether the host got this text since the last compaction of this context."""
        with self._lock:
            return self._marks.get((agent, key), False)

    def forget(self, agent: str = "") -> None:
        """The context of an agent was replaced: nothing that was shown is in view any more."""
        with self._lock:
            put_newest(self._epochs, agent, self._epochs.get(agent, 0) + 1, MOST_AGENTS)
            for mark in [mark for mark in self._marks if mark[0] == agent]:
                del self._marks[mark]

    def sent(self, one: Sent) -> None:
        """The host took an answer; it waits for proof."""
        with self._lock:
            if one not in self._sent:
                self._sent.append(one)

    def unproven(self) -> tuple[Sent, ...]:
        """What waits for proof, oldest first."""
        with self._lock:
            return tuple(self._sent)

    def proven(self, found: Iterable[Sent]) -> None:
        """These were found in a transcript."""
        with self._lock:
            for one in found:
                if one in self._sent:
                    self._sent.remove(one)

    def _not_called(self, use_id: str) -> None:
        for waiting in [one for one in self._starting if use_id and one.use_id == use_id]:
            self._starting.remove(waiting)

    def _take(self, text: str) -> None:
        text = tail(text, MOST_PROMPT_CHARS)
        self._prompts.append(text)
        self._tracker.prompt(text)


class Sessions:
    """The sessions of all hosts, the newest used last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: OrderedDict[tuple[str, str], SessionState] = OrderedDict()

    def at(self, host: str, session: str) -> SessionState:
        """The state of a session, made where there is none; without an id one that nobody else gets."""
        if not session:
            return SessionState()
        with self._lock:
            state = self._sessions.pop((host, session), None) or SessionState()
            put_newest(self._sessions, (host, session), state, MOST_SESSIONS)
            return state

    def drop(self, host: str, session: str) -> None:
        """The session is over."""
        with self._lock:
            self._sessions.pop((host, session), None)

    def clear(self) -> None:
        """Let go of everything; what is needed again is read from the transcripts."""
        with self._lock:
            self._sessions.clear()

    def __len__(self) -> int:
        return len(self._sessions)


def _ends(text: str) -> str:
    half = MOST_START_CHARS // 2
    return text if len(text) <= MOST_START_CHARS else text[:half] + text[-half:]


def put_newest(entries: OrderedDict, key: object, value: object, most: int) -> None:
    """Set an entry as the newest; past the cap the oldest goes."""
    entries[key] = value
    entries.move_to_end(key)
    while len(entries) > most:
        entries.popitem(last=False)
