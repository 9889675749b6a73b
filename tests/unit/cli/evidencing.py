"""A home and a small knowledge base of its own for `admit evidence`, and commands run in this process."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from admit.cli import frame

EXAMPLE = Path(__file__).parents[3] / "examples" / "evidence"
HOLD = """---
id: hold
budget: 2
asks: [claims]
answers:
  supported: pass
  contradicted: fail
---
Does the material say what the claim says?
"""


class Vault:
    """`admit evidence` in the folder `notes`, a copy of the example."""

    def __init__(self, home: Path, capsys: Any) -> None:
        self.home = home
        self.notes = home / "notes"
        shutil.copytree(EXAMPLE, self.notes)
        self._capsys = capsys

    def __call__(self, *words: str) -> tuple[int, str, str]:
        """Run it with words: exit code, standard output, standard error."""
        code = frame.run(["evidence", *words])
        said = self._capsys.readouterr()
        return code, said.out, said.err

    def json(self, *words: str, code: int = 0) -> Any:
        """The JSON that it prints."""
        done, out, err = self(*words, "--json")
        assert done == code, (done, out, err)
        return json.loads(out)

    def write(self, name: str, text: str) -> None:
        """A file among the notes."""
        path = self.notes / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def judged_by(self, url: str, **keys: str) -> None:
        """Settings with the profile `mine` at an address, and further keys of `[evidence]`."""
        lines = ["[judge.profiles.mine]", 'backend = "chat"', 'form = "schema"', 'model = "m"']
        lines += [f'destination = "{url}/v1"', "[judge.profiles.mine.evidence]", "timeout_ms = 20000"]
        lines += ["[evidence]", *(f'{name} = "{value}"' for name, value in keys.items())]
        file = self.home / ".config" / "admit" / "admit.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines))
        file.chmod(0o600)


def vault_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Vault:
    """A home of its own, with the working folder in it."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "ADMIT_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.chdir(home)
    return Vault(home, capsys)
