"""JUnit XML, surefire, maven and gradle: failed tests and goals, stack frames with own ones first, totals."""

from __future__ import annotations

from collections.abc import Sequence

from admit.outputs.model import Parsed
from admit.outputs.parsers.sheet import Sheet
from admit.outputs.words import is_wrapper

NAME: str = "junit"
HINTS: tuple[str, ...] = (
    r"<testsuite", r"Tests run: \d", r"\n> Task ", r"BUILD (?:SUCCESS|FAIL)", r"What went wrong:",
    r"COMPILATION ERROR", r"Failed to execute goal",
)  # fmt: skip

MOST_DETAILS = 10
MOST_MESSAGES = 4
REACH = 60
_LIBRARIES = (
    "java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin.", "scala.", "groovy.", "org.junit.", "junit.",
    "org.testng.", "org.hamcrest.", "org.assertj.", "org.mockito.", "org.gradle.", "org.apache.maven.",
    "org.codehaus.", "worker.org.gradle.", "hudson.", "jenkins.", "java.base/", "app//org.junit.",
    "org.eclipse.jetty.", "org.springframework.",
)  # fmt: skip
_FAILURE_STARTS = ("<failure", "<error", "FAILURE:", "* What went wrong:", "Caused by:", "Caused: ", "e: ")
_NEXT = ("* Try:", "> Task ", "</")
_DOWNLOADS = ("Downloading from ", "Downloaded from ", "Downloading: ", "Downloaded: ", "Progress (")


def parse(lines: Sequence[str], text: str) -> Parsed | None:
    """Mark failures with their message and stack frames, and build results and test totals as summary."""
    sheet = Sheet(NAME)
    frames = -1  # the first line of the current group of stack frames
    for i, line in enumerate(lines):
        body, level = _split(line)
        if body.startswith("at ") and line[:1] in " \t":
            if frames < 0:
                frames = i
            continue
        if frames >= 0:
            sheet.block(frames, i - 1)
            frames = -1
        if not body:
            continue
        if _is_total(body):
            sheet.mark(i, "summary", "result")
        if _is_failure(body, level, line):
            sheet.mark(i, "failure", "failed")
            _details(sheet, lines, i + 1)
        elif body.startswith(_DOWNLOADS):
            sheet.mark(i, "noise", "download")
        elif body.startswith("> Task "):
            sheet.mark(i, "structure", "task")
    if frames >= 0:
        sheet.block(frames, len(lines) - 1)
    return sheet.parsed()


def _split(line: str) -> tuple[str, str]:
    """Split off maven's level: ``[ERROR] text`` is ``("text", "ERROR")``."""
    if line.startswith("["):
        level, found, body = line[1:].partition("] ")
        if found and level in ("INFO", "ERROR", "WARNING"):
            return body.strip(), level
    return line.strip(), ""


def _is_total(body: str) -> bool:
    if body.startswith(("BUILD SUCCESS", "BUILD FAIL", "<testsuite")):
        return True
    if body.startswith("Tests run:"):
        return "Time elapsed" not in body
    module = body.endswith("]") and (" SUCCESS [" in body or " FAILURE [" in body)
    return module or " tests completed" in body[:40]


def _is_failure(body: str, level: str, line: str) -> bool:
    if level == "ERROR":
        return not is_wrapper(line)
    if body.startswith(_FAILURE_STARTS) or body.endswith((" FAILED", "<<< FAILURE!", "<<< ERROR!")):
        return True
    return ".java:" in body and ": error: " in body


def _details(sheet: Sheet, lines: Sequence[str], first: int) -> None:
    messages: list[int] = []
    own: list[int] = []
    library: list[int] = []
    for i in range(first, min(first + REACH, len(lines))):
        body, level = _split(lines[i])
        if body.startswith("at "):
            (library if body[3:].startswith(_LIBRARIES) else own).append(i)
        elif _is_failure(body, level, lines[i]) or _is_total(body) or body.startswith(_NEXT):
            break
        elif body:
            if len(messages) < MOST_MESSAGES and not is_wrapper(lines[i]):
                messages.append(i)
        elif own or library:
            break
    for i in (messages + own + library)[:MOST_DETAILS]:
        sheet.mark(i, "detail", "trace")
