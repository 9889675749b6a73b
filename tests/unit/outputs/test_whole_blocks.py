"""Blocks that go whole or not at all, and what deciding on them costs."""

import re

from admit.outputs.once import filter_output
from admit.outputs.spend import Spender


def diff(files, lines, words=lambda file, n: f"value_{file}_{n} = {n}"):
    parts = []
    for file in range(files):
        parts.append(f"diff --git a/f{file}.py b/f{file}.py\n--- a/f{file}.py\n+++ b/f{file}.py\n")
        parts.append(f"@@ -1,0 +1,{lines} @@\n" + "".join(f"+{words(file, n)}\n" for n in range(lines)))
    return "".join(parts)


def test_a_block_that_does_not_fit_is_added_up_once_not_once_for_each_of_its_lines(monkeypatch):
    looked_at = 0
    cost_of = Spender.cost_of

    def counted(self, lines):
        nonlocal looked_at
        lines = list(lines)
        looked_at += len(lines)
        return cost_of(self, lines)

    monkeypatch.setattr(Spender, "cost_of", counted)
    text = diff(3, 4_000, lambda file, n: "")
    filter_output(text, exit_code=0)
    assert looked_at <= 2 * text.count("\n")


def test_case_24_each_hunk_is_kept_whole_or_not_at_all_but_for_the_reserved_end():
    def words(file, n):
        return f"raise ValueError('failed {file}')" if n % 7 == 0 else f"name_{file}_{n}()"

    text = diff(60, 9, words)
    shown = filter_output(text, "which change raises ValueError in f31.py?", exit_code=0)
    before_the_end = shown[: shown.rindex("diff --git", 0, len(shown) - 1_000)]
    kept = re.findall(r"@@ -1,0 \+1,9 @@\n((?:\+(?!\+).*\n)*)", before_the_end)
    assert kept and {hunk.count("\n") for hunk in kept} == {9}
    alone = re.split(r"\[admit [0-9a-f]+: .*\]\n", shown)
    assert not any(part.startswith(("+name", "+raise")) for part in alone[1:-1])


def test_what_a_change_says_of_errors_is_no_failure_line():
    text = diff(40, 20, lambda file, n: f"raise RuntimeError('error {file} {n}')")
    shown = filter_output(text, "fix the error", exit_code=0)
    assert "no failure line" not in shown and "Failure lines stand in it" not in shown
