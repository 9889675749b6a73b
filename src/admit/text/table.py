"""Rows of text in aligned columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(rows: Iterable[Sequence[str]], head: Sequence[str], *, right: Iterable[int] = ()) -> str:
    """Lay rows of text out in aligned columns, two spaces apart, without a final newline.

    Args:
        rows: Cells as text, as many in each row as in `head`.
        head: The columns' names.
        right: Indexes of the columns that are set flush right (numbers).
    """
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    flush_right = set(right)
    return "\n".join(
        "  ".join(
            cell.rjust(width) if i in flush_right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
