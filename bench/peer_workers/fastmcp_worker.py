"""Worker of fastmcp's search of tools by BM25; one request on standard input."""

import asyncio
import json
import sys
import time
from importlib.metadata import version

from fastmcp.server.transforms.search import BM25SearchTransform
from fastmcp.tools.base import Tool

job = json.load(sys.stdin)
tools = [
    Tool(name=str(number), description=f"{tool['name']} {tool['description']}", parameters=tool["schema"])
    for number, tool in enumerate(job["tools"])
]
search = BM25SearchTransform(max_results=job["k"])


async def run() -> dict[str, list]:
    orders, spent = [], []
    for query in job["queries"]:
        begin = time.process_time()
        found = await search._search(tools, query)
        spent.append((time.process_time() - begin) * 1_000)
        orders.append([int(tool.name) for tool in found])
    return {"orders": orders, "ms": spent}


print(json.dumps({"rows": {"fastmcp search": asyncio.run(run())}, "version": version("fastmcp")}))
