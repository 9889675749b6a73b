"""Claude Code's large results: previews, middle cuts, and where the whole may be taken from."""

from __future__ import annotations

import json
import os

import pytest

from admit.transcripts import read_sessions
from admit.transcripts.find import find
from admit.transcripts.model import ToolUse

from .recorded import Claude, build_log

WHOLE = build_log(1, 1_600)


@pytest.fixture
def projects(tmp_path):
    return tmp_path / "projects"


@pytest.fixture
def stored(projects):
    folder = projects / "-home-me-shop" / "s1" / "tool-results"
    folder.mkdir(parents=True)
    return folder


def preview(path: object, text: str = WHOLE) -> str:
    size = f"{len(text) / 1024:.1f}KB"
    return (
        f"<persisted-output>\nOutput too large ({size}). Full output saved to: {path}\n\n"
        f"Preview (first 2KB):\n{text[:2000]}\n...\n</persisted-output>"
    )


def use(projects, tool: str, content, copy=None, *, failed: bool = False) -> ToolUse:
    file = Claude()
    file.result(file.call(tool, {"command": "make"}), content, copy, failed=failed)
    file.write(projects)
    (session,) = read_sessions(find([str(projects.parent)], 14))
    return session.uses[0]


def test_the_whole_is_read_from_the_sessions_own_folder(projects, stored):
    (stored / "b1.txt").write_text(WHOLE)
    shown = preview(stored / "b1.txt")
    copy = {"stdout": WHOLE[:30_000], "stderr": "", "persistedOutputPath": str(stored / "b1.txt")}
    one = use(projects, "Bash", shown, copy | {"persistedOutputSize": len(WHOLE)})
    assert (one.shown, one.whole, one.text) == (shown, WHOLE, WHOLE)
    assert (one.cut_by_host, one.complete, one.original_chars) == ("preview", True, len(WHOLE))
    assert one.stored_path == str(stored / "b1.txt")


def test_the_path_in_the_preview_is_enough(projects, stored):
    (stored / "toolu_9.txt").write_text(WHOLE)
    assert use(projects, "Grep", preview(stored / "toolu_9.txt"), {"mode": "content"}).text == WHOLE


def test_a_folder_that_was_moved_still_has_its_results(projects, stored):
    (stored / "b1.txt").write_text(WHOLE)
    assert use(projects, "Bash", preview("/elsewhere/s1/tool-results/b1.txt")).text == WHOLE


def test_a_stored_array_of_blocks_is_its_texts(projects, stored):
    blocks = [{"type": "text", "text": WHOLE}, {"type": "image", "source": {"data": "iVBORw0"}}]
    (stored / "toolu_9.json").write_text(json.dumps(blocks))
    assert use(projects, "mcp__a__b", preview(stored / "toolu_9.json")).text == WHOLE


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../../secret.txt",
        "tool-results/..",
        "tool-results/",
        "/x/tool-results/../../secret.txt",
        "",
    ],
)
def test_no_path_of_a_record_leads_out_of_the_folder(path, projects, stored):
    (stored.parent.parent / "secret.txt").write_text(WHOLE)
    one = use(projects, "Bash", preview(path), {"stdout": "a" * 30_000})
    assert one.whole == "a" * 30_000 and not one.complete


def test_a_link_in_the_folder_is_not_followed(projects, stored, tmp_path):
    (tmp_path / "secret.txt").write_text(WHOLE)
    (stored / "b1.txt").symlink_to(tmp_path / "secret.txt")
    assert use(projects, "Bash", preview(stored / "b1.txt")).whole is None


def test_a_folder_that_is_a_link_is_not_entered(projects, stored, tmp_path):
    (tmp_path / "b1.txt").write_text(WHOLE)
    stored.rmdir()
    stored.symlink_to(tmp_path)
    assert use(projects, "Bash", preview(stored / "b1.txt")).whole is None


def test_a_pipe_in_the_folder_is_not_waited_for(projects, stored):
    os.mkfifo(stored / "b1.txt")
    assert use(projects, "Bash", preview(stored / "b1.txt")).whole is None


def test_of_a_file_that_is_gone_the_hosts_copy_is_the_fullest(projects, stored):
    copy = {"stdout": WHOLE[:30_000], "persistedOutputSize": len(WHOLE)}
    one = use(projects, "Bash", preview(stored / "gone.txt"), copy)
    assert (one.text, one.complete, one.original_chars) == (WHOLE[:30_000], False, len(WHOLE))


@pytest.mark.parametrize(
    ("tool", "copy"),
    [
        ("Grep", {"mode": "content", "content": WHOLE, "filenames": []}),
        ("Grep", {"mode": "files_with_matches", "content": "", "filenames": WHOLE.split("\n")}),
        ("mcp__a__b", [{"type": "text", "text": WHOLE}]),
        ("mcp__a__b", WHOLE),
        ("WebFetch", {"bytes": 9, "code": 200, "result": WHOLE, "url": "https://example.org"}),
    ],
)
def test_the_copies_of_other_tools_hold_everything(tool, copy, projects, stored):
    one = use(projects, tool, preview(stored / "gone.txt"), copy)
    assert (one.text, one.complete, one.cut_by_host) == (WHOLE, True, "preview")


def test_without_any_copy_only_the_stated_size_is_known(projects, stored):
    one = use(projects, "Bash", preview(stored / "gone.txt"), None)
    assert one.whole is None and not one.complete
    assert one.original_chars is not None and abs(one.original_chars - len(WHOLE)) < 1_024


def test_a_failed_command_is_cut_in_the_middle_and_has_no_copy(projects):
    text = f"Exit code 2\n{WHOLE[:5_000]}\n\n... [52,000 characters truncated] ...\n\n{WHOLE[-5_000:]}"
    one = use(projects, "Bash", text, f"Error: {text}", failed=True)
    assert (one.cut_by_host, one.complete, one.whole, one.failed) == ("middle", False, None, True)
    assert one.exit_code == 2 and one.original_chars is not None and one.original_chars > 61_000


def test_a_success_that_quotes_such_a_cut_is_whole(projects):
    one = use(projects, "Bash", "a\n... [52 characters truncated] ...\nb")
    assert (one.cut_by_host, one.complete, one.exit_code) == ("", True, None)


def test_a_size_that_is_no_number_is_not_taken(projects, stored):
    copy = {"stdout": "x", "persistedOutputSize": True, "persistedOutputPath": 5}
    one = use(projects, "Bash", "<persisted-output>\nOutput too large (?)", copy)
    assert (one.original_chars, one.complete) == (None, False)
