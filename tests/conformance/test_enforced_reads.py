"""Enforced reads: whatever an agent does, no more is opened than the budget of the criterion holds."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from admit.config.layers import load as load_config
from admit.errors import BudgetExhausted, NotOffered
from admit.evidence.base import Base
from admit.evidence.job.export import export
from admit.evidence.job.finalize import finalize
from admit.evidence.job.opening import open_offer, slots_used
from admit.ledger.evidence import EvidenceStore
from tests.unit.evidence.jobs import files, output, planned

OFFERS, CAP = 21, 16
SCRIPTS, BATCH = 100, 50  # the benchmark runs a thousand

OPENER = """
import json, sys
from admit.errors import AdmitError
from admit.evidence.base import Base
from admit.evidence.job.opening import open_offer
from admit.ledger.evidence import EvidenceStore

root, database, job, ids = sys.argv[1:]
base, store = Base.open(root), EvidenceStore(database, base="here", busy_ms=20000)
print("ready", flush=True)
sys.stdin.readline()
served = []
for id in json.loads(ids):
    try:
        open_offer(base, store, job, id)
        served.append(id)
    except AdmitError:
        pass
print(json.dumps(served))
"""


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Base:
    return made(tmp_path, monkeypatch, OFFERS, CAP)


def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offers: int, cap: int) -> Base:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root = tmp_path / "root"
    for path, text in files(offers, cap).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return Base.open(str(root), config=load_config(str(root)))


@pytest.fixture
def store(tmp_path: Path) -> EvidenceStore:
    return EvidenceStore(str(tmp_path / "ledger.db"), base="here", busy_ms=20_000)


def script(chance: random.Random) -> list[str]:
    """What one agent opens: offers in any order, some again, and things that are none."""
    offers = [f"a{k}" for k in range(1, OFFERS + 1)]
    odd = ["a0", "a22", "kb/t1.md", "../n.md", "/etc/passwd", "", "a1\n", "ａ1", "note", "criterion"]
    chance.shuffle(offers)
    repeats = chance.choices(offers, k=chance.randint(0, 6))
    calls = [*offers[: chance.randint(0, OFFERS)], *repeats, *chance.choices(odd, k=chance.randint(0, 4))]
    chance.shuffle(calls)
    return calls


@pytest.mark.parametrize("batch", range(SCRIPTS // BATCH))
def test_E1_no_script_of_an_agent_opens_more_than_the_budget(
    base: Base, store: EvidenceStore, tmp_path: Path, batch: int
) -> None:
    plan = planned(base)
    seen: Counter[str] = Counter()
    for k in range(BATCH):
        chance = random.Random(batch * BATCH + k)
        job = export(base, store, plan, str(tmp_path / "jobs"), f"agent {k}")
        served: list[str] = []
        for id in script(chance):
            try:
                served.append(open_offer(base, store, job.id, id).offer)
            except BudgetExhausted:
                seen["over"] += 1
                assert len(set(served)) == CAP and id not in served
            except NotOffered:
                seen["none"] += 1
                assert id not in {offer.id for offer in plan.offers}
        reads = store.reads(job.id, 1)
        assert slots_used(reads) == len(set(served)) <= CAP
        assert sorted(row.id for row in reads if row.refused is None) == sorted(set(served))
        seen["full"] += len(set(served)) == CAP
    assert min(seen["over"], seen["none"], seen["full"]) > 0


def test_E1_the_seventeenth_is_refused_and_what_was_opened_still_opens(
    base: Base, store: EvidenceStore, tmp_path: Path
) -> None:
    job = export(base, store, planned(base), str(tmp_path / "jobs"), "agent")
    for k in range(OFFERS, OFFERS - CAP, -1):
        open_offer(base, store, job.id, f"a{k}")
    for k in range(1, OFFERS - CAP + 1):
        with pytest.raises(BudgetExhausted, match=r"16 of 16 slots \(distinct-v1\) are used"):
            open_offer(base, store, job.id, f"a{k}")
    assert open_offer(base, store, job.id, f"a{OFFERS}").again


def test_a_path_is_never_opened_inside_the_root_or_out_of_it(
    base: Base, store: EvidenceStore, tmp_path: Path
) -> None:
    (tmp_path / "secret.md").write_text("secret")
    job = export(base, store, planned(base), str(tmp_path / "jobs"), "agent")
    for path in (
        "../secret.md",
        "../../secret.md",
        str(tmp_path / "secret.md"),
        "kb/t1.md",
        "./a1",
        "a1/../a2",
    ):
        with pytest.raises(NotOffered):
            open_offer(base, store, job.id, path)
    assert store.reads(job.id, 1) == ()


def test_threads_that_open_at_once_share_one_budget(base: Base, store: EvidenceStore, tmp_path: Path) -> None:
    job = export(base, store, planned(base), str(tmp_path / "jobs"), "agent")
    start, served = threading.Barrier(4), [[] for _ in range(4)]

    def agent(own: list[str], seed: int) -> None:
        ids = [f"a{k}" for k in range(1, OFFERS + 1)]
        random.Random(seed).shuffle(ids)
        start.wait()
        for id in ids:
            try:
                own.append(open_offer(base, store, job.id, id).offer)
            except BudgetExhausted:
                continue

    threads = [threading.Thread(target=agent, args=(own, k)) for k, own in enumerate(served)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    rows = [row for row in store.reads(job.id, 1) if row.refused is None]
    assert len(rows) == len({row.id for row in rows}) == slots_used(rows) == CAP
    assert {id for own in served for id in own} == {row.id for row in rows}


def test_processes_that_open_at_once_share_one_budget(
    base: Base, store: EvidenceStore, tmp_path: Path
) -> None:
    job = export(base, store, planned(base), str(tmp_path / "jobs"), "agent")
    ids = [f"a{k}" for k in range(1, OFFERS + 1)]
    agents = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, base.root, str(tmp_path / "ledger.db"), job.id, json.dumps(order)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for order in (ids, ids[::-1])
    ]
    for one in agents:
        assert one.stdout is not None and one.stdout.readline() == "ready\n"
    for one in agents:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    served = {id for one in agents for id in json.loads(one.communicate(timeout=60)[0])}
    rows = [row for row in store.reads(job.id, 1) if row.refused is None]
    assert len(rows) == slots_used(rows) == len(served) == CAP


def test_E7_under_a_cap_of_five_the_sixth_is_refused_and_the_stop_is_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: EvidenceStore
) -> None:
    base = made(tmp_path, monkeypatch, 7, 5)
    job = export(base, store, planned(base), str(tmp_path / "jobs"), "agent")
    for k in range(1, 6):
        open_offer(base, store, job.id, f"a{k}")
    with pytest.raises(BudgetExhausted, match=r'a6 "kb/t6\.md", a7 "kb/t7\.md"'):
        open_offer(base, store, job.id, "a6")
    said = "a1, a2, a3, a4, a5, a6, a7"  # what it says of its own reading counts for nothing
    review = finalize(base, store, job.id, output(job, opened=said))
    assert review.coverage is not None
    assert (review.verdict, review.coverage.stop, review.coverage.slots_used) == ("PASS", "budget", 5)
    assert review.scoped.startswith("PASS on 5 of 7 artifacts; not read: a6 kb/t6.md (b7), a7 kb/t7.md (b8)")
    assert [one.text[:2] for one in review.findings if one.rule == "unserved"] == ["a6", "a7"]


@pytest.mark.parametrize("name", ["OK", "two results", "result not last", "duplicate", "nested"])
def test_an_output_that_is_not_one_whole_block_is_no_verdict(
    base: Base, store: EvidenceStore, tmp_path: Path, name: str
) -> None:
    job = export(base, store, planned(base), str(tmp_path / "jobs"), "agent")
    open_offer(base, store, job.id, "a1")
    whole = output(job)
    result = "## Result: PASS"
    text = {
        "OK": "OK",
        "two results": whole.replace(result, f"{result}\n{result}"),
        "result not last": whole.replace(result, f"{result}\nThat is all."),
        "duplicate": f"{whole}\n{whole}",
        "nested": whole.replace("### Findings", f"{whole}\n### Findings"),
    }[name]
    review = finalize(base, store, job.id, text)
    assert (review.verdict, review.reason, store.baselines()) == ("UNJUDGED", "malformed-output", ())


def test_a_reviewer_that_names_a_source_it_never_opened_gives_no_verdict(
    base: Base, store: EvidenceStore, tmp_path: Path
) -> None:
    job = export(base, store, planned(base), str(tmp_path / "jobs"), "agent")
    open_offer(base, store, job.id, "a1")
    review = finalize(base, store, job.id, output(job, ("- WARN [b3 a1 a2] It goes further.",), "WARN"))
    assert (review.verdict, review.reason, store.baselines()) == ("UNJUDGED", "cites-unread", ())
