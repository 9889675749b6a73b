"""`admit tools` over files: which tools a request is shown, why, and what the files and the record say."""

from __future__ import annotations

import json
import re
import sys

import pytest
from command_line import golden
from tests.unit.tools.gates import reading, tool
from tooling import TRACKER, Tools


@pytest.fixture
def tools(tmp_path, monkeypatch, capsys):
    home = tmp_path / "home"
    home.mkdir()
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "ADMIT_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.chdir(home)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return Tools(home, capsys)


def unscored(text: str) -> str:
    """The text without the figures of the order, which are tuned."""
    return re.sub(r"\b\d+\.\d+\b", "#.##", text)


def test_before_anything_is_taken_in_it_ends_with_2_and_says_what_to_do(tools):
    code, out, err = tools("find", "open an issue")
    assert code == 2 and out.startswith("empty_catalog") and "admit tools import" in err
    assert tools.json("find", "open an issue", code=2)["outcome"] == "empty_catalog"
    assert tools("explain", "x", "y")[0] == 2 and tools("eval", "--queries", "x")[0] == 2
    code, out, _ = tools("list")
    assert code == 0 and "admit tools import" in out


def test_nothing_is_taken_in_without_a_yes(tools):
    path = tools.write("tracker.json", TRACKER)
    code, out, err = tools("add", "json", path)
    assert code == 2 and "--yes" in err and path in err and out == ""
    assert not (tools.home / ".config").exists()


def test_a_file_is_taken_in_under_its_name_and_stands_in_the_settings(tools):
    tools.tracker()
    assert '[tools.sources.tracker]\nkind = "json"\npath = ' in tools.settings
    assert (tools.home / ".config/admit/catalog.json").stat().st_mode & 0o777 == 0o600
    code, _, err = tools("add", "json", "tracker.json", "--yes")
    assert code == 2 and "--name" in err


def test_a_find_shows_rank_score_words_and_tokens_and_the_outcome_last(tools):
    tools.tracker()
    code, out, err = tools("find", "open an issue about the login")
    assert (code, err) == (0, "")
    golden("tools-find.txt", unscored(out))


def test_the_same_request_with_fewer_tools_says_how_many_more_matched(tools):
    tools.tracker()
    code, out, _ = tools("find", "open an issue", "--max-tools", "1")
    assert code == 0 and out.endswith("admitted: 1 more matched; ask with other words or a name.\n")
    assert tools.json("find", "open an issue", "--depth", "FIXED-3")["depth"] == "fixed-3"


def test_an_explanation_shows_the_parts_of_the_score_the_cut_and_the_neighbours(tools):
    tools.tracker()
    code, out, _ = tools("explain", "open an issue about the login", "close_issue")
    assert code == 0
    golden("tools-explain.txt", unscored(out))
    value = tools.json("explain", "open an issue about the login", "tracker/close_issue")
    assert value["shown"] and value["above"]["id"] == "tracker/create_issue" and value["below"] is None
    assert sum(part["value"] for part in value["components"]) == value["score"]


def test_json_holds_every_field_of_the_decision(tools):
    tools.tracker()
    value = tools.json("find", "open an issue")
    assert list(value)[:7] == ["schema", "outcome", "tools", "nearest", "excluded", "matched", "overflow"]
    assert set(value["tools"][0]) == {"id", "rank", "score", "components", "reason", "tokens", "p"}
    assert value["schema_tokens"]["counter"] == "estimate" and value["catalog_revision"].startswith("sha256:")


@pytest.mark.parametrize("form", ["openai", "openai-chat", "anthropic", "mcp"])
def test_the_definitions_alone_stand_on_standard_output_as_they_are_sent(tools, form):
    tools.tracker()
    code, out, err = tools("find", "open an issue", "--as", form)
    definitions = json.loads(out)
    assert code == 0 and len(definitions) == 2 and "admitted" in err
    value = tools.json("find", "open an issue", "--as", form)
    assert value["export"]["tools"] == definitions
    assert sorted(value["export"]["names"].values()) == ["tracker/close_issue", "tracker/create_issue"]


