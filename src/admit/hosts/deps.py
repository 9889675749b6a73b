"""What serving hooks needs, made once a process."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable
from typing import NamedTuple

from admit.config.layers import Config, load
from admit.judges.clock import Clock, SystemClock
from admit.judges.pool import Judges
from admit.ledger.places import places
from admit.ledger.port import Ledger, OutputStore
from admit.outputs.gate import OutputGate
from admit.outputs.model import OutputConfig
from admit.outputs.settings import output_judge

from .guides import Guides
from .held import HeldLedger, as_ledger
from .projects import Projects
from .state import Sessions


class Deps(NamedTuple):
    """What a hook needs.

    Attributes:
        projects: The settings and the gate of outputs in force in a folder.
        guides: The gates of guidance.
        judges: The judges of all doors, one for each profile and its settings.
        sessions: What is known of each session.
        ledger: The record; what a hook adds waits until its answer has left.
        store: The full outputs.
        key: The install key.
        outputs_folder: Where the store keeps its files.
        admit: Absolute path of the executable; empty where there is none.
        recall_way: How an agent gets a stored output, with ``{id}``; empty where it cannot.
        clock: Of every deadline.
        floor_chars: A shorter output is of no interest anywhere.
    """

    projects: Projects
    guides: Guides
    judges: Judges
    sessions: Sessions
    ledger: Ledger
    held: HeldLedger
    store: OutputStore
    key: bytes
    outputs_folder: str
    admit: str
    recall_way: str
    clock: Clock
    floor_chars: int


def build_deps(
    config: Config,
    *,
    ledger: Ledger | None = None,
    store: OutputStore | None = None,
    key: bytes | None = None,
    clock: Clock | None = None,
    settings: Callable[[str], Config] | None = None,
    admit: str | None = None,
) -> Deps:
    """Put together what hooks need.

    Args:
        config: The settings at the start: where record and store are. What a door does is read again for
            each folder.
        ledger, store, key, clock: Others than those of this machine.
        settings: Reads the settings of a folder; None is from the files.
        admit: Path of the executable; None looks beside this interpreter.
    """
    from admit.ledger import open_ledger, open_outputs
    from admit.ledger.key import install_key

    held = HeldLedger(ledger if ledger is not None else open_ledger(config.values))
    front = as_ledger(held)
    kept = store if store is not None else open_outputs(config.values, front)
    own_key = key if key is not None else install_key(config.values)
    own_clock = clock or SystemClock()
    executable = admit_path() if admit is None else admit
    way = recall_way(executable)
    judges = Judges(own_clock)

    def make_gate(now: Config, outputs: OutputConfig) -> OutputGate:
        judge, profile = output_judge(now, judges.load) if outputs.filter.enabled else (None, None)
        return OutputGate(
            outputs,
            store=kept,
            judge=judge,
            ledger=front,
            clock=own_clock,
            key=own_key,
            profile=profile,
            recall_way=way,
        )

    return Deps(
        Projects(settings or folder_settings, make_gate, own_clock),
        Guides(judges, front, own_clock),
        judges,
        Sessions(),
        front,
        held,
        kept,
        own_key,
        places(config.values).outputs,
        executable,
        way,
        own_clock,
        config.values["outputs.floor_chars"],
    )


def folder_settings(cwd: str) -> Config:
    """The settings in force in a folder; without one no project's file counts."""
    return load(cwd) if cwd else load(project=False)


def admit_path() -> str:
    """The `admit` beside this interpreter, else the one on PATH; empty where there is none."""
    beside = os.path.join(os.path.dirname(sys.executable), "admit")
    if os.path.isabs(beside) and os.access(beside, os.X_OK):
        return beside
    found = shutil.which("admit")
    return os.path.abspath(found) if found else ""


def recall_way(executable: str) -> str:
    """How an agent calls `admit recall` in a shell of its own, with ``{id}``; empty without an executable.

    The agent's PATH need not be this process's, so the short name is only taken where a link in another
    folder than the environment's own leads to it, as installers make it in a folder of every login's PATH.
    """
    if not executable:
        return ""
    found = shutil.which("admit")
    linked = found is not None and os.path.dirname(os.path.abspath(found)) != os.path.dirname(executable)
    short = found is not None and linked and os.path.realpath(found) == os.path.realpath(executable)
    command = "admit" if short else shlex.quote(executable)
    return command.replace("{", "{{").replace("}", "}}") + " recall {id}"
