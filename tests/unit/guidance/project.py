"""A home and a project with files of guidance, for tests."""

from __future__ import annotations

from pathlib import Path

from admit.config.keys import shipped
from admit.guidance.gather import Seen, Settings, load
from admit.guidance.model import Finding, Index, Root, Snippet
from admit.guidance.roots import roots_of


class Guidance:
    """Files of guidance under a home and a project, and what is gathered from them."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = self.home / "code" / "project"
        self.places = {
            "project": self.project / ".claude/ways",
            "user": self.home / ".config/agent-ways/ways",
            "bundled": self.home / ".claude/hooks/ways",
        }
        (self.project / ".git").mkdir(parents=True)
        self.values = shipped()
        self.seen: Seen = {}

    def way(self, root: str, id: str, matter: str = "description: d", body: str = "body\n") -> Path:
        """Write a way."""
        path = self.places[root] / id / f"{id.rpartition('/')[2]}.md"
        return self.file(path, f"---\n{matter}\n---\n{body}")

    def file(self, path: str | Path, text: str | bytes) -> Path:
        """Write a file; a relative path is below the project."""
        path = self.project / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def roots(self, host: str | None = None, **values: object) -> tuple[Root, ...]:
        over = {f"guidance.{name}": value for name, value in values.items()}
        return roots_of(str(self.project), host, {**self.values, **over})

    def load(self, host: str | None = None, **settings: tuple[str, ...]) -> tuple[Index, tuple[Finding, ...]]:
        return load(self.roots(host), settings=Settings(**settings), seen=self.seen)

    def ids(self, **settings: tuple[str, ...]) -> list[str]:
        return [one.id for one in self.load(**settings)[0].snippets]

    def only(self) -> Snippet:
        (one,) = self.load()[0].snippets
        return one


def codes(findings: tuple[Finding, ...]) -> list[str]:
    """The codes of findings, in order."""
    return [finding.code for finding in findings]
