"""The tour behind `make try`: four real outputs made here and now, each cut for a task by `admit output`, and
the links of this project's own documents.

Everything is kept in a folder of its own, so that nothing of yours is touched.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ADMIT = str(Path(sys.executable).parent / "admit")


class Stop(NamedTuple):
    """One output of the tour: what makes it, what is asked of it, and a pattern of the line that answers."""

    title: str
    command: list[str]
    task: str
    folder: Path
    answer: str


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
        Stop("a failing test run", pytest, "which test fails and why", shop, r"^E +AssertionError: assert"),
        Stop(
            "a long git log --stat",
            ["git", "log", "--stat", "--no-color", "-n", "300"],
            "which commit brought in the depth rules of the shortlist?",
            HERE.parent,
            r"(?i)depth rule",
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
            r'"LIBDIR": ',
        ),
        Stop(
            "a service log",
            [python, "service.py", "900"],
            "checkouts get no connection since some moment: what was changed before that?",
            shop,
            r"pool\.size 16 -> 1",
        ),
    ]


def main() -> int:
    """Walk all stops; the exit code says whether every answer stood in what was shown."""
    with tempfile.TemporaryDirectory(prefix="admit-tour-") as home:
        env = os.environ | {
            f"XDG_{kind}_HOME": f"{home}/{kind.lower()}" for kind in ("STATE", "CONFIG", "CACHE")
        }
        env.pop("ADMIT_CONFIG", None)
        failed = [stop.title for number, stop in enumerate(stops(), 1) if not walk(number, stop, env)]
        if not documents(env):
            failed.append("links of documents")
        print("\nWhat was recorded (admit status):\n")
        subprocess.run([ADMIT, "status"], env=env, check=False)
    if failed:
        print(f"\nThese stops did not work: {', '.join(failed)}", file=sys.stderr)
    else:
        print(f'\nTo call admit by its name:  export PATH="{Path(ADMIT).parent}:$PATH"')
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
    header, *shown = result["text"].split("\n")
    print(textwrap.fill(header, 110, initial_indent="   | ", subsequent_indent="   | "))
    answer = next((line for line in shown if re.search(stop.answer, line)), None)
    if answer is None:
        print(f"   the answer does not stand in it: {stop.answer}")
        return False
    print(f"   the answer stands in it: {answer.strip()}")
    return bool(result["changed"])


def documents(env: dict[str, str]) -> bool:
    """Check the links of the documents beside this file, without a judge, and print how that ends."""
    print("\n5. the documents of this project\n   admit evidence lint docs\n")
    done = subprocess.run(
        [ADMIT, "evidence", "lint", "docs"], cwd=HERE.parent, env=env, capture_output=True, text=True
    )
    print(textwrap.indent("\n".join(done.stdout.splitlines()[-8:]), "   | "))
    return done.returncode == 0


def rules(kept: list[dict[str, object]]) -> str:
    """The rules that kept text, with the number of ranges each kept."""
    names = [str(one["rule"]) for one in kept]
    return ", ".join(f"{name} ({names.count(name)})" for name in dict.fromkeys(names))


if __name__ == "__main__":
    raise SystemExit(main())
