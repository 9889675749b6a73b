"""Terms: one way of splitting for tasks, log lines, paths and names."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.text.terms import LONGEST_WORD, STOP_WORDS, split_identifier, stem, terms, words

SCRIPTS = st.text(
    st.one_of(
        st.characters(max_codepoint=0x7F),
        st.sampled_from("éßØñжЯ中文字日本語ひらカタ한국สวัสดีहिन्दीمرحبا́️_.-'’ \n"),
        st.characters(exclude_categories=("Cs",)),
    ),
    max_size=80,
)


@pytest.mark.parametrize(
    "identifier, parts",
    [
        ("createIssue", ("create", "issue")),
        ("HTTPServer", ("http", "server")),
        ("parseJSON", ("parse", "json")),
        ("snake_case_name", ("snake", "case", "name")),
        ("kebab-case", ("kebab", "case")),
        ("os.path.join", ("os", "path", "join")),
        ("src/admit/core", ("src", "admit", "core")),
        ("utf8", ("utf", "8")),
        ("__init__", ("init",)),
        ("B2BPortal", ("b", "2", "b", "portal")),
        ("ÜberGröße", ("über", "größe")),
        ("plain", ("plain",)),
        ("UPPER", ("upper",)),
        ("", ()),
        ("___", ()),
    ],
)
def test_an_identifier_is_cut_at_separators_case_and_digits(identifier, parts):
    assert split_identifier(identifier) == parts


def test_a_hash_is_one_part_and_a_short_mix_is_cut():
    assert split_identifier("3f9a1c2b7d10") == ("3f9a1c2b7d10",)
    assert split_identifier("v2beta1") == ("v", "2", "beta", "1")
    assert split_identifier("oneTwoThreeFourFiveSix") == ("one", "two", "three", "four", "five", "six")


def test_an_identifier_gives_its_parts_and_then_the_whole():
    assert words("call createIssue now") == ("call", "create", "issue", "createissue", "now")
    assert words("see core_x.py") == ("see", "core", "x", "py", "corexpy")


def test_a_plain_word_is_not_doubled():
    assert words("Build build") == ("build", "build")


def test_written_together_or_apart_a_name_meets_itself():
    spellings = ["createIssue", "create_issue", "create-issue", "create.issue", "CreateIssue"]
    assert len({terms(spelling) for spelling in spellings}) == 1
    assert terms("createissue")[0] == terms("createIssue")[-1]


def test_terms_are_stems_and_words_are_not():
    assert terms("failing tests failed") == ("fail", "test", "fail")
    assert words("failing tests failed") == ("failing", "tests", "failed")


def test_stop_words_are_out_also_as_parts_but_not_out_of_the_whole():
    assert words("Why does the build not work?") == ("build", "work")
    assert words("is_valid") == ("valid", "isvalid")


@pytest.mark.parametrize("apostrophe", ["'", "’"])
def test_contractions_leave_nothing_behind(apostrophe):
    assert words(f"it doesn{apostrophe}t parse the build{apostrophe}s log") == ("parse", "build", "log")
    assert words(f"{apostrophe}t{apostrophe} {apostrophe}stage{apostrophe}") == ("t", "stage")


def test_a_sentence_end_does_not_join_words():
    assert words("It broke. Fix it... soon") == ("broke", "fix", "soon")


def test_han_kana_and_hangul_give_bigrams():
    assert words("修复登录") == ("修复", "复登", "登录")
    assert words("はじめ") == ("はじ", "じめ")
    assert words("안녕하세") == ("안녕", "녕하", "하세")
    assert words("ไทย") == ("ไท", "ทย")


def test_a_single_character_of_such_a_script_stands_for_itself():
    assert words("木") == ("木",)


def test_scripts_in_one_word_are_taken_apart():
    assert words("Python入門Guide") == ("python", "入門", "guide")


def test_words_with_combining_marks_stay_whole():
    assert words("हिन्दी भाषा") == ("हिन्दी", "भाषा")
    assert words("a\u0338b") == ("a\u0338b",)


def test_no_letter_of_any_script_is_lost_to_nothing():
    for letter in "zжαא中かア한ไಅअ\U00020000":
        assert words(letter) == (letter,)


def test_what_is_too_long_for_an_identifier_is_cut_and_not_joined():
    blob = "x" * 5000
    assert words(blob) == ("x" * LONGEST_WORD,)
    chain = "ab-" * 60 + "cd"
    assert words(chain) == ("ab",) * 60 + ("cd",)
    assert words("字" * 150) == ("字字",) * 149


def test_a_megabyte_of_hex_is_a_few_short_terms():
    assert sum(map(len, terms("3f9a" * 250_000))) <= LONGEST_WORD


def test_a_million_combining_marks_cost_one_pass():
    assert len(terms("a" + "\u0301" * 1_000_000)) == 1


def test_only_plain_letters_are_stemmed():
    assert stem("running") == "run"
    assert stem("größer") == "größer"
    assert stem("sha256s") == "sha256s"
    assert stem("is") == "is"
    assert stem("") == ""


def test_the_stemmer_and_the_expressions_load_at_first_use():
    import subprocess

    code = "import sys, admit.text.terms; print('Stemmer' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@given(SCRIPTS)
def test_composed_and_decomposed_text_give_the_same_terms(text):
    assert terms(unicodedata.normalize("NFD", text)) == terms(unicodedata.normalize("NFC", text))


@given(st.text(st.characters(max_codepoint=0x7F), max_size=200))
def test_the_fast_way_for_ascii_is_the_same_as_the_slow_one(text):
    marked = text + " é"
    assert words(marked)[:-1] == words(text)


@given(SCRIPTS, SCRIPTS)
def test_a_line_break_parts_terms_so_lines_add_up(first, second):
    assert terms(first + "\n" + second) == terms(first) + terms(second)


@given(SCRIPTS)
def test_terms_stem_each_word_and_nothing_else(text):
    assert terms(text) == tuple(map(stem, words(text)))


@given(SCRIPTS)
def test_no_stop_word_and_nothing_long_is_a_term_of_a_single_word(text):
    for word in words(text):
        assert word
        assert len(word) <= 2 * LONGEST_WORD
    assert not STOP_WORDS & set(words(" ".join(sorted(STOP_WORDS))))


@given(st.from_regex(r"[A-Za-z0-9]+([._-][A-Za-z0-9]+){0,4}", fullmatch=True))
def test_the_parts_of_an_identifier_are_its_letters_in_order(identifier):
    plain = identifier.lower().replace(".", "").replace("_", "").replace("-", "")
    assert "".join(split_identifier(identifier)) == plain
