"""The README's command prints what the README says, and the paths it names are there."""

import os
import re
import subprocess
import sys

from .house import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
MARK = re.compile(r"\[admit [0-9a-f]{8,}")


def test_the_shown_command_prints_the_shown_output(tmp_path):
    block = re.search(r"```\n\$ (.+?)\n(.*?)```", README, re.DOTALL)
    assert block
    folders = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("STATE", "CONFIG", "CACHE")}
    path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
    done = subprocess.run(
        block[1],
        shell=True,
        cwd=ROOT,
        env={**os.environ, **folders, "PATH": path, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert MARK.sub("[admit", done.stdout) == MARK.sub("[admit", block[2])


def test_every_path_that_the_readme_links_to_is_there():
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links and [link for link in links if not (ROOT / link).exists()] == []
