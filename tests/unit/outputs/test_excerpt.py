import pytest

from admit.outputs.excerpt import budget_chars, saves_enough, show
from admit.outputs.model import Task
from admit.outputs.select import select

from .cases import CONFIG, looked_at

NONCE = "0123abcd"
STEPS = [f"step {k} of the build went well" for k in range(900)]


def shown(lines, *, exit_code=0, task="", config=CONFIG, budget=6_000, **how):
    looked = looked_at("\n".join(lines) + "\n", exit_code=exit_code, task=task, config=config)
    return show(
        looked, select(looked.view, looked.weighed, config, budget), NONCE, exit_code=exit_code, **how
    )


def header_of(found) -> str:
    return found.text.partition("\n")[0]


def test_a_render_is_the_header_and_then_the_kept_lines_with_their_gaps():
    lines = [*STEPS, "error: it broke", *STEPS]
    found = shown(lines, exit_code=1)
    header, _, rest = found.text.partition("\n")
    chars = sum(len(line) + 1 for line in lines)
    assert header.startswith(f"[admit {NONCE}] {found.kept_chars:,} of {chars:,} chars")
    assert f"({found.kept_lines} of 1,801 lines)" in header and "exit code 1" in header
    body = [line for line in rest.splitlines() if not line.startswith("[admit ")]
    assert len(body) == found.kept_lines
    assert sum(len(line) + 1 for line in body) == found.kept_chars
    assert len(found.gaps) == rest.count("[admit ")
    assert found.data.decode() == found.text


def test_the_kept_ranges_hold_the_lines_that_are_shown():
    found = shown([*STEPS, "error: it broke", *STEPS], exit_code=1)
    lines = [line for one in found.kept for line in range(one.first, one.last + 1)]
    assert len(lines) == found.kept_lines == len(set(lines))
    assert {"run", "end"} <= {one.rule for one in found.kept}


def test_pieces_of_one_long_line_count_as_one_line():
    found = shown(["word " * 4_000, "end"])
    assert found.kept_lines == 2 and len(found.kept) > 3


def test_the_best_lines_that_did_not_fit_are_named():
    long = [f"alpha {letter * 1_900}" for letter in "abcd"]
    found = shown([*STEPS[:400], *long, *STEPS[400:]], task="alpha")
    assert [one for one in found.passed_over if one.first <= 404 <= one.last]
    assert {one.rule for one in found.passed_over} == {"did not fit"}
    assert sum(one.last - one.first + 1 for one in found.passed_over) == 10


def test_notes_and_the_way_to_the_whole_stand_in_the_header():
    header = header_of(shown(STEPS, notes=["A note."], recall="admit recall o_3f9a1c2b7d10"))
    assert header.endswith("Gaps are marked. A note. Whole output: admit recall o_3f9a1c2b7d10")


def test_where_the_command_failed_and_no_line_says_so_the_header_does():
    assert "no failure line recognised" in header_of(shown(STEPS, exit_code=3))
    assert "exit code 3" in header_of(shown(STEPS, exit_code=3))
    assert "no failure line" not in header_of(shown([*STEPS, "error: it broke"], exit_code=3))
    assert "no failure line" not in header_of(shown(STEPS, exit_code=0))
    assert "no failure line" not in header_of(shown(STEPS, exit_code=None))


def test_where_no_failure_line_fits_the_header_says_so():
    config = CONFIG._replace(long_line=9_000)
    lines = [*STEPS, "error: " + "x" * 7_000, *STEPS[:50]]
    assert "no failure line fits" in header_of(shown(lines, exit_code=1, config=config))
    assert "no failure line fits" not in header_of(shown([*STEPS, "error: x"], exit_code=1))
    assert "no failure line fits" not in header_of(shown(STEPS, exit_code=1))


