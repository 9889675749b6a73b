"""Files that a shell command is about to write, as far as its words say so."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, pairwise
from posixpath import join

MOST_CHARS = 16_384
"""Characters; a longer command derives nothing, for it carries data and not words."""

_SEPARATORS = frozenset((";", "&", "&&", "|", "||", "|&", "(", ")", "\n"))
_REDIRECTIONS = frozenset((">", ">>", ">|", "&>", "&>>"))
_READING = frozenset(("<", "<<", "<<<", "<&", "<<-"))
_SIGNS = _SEPARATORS | _REDIRECTIONS | _READING | {">&"}
_MARKS = "();<>|&"
_VALUED = frozenset(("-m", "-o", "-g", "-S", "--mode", "--owner", "--group", "--suffix"))
_QUOTED_SIGN = "\0"  # stands for a sign of redirection inside quotes, which redirects nothing
_PREFIXES = frozenset(("sudo", "env", "command", "time", "nohup", "exec"))


def write_targets(command: str) -> tuple[str, ...]:
    """The paths that redirections, ``tee``, ``sed -i``, ``cp``, ``mv``, ``install`` and ``dd of=`` write.

    In the order they stand, each once, below the folder that a ``cd`` before went to. What the shell's words
    cannot be read from derives nothing. Only words are read: a variable or a glob stands as it was written.
    """
    if len(command) > MOST_CHARS:
        return ()
    text = _quoted().sub(lambda found: found[0].replace(">", _QUOTED_SIGN), _without_documents(command))
    lexer = shlex.shlex(text.replace("\n", " ; "), posix=True, punctuation_chars=_MARKS)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        return ()
    found: list[str] = []
    for folder, call in _calls(words):
        arguments, redirected = _without_redirections(call)
        found += (join(folder, path) for path in (*redirected, *_written(arguments)) if path)
    paths = (path.replace(_QUOTED_SIGN, ">") for path in found)
    return tuple(dict.fromkeys(path for path in paths if path and path != "/dev/null"))


@lru_cache(maxsize=1)
def _sign() -> re.Pattern[str]:
    longest = sorted(_SIGNS - {"\n"}, key=lambda sign: (-len(sign), sign))
    return re.compile("|".join(map(re.escape, longest)))


def _without_documents(command: str) -> str:
    """The command without the bodies of its here-documents."""
    kept: list[str] = []
    ends: list[str] = []
    for line in command.split("\n"):
        if ends:
            if line.strip() == ends[0]:
                ends.pop(0)
            continue
        kept.append(line)
        ends = [found[1] for found in _document().finditer(line)]
    return "\n".join(kept)


@lru_cache(maxsize=1)
def _document() -> re.Pattern[str]:
    return re.compile(r"(?<!<)<<-?\s*['\"]?(\w+)")


@lru_cache(maxsize=1)
def _quoted() -> re.Pattern[str]:
    return re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)


def _calls(words: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Each call with the folder that `cd` went to before it; what a subshell does ends with it."""
    folder, outer = "", []
    call: list[str] = []
    for word in (*chain.from_iterable(map(_signs, words)), ";"):
        if word not in _SEPARATORS:
            call.append(word)
            continue
        if call:
            yield folder, call
            if call[0] == "cd":
                folder = _went(folder, call[1:])
            call = []
        if word == "(":
            outer.append(folder)
        elif word == ")" and outer:
            folder = outer.pop()


def _went(folder: str, arguments: list[str]) -> str:
    """Where `cd` goes; empty where its words do not say."""
    plain = [word for word in arguments if not word.startswith("-") or word == "-"]
    known = len(plain) == 1 and plain[0] != "-" and not plain[0].startswith(("~", "$", "`"))
    return join(folder, plain[0]) if known else ""


def _signs(word: str) -> Iterable[str]:
    """The signs of a word that is nothing else, such as ``);``."""
    return (word,) if word in _SIGNS or word.strip(_MARKS) else _sign().findall(word)


def _without_redirections(call: list[str]) -> tuple[list[str], list[str]]:
    kept: list[str] = []
    targets: list[str] = []
    words = iter(call)
    for word in words:
        if word in _REDIRECTIONS:
            if kept and kept[-1].isdigit():
                kept.pop()  # 2> file
            target = next(words, "")
            if target not in _SIGNS and not target.startswith("&"):
                targets.append(target)
        elif word == ">&":
            target = next(words, "")
            if not target.isdigit() and target != "-":
                targets.append(target)
        elif word in _READING:
            next(words, "")
        else:
            kept.append(word)
    return kept, targets


def _written(call: list[str]) -> list[str]:
    """What a command writes by its own arguments."""
    while call and (call[0] in _PREFIXES or ("=" in call[0] and call[0].split("=")[0].isidentifier())):
        call = call[1:]
    if not call:
        return []
    name, rest = call[0].rsplit("/", 1)[-1], call[1:]
    plain = [
        word
        for before, word in pairwise(("", *rest))
        if not word.startswith("-") and not (name == "install" and before in _VALUED)
    ]
    if name == "tee":
        return plain
    if name in ("cp", "mv", "install"):
        return _destinations(rest, plain)
    if name == "dd":
        return [word[3:] for word in rest if word.startswith("of=")]
    if name in ("sed", "gsed") and any(_in_place(word) for word in rest):
        scripted = any(word in ("-e", "-f", "--expression", "--file") for word in rest)
        return _after_options(rest) if scripted else plain[1:]
    return []


def _in_place(word: str) -> bool:
    short = word.startswith("-") and not word.startswith("--") and "i" in word[1:]
    return short or word.startswith("--in-place")


def _after_options(rest: list[str]) -> list[str]:
    """Arguments of a `sed` whose scripts are given by options."""
    kept: list[str] = []
    words = iter(rest)
    for word in words:
        if word in ("-e", "-f", "--expression", "--file"):
            next(words, "")
        elif not word.startswith("-"):
            kept.append(word)
    return kept


def _destinations(rest: list[str], plain: list[str]) -> list[str]:
    """The last argument, and what it holds afterwards where the sources are named."""
    for option, value in pairwise(rest):
        if option in ("-t", "--target-directory"):
            return [value, *(_inside(value, one) for one in plain if one != value)]
    if len(plain) < 2:
        return []
    target = plain[-1]
    into = target.endswith("/") or len(plain) > 2
    return [target, *(_inside(target, one) for one in plain[:-1])] if into else [target]


def _inside(folder: str, source: str) -> str:
    return folder.rstrip("/") + "/" + source.rstrip("/").rsplit("/", 1)[-1]
