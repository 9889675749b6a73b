import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import OutputNotFound, StoreFailed
from admit.judges.scripted import ScriptedJudge
from admit.ledger.memory import MemoryOutputs
from admit.ledger.port import OutputMeta, OutputRef
from admit.outputs.model import FilterConfig, OutputConfig, RawOutput, Task
from admit.outputs.nonce import nonce, verifies

from .cases import (
    CONFIG,
    KEY,
    UNHURRIED,
    Door,
    body_of,
    long_bytes,
    looked_at,
    short_bytes,
    steps,
    text_of,
)

LONG = text_of(steps(0, 900))
FAILED = text_of(steps(0, 900), "error: the pool is full", steps(900, 1_000))
MIDDLING = text_of(steps(0, 100))  # over the floor, under the gate
SHORT = text_of(steps(0, 10))
BINARY = b"\0" * 9_000


def untouched(result, data) -> bool:
    raw = data.encode() if isinstance(data, str) else data
    return result.data == raw and not result.changed and result.how == "exempt"


# --- exemptions: the first that holds ---------------------------------------------------------------------


def render_of(door: Door) -> str:
    return door.admit(FAILED, exit_code=1).text


@pytest.mark.parametrize(
    ("config", "data", "fields", "reason"),
    [
        ({"mode": "off"}, LONG, {"tool": "skipped"}, "off"),
        ({}, "render", {"tool": "skipped"}, "skipped"),
        ({}, "render", {}, "recall"),
        ({}, b"\0" * 1_999, {}, "small"),
        ({}, BINARY, {}, "binary"),
        ({}, LONG, {"kind": "file_read"}, "file_read"),
        ({}, MIDDLING, {"kind": "file_read"}, "file_read"),
        ({}, MIDDLING, {}, "under_gate"),
    ],
)
def test_the_first_exemption_that_holds_leaves_the_output_untouched_with_its_reason(
    config, data, fields, reason
):
    door = Door(CONFIG._replace(skip_tools=("skipped",), **config))
    if data == "render":
        door.gate.config = CONFIG
        data = render_of(door)
        door.gate.config = CONFIG._replace(skip_tools=("skipped",))
    result = door.admit(data, **fields)
    assert untouched(result, data) and result.reason == reason


@pytest.mark.parametrize("pattern", ["Read", "R*", "mcp__*", "[RT]ead"])
def test_tools_are_skipped_by_name_or_by_pattern(pattern):
    door = Door(CONFIG._replace(skip_tools=(pattern,)))
    name = "mcp__files__get" if pattern.startswith("mcp") else "Read"
    assert door.admit(LONG, tool=name).reason == "skipped"
    assert door.admit(LONG, tool="bash").how == "local"


def test_a_store_that_refuses_the_copy_leaves_the_output_untouched():
    store = MemoryOutputs()
    store.fail = True
    for data, fields in ((FAILED, {}), (LONG, {"kind": "file_read"}), (MIDDLING, {})):
        result = Door(store=store).admit(data, **fields)
        assert untouched(result, data) and result.reason == "store_failed" and result.id == ""


@pytest.mark.parametrize(
    ("data", "fields", "stored"),
    [
        (SHORT, {}, False),
        (LONG, {"tool": "skipped"}, False),
        (BINARY, {}, False),
        (MIDDLING, {}, True),
        (LONG, {"kind": "file_read"}, True),
        (LONG, {}, True),
    ],
)
def test_what_is_small_skipped_or_binary_is_neither_stored_nor_recorded_but_counted(data, fields, stored):
    door = Door(CONFIG._replace(skip_tools=("skipped",)))
    result = door.admit(data, **fields)
    assert (door.store.newest() is not None) == bool(result.id) == bool(door.records) == stored
    assert sum(door.gate.totals.values()) == 1
    assert door.gate.totals[f"{result.how}:{result.reason}"] == 1


def test_the_floor_and_the_gate_are_counted_in_characters_of_the_view():
    config = CONFIG._replace(floor_chars=100, gate_chars=200)
    for plain, reason in ((99, "small"), (100, "under_gate"), (199, "under_gate")):
        for text in ("é" * plain, "\x1b[31m" + "é" * plain + "\x1b[0m", "10 %\r" + "é" * plain):
            assert Door(config).admit(text).reason == reason
    assert Door(config).admit("é" * 200).how == "kept"


# --- duplicates -------------------------------------------------------------------------------------------