@pytest.mark.parametrize("exit_code", [0, 1, None])
def test_case_1_nothing_of_admits_own_says_that_something_passed_is_clean_or_is_empty(exit_code):
    """case 1"""
    for lines in (STEPS, [*STEPS, "error: it broke"], ["", *STEPS]):
        header = header_of(shown(lines, exit_code=exit_code)).lower()
        for word in ("pass", "clean", "empty", "success", "no issues", "no error", "fine", " ok"):
            assert word not in header


def test_where_the_exit_code_is_not_known_failure_lines_are_announced():
    assert "Failure lines stand in it." in header_of(shown([*STEPS, "error: x"], exit_code=None))
    assert "Failure lines stand" not in header_of(shown([*STEPS, "error: x"], exit_code=1))
    assert "Failure lines stand" not in header_of(shown(STEPS, exit_code=None))
    assert "Failure lines stand" not in header_of(
        shown([*STEPS, "error: x"], exit_code=None, task="which port")
    )


def test_credentials_are_masked_where_that_is_asked_for():
    token = "ghp_" + "a1B2c3D4e5" * 4
    lines = [*STEPS, f"error: é {token} refused"]
    assert token not in shown(lines, mask=True).text and "error: é [redacted:" in shown(lines, mask=True).text
    assert token in shown(lines).text


def test_a_note_of_a_parser_stands_in_the_header():
    hunks = []
    for k in range(1, 90):
        hunks += [
            f"@@ -{k * 9},3 +{k * 9},3 @@",
            " context of the line",
            f"-removed {k} words",
            f"+added {k} words",
        ]
    diff = ["diff --git a/x.py b/x.py", "index 1..2 100644", "--- a/x.py", "+++ b/x.py", *hunks]
    assert "patch" in header_of(shown([*diff, *diff], budget=3_000))


def test_an_output_that_was_read_in_part_says_how_much_was_only_searched():
    config = CONFIG._replace(scan_chars=10_000)
    found = shown(STEPS * 3, config=config)
    looked = looked_at("\n".join(STEPS * 3) + "\n", config=config)
    assert looked.unread > 60_000
    assert f"{looked.unread:,} bytes in the middle were only searched" in header_of(found)
    assert "searched" not in header_of(shown(STEPS * 3))


def test_words_of_the_task_and_of_the_user_point_into_the_part_that_is_only_searched():
    lines = STEPS * 6
    lines[1_600], lines[2_100], lines[2_600] = "max_conn is 5", "the frobnicator", "kaputt gegangen"
    config = CONFIG._replace(scan_chars=100_000, words_strong=("kaputt",))
    looked = looked_at("\n".join(lines), task=Task('the "max_conn" frobnicator'), config=config)
    assert {"max_conn is 5", "the frobnicator", "kaputt gegangen"} <= set(looked.view.texts)
    assert looked.chars == len("\n".join(lines)) and looked.lines == len(lines)


def test_replacing_must_save_both_so_many_characters_and_such_a_share():
    found = shown(STEPS)
    size = len(found.text)
    assert saves_enough(size + 2_000, found, CONFIG)
    assert not saves_enough(size + 999, found, CONFIG)
    assert not saves_enough(int(size * 1.24), found, CONFIG)
    assert saves_enough(int(size * 1.26), found, CONFIG)
    assert saves_enough(size + 999, found, CONFIG._replace(min_saving_chars=999, min_saving_share=0))
    assert not saves_enough(size + 2_000, found, CONFIG._replace(min_saving_share=0.5))


def test_a_budget_in_tokens_binds_where_it_is_smaller_by_the_outputs_own_density():
    plain, dense = looked_at("\n".join(STEPS)), looked_at("数据库错误\n" * 2_000)
    tokens = CONFIG._replace(max_kept_tokens=500)
    assert budget_chars(plain, CONFIG, 6_000) == budget_chars(dense, CONFIG, 6_000) == 6_000
    assert 1_900 < budget_chars(plain, tokens, 6_000) <= 2_000
    assert 500 < budget_chars(dense, tokens, 6_000) < 700
    assert budget_chars(plain, tokens, 1_000) == 1_000
    assert budget_chars(looked_at(""), tokens, 6_000) == 6_000
