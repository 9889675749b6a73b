"""The starter pack: every file loads clean, is worth its characters, and fires where it should."""

import json
import re
from itertools import combinations
from pathlib import Path

import pytest

import admit.guidance
from admit.guidance.gather import load
from admit.guidance.lint import lint
from admit.guidance.model import Root, Surface
from admit.guidance.patterns import Problem, compiled, matches_nothing
from admit.guidance.triggers import Triggers
from admit.text.front_matter import parse

STARTER = Path(admit.guidance.__file__).parent / "starter"
FILES = sorted(STARTER.rglob("*.md"))
HOMONYMS = [json.loads(line) for line in Path(__file__).with_name("homonyms.jsonl").read_text().splitlines()]
KEYS = {"description", "vocabulary", "pattern", "commands", "files", "scope", "refire"}


def name(path):
    return path.parent.relative_to(STARTER).as_posix()


@pytest.fixture(scope="module")
def loaded():
    return load([Root("agent-ways", "user", str(STARTER), str(STARTER))])


@pytest.fixture(scope="module")
def fires(loaded):
    triggers = Triggers(loaded[0].snippets)
    return lambda lane, text: sorted(
        triggers.search(Surface(lane, text=text, paths=(text,) if lane == "file" else ())).fired
    )


def test_the_whole_pack_loads_without_a_finding(loaded):
    index, findings = loaded
    assert findings == ()
    assert sorted(snippet.id for snippet in index.snippets) == sorted(name(path) for path in FILES)
    assert 12 <= len(FILES) <= 20


@pytest.mark.parametrize("kind", ["user", "bundled"])
def test_lint_finds_nothing_in_the_pack(kind):
    index, _ = load([Root("agent-ways", kind, str(STARTER), str(STARTER))])
    assert lint(index) == ()


def test_the_pack_has_a_tree_with_a_parent_and_its_child(loaded):
    ids = {snippet.id for snippet in loaded[0].snippets}
    assert {"testing", "testing/flaky"} <= ids


@pytest.mark.parametrize("path", FILES, ids=name)
def test_a_file_is_named_for_its_folder_and_holds_only_known_keys(path):
    front = parse(path.read_text("utf-8"))
    assert path.stem == path.parent.name
    assert front.problems == ()
    assert {"description", "vocabulary", "refire"} <= front.fields.keys() <= KEYS
    assert 30 <= len(front.text("description")) <= 120


@pytest.mark.parametrize("path", FILES, ids=name)
def test_a_body_has_a_title_and_is_neither_a_phrase_nor_an_essay(path):
    text = path.read_text("utf-8")
    body = text[parse(text).body_at :]
    assert body.startswith("# ")
    assert body.count("\n#") == 0
    assert 400 <= len(body) <= 1800


def test_every_file_fires_by_meaning_and_by_words(loaded):
    for snippet in loaded[0].snippets:
        kinds = {trigger.kind for trigger in snippet.triggers}
        assert "semantic" in kinds, snippet.id
        assert kinds & {"pattern", "commands", "files"}, snippet.id


def test_every_expression_compiles_and_needs_something_to_match(loaded):
    for snippet in loaded[0].snippets:
        for trigger in snippet.triggers:
            if trigger.kind != "semantic":
                assert not isinstance(compiled(trigger), Problem), (snippet.id, trigger)
                assert not matches_nothing(trigger), (snippet.id, trigger)


def test_no_two_files_say_the_same():
    words = {name(path): set(re.findall("[a-z]{3,}", path.read_text("utf-8").lower())) for path in FILES}
    for one, other in combinations(words, 2):
        assert len(words[one] & words[other]) / len(words[one] | words[other]) < 0.3, (one, other)


def test_every_vocabulary_adds_words_to_its_description():
    for path in FILES:
        front = parse(path.read_text("utf-8"))
        fresh = set(front.text("vocabulary").split()) - set(front.text("description").lower().split())
        assert len(fresh) >= 8, name(path)


@pytest.mark.parametrize("row", HOMONYMS, ids=lambda row: row["word"])
def test_a_homonym_sets_off_nothing(fires, row):
    assert row["word"] in row["prompt"]
    assert fires("prompt", row["prompt"]) == []


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("write a failing test for the parser", ["testing"]),
        ("this one fails intermittently, about 1 in 20", ["testing/flaky"]),
        ("split this into two commits", ["commits"]),
        ("we need an alembic migration for that", ["migrations"]),
        ("rename a column of orders, please: drop column old_total later", ["migrations"]),
        ("CI is red again", ["ci"]),
        ("the report is really slow", ["performance"]),
        ("Update the README", ["documentation"]),
        ("upgrade our dependencies", ["dependencies"]),
        ("where should I put the API key?", ["security/secrets"]),
        ("review my diff", ["review"]),
        ("draft the release notes", ["release"]),
        ("is this thread-safe?", ["concurrency"]),
        ("better error messages for bad config, please", ["errors"]),
        ("is that a breaking change? I'd hate breaking changes", ["api"]),
        ("find the root cause", ["debugging"]),
        ("extract a function from this", ["refactoring"]),
        ("the output was cut, what came after line 80?", ["outputs"]),
        ("turn it into a bash script", ["shell"]),
        ("look at `README.md` and stop there", []),
        ("use optimistic locking and leave the debug flag off", []),
        ("what's for lunch", []),
    ],
)
def test_a_prompt_sets_off_what_names_its_topic(fires, prompt, wanted):
    assert fires("prompt", prompt) == wanted


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("git commit -m 'Refuse empty carts'", ["commits"]),
        ("git -C ../web commit --amend", ["commits"]),
        ("git log --oneline", []),
        ("pytest -q | tail -5", ["outputs"]),
        ("npm install left-pad", ["dependencies"]),
        ("npm install", []),
        ("npm install --prefer-offline", []),
        ("pip install -e .", []),
        ("rm -rf build", ["shell"]),
        ("rm -fr build", ["shell"]),
        ("rm notes.txt", []),
        ("git push --force origin main", ["shell"]),
        ("git push origin main", []),
        ("kubectl delete pod web-0", ["shell"]),
        ("gh run view 812 --log-failed", ["ci"]),
        ("git tag -a v2.1.0", ["release"]),
        ("git tag", []),
        ("echo 'select 1' > db/migrations/0042_add_tier.sql", ["migrations"]),
    ],
)
def test_a_command_sets_off_what_it_is_about_to_do(fires, command, wanted):
    assert fires("command", command) == wanted


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("tests/test_cart.py", ["testing"]),
        ("src/cart.spec.ts", ["testing"]),
        ("pkg/cart_test.go", ["testing"]),
        ("src/latest.py", []),
        ("app/migrations/0007_tier.py", ["migrations"]),
        (".env", ["security/secrets"]),
        (".env.production", ["security/secrets"]),
        ("src/environment.py", []),
        ("package.json", ["dependencies"]),
        ("README.md", ["documentation"]),
        ("docs/setup/linux.md", ["documentation"]),
        (".github/workflows/test.yml", ["ci"]),
        ("CHANGELOG.md", ["release"]),
        ("api/openapi.yaml", ["api"]),
        ("bin/deploy.sh", ["shell"]),
        ("src/cart.py", []),
    ],
)
def test_a_file_sets_off_what_it_holds(fires, path, wanted):
    assert fires("file", path) == wanted