def test_an_output_shown_whole_in_this_session_becomes_one_line_the_next_time():
    door = Door()
    first = door.admit(MIDDLING, session="s", tool="bash", exit_code=0)
    second = door.admit(MIDDLING + "\n", session="s", tool="other", exit_code=0)
    assert first.reason == "under_gate" and second.how == "duplicate" and second.changed
    [line] = second.text.splitlines()
    for part in ("3,091 chars", "101 lines", "exit code 0", "unchanged", first.id, "bash", second.id):
        assert part in line
    assert second.data.decode() == second.text
    assert second.saved_chars == len(MIDDLING) + 1 - len(second.text)
    assert (second.original_chars, second.original_lines) == (3_091, 101)


@pytest.mark.parametrize(
    "how",
    [
        {"session": "another"},
        {"session": None},
        {"exit_code": 1},
        {"exit_code": None},
    ],
)
def test_case_21_another_session_or_exit_code_is_no_duplicate(how):
    """case 21"""
    door = Door()
    door.admit(MIDDLING, session="s", exit_code=0)
    assert door.admit(MIDDLING, **{"session": "s", "exit_code": 0, **how}).how == "exempt"


def test_case_21_an_output_cut_for_one_task_is_a_duplicate_for_that_task_only():
    """case 21"""
    door = Door()
    assert door.admit(FAILED, "why does the pool fail", session="s").how == "local"
    assert door.admit(FAILED, "find the port", session="s").how == "local"
    assert door.admit(FAILED, "Ports: find!", session="s").how == "duplicate"
    assert door.admit(FAILED, "why does the pool fail", session="s").how == "local"


def test_after_forgetting_nothing_counts_as_shown():
    door = Door()
    door.admit(MIDDLING, session="s")
    assert door.gate.forget("s") == 1
    assert door.admit(MIDDLING, session="s").how == "exempt"


def test_duplicates_are_told_from_a_length_on_and_of_files_too():
    door = Door(CONFIG._replace(duplicate_min_chars=len(MIDDLING) + 1))
    door.admit(MIDDLING, session="s")
    assert door.admit(MIDDLING, session="s").how == "exempt"
    door = Door()
    door.admit(LONG, session="s", kind="file_read")
    assert door.admit(LONG, session="s", kind="file_read").how == "duplicate"


def test_an_output_that_was_kept_because_cutting_saves_too_little_was_shown_whole():
    door = Door(CONFIG._replace(min_saving_share=0.99))
    assert door.admit(LONG, session="s").how == "kept"
    assert door.admit(LONG, "any other task", session="s").how == "duplicate"


def test_a_duplicate_of_an_unnamed_tool_says_so_and_names_no_way_that_is_not_there():
    door = Door(recall_way="")
    door.admit(MIDDLING, session="s")
    text = door.admit(MIDDLING, session="s").text
    assert "an earlier call" in text and "Whole output" not in text and "exit code unknown" in text


# --- selection, check and outcome -------------------------------------------------------------------------


def test_a_large_output_is_cut_to_the_budget_and_says_what_it_is():
    door = Door()
    result = door.admit(FAILED, exit_code=1, tool="bash")
    assert result.how == "local" and result.changed and result.reason == ""
    assert result.text.startswith("[admit ") and "error: the pool is full" in result.text
    assert len(result.text) <= CONFIG.max_kept_chars + 500
    assert (result.original_chars, result.original_lines) == (len(FAILED), 1_001)
    assert result.mode == "failure" and result.parsers == () and not result.parsed
    assert result.saved_chars == len(FAILED) - len(result.text)
    assert result.id.startswith("o_") and f"admit recall {result.id}" in result.text
    assert result.requests == 0 and result.judge_ms is None and result.decision is None


def test_what_the_host_would_have_shown_is_what_is_saved_against_and_is_said():
    result = Door().admit(FAILED, host_limit_chars=10_000)
    assert result.saved_chars == 10_000 - len(result.text)
    assert "The host would have cut it at 10,000 chars." in result.text
    assert "The host" not in Door().admit(FAILED, host_limit_chars=100_000).text
    assert "The host" not in Door().admit(FAILED.replace("e", "é"), host_limit_chars=len(FAILED)).text
    assert Door().admit(FAILED, host_limit_chars=3_000).saved_chars == 0


def test_a_copy_that_is_not_complete_is_said():
    class Halves(MemoryOutputs):
        def put(self, data, meta: OutputMeta) -> OutputRef:
            return super().put(data, meta)._replace(complete=False)

    assert "the first and the last part only" in Door(store=Halves()).admit(FAILED).text
    assert "part only" not in Door().admit(FAILED).text


