"""What the order of a catalog holds for every request."""

from __future__ import annotations

import random

from admit.tools.index import Index
from admit.tools.model import Param, Route
from admit.tools.rank import Ranker


def route(name: str, source: str = "github", description: str = "", **more: object) -> Route:
    return Route(f"{source}/{name}", source, "mcp", name, description=description, **more)  # type: ignore[arg-type]


GITHUB = [
    route("github_create_issue", description="Create a new issue in a repository"),
    route("github_list_pulls", description="List pull requests"),
    route("github_get_profile", description="Get a profile", read_only=True),
    route("github_delete_repo", description="Delete a repository", destructive=True),
    route("github_comment", description="Comment on something", params=(Param("body"),)),
]


def ids(routes: list[Route], query: str, k: int = 10) -> list[str]:
    return [one.route_id for one in Ranker(Index(routes)).rank(query, k)]


def test_words_of_a_name_bring_its_route_first() -> None:
    assert ids(GITHUB, "create issue")[0] == "github/github_create_issue"
    assert ids(GITHUB, "list pulls")[0] == "github/github_list_pulls"


def test_a_prefix_that_most_names_share_does_not_hide_the_right_route() -> None:
    assert ids(GITHUB, "github profile")[0] == "github/github_get_profile"


def test_a_word_inside_another_is_no_match() -> None:
    assert ids(GITHUB, "me") == []


def test_components_sum_to_the_score_exactly() -> None:
    for one in Ranker(Index(GITHUB)).rank("create a new github issue in the repository", 10):
        total = 0.0
        for component in one.components:
            total += component.value
        assert total == one.score > 0


def test_the_order_does_not_depend_on_the_order_of_loading() -> None:
    shuffled = random.Random(7).sample(GITHUB, len(GITHUB))
    query = "create or delete a repository issue"
    assert Ranker(Index(GITHUB)).rank(query) == Ranker(Index(shuffled)).rank(query)


def test_a_route_that_is_not_allowed_leaves_no_trace() -> None:
    kept = [one for one in GITHUB if "delete" not in one.name]
    query = "create a repository issue on github"
    hidden = Ranker(Index(GITHUB)).rank(query, allowed=frozenset(one.id for one in kept))
    assert hidden == Ranker(Index(kept)).rank(query)


def test_routes_added_and_removed_leave_a_fresh_index() -> None:
    index = Index(GITHUB)
    fresh = Index(GITHUB)
    more = [route("jira_search", "jira", "Search for an issue in Jira"), route("jira_create", "jira")]
    index.add(more)
    assert index.remove(one.id for one in more) == 2
    assert Ranker(index).rank("search an issue") == Ranker(fresh).rank("search an issue")
    assert index.postings == fresh.postings and index.totals == fresh.totals


def test_named_routes_come_first_in_the_order_of_the_request() -> None:
    query = "run github_list_pulls, then mcp__github__github_create_issue and delete_repo"
    found = Ranker(Index(GITHUB)).rank(query, 2)
    assert [one.route_id for one in found if one.exact] == [
        "github/github_list_pulls",
        "github/github_create_issue",
        "github/github_delete_repo",
    ]
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
