"""`admit judge`: list, show, key, check, ask and cost, against real servers on loopback."""

from __future__ import annotations

import json
import os
import pty
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ADMIT, WAIT_S, Home, golden, log
from jevcompat.mock import MockConfig, Running
from tests.servers.chat_server import ChatServer

from admit.cli import frame
from admit.cli.judge_words import cost, usd
from admit.core.question import Call
from admit.ledger.costs import judge_costs
from admit.ledger.places import places
from admit.ledger.port import CallRow, DecisionRow, Record
from admit.ledger.reading import reading
from admit.ledger.sqlite import SqliteLedger

ROOT = Path(__file__).parents[3]
COMMANDS = ("judge", "judge list", "judge show", "judge key", "judge check", "judge ask", "judge cost")
SUBJECT = b"error: no space left on device\n"


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


@pytest.fixture
def mock():
    config = MockConfig()
    with Running(config) as server:
        yield server, config


def profile(home: Home, name: str, **fields: object) -> None:
    """Write a profile of one's own, which answers."""
    lines = [f"{field} = {json.dumps(value)}" for field, value in fields.items()]
    text = f'[judge]\nprofile = "{name}"\n[judge.profiles.{name}]\n' + "\n".join(lines)
    file = home.path / ".config" / "admit" / "admit.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o600)


def said(done: subprocess.CompletedProcess[bytes]) -> str:
    return (done.stdout + done.stderr).decode()


@pytest.mark.parametrize("command", COMMANDS)
def test_help_reads_as_it_did_and_has_examples(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert frame.run([*command.split(), "--help"]) == 0
    text = capsys.readouterr().out
    golden(f"help/{'-'.join(['admit', *command.split()])}.txt", text)
    assert "Example" in text and "..." not in text.split("Commands:")[-1]


def test_the_list_names_every_profile_and_marks_the_one_that_answers(home):
    golden("judge-list.txt", home.admit("judge", "list").stdout.decode())
    value = json.loads(home.admit("judge", "list", "--json").stdout)
    assert value["profile"] == "local"
    assert [one["profile"] for one in value["profiles"] if one["used"]] == ["local"]
    faults = {one["profile"]: one["fault"] for one in value["profiles"] if one["fault"]}
    assert set(faults) == {"openai-compatible", "ollama", "command"}
    assert "judge.profiles.ollama.model" in faults["ollama"]


def test_a_profile_is_shown_in_full(home):
    golden("judge-show.txt", home.admit("judge", "show", "jev").stdout.decode())
    value = json.loads(home.admit("judge", "show", "jev", "--json").stdout)
    outputs = next(door for door in value["doors"] if door["door"] == "outputs")
    assert outputs == {
        "door": "outputs",
        "max_candidates": 192,
        "threshold": 1.5,
        "timeout_ms": 4000,
        "consent": False,
        "shadow": None,
    }
    assert (value["key"], value["price_in"], value["cooldown_until_ms"]) == ("missing", 0.042, None)


def test_a_model_without_a_threshold_is_shown_as_one_that_only_records(home):
    profile(home, "mine", backend="chat", destination="http://127.0.0.1:9", model="m")
    text = home.admit("judge", "show").stdout.decode()
    assert text.startswith("mine, the one that answers\n") and "are recorded (unverified)" in text
    [row] = [row for row in home.admit("judge", "list").stdout.decode().splitlines() if " mine " in row]
    assert row.endswith("guidance, tools, outputs") and "evidence" in row
    warned = home.admit("config", "set", "judge.profiles.mine.outputs.max_candidates", "40")
    assert warned.returncode == 0
    assert "mine.outputs: 40 candidates take about 4.6 s" in home.admit("judge", "show").stdout.decode()


def test_a_consent_and_a_door_that_acts_are_shown(home):
    assert home.admit("consent", "grant", "jev", "--door", "outputs", "--yes").returncode == 0
    rows = home.admit("judge", "list").stdout.decode().splitlines()
    assert next(row for row in rows if " jev " in row).endswith("outputs")
    value = json.loads(home.admit("judge", "show", "jev", "--json").stdout)
    assert {one["door"] for one in value["doors"] if one["consent"]} == {"outputs"}


def test_an_unknown_profile_is_an_error_that_names_the_known_ones(home):
    for args in (("show", "nope"), ("check", "nope"), ("key", "nope")):
        done = home.admit("judge", *args)
        assert done.returncode == 2 and b"there are: local, jev" in done.stderr, args


SECRET = "shapeless-and-secret-4711"


def test_a_key_is_stored_for_its_owner_alone_and_never_printed(home):
    done = home.admit("judge", "key", "jev", input=f"{SECRET}\n".encode())
    file = home.path / ".config" / "admit" / "keys" / "jev"
    assert done.returncode == 0 and SECRET not in said(done) and str(file) in said(done)
    assert file.read_text() == f"{SECRET}\n"
    assert (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode)) == (0o600, 0o700)
    shown = home.admit("judge", "show", "jev", "--json")
    assert SECRET not in said(shown) and json.loads(shown.stdout)["key"] == "file"
    assert home.admit("judge", "key", "jev", "--forget").returncode == 0 and not file.exists()
    again = home.admit("judge", "key", "jev", "--forget", "--json")
    assert (again.returncode, json.loads(again.stdout)["forgotten"]) == (0, False)


