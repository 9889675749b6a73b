"""What other agents' configurations hold: all of it read, none of it changed, no secret shown."""

import json
from pathlib import Path
from typing import Any

import pytest

from admit.tools.importing import HOSTS, Imported, deferred_tokens, found, merged, row_of
from admit.tools.masks import address, settings, shown
from admit.tools.servers import Server, parsed
from admit.tools.tokens import ESTIMATE

SECRET = "s3cr3t-of-mine"
CODEX = f"""
model = "x" # kept

[mcp_servers.files]
command = "npx"
args = ["-y", "files"]
env = {{ KEY = "{SECRET}" }}
env_vars = ["HOME"]
startup_timeout_sec = 5
tool_timeout_sec = 40.5

[mcp_servers.remote]
url = "https://x.example/mcp"
bearer_token_env_var = "TOKEN"
http_headers = {{ A = "b" }}
env_http_headers = {{ B = "C" }}
enabled = false

[mcp_servers."odd name"]
command = ["not", "a", "text"]
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "work/project"
    (folder / ".git").mkdir(parents=True)
    (folder / "below").mkdir()
    return folder


def put(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))


def stdio(command: str, **more: Any) -> dict[str, Any]:
    return {"command": command, **more}


def read(home: Path, project: Path, *hosts: str, **environ: str) -> list[Imported]:
    return found(hosts or HOSTS, home=str(home), project=str(project / "below"), environ=environ)


def told(places: list[Imported]) -> list[Any]:
    return [(one.host, one.scope, [(s.name, s.command or s.url) for s in one.servers]) for one in places]


def test_every_place_of_every_host_is_read(home, project):
    put(home / ".claude.json", {"mcpServers": {"a": stdio("a")}, "numStartups": 3})
    put(project / ".mcp.json", {"mcpServers": {"b": stdio("b")}})
    put(home / ".codex/config.toml", "[mcp_servers.c]\ncommand = 'c'")
    put(project / ".codex/config.toml", "[mcp_servers.d]\ncommand = 'd'")
    put(home / ".cursor/mcp.json", {"mcpServers": {"e": {"url": "http://e"}}})
    put(project / ".cursor/mcp.json", {"mcpServers": {"f": stdio("f")}})
    put(home / ".config/Code/User/mcp.json", '{"servers": {"g": {"type": "http", "url": "http://g"},},} // x')
    put(home / ".config/Code/User/profiles/p/mcp.json", {"servers": {"h": stdio("h")}})
    put(project / ".vscode/mcp.json", {"servers": {"i": stdio("i")}, "inputs": []})
    places = read(home, project)
    assert told(places) == [
        ("claude-code", "user", [("a", "a")]), ("claude-code", "project", [("b", "b")]),
        ("codex", "user", [("c", "c")]), ("codex", "project", [("d", "d")]),
        ("cursor", "user", [("e", "http://e")]), ("cursor", "project", [("f", "f")]),
        ("vscode", "user", [("g", "http://g")]), ("vscode", "user", [("h", "h")]),
        ("vscode", "project", [("i", "i")]),
    ]  # fmt: skip
    assert all(server.project == (place.scope == "project") for place in places for server in place.servers)
    assert told(read(home, project, "codex")) == told(places)[2:4]


def test_nothing_is_written_and_nothing_there_is_nothing(home, project):
    assert read(home, project) == []
    put(home / ".claude.json", {"mcpServers": {"a": stdio("a")}})
    before = {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in home.rglob("*") if path.is_file()
    }
    read(home, project)
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in home.rglob("*") if path.is_file()}
    assert after == before


def test_claude_codes_entry_of_a_folder_takes_the_place_of_the_users_and_other_folders_do_not_count(
    home, project
):
    value = {
        "mcpServers": {"a": stdio("users"), "b": stdio("b")},
        "projects": {
            str(project): {"mcpServers": {"a": stdio("mine")}},
            "/elsewhere": {"mcpServers": {"z": stdio("z")}},
        },
    }
    put(home / ".claude.json", value)
    (place,) = read(home, project)
    assert [(one.name, one.command) for one in place.servers] == [("a", "mine"), ("b", "b")]


def test_variables_move_the_files(home, project, tmp_path):
    put(tmp_path / "c/.claude.json", {"mcpServers": {"a": stdio("a")}})
    put(tmp_path / "x/config.toml", "[mcp_servers.c]\ncommand = 'c'")
    places = read(home, project, CLAUDE_CONFIG_DIR=str(tmp_path / "c"), CODEX_HOME=str(tmp_path / "x"))
    assert told(places) == [("claude-code", "user", [("a", "a")]), ("codex", "user", [("c", "c")])]


def test_codex_says_the_same_in_its_own_words(home, project):
    put(home / ".codex/config.toml", CODEX)
    (place,) = read(home, project)
    files, remote = place.servers
    assert files.env == {"HOME": "${HOME}", "KEY": SECRET} and files.timeout_s == 40.5
    assert (remote.transport, remote.disabled) == ("http", True)
    assert remote.headers == {"A": "b", "B": "${C}", "Authorization": "Bearer ${TOKEN}"}
    assert len(place.findings) == 1 and "odd_name" in place.findings[0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".claude.json", "{"),
        (".claude.json", '{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}'),
        (".codex/config.toml", "[[["),
        (".cursor/mcp.json", '{"mcpServers": 3}'),
    ],
)
def test_a_file_that_cannot_be_read_is_a_problem_and_the_others_count(name, text, home, project):
    put(home / name, text)
    put(project / ".vscode/mcp.json", {"servers": {"i": stdio("i")}})
    bad, good = read(home, project)
    assert bad.problem and bad.servers == () and str(home / name) in bad.problem
    assert [one.name for one in good.servers] == ["i"]


@pytest.mark.parametrize("value", [[], 3, None, {"mcpServers": None, "projects": []}, {"projects": {"/": 3}}])
def test_odd_shapes_of_claude_codes_state_hold_no_server(value, home, project):
    put(home / ".claude.json", value)
    assert [(place.servers, place.problem) for place in read(home, project)] == [((), "")]


def test_one_server_of_several_hosts_is_one_and_another_of_its_name_gets_the_hosts_name():
    mine, other = Server("a", command="x"), Server("a", command="y")
    places = [
        Imported("codex", "", "user", (mine,)),
        Imported("cursor", "", "user", (mine,)),
        Imported("vscode", "", "user", (other,)),
        Imported("vscode", "", "project", (other._replace(cwd="/"),)),
        Imported("cursor", "", "project", (other,)),
    ]
    assert [(one.server.name, one.server.command, one.hosts) for one in merged(places)] == [
        ("a", "x", ("codex", "cursor")),
        ("a-vscode", "y", ("vscode", "cursor")),
        ("a-vscode2", "y", ("vscode",)),
    ]  # fmt: skip


def test_a_server_is_saved_as_it_was_read(home, project):
    put(home / ".codex/config.toml", CODEX)
    put(
        home / ".cursor/mcp.json",
        {"mcpServers": {"e": {"url": "http://e", "type": "sse"}, "f": stdio("f", cwd="/")}},
    )
    servers = [server for place in read(home, project) for server in place.servers]
    text = json.dumps({"mcpServers": {one.name: row_of(one) for one in servers}})
    assert [one._replace(path="") for one in parsed(text).servers] == [
        one._replace(path="") for one in servers
    ]


@pytest.mark.parametrize(
    "server",
    [
        Server("s", command="x", args=("--token", SECRET)),
        Server("s", command="x", args=("--api-key", SECRET, "-v")),
        Server("s", command="x", args=(f"--password={SECRET}",)),
        Server("s", command="x", args=(f"API_TOKEN={SECRET}",)),
        Server("s", command="x", args=(f"postgresql://me:{SECRET}@db/x",)),
        Server("s", command="x", args=(f"--dsn=postgresql://me:{SECRET}@db/x",)),
        Server("s", command="x", args=(f"--url=https://h/x?key={SECRET}",)),
        Server("s", command="x", args=("ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a",)),
        Server("s", "http", url=f"https://me:{SECRET}@h/mcp"),
        Server("s", "http", url=f"https://h/mcp?api={SECRET}&b=1#{SECRET}"),
        Server("s", command="x", env={"PLAIN": SECRET}),
        Server("s", "http", url="https://h", headers={"Authorization": f"Bearer {SECRET}"}),
    ],
    ids=lambda server: repr(server.args or server.url),
)
def test_no_secret_is_shown(server):
    seen = "\n".join((shown(server), *settings(server)))
    assert SECRET not in seen and "16C7e42F292c6912E7710c838347Ae178B4a" not in seen
    assert "***" in seen or "[redacted" in seen


def test_what_is_no_secret_is_shown_as_it_is():
    server = Server("s", command="npx", args=("-y", "a b", "--token", "${TOKEN}"), env={"T": "${TOKEN}"})
    assert shown(server) == "npx -y 'a b' --token '${TOKEN}'"
    assert settings(server) == ["T=${TOKEN}"]
    assert address("https://h.example:8080/mcp") == "https://h.example:8080/mcp"
    assert address("http://[") == "***"


def test_tokens_with_a_hosts_own_search_are_names_and_instructions_or_unknown():
    tools = {"gh": ["a", "b"], "fs": ["c"]}
    names = "mcp__gh__a\nmcp__gh__b\nmcp__fs__c"
    assert deferred_tokens("claude-code", tools, ["Search first."]) == ESTIMATE.tokens(names) + 4
    assert deferred_tokens("cursor", tools, []) is None
