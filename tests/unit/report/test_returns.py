"""Going back for an output: by its name, or by asking again for a part before anything changed."""

from __future__ import annotations

import pytest

from admit.report.returns import changes_files, find_return, held_by, source_of
from admit.transcripts.model import ToolKind, ToolUse


def shell(command: str, order: int = 1, **fields) -> ToolUse:
    given = {"command": command}
    return ToolUse(order, f"t{order}", "Bash", "command", given, order + 1, f"m{order}", command, **fields)


def tool(kind: ToolKind, order: int = 1, name: str = "x", **given) -> ToolUse:
    return ToolUse(order, f"t{order}", name, kind, given, order + 1, f"m{order}")


def way(first: ToolUse, *later: ToolUse) -> str | None:
    moved = [
        use._replace(order=9 + 2 * n, result_order=10 + 2 * n, answer=f"l{n}") for n, use in enumerate(later)
    ]
    found = find_return([first, *moved], 0)
    return found.way if found is not None else None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("make test", "make test | tail -50"),
        ("make test 2>&1", "make test 2>&1 | grep -n error"),
        ("make test 2>&1 | head -200", "make test 2>/dev/null | sed -n '200,300p'"),
        ("cd /x && make test", "cd /x && make test | tail -n 40"),
        ("git log --stat -20", "git log --stat -n 100"),
        ("git log --stat", "git log --stat --max-count=5"),
        ("cat src/a.py", "sed -n '1,80p' src/a.py"),
        ("cat src/a.py", "grep -n retry src/a.py"),
        ("nl -ba src/a.py | head -100", "cat ./src/a.py | tail -20"),
        ("grep -rn retry .", "grep -rn retry src | head -5"),
        ("rg retry", "rg retry -g '*.py' src"),
    ],
)
def test_the_same_command_with_another_range_or_filter_is_a_return(first, second):
    assert way(shell(first), shell(second)) == "again"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("make test", "make test"),
        ("make test", "make lint | tail"),
        ("cat src/a.py", "cat src/b.py"),
        ("grep -rn retry .", "grep -rn limit ."),
        ("echo 'a | b'", "echo 'a | c'"),
        ("", "| head"),
        ("cat", "cat x"),
    ],
)
def test_a_repeat_and_another_command_are_none(first, second):
    assert way(shell(first), shell(second)) is None


@pytest.mark.parametrize(
    "change", ["sed -i s/a/b/ x.py", "cat > x.py <<EOF", "git checkout x", "mv a b", "npm install left-pad"]
)
def test_after_a_change_of_files_a_command_is_a_new_one(change):
    assert way(shell("make test"), shell(change), shell("make test | tail")) is None
    assert changes_files(shell(change))


@pytest.mark.parametrize(
    "harmless", ["ls 2>&1", "make 2>/dev/null", "ls >/dev/null 2>&1 || true", "cat a.py"]
)
def test_a_command_that_writes_nothing_changes_nothing(harmless):
    assert not changes_files(shell(harmless))


def test_an_edit_changes_files():
    assert changes_files(tool("edit", file_path="x"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            tool("file_read", file_path="/a/b.py"),
            tool("file_read", file_path="/a/b.py", offset=200, limit=50),
        ),
        (tool("file_read", file_path="/a/b.py"), shell("sed -n '1,9p' /a/b.py")),
        (
            tool("search", pattern="retry", path="."),
            tool("search", pattern="retry", path="src", head_limit=5),
        ),
        (tool("fetch", url="u", prompt="what"), tool("fetch", url="u", prompt="why")),
        (tool("mcp", repo="r", page=1), tool("mcp", repo="r", page=2)),
    ],
)
def test_other_tools_are_asked_again_for_a_part_too(first, second):
    assert way(first, second) == "again"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (tool("mcp", repo="r"), tool("mcp", repo="q", page=2)),
        (tool("mcp", name="x", repo="r"), tool("mcp", name="y", repo="r", page=1)),
        (tool("fetch", url="u"), tool("fetch", url="v", prompt="why")),
        (tool("other", q=1), tool("other", q=2)),
    ],
)
def test_another_question_to_a_tool_is_no_return(first, second):
    assert way(first, second) is None


def test_what_another_agent_or_the_same_answer_asks_is_no_return():
    first, again = shell("make"), shell("make | tail", 9)
    assert find_return([first, again._replace(agent="a1")], 0) is None
    assert find_return([first, again._replace(answer=first.answer)], 0) is None
    assert find_return([first._replace(result_order=None), again], 0) is None


def test_asking_again_counts_within_ten_calls():
    between = [shell(f"echo {n}") for n in range(10)]
    assert way(shell("make"), *between[:9], shell("make | tail")) == "again"
    assert way(shell("make"), *between, shell("make | tail")) is None


def test_reading_the_stored_file_counts_however_late():
    first = shell("make", stored_path="/p/s1/tool-results/b7xk2.txt", shown="<persisted-output>")
    between = [tool("edit", file_path="a"), *(shell(f"echo {n}") for n in range(30))]
    assert way(first, *between, tool("file_read", file_path="/p/s1/tool-results/b7xk2.txt")) == "stored"
    assert way(first, *between, shell("grep error /p/s1/tool-results/b7xk2.txt")) == "stored"


def test_a_recall_by_id_counts():
    header = "[admit 3f9a1c2b] 5 of 9 chars (1 of 2 lines) kept. Whole output: admit recall o_3f9a1c2b7d10"
    first = shell("make", shown=f"{header}\nx")
    assert way(first, shell("ls"), shell("admit recall o_3f9a1c2b7d10 --lines 1-9")) == "recall"
    assert way(first, shell("admit recall o_000000000000")) is None


def test_whether_the_kept_text_held_what_was_fetched():
    original = "\n".join(f"line number {n} of the log" for n in range(100))
    kept = "\n".join(original.split("\n")[40:50])
    assert held_by("line number 41 of the log\nline number 42 of the log", original, kept) == "saved"
    assert held_by("    41\tline number 41 of the log", original, kept) == "saved"
    assert held_by("line number 41 of the log\nline number 90 of the log", original, kept) == "still"
    assert held_by("nothing of it\n}\n", original, kept) == "unknown"


@pytest.mark.parametrize("command", ["", "|", "'", "a 'b", "\n", "cd x &&", "x | y | z", "cat 'a b' |", "\\"])
def test_any_command_has_a_source_or_none(command):
    source_of(shell(command))
