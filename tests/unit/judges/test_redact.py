import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admit.errors import ConfigError
from admit.judges.redact import CLASSES, Redactor

from .planted import HARMLESS, PLANTED, TOKENS

REDACTOR = Redactor()
LONGEST_READABLE = 5


def readable(secret, text):
    """The longest stretch of a secret that can be read in a text, if it is longer than 5 characters."""
    for size in range(len(secret), LONGEST_READABLE, -1):
        for start in range(len(secret) - size + 1):
            if secret[start : start + size] in text:
                return secret[start : start + size]
    return ""


@pytest.mark.parametrize(("kind", "text", "secret"), PLANTED)
def test_a_planted_secret_is_masked_and_a_second_scan_finds_nothing(kind, text, secret):
    redacted = REDACTOR.redact(text)
    assert not readable(secret, redacted.text)
    assert kind in {mask.kind for mask in redacted.masks}
    assert f"[redacted:{kind}]" in redacted.text
    assert not REDACTOR.finds(redacted.text)


@pytest.mark.parametrize(("kind", "text", "secret"), PLANTED)
def test_a_secret_cut_at_any_offset_leaves_nothing_readable_in_either_piece(kind, text, secret):
    redacted = REDACTOR.redact(text)
    for cut in range(len(text) + 1):
        for piece in (redacted.slice(0, cut), redacted.slice(cut, len(text))):
            assert not readable(secret, piece)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text):
    assert REDACTOR.redact(text).text == text
    assert not REDACTOR.finds(text)


def test_a_name_before_a_placeholder_hides_nothing_that_a_shape_catches():
    text = f"password=changeme {TOKENS[5]}"
    assert REDACTOR.redact(text).text == "password=changeme [redacted:token]"


def test_what_surrounds_a_secret_stays_word_for_word():
    text = '{"user": "app", "password": "s3cr3tpw", "n": 1}'
    assert REDACTOR.redact(text).text == '{"user": "app", "password": "[redacted:pair]", "n": 1}'


def test_an_unclosed_key_block_runs_to_the_end_of_the_text():
    redacted = REDACTOR.redact("a\n-----BEGIN PRIVATE KEY-----\nabc\n\nplain words after it")
    assert redacted.text == "a\n[redacted:pem]"


def test_two_key_blocks_leave_the_text_between_them():
    block = "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----"
    assert REDACTOR.redact(f"{block} between {block}").text == "[redacted:pem] between [redacted:pem]"


def test_pointers_hold_places_in_code_points_and_never_the_value():
    text = "日本語 😀 password=s3cr3tpw 終"
    [pointer] = REDACTOR.redact(text).pointers("/c3")
    assert pointer == {"at": "/c3", "start": text.index("s3cr"), "len": 8, "class": "pair"}


def test_a_cut_inside_a_mask_yields_the_whole_replacement():
    text = "x password=s3cr3tpw y"
    redacted = REDACTOR.redact(text)
    middle = text.index("r3t")
    assert redacted.slice(0, middle) == "x password=[redacted:pair]"
    assert redacted.slice(middle, len(text)) == "[redacted:pair] y"
    assert redacted.slice(middle, middle + 1) == "[redacted:pair]"
    assert redacted.slice(middle, middle) == ""


def test_a_slice_without_a_mask_is_the_original():
    text = "x password=s3cr3tpw y"
    redacted = REDACTOR.redact(text)
    assert redacted.slice(0, 11) == text[:11]
    assert redacted.slice(len(text) - 2, 99) == " y"
    assert redacted.slice(-5, 3) == text[:3]


def test_lone_surrogates_pass_through():
    text = "\ud800 password=s3\udfffcr3tpw \udc00"
    redacted = REDACTOR.redact(text)
    assert redacted.text == "\ud800 password=[redacted:pair] \udc00"


def test_a_users_pattern_adds_a_class():
    redactor = Redactor([r"EMP-\d{4}", "straße"])
    assert redactor.redact("EMP-1234 Straße straße password=s3cr3tpw").text == (
        "[redacted:custom] Straße [redacted:custom] password=[redacted:pair]"
    )
    assert redactor.finds("EMP-1234") and not redactor.finds("EMP-12")


@pytest.mark.parametrize("pattern", ["(", "a*", r"(?=x)", r"(a)\1", "\ud800"])
def test_a_users_pattern_that_is_not_re2_or_matches_nothing_is_refused(pattern):
    with pytest.raises(ConfigError) as caught:
        Redactor([pattern])
    assert caught.value.key == "judge.redact_patterns"


def test_overlapping_finds_are_one_mask():
    text = f"password={TOKENS[5]}"
    redacted = REDACTOR.redact(text)
    assert [mask.kind for mask in redacted.masks] == ["pair"]
    assert redacted.text == "password=[redacted:pair]"


PIECES = st.sampled_from(
    [text for _, text, _ in PLANTED]
    + HARMLESS
    + [" ", "\n", '"', "'", "\\", "=", ": ", "key", "é", "😀", "://", "@"]
)


@settings(max_examples=300)
@given(st.lists(PIECES | st.text(max_size=6), max_size=6).map("".join))
def test_masks_stand_in_order_inside_the_text_and_never_overlap(text):
    redacted = REDACTOR.redact(text)
    ends = 0
    for mask in redacted.masks:
        assert ends <= mask.start < mask.end <= len(text)
        assert mask.kind in CLASSES
        ends = mask.end


@settings(max_examples=200)
@given(st.lists(PIECES | st.text(max_size=6), max_size=5).map("".join), st.data())
def test_the_slices_of_a_text_hold_what_the_redacted_text_holds(text, data):
    redacted = REDACTOR.redact(text)
    cut = data.draw(st.integers(0, len(text)))
    joined = redacted.slice(0, cut) + redacted.slice(cut, len(text))
    inside = [mask for mask in redacted.masks if mask.start < cut < mask.end]
    extra = inside[0].replacement if inside else ""
    assert len(joined) == len(redacted.text) + len(extra)
    assert redacted.slice(0, len(text)) == redacted.text


def test_pointers_of_a_cut_count_from_its_start_and_end_with_it():
    secret = "ghp_" + "a1B2" * 9
    redacted = Redactor().redact(f"one {secret} two {secret} three")
    first = redacted.masks[0].start
    assert redacted.pointers("/c1", 0, first) == ()
    cut = redacted.pointers("/c1", first + 10, first + len(secret) + 2)
    assert cut == ({"at": "/c1", "start": 0, "len": len(secret) - 10, "class": "token"},)
    assert redacted.pointers("/c1", 2) == tuple(
        {**one, "start": one["start"] - 2} for one in redacted.pointers("/c1")
    )
