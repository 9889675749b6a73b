"""What each parser marks in real outputs of its tools."""

from pathlib import Path

import pytest

from admit.outputs.parsers import ParseReport, parse_all

INPUTS = Path(__file__).parent / "inputs"


def read(name: str) -> list[str]:
    return (INPUTS / f"{name}.txt").read_text().split("\n")


def report_of(lines: list[str]) -> ParseReport:
    report = parse_all(lines, "\n".join(lines))
    assert report.faults == ()
    return report


def marked(lines: list[str], *kinds: str, parser: str = "") -> list[str]:
    """The lines that carry a mark of one of these kinds, stripped, in order."""
    marks = report_of(lines).marks
    return [lines[mark.line].strip() for mark in marks if mark.kind in kinds and mark.rule.startswith(parser)]


def blocks_of(lines: list[str]) -> list[list[str]]:
    return [lines[block.first : block.last + 1] for block in report_of(lines).blocks]


def names(lines: list[str]) -> list[str]:
    return [region.name for region in report_of(lines).regions]


# pytest


def test_pytest_failures_are_outcomes_messages_and_setup_errors():
    assert marked(read("pytest_fail"), "failure") == [
        "___________________ ERROR at setup of test_needs_a_database ____________________",
        "E       RuntimeError: no database",
        "E       assert -3 == 3",
        "E        +  where -3 = total([1, 2])",
        "E       assert [0, 1, 2, 3, 4, 5, ...] == [0, 1, 2, 3, 4, 5, ...]",
        "E         At index 11 diff: 11 != 12",
        "E         Use -v to get more diff",
        "FAILED tests/test_cart.py::test_total[prices0-3] - assert -3 == 3",
        "FAILED tests/test_cart.py::test_list - assert [0, 1, 2, 3, 4, 5, ...] == [0, ...",
        "ERROR tests/test_cart.py::test_needs_a_database - RuntimeError: no database",
    ]


def test_pytest_details_are_the_failing_line_and_its_place():
    details = marked(read("pytest_fail"), "detail")
    assert ">       assert total(prices) == want" in details
    assert "tests/test_cart.py:13: AssertionError" in details


@pytest.mark.parametrize(
    "name, result",
    [
        ("pytest_fail", "===================== 2 failed, 1 passed, 1 error in 0.02s ====================="),
        ("pytest_v", "===================== 2 failed, 1 passed, 1 error in 0.02s ====================="),
        ("pytest_q", "2 failed, 1 passed, 1 error in 0.01s"),
        (
            "pytest_collect",
            "=============================== 1 error in 0.10s ===============================",
        ),
    ],
)
def test_a_pytest_run_ends_in_one_summary(name, result):
    assert marked(read(name), "summary") == [result]


def test_an_import_error_at_collection_is_a_failure():
    assert marked(read("pytest_collect"), "failure") == [
        "collected 4 items / 1 error",
        "_____________________ ERROR collecting tests/test_stock.py _____________________",
        "ImportError while importing test module '/home/dev/shop/tests/test_stock.py'.",
        "E   ModuleNotFoundError: No module named 'inventory_backend'",
        "ERROR tests/test_stock.py",
        "!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!",
    ]
    assert "import inventory_backend" in marked(read("pytest_collect"), "detail")


def test_verbose_pytest_marks_what_failed_and_not_what_passed():
    marks = marked(read("pytest_v"), "failure", "summary", "detail")
    assert any("test_list FAILED" in line for line in marks)
    assert not any("PASSED" in line for line in marks)


def test_a_failure_with_a_huge_difference_has_few_marks():
    lines = ["=== FAILURES ===", "___ test_x ___", *["E     - line"] * 300, "=== 1 failed in 0.10s ==="]
    assert len(marked(lines, "failure")) == 12


# jest, vitest, node --test, TAP


def test_jest_marks_files_and_tests_that_failed():
    assert marked(read("jest"), "failure") == [
        "FAIL jt/cart.test.js",
        "● cart › adds two",
        "● cart › keeps the order",
        "FAIL jt/broken.test.js",
        "● Test suite failed to run",
    ]
    assert marked(read("jest"), "summary") == [
        "Test Suites: 2 failed, 1 passed, 3 total",
        "Tests:       2 failed, 2 passed, 4 total",
        "Snapshots:   0 total",
    ]


