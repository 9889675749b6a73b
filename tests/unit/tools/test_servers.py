"""The file of MCP servers: read as clients write it, edited by span, refused where it cannot be trusted."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from admit.errors import ConfigError, SourceError
from admit.tools import jsonc, servers
from admit.tools.servers import Server, added, expanded, load, parsed, project_path, read, removed, save

CLIENTS = """\
// what runs here
{
  "mcpServers": {
    "files": {
      "command": "npx", // by npm
      "args": ["-y", "server-files", "/tmp, // not a comment"],
      "env": {"TOKEN": "${TOKEN}", "N": 3},
      "timeout": 30000,
      "alwaysAllow": ["read"],
      "admit": {"about": "files, \\"mine\\""},
    },
    /* the other */
    "remote": {"type": "streamable-http", "url": "https://x.example/mcp", "headers": {"A": "b"},
               "disabled": true},
  },
}
"""


def test_a_file_of_clients_is_read_with_comments_trailing_commas_and_our_own_keys():
    held = parsed(CLIENTS, "mcp.json")
    files, remote = held.servers
    assert (files.name, files.transport, files.command, files.timeout_s) == ("files", "stdio", "npx", 30.0)
    assert files.args[2] == "/tmp, // not a comment" and files.env == {"TOKEN": "${TOKEN}", "N": "3"}
    assert files.own == {"about": 'files, "mine"'} and files.unknown == ("alwaysAllow",)
    assert (remote.transport, remote.url, remote.headers) == ("http", "https://x.example/mcp", {"A": "b"})
    assert remote.disabled and not files.disabled
    assert held.findings == ("mcp.json: files has the unknown key alwaysAllow",)
    assert held.get("remote") is remote and held.get("nothing") is None


def test_the_table_of_vs_code_is_read_too():
    (server,) = parsed('{"servers": {"a": {"type": "sse", "url": "http://x"}}, "inputs": []}').servers
    assert server.transport == "sse"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (3, "no object"),
        ({}, "neither a command nor a url"),
        ({"command": 3}, "neither"),
        ({"command": "x", "args": "y"}, "args"),
        ({"command": "x", "args": [1]}, "args"),
        ({"command": "x", "env": ["a"]}, "env"),
        ({"command": "x", "env": {"a": {}}}, "env"),
        ({"url": "u", "headers": 3}, "headers"),
        ({"url": "u", "type": "carrier-pigeon"}, "type"),
        ({"url": "u", "type": "stdio"}, "no command"),
        ({"command": "x", "type": "http"}, "no url"),
        ({"command": "x", "admit": 3}, "admit"),
        ({"command": "x", "cwd": 3}, "cwd"),
    ],
)
def test_a_bad_server_is_a_finding_and_the_others_count(row, words):
    held = parsed(json.dumps({"mcpServers": {"bad": row, "good": {"command": "x"}}}), "f")
    assert [server.name for server in held.servers] == ["good"]
    (finding,) = held.findings
    assert finding.startswith("f: bad ") and words in finding


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}', "duplicate"),
        ('{"mcpServers": {"a b": {"command": "x"}, "a_b": {"command": "y"}}}', "two servers become a_b"),
        (
            '{"mcpServers": {"a": {"command": "x"}}, "servers": {"a": {"command": "y"}}}',
            "two servers become a",
        ),
        ('{"mcpServers": []}', "mcpServers is no object"),
        ("[]", "no object"),
        ("{", "not JSON"),
        ('{"a": "' + "\\", "not JSON"),
    ],
)
def test_a_file_that_says_two_things_or_nothing_is_refused(text, words):
    with pytest.raises(ConfigError, match=words):
        parsed(text, "f")


@pytest.mark.parametrize("text", ["", "  // nothing yet\n", "{}", '{"mcpServers": {}}'])
def test_a_file_without_servers_has_none(text):
    assert parsed(text).servers == ()


def test_a_name_has_only_plain_characters_and_at_most_32():
    assert [one.name for one in parsed('{"mcpServers": {"my/server é": {"command": "x"}}}').servers] == [
        "my_server__"
    ]
    (long,) = parsed(json.dumps({"mcpServers": {"n" * 40: {"command": "x"}}})).servers
    assert long.name == "n" * 32


@pytest.mark.parametrize(
    ("given_value", "seconds"),
    [(30, 30.0), (1000, 1000.0), (30000, 30.0), (0, None), ("x", None), (True, None)],
)
def test_a_timeout_above_a_thousand_is_in_milliseconds(given_value, seconds):
    (server,) = parsed(json.dumps({"mcpServers": {"a": {"command": "x", "timeout": given_value}}})).servers
    assert server.timeout_s == seconds


def test_variables_are_put_in_everywhere_and_an_unset_one_is_named():
    server = Server(
        "s", "stdio", "${BIN:-/bin/true}", ("${env:A}", "x${A}y", "${EMPTY:-d}"), {"K": "${A}"}, "~", "", {}
    )
    full = expanded(server, {"A": "1", "EMPTY": ""})
    assert (full.command, full.args, full.env["K"]) == ("/bin/true", ("1", "x1y", "d"), "1")
    assert full.cwd == os.path.expanduser("~")
    with pytest.raises(SourceError, match="the variable A, B, which"):
        expanded(server._replace(url="${B}", args=("${A}",), env={}), {})
    assert expanded(server._replace(args=("${A}",)), {"A": ""}).args == ("",)


def test_a_consent_is_for_what_is_run_and_not_for_values_of_variables():
    server = Server("s", command="x", args=("y",), env={"K": "1"})
    assert server.spec() == server._replace(env={"K": "2"}, headers={"a": "b"}, name="t").spec()
    for other in (
        server._replace(command="z"),
        server._replace(args=("y", "z")),
        server._replace(env={"K": "1", "L": "1"}),
        server._replace(cwd="/"),
        server._replace(url="http://x"),
    ):
        assert other.spec() != server.spec()


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "below").mkdir()
    (tmp_path / "config/admit").mkdir(parents=True)
    return Path(servers.user_path()), project


def put(path: Path, table: dict[str, Any], mode: int = 0o600) -> None:
    path.write_text(json.dumps({"mcpServers": table}))
    path.chmod(mode)


def test_a_projects_servers_come_after_the_users_and_take_no_name_from_them(places):
    user, project = places
    put(user, {"a": {"command": "mine"}})
    put(project / ".mcp.json", {"a": {"command": "theirs"}, "b": {"command": "x"}}, 0o664)
    held = load(str(project / "below"))
    assert [(one.name, one.command, one.project) for one in held.servers] == [
        ("a", "mine", False),
        ("b", "x", True),
    ]
    assert len(held.findings) == 1 and "that one counts" in held.findings[0]
    assert held.servers[1].path == str(project / ".mcp.json")


def test_files_named_on_purpose_stand_in_place_of_both(places, tmp_path):
    put(places[0], {"a": {"command": "mine"}})
    put(tmp_path / "f.json", {"b": {"command": "x"}})
    assert [one.name for one in load(files=[str(tmp_path / "f.json")]).servers] == ["b"]


def test_a_bad_file_leaves_the_others(places):
    user, project = places
    user.write_text("{")
    user.chmod(0o600)
    put(project / ".mcp.json", {"b": {"command": "x"}})
    held = load(str(project))
    assert [one.name for one in held.servers] == ["b"] and "not JSON" in held.findings[0]


def test_the_search_for_a_projects_file_ends_at_its_root_and_takes_no_link_out_of_it(places, tmp_path):
    _, project = places
    put(tmp_path / ".mcp.json", {"a": {"command": "x"}})
    assert project_path(str(project / "below")) is None
    (project / ".mcp.json").symlink_to(tmp_path / ".mcp.json")
    assert project_path(str(project / "below")) is None


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_users_file_that_others_can_write_is_refused(places, mode):
    put(places[0], {"a": {"command": "x"}}, mode)
    with pytest.raises(ConfigError, match="chmod 600"):
        read(str(places[0]))


def test_what_is_no_file_to_read_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match="regular"):
        read(str(tmp_path / "pipe"))
    (tmp_path / "latin").write_bytes(b'{"a": "\xff"}')
    (tmp_path / "latin").chmod(0o600)
    with pytest.raises(ConfigError, match="UTF-8"):
        read(str(tmp_path / "latin"))
    (tmp_path / "large").write_bytes(b" " * (servers.MOST_BYTES + 1))
    with pytest.raises(ConfigError, match="larger"):
        read(str(tmp_path / "large"))
    assert read(str(tmp_path / "nothing")).servers == ()


def test_a_server_is_put_last_and_all_else_stays():
    text = added(CLIENTS, "new", {"command": "x"})
    assert [one.name for one in parsed(text).servers] == ["files", "remote", "new"]
    assert removed(text, "new") == CLIENTS
    left = removed(text, "files")
    assert [one.name for one in parsed(left).servers] == ["remote", "new"]
    assert "// what runs here" in left and "/* the other */" in left


def test_the_first_server_makes_the_file_and_a_change_replaces_the_entry():
    text = added("", "a", {"command": "x"})
    assert json.loads(text) == {"mcpServers": {"a": {"command": "x"}}}
    assert json.loads(added(text, "a", {"url": "u"})) == {"mcpServers": {"a": {"url": "u"}}}
    assert json.loads(added("{}", "a", {})) == {"mcpServers": {"a": {}}}
    assert json.loads(added('{"servers": {}}', "a", {})) == {"servers": {"a": {}}}
    assert json.loads(added('{"x": 1}', "a", {})) == {"x": 1, "mcpServers": {"a": {}}}


def test_what_cannot_be_edited_is_refused_and_says_what_is_wrong():
    with pytest.raises(ConfigError, match="no server b"):
        removed('{"mcpServers": {"a": {}}}', "b")
    with pytest.raises(ConfigError, match="mend it"):
        removed("{}", "b")
    for text in ("{", "[]", '{"mcpServers": 3}', '{"mcpServers": {}, "mcpServers": {}}'):
        with pytest.raises(ConfigError, match="mend it"):
            added(text, "a", {})


def test_a_saved_file_is_this_users_alone(places):
    save(str(places[0]), added("", "a", {"command": "x"}))
    assert places[0].stat().st_mode & 0o777 == 0o600
    assert [one.name for one in read(str(places[0])).servers] == ["a"]


spaces = st.sampled_from(["", " ", "\n  ", "\t", " // c, } \n", "/* { , */", "\r\n"])
scalars = st.sampled_from(
    ['"x"', '"//,}"', '"/*"', '"\\\\"', '"\\""', "1", "null", "[1, 2 ]", "{}", '{"a":[ ]}']
)
keys = st.lists(st.sampled_from(["a", "b", "c", '"', "//", "é"]), unique=True, max_size=4)


@st.composite
def files(draw: Any) -> tuple[str, list[str]]:
    """A file of servers with comments and white space in odd places, and the names in it."""
    names = draw(keys)
    text = draw(spaces) + "{" + draw(spaces) + '"mcpServers"' + draw(spaces) + ":" + draw(spaces) + "{"
    for place, name in enumerate(names):
        text += draw(spaces) + json.dumps(name, ensure_ascii=False) + draw(spaces) + ":" + draw(spaces)
        text += draw(scalars) + draw(spaces)
        text += "," if place + 1 < len(names) or draw(st.booleans()) else ""
    return text + draw(spaces) + "}" + draw(spaces) + draw(st.sampled_from(["", ","])) + "}" + draw(
        spaces
    ), names


@example(('{"mcpServers":{"a":1, // c, } \n"//":"x"}}', ["a", "//"]), "//", 1)
@example(('{"mcpServers":{"a":1, // c, } \n"b":"x",}}', ["a", "b"]), "b", 1)
@given(files(), st.sampled_from(["a", "b", "new", "//"]), st.sampled_from([1, "x//", {"k": [1]}]))
def test_putting_and_taking_change_one_member_and_nothing_else(file, name, value):
    text, names = file
    before = jsonc.read(text)["mcpServers"]
    grown = jsonc.put(text, ("mcpServers", name), value)
    assert jsonc.read(grown)["mcpServers"] == {**before, name: value}
    left = jsonc.take(grown, ("mcpServers", name))
    assert jsonc.read(left)["mcpServers"] == {key: one for key, one in before.items() if key != name}
    if names and name not in names:
        assert left == text


@given(st.text(st.sampled_from('{}[],:"/*\\ \n\ta1é'), max_size=30))
def test_no_text_makes_the_reader_raise_anything_but_a_value_error(text):
    try:
        jsonc.read(text)
        jsonc.put(text, ("mcpServers", "a"), 1)
        jsonc.take(text, ("mcpServers", "a"))
    except (ValueError, KeyError):
        pass
    assert len(jsonc.plain(text)) == len(text)