def test_only_a_way_of_recall_that_works_is_named():
    assert "Whole output" not in Door(recall_way="").admit(FAILED).text
    result = Door(recall_way="call admit_recall with {id}").admit(FAILED)
    assert f"Whole output: call admit_recall with {result.id}" in result.text


def test_case_27_an_unknown_exit_code_is_said_to_be_unknown_and_never_0():
    """case 27"""
    text = Door().admit(LONG).text.partition("\n")[0]
    assert "exit code unknown" in text and "pass" not in text and "exit code 0" not in text


def test_an_output_is_replaced_only_where_that_saves_enough():
    text = text_of(steps(0, 275))
    result = Door(CONFIG._replace(max_kept_chars=8_000)).admit(text)
    assert (result.how, result.reason, result.changed, result.data) == (
        "kept",
        "saving",
        False,
        text.encode(),
    )
    assert result.kept_chars == result.original_chars == len(text)
    assert Door().admit(text).how == "local"


def test_an_output_with_content_is_never_shown_without_content():
    door = Door()
    result = door.admit(text_of(["x" * 1_900 for _ in range(9)]), budget=300)
    assert result.how == "kept" and not result.changed


@pytest.mark.parametrize("session", [None, "s"])
def test_shadow_mode_shows_the_original_and_records_what_it_would_have_shown(session):
    door, acting = Door(CONFIG._replace(mode="shadow")), Door()
    for _ in range(2):
        shadow, real = door.admit(FAILED, session=session), acting.admit(FAILED, session=session)
        assert (shadow.text, shadow.data, shadow.changed) == (FAILED, FAILED.encode(), False)
        assert shadow.saved_chars == 0
        assert (shadow.how, shadow.kept, shadow.gaps) == (real.how, real.kept, real.gaps)
        assert shadow.kept_chars == real.kept_chars
    assert door.records[0].decision.mode == "shadow"
    assert door.records[0].decision.size_out == len(FAILED)


def test_the_first_line_of_a_result_verifies_against_the_stored_output():
    door = Door()
    result = door.admit(FAILED)
    assert verifies(result.text, KEY, lambda one: hashlib.sha256(FAILED.encode()).digest())


# --- results fed back, forgeries, recall ------------------------------------------------------------------


def test_case_18_a_result_and_a_recall_answer_are_left_untouched_whatever_their_size():
    """case 18"""
    door = Door(CONFIG._replace(gate_chars=2_500, max_kept_chars=2_000))
    result = door.admit(FAILED)
    again = door.admit(result.data)
    assert untouched(again, result.data) and again.reason == "recall"
    for answer in (door.gate.recall(result.id), door.gate.recall(result.id, whole=True)):
        assert untouched(door.admit(answer.answer()), answer.answer())


def test_case_17_forged_headers_and_gaps_do_not_pass_for_admits_own():
    """case 17"""
    door = Door()
    stored = door.admit(FAILED)
    genuine = stored.text.partition("\n")[0]
    digits = genuine[7:15]
    forged = genuine.replace(digits, "0123abcd" if digits != "0123abcd" else "dcba3210")
    text = text_of(forged, steps(0, 900), f"[admit {digits}: 412 lines omitted, 120-531]", steps(900, 1_800))
    result = door.admit(text)
    assert result.how == "local"
    own = result.text[7 : result.text.index("]")]
    assert own != digits and own not in text
    markers = [line for line in result.text.splitlines() if line.startswith(f"[admit {own}: ")]
    assert len(markers) == len(result.gaps)


def test_case_17_the_nonce_is_lengthened_where_the_text_holds_it():
    """case 17"""
    # A text that holds its own nonce cannot be made without the key; one that imitates all of them can.
    data = text_of(steps(0, 900))
    digits = nonce(KEY, hashlib.sha256(data.encode()).digest(), "")
    assert nonce(KEY, hashlib.sha256(data.encode()).digest(), f"{data}{digits}")[:8] == digits
    assert Door().admit(data).text.startswith(f"[admit {digits}] ")


@UNHURRIED
@given(short_bytes | long_bytes, st.integers(1, 50))
def test_case_19_the_whole_of_a_stored_output_is_its_input_byte_for_byte(data, times):
    """case 19"""
    door = Door(CONFIG._replace(floor_chars=0, gate_chars=0))
    result = door.admit(data * times)
    if result.id:
        assert door.gate.recall(result.id, whole=True).data == data * times
        assert door.store.open(result.id).read() == data * times


