"""`admit doctor`: each thing that can be wrong is found, with its fix, and nothing is changed."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections import namedtuple
from types import SimpleNamespace

import pytest

from admit.cli import checks, frame
from admit.config import layers
from admit.core.events import Event
from admit.judges.consent import Consent
from admit.judges.keyfile import Keys
from admit.ledger.port import DecisionRow, Record
from admit.ledger.sqlite import SqliteLedger

NOW = int(time.time() * 1000)


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    for variable, folder in (("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("HOME", "home")):
        monkeypatch.setenv(variable, str(tmp_path / folder))
    for variable in ("ADMIT_CONFIG", "ADMIT_OFF"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(layers, "_seen", {})
    monkeypatch.setattr(layers, "_user_file", None)
    # What the judge finds depends on what is installed; its own tests below put it back.
    monkeypatch.setattr(checks, "CHECKS", tuple(one for one in checks.CHECKS if one.__name__ != "judge"))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


@pytest.fixture
def state(place):
    folder = place / "state" / "admit"
    folder.mkdir(parents=True, mode=0o700)
    before = os.umask(0o077)  # what a test puts there is private, as all of it is
    yield folder
    os.umask(before)


@pytest.fixture
def doctor(capsys):
    """Run `admit doctor --json`; gives the code and the findings as (area, text, fix)."""

    def run() -> tuple[int, list[tuple[str, str, str]]]:
        code = frame.run(["doctor", "--json"])
        findings = json.loads(capsys.readouterr().out)["findings"]
        return code, [(one["area"], one["text"], one["fix"]) for one in findings]

    return run


def write(*records: Record) -> None:
    ledger = SqliteLedger()
    for record in records:
        ledger.append(record)
    ledger.close()


def event(number: int, type: str, **body) -> Record:
    return Record(events=(Event(f"e{number}", type, NOW, body),))


def test_on_a_new_machine_nothing_is_wrong_and_nothing_is_made(place, capsys):
    assert frame.run(["doctor"]) == 0
    assert capsys.readouterr().out.startswith("Nothing is wrong. Looked at: settings, folders, record")
    assert sorted(os.listdir(place)) == ["project"]


def test_after_some_work_nothing_is_wrong_either(doctor):
    write(Record(DecisionRow("1" * 32, ts_ms=NOW, door="outputs")))
    assert doctor() == (0, [])


def test_a_finding_is_printed_with_its_fix_and_ends_with_1(place, capsys):
    (place / "project" / ".admit.toml").write_text('[outputs]\nmode = "off"\n')
    assert frame.run(["doctor"]) == 1
    out = capsys.readouterr().out
    path = place / "project" / ".admit.toml"
    assert f"settings: {path}:2: outputs.mode may be set in the user's own file only\n    set it" in out


def test_every_setting_that_a_project_may_not_make_is_shown(place, doctor):
    text = '[judge]\nprofile = "theirs"\n[ledger]\npath = "/tmp/x"\n[outputs]\nmax_kept_chars = 20000\n'
    (place / "project" / ".admit.toml").write_text(text)
    code, findings = doctor()
    assert code == 1 and len(findings) == 3


def test_a_broken_file_of_the_user_costs_authority_and_says_so(place, doctor):
    path = place / "config" / "admit" / "admit.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[outputs\n")
    path.chmod(0o644)
    _, findings = doctor()
    assert [text.split(" is ")[0] for _, text, _ in findings] == [
        f"{path}:1:9:",
        "No judge",
        str(path),
    ]
    assert findings[2][2] == f"chmod 600 {path}"


def test_a_misspelt_mode_names_the_door_that_asks_no_judge(place, doctor):
    path = place / "config" / "admit" / "admit.toml"
    path.parent.mkdir(parents=True)
    path.write_text('outputs.mode = "of"\n')
    path.chmod(0o600)
    _, findings = doctor()
    assert findings[1][1] == "No judge is asked at: outputs. A mode there cannot be read."


def test_an_open_state_folder_is_found_with_the_command_that_closes_it(state, doctor):
    state.chmod(0o755)
    assert doctor()[1] == [("folders", f"{state} is open to other users.", f"chmod 700 {state}")]


def test_a_file_in_the_place_of_the_folder_is_found(place, doctor):
    (place / "state").mkdir()
    (place / "state" / "admit").write_text("")
    code, findings = doctor()
    assert code == 1 and findings[0][:2] == ("folders", f"{place}/state/admit is not a folder.")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
def test_a_folder_of_another_user_is_found(state, doctor):
    os.chown(state, 12345, -1)
    code, findings = doctor()
    assert code == 1 and findings[0] == (
        "folders",
        f"{state} belongs to user 12345, so it is refused: nothing is recorded there, and an output that "
        "cannot be stored passes uncut.",
        f"sudo chown -R {os.geteuid()} {state}",
    )


def test_a_full_disk_is_found(state, doctor, monkeypatch):
    space = namedtuple("space", "f_bavail f_frsize")(1000, 4096)
    monkeypatch.setattr(os, "statvfs", lambda _: space)
    assert [(area, text.split(";")[0]) for area, text, _ in doctor()[1]] == [
        ("folders", f"{state} has 3 MiB free")
    ]


def test_a_folder_that_cannot_be_written_is_found_and_the_probe_is_gone(state, doctor, monkeypatch):
    assert doctor() == (0, []) and os.listdir(state) == []
    real = os.open

    def refuse(path, *args, **kwargs):
        if "probe" in str(path):
            raise OSError(30, "Read-only file system")
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)
    (finding,) = doctor()[1]
    assert "cannot be written (Read-only file system)" in finding[1] and "XDG_STATE_HOME" in finding[2]


def test_a_damaged_record_is_found_with_its_fix(state, doctor):
    write(Record(DecisionRow("1" * 32, ts_ms=NOW, door="outputs")))
    (state / "ledger.db").write_bytes(b"nothing of the kind " * 500)
    code, findings = doctor()
    assert code == 1 and any("admit ledger recover" in text for _, text, _ in findings)


def test_a_record_of_a_newer_version_is_found_with_both_versions(state, doctor):
    write(Record(DecisionRow("1" * 32, ts_ms=NOW, door="outputs")))
    con = sqlite3.connect(state / "ledger.db")
    con.execute("PRAGMA user_version=9")
    con.close()
    ((area, text, fix),) = doctor()[1]
    assert area == "record" and "version 9" in text and "knows 2" in text and "Update Admit" in fix


def test_a_damaged_record_that_was_set_aside_is_found(state, doctor):
    (state / "ledger.db.damaged-1").write_bytes(b"")
    text = f"{state}/ledger.db.damaged-1 is a damaged record that was set aside."
    assert doctor()[1] == [("record", text, "admit ledger recover")]


def test_a_damaged_record_that_was_salvaged_is_a_note_with_the_command_that_deletes_it(state, doctor, capsys):
    write(Record(DecisionRow("1" * 32, ts_ms=NOW, door="outputs")))
    (state / "ledger.db").write_bytes(b"nothing of the kind " * 500)
    assert frame.run(["ledger", "recover"]) == 1
    capsys.readouterr()
    assert frame.run(["doctor"]) == 0
    copy = f"{state}/ledger.db.damaged-1"
    assert f"Note: {copy} is a damaged record that was salvaged; to delete it: rm {copy}\n" in (
        capsys.readouterr().out
    )
    assert frame.run(["ledger", "verify"]) == 0


def test_records_that_wait_for_long_are_found(state, doctor):
    from admit.ledger.spool import Spool

    spool = Spool(str(state / "spool"), "w1", 1_000_000)
    spool.append(b"{}")
    spool.append(b"{}")
    assert doctor() == (0, [])
    (path,) = spool.files()
    os.utime(path, (time.time() - 600,) * 2)
    text = f"2 records waiting outside the database, in {state}/spool."
    assert doctor()[1] == [("record", text, "admit ledger recover")]


def test_a_damaged_install_key_is_found(state, doctor):
    (state / "ledger.key").write_bytes(b"short")
    (finding,) = doctor()[1]
    assert finding[0] == "record" and "has 5 bytes, not 32" in finding[1]


@pytest.mark.parametrize("size", [0, 3, 31, 64, None])
def test_a_key_that_was_replaced_stays_a_finding_until_it_is_old(size, state, doctor, monkeypatch):
    write(Record(DecisionRow("1" * 32, ts_ms=NOW, door="outputs")))
    assert doctor() == (0, [])
    if size is None:
        (state / "ledger.key").unlink()
    else:
        (state / "ledger.key").write_bytes(b"k" * size)
    write(Record(DecisionRow("2" * 32, ts_ms=NOW, door="outputs")))
    assert (state / "ledger.key").stat().st_size == 32
    for _ in range(2):
        ((area, text, _),) = doctor()[1]
        assert area == "record" and f"{state}/ledger.key was lost or damaged and is a new one since" in text
    monkeypatch.setattr(checks.time, "time", lambda: NOW / 1000 + 8 * 86_400)
    assert doctor() == (0, [])


def test_a_key_that_was_replaced_on_purpose_is_no_finding(doctor, capsys):
    write(Record(DecisionRow("1" * 32, ts_ms=NOW, door="outputs")))
    assert frame.run(["ledger", "forget", "--key", "--yes"]) == 0
    capsys.readouterr()
    write(Record(DecisionRow("2" * 32, ts_ms=NOW, door="outputs")))
    assert doctor()[0] == 0


def test_a_link_in_the_place_of_a_file_of_ours_is_found(state, doctor):
    (state / "ledger.key").symlink_to("/etc/passwd")
    code, findings = doctor()
    assert code == 1 and "ledger.key" in findings[0][1]


def test_what_was_dropped_and_what_was_lost_is_found(doctor):
    ledger = SqliteLedger()
    ledger.append(event(1, "ledger.dropped", full=2, busy=1))
    [next(ledger._numbers) for _ in range(3)]  # three records of this process die in its queue
    ledger.append(event(2, "ledger.dropped", full=1))
    ledger.close()
    code, findings = doctor()
    assert code == 1
    assert [text for _, text, _ in findings] == [
        "3 records lost by processes that were killed.",
        "1 record not written in the last 7 days: busy.",
        "3 records not written in the last 7 days: full.",
    ]
    assert all(fix for _, _, fix in findings)


def test_faults_at_the_outputs_door_are_found_by_kind(doctor):
    write(
        event(1, "outputs.fault", fault="parser", name="pytest"),
        event(2, "outputs.fault", fault="parser", name="pytest"),
        event(3, "outputs.fault", fault="store", name="OSError"),
    )
    assert [text for _, text, _ in doctor()[1]] == [
        "2 parser faults in the last 7 days: pytest.",
        "1 store fault in the last 7 days: OSError.",
    ]


def test_a_judge_without_its_embedder_is_found_unless_words_alone_are_wanted(place, doctor, monkeypatch):
    monkeypatch.setattr(checks, "CHECKS", (checks.judge,))
    monkeypatch.setattr(checks, "find_spec", lambda _: None)
    monkeypatch.setattr(checks, "EMBEDDER", ("click", "no-such-distribution"))
    text = "The local judge uses words alone, for this is not installed: no-such-distribution."
    (finding,) = doctor()[1]
    assert finding[:2] == ("judge", text) and "admit[local]" in finding[2]
    assert frame.run(["config", "set", "judge.local.mode", "lexical"]) == 0
    layers._seen.clear()
    assert list(checks.judge(layers.load())) == []


def test_what_the_judge_says_of_itself_is_shown_with_its_fix(doctor, monkeypatch):
    said = [("The calibration outputs-embed.json is refused: auc.", "admit lab calibrate")]
    monkeypatch.setattr(checks, "CHECKS", (checks.judge,))
    monkeypatch.setattr(checks, "EMBEDDER", ())
    monkeypatch.setattr(checks, "find_spec", lambda name: name)
    monkeypatch.setattr(checks, "import_module", lambda _: SimpleNamespace(findings=lambda values: said))
    assert doctor()[1] == [("judge", *said[0])]


@pytest.fixture
def asked(place, monkeypatch):
    """Settings with a judge elsewhere and the filter on; gives the findings about the judge."""

    def findings(*rest: str) -> list[tuple[str, str]]:
        path = place / "config" / "admit" / "admit.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(['judge.profile = "jev"', "outputs.filter.enabled = true", *rest]) + "\n")
        path.chmod(0o600)
        layers._seen.clear()
        config = layers.load()
        assert config.findings == ()
        return [(fault.text, fault.fix) for fault in checks.judge(config)]

    return findings


def test_a_judge_elsewhere_that_may_not_be_asked_yet_is_found_with_what_is_missing(asked):
    assert asked() == [
        ("There is no key for the profile jev.", "admit judge key jev"),
        (
            "outputs: Nobody allowed that texts of the outputs door go to https://api.typesafe.ai:443.",
            "admit consent grant https://api.typesafe.ai:443 --door outputs",
        ),
    ]
    Keys().store("jev", "a-key-for-tests")
    Consent().grant("https://api.typesafe.ai:443", ["outputs"])
    assert asked() == []


def test_a_judge_on_this_machine_needs_neither_but_a_threshold_of_its_own(asked):
    here = ('judge.profiles.jev.destination = "http://127.0.0.1:9"',)
    assert asked(*here) == []
    assert list(checks.notes(layers.load())) == [
        "The judge jev (http://127.0.0.1:9) needs no consent, for it is on this machine."
    ]
    [(text, fix)] = asked(*here, 'judge.profiles.jev.model = "own-1"')
    assert text == "outputs: Answers are recorded and do not act: no threshold is known for this model."
    assert fix.startswith("admit config set judge.profiles.jev.outputs.threshold N")


def test_a_profile_that_lacks_something_is_found(asked):
    [(text, _)] = asked('judge.profiles.jev.destination = "no address"')
    assert "is no URL of a server" in text


def test_a_key_file_that_others_may_read_is_found_and_not_called_missing(asked):
    os.chmod(Keys().store("jev", "a-key-for-tests"), 0o644)
    Consent().grant("https://api.typesafe.ai:443", ["outputs"])
    [(text, fix)] = asked()
    assert "keys/jev" in text and "600" in fix


def test_a_judge_that_cannot_answer_in_time_is_a_finding_and_a_warning_of_the_settings(place, doctor, capsys):
    path = place / "config" / "admit" / "admit.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        '[judge]\nprofile = "ollama"\n[judge.profiles.ollama]\nmodel = "m"\n'
        "[judge.profiles.ollama.guidance]\nmax_candidates = 40\n"
    )
    path.chmod(0o600)
    warning = (
        "ollama.guidance: 40 candidates take about 4.6 s (0.6 s + 0.1 s × 40, assumed), timeout_ms is 2,000: "
        "requests will fall back"
    )
    fix = "Lower judge.profiles.ollama.guidance.max_candidates, or raise"
    fix += " judge.profiles.ollama.guidance.timeout_ms."
    assert doctor() == (1, [("judge", f"{warning}.", fix)])
    assert frame.run(["config", "check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warnings"] == [warning]
    assert frame.run(["config", "check"]) == 0
    assert capsys.readouterr().out.startswith(f"Warning: {warning}.\n")


def test_a_crash_log_of_these_days_is_found_and_an_old_one_is_not(state, doctor):
    folder = state / "crash"
    folder.mkdir()
    log = folder / "20260101T000000.000000001Z.log"
    log.write_text("")
    assert "1 crash log of the last 7 days" in doctor()[1][0][1]
    os.utime(log, (time.time() - 8 * 86_400,) * 2)
    assert doctor() == (0, [])


def test_a_pause_is_a_note_and_no_finding(capsys):
    frame.run(["pause"])
    capsys.readouterr()
    assert frame.run(["doctor"]) == 0
    assert "Note: Paused by admit pause" in capsys.readouterr().out


def test_a_check_that_cannot_look_is_a_finding_and_stops_no_other(place, doctor, monkeypatch):
    def record(_):
        raise PermissionError(13, "Permission denied", "/somewhere")
        yield

    def crashes(_):
        yield checks.Fault("crashes", "found", "")

    monkeypatch.setattr(checks, "CHECKS", (record, crashes))
    assert [(area, text.split("]")[-1].strip()) for area, text, _ in doctor()[1]] == [
        ("record", "Permission denied: '/somewhere'"),
        ("crashes", "found"),
    ]


@pytest.mark.parametrize("name", ["", "/outputs", "/spool", "/outputs/ab"])
def test_a_link_in_the_place_of_a_folder_is_found_by_doctor_and_by_verify(name, state, doctor, place, capsys):
    elsewhere = place / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    link = state.parent / f"admit{name}"
    if not name:
        state.rmdir()
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(elsewhere)
    code, findings = doctor()
    assert code == 1 and [(area, text.partition(",")[0]) for area, text, _ in findings] == [
        ("folders", f"{link} is a symlink")
    ]
    assert f"rm {link}" in findings[0][2]
    assert frame.run(["ledger", "verify"]) == 1
    assert f"{link} is a symlink" in capsys.readouterr().out
    assert os.listdir(elsewhere) == []


def test_files_that_others_may_read_are_found_with_the_command_that_closes_them(state, doctor, capsys):
    write(Record(DecisionRow("1" * 32, ts_ms=NOW, door="outputs")))
    assert doctor() == (0, [])
    (state / "ledger.key").chmod(0o666)
    text = f"{state}/ledger.key is open to other users."
    assert doctor() == (1, [("folders", text, f"chmod 600 {state}/ledger.key")])
    (state / "ledger.db").chmod(0o666)
    ((_, text, fix),) = doctor()[1]
    assert "files or folders open to other users" in text and fix == f"chmod -R go-rwx {state}"
    assert frame.run(["ledger", "verify"]) == 1
    assert fix in capsys.readouterr().out
