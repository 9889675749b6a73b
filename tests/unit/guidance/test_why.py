"""The smallest change is true: made, it alters the outcome, and one smaller does not."""

from __future__ import annotations

import pytest

from admit.errors import UnknownSnippet
from admit.guidance.changes import BY_STAGE, HEARD
from admit.guidance.look import Look
from admit.guidance.model import STAGES, Surface
from admit.guidance.why import smallest_change
from admit.judges.scripted import FaultyJudge

from .gated import PROFILE, judged_by, opened, prompt, settings, stages


def looked(guidance, surface, name, **given):
    """The stage of a snippet, and what would change it."""
    gate = opened(guidance, **given)
    result = gate.scan(surface, dry_run=True)
    values = settings(guidance).values
    return stages(result)[name], smallest_change(gate, surface, result, name, values)


def after(guidance, surface, name, change, **given):
    """Its stage once the setting that a change names is made."""
    return stages(opened(guidance, **given, **{change.key: change.value}).scan(surface, dry_run=True))[name]


def test_every_stage_has_a_change_and_every_lane_its_triggers():
    assert set(BY_STAGE) == set(STAGES)
    assert set(HEARD) == {"prompt", "queued", "task", "command", "file", "state"}


def test_an_id_that_is_not_there_is_said(guidance):
    gate = opened(guidance)
    with pytest.raises(UnknownSnippet):
        smallest_change(gate, prompt("x"), gate.scan(prompt("x")), "nowhere", {})


def test_what_the_judge_blocked_passes_at_a_threshold_of_its_answer(guidance):
    guidance.way("project", "a")
    given = {"judge": judged_by({"a": 0.12}), "scores": {"a": 0.9}}
    stage, change = looked(guidance, prompt("x"), "a", **given)
    assert (stage, change.key) == ("blocked", f"judge.profiles.{PROFILE}.guidance.threshold")
    assert change.value == 0.12 and "0.1200" in change.text
    assert after(guidance, prompt("x"), "a", change, **given) == "shown"
    assert after(guidance, prompt("x"), "a", change._replace(value=0.1201), **given) == "blocked"


def test_what_the_judge_let_in_is_blocked_just_above_its_answer(guidance):
    guidance.way("project", "a")
    given = {"judge": judged_by({"a": 0.8}), "scores": {"a": 0.9}}
    stage, change = looked(guidance, prompt("x"), "a", **given)
    assert stage == "shown" and change.value > 0.8
    assert after(guidance, prompt("x"), "a", change, **given) == "blocked"
    assert after(guidance, prompt("x"), "a", change._replace(value=0.8), **given) == "shown"


@pytest.mark.parametrize(
    "fill, stage, seats", [("admission", "overflow_blocked", 10), ("scored_first", "ancestor", 2)]
)
def test_what_is_past_the_cap_is_judged_at_the_cap_that_is_named(guidance, fill, stage, seats):
    scores = {"a": 0.9, "a/z": 0.8}
    guidance.way("project", "a")
    guidance.way("project", "a/z")
    for k in range(8):
        guidance.way("project", f"e{k}", "pattern: deploy\ndescription: d")
        scores[f"e{k}"] = 0.6
    key = f"judge.profiles.{PROFILE}.guidance.max_candidates"
    cap = {key: 1, "guidance.gate.fill": fill, "guidance.gate.overflow": "block"}
    given = {"judge": judged_by({"a": 0.0}), "scores": scores}
    got, change = looked(guidance, prompt("deploy"), "a/z", **given, **cap)
    assert got == stage and f"{key} = {seats}" in change.text
    for most, reason in ((seats - 1, "ancestor"), (seats, "judge")):  # one below it a is judged, and blocked
        result = opened(guidance, **given, **(cap | {key: most})).scan(prompt("deploy"))
        assert next(one.ruling.reason for one in result.outcomes if one.id == "a/z") == reason


def test_overflow_that_is_blocked_is_shown_when_it_passes(guidance):
    scores = {f"w{k}": 0.9 - k / 100 for k in range(9)}
    for name in scores:
        guidance.way("project", name)
    given = {"judge": judged_by({}), "scores": scores}
    stage, change = looked(guidance, prompt("x"), "w8", **given, guidance__gate__overflow="block")
    assert (stage, change.key, change.value) == ("overflow_blocked", "guidance.gate.overflow", "pass")
    assert "max_candidates = 9" in change.text
    assert after(guidance, prompt("x"), "w8", change, **given) == "shown"


def test_a_veto_is_lifted_by_a_floor_of_its_probability(guidance):
    guidance.way("project", "a", "pattern: deploy\ndescription: d")
    given = {"scores": {"a": 0.07}}
    stage, change = looked(guidance, prompt("deploy"), "a", **given)
    assert (stage, change.value) == ("vetoed", 0.07)
    assert after(guidance, prompt("deploy"), "a", change, **given) == "shown"


