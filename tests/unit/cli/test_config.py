"""`admit config`, `pause`, `resume` and `completion`, as a person uses them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from admit.cli import frame
from admit.config import layers


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A home and a project of their own; the working folder is the project."""
    for variable, folder in (("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("HOME", "home")):
        monkeypatch.setenv(variable, str(tmp_path / folder))
    for variable in ("ADMIT_CONFIG", "ADMIT_OFF", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(layers, "_seen", {})
    monkeypatch.setattr(layers, "_user_file", None)
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


@pytest.fixture
def user(place):
    return place / "config" / "admit" / "admit.toml"


@pytest.fixture
def admit(capsys):
    """Run one command line; gives code, standard output, standard error."""

    def run(*args: str) -> tuple[int, str, str]:
        code = frame.run(args)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def answer_prompts(monkeypatch, answer: str) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda *_: answer)


def test_show_prints_every_value_with_its_unit_and_its_origin(admit, place, user):
    admit("config", "set", "outputs.run_after", "7")
    (place / "project" / ".admit.toml").write_text("\noutputs.max_kept_chars = 3000\n")
    code, out, _ = admit("config", "show", "--origin")
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in out.splitlines()}
    assert code == 0
    assert rows["outputs.run_after"] == f"7 lines user {user}:2"
    assert rows["outputs.max_kept_chars"] == f"3000 characters project {place}/project/.admit.toml:2"
    assert rows["ledger.busy_ms"] == "2000 ms shipped"
    assert rows["judge.profiles.local.outputs.max_candidates"] == "24 candidates shipped"
    assert set(rows) == {"key", *layers.load().values}


def test_show_as_json_gives_the_same_with_types(admit, user):
    admit("config", "set", "outputs.weights.spread", "[1, 0, 0.5]")
    values = {row["key"]: row for row in json.loads(admit("config", "show", "--json")[1])["values"]}
    assert values["outputs.weights.spread"] == {
        "key": "outputs.weights.spread",
        "value": [1.0, 0.0, 0.5],
        "unit": None,
        "origin": {"layer": "user", "file": str(user), "line": 2},
    }
    assert values["outputs.filter.min_score"]["value"] is None


def test_show_says_on_stderr_that_something_is_wrong(admit, place):
    (place / "project" / ".admit.toml").write_text('outputs.mode = "off"\n')
    code, out, err = admit("config", "show")
    assert code == 0 and "1 finding: admit config check" in err and "finding" not in out


def test_explain_says_what_a_key_does_and_who_may_set_it(admit):
    code, out, _ = admit("config", "explain", "outputs.max_kept_chars")
    assert code == 0
    assert out.splitlines() == [
        "outputs.max_kept_chars",
        "  The most that is kept of one output.",
        "  now      6000 characters, shipped",
        "  default  6000 characters",
        "  range    2,000 to 20,000",
        "  who      a project may lower it",
        "  since    0.1",
    ]


@pytest.mark.parametrize("name", sorted(layers.KEYS))
def test_every_key_can_be_explained_also_as_json(name, admit):
    assert admit("config", "explain", name)[0] == 0
    answer = json.loads(admit("config", "explain", name, "--json")[1])
    assert answer["key"] == name and answer["help"] and answer["range"]


@pytest.mark.parametrize("words", [("explain",), ("set",)])
def test_an_unknown_key_names_the_nearest_one(words, admit):
    code, _, err = admit("config", *words, "outputs.max_kept_char", *(["1"] if words == ("set",) else []))
    assert code == 2 and "Did you mean outputs.max_kept_chars?" in err


def test_set_writes_the_users_file_and_says_what_was(admit, user):
    code, out, _ = admit("config", "set", "outputs.run_after", "7")
    assert code == 0 and out == f"outputs.run_after = 7, was 3, in {user}\n"
    answer = json.loads(admit("config", "set", "outputs.run_after", "8", "--json")[1])
    assert (answer["set"], answer["was"], answer["value"]) == (8, 7, 8)
    assert user.read_text() == "[outputs]\nrun_after = 8\n"


def test_set_writes_the_file_that_was_named(admit, place, user):
    other = place / "other.toml"
    other.write_text("# mine\n")
    other.chmod(0o600)
    assert admit("--config", str(other), "config", "set", "outputs.run_after", "7")[0] == 0
    assert "# mine" in other.read_text() and "run_after = 7" in other.read_text() and not user.exists()


def test_set_says_what_is_in_force_where_the_project_is_tighter(admit, place):
    (place / "project" / ".admit.toml").write_text("outputs.max_kept_chars = 3000\n")
    _, out, _ = admit("config", "set", "outputs.max_kept_chars", "5000")
    assert "In force here is 3000, project" in out


LOOSER = [
    ("outputs.max_kept_chars", "7000"),
    ("outputs.filter.enabled", "true"),
    ("outputs.filter.timeout_ms", "5000"),
    ("ledger.text", "full"),
    ("judge.profiles.local.outputs.max_candidates", "25"),
]


@pytest.mark.parametrize(("name", "word"), LOOSER)
def test_set_does_not_loosen_where_nobody_can_be_asked_unless_told_to(name, word, admit, user):
    code, _, err = admit("config", "set", name, word)
    assert code == 2 and "is looser than" in err and "--yes" in err and not user.exists()
    assert admit("config", "set", name, word, "--yes")[0] == 0
    assert layers.load().values[name] in (word, True, 7000, 5000, 25)


@pytest.mark.parametrize(("answer", "code", "kept"), [("n", 1, 6000), ("y", 0, 7000)])
def test_set_asks_a_person_before_loosening(answer, code, kept, admit, monkeypatch):
    answer_prompts(monkeypatch, answer)
    assert admit("config", "set", "outputs.max_kept_chars", "7000")[0] == code
    assert layers.load().values["outputs.max_kept_chars"] == kept


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("outputs.max_kept_chars", "5000"),
        ("outputs.mask", "true"),
        ("outputs.run_after", "9"),
        ("outputs.mode", "off"),
    ],
)
def test_set_tightens_without_asking(name, word, admit):
    assert admit("config", "set", name, word)[0] == 0


