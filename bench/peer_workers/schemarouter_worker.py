"""Worker of SchemaRouter's retrieval of routes, plain and structural; one request on standard input."""

import json
import sys
import time
from importlib.metadata import version

from schemarouter import SchemaRouter, ToolSpec

job = json.load(sys.stdin)
rows = {}
for row, structural in (("SchemaRouter baseline", False), ("SchemaRouter structural", True)):
    router = SchemaRouter(structural_retrieval=structural)
    for tool in job["capabilities"]:
        router.add_tool(ToolSpec.model_validate(tool))
    orders, spent = [], []
    for query in job["queries"]:
        begin = time.process_time()
        found = router.retrieve_routes(query, k=job["k"])
        spent.append((time.process_time() - begin) * 1_000)
        orders.append([job["places"][f"{one.tool}.{one.endpoint}"] for one in found.candidates])
    rows[row] = {"orders": orders, "ms": spent}
print(json.dumps({"rows": rows, "version": version("schemarouter")}))
