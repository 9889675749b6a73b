"""One event of a host with everything it needs, and what is known at it."""

from __future__ import annotations

import os
from typing import NamedTuple

from admit.text.cut import tail
from admit.transcripts.model import TaskText

from . import routes
from .deps import Deps
from .model import Capability, HostAdapter, HostEvent
from .projects import Settings
from .state import SessionState

MOST_WORDS = 2_000
BYTES_A_TOKEN = 4


class Hook(NamedTuple):
    """One event with everything it needs."""

    ev: HostEvent
    adapter: HostAdapter
    settings: Settings
    state: SessionState
    deps: Deps

    def capability(self) -> Capability:
        """What the host's version does, as far as it is known."""
        version = self.state.version
        return routes.proven(self.adapter.capabilities(version), self.ev.host, version)

    def task(self) -> TaskText:
        """What the agent is doing; the transcript says what the hooks have missed."""
        ev, state = self.ev, self.state
        if not ev.agent:
            self.catch_up()
            return state.task()
        task = state.task(ev.agent)
        prompt = self.adapter.agent_prompt(ev) if task.source == "none" else ""
        return state.agent_is_doing(ev.agent, prompt) if prompt else task

    def catch_up(self) -> None:
        """Read what the session's transcript has got since it was last read."""
        path, state = self.ev.transcript, self.state
        if not path:
            return
        lately = self.adapter.recent(path, state.read_to(path))
        state.catch_up(lately.prompts, path, lately.offset, lately.queued)
        state.version = lately.version or state.version
        state.agent_words = tail(lately.words, MOST_WORDS) or state.agent_words
        state.tokens = lately.tokens or state.tokens

    def position(self) -> tuple[int | None, bool]:
        """Tokens in the agent's context, and whether that is only estimated; None is unknown.

        Where nobody counted them they are the bytes of its transcript since its context began, divided by 4.
        """
        main = not self.ev.agent
        if main and self.state.tokens is not None:
            return self.state.tokens, False
        size = self.transcript_bytes() - (self.state.context_start if main else 0)
        return (size // BYTES_A_TOKEN, True) if size > 0 else (None, False)

    def transcript_bytes(self) -> int:
        """Length of the file that will hold what is shown at this event; 0 where there is none."""
        return size_of(self.adapter.transcript_of(self.ev))


def size_of(path: str) -> int:
    """Length of a file in bytes; 0 where there is none."""
    try:
        return os.stat(path).st_size if path else 0
    except OSError:
        return 0
