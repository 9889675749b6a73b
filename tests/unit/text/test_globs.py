import fnmatch

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from admit.text.globs import glob_regex


def matches(glob, path):
    return re2.compile(glob_regex(glob)).search(path) is not None


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("**/*.ts", "src/a.ts", True),
        ("**/*.ts", "a.ts", True),
        ("*.ts", "x/y/a.ts", True),
        ("*.ts", "x/y/a.tsx", False),
        ("src/*.ts", "src/x/a.ts", False),
        ("src/**", "src/x/a", True),
        ("src/**/test/*.py", "src/test/a.py", True),
        ("src/**/test/*.py", "src/a/b/test/a.py", True),
        ("{a,b}/*.py", "b/x.py", True),
        ("{a,b{c,d}}.py", "bd.py", True),
        ("[!a].py", "b.py", True),
        ("[!a].py", "a.py", False),
        ("x[!a]y", "x/y", False),
        ("[]x]", "]", True),
        ("docs/", "docs/x/y.md", True),
        ("./src/*.py", "src/a.py", True),
        ("/src/*.py", "src/a.py", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("a.c", "abc", False),
        ("(a|b)+$^", "(a|b)+$^", True),
    ],
)
def test_a_glob_matches_whole_paths_under_the_root(glob, path, expected):
    assert matches(glob, path) is expected


@pytest.mark.parametrize("glob", ["a[", "{a", "a}", "[", "]", "{", "}", ",", "a,b", "[]", "[!]"])
def test_what_is_never_closed_is_itself(glob):
    assert matches(glob, glob)


def test_case_counts():
    assert not re2.compile(glob_regex("*.TS")).search("a.ts")


@given(st.text(alphabet="ab*?[]{},!^/.\\-]", max_size=20))
def test_every_glob_is_a_pattern_or_a_bad_class(glob):
    try:
        re2.compile(glob_regex(glob).encode())
    except re2.error as error:
        assert b"class" in error.args[0] or b"missing ]" in error.args[0]


@given(st.text(alphabet="abc*?", min_size=1, max_size=8), st.text(alphabet="abc", max_size=8))
def test_without_folders_stars_mean_what_they_mean_in_a_shell(glob, name):
    assert matches(glob, name) == fnmatch.fnmatchcase(name, glob)