def test_jest_details_are_values_and_own_places():
    details = marked(read("jest"), "detail")
    assert {"Expected: 3", "Received: -3", "-     3,", "+     2,"} <= set(details)
    assert "Cannot find module './nowhere' from 'jt/broken.test.js'" in details
    assert "at Object.toBe (jt/cart.test.js:3:50)" in details
    assert not any("node_modules" in line for line in details)


def test_vitest_marks_failed_tests_their_values_and_totals():
    lines = read("vitest")
    assert marked(lines, "failure") == [
        "❯ cart.test.ts (2 tests | 1 failed) 8ms",
        "× adds two 6ms",
        "FAIL  cart.test.ts > cart > adds two",
    ]
    assert marked(lines, "summary") == [
        "Test Files  1 failed | 1 passed (2)",
        "Tests  1 failed | 3 passed (4)",
    ]
    assert {"AssertionError: expected -3 to be 3 // Object.is equality", "- 3", "+ -3"} <= set(
        marked(lines, "detail")
    )


@pytest.mark.parametrize(
    "name, failures",
    [
        ("node_tap", ["not ok 1 - adds two"]),
        ("node_spec", ["✖ adds two (2.109143ms)", "✖ adds two (2.109143ms)"]),
    ],
)
def test_a_failed_node_test_is_a_failure_and_an_expected_one_is_not(name, failures):
    assert marked(read(name), "failure") == failures


def test_node_counts_are_summaries_and_values_are_details():
    lines = read("node_tap")
    assert marked(lines, "summary") == ["# tests 3", "# pass 1", "# fail 1"]
    assert {"-3 !== 3", "expected: 3", "actual: -3"} <= set(marked(lines, "detail"))


# go


def test_a_go_failure_stands_beside_what_passed():
    lines = read("go_test")
    assert marked(lines, "failure") == [
        "stock/stock.go:5:48: undefined: undefined",
        "--- FAIL: TestTotal (0.00s)",
        "--- FAIL: TestTotal/two (0.00s)",
        "--- FAIL: TestFirst (0.00s)",
        "panic: runtime error: index out of range [0] with length 0 [recovered]",
        "FAIL\texample.com/shop/cart\t0.004s",
    ]
    assert marked(lines, "summary") == ["ok  \texample.com/shop/price\t0.002s"]


def test_go_details_are_messages_and_own_frames():
    details = marked(read("go_test"), "detail")
    assert "cart_test.go:8: Total = -3, want 3" in details
    assert "/home/dev/shop/cart/cart.go:12" in details
    assert not any("/usr/local/go" in line for line in details)


@pytest.mark.parametrize(
    "name, diagnostic",
    [
        ("go_vet", "vet: stock/stock.go:5:48: undeclared name: undefined"),
        ("go_build_nomain", "runtime.main_main·f: function main is undeclared in the main package"),
        (
            "go_vet_mod",
            "stock/stock.go:4:8: no required module provides package example.com/none/such; to add it:",
        ),
    ],
)
def test_a_go_diagnostic_is_a_failure_with_or_without_a_place(name, diagnostic):
    assert marked([*read(name), *["fine"] * 5], "failure") == [diagnostic]


def test_the_last_go_result_of_each_run_is_a_summary():
    lines = ["ok  \ta\t1s", "ok  \tb\t1s", "lint", "ok  \tc\t1s", "?   \td\t[no test files]"]
    assert marked(lines, "summary") == ["ok  \tb\t1s", "?   \td\t[no test files]"]


# cargo


def test_a_rustc_error_is_one_block_up_to_the_blank_line():
    lines = read("cargo_build")
    assert marked(lines, "failure") == ["error[E0308]: mismatched types"] * 2
    assert marked(lines, "summary") == [
        "error: could not compile `shop` (lib) due to 2 previous errors; 1 warning emitted"
    ]
    first, second = blocks_of(lines)
    assert first[0] == "error[E0308]: mismatched types" and first[1] == " --> src/lib.rs:4:20"
    assert first[-1].endswith("++++++++++++++++++++") and second[-1].endswith("+++++++")


