import pytest

from admit.tools.text import outcome_text


@pytest.mark.parametrize(
    ("outcome", "more", "text"),
    [
        ("admitted", {}, ""),
        ("admitted", {"overflow": 1200}, "1,200 more matched; ask with other words or a name."),
        ("fallback", {"overflow": 2}, "2 more matched; ask with other words or a name."),
        (
            "none_fits",
            {"nearest": ["a", "b"]},
            "No available tool does this. Nearest: a, b (not judged fit).",
        ),
        ("no_match", {"sources": ["git", "mail"]}, "No available tool does this. Servers: git, mail."),
        ("already", {"already": ["a", "b"]}, "already available: a, b"),
        ("admitted", {"already": ["a"], "down": ["mail"]}, "already available: a server mail is down."),
        ("empty_catalog", {}, "There are no tools to choose from."),
    ],
)
def test_the_agent_reads_names_and_counts(outcome, more, text):
    assert outcome_text(outcome, **more) == text


def test_many_names_are_counted_and_unseen_characters_left_out():
    text = outcome_text("none_fits", nearest=[f"tool\u200b{k}" for k in range(9)])
    assert text.endswith("tool4 and 4 more (not judged fit).") and "\u200b" not in text
