"""A small folder of recorded sessions that holds one of everything an audit tells of."""

from __future__ import annotations

from pathlib import Path

from transcripts.recorded import CWD, Claude, Codex, build_log

KEPT = "/home/me/.claude/projects/-home-me-shop/s1/tool-results/b1.txt"
NEEDLE = "shop/payment/client.py:118: retry_limit 7 exceeds RETRY_CEILING"


def write_all(home: Path) -> None:
    """Three Claude Code sessions, one a fork, and a Codex rollout, under `home`."""
    projects, sessions = home / "projects", home / "sessions"
    stored = projects / "-home-me-shop" / "s1" / "tool-results"
    stored.mkdir(parents=True)
    first = a_stored_build(stored)
    first.write(projects)
    a_failure_and_a_file().write(projects)
    fork = Claude("s3", day=2)
    fork.records = [record | {"sessionId": "s3"} for record in first.records]
    fork.run("git status --short", " M client.py")
    fork.write(projects)
    a_cut_rollout().write(sessions)


def a_stored_build(stored: Path) -> Claude:
    """A success behind a preview, whose file the agent reads; the folder was moved since."""
    log = build_log(11, 900, planted={450: NEEDLE})
    (stored / "b1.txt").write_text(log)
    file = Claude("s1")
    file.user("Why is the retry limit of the payment client ignored?")
    use_id = file.call("Bash", {"command": "make build"})
    shown = (
        f"<persisted-output>\nOutput too large ({len(log) / 1024:.1f}KB). Full output saved to: "
        f"{KEPT}\n\nPreview (first 2KB):\n{log[:2000]}\n...\n</persisted-output>"
    )
    file.result(use_id, shown, {"stdout": log[:30_000], "persistedOutputPath": f"{KEPT}"})
    use_id = file.call("Grep", {"pattern": "retry", "path": f"{KEPT}"})
    file.result(use_id, f"450:{NEEDLE}", {"mode": "content", "content": NEEDLE})
    file.run("cat build.log", build_log(12, 300, planted={150: NEEDLE.replace("118", "240")}))
    use_id = file.call("Read", {"file_path": f"{CWD}/shop/payment/client.py", "offset": 230, "limit": 20})
    file.result(use_id, "   240\tretry_limit = 7")
    file.run("cat build.log", build_log(12, 300, planted={150: NEEDLE.replace("118", "240")}))
    return file


def a_failure_and_a_file() -> Claude:
    """A failure cut in the middle that is asked for again, a long file, and a call without a result."""
    log = build_log(13, 200, planted={40: "orders.py:77: error: OrderTotals has no attribute vat_rate"})
    file = Claude("s2", day=1)
    file.user("Fix the totals of the orders page")
    text = f"Exit code 2\n{log[:5_000]}\n\n... [21,000 characters truncated] ...\n\n{log[-5_000:]}"
    file.result(file.call("Bash", {"command": "pytest"}), text, f"Error: {text}", failed=True)
    file.run("pytest 2>&1 | grep vat_rate", "orders.py:77: error: OrderTotals has no attribute vat_rate")
    lines = "".join(f"{n}\tvalue_{n} = compute(value_{n - 1})\n" for n in range(1, 400))
    file.result(file.call("Read", {"file_path": f"{CWD}/orders.py"}), lines)
    file.call("Bash", {"command": "sleep 60"})
    return file


def a_cut_rollout() -> Codex:
    """A command whose output Codex cut in the middle, and a use of what is left."""
    log = build_log(14, 400, planted={20: "deploy/values.yaml: image_tag is unset"})
    file = Codex()
    file.user("Find out why the deployment has no image")
    file.run("helm lint", f"{log[:6_000]}…30000 chars truncated…{log[-6_000:]}", 1)
    file.run("grep -n image_tag deploy/values.yaml", "3:image_tag:\n")
    return file
