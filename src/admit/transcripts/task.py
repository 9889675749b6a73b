"""What an agent is doing, from the requests before: the task text."""

from __future__ import annotations

import re
from functools import lru_cache

from admit.text.cut import tail
from admit.text.terms import words

from .model import TaskText

MOST_CHARS = 1_500
SENTENCE_WITHIN = 200
LEAST_TERMS = 3
LEAST_UNSPACED = 4

# Words that carry a conversation on without saying what to do; lower case, in the languages people type.
CONTINUATION = frozenset(
    """
    again ahead alright awesome carry continue cool correct done exactly fine go going good great keep k lgtm
    more next nice nope now ok okay perfect please proceed resume retry right same start sure thank thanks try
    ty well y yea yeah yep yes yup
    bitte danke genau gut ja mach nochmal weiter
    adelante claro continua continúa dale gracias listo siguiente sigue sí vale
    accord bien continuez encore merci oui suivant vas
    avanti bene grazie prossimo sì
    obrigada obrigado próximo sim
    da давай дальше да ок продолжай спасибо хорошо
    """.split()  # noqa: SIM905 - a list of words reads better as words
)
# The same in scripts without spaces, longest first where one begins with another.
UNSPACED_CONTINUATION = tuple(
    sorted(
        """
        继续 繼續 请继续 好的 好 是的 是 对 可以 下一步 谢谢 謝謝 行 嗯
        はい 続けて 続き 続行 お願いします ありがとうございます ありがとう 次へ 次 進めて 了解 ください
        계속해주세요 계속해줘 계속해 계속 네 예 응 다음 진행해줘 진행해 진행 감사합니다 고마워 좋아요 좋아
        """.split(),  # noqa: SIM905
        key=lambda word: (-len(word), word),
    )
)


class TaskTracker:
    """The task of one agent as requests come in."""

    def __init__(self) -> None:
        self._task = ""
        self._short = ""
        self._age = 0

    def prompt(self, text: str) -> None:
        """Take in one request of a person."""
        if is_substantive(text):
            self._task, self._short, self._age = text, "", 0
        elif _term_count(text):
            self._short = text
            self._age = self._age + 1 if self._task else 0
        else:
            self._age += 1

    def current(self) -> TaskText:
        """The last substantive request, and the newest short one after it on a line of its own.

        Where every request so far was short, the newest that says anything stands alone.
        """
        if self._task and self._short:
            return TaskText(cut_task(f"{self._task}\n{self._short}"), "prompt+previous", self._age)
        text = self._task or self._short
        return TaskText(cut_task(text), "prompt", self._age) if text else TaskText()


def agent_task(prompt: str) -> TaskText:
    """The task of a subagent: the prompt of the call that started it."""
    text = cut_task(prompt)
    return TaskText(text, "agent_task") if text else TaskText()


def is_substantive(text: str) -> bool:
    """Whether a request says what to do: 3 terms, or 4 characters of a script without spaces.

    Stop words and words that only carry on do not count.
    """
    return _term_count(text) >= LEAST_TERMS or _unspaced_count(text) >= LEAST_UNSPACED


def cut_task(text: str) -> str:
    """At most 1,500 characters: the end is kept, since the request usually stands last.

    The cut is marked with a leading ``…`` and moves to a sentence start where one lies within 200 characters.
    """
    text = text.strip()
    if len(text) <= MOST_CHARS:
        return text
    kept = tail(text, MOST_CHARS - 1)
    start = _sentence_end().search(kept, 0, SENTENCE_WITHIN)
    return "…" + (kept[start.end() :] if start else kept).lstrip()


def _term_count(text: str) -> int:
    """Words that say something; of an identifier its parts count, not the whole once more."""
    text = _unspaced_run().sub(lambda run: " x " if _left(run[0]) else " ", text)
    tokens = (token.strip("'’\"`.,;:!?()[]{}") for token in text.split())
    parts = (found[:-1] if len(found) > 1 else found for found in map(words, tokens))
    return sum(word not in CONTINUATION for part in parts for word in part)


def _unspaced_count(text: str) -> int:
    return sum(len(_left(run)) for run in _unspaced_run().findall(text))


def _left(run: str) -> str:
    """What is left of a run without spaces when the phrases that only carry on are taken out."""
    for phrase in UNSPACED_CONTINUATION:
        if len(phrase) > 1:  # one character alone may be part of any word
            run = run.replace(phrase, "")
    return "" if run in UNSPACED_CONTINUATION else run


@lru_cache(maxsize=1)
def _unspaced_run() -> re.Pattern[str]:
    scripts = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    return re.compile(f"[{scripts}]+")


@lru_cache(maxsize=1)
def _sentence_end() -> re.Pattern[str]:
    return re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？]\s*|\n\s*")
