"""Records what Claude Code does at the self-test: `python tools/record_claude.py [CLIENT]`.

Writes `src/admit/hosts/claude_code/recorded.json`, which is replayed where there is no client. Look at the
results before you commit it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from admit.config.keys import shipped
from admit.hosts.claude_code import selftest
from admit.hosts.claude_code.init import host_client, host_version
from admit.hosts.claude_code.recorded import FILE, SESSIONS, record

PATH = Path(__file__).parents[1] / "src" / "admit" / "hosts" / "claude_code" / FILE


def main() -> None:
    """Run the self-test once and write the recording."""
    client = sys.argv[1] if len(sys.argv) > 1 else host_client()
    version = host_version(client) if client else None
    if client is None or version is None:
        raise SystemExit("no client: give its path, or put it on PATH")
    hooks: list[list[object]] = []

    def on_session(name, bench, ran):
        if name in SESSIONS:
            hooks.extend(record(name, ran.heard, bench))

    with tempfile.TemporaryDirectory() as state:
        os.environ["XDG_STATE_HOME"] = state  # the user's own results stay as they are
        results = selftest.run_selftest(
            client, version, selftest.chosen(()), values=shipped(), on_session=on_session
        )
    for one in results:
        print(f"{one.result:<9} {one.name:<24} {one.detail}")
    verdicts = {one.name: [one.result, one.detail] for one in results}
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in hooks)
    head = f'"version": {json.dumps(version)},\n"verdicts": {json.dumps(verdicts, indent=1)},\n'
    PATH.write_text(f'{{\n{head}"hooks": [\n{rows}\n]\n}}\n', encoding="utf-8")
    print(f"{PATH}: {len(hooks)} hooks, {PATH.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