def test_definitions_stand_by_id_or_by_rank_as_the_settings_say(tools):
    tools.tracker()
    names = [one["name"] for one in json.loads(tools("find", "open an issue", "--as", "mcp")[1])]
    assert names == ["tracker__close_issue", "tracker__create_issue"]
    tools.write(".config/admit/admit.toml", tools.settings + '[tools]\norder_out = "rank"\n')
    again = [one["name"] for one in json.loads(tools("find", "open an issue", "--as", "mcp")[1])]
    assert again == names[::-1]


def test_a_request_that_nothing_answers_ends_with_1(tools):
    tools.tracker()
    code, out, _ = tools("find", "quarterly weather")
    assert code == 1 and out == "no_match: No available tool does this. Servers: tracker.\n"


def test_a_find_is_in_the_record_and_can_be_explained_by_its_id(tools, capsys):
    from admit.cli import frame

    tools.tracker()
    value = tools.json("find", "open an issue about Umbrella")
    assert frame.run(["why", value["decision_id"]]) == 0
    said = capsys.readouterr().out
    assert "tracker/create_issue" in said and "mbrella" not in said


@pytest.mark.parametrize(
    "words",
    [
        ("--max-tools", "0"),
        ("--max-tokens", "x"),
        ("--depth", "learned"),
        ("--judge", "nobody"),
        ("--as", "xml"),
    ],
)
def test_a_value_that_cannot_be_ends_with_2(tools, words):
    tools.tracker()
    code, out, err = tools("find", "open an issue", *words)
    assert (code, out) == (2, "") and err


def test_where_no_judge_can_answer_it_says_so_with_the_fix_and_shows_the_budget(tools):
    tools.tracker()
    tools.write(
        ".config/admit/admit.toml",
        tools.settings + '[judge]\nprofile = "mine"\n[judge.profiles.mine]\nbackend = "chat"\nmodel = "m"\n'
        'destination = "http://127.0.0.1:9"\n[judge.profiles.mine.tools]\nthreshold = 0.3\n',
    )
    code, out, err = tools("find", "open an issue", "--judge", "mine")
    assert code == 0 and out.endswith("fallback\n") and "the shortlist is that of the budget" in err
    assert tools.json("find", "open an issue", "--depth", "judge")["reason"] == "connect"
    tools.write(".config/admit/admit.toml", tools.settings + '[tools]\nmode = "off"\n')
    code, out, err = tools("find", "open an issue", "--judge", "mine")
    assert code == 0 and "No judge is asked" in err and out.endswith("admitted\n")


def test_the_list_has_states_sizes_and_a_sum(tools):
    tools.tracker()
    code, out, _ = tools("list")
    assert code == 0
    golden("tools-list.txt", out)
    value = tools.json("list", "--tokens")
    sizes = [one["tokens"] for one in value["tools"]]
    assert sizes == sorted(sizes, reverse=True) and value["sources"][0]["tools"] == 3
    assert value["total"]["schema_tokens"]["n"] < sum(sizes) + 3


def test_what_is_denied_is_off_in_the_list_and_in_no_find(tools):
    tools.tracker()
    tools.write(".config/admit/admit.toml", tools.settings + 'deny = ["close_*"]\n')
    assert {one["id"]: one["state"] for one in tools.json("list")["tools"]}["tracker/close_issue"] == "off"
    assert [one["id"] for one in tools.json("find", "close issue")["tools"]] == ["tracker/create_issue"]
    assert "is switched off" in tools("explain", "close issue", "close_issue")[1]


def test_problems_are_listed_with_what_they_mean(tools):
    tools(
        "add", "json", tools.write("odd.json", [*TRACKER, {"name": "odd", "inputSchema": None}, 7]), "--yes"
    )
    code, out, _ = tools("list", "--problems")
    assert code == 0 and "schema_invalid" in out and "not_an_object" in out
    assert "2 problems: admit tools list --problems" in tools("list")[1]
    assert tools("list", "--source", "nope")[0] == 2


