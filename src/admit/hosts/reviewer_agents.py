"""The coding agents that can review: how each is started without its own tools, and what it is tried with.

Each gets a home of its own, so that no settings, memory or plugins of the user reach a review; what it signs
in with comes from the variables named here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any, NamedTuple

from admit.hosts.fake_messages import Call, FakeMessages
from admit.hosts.fake_responses import FakeResponses
from admit.hosts.gateway.evidence_server import TOOL

SERVER = "admit"
MOST_TOKENS = 1_000_000
# So that no text of an artifact is cut on its way, or put in a file that the agent could not read.
_PROXIES = ("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS")
_NOWHERE = "http://127.0.0.1:9"
_OFFLINE = MappingProxyType(
    {"HTTP_PROXY": _NOWHERE, "HTTPS_PROXY": _NOWHERE, "NO_PROXY": "127.0.0.1,localhost"}
)


class Run(NamedTuple):
    """What one start of an agent is made of.

    Attributes:
        client: Path of its executable.
        home: An empty folder; `work` in it is the working folder, `config` holds its settings, `last.md`
            what it said last.
        server: The command of the one server, and its variables.
        model: By the agent's own name for it; None is the agent's choice.
        url: Of a fake API; empty for the agent's own.
    """

    client: str
    home: str
    server: tuple[str, ...]
    server_env: Mapping[str, str]
    model: str | None = None
    url: str = ""


class Said(NamedTuple):
    """What an agent said last, and the one model it says it used; None where it does not say."""

    text: str
    model: str | None = None


class Agent(NamedTuple):
    """One kind of agent.

    Attributes:
        program: The name of its executable.
        passes: The variables of the user that it gets.
        harmless: Tools that it offers besides ours and that give no file.
        fake: A fake of its API that plays what a reader of files would do with the path given, and then opens
            what the job does not offer.
        said: What it said, from its standard output; None where that is not what it should be.
    """

    name: str
    program: str
    passes: tuple[str, ...]
    harmless: frozenset[str]
    command: Callable[[Run], list[str]]
    environment: Callable[[Run], Mapping[str, str]]
    fake: Callable[[str, str, str], AbstractContextManager[Any]]
    said: Callable[[Run, str], Said | None]

    @property
    def destination(self) -> str:
        """What a consent names."""
        return f"agent:{self.name}"


def _claude_command(run: Run) -> list[str]:
    server = {"command": run.server[0], "args": list(run.server[1:]), "env": dict(run.server_env)}
    model = ["--model", run.model] if run.model is not None else []
    return [
        run.client, "-p", "--output-format", "json",
        "--tools", "", "--allowedTools", f"mcp__{SERVER}__{TOOL}",
        "--mcp-config", json.dumps({"mcpServers": {SERVER: server}}), "--strict-mcp-config",
        "--setting-sources", "", "--disable-slash-commands", "--no-session-persistence",
        "--permission-mode", "dontAsk", *model,
    ]  # fmt: skip


def _claude_environment(run: Run) -> dict[str, str]:
    own = {
        "CLAUDE_CONFIG_DIR": os.path.join(run.home, "config"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "MAX_MCP_OUTPUT_TOKENS": str(MOST_TOKENS),
    }
    fake = {**_OFFLINE, "ANTHROPIC_API_KEY": "admit-probe", "ANTHROPIC_BASE_URL": run.url} if run.url else {}
    return own | fake


def _claude_fake(path: str, job: str, id: str) -> FakeMessages:
    return FakeMessages(
        [
            Call("Read", {"file_path": path}),
            Call("Bash", {"command": f"cat {path}", "description": "Print it"}),
            Call("Grep", {"pattern": ".", "path": path, "output_mode": "content"}),
            Call("ReadMcpResourceTool", {"server": SERVER, "uri": f"file://{path}"}),
            Call(
                "Agent", {"description": "Read", "prompt": f"Read {path}", "subagent_type": "general-purpose"}
            ),
            Call(f"mcp__{SERVER}__{TOOL}", {"job": job, "id": id}),
        ]
    )


def _claude_said(run: Run, out: str) -> Said | None:
    try:
        told = json.loads(out)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or told.get("is_error") or not isinstance(told.get("result"), str):
        return None
    used = told.get("modelUsage")
    models = sorted(used) if isinstance(used, dict) else []
    return Said(told["result"], models[0] if len(models) == 1 else None)


# Whatever reads files, starts programs or other agents, or brings in tools from elsewhere.
_CODEX_OFF = (
    "apps", "browser_use", "code_mode_host", "computer_use", "goals", "hooks", "image_generation",
    "mentions_v2", "multi_agent", "plugins", "shell_snapshot", "shell_tool", "skill_search",
    "sleep_tool", "tool_search_always_defer_mcp_tools", "tool_suggest", "unified_exec",
    "view_image", "workspace_dependencies", "worktrees",
)  # fmt: skip


def _codex_command(run: Run) -> list[str]:
    server = {
        "command": run.server[0],
        "args": list(run.server[1:]),
        "env": dict(run.server_env),
        "enabled_tools": [TOOL],
        "default_tools_approval_mode": "approve",
        "startup_timeout_sec": 60,
    }
    settings: dict[str, Any] = {
        f"mcp_servers.{SERVER}": server,
        "approval_policy": "never",
        "project_doc_max_bytes": 0,
        "tool_output_token_limit": MOST_TOKENS,
        "web_search": "disabled",
    }
    if run.url:
        fake = {"name": "probe", "base_url": run.url, "wire_api": "responses", "env_key": "ADMIT_PROBE_KEY"}
        settings |= {"model_provider": "admit-probe", "model_providers.admit-probe": fake}
    given = [word for name, value in settings.items() for word in ("-c", f"{name}={_toml(value)}")]
    off = [word for name in _CODEX_OFF for word in ("--disable", name)]
    model = ["--model", run.model] if run.model is not None else []
    return [
        run.client, "exec", "--skip-git-repo-check", "--ephemeral", "--ignore-rules",
        "--sandbox", "read-only", "--cd", os.path.join(run.home, "work"),
        "--output-last-message", _last(run), *given, *off, *model, "-",
    ]  # fmt: skip


def _toml(value: Any) -> str:
    """A value as it stands in TOML; texts of JSON are texts of TOML, but for one character."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(name)} = {_toml(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value).replace("\x7f", "\\u007f")


