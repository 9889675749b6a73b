"""What an agent has of tools: told by the caller, and counted in the context in which it was shown."""

from __future__ import annotations

from admit.tools.exposed import MOST_EPOCHS, Exposed


def test_without_an_epoch_the_agent_has_what_the_caller_says():
    held = Exposed()
    held.show(["a/x"], "")
    assert held.had(["a/y"], "") == {"a/y"} and held.had(["a/x"], "e") == set()


def test_in_an_epoch_it_has_what_was_shown_in_that_one():
    held = Exposed()
    held.show(["a/x", "a/y"], "1")
    held.show(["a/z"], "1")
    assert held.had(["a/x", "a/z", "a/other"], "1") == {"a/x", "a/z"}
    assert held.had(["a/x"], "2") == set()


def test_the_contexts_used_last_are_remembered():
    held = Exposed()
    for number in range(MOST_EPOCHS + 1):
        held.show(["a/x"], str(number))
        held.show(["a/x"], "0")
    assert held.had(["a/x"], "0") and not held.had(["a/x"], "1") and held.had(["a/x"], "2")
