import pytest

from admit.judges.clock import FrozenClock
from admit.judges.redact import MOST_BYTES, Redactor, Unredacted, is_too_large

SECRETS = "password=s3cr3tpw\n" * 50


class Ticking(FrozenClock):
    """A clock on which every reading takes a millisecond."""

    def monotonic(self):
        self.advance(0.001)
        return super().monotonic()


def test_within_its_time_a_text_is_redacted_as_without_one():
    assert Redactor(clock=FrozenClock()).budget(5).redact(SECRETS).text == Redactor().redact(SECRETS).text


@pytest.mark.parametrize("milliseconds", range(1, 50, 7))
def test_a_text_is_given_up_in_the_middle_once_its_time_is_over(milliseconds):
    clock = Ticking()
    with pytest.raises(Unredacted):
        Redactor(clock=clock).budget(milliseconds).redact(SECRETS)
    assert clock.monotonic() * 1000 < milliseconds + 5


def test_time_that_ran_out_by_the_end_counts_also_where_nothing_was_found():
    clock = FrozenClock()
    budget = Redactor(clock=clock).budget(100)
    clock.advance(0.1)
    assert budget.redact("plain").text == "plain"
    clock.advance(0.001)
    with pytest.raises(Unredacted):
        budget.redact("plain")


def test_the_texts_of_an_ask_share_the_time():
    budget = Redactor(clock=Ticking()).budget(70)
    assert "s3cr3tpw" not in budget.redact(SECRETS).text
    with pytest.raises(Unredacted):
        budget.redact(SECRETS)


def test_a_users_pattern_spends_the_same_time():
    with pytest.raises(Unredacted):
        Redactor(["x"], clock=Ticking()).budget(20).redact("x " * 50)


@pytest.mark.parametrize("letter", ["a", "é", "日", "😀"])
def test_a_text_over_the_most_bytes_is_not_redacted_whatever_its_letters(letter):
    width = len(letter.encode())
    most = letter * (MOST_BYTES // width) + "a" * (MOST_BYTES % width)
    assert not is_too_large(most) and is_too_large(most + "a")
    with pytest.raises(Unredacted):
        Redactor(clock=FrozenClock()).budget(1000).redact(most + "a")
