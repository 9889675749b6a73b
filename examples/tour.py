"""The tour behind `make try`: four real outputs made here and now, each cut for a task by `admit output`.

Everything is kept in a folder of its own, so that nothing of yours is touched.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ADMIT = str(Path(sys.executable).parent / "admit")


class Stop(NamedTuple):
    """One output of the tour: what makes it, and what is asked of it."""

    title: str
    command: list[str]
    task: str
    folder: Path


def stops() -> list[Stop]:
    """The four outputs, all made on this machine."""
    shop = HERE / "checkout"
    python = sys.executable
    pytest = [
        python,
        "-m",
        "pytest",
        "-v",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
        "--rootdir",
        ".",
        ".",
    ]
    return [
        Stop("a failing test run", pytest, "which test fails and why", shop),
        Stop(
            "a long git log --stat",
            ["git", "log", "--stat", "--no-color", "-n", "300"],
            "which commit brought in the depth rules of the shortlist?",
            HERE.parent,
        ),
        Stop(
            "a JSON dump",
            [
                python,
                "-c",
                "import json, sysconfig; print(json.dumps(sysconfig.get_config_vars(), indent=1))",
            ],
            "with which options was this Python configured, and where is its LIBDIR?",
            HERE.parent,
        ),
        Stop(
            "a service log",
            [python, "service.py", "900"],
            "checkouts get no connection since some moment: what was changed before that?",
            shop,
        ),
    ]


def main() -> int:
    """Walk all stops; the exit code says whether every command of Admit did its work."""
    with tempfile.TemporaryDirectory(prefix="admit-tour-") as home:
        env = os.environ | {
            f"XDG_{kind}_HOME": f"{home}/{kind.lower()}" for kind in ("STATE", "CONFIG", "CACHE")
        }
        env.pop("ADMIT_CONFIG", None)
        failed = [stop.title for number, stop in enumerate(stops(), 1) if not walk(number, stop, env)]
        print("\nWhat was recorded (admit status):\n")
        subprocess.run([ADMIT, "status"], env=env, check=False)
    if failed:
        print(f"\nThese stops did not work: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def walk(number: int, stop: Stop, env: dict[str, str]) -> bool:
    """Make one output, cut it, and show what was kept and why."""
    print(f"\n{number}. {stop.title}\n   task: {stop.task}")
    made = subprocess.run(
        stop.command, cwd=stop.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    cut = subprocess.run(
        [ADMIT, "output", "--task", stop.task, "--exit-code", str(made.returncode), "--json"],
        input=made.stdout,
        stdout=subprocess.PIPE,
        env=env,
        check=False,
    )
    if cut.returncode != 0:
        return False
    result = json.loads(cut.stdout)
    before, after = result["original_chars"], len(result["text"])
    share = after / max(1, before)
    print(f"   {before:,} characters in, {after:,} shown ({share:.0%}), in {result['total_ms']:.0f} ms")
    print(f"   kept because of: {rules(result['kept'])}\n")
    print(f"   | {result['text'].split(chr(10))[0][:120]}")
    lines = made.stdout.decode("utf-8", "replace").split("\n")
    for one in heaviest(result["kept"]):
        print(f"   | line {one['from']:,}, by rule {one['rule']}: {lines[one['from'] - 1].strip()[:90]}")
    return bool(result["changed"])


def rules(kept: list[dict[str, object]]) -> str:
    """The rules that kept text, with the number of ranges each kept."""
    names = [str(one["rule"]) for one in kept]
    return ", ".join(f"{name} ({names.count(name)})" for name in dict.fromkeys(names))


def heaviest(kept: list[dict]) -> list[dict]:
    """The three kept ranges of the greatest weight, in the order of the output."""
    return sorted(sorted(kept, key=lambda one: -(one["score"] or 0))[:3], key=lambda one: one["from"])


if __name__ == "__main__":
    raise SystemExit(main())
