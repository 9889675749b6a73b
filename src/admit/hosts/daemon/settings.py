"""The settings in force, read again at most once a second and only where a file changed."""

from __future__ import annotations

import resource
import time

from admit.config.layers import Config, load

from .log import trace
from .server import DEFAULTS, Limits

EVERY_S = 1.0


class Settings:
    """The user's settings; what a project sets is for the handler, which knows the working folder."""

    def __init__(self) -> None:
        self._config = load(project=False)
        self._read = time.monotonic()

    def config(self) -> Config:
        """The settings, at most a second old; where they cannot be read, those from before. Never raises."""
        now = time.monotonic()
        if now - self._read >= EVERY_S:
            self._read = now
            try:
                self._config = load(project=False)
            except Exception as error:
                trace("reading the settings", error)
        return self._config

    def is_off(self) -> bool:
        """Whether everything passes as without Admit now."""
        return self.config().pause is not None

    def limits(self) -> Limits:
        """What the daemon takes on; changes hold from its next start."""
        values = self._config.values
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return DEFAULTS._replace(
            workers=values["hosts.daemon.workers"],
            queue=values["hosts.daemon.queue"],
            idle_s=float(values["hosts.daemon.idle_s"]),
            connections=min(DEFAULTS.connections, soft // 2) if soft > 0 else DEFAULTS.connections,
        )