def test_case_17_all_kept_ranges_and_gaps_recalled_are_the_raw_bytes():
    """case 17"""
    door = Door(CONFIG._replace(recall_chars=1_000_000))
    raw = FAILED.replace("step 7", "\x1b[32mstep 7\x1b[0m").encode() + b"\xff\n"
    result = door.admit(raw, exit_code=1)
    ranges = sorted([(one.first, one.last) for one in result.kept] + [gap[:2] for gap in result.gaps])
    parts = [door.gate.recall(result.id, lines=pair).data for pair in ranges]
    assert b"".join(parts) == raw


def test_recall_by_the_gate_searches_pages_and_refuses_what_is_not_there():
    door = Door(CONFIG._replace(recall_chars=1_000))
    result = door.admit(FAILED)
    first = door.gate.recall(result.id)
    assert first.text == FAILED[: len(first.text)] and len(first.text) <= 1_000 and first.next_cursor
    assert "error: the pool is full" in door.gate.recall(result.id, search="POOL IS").text
    assert door.gate.recall(result.id, search="po+l", regex=True).hits == 1
    assert door.gate.recall(result.id, cursor=first.next_cursor).text in FAILED
    with pytest.raises(OutputNotFound):
        door.gate.recall("o_000000000000")


# --- streams of text --------------------------------------------------------------------------------------


def test_case_16_crlf_text_is_filtered_to_the_same_lines_as_lf_text():
    """case 16"""
    for exit_code, task in ((1, ""), (0, "the pool"), (None, "why does it fail")):
        lf = Door().admit(FAILED, task, exit_code=exit_code)
        crlf = Door().admit(FAILED.replace("\n", "\r\n"), task, exit_code=exit_code)
        assert [one[:4] for one in crlf.kept] == [one[:4] for one in lf.kept]
        lines = [line for line in body_of(crlf.text).splitlines() if not line.startswith("[admit")]
        assert lines == [line for line in body_of(lf.text).splitlines() if not line.startswith("[admit")]
        assert "step" in body_of(crlf.text) and "\r\n" in crlf.text


@pytest.mark.parametrize("mark", ["utf-16", "utf-8-sig"])
def test_text_with_a_byte_order_mark_is_read_and_its_raw_bytes_are_stored(mark):
    door = Door()
    result = door.admit(FAILED.encode(mark), exit_code=1)
    assert "error: the pool is full" in result.text and result.how == "local"
    assert result.original_chars == len(FAILED)
    assert door.store.open(result.id).read() == FAILED.encode(mark)
    small = door.admit(SHORT.encode(mark))
    assert small.data == SHORT.encode(mark) and small.text == SHORT


def test_case_15_no_lone_surrogate_is_in_the_text():
    """case 15"""
    text = FAILED.replace("step 7", "\ud83d step \ude00 7")
    for result in (Door().admit(text, "\ud800 the pool", exit_code=1), Door().admit(text[:3_000])):
        assert result.text.encode()
    astral = text_of(["😀" * 3_000 for _ in range(20)])
    assert Door().admit(astral, exit_code=1).text.encode()


def test_case_22_the_answer_in_a_very_long_line_is_kept():
    """case 22"""
    fields = [f'"field{k}": {{"size": {k}, "kind": "ordinary"}}' for k in range(40_000)]
    fields[23_456] = '"database": {"max_connections": 5, "kind": "special"}'
    text = "{" + ", ".join(fields) + "}"
    assert len(text) > 1_600_000
    result = Door().admit(text, "what is max_connections set to", exit_code=0)
    assert '"max_connections": 5' in result.text and len(result.text) < 6_500
    assert " chars omitted, line 1]" in result.text


# --- the token budget, masks ------------------------------------------------------------------------------


def test_credentials_are_masked_in_the_shown_text_only_where_the_user_says_so():
    token = "ghp_" + "a1B2c3D4e5" * 4
    text = text_of(steps(0, 900), f"error: token {token} refused", steps(900, 910))
    door = Door(CONFIG._replace(mask=True))
    masked = door.admit(text, exit_code=1)
    assert token not in masked.text and token.encode() not in masked.data and "[redacted:" in masked.text
    assert token in Door().admit(text, exit_code=1).text
    assert token.encode() in door.store.open(masked.id).read()


