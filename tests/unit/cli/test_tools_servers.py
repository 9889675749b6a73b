"""`admit tools` with MCP servers: what clients hold, what they would be shown, and what is taken in of it."""

from __future__ import annotations

import json
import sys

import pytest
from tooling import ROOT, Tools


@pytest.fixture
def tools(tmp_path, monkeypatch, capsys):
    home = tmp_path / "home"
    home.mkdir()
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "ADMIT_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(home)
    return Tools(home, capsys)


def test_without_a_yes_no_server_is_started_and_its_secrets_are_masked(tools):
    tools.client("exact")
    code, out, err = tools("import", "count something")
    assert code == 0 and "exact: not asked" in out and "--yes" in err
    assert "s3cr3t-value" not in out and "API_KEY=***" in out
    value = tools.json("import", "count something")
    assert value["servers"][0]["cause"] == "not asked" and value["shortlist"] is None
    assert "s3cr3t-value" not in json.dumps(value)
    assert not (tools.home / ".config").exists()


def test_from_a_clients_file_to_a_shortlist_its_reasons_and_fewer_tools_in_four_commands(tools):
    tools.client("honest")
    before = (tools.home / ".claude.json").read_bytes()
    code, out, _ = tools("import", "--save", "--yes", "export the list of magazines")
    assert code == 0 and "300" in out and "an agent would be shown:" in out
    assert "Gained" in out and "Not gained" in out
    code, out, _ = tools("find", "export the list of magazines")
    assert code == 0 and "honest/export_magazine" in out and out.count("\n") == 11
    code, out, _ = tools("explain", "export the list of magazines", "list_magazine")
    assert code == 0 and "lexical" in out
    assert len(tools.json("find", "export the list of magazines", "--max-tools", "5")["tools"]) == 5
    assert (tools.home / ".claude.json").read_bytes() == before


def test_tokens_now_are_those_of_all_definitions_and_of_the_clients_own_search(tools):
    tools.client("honest")
    value = tools.json("import", "--yes")
    host, whole = value["now"]
    assert (host["client"], host["tools"], whole["tools"]) == ("claude-code", 300, 300)
    assert host["deferred"] < host["schema_tokens"] / 5 and whole["deferred"] is None
    assert value["saved"] == [] and not (tools.home / ".config/admit/mcp.json").exists()


def test_what_does_not_answer_is_named_and_left_and_the_rest_is_saved(tools):
    tools.client("exact", "dies-at-start", "no-tools")
    code, out, _ = tools("import", "--save", "--yes")
    assert code == 0 and "cannot open the library: no key" in out
    assert "Not saved: dies-at-start" in out and "Not saved: no-tools: gave no tool" in out
    servers = json.loads((tools.home / ".config/admit/mcp.json").read_text())["mcpServers"]
    assert list(servers) == ["exact"] and servers["exact"]["env"]["API_KEY"] == "s3cr3t-value"
    assert (tools.home / ".config/admit/mcp.json").stat().st_mode & 0o777 == 0o600


def test_where_no_client_has_a_server_it_ends_with_1(tools):
    code, out, _ = tools("import", "anything")
    assert code == 1 and out.startswith("No MCP server stands in the files of")


def test_saving_twice_changes_nothing_and_a_taken_name_is_left(tools):
    tools.client("exact")
    assert tools.json("import", "--save", "--yes")["saved"] == ["exact"]
    file = (tools.home / ".config/admit/mcp.json").read_bytes()
    assert tools.json("import", "--save", "--yes")["saved"] == ["exact"]
    assert (tools.home / ".config/admit/mcp.json").read_bytes() == file
    tools.client("noise")
    text = (tools.home / ".claude.json").read_text()
    tools.write(".claude.json", text.replace('"noise": {', '"exact": {'))
    assert tools.json("import", "--save", "--yes")["left"] == ["exact: another source has this name"]


def server(mode: str) -> str:
    return f"{sys.executable} -m tests.servers.mcp_server --mode {mode}"


def test_a_server_that_is_added_is_pinned_and_what_it_changes_later_is_held_back(tools, monkeypatch):
    command = f"env PYTHONPATH={ROOT} {server('exact')}"
    code, out, err = tools("add", "mcp", command, "--name", "lib", "--yes")
    assert code == 0 and "lib runs: env" in err and "Added lib: 1 tool" in out
    assert tools("diff")[0] == 0
    path = tools.home / ".config/admit/mcp.json"
    path.write_text(path.read_text().replace('"exact"', '"duplicate-names"'))
    code, out, _ = tools("refresh")
    assert code == 1 and "3 added" in out and "held back" in out
    assert {one["state"] for one in tools.json("list")["tools"]} == {"new"}
    code, out, err = tools("find", "same")
    assert code == 1 and "no_match" in out and "wait for an approval" in err
    code, out, _ = tools("approve", "lib", "--yes")
    assert code == 0 and tools.json("find", "same")["matched"] == 2
    assert tools("remove", "lib", "--yes")[0] == 0
    assert json.loads(path.read_text())["mcpServers"] == {}


def test_a_server_that_answers_with_nothing_where_it_had_tools_keeps_them_and_is_down(tools):
    tools("add", "mcp", f"env PYTHONPATH={ROOT} {server('duplicate-names')}", "--name", "lib", "--yes")
    path = tools.home / ".config/admit/mcp.json"
    path.write_text(path.read_text().replace("duplicate-names", "no-tools"))
    code, out, _ = tools("refresh")
    assert code == 1 and "answered without a tool where it had some" in out
    assert "lib is stale since" in tools("list")[1] and tools("find", "same")[0] == 0
    assert len(tools.json("list")["tools"]) == 3


def test_a_server_written_by_hand_is_taken_in_by_refresh_after_a_yes(tools):
    rows = {"hand": {"command": sys.executable, "args": ["-m", "tests.servers.mcp_server", "--mode", "exact"],
                     "env": {"PYTHONPATH": str(ROOT)}}}  # fmt: skip
    tools.write(".config/admit/mcp.json", {"mcpServers": rows})
    (tools.home / ".config/admit/mcp.json").chmod(0o600)
    code, _, err = tools("refresh", "hand")
    assert code == 2 and "--yes" in err and not (tools.home / ".config/admit/catalog.json").exists()
    assert tools("refresh", "hand", "--yes")[0] == 0
    assert [one["state"] for one in tools.json("list")["tools"]] == ["ready"]


def test_a_projects_server_is_not_started_again_once_its_description_changed(tools):
    rows = {"proj": {"command": "env", "args": [f"PYTHONPATH={ROOT}", *server("exact").split()]}}
    tools.write(".mcp.json", {"mcpServers": rows})
    assert tools("refresh", "proj", "--yes")[0] == 0
    assert tools("refresh", "proj")[0] == 0
    rows["proj"]["args"][-1] = "noise"
    tools.write(".mcp.json", {"mcpServers": rows})
    code, _, err = tools("refresh", "proj")
    assert code == 2 and "proj was not read" in err
    code, out, _ = tools("remove", "proj", "--yes")
    assert code == 0 and ".mcp.json still names it" in out
