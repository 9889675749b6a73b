"""Finding transcripts: in their places, of this user, through no link, in a window that the files set."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from admit.transcripts import files
from admit.transcripts.find import default_places, find

from .recorded import Claude, Codex

DAY_MS = 86_400_000


def recorded(session: str = "s1", day: int = 0) -> Claude:
    file = Claude(session, day=day)
    file.user("Count the lines of the file f")
    file.run("wc f", "7 f")
    return file


def names(found) -> list[str]:
    return [one.session for one in found.transcripts]


def test_the_usual_places_follow_the_hosts_own_variables(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("CODEX_HOME", raising=False)
    assert default_places() == (f"{tmp_path}/.claude", f"{tmp_path}/.codex")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/c")
    monkeypatch.setenv("CODEX_HOME", "/x")
    assert default_places() == ("/c", "/x")


def test_places_that_do_not_exist_hold_nothing(tmp_path):
    assert find([str(tmp_path / "none")], 14) == ((), 0, 0, 0, {})


def test_a_hosts_folder_a_part_of_it_and_one_file_all_work(tmp_path):
    path = recorded().write(tmp_path / "projects")
    (tmp_path / "history.jsonl").write_text('{"display": "hi"}\n')
    rollout = Codex()
    rollout.run("ls", "f")
    rollout.write(tmp_path / "sessions")
    assert names(find([str(tmp_path)], 14)) == ["s1", rollout.session]
    for place in (tmp_path / "projects", path.parent, path):
        assert names(find([str(place)], 14)) == ["s1"]
    assert names(find([str(tmp_path / "projects"), str(path)], 14)) == ["s1"]


def test_the_window_counts_back_from_the_newest_record(tmp_path):
    for session, day in (("a", 0), ("b", 6), ("c", 20)):
        recorded(session, day).write(tmp_path)
    found = find([str(tmp_path)], 14)
    assert names(found) == ["b", "c"] and found.older == 1
    assert found.last_ms - found.since_ms == 14 * DAY_MS
    assert names(find([str(tmp_path)], 1)) == ["c"]
    assert names(find([str(tmp_path)], 30)) == ["a", "b", "c"]


def test_when_a_file_was_touched_does_not_matter(tmp_path):
    for session, day in (("a", 0), ("b", 20)):
        recorded(session, day).write(tmp_path)
    before = find([str(tmp_path)], 14)
    os.utime(before.transcripts[0].path)
    assert find([str(tmp_path)], 14) == before


def test_a_record_from_the_future_does_not_empty_the_window(tmp_path):
    recorded("a").write(tmp_path)
    file = recorded("b")
    file.records[-1]["timestamp"] = "2999-01-01T00:00:00Z"
    path = file.write(tmp_path)
    hour_after = 1_772_359_200 + 3_600
    os.utime(path, (hour_after, hour_after))
    assert names(find([str(tmp_path)], 14)) == ["a", "b"]


@pytest.mark.parametrize(
    "stray",
    [
        '{"type": "user"}\n',
        '{"type": "user", "timestamp": "9999-12-31T23:59:59Z"}\n',
        '{"type": "user", "timestamp": "2026-06-01T10:00:00Z", "text": "{\\"type\\":\\"tool_use\\"}"}\n',
    ],
)
def test_a_stray_file_does_not_move_the_window(tmp_path, stray):
    recorded("a").write(tmp_path)
    before = find([str(tmp_path)], 14)
    (tmp_path / "stray.jsonl").write_text(stray)
    found = find([str(tmp_path)], 14)
    assert (found.since_ms, found.last_ms) == (before.since_ms, before.last_ms) and "a" in names(found)


def test_a_tool_use_that_claims_a_later_time_than_its_file_counts_by_the_one_before(tmp_path):
    file = recorded("a")
    file.run("date", "9999-12-31")
    for record in file.records[-2:]:
        record["timestamp"] = "9999-12-31T23:59:59Z"
    file.write(tmp_path)
    assert find([str(tmp_path)], 14).last_ms == 1_772_359_203_000


def test_the_end_of_a_session_is_found_before_a_long_last_line(tmp_path):
    file = recorded("a")
    file.run("cat f", "x" * 700_000)
    path = file.write(tmp_path)
    found = find([str(path)], 14)
    assert found.last_ms == 1_772_359_205_000


def test_without_a_timestamp_the_files_own_time_counts(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"type": "user", "timestamp": "soon"}\n')
    os.utime(path, (1_772_359_200, 1_772_359_200))
    assert find([str(tmp_path)], 14).last_ms == 1_772_359_200_000


@pytest.mark.parametrize("name", ["sessions", "projects"])
def test_sessions_beside_a_folder_with_a_hosts_name_are_read_too(tmp_path, name):
    recorded("inside").write(tmp_path / name)
    recorded("beside").write(tmp_path / "copies")
    assert sorted(names(find([str(tmp_path)], 14))) == ["beside", "inside"]


def test_links_are_not_followed(tmp_path):
    outside = recorded("outside").write(tmp_path / "elsewhere")
    folder = tmp_path / "projects" / "p"
    folder.mkdir(parents=True)
    (folder / "link.jsonl").symlink_to(outside)
    (tmp_path / "projects" / "q").symlink_to(outside.parent)
    recorded("s1").write(tmp_path / "projects")
    found = find([str(tmp_path / "projects")], 14)
    assert names(found) == ["s1"] and found.skipped == {"symlink": 2}


def test_a_place_that_is_itself_a_link_is_where_it_leads(tmp_path):
    recorded("s1").write(tmp_path / "real" / "projects")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert names(find([str(tmp_path / "link")], 14)) == ["s1"]


def test_what_is_no_regular_file_of_this_user_is_left_out(tmp_path, monkeypatch):
    recorded("s1").write(tmp_path)
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert find([str(tmp_path)], 14).skipped == {"not ours": 1}
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    assert find([str(tmp_path)], 14).transcripts == ()


def test_files_of_subagents_belong_to_their_session(tmp_path):
    recorded("s1").write(tmp_path)
    child = Claude("s1", agent="a1")
    child.user("Find every caller of retry()")
    path = child.write(tmp_path)
    (one,) = find([str(tmp_path)], 14).transcripts
    assert one.agents == (str(path),) and one.folder == str(path.parent.parent)


def test_a_results_folder_is_not_searched(tmp_path):
    path = recorded("s1").write(tmp_path)
    folder = path.with_suffix("") / "tool-results"
    folder.mkdir(parents=True)
    (folder / "x.jsonl").write_text(path.read_text())
    assert names(find([str(tmp_path)], 14)) == ["s1"]


def rollout(home: Path, folder: str) -> Path:
    file = Codex()
    file.run("ls", "f")
    return file.write(home / folder)


def test_an_archived_copy_of_a_session_counts_once(tmp_path):
    first, copy = rollout(tmp_path, "sessions"), rollout(tmp_path, "archived_sessions")
    found = find([str(tmp_path)], 14)
    assert [one.path for one in found.transcripts] == [str(first)] and copy.exists()
    assert found.skipped == {"copy": 1}


def test_a_plain_file_wins_over_its_compressed_copy(tmp_path):
    path = rollout(tmp_path, "sessions")
    path.with_suffix(".jsonl.zst").write_bytes(b"(\xb5/\xfd")
    found = find([str(tmp_path)], 14)
    assert [one.path for one in found.transcripts] == [str(path)] and found.skipped == {"copy": 1}


def test_where_compressed_files_cannot_be_read_they_are_counted(tmp_path, monkeypatch):
    path = rollout(tmp_path, "sessions")
    path.rename(path.with_suffix(".jsonl.zst"))
    monkeypatch.setattr("admit.transcripts.find.can_decompress", lambda: False)
    assert find([str(tmp_path)], 14) == ((), 0, 0, 0, {"zst": 1})


def test_a_link_that_appears_after_the_search_is_not_opened(tmp_path):
    target = tmp_path / "target"
    target.write_text("secret")
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(OSError):
        files.open_own(str(tmp_path / "link"))


def test_a_stored_result_is_read_up_to_the_cap(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("abcdef")
    assert files.read_text(str(path), 6) == ("abcdef", True)
    assert files.read_text(str(path), 4) == ("abcd", False)
    assert files.read_text(str(tmp_path / "none")) is None
