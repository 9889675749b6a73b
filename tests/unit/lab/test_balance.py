"""What is wrong with a surface, in sentences."""

import json

import pytest

from admit.errors import LabError, SurfaceError
from admit.lab.balance import Shape, surface_faults
from admit.lab.plan import Plan
from admit.lab.surface import load

from .samples import Lab, rows, write_plan, write_surface

SHAPE = Shape(24, 6, (12, 36), ("en", "de"), ("clear_single_tool", "out_of_domain"))


def found(tmp_path, change):
    cases = rows()
    change(cases)
    return surface_faults(load(write_surface(tmp_path / "s", cases)), SHAPE)


def test_a_balanced_surface_has_no_faults(tmp_path):
    assert found(tmp_path, lambda cases: None) == []


def test_a_cell_with_too_few_cases_is_named(tmp_path):
    assert found(tmp_path, lambda cases: cases.pop(0)) == [
        "23 cases where the plan says 24: add or take out cases, or change tasks",
        "clear_single_tool in en has 5 cases and needs 6",
    ]


@pytest.mark.parametrize("field, name", [("stratum", "clear_tool"), ("language", "EN")])
def test_a_wrong_name_of_a_stratum_or_a_language_is_named_with_its_cases(tmp_path, field, name):
    first, *_ = found(tmp_path, lambda cases: cases[0].update({field: name}))
    assert first.startswith(f"{field} {name!r} is none of the plan (") and first.endswith(": please-invoice")


def test_a_repeated_id_is_named(tmp_path):
    assert found(tmp_path, lambda cases: cases[1].update(id=cases[0]["id"])) == [
        "the id please-invoice occurs 2 times: give each case its own"
    ]


def test_a_translated_twin_is_found_by_its_semantic_id(tmp_path):
    # The thirteenth case is the first of the second language.
    (fault,) = found(tmp_path, lambda cases: cases[12].update(semantic_id=cases[0]["semantic_id"]))
    assert fault == (
        "semantic_id please-task-invoice is a translated twin (de, en): "
        "keep one of please-invoice, please-contract"
    )


def test_a_case_without_a_semantic_id_is_named(tmp_path):
    (fault,) = found(tmp_path, lambda cases: cases[3].pop("semantic_id"))
    assert fault == "no semantic_id, so that a translated twin could not be told: please-branch"


def test_every_case_needs_its_routes_at_every_size(tmp_path):
    faults = found(tmp_path, lambda cases: cases[0].update(required=["office/delete_lamp"]))
    assert faults == ["please-invoice requires office/delete_lamp, which catalog-12.json has not"]


def test_a_missing_and_a_wrong_size_of_catalog_are_named(tmp_path):
    folder = write_surface(tmp_path / "s", rows())
    (folder / "catalog-36.json").write_text(json.dumps([]))
    assert "catalog-36.json holds 0 routes, not 36" in surface_faults(load(folder), SHAPE)
    (folder / "catalog-36.json").unlink()
    assert surface_faults(load(folder), SHAPE) == [
        "there is no catalog-36.json: every case needs every size of the plan"
    ]


@pytest.mark.parametrize(
    "line", ["{", '{"id": "x"}', '{"id": 3, "query": "q", "required": [], "stratum": "s", "language": "en"}']
)
def test_a_line_that_is_no_case_is_named_by_its_number(tmp_path, line):
    folder = write_surface(tmp_path / "s", rows()[:1])
    with (folder / "tasks.jsonl").open("a") as file:
        file.write(line)
    with pytest.raises(SurfaceError, match=r"tasks\.jsonl:2: not a case"):
        load(folder)


def test_a_folder_without_catalogs_says_what_to_put_there(tmp_path):
    folder = write_surface(tmp_path / "s", rows())
    for file in folder.glob("catalog-*"):
        file.unlink()
    with pytest.raises(SurfaceError, match=r"holds no catalog-N\.json"):
        load(folder)


def test_requests_that_stand_in_two_surfaces_are_refused_unless_the_plan_allows_their_number(tmp_path):
    lab = Lab(tmp_path)
    cases = rows("kindly")
    cases[0]["query"] = "  PLEASE create the  invoice"
    write_surface(tmp_path / "sealed", cases, "sealed")
    with pytest.raises(LabError, match=r"1 requests stand in dev too, at most 0 may .*kindly-invoice"):
        lab.freeze()
    lab.path = write_plan(tmp_path, overlap_max="1")
    assert lab.freeze().plan == Plan.load(lab.path)


def test_a_task_of_one_surface_is_none_of_another(tmp_path):
    lab = Lab(tmp_path)
    cases = rows("kindly")
    cases[0]["semantic_id"] = "please-task-lamp"
    write_surface(tmp_path / "sealed", cases, "sealed")
    with pytest.raises(LabError, match="tasks of dev by semantic_id: please-task-lamp"):
        lab.freeze()


def test_the_published_form_is_read_with_the_task_itself_as_semantic_id(tmp_path):
    folder = tmp_path / "public"
    folder.mkdir()
    task = {
        "task_id": "t1",
        "task_stratum": "clear_single_tool",
        "language": "en",
        "query": "Read the hardness",
        "required_route_ids": ["mechanics.hardness"],
    }
    param = {
        "name": "id",
        "description": "sample",
        "required": True,
        "json_schema": {"type": "string"},
        "aliases": [],
    }
    endpoint = {
        "name": "hardness",
        "description": "Read hardness",
        "operation_aliases": ["vickers"],
        "parameters": [param],
        "input_schema": {},
        "output_fields": [],
        "output_schema": {},
        "read_only": True,
        "destructive": False,
    }
    tools = [{"name": "mechanics", "description": "Mechanics", "endpoints": [endpoint]}]
    (folder / "tasks.jsonl").write_text(json.dumps(task))
    (folder / "catalog-10.json").write_text(json.dumps(tools))
    surface = load(folder)
    (route,) = surface.catalogs[10]
    assert surface.cases[0].semantic_id == surface.cases[0].cluster == "t1"
    assert surface.cases[0].required == (route.id,)
    assert route.input_schema == {
        "type": "object",
        "properties": {"id": {"type": "string", "description": "sample"}},
        "required": ["id"],
    }