def test_a_key_that_others_can_read_is_shown_as_unusable(home):
    home.admit("judge", "key", "jev", input=SECRET.encode())
    (home.path / ".config" / "admit" / "keys" / "jev").chmod(0o644)
    done = home.admit("judge", "show", "jev", "--json")
    assert json.loads(done.stdout)["key"] == "unusable" and SECRET not in said(done)


def test_a_key_in_a_named_variable_is_shown_by_its_name_alone(home):
    profile(home, "jev", key_variable="MY_KEY")
    home.env["MY_KEY"] = SECRET
    done = home.admit("judge", "show", "--json")
    assert json.loads(done.stdout)["key"] == "variable MY_KEY" and SECRET not in said(done)


@pytest.mark.parametrize("command", ["show", "check", "ask"])
def test_with_settings_that_cannot_be_used_no_judge_is_asked(home, command):
    file = home.path / ".config" / "admit" / "admit.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[judge\n")
    done = home.admit("judge", command, *(("--task", "t") if command == "ask" else ()), input=SUBJECT)
    assert done.returncode == 2 and b"admit config check" in done.stderr


@pytest.mark.parametrize("text", [b"", b"  \n", b"two\nlines\n", b"a b", "schlüssel".encode(), b"\xff\xfe"])
def test_what_is_no_key_is_refused_without_showing_it(home, text):
    done = home.admit("judge", "key", "jev", input=text)
    assert done.returncode == 2 and b"nothing was stored" in done.stderr
    assert not text.strip() or text.strip() not in done.stderr
    assert not (home.path / ".config" / "admit" / "keys" / "jev").exists()


def test_at_a_terminal_the_key_is_typed_unseen(home):
    main, side = pty.openpty()
    child = subprocess.Popen(
        [ADMIT, "judge", "key", "jev"], env=home.env, cwd=home.path, stdin=side, stdout=side, stderr=side
    )
    os.close(side)
    seen = b""
    while b"Key of jev" not in seen:
        seen += os.read(main, 1024)
    os.write(main, f"{SECRET}\n".encode())
    assert child.wait(WAIT_S) == 0
    seen += os.read(main, 4096)
    os.close(main)
    assert SECRET.encode() not in seen
    assert (home.path / ".config" / "admit" / "keys" / "jev").read_text() == f"{SECRET}\n"


def test_nothing_is_sent_elsewhere_without_consent_and_the_error_names_the_command(home):
    done = home.admit("judge", "check", "jev", "--yes")
    assert done.returncode == 2
    assert b"nothing was sent" in done.stderr and b"admit consent grant jev --door outputs" in done.stderr


def test_a_file_of_consents_that_is_broken_is_named_where_it_allows_nothing(home):
    file = home.path / ".config" / "admit" / "consent.json"
    file.parent.mkdir(parents=True)
    file.write_text("{")
    file.chmod(0o600)
    done = home.admit("judge", "check", "jev")
    assert done.returncode == 2
    assert "consent.json: does not hold consents" in said(done) and "admit consent grant" not in said(done)


def test_a_key_that_is_missing_is_said_and_nothing_is_sent(home):
    home.admit("consent", "grant", "jev", "--door", "outputs", "--yes")
    done = home.admit("judge", "check", "jev", "--yes")
    assert done.returncode == 1 and "state     invalid" in said(done) and "admit judge key jev" in said(done)
    value = json.loads(home.admit("judge", "check", "jev", "--yes", "--json").stdout)
    assert (value["state"], value["reason"], value["calls"]) == ("invalid", "no_key", [])


def test_a_check_of_a_server_here_asks_for_nothing_and_says_what_it_found(home, mock):
    server, config = mock
    profile(home, "mine", backend="systemone", destination=server.url)
    done = home.admit("judge", "check")
    assert done.returncode == 0, said(done)
    assert "state     valid" in said(done) and "cost unknown" in said(done)
    assert "jevcompat-mock-0.1 answered" in said(done)
    assert config.requests == 1


