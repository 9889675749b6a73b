"""A coding agent that reviews without anybody at the keyboard: the job of an export, with enforced reads.

The agent gets the prompt and one tool, `evidence_open`; a version that shows a file by tools of its own is
refused before it is told anything. Nothing of the user's settings reaches it, and it ends in time, with all
that it started.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from admit.config.layers import user_file
from admit.config.places import private_folder, state_dir
from admit.config.private import write_private
from admit.errors import UsageError
from admit.evidence.base import Base
from admit.evidence.job.export import PROMPT
from admit.evidence.job.finalize import finalize
from admit.evidence.job.manifest import Job, load
from admit.evidence.model import Review
from admit.evidence.partition import partition
from admit.hosts.gateway.evidence_server import TOOL
from admit.hosts.reviewer_agents import AGENTS, SERVER, Agent, Run, offered
from admit.judges.consent import Consent
from admit.judges.redact import Redactor
from admit.ledger import open_ledger
from admit.ledger.evidence import EvidenceStore

TIMEOUT, EXIT = "agent-timeout", "agent-exit"
PROBE_S = 120
MOST_BYTES = 8 << 20
"""Of what an agent prints; the rest is not read."""

_ENTRY = "import sys; from admit.cli import main; sys.exit(main())"


def jobs_folder() -> str:
    """Where the jobs of such agents lie, in the state folder."""
    return os.path.join(private_folder(os.path.join(state_dir(), "evidence")), "jobs")


class Reviewer:
    """An agent that may review: consent was given, and its program is there. Threads may share it.

    Args:
        name: ``claude`` or ``codex``.
        model: By the agent's own name for it; None is the agent's choice.
        client: Path of its executable; None looks for it.
        consent: Where consents are kept; None is the user's own.

    Raises:
        UsageError: There is no such agent, it is not installed, or nothing may be sent to it.
    """

    def __init__(
        self,
        name: str,
        base: Base,
        *,
        model: str | None = None,
        client: str | None = None,
        consent: Consent | None = None,
    ) -> None:
        if name not in AGENTS:
            raise UsageError(f"there is no agent {name!r}; there are: {', '.join(AGENTS)}")
        self.agent: Agent = AGENTS[name]
        if not (consent or Consent()).allows(self.agent.destination, "evidence"):
            where = self.agent.destination
            raise UsageError(
                f"nothing may be sent to {name} yet; to allow it: admit consent grant {where} --door evidence"
            )
        found = client or shutil.which(self.agent.program)
        if found is None:
            raise UsageError(f"{self.agent.program} is not installed here; install it, or use --export DIR")
        self._client = found
        self._base = base
        self._model = model
        self._redactor = Redactor(base.config.values["judge.redact_patterns"])
        self._probing = threading.Lock()
        self._is_sound = False

    def review(self, store: EvidenceStore, job: str) -> Review:
        """Let the agent do a job to its end, at most `evidence.agent_timeout_s`, and finalize it.

        Raises:
            UsageError: This version of the agent is refused.
            JobError: There is no such job.
            LedgerError: The store cannot be read.
            OSError: The agent cannot be started, or a folder not be written.
        """
        held = load(store, job)
        self._probe(held)
        with self._run(held) as run:
            prompt = self._prompt(held)
            code, out = _ran(self.agent, run, prompt, self._base.settings.agent_timeout_s)
            said = self.agent.said(run, out) if code == 0 else None
        if said is None:
            return self._ended(store, job, None, None, TIMEOUT if code is None else EXIT)
        write_private(held.output, said.text.encode("utf-8", "replace"))
        # A name that the user gave may be another word for the model that it led to.
        known = said.model is not None and held.row.partition in (partition(None), partition(said.model))
        return self._ended(store, job, said.text, said.model if known else None, None)

    def _ended(
        self, store: EvidenceStore, job: str, text: str | None, model: str | None, fault: str | None
    ) -> Review:
        values = self._base.config.values
        ledger = open_ledger(values)
        review = finalize(self._base, store, job, text, model=model, fault=fault, ledger=ledger)
        ledger.flush(values["ledger.close_wait_ms"])
        return review

    def _probe(self, job: Job) -> None:
        """Try once whether this version shows the model a file that it was not given.

        Raises:
            UsageError: It does, offers other tools, or does not take ours.
        """
        with self._probing:
            if not self._is_sound:
                problem = self._problem(job)
                if problem:
                    raise UsageError(
                        f"{self.agent.name} ({self._version()}) is refused as a reviewer: {problem}; "
                        "use another version, a judge, or --export DIR"
                    )
                self._is_sound = True

    def _problem(self, job: Job) -> str:
        nonce, id = secrets.token_hex(8), f"probe-{secrets.token_hex(4)}"
        with self._run(job) as run:
            path = os.path.join(run.home, "work", "probe.txt")
            with open(path, "w", encoding="ascii") as file:
                file.write(f"{nonce}\n")
            with self.agent.fake(path, job.id, id) as fake:
                code, _ = _ran(self.agent, run._replace(url=fake.url), "Open it.", PROBE_S)
                requests = list(fake.requests)
        told = json.dumps(requests).replace("\\", "")
        if nonce in told:
            return "it reads files by tools of its own"
        known = self.agent.harmless | {TOOL, f"mcp__{SERVER}", f"mcp__{SERVER}__{TOOL}"}
        if more := sorted(offered(requests) - known):
            return f"it offers other tools ({', '.join(more[:5])})"
        # The answer of our server to an id that the job does not have; it takes no slot.
        if code != 0 or f"does not offer '{id}'" not in told:
            return f"it did not use the tool {TOOL}"
        return ""

    def _version(self) -> str:
        with suppress(OSError, subprocess.SubprocessError), tempfile.TemporaryDirectory() as home:
            env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": home}
            done = subprocess.run([self._client, "--version"], capture_output=True, env=env, timeout=30)
            return done.stdout.decode("utf-8", "replace").strip()[:60] or "unknown version"
        return "unknown version"

    def _prompt(self, job: Job) -> str:
        with open(os.path.join(job.folder, PROMPT), encoding="utf-8") as file:
            return self._redactor.redact(file.read()).text

    @contextmanager
    def _run(self, job: Job) -> Iterator[Run]:
        with tempfile.TemporaryDirectory(prefix="admit-", ignore_cleanup_errors=True) as home:
            for name in ("work", "config", "tmp"):
                os.mkdir(os.path.join(home, name), 0o700)
            serve = ["evidence", "serve", "--masked", "--root", self._base.root, job.id]
            server = (os.path.abspath(sys.executable), "-c", _ENTRY, *serve)
            yield Run(self._client, home, server, _own_variables(), self._model)


def _own_variables() -> dict[str, str]:
    """What the server needs to find this user's settings and ledger, whatever home the agent has."""
    names = [name for name in os.environ if name in ("HOME", "PATH", "LANG") or name.startswith("XDG_")]
    found = {name: os.environ[name] for name in names}
    path, named = user_file()
    return found | ({"ADMIT_CONFIG": path} if named else {})


def _environment(agent: Agent, run: Run) -> dict[str, str]:
    passed: Mapping[str, str] = {name: os.environ[name] for name in agent.passes if name in os.environ}
    return {
        **({} if run.url else passed),
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": run.home,
        "TMPDIR": os.path.join(run.home, "tmp"),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        **agent.environment(run),
    }


def _ran(agent: Agent, run: Run, prompt: str, timeout_s: float) -> tuple[int | None, str]:
    """Start the agent, and give its exit code and what it printed; None where it did not end in time.

    Then it is killed, as whatever it left running in its process group is in any case.
    """
    path = os.path.join(run.home, "out")
    with open(path, "wb") as out, tempfile.TemporaryFile() as given:
        given.write(prompt.encode("utf-8", "replace"))
        given.seek(0)
        process = subprocess.Popen(
            agent.command(run),
            cwd=os.path.join(run.home, "work"),
            env=_environment(agent, run),
            stdin=given,
            stdout=out,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        code: int | None = None
        try:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(timeout_s)
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    with open(path, "rb") as file:
        return code, file.read(MOST_BYTES).decode("utf-8", "replace")