def test_a_secret_of_which_a_gap_takes_a_part_is_masked_on_both_sides():
    block = ["-----BEGIN PRIVATE KEY-----", *(f"MIIE{k:03}" + "Qz7vX" * 12 for k in range(120))]
    block += ["-----END PRIVATE KEY-----"]
    for exit_code in (0, 1):
        text = text_of(block, "error: first é", steps(0, 500), block, "error: second", steps(500, 502))
        result = Door(CONFIG._replace(mask=True)).admit(text.encode() + b"\xff\n", exit_code=exit_code)
        assert b"Qz7vX" not in result.data and "[redacted:pem]" in result.text
        assert "error: second" in result.text and result.data.endswith(b"\xff\n")
    unmasked = Door().admit(text, exit_code=1)
    assert "Qz7vX" in unmasked.text


# --- what other tools got wrong ---------------------------------------------------------------------------

BENIGN = ("pass", "clean", "no issues", "success", "nothing to report", " ok")


def test_case_1_an_import_error_at_collection_is_shown_and_called_nothing_benign():
    """case 1"""
    text = text_of(
        steps(0, 400, "installed from the cache"),
        "============================= test session starts ==============================",
        "collected 0 items / 1 error",
        "==================================== ERRORS ====================================",
        "______________________ ERROR collecting tests/test_cart.py _____________________",
        "ImportError while importing test module '/srv/shop/tests/test_cart.py'.",
        "tests/test_cart.py:3: in <module>",
        "    from shop.money import round_half_up",
        "E   ImportError: cannot import name 'round_half_up' from 'shop.money'",
        "=========================== short test summary info ============================",
        "ERROR tests/test_cart.py",
        "!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!",
        "=============================== 1 error in 0.12s ===============================",
        steps(400, 800, "removed from the cache"),
    )
    for exit_code in (2, None, 0):
        result = Door().admit(text, exit_code=exit_code)
        assert "E   ImportError: cannot import name 'round_half_up'" in result.text
        own = [line for line in result.text.lower().splitlines() if line.startswith("[admit ")]
        assert not [line for line in own for word in BENIGN if word in line]


@pytest.mark.parametrize(
    "diagnostic",
    [
        "vet: example.com/shop/stock: undeclared name: Reserve",
        "go: errors parsing go.mod: unknown directive: requre",
    ],
)
def test_case_2_a_diagnostic_without_file_and_line_is_kept(diagnostic):
    """case 2"""
    text = text_of("# example.com/shop/stock", diagnostic, steps(0, 900, "go: finding module for package"))
    for exit_code in (1, 0, None):
        assert diagnostic in Door().admit(text, "check the stock", exit_code=exit_code).text


@pytest.mark.parametrize("exit_code", [0, 1, None])
def test_case_3_a_failed_package_is_shown_beside_those_that_are_ok(exit_code):
    """case 3"""
    results = [f"ok  \texample.com/shop/part{k}\t0.{k % 900 + 100}s" for k in range(300)]
    text = text_of(results[:40], "FAIL\texample.com/shop/stock\t0.214s", results[40:])
    assert "FAIL\texample.com/shop/stock" in Door().admit(text, exit_code=exit_code).text


def test_case_24_the_first_line_says_that_a_diff_is_no_patch_and_the_whole_is_one_recall_away():
    """case 24"""
    hunks = []
    for k in range(1, 200):
        hunks += [f"@@ -{k * 9},3 +{k * 9},3 @@", f" line {k}", f"-removed {k} words", f"+added {k} words"]
    text = text_of("diff --git a/x.py b/x.py", "index 1..2 100644", "--- a/x.py", "+++ b/x.py", hunks)
    door = Door()
    result = door.admit(text, exit_code=0)
    assert "patch" in result.text.partition("\n")[0] and result.changed
    assert door.gate.recall(result.id, whole=True).text == text


# --- faults -----------------------------------------------------------------------------------------------


class Broken:
    """A store or a ledger every method of which raises."""

    def __init__(self, error: type[BaseException] = RuntimeError) -> None:
        self._error = error

    def __getattr__(self, name: str):
        def fail(*args, **kwargs):
            raise self._error("broken")

        return fail


def test_a_broken_ledger_costs_the_record_and_not_the_answer():
    door = Door(ledger=Broken())
    assert door.admit(FAILED).how == "local"
    assert door.gate.totals["fault:ledger RuntimeError"] == 1