def test_a_priced_judge_is_asked_only_with_leave(home, mock):
    server, config = mock
    profile(home, "mine", backend="systemone", destination=server.url, price_in=1000.0, price_out=0.0)
    refused = home.admit("judge", "check")
    assert refused.returncode == 2 and b"at most $0.2" in refused.stderr and b"--yes" in refused.stderr
    short = home.admit("judge", "check", "--spend", "0.001")
    assert short.returncode == 2 and b"--spend 0.001 is less" in short.stderr
    assert config.requests == 0
    assert home.admit("judge", "check", "--spend", "0.5").returncode == 0
    assert home.admit("judge", "check", "--yes", "--json").returncode == 0
    assert config.requests == 2


def test_a_no_at_the_terminal_sends_nothing(home, mock):
    server, config = mock
    profile(home, "mine", backend="systemone", destination=server.url, price_in=1000.0, price_out=0.0)
    main, side = pty.openpty()
    child = subprocess.Popen(
        [ADMIT, "judge", "check"], env=home.env, cwd=home.path, stdin=side, stdout=side, stderr=side
    )
    os.close(side)
    os.write(main, b"n\n")
    code = child.wait(WAIT_S)
    seen = os.read(main, 8192)
    os.close(main)
    assert code == 1 and b"Send?" in seen and config.requests == 0


@pytest.mark.parametrize(
    ("faults", "state", "code"),
    [
        ((), "valid", 0),
        (("models-404",), "valid", 0),
        (("wrong-route",), "model_unavailable", 1),
        (("xssi-200",), "failed", 1),
    ],
)
def test_the_state_decides_the_exit_code(home, faults, state, code):
    with Running(MockConfig(faults=frozenset(faults))) as server:
        profile(home, "mine", backend="systemone", destination=server.url)
        done = home.admit("judge", "check", "--json")
    value = json.loads(done.stdout)
    assert (value["state"], done.returncode) == (state, code)
    assert {"schema", "profile", "status", "reason", "answers", "calls"} <= set(value)


def test_a_check_that_gets_a_cut_answer_does_not_say_to_ask_less(home):
    with ChatServer("truncated") as server:
        profile(home, "openai-compatible", destination=f"{server.url}/v1", model="m")
        done = home.admit("judge", "check")
    assert done.returncode == 1 and "(answer_truncated)" in said(done)
    assert "max_candidates" not in said(done) and "admit judge show openai-compatible" in said(done)


def test_a_wrong_key_is_invalid_with_what_the_server_says(home):
    with Running(MockConfig(key="right")) as server:
        profile(home, "mine", backend="systemone", destination=server.url)
        home.admit("judge", "key", "mine", input=b"wrong")
        done = home.admit("judge", "check")
        assert done.returncode == 1 and "state     invalid" in said(done)
        assert "said      Cannot authenticate" in said(done) and "wrong" not in said(done)
        cools = json.loads(home.admit("judge", "show", "--json").stdout)["cooldown_until_ms"]
        assert cools is not None
        home.admit("judge", "key", "mine", input=b"right")
        assert home.admit("judge", "check").returncode == 0
    assert json.loads(home.admit("judge", "show", "--json").stdout)["cooldown_until_ms"] is None


def test_an_unknown_model_is_told_beside_those_that_are_listed(home, mock):
    server, _ = mock
    profile(home, "mine", backend="systemone", destination=server.url, model="nosuch")
    text = said(home.admit("judge", "check"))
    assert "state     model_unavailable" in text and "said      Unknown model: nosuch" in text
    assert "the server lists 2: jev-latest, mock; nosuch is not among them" in text


def test_semantics_of_a_sound_server_pass_and_a_leak_is_a_problem(home):
    for faults, code in (((), 0), (("order-leaks",), 1)):
        with Running(MockConfig(faults=frozenset(faults))) as server:
            profile(home, "mine", backend="systemone", destination=server.url)
            done = home.admit("judge", "check", "--semantics")
            value = json.loads(home.admit("judge", "check", "--semantics", "--json").stdout)
        assert done.returncode == code, said(done)
        assert ("admit config set judge.mode shadow" in said(done)) == bool(code)
        found = [one["variant"] for one in value["semantics"] if one["found"]]
        assert found == (["order"] if faults else [])
        assert len(value["calls"]) == 13


