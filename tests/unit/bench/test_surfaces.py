"""The surfaces of the tools door hold what their pages say of them, and their check finds what is wrong."""

import hashlib
import json
import re
from collections import Counter

import pytest

from surfaces import check
from surfaces.catalog import build


@pytest.fixture(scope="module")
def surfaces():
    return {surface: check.load(surface) for surface in check.SURFACES}


@pytest.fixture
def changed(surfaces):
    """Copies of the surfaces, to be spoilt."""
    return json.loads(json.dumps(surfaces))


def page(folder):
    return (check.HERE / folder / "README.md").read_text("utf-8")


def test_the_surfaces_have_no_faults(surfaces):
    assert check.faults(surfaces) == []


def test_the_command_prints_a_line_for_each_surface_and_ends_well(capsys):
    assert check.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [*check.SURFACES, "no faults"]


def test_the_catalogs_are_what_their_sources_make_of_them():
    for size, servers in build.catalogs().items():
        assert (build.HERE / f"catalog-{size}.json").read_text("utf-8") == build.as_json(servers)


@pytest.mark.parametrize("size", check.SIZES)
def test_a_catalog_holds_as_many_routes_as_its_name_says(size):
    servers = build.catalogs()[size]
    ids = [(server["source"], tool["name"]) for server in servers for tool in server["tools"]]
    assert len(ids) == len(set(ids)) == len(check.routes(size)) == size
    assert f"{len(servers)} servers" in page("catalog")


def test_the_page_of_the_catalog_states_how_many_routes_were_written_and_how_many_composed():
    written = [*build.written((build.HERE / "routes.txt").read_text("utf-8"))]
    composed = [*build.composed((build.HERE / "families.txt").read_text("utf-8"))]
    families = {row.tool["description"].split(". ", 1)[1] for row in composed}
    assert f"{len(written)} routes" in page("catalog")
    assert f"{len(families)} families, {len(composed)} routes" in page("catalog")


def test_fields_of_a_row_become_a_json_schema():
    assert build.schema("key! note limit:integer state:open|closed mass:number{mg}!") == {
        "type": "object",
        "properties": {
            "key": {"type": "string"},
            "note": {"type": "string"},
            "limit": {"type": "integer"},
            "state": {"type": "string", "enum": ["open", "closed"]},
            "mass": {"type": "number", "x-unit": "mg"},
        },
        "required": ["key", "mass"],
    }


def test_a_field_that_cannot_be_read_stops_the_build():
    with pytest.raises(SystemExit, match=r"not a field: a\{"):
        build.schema("a{")


def test_a_family_spells_its_names_as_its_server_does():
    rows = build.composed("100 s camel api_key | API keys | API keys open doors. | list delete\n")
    assert [(row.tool["name"], row.tool["description"], row.tool["annotations"]) for row in rows] == [
        ("listApiKeys", "List the API keys, page by page. API keys open doors.", {"readOnlyHint": True}),
        (
            "deleteApiKey",
            "Delete one API key for good. API keys open doors.",
            {"readOnlyHint": False, "destructiveHint": True},
        ),
    ]


def test_the_pages_state_the_counts(surfaces):
    for surface, rows in surfaces.items():
        required = {id for row in rows for id in row["required"]}
        assert re.search(rf"\b{len(rows)} (further )?requests", page(surface))
        assert re.search(rf"\b{len(required)} (routes )?are required", page(surface)), len(required)
    counts = Counter(row["stratum"] for row in surfaces["hard"])
    for stratum, count in counts.items():
        assert f"| `{stratum}` | {count} |" in page("hard")
    languages = Counter(row["language"] for row in surfaces["hard"])
    assert ", ".join(f"`{language}` {languages[language]}" for language in sorted(languages)) == ", ".join(
        sorted(re.findall(r"`\w\w` \d+", page("hard").split("By language: ")[1].split(". ")[0]))
    )


def test_the_sealed_rows_are_those_that_their_page_names():
    rows = (check.HERE / "office-240-sealed" / "tasks.jsonl").read_bytes()
    assert f"`{hashlib.sha256(rows).hexdigest()}`" in page("office-240-sealed")