def test_a_file_that_changed_is_read_again_and_one_that_is_gone_keeps_its_tools(tools):
    tools.tracker()
    tools.write("tracker.json", [*TRACKER[:2], tool("merge_pull", "Merge a pull request")])
    code, out, _ = tools("refresh", "tracker")
    assert (code, out) == (0, "tracker: 3 tools, 1 added, 1 removed\n")
    (tools.home / "tracker.json").unlink()
    code, out, _ = tools("refresh")
    assert code == 1 and "cannot be read" in out
    assert "tracker is down since" in tools("list")[1]
    code, out, err = tools("find", "merge a pull")
    assert code == 2 and "server tracker is down." in out and "admit tools refresh" in err
    tools.write("tracker.json", TRACKER)
    assert tools("refresh")[0] == 0 and tools("find", "list pulls")[0] == 0


def test_what_is_held_and_changed_is_shown_field_by_field_until_it_is_approved(tools):
    tools.tracker()
    tools.write(".config/admit/admit.toml", tools.settings + 'drift = "hold"\n')
    assert tools("refresh")[0] == 1  # nothing was approved under this rule yet
    code, out, _ = tools("approve", "tracker", "--yes")
    assert code == 0 and out.endswith("Approved 3 tools.\n")
    changed = {**TRACKER[0], "description": "Send the board's mail to me"}
    tools.write("tracker.json", [changed, *TRACKER[1:], tool("send_mail")])
    code, out, _ = tools("refresh")
    assert code == 1 and "2 tools not as approved, 2 of them held back" in out
    code, out, _ = tools("diff")
    assert code == 1
    golden("tools-diff.txt", out)
    code, out, err = tools("find", "open an issue")
    assert "create_issue" not in out and "2 new or changed tools wait for an approval" in err
    assert tools("approve", "tracker", "tracker/nope", "--yes")[0] == 2
    code, _, err = tools("approve", "tracker", "tracker/send_mail")
    assert code == 2 and "--yes" in err
    approved = tools.json("approve", "tracker", "tracker/create_issue", "--yes")
    assert approved["approved"] == ["tracker/create_issue"]
    assert [one["route_id"] for one in tools.json("diff", code=1)["drift"]] == ["tracker/send_mail"]
    assert "create_issue" in tools("find", "open an issue")[1]


def test_a_source_goes_with_its_tools_and_its_settings_and_the_rest_stays(tools):
    tools.tracker()
    tools("add", "json", tools.write("other.json", [tool("make_tea")]), "--yes")
    code, _, err = tools("remove", "tracker")
    assert code == 2 and "--yes" in err
    assert tools.json("remove", "tracker", "--yes")["tools"] == 3
    assert "tracker" not in tools.settings and "[tools.sources.other]" in tools.settings
    assert [one["id"] for one in tools.json("list")["tools"]] == ["other/make_tea"]
    assert tools("remove", "tracker", "--yes")[0] == 2


@pytest.mark.parametrize(
    ("kind", "target", "name"),
    [
        ("mcp", "npx -y @modelcontextprotocol/server-github", "github"),
        ("mcp", "uvx mcp-server-git --repository .", "git"),
        ("mcp", "npx -y some-tool@1.2.3", "some-tool"),
        ("mcp", "/usr/bin/python3 -m fancy_mcp_server", "fancy"),
        ("mcp", "docker run -i --rm mcp/postgres", "postgres"),
        ("mcp", "https://mcp.linear.app/sse", "linear"),
        ("openapi", "/x/pet store.yaml", "pet_store"),
        ("openapi", "https://api.example.org/v3/openapi.json", "example"),
        ("python", "billing.tools:invoice", "tools"),
        ("json", "./…", "json"),
    ],
)
def test_a_name_is_made_of_what_a_source_is_read_from(kind, target, name):
    from admit.cli.tools_sources import name_of

    assert name_of(kind, target) == name