def test_cargo_test_names_panics_failed_tests_and_the_result():
    lines = read("cargo_test")
    failures = marked(lines, "failure")
    assert "test tests::adds_two ... FAILED" in failures
    assert failures[-2:] == ["tests::adds_two", "tests::first_is_there"]
    assert sum("panicked at" in line for line in failures) == 2
    assert {"left: -3", "right: 3", "at ./src/lib.rs:12:9"} <= set(marked(lines, "detail"))
    assert marked(lines, "summary")[0].startswith("test result: FAILED. 1 passed; 2 failed;")


def test_a_broken_manifest_is_a_failure():
    lines = [*read("cargo_manifest"), *["fine"] * 9]
    assert marked(lines, "failure") == ["error: unexpected end of input while parsing minor version number"]


def test_a_source_block_has_at_most_fourteen_lines_under_its_error():
    lines = ["error[E0001]: long", " --> a.rs:1:1", *["  | x"] * 40, "", "done"]
    assert [len(block) for block in blocks_of(lines)] == [15]


# surefire, gradle, JUnit XML, maven


def test_surefire_names_failures_totals_and_the_build_result():
    lines = read("surefire")
    failures = marked(lines, "failure")
    assert "[ERROR] shop.CartTest.addsTwo -- Time elapsed: 0.008 s <<< FAILURE!" in failures
    assert "[ERROR]   CartTest.addsTwo:5 expected: <3> but was: <-3>" in failures
    assert not any("Help 1" in line or "re-run Maven" in line for line in failures)
    assert "[INFO] BUILD FAILURE" in marked(lines, "summary")
    assert not any("PriceTest" in line for line in marked(lines, "failure", "summary", "detail"))


def test_own_stack_frames_come_before_library_frames():
    details = marked(read("surefire"), "detail")
    assert "at shop.CartTest.addsTwo(CartTest.java:5)" in details
    assert "org.opentest4j.AssertionFailedError: expected: <3> but was: <-3>" in details
    assert "at java.base/java.util.ArrayList.forEach(ArrayList.java:1597)" not in details


def test_a_group_of_stack_frames_is_a_block():
    assert [len(block) for block in blocks_of(read("surefire"))] == [10, 3]


def test_maven_downloads_are_noise_and_a_goal_that_failed_is_not():
    lines = read("mvn_resolve")
    assert len(marked(lines, "noise")) == 7
    assert [line[:29] for line in marked(lines, "failure")] == ["[ERROR] Failed to execute goa"]
    assert marked(lines, "summary") == ["[INFO] BUILD FAILURE"]


def test_gradle_names_the_failed_test_the_cause_and_the_result():
    lines = read("gradle")
    assert marked(lines, "failure") == [
        "> Task :test FAILED",
        "CartTest > addsTwo() FAILED",
        "FAILURE: Build failed with an exception.",
        "* What went wrong:",
    ]
    assert marked(lines, "summary") == ["2 tests completed, 1 failed", "BUILD FAILED in 4s"]
    assert "Execution failed for task ':test'." in marked(lines, "detail")


def test_junit_xml_marks_the_suite_and_its_failures():
    lines = read("junit_xml")
    assert [line[:10] for line in marked(lines, "summary")] == ["<testsuite"]
    assert [line[:9] for line in marked(lines, "failure")] == ["<failure "]
    assert "at shop.CartTest.addsTwo(CartTest.java:5)" in marked(lines, "detail")


# tsc, eslint, ruff, mypy, gcc


@pytest.mark.parametrize(
    "name, failures, summary",
    [
        ("tsc_pretty", 3, ["Found 3 errors in the same file, starting at: src/cart.ts:4"]),
        ("eslint", 5, ["✖ 7 problems (5 errors, 2 warnings)"]),
        ("ruff", 3, ["Found 3 errors."]),
        ("ruff_full", 3, ["Found 3 errors."]),
        ("mypy", 3, ["Found 3 errors in 1 file (checked 1 source file)"]),
        ("tsc", 3, []),
        ("javac", 1, []),
    ],
)
def test_each_diagnostic_is_a_failure_and_the_count_a_summary(name, failures, summary):
    lines = [*read(name), *["fine"] * 9]
    assert len(marked(lines, "failure")) == failures
    assert marked(lines, "summary") == summary