def test_every_page_says_that_its_rows_are_synthetic_and_names_the_licence():
    for surface in check.SURFACES:
        assert "synthetic: yes" in page(surface) and "Apache-2.0" in page(surface)
    assert "status: sealed" in page("office-240-sealed") and "status: open" in page("office-240")


def test_a_missing_row_and_an_unknown_stratum_are_named_with_their_cells(changed):
    gone = changed["office-240"].pop(0)
    changed["office-240"][0]["stratum"] = "other"
    found = check.faults(changed)
    assert f"office-240 {gone['stratum']} / en: 3 rows" in found
    assert "office-240 other / en: 1 rows" in found


def test_two_rows_of_a_stratum_that_require_the_same_routes_are_found(changed):
    first, second = changed["office-240"][:2]
    second["required"] = first["required"]
    assert check.faults(changed) == [f"office-240 {first['stratum']}: 2 rows require {first['required'][0]}"]


def test_a_route_that_only_a_larger_catalog_holds_is_a_fault_of_a_balanced_surface_alone(changed):
    for surface in ("office-240", "hard"):
        changed[surface][0]["required"] = ["purchasing/merge_purchase_orders"]
    id = changed["office-240"][0]["id"]
    assert check.faults(changed) == [
        f"office-240 {id} requires an unknown route purchasing/merge_purchase_orders"
    ]


def test_a_sentence_that_differs_in_its_numbers_alone_is_found_across_surfaces(changed):
    changed["office-240"][0]["query"] = "Please close the issue OPS-12!"
    changed["office-240-sealed"][0]["query"] = "please close the issue OPS-7"
    assert check.faults(changed) == [
        f"one query: office-240 {changed['office-240'][0]['id']}, "
        f"office-240-sealed {changed['office-240-sealed'][0]['id']}"
    ]


@pytest.mark.parametrize("key", ["id", "semantic_id"])
def test_an_id_that_occurs_twice_is_found_across_surfaces(changed, key):
    changed["office-240-sealed"][0][key] = changed["office-240"][7][key]
    assert [fault.split(":")[0] for fault in check.faults(changed)] == [f"one {key}"]


def test_a_synonym_that_shares_a_stem_with_its_route_is_found(changed):
    row = next(row for row in changed["hard"] if row["stratum"] == "synonyms")
    row["query"] = "Please open some issues about the login."
    assert check.faults(changed) == [
        f"hard {row['id']} shares the stem {stem} with tracker/create_issue" for stem in ("issu", "open")
    ]


@pytest.mark.parametrize(
    ("stratum", "required", "fault"),
    [
        ("clear_single_tool", [], "requires 0 routes"),
        ("out_of_domain", ["mail/send_email"], "requires 1 routes"),
        ("multi_step_first_hop", ["mail/send_email"], "has one step"),
    ],
)
def test_the_number_of_required_routes_follows_from_the_stratum(changed, stratum, required, fault):
    row = next(row for row in changed["office-240"] if row["stratum"] == stratum)
    row["required"] = required
    assert check.faults(changed) == [f"office-240 {row['id']} {fault}"]


def test_a_short_chat_a_lost_stratum_and_a_key_too_many_are_found(changed):
    hard = changed["hard"] = [row for row in changed["hard"] if row["stratum"] != "typos"]
    chat = next(row for row in hard if row["stratum"] == "long_chat")
    chat |= {"query": "Please do it for me", "note": ""}
    assert check.faults(changed) == [
        f"hard {chat['id']} keys id language note query required stratum",
        f"hard {chat['id']} has 19 characters",
        "hard stratum typos",
    ]


@pytest.mark.parametrize(
    ("query", "languages"),
    [
        ("Please merge the pull request", {"en"}),
        ("Por favor, cierra el issue", {"es"}),
        ("Bitte schließ das Issue", {"de"}),
        ("issue를 닫아 주세요", {"ko", "mixed"}),
        ("issueを閉じてください", {"ja", "mixed"}),
        ("请关闭这个问题", {"zh"}),
        ("この問題を閉じて", {"ja"}),
        ("Закройте задачу", {"ru"}),
        ("Bitte close the issue", {"en", "de", "mixed"}),
        ("OPS-12", set()),
    ],
)
def test_a_language_is_told_by_scripts_and_function_words(query, languages):
    known = (*check.LANGUAGES, *check.SCRIPTS)
    assert {language for language in known if check.written_in(query, language)} == languages
