"""A small ask tells the state of a judge."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from jevcompat.mock import MockConfig, Running

from admit.config.keys import shipped
from admit.core.question import Reply, fallback
from admit.core.reasons import REASONS
from admit.judges.check import check, estimate, probe, state_of
from admit.judges.load import load_judge
from admit.judges.profiles import Profile, profile
from admit.judges.standing import cooling, forgive, today


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for name in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    return tmp_path


def settings(url: str, **more: object) -> dict[str, object]:
    own = {"backend": "systemone", "destination": url, "model": "jev-1.13.0", **more}
    return shipped() | {f"judge.profiles.mine.{name}": value for name, value in own.items()}


def mine(values: dict[str, object]) -> Profile:
    return profile("mine", values)


class Server:
    """Answers every POST with one status, and counts them; it lists no models."""

    def __init__(
        self, status: int, body: bytes = b'{"detail": {"message": "no"}}', models: bytes = b""
    ) -> None:
        self.posts = 0
        self.gets: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.gets.append(self.path)
                self.give(200 if models else 404, models)

            def do_POST(self) -> None:
                outer.posts += 1
                self.rfile.read(int(self.headers["Content-Length"]))
                self.give(status, body)

            def give(self, code: int, content: bytes) -> None:
                self.send_response(code)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Server:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *gone: object) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.mark.parametrize("reason", REASONS)
def test_no_reason_is_taken_for_a_judge_that_answers(reason):
    assert state_of(fallback(reason)) != "valid"


def test_only_a_whole_answer_is_valid():
    assert state_of(Reply("judged")) == "valid"
    assert state_of(Reply("partial", (), "answer_defects")) == "failed"


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (401, "invalid"),
        (402, "no_credit"),
        (403, "invalid"),
        (404, "model_unavailable"),
        (422, "failed"),
        (429, "rate_limited"),
        (500, "failed"),
        (302, "unreachable"),
    ],
)
def test_the_status_of_a_server_tells_the_state(status, state):
    with Server(status) as server:
        values = settings(server.url)
        checked = check(mine(values), values, "outputs")
    assert (checked.state, server.posts) == (state, 1)
    assert checked.said == "no"


def test_where_nothing_listens_it_is_unreachable():
    values = settings("http://127.0.0.1:1")
    assert check(mine(values), values, "outputs").state == "unreachable"


def test_a_refused_request_for_a_model_that_is_not_listed_means_the_model():
    models = b'{"data": [{"id": "other"}]}'
    with Server(400, models=models) as server:
        values = settings(server.url)
        checked = check(mine(values), values, "outputs")
    assert (checked.state, checked.models) == ("model_unavailable", ("other",))


@pytest.mark.parametrize("listing", [b"[]", b'{"models": 3}', b'{"models": [4, {"name": 5}]}', b"<html>"])
def test_a_list_of_models_in_no_known_form_lists_nothing(listing):
    with Server(401, models=listing) as server:
        values = settings(server.url)
        assert check(mine(values), values, "outputs").models is None


def test_the_listed_models_are_names_a_terminal_may_show():
    models = b'{"data": [{"id": "a\\u001b]0;t\\u0007\\n\\nstate     valid"}, {"id": "\\n"}]}'
    with Server(401, models=models) as server:
        values = settings(server.url)
        assert check(mine(values), values, "outputs").models == ("a ]0;t state valid",)


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"path": "/v1/systemone"}, "/v1/models"),
        ({"path": "/api/alpha/decisions"}, "/api/alpha/models"),
        ({"backend": "chat", "form": "schema", "path": "/v1/chat/completions"}, "/v1/models"),
        ({"backend": "chat", "form": "messages", "path": "/v1/messages"}, "/v1/models"),
    ],
)
def test_the_models_are_looked_for_beside_the_endpoint(fields, path):
    with Server(404) as server:
        values = settings(server.url, **fields)
        check(mine(values), values, "outputs")
    assert server.gets == [path]


def test_a_key_that_a_server_says_back_is_not_shown(monkeypatch):
    monkeypatch.setenv("MINE", "shapeless-and-secret")
    with Server(401, b'{"error": "bad key shapeless-and-secret"}') as server:
        values = settings(server.url, key_variable="MINE")
        assert check(mine(values), values, "outputs").said == "bad key [key]"


def test_a_server_without_a_list_of_models_is_as_valid():
    for faults, models in ((frozenset(), True), (frozenset({"models-404"}), False)):
        with Running(MockConfig(faults=faults)) as server:
            values = settings(server.url)
            checked = check(mine(values), values, "guidance")
        assert checked.state == "valid"
        assert (checked.models is not None) == models


def test_the_local_judge_is_checked_without_a_request():
    values = shipped() | {"judge.local.mode": "lexical"}
    local = profile("local", values)
    assert estimate(local, values, "outputs") is None
    assert check(local, values, "outputs").state == "valid"


def test_an_estimate_is_no_less_than_what_the_server_counts():
    with Running() as server:
        values = settings(server.url, price_in=0.042, price_out=0.1)
        most = estimate(mine(values), values, "outputs")
        [call] = check(mine(values), values, "outputs").reply.calls
    assert most is not None and most.usd is not None
    assert 0 < call.input_tokens <= most.input_tokens
    assert 0 < call.cost_usd <= most.usd


def test_without_prices_the_cost_is_unknown():
    values = shipped() | {
        "judge.profiles.mine.backend": "chat",
        "judge.profiles.mine.destination": "http://127.0.0.1:1",
        "judge.profiles.mine.model": "m",
    }
    most = estimate(mine(values), values, "outputs")
    assert most is not None and most.usd is None and most.input_tokens > 0


def test_a_check_ends_a_cool_down_and_a_failed_one_begins_it_anew():
    with Server(401) as server:
        values = settings(server.url)
        judge = load_judge(mine(values), config=values)
        assert judge.ask(probe("outputs")).reason == "provider_401"
        assert judge.ask(probe("outputs")).reason == "cooldown"
        assert check(mine(values), values, "outputs").state == "invalid"
        assert judge.ask(probe("outputs")).reason == "cooldown"
    assert server.posts == 2


def test_a_cool_down_is_seen_and_forgiven():
    with Server(402) as server:
        values = settings(server.url)
        load_judge(mine(values), config=values).ask(probe("outputs"))
    [(destination, until_ms)] = cooling(time.time()).items()
    assert destination == mine(values).address
    assert 0 < until_ms / 1000 - time.time() <= 60
    assert cooling(time.time() + 61) == {}
    counted = today(time.time())
    assert counted is not None and counted.requests == 1
    forgive(destination)
    assert cooling(time.time()) == {}


def test_looking_makes_no_file(home):
    assert cooling(time.time()) == {}
    assert today(time.time()) == (0, 0, 0.0)
    forgive("http://127.0.0.1:1")
    assert not list(home.rglob("limits.db"))


@pytest.mark.parametrize("change", ["UPDATE spend SET requests = 'x'", "PRAGMA user_version = 9"])
def test_counts_that_cannot_be_read_are_unknown_and_not_0(home, change):
    with Server(402) as server:
        values = settings(server.url)
        load_judge(mine(values), config=values).ask(probe("outputs"))
    with closing(sqlite3.connect(home / "state" / "admit" / "limits.db")) as con:
        con.execute(change)
        con.execute("UPDATE cooldown SET until_ms = 'never'")
        con.commit()
    assert today(time.time()) is None
    assert cooling(time.time()) == {}


def test_a_damaged_file_of_limits_shows_nothing(home):
    folder = home / "state" / "admit"
    folder.mkdir(parents=True)
    (folder / "limits.db").write_bytes(b"no database" * 100)
    assert cooling(time.time()) == {} and today(time.time()) is None
    forgive("http://127.0.0.1:1")
