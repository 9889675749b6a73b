"""Exported definitions: unique names that every client takes, schemas untouched, the same bytes each time."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import ConfigError, UsageError
from admit.text.tokens import estimate_tokens
from admit.tools import tokens
from admit.tools.export import EXPORTERS, to_anthropic, to_mcp, to_openai, wire
from admit.tools.model import Admitted, Route, Shortlist
from admit.tools.names import exported_names
from admit.tools.route import route_id, routes_of
from admit.tools.sources.json_list import from_json

SCHEMA = {"properties": {"n": {"default": 1.0, "x": [1, None]}}, "type": "object", "$defs": {}}
SAFE = re.compile(r"[A-Za-z0-9_-]{1,64}")


def routes(*tools: Any, source: str = "s") -> list[Route]:
    return list(routes_of(source, "mcp", list(tools)))


parts = st.text(st.sampled_from("ab_-./ é世"), min_size=1, max_size=5) | st.text(min_size=1, max_size=90)


@given(st.lists(st.tuples(parts, parts), max_size=12), st.sampled_from([64, 52, 20]), st.randoms())
def test_names_are_safe_short_one_for_each_id_and_the_same_in_any_order(pairs, longest, random):
    ids = {route_id(source, name): (source, name) for source, name in pairs}
    given_routes = [Route(id, source, "mcp", name) for id, (source, name) in ids.items()]
    names = exported_names(given_routes, longest)
    assert set(names) == set(ids) and len(set(names.values())) == len(ids)
    assert all(SAFE.fullmatch(name) and len(name) <= longest for name in names.values())
    random.shuffle(given_routes)
    assert exported_names(given_routes, longest) == names


def test_a_name_is_source_and_name_and_only_long_or_clashing_ones_end_in_a_hash():
    first = Route("gh/create_issue", "gh", "mcp", "create_issue")
    assert exported_names([first])["gh/create_issue"] == "gh__create_issue"
    long = Route("gh/" + "n" * 80, "gh", "mcp", "n" * 80)
    name = exported_names([first, long])[long.id]
    assert len(name) == 64 and re.fullmatch(r"gh__n{51}_[0-9a-f]{8}", name)
    twins = [Route("a__b/c", "a__b", "mcp", "c"), Route("a/b__c", "a", "mcp", "b__c")]
    clashing = exported_names([first, *twins])
    assert clashing[first.id] == "gh__create_issue"
    assert all(re.fullmatch(r"a__b__c_[0-9a-f]{8}", clashing[one.id]) for one in twins)


def test_a_name_made_to_meet_anothers_hash_meets_nobody():
    twins = [Route("a__b/c", "a__b", "mcp", "c"), Route("a/b__c", "a", "mcp", "b__c")]
    taken = exported_names(twins)[twins[0].id].removeprefix("a__")
    names = exported_names([*twins, Route(f"a/{taken}", "a", "mcp", taken)])
    assert len(set(names.values())) == 3


def test_every_form_has_the_fields_of_its_vendor_and_the_schema_as_it_was():
    (route,) = routes(
        {"name": "find it", "description": "Finds", "inputSchema": SCHEMA, "title": "F", "x": 1}
    )
    name = "s__find_it"
    about = {"name": name, "description": "Finds"}
    assert to_openai([route]).tools == [{"type": "function", **about, "parameters": SCHEMA, "strict": False}]
    assert to_openai([route], "chat").tools == [
        {"type": "function", "function": {**about, "parameters": SCHEMA}}
    ]
    assert to_anthropic([route]).tools == [{**about, "input_schema": SCHEMA}]
    assert to_mcp([route]).tools == [{**route.tool, "name": name}]
    for export in EXPORTERS.values():
        found = export([route])
        assert found.names == {name: route.id}
        (tool,) = found.tools
        inner = tool.get("function", tool)
        schema = next(inner[key] for key in ("parameters", "input_schema", "inputSchema") if key in inner)
        assert schema is route.input_schema


@pytest.mark.parametrize("schema", [None, [], "x"])
def test_a_tool_without_a_schema_that_is_an_object_takes_no_arguments(schema):
    for route in (*routes({"name": "t", "inputSchema": schema}), *from_json("s", [{"name": "t"}])):
        assert to_anthropic([route]).tools[0]["input_schema"] == {"type": "object", "properties": {}}
        assert to_mcp([route]).tools[0]["inputSchema"] == {"type": "object", "properties": {}}


def test_what_we_added_to_a_tool_does_not_leave():
    (route,) = from_json("s", [{"name": "t", "inputSchema": {}, "x-admit": {"group": "g"}}])
    for form, export in EXPORTERS.items():
        assert "x-admit" not in wire(export([route]).tools), form


def shortlist(*found: Route) -> Shortlist:
    rows = tuple(
        Admitted(one, place, 9.0 - place, (), "exempt", "exact") for place, one in enumerate(found, 1)
    )
    return Shortlist("", "", "", "admitted", rows, (), (), 0, 0, 0, "", None, "", 0.0)


def test_definitions_stand_by_id_without_rank_and_score_so_that_a_cache_of_prompts_holds():
    one, two, three = routes(*({"name": n, "inputSchema": {}} for n in ("b", "c", "a")))
    for export in EXPORTERS.values():
        first, other = export(shortlist(one, two, three)), export(shortlist(three, one, two))
        assert wire(first.tools) == wire(other.tools) == wire(export([two, three, one]).tools)
        assert list(first.names.values()) == ["s/a", "s/b", "s/c"]
        for word in ("rank", "score", "defer_loading", "cache_control"):
            assert word not in wire(first.tools)


def test_by_rank_they_stand_as_they_were_ranked():
    one, two = routes({"name": "b", "inputSchema": {}}, {"name": "a", "inputSchema": {}})
    assert [tool["name"] for tool in to_anthropic(shortlist(one, two), order="rank").tools] == [
        "s__b",
        "s__a",
    ]
    with pytest.raises(UsageError, match="id or rank"):
        to_mcp([], order="score")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="responses or chat"):
        to_openai([], "assistants")  # pyright: ignore[reportArgumentType]


def test_the_claims_of_a_source_change_no_exported_bytes_but_its_own():
    plain, marked = (
        routes({"name": "t", "inputSchema": {}, "annotations": claims})[0]
        for claims in ({}, {"destructiveHint": True})
    )
    assert to_openai([plain]) == to_openai([marked]) and to_anthropic([plain]) == to_anthropic([marked])


def test_tokens_are_those_of_what_is_sent_less_an_empty_list():
    found = routes(*({"name": f"t{n}", "description": "é" * n, "inputSchema": SCHEMA} for n in range(4)))
    for form, export in EXPORTERS.items():
        sent = json.dumps(export(found).tools, ensure_ascii=False, separators=(",", ":"))
        assert tokens.schema_tokens(found, form=form) == estimate_tokens(sent) - estimate_tokens("[]")
        assert sum(tokens.route_tokens(one, form=form) for one in found) >= tokens.schema_tokens(
            found, form=form
        )
    assert tokens.schema_tokens([]) == 0


@given(st.lists(st.text(max_size=40), max_size=5))
def test_walking_the_tools_one_by_one_never_counts_less_than_all_together(texts):
    found = routes(*({"name": f"t{n}", "description": text} for n, text in enumerate(texts)))
    for form in EXPORTERS:
        by_one = [tokens.route_tokens(one, form=form) for one in found]
        assert sum(by_one) >= tokens.schema_tokens(found, form=form)


def test_an_estimate_is_written_as_one():
    assert tokens.ESTIMATE.shown(1412) == "~1,412"
    assert tokens.Counter("tokenizer:x", len).shown(412) == "412"


TOKENIZER = {
    "version": "1.0", "padding": None,
    "truncation": {"max_length": 3, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
    "added_tokens": [], "normalizer": None, "pre_tokenizer": {"type": "Whitespace"},
    "post_processor": None, "decoder": None,
    "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "?": 2}, "unk_token": "?"},
}  # fmt: skip


def test_a_tokenizer_file_counts_whole_texts_also_halves_of_surrogates(tmp_path):
    pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(TOKENIZER))
    by = tokens.counter(f"tokenizer:{path}")
    assert by.name == f"tokenizer:{path}"
    assert (by.tokens("a b b a x"), by.tokens("a \ud800 b"), by.tokens("")) == (5, 3, 0)
    assert tokens.schema_tokens(routes({"name": "a", "inputSchema": {}}), by) > 10


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tokenizer:/nowhere/tokenizer.json", "cannot be read"),
        ("tokenizer:", "there is no counter"),
        ("guess", "estimate, tokenizer:PATH or tiktoken:NAME"),
        ("tiktoken:o200k_base", "nothing is fetched"),
    ],
)
def test_a_counter_that_cannot_be_used_names_its_key_and_fetches_nothing(name, words, monkeypatch, tmp_path):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(ConfigError, match=words) as refused:
        tokens.counter(name)
    assert refused.value.key == "tools.counter"


def test_a_file_that_is_no_tokenizer_is_refused(tmp_path):
    pytest.importorskip("tokenizers")
    (tmp_path / "t.json").write_text("{}")
    with pytest.raises(ConfigError, match=r"no tokenizer\.json"):
        tokens.counter(f"tokenizer:{tmp_path / 't.json'}")
