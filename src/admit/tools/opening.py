"""A gate put together from this user's files and settings: catalog, pins, budget, history, judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from admit.config.layers import Config, section
from admit.judges.door import DoorJudge, Load, door_judge, own_judge

from .catalog import Catalog
from .catalog_file import catalog_path
from .filters import Globs
from .gate import ToolGate
from .history import History
from .index import Share
from .model import Route
from .policy import ToolPolicy, tool_policy
from .schema import Bounds
from .servers import Servers
from .servers import load as load_servers
from .weights import FIELD_WEIGHTS, Weights

if TYPE_CHECKING:
    from admit.ledger.port import Ledger


def open_gate(
    config: Config,
    *,
    catalog: Catalog | None = None,
    servers: Servers | None = None,
    ledger: Ledger | None = None,
    judge: DoorJudge | str = "off",
    policy: ToolPolicy | None = None,
    authorised: Callable[[Any, Route], bool] | None = None,
    ready: Callable[[Route], bool] | None = None,
) -> ToolGate:
    """The gate of the settings in force.

    Args:
        catalog: None is the user's own.
        servers: The configured MCP servers, for what of each may be used; None reads their files.
        ledger: For the record, and for earlier uses where `tools.history` is on.
        judge: Who is asked at the depth ``judge``, as `judge_of` gives it; a text asks nobody.
        policy: In place of that of the settings; the judge's caps are put into either.
        authorised, ready: See `ToolGate`.

    Raises:
        ConfigError: The catalog's file cannot be used, or a setting of this door.
        UsageError: A value of the policy cannot be.
    """
    chosen = policy if policy is not None else tool_policy(section(config.values, "tools"))
    found = judge if isinstance(judge, DoorJudge) else None
    return ToolGate(
        catalog if catalog is not None else own_catalog(config),
        policy=chosen if found is None else asking(chosen, found),
        judge=None if found is None else found.judge,
        history=history_of(config, ledger),
        ledger=ledger,
        authorised=authorised,
        ready=ready,
        globs=globs_of(config, servers if servers is not None else load_servers()),
        weights=weights_of(config),
        judge_name="" if found is None else found.profile.name,
        profile_hash="" if found is None else found.profile_hash,
    )


def own_catalog(config: Config) -> Catalog:
    """The user's catalog, read within the bounds of the settings; an empty one where there is none.

    Raises:
        ConfigError: Its file cannot be used.
    """
    return Catalog.load(catalog_path(), bounds=bounds_of(config))


def judge_of(config: Config, load: Load = own_judge) -> DoorJudge | str:
    """Who is asked at this door, or why nobody is: ``config``, ``off`` or ``unsupported``."""
    if config.values["tools.mode"] == "off":
        return "off"
    found = door_judge(config, "tools", load)
    if isinstance(found, DoorJudge) and found.cell.max_candidates is None:
        return "unsupported"
    return found


def asking(policy: ToolPolicy, judge: DoorJudge) -> ToolPolicy:
    """The policy with what the judge's profile says of this door."""
    threshold = policy.threshold if judge.threshold is None else judge.threshold
    return policy._replace(
        max_candidates=judge.cell.max_candidates or policy.max_candidates,
        threshold=threshold,
        timeout_ms=judge.cell.timeout_ms,
    )


def history_of(config: Config, ledger: Ledger | None) -> History | None:
    """Earlier successful uses; None where they are turned off, or there is no record.

    A record that cannot be read costs the history alone.
    """
    values = section(config.values, "tools")
    if ledger is None or not values["history"]:
        return None
    history = History(
        lambda stem: ledger.keyed((stem,))[0],
        examples=values["history_examples"],
        least=values["history_min"],
        weight=values["history_weight"],
    )
    try:
        history.load((use.route_id, use.stems) for use in ledger.tool_uses() if use.ok)
    except Exception:
        return None
    return history


def weights_of(config: Config) -> Weights:
    """The numbers of the order; what is no setting keeps its default."""
    values = section(config.values, "tools")
    keys = {
        **{name: name for name in ("k1", "b")},
        **{name: f"variant.{name}" for name in ("stem", "family", "verb")},
        "whole_name": "signal.whole_name",
    }
    numbers = {name: values[key] for name, key in keys.items() if name in Weights._fields and key in values}
    return Weights(
        **numbers,
        fields={name: values[f"field_weights.{name}"] for name in FIELD_WEIGHTS},
        share=Share(values["shared_prefix_share"], values["shared_prefix_min"]),
    )


def bounds_of(config: Config) -> Bounds:
    """How large a tool may be."""
    values = section(config.values, "tools")
    return Bounds(values["schema_max_bytes"], values["schema_max_depth"], values["schema_max_properties"])


def globs_of(config: Config, servers: Servers) -> Mapping[str, Globs]:
    """What of each source may be used, by the settings or by a server's `admit` object."""
    found: dict[str, Globs] = {}
    for name in source_names(config):
        own = section(config.values, f"tools.sources.{name}")
        found[name] = Globs(tuple(own.get("allow", ("*",))), tuple(own.get("deny", ())))
    for server in servers.servers:
        allow = _globs(server.own.get("allow", ("*",)), broken=())
        deny = _globs(server.own.get("deny", ()), broken=("*",))
        found[server.name] = Globs(allow, deny, server.disabled)
    return found


def source_names(config: Config) -> tuple[str, ...]:
    """The sources of the settings, in their order; MCP servers are none of them."""
    start = "tools.sources."
    names = (name[len(start) :].partition(".")[0] for name in config.values if name.startswith(start))
    return tuple(dict.fromkeys(names))


def _globs(value: Any, *, broken: tuple[str, ...]) -> tuple[str, ...]:
    """A list of globs as others may have written it; one that cannot be read lets nothing through."""
    words = (value,) if isinstance(value, str) else value
    if isinstance(words, (list, tuple)) and all(isinstance(one, str) for one in words):
        return tuple(words)
    return broken
