"""`admit consent`: nothing is allowed before all that is sent was shown, and a person said yes."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from admit.cli import asking, frame
from admit.cli import consent as command
from admit.config import layers
from admit.judges.consent import Consent, statement

JEV = "https://api.typesafe.ai:443"


class Person:
    """Who types commands; `says` is what they answer, None where there is no terminal."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.says: bool | None = None
        self.questions: list[str] = []
        self._capsys = capsys

    def admit(self, line: str) -> tuple[int, str, str]:
        """Exit code, output and messages of `admit consent LINE`."""
        code = frame.run(["consent", *line.split()])
        out, err = self._capsys.readouterr()
        return code, out, err

    def json(self, line: str) -> Any:
        code, out, _ = self.admit(f"{line} --json")
        assert code == 0
        return json.loads(out)

    def yes(self, question: str) -> bool:
        self.questions.append(question)
        assert self.says is not None
        return self.says

    def must_ask(self, what: str) -> None:
        if self.says is None:
            asking.must_ask(what)

    def events(self, type: str) -> list[dict[str, Any]]:
        """The bodies of the events of one type, in order."""
        con = sqlite3.connect(self.folder / "state/admit/ledger.db")
        rows = con.execute("SELECT body FROM events WHERE type = ? ORDER BY seq", (type,)).fetchall()
        con.close()
        return [json.loads(body) for (body,) in rows]


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Person:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("ADMIT_CONFIG", raising=False)
    monkeypatch.setattr(layers, "_user_file", None)
    monkeypatch.chdir(tmp_path)
    person = Person(tmp_path, capsys)
    monkeypatch.setattr(command, "yes", person.yes)
    monkeypatch.setattr(command, "must_ask", person.must_ask)
    return person


def test_without_a_terminal_the_statement_is_shown_and_nothing_is_allowed(person):
    code, out, said = person.admit("grant jev --door outputs")
    assert code == 2
    assert statement(JEV, "outputs") in out
    assert "add --yes" in said
    assert Consent().grants() == ()


def test_a_no_allows_nothing(person):
    person.says = False
    code, out, said = person.admit("grant jev --door outputs")
    assert (code, said) == (1, "Nothing was allowed.\n")
    assert statement(JEV, "outputs") in out and len(person.questions) == 1
    assert Consent().grants() == ()


def test_a_yes_allows_the_doors_that_were_named_and_is_recorded(person):
    person.says = True
    code, out, _ = person.admit("grant jev --door outputs --door tools --door outputs")
    assert code == 0
    assert statement(JEV, "outputs") in out and statement(JEV, "tools") in out
    assert [Consent().allows(JEV, door) for door in ("outputs", "tools", "guidance")] == [True, True, False]
    granted = person.events("judge.consent_granted")
    assert granted == [one.body() for one in sorted(Consent().grants())]
    assert [one["doors"] for one in granted] == [["outputs"], ["tools"]]


def test_yes_on_the_command_line_asks_nothing_and_shows_the_statement_all_the_same(person):
    code, out, _ = person.admit("grant https://API.typesafe.ai/v1/systemone --door guidance --yes")
    assert code == 0 and person.questions == []
    assert statement(JEV, "guidance") in out
    assert Consent().allows(JEV, "guidance")


def test_json_needs_yes_and_holds_the_statement(person):
    code, out, said = person.admit("grant jev --door tools --json")
    assert (code, out) == (2, "") and "--yes" in said
    given = person.json("grant jev --door tools --yes")
    assert (given["schema"], given["destination"]) == (1, JEV)
    (row,) = given["granted"]
    assert row["statement"] == statement(JEV, "tools") and row["holds"] is True
    assert row["classes"] == ["task", "tool_descriptions"]


def test_list_shows_each_consent_and_whether_it_still_holds(person):
    assert "Nothing may leave this machine." in person.admit("list")[1]
    person.admit("grant jev --door tools --yes")
    code, out, _ = person.admit("list")
    assert code == 0 and out.split("\n")[1].startswith(f"{JEV}  tools  task, tool_descriptions  ")
    assert out.rstrip().endswith("holds")
    path = Path(Consent().path)
    path.write_text(path.read_text().replace("sha256:", "sha256:0"))
    assert "no longer holds: grant it again" in person.admit("list")[1]
    assert [one["holds"] for one in person.json("list")["grants"]] == [False]


def test_list_says_what_is_wrong_with_a_file_that_allows_nothing(person):
    person.admit("grant jev --door tools --yes")
    Path(Consent().path).chmod(0o644)
    code, out, _ = person.admit("list")
    assert code == 1
    assert "is open to other users: nothing is allowed." in out and "chmod 600" in out
    code, out, _ = person.admit("list --json")
    assert (code, json.loads(out)["grants"]) == (1, [])
    code, _, said = person.admit("grant jev --door outputs --yes")
    assert code == 2 and "chmod 600" in said


def test_revoke_takes_back_every_door_and_is_recorded(person):
    person.admit("grant jev --door tools --door outputs --yes")
    code, out, _ = person.admit("revoke https://api.typesafe.ai")
    assert (code, out) == (0, f"Nothing goes to {JEV} any more; it was outputs, tools.\n")
    assert Consent().grants() == ()
    assert [one["doors"] for one in person.events("judge.consent_revoked")] == [["outputs"], ["tools"]]
    assert person.admit("revoke jev")[:2] == (0, f"Nothing was allowed for {JEV}.\n")
    assert person.json("revoke jev")["revoked"] == []


@pytest.mark.parametrize("target", ["local", "http://127.0.0.1:11434/v1", "http://localhost"])
def test_a_judge_on_this_machine_needs_none_and_nothing_is_kept(person, target):
    code, out, _ = person.admit(f"grant {target} --door tools --yes")
    assert code == 0 and "needs no consent" in out
    assert not Path(Consent().path).exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("grant nowhere --door tools --yes", "'nowhere' is neither a URL such as https://HOST nor a profile"),
        ("grant ftp://a.example --door tools --yes", "is no URL of a server"),
        ("grant https://me:secret@a.example --door tools --yes", "holds no user or password"),
        ("grant openai-compatible --door tools --yes", "judge.profiles.openai-compatible.destination"),
        ("grant jev --yes", "--door"),
        ("grant jev --door all --yes", "'all' is not one of"),
        ("revoke nowhere", "neither a URL"),
    ],
)
def test_what_names_no_destination_or_door_is_wrong_usage_and_names_the_fix(person, line, said):
    code, out, err = person.admit(line)
    assert code == 2 and out == "" and said in err
    assert "secret" not in err
    assert not Path(Consent().path).exists()
