"""The self-test with a stand-in for the client: what a host gets wrong is found out."""

from __future__ import annotations

import json
import os
import shutil
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from admit.config.keys import shipped
from admit.hosts.claude_code import selftest
from admit.hosts.claude_code.fake_page import fake_page
from admit.hosts.claude_code.probes import BY_NAME, PROBES
from admit.hosts.claude_code.selftest import chosen, run_selftest

from .stand_in import stand_in

ADMIT = str(Path(sys.executable).with_name("admit"))
needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate")


def results(client, *names):
    found = run_selftest(client, "9.9.9", chosen(names), values=shipped())
    return {one.name: one for one in found}


def test_a_host_that_does_as_it_documents_passes_every_route(place):
    found = results(stand_in(place / "client"))
    shown = {name: (one.result, one.detail) for name, one in found.items()}
    assert list(found) == list(BY_NAME)
    # This host holds a rule against the rewritten command, as the real one does.
    expected = {"deny-rule": "fail", "allow-rule": "fail"}
    without_page = {} if shutil.which("openssl") else {"replace-webfetch": "unproven"}
    for probe in PROBES:
        usual = {**expected, **without_page}.get(probe.name, probe.usual)
        assert shown[probe.name][0] == usual, shown[probe.name]
    for one in found.values():
        assert one.result != "pass" or one.evidence is not None
        if one.evidence is not None:
            line = Path(one.evidence.file).read_text().split("\n")[one.evidence.line - 1]
            assert f"-{one.name}-" in line


@pytest.mark.parametrize(
    "fault, probe, result",
    [
        ("drops-replacements", "replace-bash", "fail"),
        ("drops-replacements", "replace-mcp", "fail"),
        ("drops-replacements", "outputs-door", "fail"),
        ("drops-context", "inject-prompt", "fail"),
        ("ignores-rewrites", "rewrite-input", "fail"),
        ("rules-for-the-original", "deny-rule", "pass"),
        ("rules-for-the-original", "allow-rule", "pass"),
    ],
)
def test_what_a_host_does_otherwise_is_found_out(place, fault, probe, result):
    found = results(stand_in(place / "client", fault), probe)
    assert {name: one.result for name, one in found.items()} == {probe: result}


def test_a_client_that_dies_proves_nothing(place):
    client = place / "client"
    client.write_text("#!/bin/sh\necho out of order\nexit 3\n")
    client.chmod(0o755)
    found = results(str(client), "replace-bash", "daemon-killed")
    assert {one.result for one in found.values()} == {"unproven"}
    assert all("out of order" in one.detail for one in found.values())


def test_a_probe_runs_only_its_own_session(place):
    sessions = []
    client = stand_in(place / "client")
    probes = chosen(["empty-output", "daemon-killed"])
    run_selftest(
        client, "9.9.9", probes, values=shipped(), on_session=lambda name, bench, ran: sessions.append(name)
    )
    assert sessions == ["late", "killed"]


def test_nothing_of_a_session_is_left_behind_but_its_transcript(place, monkeypatch):
    temporary = place / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    results(stand_in(place / "client"), "replace-bash", "outputs-door")
    assert os.listdir(temporary) == []
    kept = sorted(path.name for path in (place / "state").rglob("*") if path.is_file())
    assert kept == ["door.jsonl", "routes.jsonl"]


def test_the_command_keeps_what_it_saw_and_ends_with_one_where_a_needed_route_fails(place):
    env = {"PATH": os.environ["PATH"], "HOME": str(place), "XDG_STATE_HOME": str(place / "state")}
    for fault, code in (("", 0), ("drops-context", 1)):
        client = stand_in(place / f"client-{fault}", fault)
        command = [ADMIT, "selftest", "claude-code", "--client", client, "--probe", "inject-prompt", "--json"]
        done = subprocess.run(command, env=env, capture_output=True, timeout=120)
        told = json.loads(done.stdout)
        assert (done.returncode, told["version"]) == (code, "9.9.9")
        (probe,) = told["probes"]
        assert probe["result"] == ("pass" if code == 0 else "fail")
        assert [finding["level"] for finding in told["findings"]] == ["fault"] * code
        report = selftest.last_report("9.9.9")
        assert report is not None and report["probes"] == told["probes"]
    done = subprocess.run([*command[:-1]], env=env, capture_output=True, text=True, timeout=120)
    assert "fail      inject-prompt  no request holds it\n" in done.stdout
    assert "1 fail\nfault: inject-prompt in 9.9.9" in done.stdout


@needs_openssl
def test_the_page_is_served_with_a_certificate_that_vouches_for_it(tmp_path):
    with fake_page(str(tmp_path), "# a page") as page:
        assert page is not None and page.url.startswith("https://127.0.0.1:")
        context = ssl.create_default_context(cafile=page.certificate)
        with urllib.request.urlopen(page.url, context=context, timeout=20) as reply:
            assert reply.read() == b"# a page"


def test_without_openssl_there_is_no_page_and_the_probe_stays_unproven(place, monkeypatch):
    tools = place / "bin"
    tools.mkdir()
    for name in ("bash", "cat", "sh"):
        (tools / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(tools))
    found = results(stand_in(place / "client"), "replace-webfetch", "replace-bash")
    assert (found["replace-bash"].result, found["replace-webfetch"].result) == ("pass", "unproven")
    assert "no openssl" in found["replace-webfetch"].detail
