"""A gate from files and settings: budget, weights, what may be used, history, and who is asked."""

from __future__ import annotations

import pytest
from tests.unit.tools.gates import catalog_of, ids, tool

from admit.config import layers
from admit.errors import ConfigError
from admit.judges.door import DoorJudge
from admit.judges.scripted import ScriptedJudge
from admit.ledger.memory import MemoryLedger
from admit.tools import opening
from admit.tools.catalog import Catalog
from admit.tools.catalog_file import catalog_path
from admit.tools.filters import Globs
from admit.tools.history import History
from admit.tools.policy import ToolPolicy
from admit.tools.schema import BOUNDS
from admit.tools.servers import Servers, parsed
from admit.tools.sources.json_list import from_json
from admit.tools.weights import DEFAULT

NO_SERVERS = Servers()


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "ADMIT_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings(home, text: str = "", **values: object) -> layers.Config:
    """The settings of a user's file, with values by full name, ``__`` for the dots."""
    folder = home / ".config/admit"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "admit.toml").write_text(text)
    return layers.load(overrides={name.replace("__", "."): value for name, value in values.items()})


def test_what_ships_is_what_the_order_and_the_bounds_default_to(home):
    config = settings(home)
    assert opening.weights_of(config) == DEFAULT
    assert opening.bounds_of(config) == BOUNDS
    gate = opening.open_gate(config, catalog=catalog_of(), servers=NO_SERVERS)
    assert gate.policy == ToolPolicy()


def test_every_setting_of_the_budget_and_the_order_reaches_the_gate(home):
    config = settings(
        home, tools__max_tools=3, tools__depth="cover", tools__field_weights__name=9.0, tools__k1=2.0
    )
    gate = opening.open_gate(config, catalog=catalog_of(), servers=NO_SERVERS)
    assert (gate.policy.max_tools, gate.policy.depth) == (3, "cover")
    assert (opening.weights_of(config).fields["name"], opening.weights_of(config).k1) == (9.0, 2.0)


def test_allow_and_deny_come_from_the_settings_and_from_a_servers_own_object(home):
    config = settings(
        home, '[tools.sources.app]\nkind = "json"\npath = "x"\nallow = ["list_*"]\ndeny = ["list_secret"]\n'
    )
    servers = parsed(
        '{"mcpServers": {"a": {"command": "x", "admit": {"deny": ["drop_*"]}}, "b": {"command": "x", '
        '"disabled": true}, "c": {"command": "x", "admit": {"allow": 7, "deny": {}}}}}'
    )
    assert opening.globs_of(config, servers) == {
        "app": Globs(("list_*",), ("list_secret",)),
        "a": Globs(deny=("drop_*",)),
        "b": Globs(disabled=True),
        "c": Globs((), ("*",)),
    }
    catalog = catalog_of(app=[tool("list_all"), tool("list_secret"), tool("drop_all")])
    gate = opening.open_gate(config, catalog=catalog, servers=servers)
    assert ids(gate.find("list all, list secret, drop all")) == ["list_all"]


def test_earlier_uses_of_the_record_order_a_new_gate(home):
    config, ledger = settings(home), MemoryLedger()
    tools = [tool("doc_alpha", "Documents"), tool("doc_beta", "Documents"), tool("doc_gamma", "Documents")]
    gate = opening.open_gate(config, catalog=catalog_of(app=tools), servers=NO_SERVERS, ledger=ledger)
    for request, name in (
        ("weather", "doc_alpha"),
        ("quarterly documents", "doc_beta"),
        ("documents", "doc_gamma"),
    ):
        for _ in range(3):
            gate.used(request, f"app/{name}", True)
    again = opening.open_gate(config, catalog=catalog_of(app=tools), servers=NO_SERVERS, ledger=ledger)
    assert ids(again.find("quarterly documents"))[0] == "doc_beta"
    off = opening.open_gate(
        settings(home, tools__history=False), catalog=catalog_of(app=tools), servers=NO_SERVERS, ledger=ledger
    )
    assert ids(off.find("quarterly documents"))[0] == "doc_alpha"


def test_a_record_that_cannot_be_read_costs_the_history_alone(home, monkeypatch):
    ledger = MemoryLedger()
    monkeypatch.setattr(ledger, "tool_uses", lambda: (_ for _ in ()).throw(OSError("damaged")))
    assert opening.history_of(settings(home), ledger) is None
    assert opening.history_of(settings(home), None) is None
    assert isinstance(opening.history_of(settings(home), MemoryLedger()), History)


def test_the_judge_of_the_profile_brings_its_caps_and_its_name(home):
    config = settings(
        home,
        '[judge]\nprofile = "ollama"\n[judge.profiles.ollama]\nmodel = "m"\n[judge.profiles.ollama.tools]\n'
        "max_candidates = 5\nthreshold = 0.4\ntimeout_ms = 1500\n",
    )
    judge = ScriptedJudge({}, default=0.5)
    found = opening.judge_of(config, lambda profile, values: judge)
    assert isinstance(found, DoorJudge)
    gate = opening.open_gate(
        config,
        catalog=catalog_of(app=[tool(f"list_{k}") for k in range(9)]),
        servers=NO_SERVERS,
        judge=found,
        policy=ToolPolicy(depth="judge"),
    )
    assert (gate.policy.max_candidates, gate.policy.threshold, gate.policy.timeout_ms) == (5, 0.4, 1500)
    shown = gate.find("list")
    assert shown.judge == "ollama" and len(judge.asks[0].questions) == 5 and len(shown.admitted) == 5


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"tools__mode": "off"}, "off"),
        ({"judge__mode": "off"}, "off"),
        ({"judge__profile": "nobody"}, "config"),
    ],
)
def test_nobody_is_asked_where_the_settings_say_so(home, values, why):
    config = settings(home, **values)
    assert opening.judge_of(config) == why
    gate = opening.open_gate(config, catalog=catalog_of(app=[tool("list")]), servers=NO_SERVERS, judge=why)
    assert ids(gate.find("list", depth="judge")) == ["list"]


def test_the_users_own_catalog_is_used_and_a_damaged_one_is_refused(home):
    config = settings(home)
    catalog = catalog_of(app=[tool("list_all")])
    path = home / ".config/admit/catalog.json"
    catalog.save(path)
    assert ids(opening.open_gate(config, servers=NO_SERVERS).find("list all")) == ["list_all"]
    path.write_text("{")
    path.chmod(0o600)
    with pytest.raises(ConfigError, match="admit tools refresh"):
        opening.open_gate(config, servers=NO_SERVERS)


def test_the_users_own_catalog_is_read_within_the_bounds_of_the_settings(home):
    schema = {"type": "object", "properties": {f"p{k}": {"type": "string"} for k in range(5)}}
    catalog = Catalog()
    catalog.add(from_json("own", [{"name": "wide", "input_schema": schema}]))
    catalog.save(catalog_path())
    assert not opening.own_catalog(settings(home)).get("own/wide").problems
    narrow = opening.open_gate(settings(home, tools__schema_max_properties=4)).catalog.get("own/wide")
    assert narrow.problems == ("schema_capped",) and narrow.params == ()
