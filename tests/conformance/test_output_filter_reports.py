"""What is told of the filter afterwards: the record, `status`, `why` and the reports, by the command line."""

from __future__ import annotations

import json

import pytest

from tests.servers.chat_server import ChatServer
from tests.unit.cli.command_line import Home, id_in
from tests.unit.transcripts.recorded import Claude

LINES = [f"step {k} of the build went well" for k in range(900)]
PLAIN = "".join(f"{line}\n" for line in LINES).encode()
TASK = "which port does step 100 use"


def near_100(task: str, text: str) -> float:
    return 1.0 if "step 100 " in text else 0.0


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def ask(home: Home, server: ChatServer, **outputs_filter: str) -> None:
    """Settings that put the filter on, with a judge at this server."""
    path = home.path / ".config" / "admit" / "admit.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    rest = "".join(f"{name} = {value}\n" for name, value in outputs_filter.items())
    path.write_text(
        f'[judge]\nprofile = "jev"\n[judge.profiles.jev]\ndestination = "{server.url}"\n'
        f"[outputs.filter]\nenabled = true\n{rest}"
    )
    path.chmod(0o600)


def told(home: Home, *args: str) -> dict:
    done = home.admit(*args, "--json")
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def filtered_and_excerpt(home: Home, server: ChatServer) -> tuple[str, str]:
    """One output that a judge chose from, and one whose judge failed; the agent goes back for the second."""
    ask(home, server)
    first = id_in(home.output(PLAIN, "--task", TASK, "--exit-code", "0"))
    server.mode = "status-500"
    second = id_in(home.output(PLAIN + b"one more line\n", "--task", TASK, "--exit-code", "0"))
    assert home.admit("recall", second, "--lines", "1-9").returncode == 0
    return first, second


def test_F8_status_counts_filtered_and_excerpt_outputs_apart(home):
    with ChatServer(judge=near_100) as server:
        filtered_and_excerpt(home, server)
        sent = len(server.requests)
    value = told(home, "status")
    rows = {row["kind"]: row for row in value["doors"]}
    assert set(rows) == {"filtered", "excerpt"}
    assert (rows["filtered"]["decisions"], rows["excerpt"]["decisions"]) == (1, 1)
    assert (rows["filtered"]["recalled"], rows["excerpt"]["recalled"]) == (0, 1)
    assert (rows["filtered"]["fallbacks"], rows["excerpt"]["fallbacks"]) == (0, 1)
    assert 0 < rows["filtered"]["size_out"] < 6_500 and 0 < rows["excerpt"]["size_out"] < 6_500
    assert rows["filtered"]["calls"] + rows["excerpt"]["calls"] == sent
    assert rows["filtered"]["calls"] == 1 and rows["filtered"]["judge_ms"] > 0
    assert [(row["reason"], row["decisions"]) for row in value["reasons"]] == [("provider_500", 1)]
    [judge] = value["judges"]
    assert (judge["key"], judge["calls"], judge["cost_unknown"]) == ("jev", 2, 1) and judge["cost_usd"] > 0
    text = home.admit("status").stdout.decode()
    assert "outputs, filtered" in text and "outputs, excerpt" in text
    assert "outputs, jev: 1 × provider_500." in text
    assert "Judge jev: 2 requests," in text and "1 request of unknown cost" in text


def test_F8_the_trace_tells_of_each_what_a_judge_did(home):
    with ChatServer(judge=near_100) as server:
        first, second = filtered_and_excerpt(home, server)
    judged = home.admit("why", first).stdout.decode()
    assert "judge jev, 1 request, $0." in judged and "admitted (judge)" in judged
    fell = home.admit("why", second).stdout.decode().split("\n")
    assert "reason provider_500" in fell[0] and "cost unknown" in fell[0]
    assert fell[1] == f"{server.url} had a fault of its own (500)."
    value = told(home, "why", second)
    assert value["unused"]["reason"] == "provider_500"
    assert [call["reason"] for call in value["calls"]] == ["provider_500"]
    assert [event["type"] for event in value["events"]] == ["outputs.judged", "judge.fallback"]


def test_F8_the_report_counts_recalls_size_requests_time_and_fallbacks_apart(home):
    with ChatServer(judge=near_100) as server:
        filtered_and_excerpt(home, server)
    filtered, excerpt, _ = told(home, "outputs", "report")["rows"]
    assert (filtered["name"], filtered["outputs"], filtered["recalls"]) == ("filtered", 1, 0)
    assert (excerpt["name"], excerpt["outputs"], excerpt["recalls"]) == ("excerpt", 1, 1)
    assert (filtered["requests"], excerpt["requests"]) == (1, 1)
    assert filtered["judge_ms"] > 0 and filtered["total_ms"] > 0
    assert (filtered["fallbacks"], excerpt["fallbacks"]) == ({}, {"provider_500": 1})
    assert 1_000 <= filtered["kept_chars"] <= 6_000 and 1_000 <= excerpt["kept_chars"] <= 6_000


def recorded(home: Home, server: ChatServer, folder) -> None:
    """An agent's session with two filtered and two excerpted outputs, one of these gone back for."""
    ask(home, server)
    session = Claude()
    session.user(TASK)
    ids = []
    for k in range(4):
        server.mode = "ok" if k < 2 else "status-500"
        shown = home.output(PLAIN + b"x\n" * k, "--task", TASK, "--exit-code", "0")
        session.run(f"make {k}", shown.decode())
        ids.append(id_in(shown))
    session.run(f"admit recall {ids[3]} --lines 1-9", "step 0 of the build went well")
    session.write(folder / "projects")


def test_F9_a_report_from_session_files_alone_compares_filtered_with_excerpt_outputs(home, tmp_path):
    with ChatServer(judge=near_100) as server:
        recorded(home, server, tmp_path / "sessions")
    elsewhere = Home(tmp_path / "elsewhere")
    elsewhere.path.mkdir()
    args = ("outputs", "report", "--sessions", str(tmp_path / "sessions"), "--since", "2020-01-01")
    filtered, excerpt, _ = told(elsewhere, *args)["rows"]
    assert (filtered["outputs"], filtered["recalled"]) == (2, 0)
    assert (excerpt["outputs"], excerpt["recalled"]) == (2, 1)
    assert 0 < filtered["kept_chars"] <= 12_000 and 0 < excerpt["kept_chars"] <= 12_000
    # What a session does not say is unknown, never 0.
    assert filtered["requests"] is None and excerpt["fallbacks"] is None


def test_F11_the_report_says_how_often_the_agent_went_back_for_an_excerpt(home, tmp_path):
    with ChatServer(judge=near_100) as server:
        recorded(home, server, tmp_path / "sessions")
    args = ("outputs", "report", "--sessions", str(tmp_path / "sessions"), "--since", "2020-01-01")
    text = home.admit(*args).stdout.decode()
    assert "The agent went back for 1 of 2 excerpted outputs: 50 %" in text
    assert "The agent went back for 0 of 2 filtered outputs: 0 %" in text