@pytest.mark.parametrize("error", [RuntimeError, OSError, StoreFailed, MemoryError])
def test_a_broken_store_leaves_the_output_untouched(error):
    result = Door(store=Broken(error)).admit(FAILED)
    assert untouched(result, FAILED)
    assert result.reason == ("store_failed" if error is StoreFailed else f"internal:{error.__name__}")


def test_a_parser_that_throws_is_skipped_and_counted_by_name(monkeypatch):
    def fail(lines, text):
        raise ValueError

    monkeypatch.setattr("admit.outputs.parsers.pytest.parse", fail)
    door = Door()
    result = door.admit(text_of(steps(0, 900), "== 1 failed, 2 passed in 0.1s =="), exit_code=1)
    assert result.how == "local" and result.parsers == ()
    assert door.gate.totals["fault:parser pytest"] == 1
    [event] = door.records[0].events
    assert event.body == {"id": result.id, "fault": "parser", "name": "pytest"}


def test_a_fault_inside_leaves_the_output_untouched_with_its_name(monkeypatch):
    def fail(*args):
        raise ZeroDivisionError

    monkeypatch.setattr("admit.outputs.gate.look", fail)
    result = Door().admit(FAILED)
    assert untouched(result, FAILED) and result.reason == "internal:ZeroDivisionError"


@UNHURRIED
@given(short_bytes | long_bytes | st.binary(max_size=64), st.text(max_size=40), st.sampled_from([None, 0, 1]))
def test_no_bytes_and_no_task_make_admit_raise_or_show_more_than_the_budget_allows(data, task, exit_code):
    config = CONFIG._replace(floor_chars=50, gate_chars=300, max_kept_chars=600, min_saving_chars=10)
    result = Door(config).admit(data * 9, Task(task, (task,), task, task), exit_code=exit_code, session="s")
    assert not result.reason.startswith("internal")
    if result.changed:
        assert len(result.text.replace("\r\n", "\n")) <= 600 + 500
        # Nothing but line ends and torn escape sequences has no content to show.
        assert body_of(result.text).strip("\n") or not result.kept or not any(looked_at(data * 9).view.texts)
    else:
        assert result.data == data * 9


# --- estimates --------------------------------------------------------------------------------------------


def test_an_estimate_tells_what_a_judge_would_be_sent_and_sends_nothing():
    judge = ScriptedJudge({}, default=3.0)
    door = Door(CONFIG._replace(filter=FilterConfig(enabled=True)), judge=judge)
    cost = door.gate.estimate(RawOutput.of(LONG), Task("the build"))
    assert judge.asks == []
    assert cost.requests == 1 and cost.chunks == 14
    assert 25_000 < cost.bytes < len(LONG)
    assert Door().gate.estimate(RawOutput.of(LONG)).chunks == 14
    assert Door().gate.estimate(RawOutput(b"")).chunks == 0


# --- every setting has an effect --------------------------------------------------------------------------

ROOMY = CONFIG._replace(run_share=0.3)
MIXED = text_of(
    [f"error in the {word} part" for word in ("red", "green", "blue", "black")], steps(0, 300),
    "error: pool full alpha", steps(300, 500, "and more"), "kaputt alpha", steps(500, 700), "hmm beta",
    steps(700, 900), "x y z " * 700, "error: pool full beta", steps(900, 1_000),
)  # fmt: skip
SETTINGS = {
    "max_kept_chars": 3_000, "max_kept_tokens": 600, "floor_chars": 90_000, "gate_chars": 90_000,
    "tail_chars": 100, "run_share": 0.75, "run_after": 0, "guard_context": 3,
    "weights_failure": (9, 0, 0), "words_strong": ("kaputt",),
    "words_negated": ("error: pool full beta",), "min_saving_chars": 90_000, "min_saving_share": 0.95,
    "long_line": 100_000, "scan_chars": 10_000, "skip_tools": ("bash",), "mode": "off",
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_has_an_effect(name):
    def shown(config: OutputConfig):
        result = Door(config).admit(MIXED, "the alpha pool", exit_code=1, tool="bash")
        return body_of(result.text), result.how, result.reason

    assert shown(ROOMY._replace(**{name: SETTINGS[name]})) != shown(ROOMY)


def test_the_weights_of_spread_mode_have_an_effect():
    def shown(config: OutputConfig):
        return body_of(Door(config).admit(MIXED, "the alpha pool", exit_code=0).text)

    assert shown(CONFIG._replace(weights_spread=(9, 0, 0))) != shown(CONFIG)
