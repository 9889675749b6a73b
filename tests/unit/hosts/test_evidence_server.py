"""The server of one job over real standard input and output, with a real client of MCP."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from tests.unit.evidence.jobs import files, output, planned

from admit.config.layers import load as load_config
from admit.errors import BudgetExhausted, NotOffered
from admit.evidence.base import Base
from admit.evidence.job.export import export
from admit.evidence.job.finalize import finalize
from admit.evidence.job.manifest import Job
from admit.hosts.gateway.evidence_server import TOOL, answer, server
from admit.ledger.evidence import EvidenceStore, open_store

ENTRY = "import sys; from admit.cli import main; sys.exit(main())"
JOB = "e-0123456789ab"


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Base:
    for name in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    root = tmp_path / "root"
    for path, text in files(3, 2).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return Base.open(str(root), config=load_config(str(root)))


@pytest.fixture
def store(base: Base) -> EvidenceStore:
    return open_store(base.config.values, base.root)


@pytest.fixture
def job(base: Base, store: EvidenceStore, tmp_path: Path) -> Job:
    return export(base, store, planned(base), str(tmp_path / "jobs"), "agent")


def connected(base: Base, job: str, talk: Callable[[Any], Any], *more: str) -> Any:
    """Start the server by its command line, and talk to it with the library's client."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    args = ["-c", ENTRY, "evidence", "serve", "--root", base.root, *more, job]
    parameters = StdioServerParameters(command=sys.executable, args=args, env=dict(os.environ))

    async def both() -> Any:
        async with (
            stdio_client(parameters) as (incoming, outgoing),
            ClientSession(incoming, outgoing) as session,
        ):
            await session.initialize()
            return await talk(session)

    return asyncio.run(both())


def text_of(result: Any) -> str:
    return "".join(one.text for one in result.content)


def test_it_has_one_tool_that_says_it_only_reads(base: Base, job: Job) -> None:
    async def talk(session: Any) -> Any:
        return (await session.list_tools()).tools

    (tool,) = connected(base, job.id, talk)
    assert tool.name == TOOL and tool.annotations.read_only_hint is True
    assert set(tool.input_schema["properties"]) == {"job", "id"}


def test_it_serves_and_counts_and_refuses_as_an_error_that_names_what_is_unread(
    base: Base, store: EvidenceStore, job: Job
) -> None:
    async def talk(session: Any) -> list[Any]:
        calls = [
            ("a3", job.id),
            ("a1", job.id),
            ("a3", job.id),
            ("a2", job.id),
            ("../n.md", job.id),
            ("a1", JOB),
        ]
        return [await session.call_tool(TOOL, {"job": named, "id": id}) for id, named in calls]

    third, first, again, over, path, other = connected(base, job.id, talk)
    assert [one.is_error for one in (third, first, again)] == [False, False, False]
    assert text_of(third) == text_of(again) == "# T3\n\nThe text of 3.\n"
    assert over.is_error and 'Not read: a2 "kb/t2.md"' in text_of(over)
    assert path.is_error and "does not offer" in text_of(path)
    assert other.is_error and f"of the job {job.id} alone" in text_of(other)
    rows = store.reads(job.id, 1)
    assert [(row.id, row.refused, row.via) for row in rows] == [
        ("a3", None, "mcp"),
        ("a1", None, "mcp"),
        ("a2", "budget", "mcp"),
    ]
    review = finalize(base, store, job.id, output(job, ("- FAIL [b2 a1] x",), "FAIL"))
    assert (review.verdict, review.stored) == ("FAIL", True)


def test_it_masks_credentials_where_they_leave_the_machine(
    base: Base, store: EvidenceStore, tmp_path: Path
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (tmp_path / "root/kb/t1.md").write_text(f"# T1\n\ntoken = {secret}\n")
    job = export(base, store, planned(base), str(tmp_path / "jobs"), "agent")

    async def talk(session: Any) -> Any:
        return await session.call_tool(TOOL, {"job": job.id, "id": "a1"})

    assert secret not in text_of(connected(base, job.id, talk, "--masked"))
    assert secret in text_of(connected(base, job.id, talk))


def test_a_job_that_there_is_not_is_not_served(base: Base, store: EvidenceStore) -> None:
    with pytest.raises(Exception):  # noqa: B017 - the server ends before it answers the handshake
        connected(base, JOB, lambda session: session.list_tools())


@contextmanager
def refusing(error: Exception) -> Iterator[Callable[[str], str]]:
    def open_one(id: str) -> str:
        raise error

    yield open_one


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"job": JOB},
        {"id": "a1"},
        {"job": JOB, "id": 1},
        {"job": None, "id": "a1"},
        {"job": JOB, "id": "a1", "x": 1},
    ],
)
def test_other_arguments_open_nothing(arguments: dict[str, Any]) -> None:
    with refusing(AssertionError("opened")) as open_one:
        text, failed = answer(JOB, open_one, TOOL, arguments)
    assert failed and '"id": "a1"' in text


def test_another_tool_is_an_error() -> None:
    with refusing(AssertionError("opened")) as open_one:
        assert answer(JOB, open_one, "Read", {"job": JOB, "id": "a1"})[1]


@pytest.mark.parametrize("error", [BudgetExhausted("full"), NotOffered("no")])
def test_a_refusal_is_told_in_its_own_words(error: Exception) -> None:
    with refusing(error) as open_one:
        assert answer(JOB, open_one, TOOL, {"job": JOB, "id": "a1"}) == (str(error), True)


def test_a_server_is_made_without_a_job_being_opened() -> None:
    with refusing(AssertionError("opened")) as open_one:
        assert server(JOB, open_one).name == "admit-evidence"


def test_the_commands_open_and_end_a_job(base: Base, job: Job, capsys: pytest.CaptureFixture[str]) -> None:
    from admit.cli.frame import run
    from admit.ledger import open_ledger

    at = ["--root", base.root]
    assert run(["evidence", "open", *at, job.id, "a1"]) == 0
    assert capsys.readouterr().out == "# T1\n\nThe text of 1.\n"
    assert run(["evidence", "open", *at, job.id, "a2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["slots_used"], told["cap"], told["unit"]) == (2, 2, "distinct-v1")
    assert run(["evidence", "open", *at, job.id, "a3"]) == 1
    assert 'Not read: a3 "kb/t3.md"' in capsys.readouterr().err
    assert run(["evidence", "finalize", *at, job.id]) == 2
    assert "is not there yet" in capsys.readouterr().err
    (Path(job.folder) / "output.md").write_text(output(job, ("- FAIL [b2 a1] x",), "FAIL"))
    for _ in range(2):
        assert run(["evidence", "finalize", *at, job.id, "--json"]) == 1
        (pair,) = json.loads(capsys.readouterr().out)["pairs"]
        assert (pair["verdict"], pair["stored"], pair["coverage"]["stop"]) == ("FAIL", True, "budget")
    assert run(["evidence", "finalize", *at, job.id]) == 1
    assert "FAIL on 2 of 3 artifacts; not read: a3 kb/t3.md (b4)" in capsys.readouterr().out
    assert run(["evidence", "open", *at, "e-000000000000", "a1"]) == 2
    kept = [view.decision.door for view in open_ledger(base.config.values, readonly=True).query()]
    assert kept == ["evidence"]
