"""The documentation page of every key, made from the key table.

Print it with `python -m admit.config.page`; `docs/configuration.md` is its output.
"""

# ruff: noqa: E501 (a row of a Markdown table is one line)

from __future__ import annotations

from admit.config.check import range_of, shown
from admit.config.keys import KEYS, PROFILES, Key

_HEAD = """\
# Configuration

<!-- Made from the key table by `python -m admit.config.page`; change src/admit/config/keys.py and its neighbours instead. -->

Everything works without a configuration file. Where you want something else, set it:

```
admit config set outputs.max_kept_chars 8000
admit config explain outputs.max_kept_chars
```

## Files

| layer, each over the one before | where |
|---|---|
| shipped | the tables below |
| user | `~/.config/admit/admit.toml`, mode 0600; another by `ADMIT_CONFIG` or `admit --config FILE` |
| project | `.admit.toml` in the nearest folder above the working folder that holds `.git` or the file itself |
| command line | the options of a command |

The files are TOML. `XDG_CONFIG_HOME`, `XDG_STATE_HOME` and `XDG_CACHE_HOME` move the folders. No environment
variable sets a key. `ADMIT_OFF=1` pauses everything now, as `admit pause` does until `admit resume`.

## Who may set what

A project's file comes with the code you clone, so it may tighten, never loosen or enable:

| trust | your own file | a project's file |
|---|---|---|
| `user` | yes | refused, and shown by `admit doctor` |
| `narrow` | yes | only in the direction that the key names |
| `project` | yes | yes, within the key's range |

A project's file that belongs to another user, or that is a link out of the project, is left out.

## What is wrong is dropped, and shown

| what | then |
|---|---|
| a file that does not parse, is larger than 64 KiB, is not UTF-8, or belongs to another user | the file is left out; where it is your own, no judge is asked and nothing is sent |
| your own file, where others can write it | the same |
| an unknown key, or a value out of its range | that key is dropped, the rest holds |
| a `mode` that cannot be read, or a key that looks like a misspelt `mode` | that door asks no judge |
| a file that was good and is broken by an edit | its last good values stay in force in a running process; where it is your own, no judge is asked until it is mended |

`admit config check` prints each with file and line, and ends with 1; `admit doctor` shows them too. In the
library a bad override raises `ConfigError`, whose `key` names it.

## Commands

| command | does |
|---|---|
| `admit config show [--origin]` | every value in force, its unit, and the file and line it came from |
| `admit config explain KEY` | what it does, default, range, trust, since when |
| `admit config set KEY VALUE` | sets it in your file; comments stay; asks before loosening |
| `admit config check` | both files |
| `admit config path` | where everything is |
| `admit pause [--minutes N]`, `admit resume` | everything passes as without Admit, for a while |

Every command completes in your shell: `eval "$(admit completion bash)"` in `~/.bashrc`, the same with `zsh` in
`~/.zshrc`, or `admit completion fish > ~/.config/fish/completions/admit.fish`.
"""

_SECTIONS = (
    ("guidance", "Stored guidance, and when it is offered."),
    ("guidance.lanes", "What it is matched against, beside prompts."),
    ("guidance.gate", "The judge's part in it."),
    ("guidance.matcher", "Matching by meaning."),
    ("tools", "Which tools a request is shown."),
    ("tools.field_weights", "What a word of the request counts for, by where it stands."),
    ("tools.signal", "What is added to a tool's score once."),
    ("tools.variant", "What a word counts for that is not the very one."),
    ("tools.sources.NAME", "A source of tools other than an MCP server; `NAME` is its own."),
    ("outputs", "What one large tool output may put into the context."),
    ("outputs.filter", "The judge's part in it; off by default."),
    ("evidence", "Grounding reviews: what is read of what a document links to."),
    ("evidence.severity", "What each rule that needs no judge is worth."),
    ("ledger", "The written record."),
    ("judge", "Who answers."),
    ("judge.local", "The local judge."),
    (
        "limits",
        "What judges may take that are asked by a message, also on this machine; the local judge has no limit.",
    ),
    ("hosts", "Where agents live: what hooks may do, and how long they take."),
    ("hosts.claude-code", "Claude Code alone."),
    ("judge.profiles.NAME", "Who answers, and what is asked of each door; `NAME` is the profile's name."),
)

_TIGHTEN = {
    "lower": "a project may lower it",
    "bounds": "a project may set it within the range",
    "subset": "a project may leave entries out",
    "adds": "a project may add entries",
    "stricter": "a project may make it stricter",
    "true": "a project may set it to `true`",
    "false": "a project may set it to `false`",
}


def trust_of(key: Key) -> str:
    """Who may set a key, in words."""
    if key.trust == "narrow":
        words = _TIGHTEN.get(key.tighten, f"a project may set it to `{key.tighten}`")
        return words + (f", unless {key.unless[0]} is `{key.unless[1]}`" if key.unless else "")
    return "you alone" if key.trust == "user" else "you, or a project"


def default_of(key: Key) -> str:
    """The shipped default of a key, in words."""
    return shown(key.default) if key.default is not None else key.absent


def page() -> str:
    """The whole page, in Markdown."""
    parts = [_HEAD]
    for section, about in _SECTIONS:
        keys = [key for key in KEYS.values() if _section_of(key) == section]
        parts.append(f"\n## `[{section}]`\n\n{about}\n")
        parts.append("\n| key | default | unit | range | trust | what it does |\n|---|---|---|---|---|---|\n")
        parts += [_row(key, section) for key in keys]
    parts.append(
        "\n## Shipped profiles\n\nThe threshold of the `local` profile is that of its calibration. "
        "Where another has none, its answers are recorded and do not act until one is set.\n"
    )
    parts.append("\n| profile | door | max_candidates | threshold | timeout_ms |\n|---|---|---|---|---|\n")
    for name, doors in PROFILES.items():
        for door, (most, threshold, timeout) in doors.items():
            unset = "calibrated" if name == "local" else "–" if most is None else "not set"
            cells = ("–" if most is None else shown(most), unset if threshold is None else shown(threshold))
            parts.append(f"| `{name}` | {door} | {' | '.join(cells)} | {shown(timeout)} |\n")
    return "".join(parts)


def _section_of(key: Key) -> str:
    return max((s for s, _ in _SECTIONS if key.name.startswith(s + ".")), key=len)


def _row(key: Key, section: str) -> str:
    name = key.name[len(section) + 1 :]
    default = default_of(key) if key.default is None else f"`{default_of(key)}`"
    cells = (f"`{name}`", default, key.unit, range_of(key), f"{key.trust}: {trust_of(key)}", key.help)
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    print(page(), end="")
