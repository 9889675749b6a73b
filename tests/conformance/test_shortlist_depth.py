"""The depth of a shortlist: fixed controls, and gap rules that know no absolute score. Exposure only."""

import json
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.admission import decide, plan
from admit.core.candidate import UNBOUNDED, Candidate
from admit.core.depth import PUBLISHED, cut, gaps, published
from admit.core.order import by_rank
from admit.core.policy import DOORS, count
from admit.core.question import Answer, Reply
from admit.errors import LabError, PlanError, SealError, UsageError
from admit.lab.balance import surface_faults
from admit.lab.confirm import confirm
from admit.lab.figures import figures
from admit.lab.freeze import check, surface_of
from admit.lab.metrics import metrics
from admit.lab.plan import Plan
from admit.lab.promote import promote
from admit.lab.run import run
from admit.lab.score import gate_over, score
from admit.lab.selection import choose
from admit.lab.statistics import Estimate, Resample
from admit.lab.summary import Summary, summarise
from admit.lab.surface import load
from admit.tools.policy import ToolPolicy
from tests.unit.lab.samples import Lab

ADAPTIVE = [name for name in PUBLISHED if "GAP" in name]
LISTS = {
    "a knee after rank 4": [20, 19, 18, 17, 9, 8.5, 8, 7.5, 7, 0],
    "a knee after rank 8": [20, 19.8, 19.6, 19.4, 19.2, 19, 18.8, 18.6, 3, 0],
    "even": [10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
    "flat": [4.2] * 10,
    "few": [9, 8, 7, 6],
}
CUTS = {
    #                 3-fix 5-fix 10-fix 005 010 020 max
    "a knee after rank 4": [3, 5, 10, 3, 4, 4, 4],
    "a knee after rank 8": [3, 5, 10, 8, 8, 8, 8],
    "even": [3, 5, 10, 3, 3, 10, 3],
    "flat": [3, 5, 10, 10, 10, 10, 10],
    "few": [3, 5, 10, 3, 3, 4, 4],
}


def test_S2_no_rule_holds_a_score_against_an_absolute_threshold():
    for name in ADAPTIVE:
        for scores in LISTS.values():
            tiny = [score * 2**-12 for score in scores]
            assert cut(published(name), tiny) == cut(published(name), scores)


@given(
    st.lists(st.integers(-500, 500), min_size=10, max_size=12).map(lambda row: sorted(row, reverse=True)),
    st.sampled_from([2, 0.125, 1000]),
    st.integers(-100, 100),
)
def test_S2_the_signal_is_the_same_for_any_positive_scale_and_any_shift(scores, scale, shift):
    assert gaps([scale * score + shift for score in scores]) == pytest.approx(gaps(scores), abs=2e-9)


def test_S2_a_gap_is_the_fall_to_the_next_score_over_the_fall_of_the_top_ten():
    assert gaps(LISTS["a knee after rank 4"]) == pytest.approx(
        {3: 0.05, 4: 0.4, 5: 0.025, 6: 0.025, 7: 0.025, 8: 0.025, 9: 0.35}
    )


def test_S2_the_denominator_is_never_below_a_billionth():
    assert gaps([2e-9, 2e-9, 2e-9, *[0.0] * 7])[3] == 1.0
    assert set(gaps([1e-9, 1e-9, 1e-9, *[0.0] * 7]).values()) == {0.0}


@pytest.mark.parametrize("name", ADAPTIVE)
def test_S2_a_flat_top_ten_fails_closed_to_the_greatest_depth(name):
    assert cut(published(name), [3.3] * 25) == 10


def test_S3_there_are_three_controls_and_four_candidates():
    assert [(depth.id, depth.family) for depth in PUBLISHED.values()] == [
        ("FIXED-3", "control"),
        ("FIXED-5", "control"),
        ("FIXED-10", "control"),
        ("REL-GAP-005", "candidate"),
        ("REL-GAP-010", "candidate"),
        ("REL-GAP-020", "candidate"),
        ("MAX-GAP-010", "candidate"),
    ]


@pytest.mark.parametrize("what", LISTS)
def test_S3_each_rule_cuts_worked_lists_where_it_says(what):
    assert [cut(depth, LISTS[what]) for depth in PUBLISHED.values()] == CUTS[what]


@pytest.mark.parametrize("name", ["LEARNED-LOGISTIC", "learned", "COVER", "TOKENS-1000", "CONFORMAL-010"])
def test_S3_a_learned_policy_and_any_rule_outside_the_family_is_refused(name):
    with pytest.raises(UsageError):
        published(name)


@pytest.mark.parametrize("depth", PUBLISHED.values(), ids=PUBLISHED)
@pytest.mark.parametrize("reply", [None, Reply("judged", (Answer("q1", "noul", (0.9,)),))])
def test_S11_depth_changes_what_is_exposed_and_nothing_else(depth, reply):
    scores = LISTS["a knee after rank 8"]
    tools = by_rank(Candidate(f"t{k}", (score,), sizes={"tokens": 50}) for k, score in enumerate(scores))
    whole = DOORS["tools"]._replace(mode="shadow", show=UNBOUNDED)
    shallow = whole._replace(show=count(cut(depth, scores)))
    all_of_it, some_of_it = (decide(plan(tools, one), reply, one) for one in (whole, shallow))
    assert some_of_it.plan == all_of_it.plan
    assert some_of_it.rulings == all_of_it.rulings
    assert some_of_it.shown == all_of_it.shown[: cut(depth, scores)]
    assert {reason for _, reason in some_of_it.withheld} <= {"over_budget"}


SURFACES = Path(__file__).parents[2] / "bench" / "surfaces"
TEMPLATE = files("admit.lab").joinpath("plans/adaptive-depth.toml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def surface():
    return load(SURFACES / "office-240")


def plan_at(folder, **changes):
    """The published template over the two surfaces, or with a line of it changed."""
    text = TEMPLATE.replace('waiver = ""', 'waiver = "exposure only"')
    for role, name in (("dev", "office-240"), ("confirm", "office-240-sealed")):
        text = text.replace(f'[surfaces.{role}]\npath = ""', f'[surfaces.{role}]\npath = "{SURFACES / name}"')
    for key, value in changes.items():
        before = text
        lines = text.split("\n")
        text = "\n".join(f"{key} = {value}" if line.startswith(f"{key} = ") else line for line in lines)
        assert text != before
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("key", ["controls", "candidates"])
@pytest.mark.parametrize("id", ["LEARNED-LOGISTIC", "SCORE-ABOVE-7", "cover", "budget", "CONFORMAL-010"])
def test_S3_a_plan_with_any_other_policy_is_refused(tmp_path, key, id):
    held = ["FIXED-3", "FIXED-5", "FIXED-10"] if key == "controls" else ["REL-GAP-005"]
    with pytest.raises(PlanError, match=f"{id} is none of the published"):
        Plan.load(plan_at(tmp_path, **{key: json.dumps([*held, id])}))


@pytest.mark.parametrize("kind", ["learned", "absolute-threshold"])
def test_S3_learned_policies_and_absolute_thresholds_are_refused_by_kind(tmp_path, kind):
    with pytest.raises(PlanError, match=f"of the kind {kind}, which is refused"):
        Plan.load(plan_at(tmp_path, candidates=f'["REL-GAP-005", {{id = "X", kind = "{kind}"}}]'))


@pytest.mark.parametrize("name", ["office-240", "office-240-sealed"])
def test_S4_both_surfaces_have_240_tasks_in_8_strata_by_6_languages_by_5(tmp_path, name):
    shape = Plan.load(plan_at(tmp_path)).shape
    assert (shape.tasks, shape.per_cell, len(shape.strata), len(shape.languages)) == (240, 5, 8, 6)
    assert surface_faults(load(SURFACES / name), shape) == []


def test_S4_no_task_is_a_second_row_in_another_language(tmp_path, surface):
    shape = Plan.load(plan_at(tmp_path)).shape
    first, other = surface.cases[0], next(one for one in surface.cases if one.language == "ko")
    twin = other._replace(semantic_id=first.semantic_id)
    cases = tuple(twin if one is other else one for one in surface.cases)
    (fault,) = surface_faults(surface._replace(cases=cases), shape)
    assert "a translated twin (en, ko)" in fault and first.id in fault and other.id in fault
    bare = tuple(one._replace(semantic_id="") for one in surface.cases)
    assert surface_faults(surface._replace(cases=bare), shape)[0].startswith("no semantic_id")


def figures_of(plan, **values):
    base = {"recall": 0.97, "full_coverage": 0.97, "mean_exposed": 4.99, "p95_exposed": 10.0}
    base |= {"mean_tokens": 299.0, "p95_latency": 1.0}
    every = {policy: {**base, "mean_exposed": 9.0} for policy in plan.policies}
    every["FIXED-5"]["mean_tokens"] = 300.0
    every["MAX-GAP-010"] = {**base, **values}
    return {
        policy: {name: Estimate(value, None, None, 240, "") for name, value in row.items()}
        for policy, row in every.items()
    }


def chosen_from(plan, at):
    return choose(plan, Summary(at, {}, {}, 0, 0), "run")


@pytest.mark.parametrize(
    "short",
    [
        {"recall": 0.9699},
        {"full_coverage": 0.9699},
        {"mean_exposed": 5.0},
        {"p95_exposed": 11.0},
        {"mean_tokens": 300.0},
    ],
)
def test_S5_a_policy_that_falls_short_at_one_size_is_not_eligible(tmp_path, short):
    plan = Plan.load(plan_at(tmp_path))
    good = figures_of(plan)
    assert chosen_from(plan, dict.fromkeys((100, 250, 500), good)).policy == "MAX-GAP-010"
    found = chosen_from(plan, {100: good, 250: figures_of(plan, **short), 500: good})
    assert found.policy is None and len(found.failed["MAX-GAP-010"]) == 1
    assert found.failed["MAX-GAP-010"][0].endswith(" at 250")


def test_S6_exactly_one_is_chosen_in_the_published_order(tmp_path):
    plan = Plan.load(plan_at(tmp_path))
    assert plan.order == ("mean_exposed", "-recall", "-full_coverage", "mean_tokens", "p95_latency", "id")
    every = figures_of(plan)
    for policy in plan.candidates:
        every[policy] = every["MAX-GAP-010"]
    at = dict.fromkeys((100, 250, 500), every)
    assert chosen_from(plan, at).policy == "MAX-GAP-010"
    assert len(chosen_from(plan, at).order) == 4


def test_S6_nothing_eligible_ends_the_line(tmp_path):
    lab = Lab(tmp_path, mean_exposed_below="0.5")
    frozen, chosen = lab.selected()
    assert chosen.result == "nothing_eligible"
    with pytest.raises(LabError):
        confirm(frozen, chosen, lab.journal)


def test_S6_there_is_no_retuning_after_a_choice(tmp_path):
    lab = Lab(tmp_path)
    lab.selected()
    before = lab.path.read_text()
    lab.path.write_text(before.replace("recall_min = 0.97", "recall_min = 0.5"))
    with pytest.raises(PlanError, match=r"eligible\.recall_min differs"):
        lab.frozen()


def test_S7_the_confirmation_surface_is_opened_once_and_only_after_a_choice(tmp_path):
    lab = Lab(tmp_path)
    frozen = lab.freeze()
    with pytest.raises(SealError):
        run(frozen, lab.journal, "confirm")
    frozen, chosen = lab.selected()
    confirm(frozen, chosen, lab.journal)
    assert lab.steps().index("select selected") < lab.steps().index("surface_opened")
    with pytest.raises(SealError, match="opened before"):
        confirm(frozen, chosen, lab.journal)


def test_S7_no_request_of_the_confirmation_surface_stands_in_the_development_surface(tmp_path):
    assert check(Plan.load(plan_at(tmp_path))) == []


def test_S7_promotion_asks_for_the_published_gates(tmp_path):
    plan = Plan.load(plan_at(tmp_path))
    assert [(one.metric, one.comparison, one.bound) for one in plan.promote] == [
        ("recall", "min", 0.97),
        ("full_coverage", "min", 0.97),
        ("mean_exposed", "max", 4.5),
        ("mean_tokens", "below", "FIXED-5"),
        ("task_pass_delta", "min", -0.02),
        ("unauthorised_destructive", "max", 0.0),
    ]


def test_S8_a_run_starts_only_after_the_named_run_ended_well(tmp_path):
    other = "sha256:" + "0" * 64
    lab = Lab(tmp_path, depends_on=f'[{{run = "{other}", result = "passed"}}]')
    with pytest.raises(PlanError, match="depends_on"):
        lab.run()
    lab.journal.write("confirm", plan=other, result="passed")
    assert not lab.run().missing


def test_S8_a_forbidden_surface_is_not_read(tmp_path):
    hash = load(Lab(tmp_path).folder / "dev").hash
    with pytest.raises(LabError, match=hash):
        Lab(tmp_path, forbidden_surfaces=f'["{hash}"]').freeze()


def test_S8_an_arm_that_was_never_confirmed_does_not_enter_a_held_out_test(tmp_path):
    hash = load(Lab(tmp_path).folder / "dev").hash
    arm = f'[{{policy = "MAX-GAP-010", plan = "sha256:{"0" * 64}"}}]'
    lab = Lab(tmp_path, arms_close_before=f'"{hash}"', arms=arm)
    with pytest.raises(PlanError, match="arms: MAX-GAP-010 did not pass"):
        lab.run()


BITS = ({"order": '["bits_over_random", "id"]'}, {"recall_min": "0.97\nbits_over_random_min = 4"})


@pytest.mark.parametrize("change", BITS)
def test_S9_bits_over_random_selects_nothing_and_is_no_gate(tmp_path, change):
    with pytest.raises(PlanError, match="is a diagnostic and decides nothing"):
        Plan.load(plan_at(tmp_path, **change))


def test_S9_bits_over_random_is_reported_and_falls_with_every_tool(surface):
    gate = gate_over(surface.catalogs[100], pad=True)
    cases = [case for case in surface.cases if case.required][:40]
    draw = Resample([case.id for case in cases], draws=1000)
    bits = []
    for policy in ("FIXED-3", "FIXED-5", "FIXED-10"):
        rows = {case.id: score(gate, case, 100, [policy])[0][0] for case in cases}
        bits.append(metrics(cases, rows, 100, draw)["bits_over_random"].value)
    assert bits == sorted(bits, reverse=True)


def test_S10_what_is_reported_apart_stands_in_every_result(tmp_path):
    lab = Lab(tmp_path)
    done = lab.run()
    frozen = lab.frozen()
    dev = surface_of(frozen, "dev")
    summary = summarise(frozen.plan, dev, done)
    found = figures(frozen, dev, done, summary, choose(frozen.plan, summary, done.hash))
    own = found["estimates"]["12"]["FIXED-3"]
    assert {"typed_recall", "near_domain_exposed", "out_of_domain_exposed", "mean_tokens"} <= set(own)
    assert {"collisions_at_cut", "below_cut", "not_in_top_10", "filtered"} <= set(own)
    assert found["against"]["control"] == "FIXED-5"
    assert "tokens" in found["against"]["sizes"]["12"]["FIXED-3"]


def test_S10_each_miss_is_in_exactly_one_count(surface):
    gate = gate_over(surface.catalogs[500], pad=False)
    for case in [case for case in surface.cases if case.required][::4]:
        for row, _ in score(gate, case, 500, ["FIXED-3", "MAX-GAP-010"]):
            assert row.collisions + row.below == len(set(case.required) - set(row.exposed))
            assert max(row.not_in_top, row.filtered) <= row.below


def test_S12_no_step_before_promotion_writes_a_setting_and_promotion_only_where_all_gates_hold(tmp_path):
    lab = Lab(tmp_path)
    before = dict(DOORS)
    frozen, chosen = lab.selected()
    confirm(frozen, chosen, lab.journal)
    written = []
    done = promote(frozen, lab.journal, lambda *pair: written.append(pair))
    assert not done.promoted and written == []
    assert dict(DOORS) == before and ToolPolicy().depth == "budget"
    assert lab.steps()[-1] == "promote_refused refused"