def test_eslint_diagnostics_keep_their_file_line():
    details = marked(read("eslint"), "detail")
    assert "/home/dev/shop/src/one.js" in details and "/home/dev/shop/src/two.js" in details


def test_a_diagnostic_has_at_most_three_lines_of_source():
    lines = ["a.c:1:2: error: x", *["    1 | source"] * 9, *["fine"] * 9]
    assert len(marked(lines, "detail")) == 3


# git


def test_a_git_log_is_commits_as_blocks_and_stays_unparsed():
    lines = read("git_log_stat")
    assert marked(lines, "structure")[1:3] == [
        "Rename the second file",
        "2 files changed, 2 insertions(+), 2 deletions(-)",
    ]
    assert [block[0][:7] for block in blocks_of(lines)] == ["commit "] * 2
    assert not report_of(lines).parsed


def test_the_next_commands_output_is_no_part_of_the_last_commit():
    lines = [*read("git_log_stat"), "next command", "its output"]
    assert "next command" not in blocks_of(lines)[-1]


def test_short_hash_lines_are_a_log():
    assert marked(read("git_oneline"), "structure") == [line for line in read("git_oneline") if line]
    assert names(["deadbeef is a number", "x", "y", "z"]) == []


def test_a_diff_hunk_is_whole_and_ends_where_its_head_says():
    lines = [*read("git_diff")[:21], " text after the hunk", "+ more", "- more"]
    first, second = report_of(lines).blocks
    assert first.whole and second.whole
    assert lines[first.first : first.last + 1] == read("git_diff")[4:12]
    assert lines[second.first : second.last + 1] == read("git_diff")[12:21]


def test_a_diff_says_that_it_is_no_patch_and_stays_unparsed():
    report = report_of(read("git_diff"))
    assert report.notes == ("Hunks are left out: the text shown is not an applicable patch.",)
    assert not report.parsed
    assert all(mark.kind == "structure" for mark in report.marks)


def test_a_long_line_that_was_cut_up_stays_in_its_hunk():
    hunk = ["@@ -1,2 +1,2 @@", "-" + "a" * 599, "b" * 600, "+" + "c" * 599, "d" * 100, " same"]
    assert blocks_of([*hunk, "after"]) == [hunk]


@pytest.mark.parametrize("name", ["git_status", "git_status_short"])
def test_a_conflict_is_a_failure_and_the_branch_a_summary(name):
    assert any("f1.txt" in line for line in marked(read(name), "failure"))
    assert "other" in marked(read(name), "summary")[0]


def test_a_merge_conflict_is_a_failure():
    lines = read("git_merge")
    assert marked(lines, "failure", "detail") == [line for line in lines[1:] if line]


# npm, pip, uv


def test_npm_reports_the_conflict_and_not_the_log_file():
    lines = [*["fine"] * 20, *read("npm_eresolve")]
    failures = marked(lines, "failure")
    assert "npm error ERESOLVE unable to resolve dependency tree" in failures
    assert not any("complete log" in line for line in failures)


def test_npm_totals_are_summaries():
    lines = ["npm warn deprecated glob@7: old", *read("npm_install"), "3 vulnerabilities (1 low, 2 high)"]
    assert len(marked(lines, "summary")) == 3


def test_pip_names_the_conflict_and_downloads_are_noise():
    lines = read("pip_conflict")
    assert [line[:21] for line in marked(lines, "failure")] == [
        "ERROR: Cannot install",
        "The conflict is cause",
        "ERROR: ResolutionImpo",
    ]
    assert "The user requested urllib3==1.20" in marked(lines, "detail")
    assert all(
        line.startswith(("Collecting", "Downloading", "Requirement already", "━"))
        for line in marked(lines, "noise")
    )


