"""Where links lead, and whether the place they name is there."""

from __future__ import annotations

from collections.abc import Iterator

from admit.config.check import nearest
from admit.evidence.anchors import anchor_ok
from admit.evidence.checks.page import Page
from admit.evidence.model import Finding
from admit.evidence.note import Link

RULES = (
    "dangling", "dangling-wiki", "ambiguous", "outside", "malformed", "directory", "non-text", "bad-anchor",
    "unavailable",
)  # fmt: skip

_WORDS = {
    "broken-symlink": "it is a symbolic link to nothing",
    "symlink-loop": "its symbolic links go in a circle",
    "special-file": "it is a pipe, socket or device",
    "too-large": "it is over evidence.max_artifact_bytes",
    "unreadable": "it may not be read",
    "case": "its name is spelled with other capitals",
    "empty": "its target is empty",
}

_MOST_ANCHORS = 200  # that are looked at for the one that was meant


def check(page: Page) -> Iterator[Finding]:
    """One finding for a link that leads nowhere or elsewhere, or to a place that its target lacks."""
    for link in page.links:
        reason = _WORDS.get(link.reason, link.reason)
        because = f": {reason}" if reason else ""
        match link.kind:
            case "missing":
                rule = "dangling-wiki" if link.via in ("wiki", "embed") else "dangling"
                fix = f"did you mean {link.hint}?" if link.hint else "correct the link, or write the file"
                yield page.of_link(rule, link, f"{link.dest} is not there{because}", fix=fix)
            case "ambiguous":
                fix = "name one by its path"
                yield page.of_link("ambiguous", link, f"{link.dest} is several files: {link.hint}", fix=fix)
            case "outside":
                yield page.of_link(
                    "outside", link, f"{link.dest} leaves the root", fix="copy the file into it"
                )
            case "malformed":
                yield page.of_link("malformed", link, f"{link.dest!r} is no path or address{because}")
            case "directory":
                fix = f"link {link.hint}" if link.hint else "link a file in it"
                yield page.of_link("directory", link, f"{link.dest} is a folder", fix=fix)
            case "non-text" if link.via not in ("image", "embed"):
                yield page.of_link("non-text", link, f"{link.dest} is no text{because}")
            case "artifact" if link.reason:
                yield page.of_link("unavailable", link, f"{link.dest} cannot be read{because}")
            case "artifact" | "self" | "anchor":
                yield from _anchor(page, link)
            case _:
                pass


def _anchor(page: Page, link: Link) -> Iterator[Finding]:
    if link.fragment and anchor_ok(page.base, link) is False:
        where = link.target if link.kind == "artifact" else "this note"
        text = f"{where} has no place #{link.fragment}"
        yield page.of_link("bad-anchor", link, text, fix=_near(page, link))


def _near(page: Page, link: Link) -> str:
    known = sorted(page.base.anchors(link.target))
    name = nearest(link.fragment or "", known[:_MOST_ANCHORS])
    return f"did you mean #{name}?" if name else ""
