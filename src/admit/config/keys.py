"""THE key table: every setting, its default, unit, range, and who may set it.

A key that something reads stands here once; files, `admit config`, the documentation page and the defaults
of the library all come from this table.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from admit.config.evidence_keys import EVIDENCE_KEYS
from admit.config.guidance_keys import GUIDANCE_KEYS
from admit.config.judge_keys import JUDGE_KEYS, LIMIT_KEYS, PROFILE_FIELDS, PROFILE_KEYS, PROFILES
from admit.config.key import CHARS, DOORS, MODES, Key
from admit.config.tools_keys import SOURCE_KEYS, TOOLS_KEYS

__all__ = ["DOORS", "KEYS", "PROFILES", "PROFILE_FIELDS", "Key", "default", "find", "shipped"]

_MIB = 1024 * 1024
_GIB = 1024 * _MIB
# Tests, builds and checks: commands whose failing runs are long and whose words a shell hands on unchanged.
WRAPPED = (
    "make", "pytest", "python -m pytest", "python3 -m pytest", "tox", "nox", "npm test", "npm run build",
    "pnpm test", "pnpm run build", "yarn test", "yarn run build", "yarn build", "jest", "vitest", "cargo",
    "go test", "go build", "go vet", "mvn", "gradle", "tsc", "eslint", "ruff", "mypy", "docker build",
)  # fmt: skip

# One row a key reads better than one line a field.
# fmt: off
_OUTPUTS = (
    Key("outputs.mode", "enforce", "", "text", choices=MODES,
        help="Act, only compute and record, or do nothing."),
    Key("outputs.max_kept_chars", 6000, CHARS, "int", 2000, 20_000, trust="narrow", tighten="lower",
        help="The most that is kept of one output."),
    Key("outputs.max_kept_tokens", 0, "tokens", "int", 0, 1_000_000,
        help="The most that is kept of one output in estimated tokens; 0 is no such limit."),
    Key("outputs.floor_chars", 2000, CHARS, "int", 0, 1_000_000,
        help="A shorter output passes and is neither stored nor recorded."),
    Key("outputs.gate_chars", 8000, CHARS, "int", 0, 10_000_000,
        help="A shorter output is stored and compared with earlier ones, but never cut."),
    Key("outputs.tail_chars", 1000, CHARS, "int", 0, 20_000, help="The end that is always kept."),
    Key("outputs.run_share", 0.75, "share", "float", 0, 1,
        help="How much of the budget the run of lines before the last failure may take."),
    Key("outputs.run_after", 3, "lines", "int", 0, 1000, help="Lines that run goes past the last failure."),
    Key("outputs.guard_share.failure", 0.08, "share", "float", 0, 1,
        help="How much of the budget guarded lines may take when the command failed."),
    Key("outputs.guard_share.spread", 0.35, "share", "float", 0, 1,
        help="How much of the budget guarded lines may take otherwise."),
    Key("outputs.guard_context", 1, "lines", "int", 0, 100, help="Lines kept around a guarded line."),
    Key("outputs.weights.failure", (0.5, 1.0, 0.7), "", "floats", 0, 10,
        help="Weight of task words, diagnostics and rarity when the command failed."),
    Key("outputs.weights.spread", (1.0, 0.7, 0.7), "", "floats", 0, 10,
        help="Weight of task words, diagnostics and rarity otherwise."),
    Key("outputs.words.strong", (), "", "texts", help="Words that mark a failure, beside the built-in ones."),
    Key("outputs.words.weak", (), "", "texts",
        help="Words that hint at a failure, beside the built-in ones."),
    Key("outputs.words.negated", (), "", "texts", help="Words that clear a hint, beside the built-in ones."),
    Key("outputs.min_saving_chars", 1000, CHARS, "int", 0, 1_000_000,
        help="An output is replaced only where that saves as much."),
    Key("outputs.min_saving_share", 0.2, "share", "float", 0, 1,
        help="An output is replaced only where that saves this share of it."),
    Key("outputs.duplicate_min_chars", 2000, CHARS, "int", 0, 10_000_000,
        help="From this length on, an output shown before becomes one line."),
    Key("outputs.long_line", 2000, CHARS, "int", 600, 1_000_000,
        help="A longer line is cut into pieces that are chosen one by one."),
    Key("outputs.scan_chars", 4_000_000, CHARS, "int", 10_000, 1_000_000_000,
        help="Of a longer output only the ends and windows around telling words are analysed."),
    Key("outputs.skip_tools", (), "", "texts", help="Tools whose outputs pass untouched: names or globs."),
    Key("outputs.mask", False, "", "bool", trust="narrow", tighten="true",
        help="Mask credentials in the shown text."),
    Key("outputs.filter.enabled", False, "", "bool", tighten="false",
        help="Let the judge score the passages of an output that would be cut."),
    Key("outputs.filter.scope", "unparsed", "", "text", choices=("unparsed", "all"),
        help="Only outputs of no known format, or all that would be cut."),
    Key("outputs.filter.partial", "keep", "", "text", choices=("keep", "reject"),
        help="Use the answers that came when some are missing, or none of them."),
    Key("outputs.filter.fit", "lines", "", "text", choices=("lines", "chunks"),
        help="When not all that qualifies fits: choose lines inside it, or whole passages by score."),
    Key("outputs.filter.chunk_chars", 2000, CHARS, "int", 500, 8000, trust="narrow", tighten="bounds",
        help="Length of one scored passage."),
    Key("outputs.filter.min_score", None, "of 3", "float", 0, 3, trust="narrow", tighten="bounds",
        help="The least score that keeps a passage.", absent="the profile's threshold; 1.5 as published"),
    Key("outputs.filter.max_kept_chars", 6000, CHARS, "int", 2000, 20_000, trust="narrow", tighten="bounds",
        help="The most that is kept of a scored output."),
    Key("outputs.filter.timeout_ms", 4000, "ms", "int", 1, 60_000, trust="narrow", tighten="lower",
        help="The judge's deadline here; the lower of this and the profile's holds."),
    Key("outputs.recall_chars", 20_000, CHARS, "int", 1000, 1_000_000,
        help="One page of a recalled output."),
    Key("outputs.retain_days", 14, "days", "int", 1, 3650, help="How long stored outputs are kept."),
    Key("outputs.max_bytes", 2 * _GIB, "bytes", "int", _MIB, 1024 * _GIB,
        help="The most all stored outputs take."),
    Key("outputs.max_one_bytes", 64 * _MIB, "bytes", "int", 64 * 1024, _GIB,
        help="Of a larger output the first and the last half of this are stored."),
)

_LEDGER = (
    Key("ledger.enabled", True, "", "bool", help="Write the record."),
    Key("ledger.path", None, "", "text", help="The database file.", absent="ledger.db in the state folder"),
    Key("ledger.text", "off", "", "text", choices=("off", "redacted", "full"), trust="narrow", tighten="off",
        help="Store texts beside their hashes: not, redacted, or as they are."),
    Key("ledger.store_names", True, "", "bool", trust="narrow", tighten="false",
        help="Store the last part of the project's path by name."),
    Key("ledger.busy_ms", 2000, "ms", "int", 0, 60_000, help="How long a write waits for another process."),
    Key("ledger.close_wait_ms", 2000, "ms", "int", 0, 60_000,
        help="How long a command waits at its end for the record to be written."),
    Key("ledger.retain_days", 365, "days", "int", 1, 36_500, help="How long decisions are kept."),
    Key("ledger.max_bytes", 512 * _MIB, "bytes", "int", _MIB, 1024 * _GIB, help="The most the record takes."),
    Key("ledger.reply_days", 30, "days", "int", 0, 36_500,
        help="How long a judge's replies are kept for replay."),
    Key("ledger.text_days", 30, "days", "int", 0, 36_500, help="How long stored texts are kept."),
    Key("ledger.spool_max_bytes", 64 * _MIB, "bytes", "int", 64 * 1024, 64 * _GIB,
        help="The most that waits outside the database; beyond it the oldest is dropped and counted."),
)

_HOSTS = (
    Key("hosts.claude-code.enabled", True, "", "bool", help="Act in Claude Code."),
    Key("hosts.claude-code.doors", ("guidance", "outputs"), "", "texts", choices=("guidance", "outputs"),
        help="The doors that act there."),
    Key("hosts.claude-code.tools", ("Bash", "Grep", "WebFetch", "mcp__*"), "", "texts",
        help="Tools whose outputs are looked at: names or globs. Read is left out, for edits rely on it."),
    Key("hosts.wrap", "off", "", "text", choices=("off", "list"), tighten="off",
        help="Run the listed commands inside `admit run`, so that failing ones are cut too."),
    Key("hosts.wrap_commands", WRAPPED, "", "texts", trust="narrow", tighten="subset",
        help="The commands that are run so."),
    Key("hosts.inject_max_chars", 9000, "UTF-16 units", "int", 1000, 20_000,
        help="The most that is added to the context at one event; a longer text is left out whole."),
    Key("hosts.replace_max_chars", 9500, "UTF-16 units", "int", 3000, 30_000,
        help="The most that stands in place of one output, notices included; a larger "
             "outputs.max_kept_chars is lowered to fit."),
    *(
        Key(f"hosts.deadline_ms.{name}.{part}", ms, "ms", "int", 100, 60_000,
            help=f"When the {'door' if part == 'door' else 'hook client'} gives up {when}.")
        for name, when, door, client in (
            ("prompt", "at a prompt", 2300, 2600),
            ("before_tool", "before a tool", 650, 900),
            ("after_tool", "after a tool", 4400, 4800),
            ("session", "at the start or end of a session or agent", 500, 800),
        )
        for part, ms in (("door", door), ("client", client))
    ),
    Key("hosts.use_agent_words", False, "", "bool", tighten="false",
        help="Count the agent's own last sentence to the task."),
    Key("hosts.daemon.idle_s", 1800, "s", "int", 10, 604_800, help="The daemon leaves after so long alone."),
    Key("hosts.daemon.workers", 8, "threads", "int", 1, 64, help="Hooks that are served at once."),
    Key("hosts.daemon.queue", 32, "requests", "int", 1, 1000,
        help="Hooks that may wait; with more the next is answered at once: as without Admit."),
)


KEYS: Mapping[str, Key] = MappingProxyType(
    {
        key.name: key
        for table in (
            GUIDANCE_KEYS, TOOLS_KEYS, _OUTPUTS, EVIDENCE_KEYS, _LEDGER, JUDGE_KEYS, LIMIT_KEYS, _HOSTS,
            SOURCE_KEYS, PROFILE_KEYS,
        )
        for key in table
    }
)
# fmt: on

NAMED = ("judge.profiles", "tools.sources")
"""Tables of settings under names that the user gives."""


def find(name: str) -> Key | None:
    """The key of a full name, or None; a profile's or a source's own name matches `NAME`."""
    key = KEYS.get(name)
    if key is None:
        parts = name.split(".")
        if len(parts) > 3 and ".".join(parts[:2]) in NAMED and _is_own_name(parts[2]):
            return KEYS.get(".".join((*parts[:2], "NAME", *parts[3:])))
    return None if key is None or "NAME" in name else key


def _is_own_name(word: str) -> bool:
    return 0 < len(word) <= 64 and word.isascii() and word.replace("-", "").replace("_", "").isalnum()


def default(name: str) -> Any:
    """The shipped default of a key, by its full name.

    Raises:
        KeyError: There is no such key.
    """
    key = find(name)
    if key is None:
        raise KeyError(name)
    return key.default


def shipped() -> dict[str, Any]:
    """Every shipped value by full name, the profiles' included, in the order of the table."""
    values = {key.name: key.default for key in KEYS.values() if "NAME" not in key.name}
    for name, doors in PROFILES.items():
        for field, value in PROFILE_FIELDS[name].items():
            values[f"judge.profiles.{name}.{field}"] = value
        for door, cells in doors.items():
            for field, cell in zip(("max_candidates", "threshold", "timeout_ms"), cells, strict=True):
                full = f"judge.profiles.{name}.{door}.{field}"
                if find(full) is not None:
                    values[full] = cell
    return values
