"""Words that say a line reports trouble, found in one linear pass over the whole text.

The built-in lists are matched anywhere in a lower-cased line. What only looks like trouble ("0 errors",
`-Werror`, `errors.py`) is blanked out first, so a line is strong only by what remains.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import re2

STRONG = 1.0
WEAK = 0.4

STRONG_WORDS = (
    "error", "exception", "fail", "fatal", "panic", "traceback", "assert", "abort", "undefined reference",
    "unresolved", "segmentation fault", "core dumped", "killed", "oom", "crashloopbackoff", "not ok",
    "npm err", "exit code", "exited with", "unable to", "could not", "cannot", "denied", "not found",
    "no such", "mismatch", "invalid", "unexpected", "expected", "conflict", "corrupt", "refused",
    "rejected", "✖", "✗", "✕", "×",
)  # fmt: skip
WEAK_WORDS = (
    "warn", "deprecat", "timed out", "timeout", "retry", "missing", "skipp", "unsupported", "slow", "leak",
)  # fmt: skip

# A zero that is not the start of a longer number, and the character after it.
_ZERO = r"0(?:[^\w.\n]|\.(?:[^\w\n]|$)|$)"
_NEGATED_PATTERNS = (
    r"(?:^|[^\w.\n])(?:0|no)[ \t]+(?:errors?|failures?|failed|failing|warnings?|problems?)(?:\(s\)|\b)",
    rf"\b(?:errors|failures|failed|fail|warnings|problems|skipped)[ \t]*[:= \t][ \t]*{_ZERO}",
    rf"\bexit(?:ed with)?(?:[ \t]+(?:exit[ \t]+)?(?:code|status))?[ \t]*[:=]?[ \t]*['\"]?{_ZERO}",
    r"-werror\b", r"\bfail[-_]?fast\b", r"\bcontinue-on-error\b", r"\bignore-errors?\b", r"\berror-?prone\b",
    r"\bon_error\b", r"\.error\(",
)  # fmt: skip
_SOURCE = r"[\w-]*\.(?:pyi?|[mc]?jsx?|tsx?|go|rs|java|kt|scala|cc?|cpp|h|cs|rb|php|swift|md|rst|txt|html)\b"

_FAILURE_STEMS = ("fail", "error", "broken", "crash", "traceback", "regress")

# Lines that only pass on that something before them went wrong.
_WRAPPER_STARTS = (
    "[error] -> [help", "[error] [help", "[error] to see the full stack trace", "[error] re-run maven",
    "[error] for more information about the errors", "[error] after correcting the problems",
    "[error]   mvn ", "npm error errno", "npm error code elifecycle", "npm error exit status",
    "npm error a complete log", "npm error command", "npm error path", "npm error workspace",
    "npm error location", "npm error lifecycle script", "npm error test failed.  see above",
    "npm error     ", "elifecycle", "build step '", "finished: failure", "ninja: build stopped",
    "error: test failed, to rerun pass", "error: recipe `", "exit status ", "make: target ",
)  # fmt: skip
_EXITS = ("exited with", "exit code", "exit status", "non-zero code")
_SUBJECTS = (
    "the command", "the process", "process", "command", "script", "job", "step", "task", "container",
    "child process", "done. your build",
)  # fmt: skip
_NUMBER = " 0123456789-.:='\"`()" + "codestatus"
_LABELS = ("##[error]", "subprocess.calledprocesserror: ", "error: ", "error ", "warning: ")


class Words(NamedTuple):
    """What is looked for in lower-cased lines; literal text, matched anywhere in a line.

    Attributes:
        strong: A line with one of these is worth 1.
        weak: A line with one of these and no strong word is worth 0.4.
        negated: Blanked out before the others are looked for, besides the built-in patterns.
    """

    strong: tuple[str, ...] = STRONG_WORDS
    weak: tuple[str, ...] = WEAK_WORDS
    negated: tuple[str, ...] = ()


BUILT_IN = Words()


def with_user_words(
    strong: Iterable[str] = (), weak: Iterable[str] = (), negated: Iterable[str] = ()
) -> Words:
    """Return the built-in words and a user's own, lower-cased; line ends in a word count as spaces."""
    return Words(STRONG_WORDS + _clean(strong), WEAK_WORDS + _clean(weak), _clean(negated))


