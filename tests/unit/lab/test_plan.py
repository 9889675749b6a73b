"""What a plan must hold, and what may not decide."""

import tomllib
from importlib.resources import files

import pytest

from admit.errors import PlanError
from admit.lab.plan import Plan, faults, underpowered
from admit.lab.statistics import clusters_needed

from .samples import PLAN, write_plan


def values(**changes):
    found = tomllib.loads(PLAN)
    for name, value in changes.items():
        section, _, key = name.partition("__")
        if key:
            found[section] = {**found[section], key: value}
        elif value is None:
            del found[section]
        else:
            found[section] = value
    return found


def said(**changes):
    return [message for _, message in faults(values(**changes))]


def test_the_template_holds_the_published_numbers_literally():
    text = files("admit.lab").joinpath("plans/adaptive-depth.toml").read_text(encoding="utf-8")
    plan = tomllib.loads(text)
    assert plan["controls"] == ["FIXED-3", "FIXED-5", "FIXED-10"]
    assert plan["candidates"] == ["REL-GAP-005", "REL-GAP-010", "REL-GAP-020", "MAX-GAP-010"]
    assert plan["refused"] == ["learned", "absolute-threshold"]
    assert plan["surface"]["tasks"] == 240 and plan["surface"]["per_cell"] == 5
    assert plan["surface"]["catalog_sizes"] == [100, 250, 500]
    assert plan["surface"]["languages"] == ["en", "ko", "es", "ja", "de", "mixed"]
    assert len(plan["surface"]["strata"]) == 8
    assert plan["eligible"] == {
        "recall_min": 0.97,
        "full_coverage_min": 0.97,
        "mean_exposed_below": 5,
        "p95_exposed_max": 10,
        "mean_tokens_below": "FIXED-5",
    }
    assert plan["select"]["order"] == [
        "mean_exposed", "-recall", "-full_coverage", "mean_tokens", "p95_latency", "id",
    ]  # fmt: skip
    assert plan["promote"] == {
        "recall_min": 0.97,
        "full_coverage_min": 0.97,
        "mean_exposed_max": 4.5,
        "mean_tokens_below": "FIXED-5",
        "task_pass_delta_min": -0.02,
        "unauthorised_destructive_max": 0,
    }
    assert faults(plan) == []


def test_all_that_is_wrong_is_said_at_once_each_with_its_key():
    found = said(question=None, seed="x", surface__tasks=0, colour="red")
    assert [one.partition(":")[0] for one in found] == ["question", "seed", "surface.tasks", "colour"]
    assert found[0] == "question: is missing; it takes a text"


@pytest.mark.parametrize("metric", ["bits_over_random", "-bits_over_random", "BoR", "bits-over-random"])
def test_bits_over_random_in_the_order_of_choice_is_refused(metric):
    (found,) = said(select__order=[metric, "id"])
    assert found.startswith("select.order: bits over random is a diagnostic")


@pytest.mark.parametrize("section", ["eligible", "promote"])
def test_bits_over_random_is_no_bar(section):
    (found,) = said(**{section: {"bits_over_random_min": 4.0}})
    assert "diagnostic" in found


@pytest.mark.parametrize("kind", ["learned", "absolute-threshold"])
def test_a_learned_policy_and_an_absolute_threshold_are_refused_by_kind(kind):
    (found,) = said(candidates=["REL-GAP-005", {"id": "X-1", "kind": kind}])
    assert found == f"candidates: X-1 is of the kind {kind}, which is refused"


@pytest.mark.parametrize(
    "id", ["LEARNED-LOGISTIC", "SCORE-ABOVE-7", "budget", "cover", "FIXED-4", "rel-gap-005"]
)
def test_only_the_published_depths_can_be_chosen_from(id):
    (found,) = said(candidates=["REL-GAP-005", id])
    assert found.startswith(f"candidates: {id} is none of the published candidates")


def test_a_control_is_no_candidate_and_a_refused_kind_cannot_be_allowed():
    assert said(candidates=["FIXED-5"]) and said(controls=["MAX-GAP-010", "FIXED-5"])
    assert said(refused=["learned"]) == ["refused: absolute-threshold must stand there"]


def test_the_order_ends_in_the_id_so_that_exactly_one_is_chosen():
    assert said(select__order=["mean_exposed"]) == [
        "select.order: must end in id, so that exactly one is chosen"
    ]


def test_a_bar_names_a_metric_a_comparison_and_a_bound():
    assert "there is no such bar" in said(eligible={"recall": 0.9})[0]
    assert "there is no such bar" in said(eligible={"task_pass_delta_min": 0.0})[0]
    assert "no policy of this plan" in said(eligible={"mean_tokens_below": "FIXED-9"})[0]
    assert "takes a number" in said(eligible={"recall_min": True})[0]


def test_cells_must_make_up_the_tasks():
    assert "are 24" in said(surface__tasks=25)[0]


def test_a_plan_that_cannot_be_read_says_why(tmp_path):
    with pytest.raises(PlanError, match="admit lab new"):
        Plan.load(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("a = [")
    with pytest.raises(PlanError, match="no TOML"):
        Plan.load(tmp_path / "bad.toml")


def test_too_few_cases_for_the_gate_on_task_passes_are_refused_or_waived_in_writing(tmp_path):
    plan = Plan.load(write_plan(tmp_path, waiver='" "'))
    assert plan.needed == clusters_needed(0.02, 0.10, 0.80) == 1963
    assert underpowered(plan).startswith("promote.task_pass_delta_min: 24 cases")
    assert underpowered(Plan.load(write_plan(tmp_path, waiver='"no agent runs here"'))) == ""


def test_a_plan_without_such_a_gate_needs_no_number_of_cases(tmp_path):
    path = write_plan(tmp_path, waiver='""')
    path.write_text(path.read_text().replace("task_pass_delta_min = -0.02\n", ""))
    plan = Plan.load(path)
    assert plan.needed == 0 and underpowered(plan) == ""
