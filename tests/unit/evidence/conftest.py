"""A knowledge base in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from admit.config.layers import load
from admit.evidence.base import Base

MakeBase = Callable[..., Base]


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeBase]:
    """Makes a base of files (text or bytes by path) and settings: `base({"n.md": "# n"}, wikilinks="off")`.

    Its root is `tmp_path / "root"`; a second call adds files and opens it anew.
    """
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("ADMIT_CONFIG", raising=False)
    monkeypatch.delenv("ADMIT_OFF", raising=False)
    root = tmp_path / "root"
    opened: list[Base] = []

    def make(files: Mapping[str, str | bytes], **settings: object) -> Base:
        root.mkdir(exist_ok=True)
        for path, content in files.items():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)
        config = load(str(root), overrides={f"evidence.{name}": value for name, value in settings.items()})
        opened.append(Base.open(str(root), config=config))
        return opened[-1]

    yield make
    for one in opened:
        one.close()
