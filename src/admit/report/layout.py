"""Text for people: aligned columns, short numbers, and other people's text made safe to print."""

from __future__ import annotations

from .stats import LEAST_CLUSTERS, Estimate

# What a terminal or a browser does not show, or shows elsewhere: formats (bidi, zero width, tags), controls,
# surrogates, private use, unassigned. `str.isprintable` is False for all of them, and for spaces of any kind.
_SHOWN = frozenset(" \t\n\u3000")


def visible(text: str) -> str:
    """Text with every character that does not show itself written as its escape; tabs and line ends stay."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in _SHOWN else _escape(one) for one in text)


def one_line(text: str, most: int) -> str:
    """A text on one line of at most `most` characters, whitespace collapsed, the cut marked with ``…``."""
    flat = visible(" ".join(text[: most * 8].split()))
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"


def percent(estimate: Estimate) -> str:
    """A share with its interval: ``72 % (57 to 83)``."""
    return _with_interval(estimate, "%", signed=False)


def points(estimate: Estimate) -> str:
    """A difference of shares with its interval: ``+21 points (8 to 33)``."""
    return _with_interval(estimate, "points", signed=True)


def share(part: float, whole: float) -> str:
    """A share as a whole percentage; ``-`` of nothing."""
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _with_interval(estimate: Estimate, unit: str, *, signed: bool) -> str:
    if estimate.value is None:
        return "-"
    value = f"{100 * estimate.value:+.0f}" if signed else f"{100 * estimate.value:.0f}"
    if estimate.low is None or estimate.high is None:
        return f"{value} {unit} (no interval: under {LEAST_CLUSTERS} sessions)"
    return f"{value} {unit} ({100 * estimate.low:.0f} to {100 * estimate.high:.0f})"


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
