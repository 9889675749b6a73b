"""What the judge reads: the task, and of each hit its path and description. Never a body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from admit.core.question import Ask
from admit.judges.rubric import guidance_question
from admit.text.cut import tail
from admit.text.plain import one_line, plain

from .model import Hit, Snippet, Surface
from .settings import GateSettings

MOST_REPLY_BYTES = 2000


class Task(NamedTuple):
    """The judge's view of what is being done."""

    text: str
    context: tuple[tuple[str, str], ...] = ()


def subject(snippet: Snippet, most: int) -> str:
    """Path segments, a line end, and the description, of at most `most` code points."""
    path = " › ".join(one_line(part) for part in snippet.id.replace(":", "/", 1).split("/"))
    return f"{path}\n{one_line(snippet.description)[:most]}".rstrip()


def task(surface: Surface, settings: GateSettings) -> Task:
    """The message, white space collapsed, its end kept; with two turns the reply before it too."""
    given = surface.text if surface.judge_task is None else surface.judge_task
    text = one_line(given)
    if len(text) > settings.max_turn_chars:
        text = "…" + tail(text, settings.max_turn_chars - 1)
    if settings.turns < 2 or not surface.reply.strip():
        return Task(text)
    reply = plain(surface.reply).encode("utf-8")[-MOST_REPLY_BYTES:].decode("utf-8", "ignore")
    return Task(text, (("reply", reply),))


def ask(
    hits: Sequence[Hit], surface: Surface, settings: GateSettings, *, deadline_ms: int, request_id: str
) -> Ask:
    """One question a hit, in admission order."""
    read = task(surface, settings)
    questions = tuple(
        guidance_question(f"q{k}", subject(hit.snippet, settings.max_description_chars))
        for k, hit in enumerate(hits, 1)
    )
    return Ask("guidance", read.text, read.context, questions, None, deadline_ms, request_id, surface.session)
