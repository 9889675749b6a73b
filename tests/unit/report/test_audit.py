"""The audit: a what-if over recorded sessions that writes nothing and says what it does not know."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from transcripts.recorded import Claude, Codex, build_log

from admit.outputs.model import FilterConfig, OutputConfig
from admit.report import audit_text
from admit.report.audit import audit
from admit.report.audit_model import Audit
from admit.transcripts import read_sessions
from admit.transcripts.find import find

from .recordings import NEEDLE, write_all

GOLDEN = Path(__file__).parent / "golden"
ASKED = "Why is the retry limit of the payment client ignored?"


def audited(home: Path, days: int = 14, config: OutputConfig | None = None) -> Audit:
    found = find([str(home)], days)
    return audit(read_sessions(found), found, config)


def of(home: Path, *files: Claude | Codex, config: OutputConfig | None = None) -> Audit:
    for file in files:
        file.write(home / ("projects" if isinstance(file, Claude) else "sessions"))
    return audited(home, config=config)


def golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("ADMIT_WRITE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


def asked(session: str = "s1") -> Claude:
    file = Claude(session)
    file.user(ASKED)
    return file


def test_the_summary_reads_as_it_did(tmp_path):
    write_all(tmp_path)
    golden("audit.txt", audit_text.render(audited(tmp_path)) + "\n")


def test_an_example_reads_as_it_did(tmp_path):
    write_all(tmp_path)
    result = audited(tmp_path)
    number = next(n for n, one in enumerate(result.examples, 1) if one.case.command == "cat build.log")
    golden("example.txt", audit_text.render_example(result, number) + "\n")


def test_the_same_files_give_the_same_text_whatever_was_touched(tmp_path):
    write_all(tmp_path)
    before = audit_text.render(audited(tmp_path))
    for path in tmp_path.rglob("*.jsonl"):
        os.utime(path)
    assert audit_text.render(audited(tmp_path)) == before


def test_nothing_is_written(tmp_path, monkeypatch):
    write_all(tmp_path / "home")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    audited(tmp_path / "home")
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_what_the_door_would_keep_is_what_the_door_keeps(tmp_path):
    log = build_log(1, 600, planted={300: NEEDLE})
    file = asked()
    file.run("make build", log)
    file.run("grep -n RETRY_CEILING -r .", "x")
    (case,) = of(tmp_path, file).cases
    assert (case.how, case.shown_chars, case.changed) == ("local", len(log), True)
    assert 4_000 < case.would_chars <= 6_500
    assert [one.text for one in case.used] == ["RETRY_CEILING"]
    assert (case.kept, case.blind) == ((True,), (False,))


def test_small_outputs_are_counted_and_are_no_cases(tmp_path):
    file = asked()
    file.run("ls", "a\nb")
    file.run("make", build_log(1, 100))
    result = of(tmp_path, file)
    assert result.cases == () and result.tools[0].outputs == 2
    assert "None of 2 tool outputs is over 8,000 characters." in audit_text.render(result)


@pytest.mark.parametrize(
    ("tool", "given", "how", "reason"),
    [
        ("Read", {"file_path": "a.py"}, "exempt", "file_read"),
        ("Agent", {"prompt": "look"}, "exempt", "not_handled"),
        ("Glob", {"pattern": "*"}, "exempt", "not_handled"),
        ("Grep", {"pattern": "x"}, "local", ""),
        ("WebFetch", {"url": "u"}, "local", ""),
        ("mcp__a__b", {"q": "x"}, "local", ""),
    ],
)
def test_each_tool_is_treated_as_the_door_treats_it(tool, given, how, reason, tmp_path):
    file = asked()
    file.result(file.call(tool, given), build_log(1, 400))
    (case,) = of(tmp_path, file).cases
    assert (case.how, case.reason) == (how, reason)
    assert case.changed or case.would_chars == case.shown_chars


def test_the_settings_of_the_door_hold_and_no_judge_is_asked(tmp_path):
    file = asked()
    file.run("make", build_log(1, 400))
    config = OutputConfig(mode="off", max_kept_chars=2_000, filter=FilterConfig(enabled=True))
    (case,) = of(tmp_path, file, config=config).cases
    assert case.how == "local" and case.would_chars <= 2_500


def test_a_duplicate_counts_until_the_context_was_compacted(tmp_path):
    log = build_log(1, 400)
    file = asked()
    for _ in range(2):
        file.run("make", log)
    file.record("system", subtype="compact_boundary")
    file.run("make", log)
    assert [case.how for case in of(tmp_path, file).cases] == ["local", "duplicate", "local"]


def test_each_agent_has_a_context_of_its_own(tmp_path):
    log = build_log(1, 400)
    parent, child = asked(), Claude("s1", agent="a1")
    child.user("Find every caller of retry()")
    for file in (parent, child):
        file.run("make", log)
    assert [case.how for case in of(tmp_path, parent, child).cases] == ["local", "local"]


def test_where_the_host_showed_a_preview_the_door_may_show_more(tmp_path):
    write_all(tmp_path)
    case = next(case for case in audited(tmp_path).cases if case.cut_by_host == "preview")
    assert case.would_chars > case.shown_chars and case.complete
    assert (case.changed, case.reason, case.kept) == (False, "more_than_shown", ())
    assert all(one.case.would_chars < one.case.shown_chars for one in audited(tmp_path).examples)
    assert case.original_chars is not None and case.original_chars > 30_000
    assert (case.returned, case.held) == ("stored", "saved")


def test_an_output_whose_whole_is_unknown_is_large_by_what_the_host_said(tmp_path):
    file = asked()
    shown = "<persisted-output>\nOutput too large (106.3KB). Full output saved to: /gone\n\nPreview"
    file.result(file.call("Bash", {"command": "make"}), shown)
    (case,) = of(tmp_path, file).cases
    assert (case.how, case.complete, case.original_chars) == ("exempt", False, 108_851)


def test_failed_commands_are_marked_as_out_of_a_hooks_reach(tmp_path):
    file, rollout = asked(), Codex()
    file.run("make", f"Exit code 2\n{build_log(1, 400)}", failed=True)
    rollout.run("make", build_log(2, 400), 2)
    cases = of(tmp_path, file, rollout).cases
    assert [case.wrap_only for case in cases] == [True, False]


def test_what_admit_already_shortened_is_counted_and_not_cut_again(tmp_path):
    header = (
        "[admit 3f9a1c2b] 5,870 of 121,437 chars (78 of 1,502 lines) kept for the task, verbatim; exit code 2"
    )
    file = asked()
    file.run("make", f"{header}. Whole output: admit recall o_3f9a1c2b7d10\n{build_log(1, 400)}")
    result = of(tmp_path, file)
    assert result.through_admit == 1 and result.cases == ()


def test_what_stands_in_two_files_counts_once(tmp_path):
    write_all(tmp_path)
    result = audited(tmp_path)
    assert result.repeated == 5 and result.requests == 3
    assert sum(case.command == "make build" for case in result.cases) == 1


def test_before_the_window_is_context_and_not_counted(tmp_path):
    old, new = asked(), Claude("s1", day=20)
    old.run("make", build_log(1, 400))
    new.run("make all", build_log(2, 400))
    old.records += [record | {"uuid": f"{record['uuid']}-new"} for record in new.records]
    result = of(tmp_path, old)
    assert [case.command for case in result.cases] == ["make all"] and result.requests == 0
    assert [case.command for case in audited(tmp_path, 30).cases] == ["make", "make all"]


def test_sessions_before_the_window_are_named_with_the_option_that_reads_them(tmp_path):
    for session, day in (("s1", 0), ("s2", 20)):
        file = Claude(session, day=day)
        file.run("ls", "f")
        file.write(tmp_path)
    said = audit_text.render(audited(tmp_path))
    assert "Older than the window: 1 session; --days N looks further back." in said
    assert "Older" not in audit_text.render(audited(tmp_path, 30))


def test_strings_known_from_before_are_no_use_of_the_output(tmp_path):
    log = build_log(1, 600, planted={300: NEEDLE})
    file = Claude("s1")
    file.user("Look at RETRY_CEILING in the payment client")
    file.run("make build", log)
    file.run("grep -rn RETRY_CEILING .", "x")
    assert of(tmp_path, file).cases[0].used == ()


def test_the_comparison_is_over_what_would_be_cut_and_was_used(tmp_path):
    files = []
    for n in range(6):
        file = asked(f"s{n}")
        file.run("make build", build_log(n, 600, planted={300: NEEDLE}))
        file.run("grep -n RETRY_CEILING -r .", "x")
        file.run("make other", build_log(n + 10, 600))
        files.append(file)
    use = of(tmp_path, *files).next_use
    assert (use.outputs, use.sessions, use.kept.value, use.blind.value) == (6, 6, 1.0, 0.0)
    assert use.difference == (1.0, 1.0, 1.0, 6) and use.all_kept.n == 6


def test_the_clearest_examples_go_both_ways_and_are_at_most_ten(tmp_path):
    files = []
    for n in range(14):
        file = asked(f"s{n:02d}")
        file.run("make build", build_log(n, 600, planted={300: NEEDLE}))
        file.run("grep -n RETRY_CEILING -r ." if n % 2 else "ls", "x")
        files.append(file)
    examples = of(tmp_path, *files).examples
    assert len(examples) == 10 and [bool(one.case.used) for one in examples] == [True] * 7 + [False] * 3


def test_no_session_is_no_error(tmp_path):
    result = audited(tmp_path)
    assert audit_text.render(result).endswith("No sessions were found.")
    assert audit_text.as_json(result)["sessions"] == {}


def test_json_holds_every_figure_and_no_output(tmp_path):
    write_all(tmp_path)
    result = audited(tmp_path)
    value = json.loads(json.dumps(audit_text.as_json(result)))
    assert value["totals"]["large"] == len(value["cases"]) == len(result.cases)
    assert value["what_if"] is True and "compiled" not in json.dumps(value)
    assert value["returned"]["rate"]["n"] == len(result.cases)


def test_text_of_a_session_cannot_move_the_cursor_or_hide(tmp_path):
    file = asked()
    file.result(
        file.call("mcp__x\x1b[2J__\u202e", {"q": "\x1b]0;title\x07 \u200b"}),
        build_log(1, 400, planted={300: "\x1b[31m\u202eretry_limit\x07"}),
    )
    result = of(tmp_path, file)
    text = audit_text.render(result) + audit_text.render_example(result, 1)
    assert not {"\x1b", "\x07", "\u202e", "\u200b"} & set(text)
    assert "\\u202e" in text and "\\x1b" in text
