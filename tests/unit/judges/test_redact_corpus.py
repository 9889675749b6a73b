"""Every planted credential in every wrapping it is met in: no character of it is left."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admit.judges.redact import Redactor

from .planted import HARMLESS, PLANTED

REDACTOR = Redactor()


def lines(prefix, end="\n"):
    return lambda text: end.join(prefix + line for line in text.split("\n"))


def dumped(value):
    return json.dumps(value, ensure_ascii=False)


WRAPPINGS = {
    "alone": str,
    "between non-ASCII letters": lambda text: f"日本語 😀\n語{text} 終 é",
    "CRLF": lines("", "\r\n"),
    "log": lines("2024-01-01T00:00:00Z app[1]: "),
    "diff": lines("+"),
    "quoted mail": lines("> "),
    "indented": lines("    "),
    "environment": lambda text: f"HOME=/root\n{text}\nPATH=/bin",
    "YAML": lambda text: "data:\n  note: |\n" + lines("    ")(text) + "\n  n: 1",
    "fence": lambda text: f"```\n{text}\n```",
    "JSON": lambda text: dumped({"log": text, "n": 1}),
    "JSON of JSON": lambda text: dumped({"body": dumped({"log": text, "n": 1})}),
    "JSON three times": lambda text: dumped([dumped(dumped({"a": [{"b": text}]}))]),
    "JSON over lines": lambda text: json.dumps({"a": {"b": [text]}}, indent=2, ensure_ascii=False),
    "Python": repr,
}
# What only its place tells: an unquoted value of many words is one at the head of its line alone, and a name
# and its value on two lines belong together while only white space or a quote mark stands before the second.
MIDDLE = ("between non-ASCII letters", "log")
TOLD_BY_PLACE = {
    ("password: correct horse battery\n", MIDDLE),
    ("machine host\n  login app\n  password s3cr3tpw\n", ("log",)),
    ("- name: DB_PASSWORD\n  value: s3cr3tpw\n", ("log",)),
}


def told_by_place(text, wrapping):
    return any(text == one and wrapping in wrappings for one, wrappings in TOLD_BY_PLACE)


def wrapped_planted(wrappings):
    return [
        pytest.param(*planted, wrapping, id=f"{planted[1]!r:.40} in {wrapping}")
        for planted in PLANTED
        for wrapping in wrappings
        if not told_by_place(planted[1], wrapping)
    ]


def escaped(secret, text):
    """A secret as it stands in a wrapped text, where its quotes may be escaped."""
    forms = (secret, dumped(secret)[1:-1], dumped(dumped(secret))[3:-3], dumped(dumped(dumped(secret)))[7:-7])
    return next(form for form in forms if form in text)


def uncovered(secret, text, redacted, first=0):
    """The places of a text, from a first one on, where a secret stands and not all of it is masked."""
    found = []
    start = text.find(secret, first)
    while start >= 0:
        end = start + len(secret)
        if not any(mask.start <= start and end <= mask.end for mask in redacted.masks):
            found.append(text[max(0, start - 40) : end + 10])
        start = text.find(secret, end)
    return found


@pytest.mark.parametrize(("kind", "text", "secret", "wrapping"), wrapped_planted(WRAPPINGS))
def test_no_character_of_a_planted_secret_is_left_whatever_is_around_it(kind, text, secret, wrapping):
    wrapped = WRAPPINGS[wrapping](text)
    redacted = REDACTOR.redact(wrapped)
    stands = escaped(secret, wrapped)
    assert uncovered(stands, wrapped, redacted) == []
    assert not REDACTOR.finds(redacted.text)


@pytest.mark.parametrize(
    ("kind", "text", "secret", "wrapping"),
    wrapped_planted(["between non-ASCII letters", "CRLF", "JSON of JSON"]),
)
def test_no_cut_of_a_wrapped_secret_shows_a_part_of_it(kind, text, secret, wrapping):
    wrapped = WRAPPINGS[wrapping](text)
    redacted = REDACTOR.redact(wrapped)
    stands = escaped(secret, wrapped)
    first = wrapped.index(stands)
    for cut in range(first, first + len(stands) + 1):
        before, after = redacted.slice(0, cut), redacted.slice(cut, len(wrapped))
        masked = next(mask for mask in redacted.masks if mask.start <= first < mask.end)
        assert before == redacted.slice(0, masked.start) + (masked.replacement if cut > masked.start else "")
        assert after == (masked.replacement if cut < masked.end else "") + redacted.slice(
            masked.end, len(wrapped)
        )


@pytest.mark.parametrize("wrapping", ["between non-ASCII letters", "CRLF", "diff", "environment", "fence"])
@pytest.mark.parametrize("text", HARMLESS)
def test_what_hides_nothing_stays_in_its_wrapping(text, wrapping):
    wrapped = WRAPPINGS[wrapping](text)
    assert REDACTOR.redact(wrapped).text == wrapped


def test_every_secret_of_one_long_text_is_masked():
    texts = [text for _, text, _ in PLANTED if "BEGIN" not in text]
    whole = "\n\n".join(texts)
    redacted = REDACTOR.redact(whole)
    for _, text, secret in PLANTED:
        if "BEGIN" not in text:
            assert uncovered(secret, whole, redacted) == []


ANYTHING = st.lists(
    st.sampled_from([text for _, text, _ in PLANTED if "BEGIN" not in text] + HARMLESS)
    | st.sampled_from(
        ["key", "a1B2c3D4" * 4, "org/apache/maven2/builds/workspace", "_", ".", "-", "/", ":", "=", '"']
    )
    | st.text(max_size=6),
    max_size=5,
).map("".join)


@settings(max_examples=200)
@given(ANYTHING, st.sampled_from(PLANTED), ANYTHING)
def test_what_stands_on_other_lines_uncovers_nothing(before, planted, after):
    _, text, secret = planted
    whole = f"{before}\n\n;\n{text}\n;\n\n{after}"
    redacted = REDACTOR.redact(whole)
    # Before and after, pieces run into each other, and the same secret may stand there without its name.
    assert uncovered(secret, whole[: len(whole) - len(after)], redacted, len(before)) == []
