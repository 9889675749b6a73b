"""From a surface to its hits: what may compete, what fires, what is vetoed, and where the rest ends."""

from __future__ import annotations

import pytest

from admit.guidance.hits import cleaned
from admit.guidance.model import Surface

from .gated import opened, prompt, stages


def one(guidance, surface, *, scores=None, **values):
    """The outcome of the only snippet."""
    gate = opened(guidance, scores=scores, **values)
    [outcome] = gate.scan(surface, dry_run=True).outcomes
    return outcome


def test_a_pattern_finds_its_word_in_any_case_and_the_span_keeps_it(guidance):
    guidance.way("project", "a", "pattern: '\\bssh\\b'")
    outcome = one(guidance, prompt("connect by SSH please"))
    assert (outcome.stage, outcome.hit.span, outcome.hit.explicit) == ("shown", "SSH", 3)


@pytest.mark.parametrize(
    "text",
    ["see https://x.org/deploy/now", "```\ndeploy\n```", "run `deploy`", "> deploy\nwhat does that mean"],
)
def test_a_quoted_word_is_masked_and_a_strict_pattern_sees_it(guidance, text):
    guidance.way("project", "a", "pattern: deploy\ndescription: d")
    assert one(guidance, prompt(text)).stage == "masked"
    guidance.way("project", "a", "pattern_strict: deploy\ndescription: d")
    assert one(guidance, prompt(text), scores={"a": 0.01}).stage == "shown"


@pytest.mark.parametrize("p, stage", [(0.149999, "vetoed"), (0.15, "shown"), (None, "shown")])
def test_a_pattern_of_described_guidance_needs_some_meaning(guidance, p, stage):
    guidance.way("project", "a", "pattern: deploy\ndescription: d")
    assert one(guidance, prompt("deploy"), scores={} if p is None else {"a": p}).stage == stage


@pytest.mark.parametrize(
    "matter, surface",
    [
        ("pattern: deploy", prompt("deploy")),
        ("pattern_strict: deploy\ndescription: d", prompt("deploy")),
        ("commands: deploy\ndescription: d", Surface("command", "deploy")),
        ("files: deploy\ndescription: d", Surface("file", paths=("deploy",))),
    ],
)
def test_what_has_no_meaning_or_is_strict_or_no_pattern_is_never_vetoed(guidance, matter, surface):
    guidance.way("project", "a", matter)
    assert one(guidance, surface, scores={"a": 0.0}).stage == "shown"


def test_what_is_hit_by_a_word_and_by_meaning_is_explicit(guidance):
    guidance.way("project", "a", "pattern: deploy\ndescription: d")
    outcome = one(guidance, prompt("deploy"), scores={"a": 0.9})
    assert (outcome.hit.explicit, outcome.hit.score, outcome.hit.trigger.kind) == (6, 0.9, "pattern")


def test_a_vetoed_word_that_meaning_admits_all_the_same_is_a_scored_hit(guidance):
    guidance.way("project", "a", "pattern: deploy\ndescription: d")
    over = {"guidance.matcher.veto_floor": 0.95}
    outcome = one(guidance, prompt("deploy"), scores={"a": 0.9}, **over)
    assert (outcome.stage, outcome.hit.explicit, outcome.hit.trigger.kind) == ("shown", None, "semantic")


@pytest.mark.parametrize(
    "scores, stage", [({"a": 0.49}, "below_threshold"), ({}, "no_trigger"), ({"a": 0.5}, "shown")]
)
def test_without_a_word_the_probability_decides(guidance, scores, stage):
    guidance.way("project", "a", "description: d")
    outcome = one(guidance, prompt("x"), scores=scores)
    assert (outcome.stage, outcome.score) == (stage, scores.get("a"))


def test_better_ones_keep_out_what_is_above_the_bar(guidance):
    for name in ("a", "b"):
        guidance.way("project", name, "description: deploying the service")
    over = {"guidance.matcher.per_chunk": 1}
    gate = opened(guidance, real_matcher=True, **over)
    assert stages(gate.scan(prompt("deploying the service"))) == {"a": "shown", "b": "outcompeted"}


@pytest.mark.parametrize("lane", ["command", "file", "state"])
def test_meaning_is_not_asked_of_commands_paths_and_states(guidance, lane):
    guidance.way("project", "a", "description: d")
    assert one(guidance, Surface(lane, "d", paths=("d",)), scores={"a": 0.9}).stage == "no_trigger"


def test_a_pattern_sees_what_the_agent_says_of_its_command_and_not_the_command(guidance):
    guidance.way("project", "a", "pattern: deploy")
    assert one(guidance, Surface("command", "make x", description="deploy it")).stage == "shown"
    assert one(guidance, Surface("command", "make deploy")).stage == "no_trigger"


@pytest.mark.parametrize(
    "used, window, stage",
    [(99, 200, "no_trigger"), (100, 200, "shown"), (0, 200, "no_trigger"), (None, 200, "no_trigger"),
     (99_999, None, "no_trigger"), (100_000, None, "shown")],
)  # fmt: skip
def test_a_context_threshold_counts_tokens_and_unknown_is_never_above_it(guidance, used, window, stage):
    guidance.way("project", "a", "trigger: context-threshold\nthreshold: 50")
    assert one(guidance, prompt("x", tokens_used=used, window=window)).stage == stage


@pytest.mark.parametrize("state, stage", [("startup", "shown"), ("compact", "shown"), ("turn", "no_trigger")])
def test_the_start_of_a_session_is_a_state_of_its_own(guidance, state, stage):
    guidance.way("project", "a", "trigger: session-start")
    assert one(guidance, Surface("state", state=state)).stage == stage
    assert one(guidance, prompt("x")).stage == "no_trigger"


def test_what_is_another_agents_is_out_of_scope_before_anything_is_matched(guidance):
    guidance.way("project", "a", "pattern: deploy\nscope: teammate")
    outcome = one(guidance, prompt("deploy"), scores={"a": 0.9})
    assert (outcome.stage, outcome.score) == ("out_of_scope", None)


def test_cleaning_leaves_paths_and_states_and_drops_what_holds_no_words():
    path, state = Surface("file", paths=("a",)), Surface("state")
    assert cleaned(path, ()) is path and cleaned(state, ()) is state
    assert cleaned(Surface("prompt", " \n"), ()) is None and cleaned(Surface("command", ""), ()) is None
    inside = "<system-reminder>b</system-reminder>"
    assert cleaned(Surface("prompt", f"a {inside}"), ()) == Surface("prompt", "a ")
    command = Surface("command", f"echo '{inside}'")
    assert cleaned(command, ()) == command
