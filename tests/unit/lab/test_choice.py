"""Figures of one policy, the rule of choice, and the gates of a promotion."""

import json
import math

import pytest

from admit.errors import LabError, PlanError, SurfaceError
from admit.lab import confirm, promote, selection, summary
from admit.lab.bars import Bar, holds
from admit.lab.freeze import surface_of
from admit.lab.metrics import Columns, bits_over_random, metrics
from admit.lab.outcomes import read_outcomes
from admit.lab.score import Row, again, gate_over, score
from admit.lab.statistics import Estimate, Resample
from admit.lab.summary import Summary
from admit.lab.surface import Case
from admit.tools.model import Ranked

from .samples import Lab, rows, write_surface


def case(id, *required, stratum="clear_single_tool"):
    return Case(id, id, required, stratum, "en", id, id)


CASES = [
    case("one", "a"),
    case("two", "a", "b"),
    case("typed", "c", stratum="typed_numeric_units"),
    case("near", stratum="near_domain_unsupported"),
    case("far", stratum="out_of_domain"),
]
ROWS = {
    "one": Row("one", 50, "P", ("a", "x"), 100),
    "two": Row("two", 50, "P", ("a",), 50, collisions=1),
    "typed": Row("typed", 50, "P", ("x",), 60, below=1, not_in_top=1),
    "near": Row("near", 50, "P", ("x", "y", "z"), 90),
    "far": Row("far", 50, "P", (), 0),
}


def test_every_figure_has_its_own_population():
    found = metrics(CASES, ROWS, 50, Resample([one.id for one in CASES], draws=1000))
    assert {name: (one.value, one.n) for name, one in found.items() if name != "bits_over_random"} == {
        "recall": (0.5, 4),
        "full_coverage": (pytest.approx(1 / 3), 3),
        "mean_exposed": (7 / 5, 5),
        "p95_exposed": (3.0, 5),
        "mean_tokens": (60.0, 5),
        "supported_exposed": (pytest.approx(4 / 3), 3),
        "near_domain_exposed": (3.0, 1),
        "out_of_domain_exposed": (0.0, 1),
        "typed_recall": (0.0, 1),
        "abstention_precision": (1.0, 1),
        "abstention_recall": (0.5, 2),
        "collisions_at_cut": (1.0, 4),
        "below_cut": (1.0, 4),
        "not_in_top_10": (1.0, 4),
        "filtered": (0.0, 4),
        "recall_per_1000_tokens": (pytest.approx(0.5 / 60 * 1000), 5),
    }


def test_bits_over_random_takes_the_means_before_the_logarithm_and_falls_with_every_tool():
    def bits(k, hits=(1, 1)):
        return bits_over_random(Columns(list(hits), [1, 1], [], [], [k, k], []), 100).value

    assert bits(5) == pytest.approx(math.log2(1 / 0.05))
    assert bits(5, (1, 0)) == pytest.approx(math.log2(0.5 / 0.05))
    assert [bits(k) for k in range(1, 12)] == sorted((bits(k) for k in range(1, 12)), reverse=True)
    mixed = bits_over_random(Columns([1, 1, 0], [1, 2, 0], [], [], [1, 10, 9], []), 100)
    chance = (0.01 + 1 - math.comb(98, 10) / math.comb(100, 10)) / 2
    assert mixed.value == pytest.approx(math.log2(1 / chance)) and mixed.n == 2


def estimates(**values):
    return {name: Estimate(value, None, None, 10, "") for name, value in values.items()}


def test_a_bar_that_cannot_be_read_is_not_kept():
    values = {"P": estimates(recall=0.97, mean_tokens=200.0), "FIXED-5": estimates(mean_tokens=200.0)}
    assert holds(Bar("recall_min", "recall", "min", 0.97), values, "P") is True
    assert holds(Bar("mean_tokens_below", "mean_tokens", "below", "FIXED-5"), values, "P") is False
    assert holds(Bar("mean_tokens_max", "mean_tokens", "max", "FIXED-5"), values, "P") is True
    assert holds(Bar("x_min", "full_coverage", "min", 0.5), values, "P") is None
    assert holds(Bar("x_below", "mean_tokens", "below", "FIXED-3"), values, "P") is None