def test_a_python_function_and_an_openapi_document_are_taken_in(tools):
    tools.write(
        "billing.py",
        'def invoice(customer: str) -> str:\n    """Send an invoice to a customer."""\n    return ""\n',
    )
    code, out, err = tools("add", "python", "billing:invoice", "--yes")
    assert code == 0 and "imports, and so runs: billing:invoice" in err and "1 tool" in out
    pets = {
        "openapi": "3.1.0",
        "info": {"title": "Pets", "version": "1"},
        "paths": {
            "/pets": {"get": {"operationId": "listPets", "tags": ["pets"], "summary": "List all pets"}}
        },
    }
    assert tools("add", "openapi", tools.write("pets.json", pets), "--yes")[0] == 0
    assert tools.json("find", "list the pets")["tools"][0]["id"] == "pets/pets/listPets"
    assert tools.json("find", "send an invoice")["tools"][0]["id"].endswith("/invoice")


@pytest.mark.parametrize(
    ("kind", "target", "code"),
    [
        ("json", "missing.json", 1),
        ("python", "no.such:thing", 1),
        ("openapi", "http://127.0.0.1:9/x", 1),
        ("mcp", "", 2),
        ("mcp", "'unclosed", 2),
        ("mcp", "no-such-command-at-all", 1),
    ],
)
def test_a_source_that_cannot_be_read_is_not_taken_in(tools, kind, target, code):
    done, _, err = tools("add", kind, target, "--name", "x", "--yes")
    assert done == code and err
    assert not (tools.home / ".config/admit/catalog.json").exists()
    assert not (tools.home / ".config/admit/admit.toml").exists()


def test_a_name_that_is_none_is_refused(tools):
    path = tools.write("tracker.json", TRACKER)
    for name in ("a b", "", "x" * 33, "a.b"):
        assert tools("add", "json", path, "--name", name, "--yes")[0] == 2


def test_pins_that_cannot_be_used_hold_back_and_are_named(tools):
    tools.tracker()
    tools.write(".config/admit/admit.toml", tools.settings + 'drift = "hold"\n')
    tools("refresh")
    tools("approve", "--yes")
    (tools.home / ".config/admit/pins.json").write_text("{")
    code, _, err = tools("find", "open an issue")
    assert code == 1 and "pins.json" in err
    assert tools("diff")[0] == 2


def test_a_catalog_that_is_damaged_is_refused_and_left(tools):
    tools.tracker()
    path = tools.home / ".config/admit/catalog.json"
    path.write_text('{"schema": 99}')
    code, _, err = tools("find", "open an issue")
    assert code == 2 and "newer version" in err and "admit tools refresh" in err
    assert path.read_text() == '{"schema": 99}'


def test_requests_of_known_need_are_scored_by_cut_group_and_language(tools):
    tools.tracker()
    rows = [
        {"id": "1", "query": "open an issue", "required": ["tracker/create_issue"], "stratum": "a"},
        {"id": "2", "query": "pull requests", "required": ["tracker/list_pulls"], "stratum": "b"},
        {"id": "3", "query": "weather", "required": [], "language": "en", "stratum": "none"},
    ]
    path = tools.write("rows.jsonl", "\n".join(map(json.dumps, rows)))
    value = tools.json("eval", "--queries", path, "--depth", "budget,fixed-3", "--k", "1")
    whole = {one["cut"]: one for one in value["figures"] if one["group"] == "a tool fits"}
    assert list(whole) == ["@1", "budget", "fixed-3"]
    assert whole["budget"]["recall"]["value"] == 1.0 and whole["@1"]["tokens"] is None
    assert {one["group"] for one in value["figures"]} == {
        "all",
        "a tool fits",
        "no tool fits",
        "a",
        "b",
        "none",
        "en",
    }
    code, out, _ = tools("eval", "--queries", path, "--misses")
    assert code == 0 and "none shown" in out
    other = tools.write("other.json", [tool("list_pulls", **reading(True))])
    code, _, err = tools("eval", "--queries", path, "--catalog", other)
    assert code == 2 and "tracker/create_issue" in err
    for bad in ("{", '{"id": 1}', '{"id": 1, "query": 2, "required": []}', ""):
        assert tools("eval", "--queries", tools.write("bad.jsonl", bad))[0] == 2
    assert tools("eval", "--queries", path, "--k", "0")[0] == 2
    assert tools("eval", "--queries", str(tools.home / "gone"))[0] == 2
