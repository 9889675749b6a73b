import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.outputs.words import (
    STRONG_WORDS,
    WEAK_WORDS,
    diagnose,
    failure_word_in,
    is_wrapper,
    with_user_words,
    without_prefix,
)


def level(line: str) -> float:
    return diagnose(line.lower())[0]


@pytest.mark.parametrize("word", STRONG_WORDS)
def test_every_strong_word_makes_a_line_strong_wherever_it_stands(word):
    assert level(f"xx{word}yy") == 1


@pytest.mark.parametrize("word", WEAK_WORDS)
def test_every_weak_word_alone_is_worth_less(word):
    assert level(f"xx{word}yy") == 0.4


@pytest.mark.parametrize(
    "line",
    [
        "TypeError: x is not a function",
        "3 errors found",
        "thread 'main' panicked at src/lib.rs:12:9:",
        "not ok 3 - adds two",
        "✖ adds two (2.1ms)",
        "main.c:(.text+0x23): undefined reference to `total'",
        "Back-off restarting failed container, CrashLoopBackOff",
        "npm ERR! code ERESOLVE",
    ],
)
def test_what_was_once_overlooked_is_strong(line):
    assert level(line) == 1


@pytest.mark.parametrize(
    "line",
    [
        "0 errors",
        "Found 0 errors, 0 warnings",
        "no failures",
        "no problems, no warnings",
        "    0 Error(s)",
        "failures: 0",
        "errors: 0",
        "failed: 0",
        "failures=0, errors=0",
        "Tests run: 12, Failures: 0, Errors: 0, Skipped: 0",
        "12 passed, 0 failed",
        "# fail 0",
        "Process finished with exit code 0",
        "app exited with code 0",
        "gcc -Wall -Werror -c total.c",
        "  fail-fast: true",
        "  continue-on-error: true",
        "rsync --ignore-errors a b",
        "error-prone is enabled",
        "src/shop/errors.py",
        "modified:   lib/exception_handler.go",
        "call(on_error=None)",
        "logger.error(message)",
    ],
)
def test_what_only_looks_like_trouble_is_nothing(line):
    assert level(line) == 0


@pytest.mark.parametrize(
    "line",
    [
        "FAILED (errors=0, failures=2)",
        "10 errors",
        "1.0 errors per second",
        "failures: 01",
        "failures: 0.5 %",
        "error: 0 is not a valid count",
        "0 errors, 1 failure",
        "errors.py:3: TypeError",
        "broken.c:1:2: error: unused variable [-Werror=unused-variable]",
        "logger.error(x) raised an exception",
        "exit code 01",
        "exited with 137",
    ],
)
def test_a_negation_hides_nothing_but_itself(line):
    assert level(line) == 1


def test_a_strong_word_outweighs_a_weak_one():
    assert level("warning: retry failed") == 1


def test_each_line_has_its_own_value():
    assert diagnose("fine\nerror: x\n\nwarning\n0 errors\n") == [0, 1, 0, 0.4, 0, 0]


def test_a_users_words_are_added_and_blanked():
    words = with_user_words(strong=["FEHLER", " "], weak=["langsam"], negated=["Known Failure"])
    assert diagnose("fehler 7\nlangsam\nknown failure\nerror", words) == [1, 0.4, 0, 1]
    assert diagnose("fine", with_user_words(strong=["", "\n"])) == [0]
    assert diagnose("é 错误 7", with_user_words(strong=["错误"])) == [1]


_LINES = st.lists(
    st.sampled_from(
        ["error", "0 ", "no ", "failures", ": 0", "\r", "warn", "é", "😀", "errors.py", "x" * 500, "\ud800"]
    )
    | st.text(st.characters(exclude_characters="\n"), max_size=20),
    max_size=6,
).map("".join)


@given(st.lists(_LINES, min_size=1, max_size=12))
def test_a_lines_value_depends_on_that_line_alone(lines):
    lines = [line.lower() for line in lines]
    assert diagnose("\n".join(lines)) == [diagnose(line)[0] for line in lines]


@given(_LINES)
def test_any_text_is_taken_as_a_line_or_a_task(line):
    assert diagnose(line.lower())[0] in (0, 0.4, 1)
    assert is_wrapper(line) in (True, False)
    assert failure_word_in(line) in (True, False)


@pytest.mark.parametrize(
    "piece", ["error ", "0 ", "no ", "failures: 0 ", "errors.py ", "exit ", " ", "x", "fail-", "0."]
)
def test_a_very_long_line_is_one_line(piece):
    assert len(diagnose(piece * (400_000 // len(piece)))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "make: *** [Makefile:5: broken] Error 2",
        "make[1]: *** [Makefile:2: broken.o] Error 1",
        "make: *** [all] Error 1 (ignored)",
        "##[error]Process completed with exit code 1.",
        "2024-03-05T10:11:09.2230501Z ##[error]Process completed with exit code 1.",
        "test\tRun tests\t2024-03-05T10:11:09.2230501Z ##[error]Process completed with exit code 1.",
        "Error: Process completed with exit code 2.",
        "npm ERR! errno 1",
        "npm ERR! code ELIFECYCLE",
        "npm error code 1",
        "npm error A complete log of this run can be found in: /home/dev/.npm/_logs/x.log",
        "error Command failed with exit code 1.",
        'The command "npm test" exited with 1.',
        "web-1 exited with code 137",
        "exit status 1",
        "[ERROR] -> [Help 1]",
        "[ERROR] ",
        "[ERROR] Re-run Maven using the -X switch to enable full debug logging.",
        "Build step 'Execute shell' marked build as failure",
        "Finished: FAILURE",
        "ninja: build stopped: subcommand failed.",
        "error: test failed, to rerun pass `--lib`",
    ],
)
def test_a_line_that_only_passes_an_exit_on_is_a_wrapper(line):
    assert is_wrapper(line)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "make",
        "make: *** No rule to make target 'nothing'.  Stop.",
        "make: *** [all] Segmentation fault (core dumped)",
        "npm error code E404",
        "npm ERR! code ERESOLVE",
        "error: linking with `cc` failed: exit status: 1",
        "Command failed: no such file, exit code 2",
        "[ERROR] COMPILATION ERROR :",
        "TypeError: x",
        "FAIL\texample.com/shop/cart\t0.004s",
        "x" * 500 + " exited with 1",
    ],
)
def test_a_line_that_names_a_cause_is_no_wrapper(line):
    assert not is_wrapper(line)


@pytest.mark.parametrize(
    "task",
    [
        "why does the build fail",
        "the tests are failing",
        "find the error",
        "TypeError in the cart",
        "login is broken",
        "it crashes at start",
        "read this traceback",
        "is this a regression?",
        "fix the error in errors.py",
    ],
)
def test_a_task_about_a_failure_is_known_by_its_words(task):
    assert failure_word_in(task)


@pytest.mark.parametrize(
    "task", ["", "why is it slow", "fix the login", "rename errors.py", "set fail-fast to true", "add a cart"]
)
def test_why_fix_and_names_alone_are_no_failure(task):
    assert not failure_word_in(task)


def test_only_a_leading_timestamp_and_its_columns_are_taken_off():
    assert without_prefix("2024-03-05T10:11:09.2230501Z FAIL") == "FAIL"
    assert without_prefix("[2024-03-05 10:11:09,123] FAIL") == "FAIL"
    assert without_prefix("job\tstep\t2024-03-05T10:11:09Z   indented") == "  indented"
    assert without_prefix("FAIL at 2024-03-05T10:11:09Z") == "FAIL at 2024-03-05T10:11:09Z"
