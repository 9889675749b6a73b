"""What the pages have in common: one document without a script, escaped text, tables that scroll."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from .layout import visible

POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def document(title: str, body: Iterable[str]) -> str:
    """The page as text, ending in a newline; the same body gives the same bytes."""
    from importlib.resources import files

    style = files("admit.report").joinpath("page.css").read_text(encoding="utf-8")
    inner = "\n".join(body)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n{inner}\n</body>\n</html>\n"
    )


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Sequence[int] | None = None,
    code: Sequence[int] = (),
) -> str:
    """A table; all columns but the first are numbers unless `numbers` says which."""
    right = set(range(1, len(head)) if numbers is None else numbers)

    def cell(tag: str, place: int, value: str) -> str:
        inner = f"<code>{text(value)}</code>" if place in code and tag == "td" else text(value)
        number = ' class="n"' if place in right else ""
        return f"<{tag}{number}>{inner}</{tag}>"

    def line(tag: str, cells: Sequence[str]) -> str:
        return f"<tr>{''.join(cell(tag, place, value) for place, value in enumerate(cells))}</tr>"

    body = "".join(line("td", row) for row in rows)
    return wide(f"<table><thead>{line('th', head)}</thead><tbody>{body}</tbody></table>")


def wide(inner: str) -> str:
    """What is wider than a phone scrolls by itself."""
    return f'<div class="wide">{inner}</div>'


def text(value: str) -> str:
    """Text escaped, and characters that do not show themselves as their escapes."""
    return escape(visible(value))


def cards(values: Iterable[tuple[str, str]]) -> str:
    """Figures in large type, each with its words."""
    items = "".join(
        f'<div class="card"><b>{text(value)}</b><span>{text(words)}</span></div>' for value, words in values
    )
    return f'<div class="cards">{items}</div>'