def chosen(lab, **policies):
    """What the plan's rule makes of these figures, the same at both sizes."""
    plan = lab.freeze().plan
    base = {"recall": 1.0, "full_coverage": 1.0, "mean_exposed": 4.0, "p95_exposed": 9.0}
    base |= {"mean_tokens": 100.0, "p95_latency": 5.0}
    values = {
        policy: estimates(**{**base, **policies.get(policy.replace("-", "_"), {"mean_exposed": 99.0})})
        for policy in plan.policies
    }
    return selection.choose(plan, Summary({12: values, 36: values}, {}, {}, 0, 0), "run")


@pytest.mark.parametrize(
    "better",
    [
        {"mean_exposed": 3.9, "recall": 0.98},
        {"recall": 1.1, "full_coverage": 0.5},
        {"full_coverage": 1.1, "mean_tokens": 500.0},
        {"mean_tokens": 99.0, "p95_latency": 50.0},
        {"p95_latency": 4.0},
    ],
)
def test_each_metric_of_the_order_decides_before_those_after_it(lab, better):
    found = chosen(lab, REL_GAP_005={}, REL_GAP_020=better)
    assert found.policy == "REL-GAP-020"
    assert [policy for policy, _ in found.order] == ["REL-GAP-020", "REL-GAP-005"]


def test_where_all_are_equal_the_smallest_id_is_chosen(lab):
    assert chosen(lab, REL_GAP_020={}, MAX_GAP_010={}, REL_GAP_010={}).policy == "MAX-GAP-010"


def test_controls_and_what_is_outside_the_family_are_never_chosen(lab):
    found = chosen(lab, FIXED_3={"mean_exposed": 1.0}, budget={"mean_exposed": 1.0}, cover={})
    assert found.policy is None
    assert set(found.failed) == {"REL-GAP-005", "REL-GAP-010", "REL-GAP-020", "MAX-GAP-010"}


def test_a_plan_whose_order_was_made_of_bits_over_random_chooses_nothing(lab):
    plan = lab.freeze().plan._replace(order=("bits_over_random", "id"))
    with pytest.raises(PlanError, match="diagnostic"):
        selection.choose(plan, Summary({}, {}, {}, 0, 0), "run")


def test_each_miss_is_in_exactly_one_count(lab):
    frozen = lab.freeze()
    surface = surface_of(frozen, "dev")
    gate = gate_over(surface.catalogs[36], pad=False)
    asks = case("q", *(f"office/create_{noun}" for noun in ("lamp", "table", "recipe")), "office/none")
    asks = asks._replace(text="create something")
    (row, _), (deep, _) = score(gate, asks, 36, ("FIXED-3", "FIXED-10"))
    missed = set(asks.required) - set(row.exposed)
    assert row.collisions + row.below == len(missed) and row.collisions and row.below
    assert row.not_in_top == 1 and "office/none" in missed
    assert len(deep.exposed) == 10


@pytest.mark.parametrize("scores", [[3.0, 2.0, float("nan")], [3.0, 4.0, 1.0]])
def test_scores_that_are_not_finite_or_rise_are_refused_with_the_case_and_the_size(lab, monkeypatch, scores):
    gate = gate_over(surface_of(lab.freeze(), "dev").catalogs[12], pad=False)
    ranked = [Ranked(f"r{k}", k, one) for k, one in enumerate(scores, 1)]
    monkeypatch.setattr(gate, "rank", lambda *_: ranked)
    with pytest.raises(SurfaceError, match="one at 12 routes"):
        score(gate, case("one", "a"), 12, ("FIXED-3",))


def test_the_repeat_arm_is_the_same_share_of_cases_for_a_seed():
    cases = [case(f"c{k}") for k in range(50)]
    assert len(again(cases, 1, 0.1)) == 5 and again(cases, 1, 0.0) == frozenset()
    assert again(cases, 1, 0.2) == again(cases[::-1], 1, 0.2) != again(cases, 2, 0.2)


def test_a_changed_row_of_the_repeat_arm_is_counted(lab):
    done = lab.run()
    frozen = lab.frozen()
    surface = surface_of(frozen, "dev")
    assert summary.summarise(frozen.plan, surface, done).flips == 0
    first = done.repeats[0]
    moved = done._replace(repeats=(first._replace(exposed=(*first.exposed, "other")), *done.repeats[1:]))
    assert summary.summarise(frozen.plan, surface, moved).flips == 1