def _codex_environment(run: Run) -> dict[str, str]:
    fake = {**_OFFLINE, "ADMIT_PROBE_KEY": "admit-probe"} if run.url else {}
    return {"CODEX_HOME": os.path.join(run.home, "config"), **fake}


def _codex_fake(path: str, job: str, id: str) -> FakeResponses:
    patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-nothing\n+nothing\n*** End Patch"

    def call(name: str, **given: Any) -> dict[str, Any]:
        return {"type": "function_call", "name": name, "arguments": json.dumps(given)}

    return FakeResponses(
        [
            call("shell", command=["cat", path]),
            call("exec_command", cmd=f"cat {path}"),
            {"type": "custom_tool_call", "name": "apply_patch", "input": patch},
            call("view_image", path=path),
            call("read_mcp_resource", server=SERVER, uri=f"file://{path}"),
            {**call(TOOL, job=job, id=id), "namespace": f"mcp__{SERVER}"},
        ]
    )


def _codex_said(run: Run, out: str) -> Said | None:
    try:
        with open(_last(run), encoding="utf-8") as file:
            return Said(file.read(), run.model)
    except (OSError, ValueError):
        return None


def _last(run: Run) -> str:
    return os.path.join(run.home, "last.md")


def offered(requests: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The names of the tools that any request offered to the model."""
    found: set[str] = set()
    for request in requests:
        for tool in request.get("tools") or ():
            if isinstance(tool, Mapping):
                found.add(str(tool.get("name") or tool.get("type")))
    return frozenset(found)


AGENTS: Mapping[str, Agent] = MappingProxyType(
    {
        "claude": Agent(
            "claude",
            "claude",
            (
                "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN",
                *_PROXIES,
            ),
            frozenset({"DeferredToolPlaceholder"}),
            _claude_command,
            _claude_environment,
            _claude_fake,
            _claude_said,
        ),
        "codex": Agent(
            "codex",
            "codex",
            ("CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", *_PROXIES),
            # It patches what it was told the content of, in a sandbox that lets it write nothing.
            frozenset(
                {
                    "apply_patch", "list_mcp_resource_templates", "list_mcp_resources", "read_mcp_resource",
                    "request_user_input", "tool_search", "update_plan",
                }
            ),
            _codex_command,
            _codex_environment,
            _codex_fake,
            _codex_said,
        ),
    }
)  # fmt: skip
