"""Worker of tooltrim 0.3.3: ``ToolCompressor(max_tokens).compress(text, query)``, its text with the footer.

Two rows: with the task as the query, and without a query, which it does better on build logs.

Its budget is in tokens of about four characters. The largest of a few token budgets whose text fits the
character budget is shown, so that the peer is not charged for our unit.
"""

import json
import sys
import time

from tooltrim import ToolCompressor

SHARES = (1.6, 1.4, 1.2, 1.0, 0.9, 0.8)  # of budget / 4 tokens


def shorten(text: str, query: str | None, budget: int) -> str:
    """Return the compressed text nearest below ``budget`` characters."""
    shown = ""
    for share in SHARES:
        shown = ToolCompressor(max_tokens=int(budget / 4 * share)).compress(text, query=query).text
        if len(shown) <= budget:
            break
    return shown


def rows(text: str, task: str, budget: int) -> dict[str, tuple[str, float]]:
    """Return both rows with their milliseconds, the tries at other token budgets included."""
    made = {}
    for row, query in (("tooltrim", task or None), ("tooltrim, no task", None)):
        begin = time.perf_counter()
        shown = shorten(text, query, budget)
        made[row] = (shown, (time.perf_counter() - begin) * 1_000)
    return made


if __name__ == "__main__":
    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            answer = {"rows": rows(request["text"], request["task"], request["budget"])}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), flush=True)
