"""Editing a host's JSON settings byte for byte: only the inserted span differs from what stood there.

spans.py   a strict reader that knows where everything stands
edit.py    insert and remove by span
file.py    the file itself: mode, link, backup, rename
record.py  what was edited where, for undoing it
"""
