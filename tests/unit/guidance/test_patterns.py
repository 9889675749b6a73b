import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admit.guidance.model import Trigger
from admit.guidance.patterns import MOST_CHARS, PatternSet, Problem, compiled, matches_nothing


def regex(text):
    return Trigger("pattern", text)


def found(sources, text):
    return [(one.place, one.span) for one in PatternSet([regex(one) for one in sources]).search(text)]


def test_matches_come_in_the_order_given():
    assert found(["zeta", "alpha", "nothing"], "alpha and ZETA") == [(0, "ZETA"), (1, "alpha")]


def test_a_span_keeps_its_case():
    assert found([r"\bssh\b"], "use SSH here") == [(0, "SSH")]


def test_case_can_be_asked_for_inside_a_pattern():
    assert found(["(?-i)SSH"], "ssh") == []


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("(?=a)b", "regex-unsupported"),
        (r"(a)\1", "regex-unsupported"),
        ("[x", "regex-unsupported"),
        ("a" * (MOST_CHARS + 1), "regex-too-large"),
        (r"\p{L}{900}" * 100, "regex-too-large"),
        ("\ud800", "regex-unsupported"),
    ],
)
def test_a_pattern_that_cannot_run_is_off_and_the_others_stand(source, code):
    problem = compiled(regex(source))
    assert isinstance(problem, Problem) and problem.code == code
    assert problem.text and not problem.text.startswith("b'")
    assert found([source, "deploy"], "deploy aab") == [(1, "deploy")]


def test_a_pattern_that_matches_everything_is_told():
    assert matches_nothing(regex("a*")) and not matches_nothing(regex("a+"))


def test_the_most_telling_of_several_matches_counts():
    (match,) = PatternSet([regex("deploy|de")]).search("de de deploy")
    assert (match.span, match.specificity) == ("deploy", 6)


def test_a_hostile_pattern_takes_linear_work():
    assert found(["(a+)+$", "b$"], "a" * 65_536 + "b") == [(1, "b")]


def test_shards_that_need_too_much_memory_are_halved():
    sources = [rf"\pL{{100}}x{k}|word{k}\b" for k in range(120)]
    assert [place for place, _ in found(sources, "word7 word99")] == [7, 99]


def test_a_mention_is_a_whole_word():
    mention = PatternSet([Trigger("mention", "@style", "literal")])
    assert mention.search("please use @style, thanks")[0].span == "@style"
    assert not mention.search("@style-guide or me@style or @styles")


def test_globs_tell_case_apart_and_stand_beside_patterns():
    both = PatternSet([regex("README"), Trigger("files", "*.MD", "glob"), Trigger("files", "*.md", "glob")])
    assert [one.place for one in both.search("docs/readme.md")] == [0, 2]


@settings(max_examples=50)
@given(
    st.lists(st.sampled_from(["ab", "b+c", "c|d", "^a", "(?=x)", "[", "d.d"]), max_size=6), st.text("abcd")
)
def test_a_set_finds_what_each_pattern_finds_alone(sources, text):
    together = [place for place, _ in found(sources, text)]
    alone = [place for place, source in enumerate(sources) if found([source], text)]
    assert together == alone
