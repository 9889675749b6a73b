"""Which keys a plan has, and what each takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from admit.core.depth import DEEPEST

Check = Callable[[Any], bool]


def text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def whole(least: int) -> Check:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least


def _share(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _chance(value: Any) -> bool:
    return _share(value) and 0 < value < 1


def _texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(text, value)) and len(set(value)) == len(value)


def _hash(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("sha256:") and len(value) == 71


def _policies(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, (str, dict)) for one in value)


def _tables(*keys: str) -> Check:
    def check(value: Any) -> bool:
        return isinstance(value, list) and all(
            isinstance(one, dict) and set(one) == set(keys) and all(map(text, one.values())) for one in value
        )

    return check


def _sizes(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(map(whole(DEEPEST), value))
        and value == sorted(set(value))
    )


def _roles(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and "dev" in value
        and set(value) <= {"dev", "confirm"}
        and all(isinstance(one, dict) and isinstance(one.get("path"), str) for one in value.values())
    )


KEYS: Mapping[str, tuple[Check, str]] = MappingProxyType(
    {
        "schema": (lambda value: value == 1, "must be 1"),
        "name": (text, "takes a text"),
        "door": (lambda value: value == "tools", 'must be "tools" or "evidence"'),
        "question": (text, "takes a text"),
        "claim_boundary": (text, "takes a text: what the result says, and what not"),
        "seed": (whole(0), "takes a whole number"),
        "draws": (whole(1000), "takes a whole number from 1,000"),
        "repeat_share": (_share, "takes a share from 0 to 1"),
        "pad": (lambda value: isinstance(value, bool), "takes true or false"),
        "controls": (lambda value: _policies(value) and bool(value), "takes a list of published controls"),
        "candidates": (
            lambda value: _policies(value) and bool(value),
            "takes a list of published candidates",
        ),
        "refused": (_texts, 'takes a list, ["learned", "absolute-threshold"]'),
        "outside": (_policies, "takes a list, which may be empty"),
        "depends_on": (_tables("run", "result"), "takes a list of {run, result}"),
        "forbidden_surfaces": (
            lambda value: isinstance(value, list) and all(map(_hash, value)),
            "takes a list of sha256: hashes",
        ),
        "arms_close_before": (lambda value: value == "" or _hash(value), "takes a sha256: hash, or nothing"),
        "arms": (_tables("policy", "plan"), "takes a list of {policy, plan}"),
        "overlap_max": (whole(0), "takes a whole number"),
        "surfaces": (_roles, "takes [surfaces.dev], and may take [surfaces.confirm], with a path each"),
        "surface.tasks": (whole(1), "takes a whole number from 1"),
        "surface.per_cell": (whole(1), "takes a whole number from 1"),
        "surface.catalog_sizes": (_sizes, "takes a rising list of sizes, none below 10"),
        "surface.languages": (_texts, "takes a list of names, none twice"),
        "surface.strata": (_texts, "takes a list of names, none twice"),
        "eligible": (lambda value: isinstance(value, dict) and bool(value), "takes at least one bar"),
        "select.order": (_texts, "takes a list of metrics that ends in id"),
        "promote": (lambda value: isinstance(value, dict) and bool(value), "takes at least one bar"),
        "power.discordant_share": (_chance, "takes a share between 0 and 1"),
        "power.chance": (_chance, "takes a share between 0 and 1"),
        "power.waiver": (lambda value: isinstance(value, str), "takes a text, or nothing"),
    }
)
_SECTIONS = frozenset(key.partition(".")[0] for key in KEYS)


def key_faults(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Keys that are missing, wrong or unknown, each with a sentence that begins with it."""
    for key, (check, takes) in KEYS.items():
        section, _, name = key.partition(".")
        held = values.get(section)
        inner = held.get(name) if name and isinstance(held, dict) else held
        if inner is None or (name and not isinstance(held, dict)):
            yield key, f"{key}: is missing; it {takes}"
        elif not check(inner):
            yield key, f"{key}: {takes}"
    for section, held in values.items():
        if section not in _SECTIONS:
            yield section, f"{section}: there is no such key"
        elif isinstance(held, dict) and section in ("surface", "select", "power"):
            yield from (
                (f"{section}.{name}", f"{section}.{name}: there is no such key")
                for name in held
                if f"{section}.{name}" not in KEYS
            )
