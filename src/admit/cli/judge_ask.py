"""`admit judge ask`: one question about one text, and what it took."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from admit.cli.frame import DONE, FINDING, counted, json_option, print_json
from admit.config.keys import DOORS
from admit.config.layers import load
from admit.errors import UsageError
from admit.text.table import table

if TYPE_CHECKING:
    from admit.core.question import Question, Reply

EXAMPLES = """\b
Examples:
  admit judge ask --task "why does the build fail" < build.log
  admit judge ask --task "free space" --noul "Does it delete files?" < plan.txt
  admit judge ask --task "sort mail" --choice bill="asks for money" \\
      --choice other="all the rest" < mail.txt"""

WHICH = "Which of these holds for this text, with the task in mind?"
LEVELS, LABELS, LABEL_CHARS = range(2, 11), range(2, 256), range(1, 65)


@click.command("ask", short_help="One question about one text.", epilog=EXAMPLES)
@click.option("--task", required=True, metavar="TEXT", help="What the text is judged for.")
@click.option("--noul", metavar="QUESTION", help="Ask yes or no: the answer is P(yes).")
@click.option("--score", metavar="LEVEL,LEVEL", help="Ask for one of 2 to 10 levels, the lowest first.")
@click.option("--choice", multiple=True, metavar="LABEL=WORDS", help="One of 2 to 255 labels; give each.")
@click.option("--door", type=click.Choice(DOORS), default="outputs", help="Ask as this door (outputs).")
@click.option("--profile", "name", metavar="NAME", help="Another judge than judge.profile.")
@json_option
def command(
    task: str,
    noul: str | None,
    score: str | None,
    choice: Sequence[str],
    door: str,
    name: str | None,
    as_json: bool,
) -> int:
    """Ask a judge one question about the text on standard input.

    Without --noul, --score and --choice it is the question of the door itself (outputs or guidance): the
    local judge is calibrated for these two alone. Consent, caps and the deadline are the door's.

    Exit code 1: there is no answer, and the reason is said.
    """
    from admit.cli import judge_words
    from admit.core.question import Ask
    from admit.judges.check import close
    from admit.judges.load import load_judge

    config = load()
    profile = judge_words.chosen(config, name)
    cell = profile.doors.get(door)
    if cell is None:
        raise UsageError(f"the profile {profile.name} has no {door} door; it has: {', '.join(profile.doors)}")
    if not task.strip():
        raise UsageError("--task is empty: there is nothing to judge by")
    make = _question(noul, score, choice, door)
    subject = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not subject.strip():
        raise UsageError("there is no text on standard input; give it with < FILE")
    question = make._replace(subject=subject)
    judge = load_judge(profile, config=config.values, variables=True)
    try:
        judge.warm(door)
        reply = judge.ask(Ask(door, task, (), (question,), None, cell.timeout_ms, "ask"))
    finally:
        close(judge)
    answered = reply.status != "fallback" and reply.answers[0].defect is None
    if as_json:
        print_json(judge_words.as_json(reply, profile))
    elif answered:
        click.echo(_answer(question, reply))
        click.echo(_took(reply, profile.name))
    else:
        _say_why_not(reply, judge_words.refusal(reply, profile, door))
    return DONE if answered else FINDING


def _question(noul: str | None, score: str | None, choice: Sequence[str], door: str) -> Question:
    """The question without its text.

    Raises:
        UsageError: More than one is asked, or one that cannot be.
    """
    from admit.core.question import Choice, Noul, Score
    from admit.judges.rubric import guidance_question, outputs_question

    if sum((noul is not None, score is not None, bool(choice))) > 1:
        raise UsageError("give one of --noul, --score and --choice")
    if noul is not None:
        if not noul.strip():
            raise UsageError("--noul is empty: write the question")
        return Noul("q1", "", noul, "Yes.", "No.")
    if score is not None:
        levels = tuple(level.strip() for level in score.split(","))
        if len(levels) not in LEVELS or not all(levels):
            raise UsageError('--score takes 2 to 10 levels, such as --score "unrelated,related,answers it"')
        return Score("q1", "", WHICH, levels)
    if choice:
        return Choice("q1", "", WHICH, _labels(choice))
    if door == "outputs":
        return outputs_question("q1", "")
    if door == "guidance":
        return guidance_question("q1", "")
    raise UsageError(f"give --noul, --score or --choice: the {door} door has no question of one text")


def _labels(given: Sequence[str]) -> tuple[tuple[str, str], ...]:
    labels: dict[str, str] = {}
    for one in given:
        label, equals, words = one.partition("=")
        label, words = unicodedata.normalize("NFC", label.strip()), words.strip()
        if not equals or not words or len(label) not in LABEL_CHARS:
            raise UsageError(f'--choice takes LABEL=WORDS, a label of 1 to 64 characters, not "{one}"')
        if label in labels:
            raise UsageError(f'--choice names "{label}" twice')
        labels[label] = words
    if len(labels) not in LABELS:
        raise UsageError("--choice takes 2 to 255 labels: give it once for each")
    return tuple(labels.items())


def _answer(question: Question, reply: Reply) -> str:
    """The probabilities, one row each; of a score the expectation below them."""
    from admit.core.question import Choice, Noul

    answer = reply.answers[0]
    if isinstance(question, Noul):
        return f"P(yes) {answer.p[0]:.4f}"
    if isinstance(question, Choice):
        rows = [
            (label, f"{p:.4f}", words) for (label, words), p in zip(question.labels, answer.p, strict=True)
        ]
        return table(rows, ("label", "p", ""), right=(1,))
    levels = enumerate(zip(question.levels, answer.p, strict=True))
    rows = [(f"{k}", f"{p:.4f}", words) for k, (words, p) in levels]
    expectation = f"expectation {answer.expectation:.2f} of {len(rows) - 1}"
    return f"{table(rows, ('level', 'p', ''), right=(0, 1))}\n{expectation}"


def _took(reply: Reply, name: str) -> str:
    """Who answered, how long it took, what it cost, and why the answer would not act."""
    from admit.cli.judge_words import cost
    from admit.judges.advice import SHADOW, advice

    call = reply.calls[0] if reply.calls else None
    model = (call.model_answered or call.model_asked) if call is not None else ""
    who = f"{name}, {model}" if model else name
    tokens = "" if call is None or call.input_tokens is None else f", {call.input_tokens:,} tokens in"
    masked = sum(len(call.masked) for call in reply.calls)
    line = f"{who}: {reply.elapsed_ms:,.0f} ms{tokens}, {cost(reply.calls)}"
    line += f", {counted(masked, 'place')} masked" if masked else ""
    if reply.shadow is None:
        return line
    said = advice(SHADOW + reply.shadow, profile=name)
    return f"{line}\n{said.sentence}"


def _say_why_not(reply: Reply, lines: Sequence[str]) -> None:
    defect = reply.answers[0].defect if reply.answers else None
    spoiled = f" The answer is {defect}." if defect else ""
    click.echo(f"admit: no answer: {lines[0]}{spoiled}", err=True)
    for line in lines[1:]:
        click.echo(line, err=True)