def diagnose(lowered: str, words: Words = BUILT_IN) -> list[float]:
    """Return one value per line of a lower-cased text: 1 strong, 0.4 weak, 0 neither or negated.

    Args:
        lowered: The lower-cased lines, joined by ``\\n``.
        words: What to look for.

    Returns:
        As many values as `lowered` has line ends, and one more. Linear in the length of the text.
    """
    levels = [0.0] * (lowered.count("\n") + 1)
    strong, weak, negated = _patterns(words)
    data = _blank(negated, lowered.encode("utf-8", "surrogatepass"))
    for pattern, level in ((weak, WEAK), (strong, STRONG)):
        line = at = 0
        for hit in pattern.finditer(data):
            start = hit.start()
            line += data.count(b"\n", at, start)
            at = start
            levels[line] = level
    return levels


def failure_word_in(task: str) -> bool:
    """Whether a task speaks of a failure: fail-, error, broken, crash-, traceback, regress-.

    "Why" or "fix" alone do not count, nor do names such as `errors.py` and `fail-fast`.
    """
    if not task:
        return False
    _, _, negated = _patterns(BUILT_IN)
    rest = _blank(negated, task.lower().encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
    return any(stem in rest for stem in _FAILURE_STEMS)


def is_wrapper(line: str) -> bool:
    """Whether a line only passes on a failure, such as ``make: *** [all] Error 2``, and names no cause.

    Takes a view line as it is, with or without a leading timestamp. A line over 400 characters is none.
    """
    if len(line) > 400:
        return False
    bare = without_prefix(line).strip().lower().replace("npm err!", "npm error")
    if bare == "[error]" or bare.startswith(_WRAPPER_STARTS):
        return True
    if bare.startswith("npm error code "):
        return bare[15:].isdigit()
    if bare.startswith(("make", "gmake")):
        words = bare.removesuffix(" (ignored)").split()
        return "*** [" in bare and words[-2] == "error" and words[-1].isdigit()
    for label in _LABELS:
        bare = bare.removeprefix(label)
    for exit_phrase in _EXITS:
        subject, found, rest = bare.rpartition(exit_phrase)
        # Past the phrase only a number and its name may stand: more than that is a cause.
        if found and not rest.strip(_NUMBER):
            return ": " not in subject and (subject.startswith(_SUBJECTS) or len(subject.split()) <= 2)
    return False


def has_prefix(line: str) -> bool:
    """Whether a line starts with a timestamp; see `without_prefix`."""
    return _prefix().match(line) is not None


def without_prefix(line: str) -> str:
    """Return a line without the timestamp, and the job and step names before it, that a CI service adds."""
    found = _prefix().match(line)
    return line[found.end() :] if found else line


def _clean(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for word in (word.replace("\n", " ").lower().strip() for word in words) if word)


def _blank(negated: Any, data: bytes) -> bytes:
    pieces = []
    at = 0
    for hit in negated.finditer(data):
        pieces.append(data[at : hit.start()])
        at = hit.end()
    if not pieces:
        return data
    pieces.append(data[at:])
    return b" # ".join(pieces)


@functools.cache
def _prefix() -> re.Pattern[str]:
    return re.compile(
        r"(?:[^\t\n]{1,100}\t[^\t\n]{1,100}\t)?\ufeff?"
        r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]? ?"
    )


@functools.lru_cache(maxsize=8)
def _patterns(words: Words) -> tuple[Any, Any, Any]:
    """Compile strong, weak and negated patterns; the first two take the rest of the line: one hit a line."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # bytes are matched as they are
    options.log_errors = False

    def any_of(literals: Iterable[str]) -> bytes:
        return b"|".join(re2.escape(literal.encode("utf-8", "surrogatepass")) for literal in literals)

    names = "|".join(word for word in words.strong if word.isascii() and word.isalpha())
    negated = "|".join((*_NEGATED_PATTERNS, rf"(?:{names}){_SOURCE}")).encode()
    if words.negated:
        negated += b"|" + any_of(words.negated)
    # A run such as "failures: 0, errors: 0" is one hit.
    negated = rb"(?m)(?:[ \t,;]*(?:" + negated + b"))+"
    return (
        re2.compile(b"(?:" + any_of(words.strong) + rb")[^\n]*", options),
        re2.compile(b"(?:" + any_of(words.weak) + rb")[^\n]*", options),
        re2.compile(negated, options),
    )
