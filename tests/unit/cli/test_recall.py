"""`admit recall`: a stored output again, and nothing but its own bytes."""

from __future__ import annotations

import json
import sqlite3

import pytest
from command_line import Home, log


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


@pytest.fixture
def name(home):
    return home.stored(log())


def body(text: bytes) -> bytes:
    return text.split(b"\n", 1)[1]


def test_an_id_alone_gives_the_first_page_and_the_cursor_the_next(home, name):
    first = home.admit("recall", name)
    assert first.returncode == 0 and first.stderr == b""
    head, text = first.stdout.split(b"\n", 1)
    assert len(text) <= 20_000 and log().startswith(text)
    cursor = head.decode().rsplit("cursor ", 1)[1]
    second = home.admit("recall", name, "--cursor", cursor)
    assert log().startswith(text + body(second.stdout))


def test_the_pages_join_to_the_whole(home, name):
    pages, cursor = b"", ""
    while cursor is not None:
        done = home.admit("recall", name, "--json", *(["--cursor", cursor] if cursor else []))
        value = json.loads(done.stdout)
        pages, cursor = pages + value["text"].encode(), value["next_cursor"]
    assert pages == log()


def test_a_range_of_lines_is_given_word_for_word(home, name):
    done = home.admit("recall", name, "--lines", "1,500-1502")
    assert body(done.stdout) == b"\n".join(log().split(b"\n")[1499:1502]) + b"\n"
    assert b"lines 1,500-1,502 of 3,000" in done.stdout.split(b"\n")[0]


def test_a_search_gives_hits_with_the_lines_around_them(home, name):
    done = home.admit("recall", name, "--search", "THE ONE THAT")
    assert done.returncode == 0
    assert b"error: the one that matters\n" in done.stdout
    assert b"lines 1,499-1,503, hit in 1,501]" in done.stdout


def test_a_search_without_a_hit_exits_with_1(home, name):
    done = home.admit("recall", name, "--search", "absent")
    assert done.returncode == 1 and b"no hit in " in done.stdout


def test_a_regex_is_read_as_one(home, name):
    done = home.admit("recall", name, "--search", r"^error: \w+", "--regex", "--json")
    assert json.loads(done.stdout)["hits"] == 1


def test_the_last_is_the_output_stored_last(home, name):
    other = log(2_500)
    newest = home.stored(other)
    assert home.admit("recall", "--last", "--whole", "--raw").stdout == other
    assert newest != name


def test_json_holds_what_the_text_form_says(home, name):
    value = json.loads(home.admit("recall", name, "--json", "--lines", "2999-4000").stdout)
    assert list(value) == [
        *("schema", "id", "class", "lines_total", "hits", "next_cursor", "notes", "header", "text")
    ]
    assert (value["id"], value["class"], value["lines_total"]) == (name, "range", 3_000)
    assert len(value["notes"]) == 1 and value["text"].encode() == b"\n".join(log().split(b"\n")[2998:])


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ([], "give an id such as o_3f9a1c2b7d10, or --last for the newest"),
        (["o_" + "1" * 12, "--last"], "not both"),
        (["--last", "--lines", "a-b"], "write 120-531, 120- or 120"),
        (["--last", "--search", "(", "--regex"], "RE2 syntax"),
        (["--last", "--search", ""], "the search is empty"),
        (["--last", "--regex"], "give the pattern with --search"),
        (["--last", "--whole", "--lines", "1-2"], "one at a time"),
        (["--last", "--cursor", "next"], "copy it from the answer before"),
        (["--last", "--raw", "--json"], "leave out --json"),
    ],
)
def test_a_wrong_call_exits_with_2_and_names_the_fix(home, name, args, says):
    done = home.admit("recall", *args)
    assert (done.returncode, done.stdout) == (2, b"")
    assert says in done.stderr.decode()


def test_what_is_not_there_exits_with_1_and_says_why(home):
    done = home.admit("recall", "--last")
    assert done.returncode == 1
    assert done.stderr.decode() == (
        "admit: nothing is stored yet: `admit output` and `admit run` store what is over 2,000 characters\n"
    )
    done = home.admit("recall", "o_000000000000")
    assert done.returncode == 1
    assert done.stderr.decode() == (
        "admit: no stored output o_000000000000: never stored; `admit outputs list` shows what is stored\n"
    )


def test_an_id_is_never_a_path(home, name):
    for bad in ("o_../../../etc", "/etc/passwd", "../x", "o_" + "f" * 80):
        assert home.admit("recall", bad).returncode == 1


def test_an_altered_or_deleted_file_is_not_given(home, name):
    [file] = home.files
    file.write_bytes(b"something else")
    done = home.admit("recall", name)
    assert (done.returncode, done.stdout) == (1, b"") and b"altered" in done.stderr
    file.unlink()
    done = home.admit("recall", name)
    assert (done.returncode, done.stdout) == (1, b"") and b"deleted" in done.stderr


def test_each_recall_is_recorded_with_its_class_and_size(home, name):
    home.admit("recall", name, "--lines", "1-2")
    home.admit("recall", name, "--search", "error")
    home.admit("recall", name, "--whole")
    home.admit("recall", name, "--lines", "9-x")
    with sqlite3.connect(home.path / "state" / "admit" / "ledger.db") as con:
        rows = con.execute(
            "SELECT output_id, class, via, chars, first FROM recalls ORDER BY rowid"
        ).fetchall()
    assert [row[:3] for row in rows] == [(name, one, "cli") for one in ("range", "search", "whole")]
    assert rows[0][3] == len(b"\n".join(log().split(b"\n")[:2])) + 1 and rows[2][3] == len(log())
    assert [row[4] for row in rows] == [1, 0, 0]


def test_it_works_without_the_record(home, name):
    for file in (home.path / "state" / "admit").glob("ledger.db*"):
        file.unlink()
    assert home.admit("recall", name, "--whole", "--raw").stdout == log()
    assert home.admit("recall", "--last", "--whole", "--raw").stdout == log()


def test_it_works_while_paused(home, name):
    done = home.admit("recall", name, "--whole", "--raw", env={**home.env, "ADMIT_OFF": "1"})
    assert done.stdout == log()
