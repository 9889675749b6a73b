"""Routes that a request names."""

from __future__ import annotations

import pytest

from admit.tools.exact import named
from admit.tools.index import Index
from admit.tools.model import Route

ROUTES = (
    Route("x/ask_codex", "x", "mcp", "ask_codex"),
    Route("git/hub/create-issue", "git", "openapi", "create-issue", group="hub"),
    Route("web/fetch", "web", "mcp", "fetch"),
    Route("other/fetch", "other", "mcp", "fetch"),
    Route("web/fetch_page_text", "web", "mcp", "fetch_page_text"),
)
INDEX = Index(ROUTES)


def found(text: str, most: int = 20) -> list[str]:
    return [route_id for route_id, _ in named(text, lambda one: INDEX.spellings.get(one, {}), most)[0]]


@pytest.mark.parametrize(
    "text",
    [
        "ask_codex",
        "mcp__x__ask_codex",
        "x.ask_codex",
        "x:ask_codex",
        "x__ask_codex",
        "X/Ask_Codex",
        "use ask-codex, please",
    ],
)
def test_any_spelling_of_a_name_finds_its_route(text: str) -> None:
    assert found(text) == ["x/ask_codex"]


def test_an_end_of_a_name_at_a_separator_finds_it() -> None:
    assert found("run page_text now") == ["web/fetch_page_text"]
    assert found("hub/create-issue") == ["git/hub/create-issue"]


def test_a_plain_word_in_a_sentence_names_nothing_but_quoted_or_alone_it_does() -> None:
    assert found("please fetch the page") == []
    assert found("call `fetch` on it") == found("fetch") == ["other/fetch", "web/fetch"]


def test_a_plain_word_never_names_a_route_by_its_end() -> None:
    assert found("`text`") == found("issue") == []


def test_names_come_in_the_order_of_the_request() -> None:
    assert found("create_issue then ask_codex") == ["git/hub/create-issue", "x/ask_codex"]
    assert found("select:ask_codex,fetch_page_text") == ["x/ask_codex", "web/fetch_page_text"]


def test_what_is_beyond_the_most_is_counted() -> None:
    pairs, left = named("select:fetch,ask_codex", lambda one: INDEX.spellings.get(one, {}), 1)
    assert [route_id for route_id, _ in pairs] == ["other/fetch"]
    assert left == 2