def test_semantics_are_for_servers_whose_questions_stand_apart(home):
    done = home.admit("judge", "check", "local", "--semantics")
    assert done.returncode == 2 and b"systemone" in done.stderr


def test_the_local_judge_is_valid_and_free(home):
    done = home.admit("judge", "check", "local")
    assert done.returncode == 0 and "nothing is sent, free" in said(done)


def ask(home: Home, *args: str, data: bytes = SUBJECT) -> subprocess.CompletedProcess[bytes]:
    return home.admit("judge", "ask", "--task", "why is there no space left", *args, input=data)


def test_a_question_of_each_kind_prints_its_probabilities(home, mock):
    server, _ = mock
    profile(home, "mine", backend="systemone", destination=server.url)
    noul = ask(home, "--noul", "Is it about a disk?")
    assert noul.returncode == 0 and noul.stdout.startswith(b"P(yes) 0.")
    assert b" ms, " in noul.stdout and b"tokens in, cost unknown" in noul.stdout
    score = ask(home, "--score", "low, middle, high").stdout.decode()
    assert score.splitlines()[0].split() == ["level", "p"] and "2  0." in score and "expectation" in score
    choice = ask(home, "--choice", "disk=space", "--choice", "net=a connection").stdout.decode()
    assert "disk " in choice and "a connection" in choice
    value = json.loads(ask(home, "--score", "a,b", "--json").stdout)
    assert list(value) == ["schema", "profile", "status", "reason", "answers", "calls"]
    [answer] = value["answers"]
    assert sum(answer["p"]) == pytest.approx(1) and answer["kind"] == "score"
    assert value["calls"][0]["destination"] == server.url and value["calls"][0]["sent"] == "yes"


def test_the_local_judge_answers_the_questions_of_its_doors_and_says_what_it_cannot(home):
    for door in ("outputs", "guidance"):
        done = ask(home, "--door", door)
        assert done.returncode == 0 and b"free" in done.stdout, said(done)
    own = ask(home, "--noul", "Is it about a disk?")
    assert own.returncode == 1 and b"(not_calibrated)" in own.stderr and not own.stdout
    choice = json.loads(ask(home, "--choice", "a=b", "--choice", "c=d", "--json").stdout)
    assert (choice["status"], choice["reason"]) == ("fallback", "unsupported")


PROGRAM = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    answers = {
        one["id"]: {"type": "score", "probabilities": {"0": 0.1, "1": 0.0, "2": 0.0, "3": 0.9}}
        for one in request["questions"]
    }
    print(json.dumps({"v": 1, "id": request["id"], "answers": answers}), flush=True)
