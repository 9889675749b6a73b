"""Consents: for one destination, one door, the data named then and the words shown then; else none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import MappingProxyType

import pytest

from admit.core.events import undeclared
from admit.errors import UsageError
from admit.judges import consent as module
from admit.judges.consent import CLASSES, Consent, needs_consent, statement
from admit.judges.profiles import Profile

A = "https://judge.example:443"


@pytest.fixture
def consent(tmp_path: Path) -> Consent:
    return Consent(str(tmp_path / "consent.json"), now=lambda: 1_700_000_000.5)


def test_nothing_is_allowed_before_it_is_granted(consent):
    assert not any(consent.allows(A, door) for door in CLASSES)
    assert consent.grants() == () and consent.finding is None
    assert not Path(consent.path).exists()


def test_a_grant_is_for_one_door_and_one_scheme_host_and_port(consent):
    consent.grant(A, ["outputs"])
    assert consent.allows(A, "outputs")
    for address in ("http://judge.example:443", "https://judge.example:8443", "https://b.judge.example:443"):
        assert not consent.allows(address, "outputs")
    assert not any(consent.allows(A, door) for door in CLASSES if door != "outputs")
    assert not consent.allows(A, "no such door")


def test_a_grant_keeps_time_version_and_the_hash_of_the_statement(consent, tmp_path):
    from admit import __version__

    consent.grant(A, ["outputs", "tools"])
    kept = json.loads((tmp_path / "consent.json").read_text())
    assert kept["schema"] == 1
    for row in kept["grants"]:
        assert (row["destination"], row["version"], row["ts_ms"]) == (A, __version__, 1_700_000_000_500)
        assert row["statement_hash"].startswith("sha256:") and len(row["statement_hash"]) == 71
    assert [row["door"] for row in kept["grants"]] == ["outputs", "tools"]
    assert (tmp_path / "consent.json").stat().st_mode & 0o777 == 0o600


def test_the_statement_of_the_outputs_door_holds_the_sentence_word_for_word():
    sentence = (
        "When the outputs filter runs, the whole redacted output is sent to https://judge.example:443, "
        "not only the passages that are kept."
    )
    assert sentence in statement(A, "outputs").split("\n")


@pytest.mark.parametrize("door", CLASSES)
def test_a_statement_names_destination_door_every_class_and_the_way_back(door):
    text = statement(A, door)
    assert A in text.split("\n")[0] and door in text.split("\n")[0]
    assert all(f"  - {name}: " in text for name in CLASSES[door])
    assert f"admit consent revoke {A}" in text


def test_statements_of_different_doors_and_destinations_differ():
    texts = {statement(address, door) for address in (A, "https://b:443") for door in CLASSES}
    assert len(texts) == 2 * len(CLASSES)


def test_a_class_that_a_door_newly_sends_needs_consent_again(consent, monkeypatch):
    consent.grant(A, ["outputs", "tools"])
    more = {**CLASSES, "outputs": (*CLASSES["outputs"], "document_text")}
    monkeypatch.setattr(module, "CLASSES", MappingProxyType(more))
    assert not consent.allows(A, "outputs")
    assert consent.allows(A, "tools")
    assert [one.holds for one in consent.grants()] == [False, True]
    consent.grant(A, ["outputs"])
    assert consent.allows(A, "outputs")


def test_a_statement_with_other_words_needs_consent_again(consent, monkeypatch):
    consent.grant(A, ["tools"])
    monkeypatch.setattr(module, "_MEANS", {**module._MEANS, "tool_descriptions": "other words"})
    assert not consent.allows(A, "tools")


def test_a_grant_of_fewer_classes_than_the_door_sends_allows_nothing(consent):
    consent.grant(A, ["outputs"], ["task"])
    assert not consent.allows(A, "outputs")
    assert consent.grants()[0].classes == ("task",)
    consent.grant(A, ["outputs"], ["output_passages", "task"])
    assert consent.allows(A, "outputs") and len(consent.grants()) == 1


def test_an_unknown_door_or_class_is_refused_and_nothing_is_written(consent):
    with pytest.raises(UsageError, match="there are: guidance, tools, outputs, evidence"):
        consent.grant(A, ["outputs", "windows"])
    with pytest.raises(UsageError, match="no class 'everything'"):
        consent.grant(A, ["outputs"], ["everything"])
    assert not Path(consent.path).exists()


def test_revoking_takes_every_door_of_one_destination(consent):
    consent.grant(A, ["outputs", "tools"])
    consent.grant("https://b:443", ["outputs"])
    assert [one.door for one in consent.revoke(A)] == ["outputs", "tools"]
    assert not consent.allows(A, "outputs") and consent.allows("https://b:443", "outputs")
    assert consent.revoke(A) == ()


def test_the_bodies_of_events_are_as_declared(consent):
    (grant,) = consent.grant(A, ["outputs"])
    for type in ("judge.consent_granted", "judge.consent_revoked"):
        assert undeclared(type, grant.body()) == ()
    assert grant.body()["doors"] == ["outputs"]


def test_a_long_lived_reader_sees_a_change_by_another(consent):
    other = Consent(consent.path)
    assert not consent.allows(A, "tools")
    other.grant(A, ["tools"])
    assert consent.allows(A, "tools")
    other.revoke(A)
    assert not consent.allows(A, "tools")
    other.grant(A, ["tools"])
    assert consent.allows(A, "tools")
    os.unlink(consent.path)
    assert not consent.allows(A, "tools")


def test_a_file_that_did_not_change_is_read_once(consent, monkeypatch):
    consent.grant(A, ["tools"])
    read = []
    real = module.read_private
    monkeypatch.setattr(module, "read_private", lambda *given: read.append(given) or real(*given))
    assert all(consent.allows(A, "tools") for _ in range(5))
    assert len(read) == 1


ROW = {
    "destination": A,
    "door": "tools",
    "classes": ["task", "tool_descriptions"],
    "statement_hash": "sha256:0",
    "version": "1",
    "ts_ms": 1,
}
BROKEN = {
    "nothing": b"",
    "half a file": b'{"schema": 1, "grants": [{"dest',
    "no object": b"[]",
    "a number": b"7",
    "no grants": b'{"schema": 1}',
    "another schema": b'{"schema": 2, "grants": []}',
    "grants of another shape": b'{"schema": 1, "grants": 5}',
    "a grant that is a text": b'{"schema": 1, "grants": ["all"]}',
    "a field too many": json.dumps({"schema": 1, "grants": [{**ROW, "holds": True}]}).encode(),
    "a field too few": json.dumps({"schema": 1, "grants": [{"destination": A}]}).encode(),
    "a class that is no text": json.dumps({"schema": 1, "grants": [{**ROW, "classes": [1]}]}).encode(),
    "a time that is no number": json.dumps({"schema": 1, "grants": [{**ROW, "ts_ms": "now"}]}).encode(),
    "not UTF-8": b'{"schema": 1, "grants": [], "\xff": 1}',
    "too deep": b"[" * 100_000,
    "an endless number": b'{"schema": ' + b"1" * 5_000 + b"}",
    "too large": b" " * (1 << 20) + b"{}",
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_file_allows_nothing_and_is_a_finding(consent, what):
    consent.grant(A, ["tools"])
    good = Path(consent.path).read_bytes()
    Path(consent.path).write_bytes(BROKEN[what])
    assert not consent.allows(A, "tools") and consent.grants() == ()
    finding = consent.finding
    assert finding is not None
    assert finding.file == consent.path and finding.text and finding.fix
    with pytest.raises(UsageError, match=r"consent\.json"):
        consent.grant(A, ["tools"])
    with pytest.raises(UsageError):
        consent.revoke(A)
    assert Path(consent.path).read_bytes() == BROKEN[what]
    Path(consent.path).write_bytes(good)
    assert consent.allows(A, "tools") and consent.finding is None


def linked(path: Path) -> None:
    path.rename(path.with_name("real.json"))
    path.symlink_to(path.with_name("real.json"))


UNSAFE = {
    "a link": linked,
    "a link that leads nowhere": lambda path: (path.unlink(), path.symlink_to("/nowhere/at/all")),
    "readable by the group": lambda path: path.chmod(0o640),
    "writable by everyone": lambda path: path.chmod(0o602),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path, 0o600)),
}


@pytest.mark.parametrize("what", UNSAFE)
def test_a_file_that_others_could_have_made_allows_nothing(consent, what):
    consent.grant(A, ["tools"])
    assert consent.allows(A, "tools")
    UNSAFE[what](Path(consent.path))
    assert not consent.allows(A, "tools")
    assert consent.finding is not None and consent.finding.fix
    with pytest.raises(UsageError):
        consent.grant(A, ["outputs"])


def test_a_file_that_cannot_be_looked_for_allows_nothing_and_is_a_finding(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    consent = Consent(str(tmp_path / "file" / "consent.json"))
    assert not consent.allows(A, "tools")
    assert consent.finding is not None and consent.finding.text.startswith("cannot be read")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of two users")
def test_another_users_file_allows_nothing(consent):
    consent.grant(A, ["tools"])
    os.chown(consent.path, 65534, 65534)
    assert not consent.allows(A, "tools")
    assert consent.finding is not None and "another user" in consent.finding.text


def test_grants_at_the_same_time_lose_none_of_each_other(consent):
    addresses = [f"https://judge{n}.example:443" for n in range(12)]
    threads = [
        threading.Thread(target=Consent(consent.path).grant, args=(one, ["outputs"])) for one in addresses
    ]
    code = (
        "import sys\nfrom admit.judges.consent import Consent\n"
        "for n in range(6): Consent(sys.argv[1]).grant(f'https://{sys.argv[2]}{n}:443', ['tools'])"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code, consent.path, name]) for name in "xy"]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert [one.wait(60) for one in processes] == [0, 0]
    assert len(consent.grants()) == 24
    assert all(consent.allows(one, "outputs") for one in addresses)


def test_a_write_that_fails_leaves_what_was_there_and_no_rest(consent, monkeypatch):
    consent.grant(A, ["tools"])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError) as fault:
        consent.grant(A, ["outputs"])
    assert fault.value.filename == consent.path
    assert consent.allows(A, "tools") and not consent.allows(A, "outputs")
    left = sorted(os.listdir(os.path.dirname(consent.path)))
    assert left == ["consent.json", "consent.json.lock"]


def at(destination: str, backend: str = "chat") -> Profile:
    return Profile("mine", backend, "m", {}, destination)


@pytest.mark.parametrize(
    "destination",
    [
        "http://127.0.0.1:11434/v1",
        "http://localhost:8000",
        "http://LOCALHOST",
        "http://[::1]:80",
        "http://127.9.9.9",
    ],
)
def test_a_server_on_this_machine_needs_no_consent(destination):
    assert not needs_consent(at(destination))


@pytest.mark.parametrize(
    "destination",
    [
        "https://api.example.com",
        "http://192.168.1.7:8000",
        "http://10.0.0.1",
        "https://localhost.example.com",
        "https://my.localhost",
        "https://127.0.0.1.example.com",
        "http://0.0.0.0:80",
        "http://2130706433",
        "http://[fe80::1]",
    ],
)
def test_every_other_server_needs_it(destination):
    assert needs_consent(at(destination))


def test_a_local_judge_and_a_program_need_none():
    assert not needs_consent(at("", "local"))
    assert not needs_consent(at("", "command"))


def test_the_file_is_in_the_configuration_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert Consent().path == str(tmp_path / "admit" / "consent.json")