def test_a_probability_below_the_bar_is_named_as_the_bar_that_proposes_it(guidance):
    guidance.way("project", "tables", "description: changing database tables safely")
    given = {"real_matcher": True}
    surface = prompt("please look at the tables of the shop and tell me about colours")
    stage, change = looked(guidance, surface, "tables", **given)
    assert (stage, change.key) == ("below_threshold", "guidance.matcher.admit")
    assert after(guidance, surface, "tables", change, **given) == "shown"
    above = change._replace(value=change.value + 1e-6)
    assert after(guidance, surface, "tables", above, **given) == "below_threshold"


def test_what_meaning_let_in_is_left_out_by_a_bar_above_it(guidance):
    guidance.way("project", "tables", "description: changing database tables")
    given = {"real_matcher": True}
    surface = prompt("changing database tables")
    stage, change = looked(guidance, surface, "tables", **given)
    assert (stage, change.key) == ("shown", "guidance.matcher.admit")
    assert after(guidance, surface, "tables", change, **given) == "below_threshold"


@pytest.mark.parametrize(
    "lane, name, key, value",
    [
        ("command", "w03", "guidance.max_per_tool_call", 4),
        ("prompt", "w13", "guidance.max_per_turn", 14),
    ],
)
def test_over_the_count_of_a_turn_the_count_that_lets_it_in_is_named(guidance, lane, name, key, value):
    for k in range(14):
        guidance.way("project", f"w{k:02d}", "commands: deploy\npattern: deploy")
    surface = Surface(lane, "deploy", session="s")
    stage, change = looked(guidance, surface, name)
    assert (stage, change.key, change.value) == ("turn_cap", key, value)
    assert after(guidance, surface, name, change) == "shown"
    assert after(guidance, surface, name, change._replace(value=value - 1)) == "turn_cap"


def test_past_both_counts_both_settings_are_named(guidance):
    for k in range(14):
        guidance.way("project", f"w{k:02d}", "commands: deploy")
    stage, change = looked(guidance, Surface("command", "deploy", session="s"), "w13")
    assert stage == "turn_cap" and "guidance.max_per_turn and max_per_tool_call" in change.text


def test_over_the_budget_a_budget_with_room_for_it_is_named(guidance):
    for name, chars in (("a", 700), ("b", 900), ("c", 850)):
        guidance.way("project", name, "pattern: deploy", "x" * chars)
    given = {"hosts.inject_max_chars": 1000}
    stage, change = looked(guidance, prompt("deploy"), "c", **given)
    assert (stage, change.key) == ("over_budget", "hosts.inject_max_chars")
    assert after(guidance, prompt("deploy"), "c", change) == "shown"
    assert f"{change.value} has room" in change.text


def test_no_value_is_named_that_a_setting_cannot_have_and_the_search_for_one_is_short(guidance, monkeypatch):
    for k in range(60):
        guidance.way("project", f"w{k:02d}", "pattern: deploy", "x" * 900)
    tried = []
    real = Look.stage_with
    monkeypatch.setattr(
        Look, "stage_with", lambda look, **values: tried.append(values) or real(look, **values)
    )
    stage, change = looked(guidance, prompt("deploy"), "w59", guidance__max_per_turn=1000)
    assert (stage, change.key) == ("over_budget", "") and "shorten it" in change.text
    assert len(tried) <= 32 and all(one["budget"] <= 20_000 for one in tried)
    tried.clear()
    surface = Surface("command", "deploy", session="s")
    for k in range(60):
        guidance.way("project", f"w{k:02d}", "commands: deploy", "x")
    assert looked(guidance, surface, "w11")[1].value == 12
    assert looked(guidance, surface, "w59")[1].key == ""
    assert len(tried) < 60


def test_over_the_budget_by_the_judges_word_the_same_word_counts(guidance):
    scores = {"a": 0.9, "b": 0.8, "c": 0.7}
    for name in scores:
        guidance.way("project", name, body="x" * 900)
    given = {"judge": judged_by({"a": 0.0}), "scores": scores}
    stage, change = looked(guidance, prompt("x"), "c", **given, **{"hosts.inject_max_chars": 1000})
    assert stage == "over_budget" and 1800 < change.value < 2000  # a takes no room
    assert after(guidance, prompt("x"), "c", change, **given) == "shown"


def test_a_child_left_out_with_its_parent_is_told_of_the_parent(guidance):
    guidance.way("project", "first", "pattern: deployment", "x" * 700)
    guidance.way("project", "a", "pattern: deploy", "x" * 900)
    guidance.way("project", "a/b", "pattern: deploy", "x")
    surface = prompt("deployment")
    stage, change = looked(guidance, surface, "a/b", **{"hosts.inject_max_chars": 1000})
    assert stage == "parent_withheld" and change.text.startswith("its parent a is left out")
    assert after(guidance, surface, "a", change) == "shown"


