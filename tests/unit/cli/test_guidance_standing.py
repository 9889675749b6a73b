"""How guidance stands in a folder, as `admit status` and `admit doctor` say it."""

from __future__ import annotations

import json

import pytest

from admit.cli import checks, frame, guidance_standing
from admit.config import layers
from admit.judges.encoder import Encoder


@pytest.fixture
def place(tmp_path, monkeypatch):
    for variable, folder in (("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("HOME", "home")):
        monkeypatch.setenv(variable, str(tmp_path / folder))
    for variable in ("ADMIT_CONFIG", "ADMIT_OFF"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(layers, "_seen", {})
    monkeypatch.setattr(layers, "_user_file", None)
    monkeypatch.setattr(Encoder, "is_installed", lambda self: False)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


@pytest.fixture
def settings(place):
    """Write the user's settings, and give them."""

    def write(*lines: str) -> layers.Config:
        path = place / "config" / "admit" / "admit.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
        path.chmod(0o600)
        layers._seen.clear()
        return layers.load()

    return write


def way(place, id, matter):
    path = place / "config" / "agent-ways" / "ways" / id / f"{id}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\n{matter}\n---\nbody\n")
    return path


def said(config):
    return [(fault.text, fault.fix) for fault in guidance_standing.guidance(config)]


def test_without_guidance_nothing_is_said(place, settings, capsys):
    assert said(settings()) == []
    assert frame.run(["status"]) == 0 and "Guidance" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("lines", "gate", "words"),
    [
        ((), "off", "not judged, with the judge local."),
        (('guidance.mode = "shadow"',), "shadow", "judged for the record alone by local."),
        (('judge.profile = "jev"',), "enforce", "judged by jev."),
        (('judge.profile = "jev"', 'judge.mode = "off"'), "off", "not judged, with the judge jev."),
        (('judge.profile = "jev"', 'guidance.mode = "on"'), "off", "not judged, with the judge jev."),
        (('judge.profile = "nobody"',), "off", "not judged, with the judge nobody."),
    ],
)
def test_status_says_how_many_there_are_and_who_finds_and_judges_them(
    lines, gate, words, place, settings, capsys
):
    way(place, "deploy", "pattern: deployment")
    way(place, "commit", "description: how to write the message of a commit")
    settings(*lines)
    assert frame.run(["status"]) == 0
    assert f"Guidance here: 2 snippets, found by words; {words}" in capsys.readouterr().out
    assert frame.run(["status", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["guidance"]
    assert (found["snippets"], found["matcher"], found["gate"], found["errors"]) == (2, "lexical", gate, 0)


def test_an_error_in_a_file_is_found_with_its_place(place, settings):
    path = way(place, "deploy", "description: when: it is late")
    way(place, "large", "description: " + "x" * 20_000)
    (errors, _) = said(settings())
    assert errors[0].startswith("2 errors in files of guidance; the first: ")
    assert str(path)[-30:] + ":2: " in errors[0] and errors[1] == "admit guide lint"


def test_a_matcher_without_its_embedder_is_found_unless_that_is_wanted(place, settings, monkeypatch):
    way(place, "commit", "description: how to write the message of a commit")
    [(text, fix)] = said(settings())
    assert "found by words, for there is no embedder" in text and fix.startswith("pip install")
    assert said(settings('guidance.matcher.encoder = "off"')) == []
    [(text, _)] = said(settings('guidance.matcher.degraded = "explicit_only"'))
    assert "found by patterns, commands, files and states alone" in text
    monkeypatch.setattr(Encoder, "is_installed", lambda self: True)
    assert said(settings()) == []


def test_a_judge_elsewhere_needs_consent_for_guidance_where_there_is_any(place, settings):
    config = settings('judge.profile = "jev"')
    assert [fault.text for fault in checks.judge(config)] == ["There is no key for the profile jev."]
    way(place, "deploy", "pattern: deployment")
    texts = [fault.text for fault in checks.judge(config)]
    assert texts[1].startswith("guidance: Nobody allowed that texts of the guidance door go to ")
