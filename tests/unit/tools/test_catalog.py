"""The catalog: one revision for one set of tools, readers that see one state, and a file that is whole."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import AmbiguousTool, ConfigError, UnknownTool, UsageError
from admit.tools.catalog import Catalog
from admit.tools.drift import Pins
from admit.tools.route import routes_of
from admit.tools.sources.json_list import from_json

NOW = 1_700_000_000_000


def tool(name, text="", **more):
    return {"name": name, "description": text, "inputSchema": {"type": "object"}, **more}


def mcp(source, *names, text=""):
    return routes_of(source, "mcp", [tool(name, text) for name in names])


def files(source, *names):
    return from_json(source, [tool(name) for name in names])


def same(one: Catalog, other: Catalog) -> bool:
    first, second = one.snapshot(), other.snapshot()
    return (first.revision, list(first.routes.items()), dict(first.held)) == (
        second.revision, list(second.routes.items()), dict(second.held),
    )  # fmt: skip


POOL = [*mcp("gh", "a", "b", "c"), *files("own", "a", "b", "d/e"), *mcp("other", "x")]


@given(st.permutations(POOL), st.lists(st.integers(1, 3), max_size=8), st.sets(st.sampled_from(range(7))))
def test_the_revision_is_that_of_the_set_whatever_the_order_of_adding_and_removing(order, sizes, gone):
    grown = Catalog()
    at = 0
    for size in (*sizes, len(order)):
        grown.add(order[at : at + size])
        at += size
    grown.remove(order[place].id for place in gone)
    grown.add([order[place] for place in sorted(gone)[:2]])
    rest = [one for place, one in enumerate(order) if place not in gone or place in sorted(gone)[:2]]
    fresh = Catalog()
    fresh.add(sorted(rest))
    assert grown.revision == fresh.revision
    assert list(grown.snapshot().routes.items()) == list(fresh.snapshot().routes.items())


def test_adding_removing_and_adding_again_is_a_fresh_build():
    fresh, grown = Catalog(), Catalog()
    fresh.add(POOL)
    grown.add(POOL)
    assert grown.remove(["gh/a", "gh/nothing", "gh/a"]) == 1
    assert grown.revision != fresh.revision
    grown.add([POOL[0]])
    assert same(grown, fresh)


def test_any_change_of_a_tool_is_another_revision():
    catalog = Catalog()
    catalog.add(mcp("gh", "a"))
    before = catalog.revision
    catalog.add(mcp("gh", "a", text="!"))
    assert catalog.revision != before
    catalog.add(mcp("gh", "a"))
    assert catalog.revision == before


def test_ids_that_run_together_are_not_one_revision():
    one, other = Catalog(), Catalog()
    printed = POOL[0].fingerprint
    one.add([POOL[0]._replace(id=f"a {printed}\n1 b")])
    other.add([POOL[0]._replace(id="a"), POOL[0]._replace(id="b")])
    assert one.revision != other.revision


def test_adding_says_what_it_added_replaced_and_left():
    catalog = Catalog()
    assert catalog.add(files("own", "a", "b")).added == ("own/a", "own/b")
    changes = catalog.add(from_json("own", [tool("b", "new"), tool("a"), tool("c"), 3]))
    assert (changes.added, changes.replaced, changes.same) == (("own/c",), ("own/b",), ("own/a",))
    assert [problem.code for problem in changes.problems] == ["not_an_object"]
    assert catalog.snapshot().sources["own"].problems == changes.problems


@pytest.mark.parametrize("many", [3, 150])
def test_few_and_many_are_added_alike(many):
    names = [f"t{n}" for n in range(many)]
    at_once, one_by_one = Catalog(), Catalog()
    at_once.add(files("own", *names))
    for route in files("own", *reversed(names)):
        one_by_one.add([route])
    assert same(at_once, one_by_one)
    assert list(at_once.snapshot().routes) == sorted(f"own/{name}" for name in names)


def test_a_tool_is_got_by_its_id_or_by_a_name_that_only_one_has():
    catalog = Catalog()
    catalog.add(POOL)
    assert catalog.get("gh/a").source == "gh"
    assert catalog.get("x").id == "other/x" and catalog.get("d/e").id == "own/d%2Fe"
    with pytest.raises(AmbiguousTool) as ambiguous:
        catalog.get("a")
    assert ambiguous.value.candidates == ("gh/a", "own/a")
    with pytest.raises(UnknownTool, match="admit tools list"):
        catalog.get("nothing")


def test_a_snapshot_stays_what_it_was():
    catalog = Catalog()
    catalog.add(POOL)
    before = catalog.snapshot()
    revision, ids = before.revision, list(before.routes)
    catalog.remove(ids[:3])
    catalog.add(mcp("late", "z"))
    assert (before.revision, list(before.routes), len(before)) == (revision, ids, len(POOL))
    assert before.get("gh/a") and "late" not in before.sources
    gone, fresh = catalog.snapshot().since(before)
    assert gone == tuple(ids[:3]) and [route.id for route in fresh] == ["late/z"]
    assert catalog.snapshot() is catalog.snapshot()


@given(st.lists(st.tuples(st.booleans(), st.lists(st.integers(0, 150), max_size=130)), max_size=8))
def test_what_changed_since_any_snapshot_leads_from_it_to_the_last(turns):
    """Few and many changes at once, and snapshots from before a log begins."""
    catalog, elsewhere = Catalog(), Catalog()
    elsewhere.add(files("own", "t1", "t2"))
    kept = [catalog.snapshot(), elsewhere.snapshot()]
    for turn, (adds, numbers) in enumerate(turns):
        if adds:
            catalog.add(from_json("own", [tool(f"t{n}", str(turn % 2)) for n in dict.fromkeys(numbers)]))
        else:
            catalog.remove(f"own/t{number}" for number in numbers)
        kept.append(catalog.snapshot())
    last = catalog.snapshot()
    for older in kept:
        gone, fresh = last.since(older)
        grown = dict(older.routes)
        for id in gone:
            del grown[id]
        assert not {route.id for route in fresh} & grown.keys()
        grown |= {route.id: route for route in fresh}
        assert grown == dict(last.routes)
        assert list(gone) == sorted(gone) and list(fresh) == sorted(fresh, key=lambda route: route.id)


def test_many_small_changes_are_still_found():
    catalog = Catalog()
    catalog.add(files("own", *(f"t{n}" for n in range(200))))
    first = catalog.snapshot()
    for number in range(100):
        catalog.remove([f"own/t{number}"])
    assert len(catalog.snapshot().since(first)[0]) == 100


def test_what_changed_since_nothing_is_all_of_it_and_a_replaced_route_is_on_both_sides():
    catalog = Catalog()
    catalog.add(files("own", "a", "b"))
    before = catalog.snapshot()
    assert [route.id for route in before.since(None)[1]] == ["own/a", "own/b"]
    catalog.add(from_json("own", [tool("b", "new")]))
    gone, fresh = catalog.snapshot().since(before)
    assert (gone, [route.description for route in fresh]) == (("own/b",), ["new"])


def test_readers_see_whole_changes_while_others_write():
    catalog = Catalog()
    halves = [files("own", *(f"{side}{n}" for n in range(40))) for side in "ab"]
    catalog.add(halves[0])
    whole = {catalog.revision}
    catalog.refresh("own", halves[1])
    whole.add(catalog.revision)
    seen: set[str] = set()
    ends = threading.Event()

    def read() -> None:
        while not ends.is_set():
            snapshot = catalog.snapshot()
            seen.add(snapshot.revision)
            assert len({route.name[0] for route in snapshot.routes.values()}) == 1

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for turn in range(60):
        catalog.refresh("own", halves[turn % 2])
    ends.set()
    for reader in readers:
        reader.join()
    assert seen <= whole


def test_a_source_that_answers_without_a_tool_keeps_what_it_had_and_is_stale():
    catalog = Catalog(now_ms=lambda: NOW)
    catalog.add(files("own", "a"))
    before = catalog.revision
    changes = catalog.refresh("own", from_json("own", []))
    source = catalog.snapshot().sources["own"]
    assert [problem.code for problem in changes.problems] == ["source_empty"] == [source.problems[0].code]
    assert (source.stale_since_ms, source.cause) == (NOW, "")
    assert catalog.revision == before
    catalog.refresh("own", files("own", "a"))
    assert catalog.snapshot().sources["own"] == source._replace(problems=(), cause="", stale_since_ms=None)


def test_a_source_that_never_had_a_tool_may_have_none():
    catalog = Catalog()
    catalog.add(files("own", "a"))
    catalog.remove(["own/a"])
    assert catalog.refresh("own", []).problems == ()


def test_a_refresh_takes_out_what_is_gone_and_touches_no_other_source():
    catalog = Catalog()
    catalog.add(POOL)
    changes = catalog.refresh("own", files("own", "a", "n"))
    assert (changes.added, changes.same, changes.removed) == (("own/n",), ("own/a",), ("own/b", "own/d%2Fe"))
    assert [route.id for route in catalog.snapshot().of("gh")] == ["gh/a", "gh/b", "gh/c"]
    with pytest.raises(UnknownTool):
        catalog.refresh("nowhere", [])
    with pytest.raises(UsageError, match="gh/a is no tool of own"):
        catalog.refresh("own", mcp("gh", "a"))


def test_a_source_that_fails_keeps_its_routes_and_the_time_since_when():
    now = [NOW]
    catalog = Catalog(now_ms=lambda: now[0])
    catalog.add(files("own", "a"))
    catalog.failed("own", "no answer")
    now[0] += 1000
    catalog.failed("own", "gone")
    source = catalog.snapshot().sources["own"]
    assert (source.cause, source.stale_since_ms, len(catalog)) == ("gone", NOW, 1)


def test_instructions_of_a_server_are_kept_with_its_source():
    catalog = Catalog()
    routes = mcp("gh", "a")
    routes.instructions = "Search first."
    catalog.add(routes)
    catalog.refresh("gh", mcp("gh", "a"))
    assert catalog.snapshot().sources["gh"].instructions == "Search first."


def test_a_saved_catalog_loads_as_it_was(tmp_path: Path):
    path = tmp_path / "admit/catalog.json"
    catalog = Catalog(Pins(str(path.with_name("pins.json"))))
    catalog.add(mcp("gh", "a", "same", "same", "ü\ud800"))
    catalog.add(
        from_json("own", [tool("t", "x", extra=0.1), {"name": "n", "parameters": None}, 4]), drift="hold"
    )
    catalog.failed("gh", "no answer")
    catalog.save(path)
    loaded = Catalog.load(path)
    assert same(loaded, catalog)
    assert loaded.snapshot().sources == catalog.snapshot().sources
    assert path.stat().st_mode & 0o777 == 0o600
    assert loaded.snapshot().held == {}


def test_no_file_is_an_empty_catalog(tmp_path: Path):
    assert len(Catalog.load(tmp_path / "catalog.json")) == 0


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "does not hold a catalog"),
        (b'{"schema": 1, "sources"', "does not hold a catalog"),
        (b'{"schema": 1, "sources": {"a": {"kind": "mcp"}}}', "does not hold a catalog"),
        (b'{"schema": 1, "sources": []}', "does not hold a catalog"),
        (b"[]", "does not hold a catalog"),
        (b'{"schema": 2}', "newer version"),
        (b'{"schema": 1, "schema": 1}', "duplicate"),
        (b"\xff", "does not hold a catalog"),
    ],
)
def test_a_damaged_or_newer_file_is_refused_with_a_fix_and_left_as_it_is(tmp_path: Path, data, words):
    path = tmp_path / "catalog.json"
    path.write_bytes(data)
    path.chmod(0o600)
    with pytest.raises(ConfigError, match=words) as refused:
        Catalog.load(path)
    assert "move it away" in str(refused.value)
    assert path.read_bytes() == data


def test_a_file_that_others_can_write_is_refused(tmp_path: Path):
    path = tmp_path / "catalog.json"
    path.write_text(json.dumps({"schema": 1, "sources": {}}))
    path.chmod(0o666)
    with pytest.raises(ConfigError, match="chmod 600"):
        Catalog.load(path)


def test_what_is_imported_for_the_catalog_holds_no_server_library_and_no_arrays():
    code = (
        "import sys, admit.tools, admit.tools.catalog, admit.tools.filters, admit.tools.export;"
        "import admit.tools.tokens, admit.tools.servers, admit.tools.importing, admit.tools.sources.openapi;"
        "heavy = ('mcp', 'fastmcp', 'pydantic', 'numpy', 'httpx2', 'yaml', 'tokenizers', 'asyncio', 're2');"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