def test_uv_names_the_conflict_with_its_reason():
    lines = [*read("uv_conflict"), *["fine"] * 5]
    assert marked(lines, "failure") == ["error: No solution found when resolving dependencies"]
    assert marked(lines, "detail")[0].startswith("cause: Because requests==2.31.0")
    assert marked(read("uv_ok"), "summary") == ["Resolved 4 packages in 194ms", "Installed 4 packages in 3ms"]


def test_a_wheel_that_does_not_build_is_no_noise():
    lines = ["Collecting a", "Building wheel for a: finished with status 'error'", "Successfully installed b"]
    assert marked(lines, "failure") == ["Building wheel for a: finished with status 'error'"]


# make, CI


def test_make_reports_its_errors_beside_the_compilers():
    lines = read("make_broken")
    assert marked(lines, "failure") == [
        "broken.c:1:27: error: ‘missing_name’ undeclared (first use in this function)",
        "make[1]: *** [Makefile:2: broken.o] Error 1",
        "make: *** [Makefile:5: broken] Error 2",
    ]
    assert marked(read("make_norule"), "failure", "detail") == [
        "make: *** No rule to make target 'nothing'.  Stop."
    ]


def test_the_last_line_of_each_section_is_a_summary():
    lines = ["$ lint", "checking", "all clean", "", "==> build", "built 3", "+ test", "ran 4"]
    assert marked(lines, "structure") == ["$ lint", "==> build", "+ test"]
    assert marked(lines, "summary") == ["all clean", "built 3", "ran 4"]


def test_of_very_many_sections_the_last_ones_have_a_summary():
    lines = [line for i in range(200) for line in (f"$ step {i}", f"done {i}")]
    assert marked(lines, "summary") == [f"done {i}" for i in range(140, 200)]


def test_two_sides_of_a_difference_are_no_commands():
    assert "make" not in names(["- old", "+ new", "- old", "+ new"])


def test_a_ci_log_is_read_behind_its_timestamps():
    lines = read("github_actions")
    failures = [line.partition(" ")[2] for line in marked(lines, "failure")]
    assert failures == [
        "--- FAIL: TestTotal (0.00s)",
        "FAIL",
        "FAIL\texample.com/shop/cart\t0.004s",
        "FAIL",
        "##[error]Process completed with exit code 1.",
    ]


# Several at once


def test_every_stage_of_a_composite_output_keeps_its_summary():
    lines = read("composite_check")
    assert marked(lines, "summary") == [
        "Found 3 errors.",
        "Found 3 errors in 1 file (checked 1 source file)",
        "2 failed, 1 passed, 1 error in 0.01s",
        "Test Suites: 2 failed, 1 passed, 3 total",
        "Tests:       2 failed, 2 passed, 4 total",
        "Snapshots:   0 total",
    ]
    report = report_of(lines)
    assert report.composite
    assert {"lint", "pytest", "jest"} <= {region.name for region in report.regions}


def test_one_tools_output_is_not_composite():
    assert not report_of(read("pytest_fail")).composite


def test_a_late_error_is_marked_behind_many_warnings():
    warnings = [f"a.c:{i}:1: warning: unused variable 'x{i}'" for i in range(400)]
    lines = [*warnings, "b.c:9:1: error: expected ';'", *["fine"] * 9]
    assert marked(lines, "failure") == ["b.c:9:1: error: expected ';'"]


@pytest.mark.parametrize("name", sorted(path.stem for path in INPUTS.glob("*.txt")))
def test_real_outputs_are_recognised_whatever_the_line_ends(name):
    lines = read(name)
    report = report_of(lines)
    assert report.marks
    assert report_of([line + "\r" for line in lines]) == report


@pytest.mark.parametrize("name", sorted(path.stem for path in INPUTS.glob("*.txt")))
def test_timestamps_in_front_change_no_mark(name):
    lines = read(name)
    stamped = [f"2024-03-05T10:11:09.{i:07}Z {line}" for i, line in enumerate(lines)]
    if name != "github_actions":
        assert report_of(stamped) == report_of(lines)