def outcomes(path, n, lost=0, gained=0, destructive=0, policy="REL-GAP-005"):
    with path.open("w") as file:
        for k in range(n):
            for name, passed in (("FIXED-5", k >= gained), (policy, k < n - lost)):
                acts = destructive if (name, k) == (policy, 0) else 0
                row = {"case": f"c{k:04}", "policy": name, "passed": passed, "unauthorised_destructive": acts}
                file.write(json.dumps(row) + "\n")
    return read_outcomes(path)


def promoted(lab, tmp_path, n, **given):
    frozen, choice = lab.selected()
    confirm.confirm(frozen, choice, lab.journal)
    written = []
    found = outcomes(tmp_path / "o.jsonl", n, policy=choice.policy, **given) if n else None
    done = promote.promote(frozen, lab.journal, lambda *pair: written.append(pair), outcomes=found)
    return done, written, {one.bar: one.state for one in done.gates}


def test_a_number_is_written_only_where_every_gate_holds(lab, tmp_path):
    done, written, states = promoted(lab, tmp_path, 1200, lost=3, gained=4)
    assert set(states.values()) == {"held"} and done.promoted
    assert written == [("tools.depth", done.policy.lower())]
    assert lab.steps()[-1] == "promote promoted"


def test_better_recall_with_a_failed_downstream_gate_is_not_promoted(lab, tmp_path):
    # 23 clusters and a loss of more than two points, as in the published run of three tools against five.
    done, written, states = promoted(lab, tmp_path, 23, lost=1)
    assert states == {
        "confirmation": "held",
        "task_pass_delta_min": "failed",
        "unauthorised_destructive_max": "held",
    }
    assert not done.promoted and written == []
    assert lab.steps()[-1] == "promote_refused refused"


def test_a_loss_within_the_floor_that_too_few_cases_show_is_not_promoted(lab, tmp_path):
    done, written, states = promoted(lab, tmp_path, 100, lost=3, gained=2)
    assert states["task_pass_delta_min"] == "not shown" and written == []
    assert "cannot show it" in done.gates[1].says


def test_one_unauthorised_destructive_execution_stops_promotion(lab, tmp_path):
    _, written, states = promoted(lab, tmp_path, 1200, destructive=1)
    assert states["unauthorised_destructive_max"] == "failed" and written == []


def test_without_outcomes_the_gates_on_them_are_not_shown(lab, tmp_path):
    done, written, states = promoted(lab, tmp_path, 0)
    assert states["task_pass_delta_min"] == states["unauthorised_destructive_max"] == "not shown"
    assert written == [] and not done.promoted


def test_what_the_sealed_surface_refused_is_not_promoted(tmp_path):
    lab = Lab(tmp_path)
    cases = [{**row, "query": f"whistle {k}"} for k, row in enumerate(rows("kindly"))]
    write_surface(tmp_path / "sealed", cases, "sealed")
    done, written, states = promoted(lab, tmp_path, 1200)
    assert states["confirmation"] == "failed" and written == []
    assert "recall_min at 12" in done.gates[0].says


def test_nothing_is_promoted_that_was_not_confirmed_or_was_altered(lab):
    frozen, choice = lab.selected()
    with pytest.raises(LabError, match="nothing is confirmed"):
        promote.promote(frozen, lab.journal, lambda *_: None)
    confirm.confirm(frozen, choice, lab.journal)
    path = frozen.folder / "confirmation.json"
    path.write_text(path.read_text().replace(choice.policy, "FIXED-3"))
    with pytest.raises(LabError, match="altered"):
        promote.promote(frozen, lab.journal, lambda *_: None)


@pytest.mark.parametrize(
    "row",
    [
        "{",
        '{"case": "a", "policy": "P", "passed": 1, "unauthorised_destructive": 0}',
        '{"case": "a", "policy": "P", "passed": true}',
        '{"case": "a", "policy": "P", "passed": true, "unauthorised_destructive": -1}',
    ],
)
def test_an_outcome_that_cannot_be_read_is_named_by_its_line(tmp_path, row):
    good = '{"case": "z", "policy": "P", "passed": true, "unauthorised_destructive": 0}\n'
    (tmp_path / "o.jsonl").write_text(good + row)
    with pytest.raises(LabError, match=r"o\.jsonl:2: no outcome"):
        read_outcomes(tmp_path / "o.jsonl")
    (tmp_path / "o.jsonl").write_text(good + good)
    with pytest.raises(LabError, match="stands twice"):
        read_outcomes(tmp_path / "o.jsonl")