def test_a_file_without_a_body_is_told_to_have_one(guidance):
    guidance.way("project", "a", "pattern: deploy", "")
    stage, change = looked(guidance, prompt("deploy"), "a")
    assert (stage, change.key) == ("over_budget", "") and "give it a body" in change.text


def test_held_guidance_is_told_where_it_shows_again(guidance):
    guidance.way("project", "a", "pattern: deploy\nrefire: 0.1")
    gate = opened(guidance)
    gate.delivered(gate.scan(prompt("deploy", tokens_used=5000)).result_id)
    now = prompt("deploy", tokens_used=6000)
    result = gate.scan(now, dry_run=True)
    assert stages(result) == {"a": "held_refire"}
    text = smallest_change(gate, now, result, "a", {}).text
    again = int(text.split("from token ")[1].split(" ")[0].replace(",", ""))
    assert stages(gate.scan(prompt("deploy", tokens_used=again - 1), dry_run=True)) == {"a": "held_refire"}
    assert stages(gate.scan(prompt("deploy", tokens_used=again), dry_run=True)) == {"a": "shown"}
    assert f"{again - 6000:,} from here" in text


def test_what_another_hook_is_showing_and_what_shows_once_are_told_so(guidance):
    guidance.way("project", "a", "pattern: deploy")
    gate = opened(guidance)
    gate.scan(prompt("deploy"))
    result = gate.scan(prompt("deploy"), dry_run=True)
    assert "another hook" in smallest_change(gate, prompt("deploy"), result, "a", {}).text
    guidance.way("project", "b", "trigger: session-start")
    start = Surface("state", session="s", state="startup")
    gate = opened(guidance)
    gate.delivered(gate.scan(start).result_id)
    result = gate.scan(start, dry_run=True)
    assert "once a session" in smallest_change(gate, start, result, "b", {}).text


@pytest.mark.parametrize(
    "matter, surface, stage, says",
    [
        ("pattern: deploy", prompt("<system-reminder>deploy"), "envelope", "notice of the host"),
        ("pattern: deploy", prompt(" \n"), "envelope", "no text"),
        ("pattern: deploy\nscope: subagent", prompt("deploy"), "out_of_scope", "scope: agent, subagent"),
        ("pattern: x\nwhen:\n  project: /nowhere", prompt("x"), "precondition", "/nowhere alone"),
        ("pattern: x\nwhen:\n  file_exists: '*.tf'", prompt("x"), "precondition", "matches *.tf under"),
        ("files: '\\.py$'", prompt("x"), "no_trigger", "listens to files"),
        ("commands: deploy", Surface("command", "ls"), "no_trigger", "commands deploy"),
        ("pattern: deploy", prompt("see `deploy`"), "masked", "outside code"),
        ("pattern: deploy", prompt("deploy", delivers=False), "undeliverable", "hands nothing on"),
        ("pattern: deploy", prompt("deploy"), "shown", "matches 'deploy'"),
    ],
)  # fmt: skip
def test_what_no_number_decides_is_said_in_words(guidance, matter, surface, stage, says):
    guidance.way("project", "a", matter)
    got, change = looked(guidance, surface._replace(cwd=str(guidance.project)), "a")
    assert (got, says in change.text) == (stage, True), change


def test_a_lane_that_is_off_and_a_snippet_that_is_off_name_their_settings(guidance):
    guidance.way("project", "a", "commands: deploy")
    off = {"guidance.lanes.command": False}
    stage, change = looked(guidance, Surface("command", "deploy"), "a", **off)
    assert (stage, change.key, change.value) == ("no_trigger", "guidance.lanes.command", True)
    stage, change = looked(guidance, Surface("command", "deploy"), "a", **{"guidance.disable": ("a",)})
    assert (stage, change.key) == ("disabled", "guidance.disable")
    _, change = looked(guidance, Surface("command", "deploy"), "a")
    assert (
        after(guidance, Surface("command", "deploy"), "a", change._replace(value=(change.value,)))
        == "disabled"
    )


def test_a_judge_that_failed_changes_no_advice_on_the_budgets(guidance):
    for name in ("a", "b"):
        guidance.way("project", name, "pattern: deploy\ndescription: d", "x" * 900)
    given = {"judge": FaultyJudge("busy"), "scores": {"a": 0.9, "b": 0.9}}
    stage, change = looked(guidance, prompt("deploy"), "b", **given, **{"hosts.inject_max_chars": 1000})
    assert stage == "over_budget"
    assert after(guidance, prompt("deploy"), "b", change, **given) == "shown"
