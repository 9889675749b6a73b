"""Verbs that name one kind of operation, whatever a source happens to call it."""

from __future__ import annotations

CLASSES: tuple[tuple[str, ...], ...] = (
    ("create", "add", "new", "insert", "make", "register", "generate", "build", "compose"),
    ("list", "search", "find", "query", "lookup", "browse", "discover", "locate", "filter"),
    ("get", "read", "fetch", "show", "retrieve", "view", "obtain", "load", "display", "describe", "check"),
    ("update", "edit", "modify", "change", "set", "patch", "rename", "alter", "adjust"),
    ("delete", "remove", "drop", "erase", "destroy", "purge", "clear", "unlink"),
    ("send", "post", "publish", "submit", "dispatch", "deliver", "notify", "share"),
    ("run", "execute", "start", "launch", "invoke", "trigger", "restart", "begin"),
    ("stop", "cancel", "abort", "kill", "terminate", "end", "halt", "pause"),
    ("upload", "import", "attach", "ingest"),
    ("download", "export", "dump", "save"),
    ("calculate", "compute", "count", "estimate", "measure", "evaluate"),
    ("analyze", "analyse", "inspect", "examine", "assess", "diagnose"),
    ("convert", "translate", "transform", "format", "parse"),
    ("summarize", "summarise", "condense", "digest"),
    ("compare", "diff", "match"),
    ("merge", "join", "combine", "concatenate", "append"),
    ("copy", "duplicate", "clone", "replicate"),
    ("move", "transfer", "migrate"),
    ("book", "reserve", "schedule", "plan", "order", "buy", "purchase"),
    ("validate", "verify", "test", "confirm"),
    ("recommend", "suggest", "propose"),
)
"""Each row is one class. No verb stands in two rows."""