"""


def test_a_program_of_ones_own_is_checked_and_asked_without_consent_or_key(home):
    (home.path / "judge.py").write_text(PROGRAM)
    profile(home, "mine", backend="command", argv=[sys.executable, str(home.path / "judge.py")])
    done = home.admit("judge", "check")
    assert done.returncode == 0 and "state     valid" in said(done), said(done)
    assert b"expectation 2.70 of 3" in ask(home).stdout


@pytest.mark.parametrize("deadline_ms", [160, 240, 280, 320, 360, 400])
def test_a_local_judge_that_is_left_at_its_deadline_does_not_abort_the_command(home, deadline_ms):
    file = home.path / ".config" / "admit" / "admit.toml"
    file.parent.mkdir(parents=True)
    file.write_text(
        f"[outputs.filter]\nenabled = true\n[judge.profiles.local.outputs]\ntimeout_ms = {deadline_ms}\n"
    )
    done = home.admit("output", "--task", "which module breaks", input=log())
    assert (done.returncode, done.stderr) == (0, b"")
    assert home.admit("ledger", "show").stdout.count(b"outputs") == 1


def test_what_was_masked_before_it_was_sent_is_counted(home, mock):
    server, _ = mock
    profile(home, "mine", backend="systemone", destination=server.url)
    text = b"Authorization: Bearer " + b"abcDEF123456" * 4
    assert b", 1 place masked" in ask(home, "--noul", "Is it a header?", data=text).stdout


def test_a_fallback_says_its_reason_and_the_way_out(home):
    profile(home, "mine", backend="systemone", destination="http://127.0.0.1:9")
    done = ask(home)
    assert done.returncode == 1 and not done.stdout
    assert b"(connect)" in done.stderr and b"admit judge check mine" in done.stderr


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (("--noul", "x", "--score", "a,b"), "one of"),
        (("--noul", " "), "empty"),
        (("--score", "one"), "2 to 10"),
        (("--score", "a,,b"), "2 to 10"),
        (("--score", ",".join("abcdefghijk")), "2 to 10"),
        (("--choice", "a=b"), "2 to 255"),
        (("--choice", "a"), "LABEL=WORDS"),
        (("--choice", "a=b", "--choice", "a=c"), "twice"),
        (("--choice", f"{'x' * 65}=b", "--choice", "a=c"), "1 to 64"),
        (("--door", "tools"), "--noul, --score or --choice"),
        (("--door", "evidence"), "has no evidence door"),
    ],
)
def test_a_question_that_cannot_be_asked_is_a_usage_error(home, args, what):
    done = ask(home, *args)
    assert done.returncode == 2 and what in said(done)


def test_without_a_text_or_a_task_nothing_is_asked(home):
    assert ask(home, data=b" \n").returncode == 2
    empty = home.admit("judge", "ask", "--task", " ", input=SUBJECT)
    assert empty.returncode == 2 and b"--task" in empty.stderr


DAY_MS = 86_400_000


def record(ledger: SqliteLedger, number: int, day: int, profile: str, *calls: dict[str, object]) -> None:
    decision = DecisionRow(
        f"{number:032x}", ts_ms=day * DAY_MS + 1, admit_version="0", door="outputs", profile=profile
    )
    rows = tuple(
        CallRow(
            call_id=f"{number}.{k}",
            decision_id=decision.decision_id,
            **(CALL | call),  # type: ignore[arg-type]
        )
        for k, call in enumerate(calls)
    )
    ledger.append(Record(decision=decision, calls=rows))


CALL: dict[str, object] = {"destination": "d", "model_asked": "m", "questions": 2, "sent": "yes"}
KNOWN = {"input_tokens": 100, "cost_usd": 0.25, "cost_source": "provider"}


def test_known_and_unknown_cost_are_kept_apart(tmp_path):
    values = {"ledger.path": str(tmp_path / "ledger.db")}
    ledger = SqliteLedger(values)
    record(ledger, 1, 100, "jev", KNOWN, {})
    record(ledger, 2, 100, "local", {"destination": "local", "sent": "no", "cost_usd": 0.0})
    record(ledger, 3, 101, "jev", KNOWN, {"sent": "no", "reason": "busy"})
    ledger.flush(5_000)
    with reading(places(values).database) as con:
        assert con is not None
        days = judge_costs(con, "day")
        assert [row.key for row in days] == ["1970-04-11", "1970-04-12"]
        assert days[0][1:] == (3, 6, 100, 1, 0.25, 1)
        assert days[1][1:] == (1, 2, 100, 0, 0.25, 0)
        assert [(row.key, row.calls) for row in judge_costs(con, "profile")] == [("jev", 3), ("local", 1)]
        assert [row.key for row in judge_costs(con, "session")] == [None]
        assert [row.key for row in judge_costs(con, "day", since=101 * DAY_MS)] == ["1970-04-12"]


def test_what_counts_today_is_not_0_where_it_cannot_be_read(home):
    file = home.path / "state" / "admit" / "limits.db"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"no database" * 100)
    done = home.admit("judge", "cost")
    assert done.returncode == 0 and "cannot be read" in said(done) and "0 of 5,000" not in said(done)
    assert json.loads(home.admit("judge", "cost", "--json").stdout)["today"] is None


def test_an_empty_record_costs_nothing_and_names_the_caps(home):
    done = home.admit("judge", "cost")
    assert done.returncode == 0 and b"0 of 5,000 requests" in done.stdout
    value = json.loads(home.admit("judge", "cost", "--by", "project", "--json").stdout)
    assert (value["by"], value["rows"], value["today"]["requests"]) == ("project", [], 0)
    assert value["caps"] == {"requests": 5000, "input_tokens": 5_000_000, "usd": 1.0}


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "$0"),
        (1, "$1.00"),
        (0.42, "$0.42"),
        (13e-6, "$0.000013"),
        (0.0999, "$0.10"),
        (1234.5, "$1,234.50"),
    ],
)
def test_an_amount_shows_two_digits_that_count(amount, text):
    assert usd(amount) == text


def test_an_unknown_cost_is_never_free():
    known, unknown = Call("d", "m", cost_usd=0.5, sent="yes"), Call("d", "m", sent="yes")
    assert cost([known, known]) == "$1.00"
    assert cost([unknown]) == "cost unknown"
    assert cost([known, unknown, unknown]) == "$0.50 and cost of 2 unknown"
    assert cost([Call("d", "m", cost_usd=0.0)]) == "free"
    assert cost([Call("d", "m")]) == "nothing was sent"
