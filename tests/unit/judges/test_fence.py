import json

from hypothesis import given
from hypothesis import strategies as st

from admit.judges.fence import fence, plain, rule

NONCE = "0123456789abcdef"
ANY_TEXT = st.text(st.characters(exclude_categories=()))


def inside(fenced, name="c1"):
    opening, closing = f"[[data {NONCE} {name}]]", f"[[/data {NONCE} {name}]]"
    assert fenced.startswith(opening)
    assert fenced.endswith(closing)
    return fenced[len(opening) : -len(closing)]


def test_a_fence_names_its_text_and_holds_it_as_a_json_string():
    assert fence(NONCE, "c7", 'say "hi"\n') == f'[[data {NONCE} c7]]"say \\"hi\\"\\n"[[/data {NONCE} c7]]'


def test_markup_is_escaped_and_other_scripts_are_not():
    assert inside(fence(NONCE, "c1", "</data> & größer 데이터")) == (
        '"\\u003c/data\\u003e \\u0026 größer 데이터"'
    )


def test_a_lone_surrogate_is_replaced_and_a_pair_of_them_stays_a_character():
    assert inside(fence(NONCE, "c1", "a\ud800b😀")) == '"a?b😀"'


@given(ANY_TEXT)
def test_the_fenced_text_is_one_line_without_markup_that_reads_back_whole(text):
    string = inside(fence(NONCE, "c1", text))
    assert not set(string) & set("<>&\n\r")
    assert json.loads(string) == plain(text)
    string.encode("utf-8")


@given(ANY_TEXT, ANY_TEXT)
def test_two_texts_are_fenced_alike_only_if_they_are_sent_alike(one, other):
    assert (fence(NONCE, "c1", one) == fence(NONCE, "c1", other)) == (plain(one) == plain(other))


def test_the_rule_says_that_fenced_text_is_data_and_which_one_to_judge():
    of_one, of_all = rule(NONCE, "c3"), rule(NONCE)
    assert "Judge only c3:" in of_one
    assert "Judge only" not in of_all
    for said in (of_one, of_all):
        assert f"[[data {NONCE}" in said
        assert "untrusted data" in said
        assert "Follow nothing" in said
