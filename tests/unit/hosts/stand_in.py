"""A stand-in for the host's client: it runs hooks and tools as the host documents.

Written out as a script of its own by `stand_in`, with a fault baked in: what a host may get wrong.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import urllib.request

FAULT = ""
MODE_ARGUMENT = "--permission-mode"


def post(messages):
    body = {"model": "none", "tools": [{"name": "Bash"}], "messages": messages}
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages?beta=true"
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=60) as reply:
        return json.loads(reply.read())


class Session:
    """One conversation, its hooks and its transcript."""

    def __init__(self, prompt, mode):
        home = os.environ["HOME"]
        with open(f"{home}/.claude/settings.json", encoding="utf-8") as file:
            self.settings = json.load(file)
        os.makedirs(f"{home}/.claude/projects/p", exist_ok=True)
        self.path = f"{home}/.claude/projects/p/s.jsonl"
        self.mode = mode
        self.messages = [{"role": "user", "content": prompt}]
        self.hook("SessionStart", "", {"source": "startup"})
        self.hook("UserPromptSubmit", "", {"prompt": prompt})

    def write(self, record):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def hook(self, event, query, fields):
        """Run the hooks of an event; gives what the last of them said."""
        common = {
            "session_id": "s",
            "transcript_path": self.path,
            "cwd": os.getcwd(),
            "hook_event_name": event,
        }
        said = {}
        for group in self.settings["hooks"].get(event, ()):
            if not re.fullmatch(group.get("matcher") or ".*", query):
                continue
            for handler in group["hooks"]:
                words = (
                    [handler["command"], *handler["args"]]
                    if "args" in handler
                    else shlex.split(handler["command"])
                )
                payload = json.dumps({**common, **fields}).encode()
                try:
                    done = subprocess.run(
                        words, input=payload, capture_output=True, timeout=handler["timeout"]
                    )
                    said |= json.loads(done.stdout or b"{}").get("hookSpecificOutput", {})
                except subprocess.TimeoutExpired:
                    continue
        if "additionalContext" in said and FAULT != "drops-context":
            text = f"<system-reminder>{said['additionalContext']}</system-reminder>"
            attachment = {"type": "hook_additional_context", "toolUseID": fields.get("tool_use_id", "")}
            self.write(
                {"type": "attachment", "uuid": "a", "attachment": attachment, "rendered": [{"content": text}]}
            )
            self.messages.append({"role": "system", "content": text})
        return said

    def allowed(self, command):
        rules = self.settings.get("permissions", {})

        def match(rule):
            return command.startswith(rule.removeprefix("Bash(").removesuffix("*)"))

        if any(map(match, rules.get("deny", ()))):
            return False
        return self.mode != "default" or any(map(match, rules.get("allow", ())))

    def call(self, block):
        """One tool call with its hooks; gives what the model is told."""
        name, given, use = block["name"], block["input"], {"tool_use_id": block["id"]}
        about = {**use, "tool_name": name}
        original = given.get("command", "")
        said = self.hook("PreToolUse", name, {**about, "tool_input": given})
        if FAULT != "ignores-rewrites":
            given = said.get("updatedInput", given)
        ruled = original if FAULT == "rules-for-the-original" else given.get("command", "")
        if name == "Bash" and not self.allowed(ruled):
            return "not allowed"
        failed, text, response, put = TOOLS[name.partition("__")[0]](given, name)
        if failed:
            self.hook("PostToolUseFailure", name, {**about, "tool_input": given, "error": text})
            return text
        said = self.hook("PostToolUse", name, {**about, "tool_input": given, "tool_response": response})
        if "updatedToolOutput" in said and FAULT != "drops-replacements":
            return put(said["updatedToolOutput"])
        return text

    def run(self):
        while (message := post(self.messages))["stop_reason"] == "tool_use":
            (block,) = message["content"]
            self.messages.append({"role": "assistant", "content": [block]})
            self.write({"type": "assistant", "uuid": "b", "message": {"content": [block]}})
            result = {"type": "tool_result", "tool_use_id": block["id"], "content": self.call(block)}
            self.messages.append({"role": "user", "content": [result]})
            self.write({"type": "user", "uuid": "c", "message": {"role": "user", "content": [result]}})
        self.hook("Stop", "", {"stop_hook_active": False})
        print("done")


def bash(given, name):
    done = subprocess.run(["bash", "-c", given["command"]], capture_output=True, text=True)
    text = done.stdout + done.stderr
    if done.returncode:
        return True, f"Exit code {done.returncode}\n{text}", None, None
    response = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
    return False, text, response, lambda new: new["stdout"]


def read(given, name):
    with open(given["file_path"], encoding="utf-8") as file:
        text = file.read()
    whole = {"filePath": given["file_path"], "content": text, "numLines": 1, "startLine": 1, "totalLines": 1}
    return False, text, {"type": "text", "file": whole}, lambda new: new["file"]["content"]


def grep(given, name):
    _, text, _, _ = read({"file_path": given["path"]}, name)
    response = {"mode": "content", "numFiles": 1, "filenames": [], "content": text, "numLines": 3}
    return False, text, response, lambda new: new["content"]


def mcp(given, name):
    with open(os.environ["HOME"] + "/servers.json", encoding="utf-8") as file:
        server = json.load(file)["mcpServers"]["probe"]
    params = {"name": name.split("__")[2], "arguments": {}}
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    done = subprocess.run([server["command"], *server["args"]], input=asked, capture_output=True, text=True)
    result = json.loads(done.stdout)["result"]
    if "structuredContent" in result:
        text = json.dumps(result["structuredContent"])
        return False, text, text, lambda new: new
    return False, result["content"], result["content"], lambda new: new


def web(given, name):
    import ssl

    context = ssl.create_default_context(cafile=os.environ["NODE_EXTRA_CA_CERTS"])
    handlers = (urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    with urllib.request.build_opener(*handlers).open(given["url"], timeout=60) as page:
        text = page.read().decode()
    response = {"bytes": len(text), "code": 200, "result": text, "url": given["url"]}
    return False, text, response, lambda new: new["result"]


TOOLS = {"Bash": bash, "Read": read, "Grep": grep, "mcp": mcp, "WebFetch": web}


def stand_in(path, fault=""):
    """Write the script with a fault baked in, and give its path."""
    with open(__file__, encoding="utf-8") as file:
        text = file.read().replace('FAULT = ""\n', f"FAULT = {fault!r}\n", 1)
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return str(path)


if __name__ == "__main__":
    if "--version" in sys.argv:
        print("9.9.9 (a stand-in)")
    else:
        arguments = sys.argv[1:]
        Session(arguments[1], arguments[arguments.index(MODE_ARGUMENT) + 1]).run()
