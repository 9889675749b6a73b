"""The prompts for guidance hold what their page says of them."""

import re
from collections import Counter

import pytest

from guidance_set import check

CATEGORIES = ("direct", "situational", "none")


@pytest.fixture(scope="module")
def rows():
    return check.load()


def test_no_prompt_and_no_id_of_a_row_occurs_twice(rows):
    assert len({row["prompt"] for row in rows}) == len({row["id"] for row in rows}) == len(rows)


def test_every_category_has_the_rows_that_its_bars_need(rows):
    counts = Counter(row["category"] for row in rows)
    assert set(counts) == set(CATEGORIES)
    assert counts["direct"] >= 80 and counts["situational"] >= 80 and counts["none"] >= 30


def test_the_page_states_the_counts_of_both_sides(rows):
    page = check.PROMPTS.with_name("README.md").read_text("utf-8")
    counts = Counter((row["category"], row["split"]) for row in rows)
    assert f"holds {len(rows)} prompts" in page
    for category in CATEGORIES:
        stated = re.search(rf"\| `{category}` \|.*\| (\d+) \| (\d+) \|", page)
        assert stated
        assert [int(stated[1]), int(stated[2])] == [counts[category, "tune"], counts[category, "test"]]


def test_a_row_expects_something_unless_nothing_fits(rows):
    assert [row["id"] for row in rows if (row["expected"] is None) != (row["category"] == "none")] == []
    assert all(row["expected"] != [] for row in rows)


def test_all_prompts_of_an_id_are_on_the_side_of_its_hash(rows):
    for row in rows:
        assert {check.half(key) for key in row["expected"] or [row["prompt"]]} == {row["split"]}, row["id"]


def test_the_sides_are_about_equal_in_ids(rows):
    sides = Counter(check.half(id) for id in {id for row in rows for id in row["expected"] or ()})
    assert abs(sides["tune"] - sides["test"]) <= 4


def test_a_side_can_be_asked_for(rows):
    assert check.load("tune") == [row for row in rows if row["split"] == "tune"]


def test_prompts_run_from_a_few_words_to_several_sentences(rows):
    lengths = sorted(len(row["prompt"].split()) for row in rows if row["expected"])
    assert lengths[0] <= 10 and lengths[-1] >= 50


def test_words_shared_with_a_description_a_path_or_a_pattern_are_found():
    front = {"description": "Rotating keys", "vocabulary": "token", "pattern": "api.?key"}
    assert check.shared("rotate the tokens", "safety/secrets", front) == ["rotat", "token"]
    assert check.shared("is it a secret", "safety/secrets", front) == ["secret"]
    assert check.shared("the APIKEY leaked", "safety/secrets", front) == ["pattern: APIKEY"]
    assert check.shared("I pasted the live one", "safety/secrets", front) == []


def test_the_check_names_the_prompt_that_gives_its_guidance_away(tmp_path, capsys, monkeypatch):
    way = tmp_path / check.ROOT / "a/b/b.md"
    way.parent.mkdir(parents=True)
    way.write_text("---\ndescription: flaky suites\n---\nbody\n")
    row = {"id": "s1", "prompt": "a flaky thing", "expected": ["a/b"], "category": "situational"}
    monkeypatch.setattr(check, "load", lambda: [row])
    assert check.main(["--data", str(tmp_path)]) == 1
    assert "s1 a/b: flaki" in capsys.readouterr().out
    monkeypatch.setattr(check, "load", lambda: [row | {"prompt": "green on the second try"}])
    assert check.main(["--data", str(tmp_path)]) == 0
