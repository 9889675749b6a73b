"""An MCP server with two tools that say one word each: `python -I -S <this file> <word>`.

It speaks JSON-RPC over its standard streams, as far as a client needs it to list and call the tools. The tool
`blocks` gives two text blocks, `structured` a structured content beside one.
"""

import json
import sys


def result_of(method: str, params: dict, word: str) -> dict:
    """What a method gives back."""
    if method == "initialize":
        server = {"name": "probe", "version": "1"}
        return {
            "protocolVersion": params.get("protocolVersion", ""),
            "capabilities": {"tools": {}},
            "serverInfo": server,
        }
    if method == "tools/list":
        schema = {"type": "object", "properties": {}}
        names = ("blocks", "structured")
        return {"tools": [{"name": name, "description": "A word.", "inputSchema": schema} for name in names]}
    if method == "tools/call":
        blocks = [{"type": "text", "text": word}, {"type": "text", "text": "the second block"}]
        if params.get("name") == "blocks":
            return {"content": blocks}
        return {"content": blocks[:1], "structuredContent": {"word": word}}
    return {}


def main() -> None:
    """Answer each line that asks for something."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked and "method" in asked:
            result = result_of(asked["method"], asked.get("params") or {}, sys.argv[1])
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()