def test_unmasking_again_is_loosening(admit):
    admit("config", "set", "outputs.mask", "true")
    assert admit("config", "set", "outputs.mask", "false")[0] == 2


def test_check_is_quiet_and_0_where_nothing_is_wrong(admit, user):
    assert admit("config", "check") == (0, "There is no file: the shipped values hold.\n", "")
    admit("config", "set", "outputs.run_after", "7")
    assert admit("config", "check") == (0, f"Nothing is wrong in {user}.\n", "")


def test_check_prints_every_finding_with_its_place_and_ends_with_1(admit, place, user):
    project = place / "project" / ".admit.toml"
    project.write_text('outputs.mode = "off"\noutputs.max_kept_char = 1\n')
    user.parent.mkdir(parents=True)
    user.write_text("[outputs\n")
    code, out, _ = admit("config", "check")
    assert code == 1
    assert f"{user}:1:9: is not TOML" in out
    assert f"{project}:1: outputs.mode may be set in the user's own file only" in out
    assert "did you mean outputs.max_kept_chars?" in out
    kinds = [finding["kind"] for finding in json.loads(admit("config", "check", "--json")[1])["findings"]]
    assert kinds == ["broken", "refused", "unknown"]


def test_path_prints_where_everything_is(admit, place, user):
    (place / "project" / ".admit.toml").write_text("")
    answer = json.loads(admit("config", "path", "--json")[1])
    assert answer["user"] == str(user) and answer["project"] == str(place / "project" / ".admit.toml")
    assert answer["state"] == str(place / "state" / "admit") and answer["cache"].endswith("/.cache/admit")
    code, out, _ = admit("config", "path")
    assert code == 0 and f"{user}  (not there)" in out


def test_pause_and_resume_say_what_they_did(admit):
    assert admit("resume") == (0, "Nothing was paused.\n", "")
    code, out, _ = admit("pause")
    assert code == 0 and out.startswith("Paused by admit pause: everything passes as without Admit.")
    assert layers.load().values["outputs.mode"] == "off"
    assert json.loads(admit("pause", "--minutes", "5", "--json")[1])["until_ms"] > 0
    assert admit("resume") == (0, "Every door acts again.\n", "")
    assert layers.load().values["outputs.mode"] == "enforce"


def test_resume_cannot_end_a_pause_by_the_environment_and_says_so(admit, monkeypatch):
    monkeypatch.setenv("ADMIT_OFF", "1")
    assert "Take ADMIT_OFF out of the environment" in admit("resume")[1]


@pytest.mark.parametrize("minutes", ["0", "-1", "nan", "soon", "1000000"])
def test_a_pause_of_no_time_or_of_ages_is_refused(minutes, admit):
    assert admit("pause", "--minutes", minutes)[0] == 2
    assert layers.load().pause is None


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_script_of_each_shell(shell):
    done = subprocess.run(
        [sys.executable, "-c", f"from admit.cli.frame import run; run(['completion', '{shell}'])"],
        capture_output=True,
        text=True,
    )
    assert f"_ADMIT_COMPLETE={shell}_complete" in done.stdout, done.stderr
