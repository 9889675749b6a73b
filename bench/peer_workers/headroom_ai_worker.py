"""Worker of headroom-ai 0.42.0, without its downloaded text model, in three rows.

- ``headroom compress``: ``headroom.compress`` over a user, an assistant and a tool message, as an agent
  would call it. It takes no size, so what it shows is as long as it comes.
- ``headroom log``: its ``LogCompressor`` with all limits scaled by the largest factor that fits the budget.
- ``headroom text``: its ``TextCrusher``, which sees the task, with the largest keep ratio that fits the
  budget.
"""

import json
import sys
import time
from collections.abc import Callable

from headroom import compress
from headroom.transforms.log_compressor import LogCompressor, LogCompressorConfig
from headroom.transforms.text_crusher import TextCrusher

FACTORS = (8.0, 6.0, 4.0, 3.0, 2.0, 1.5, 1.25, 1.0, 0.8, 0.6, 0.4, 0.2)
LIMITS = (
    "max_errors",
    "error_context_lines",
    "max_stack_traces",
    "stack_trace_max_lines",
    "max_warnings",
    "max_total_lines",
)
RATIO_SHARES = (1.3, 1.15, 1.0, 0.9, 0.8, 0.7, 0.6, 0.4, 0.2)  # of budget / length


def whole_pipeline(text: str, task: str) -> str:
    """Return the tool message as the published one-call interface leaves it."""
    call = {"id": "call_1", "type": "function", "function": {"name": "Bash", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": task or "Go on."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": text},
    ]
    result = compress(messages, protect_recent=0, kompress_model="disabled")
    return result.messages[-1]["content"]


def by_log(text: str, factor: float) -> str:
    """Return the log compressor's text with every limit of its configuration times ``factor``."""
    config = LogCompressorConfig()
    for name in LIMITS:
        setattr(config, name, max(1, round(getattr(config, name) * factor)))
    return LogCompressor(config).compress(text).compressed


def largest_that_fits(make: Callable[[float], str], sizes: tuple[float, ...], budget: int) -> str:
    """Return the text of the first size, from the largest on, that fits; the smallest size's if none does."""
    shown = ""
    for size in sizes:
        shown = make(size)
        if len(shown) <= budget:
            break
    return shown


def rows(text: str, task: str, budget: int) -> dict[str, tuple[str, float]]:
    """Return the three rows with their milliseconds, the tries at other sizes included."""
    crusher = TextCrusher()
    ratio = budget / max(len(text), 1)
    makers: dict[str, Callable[[], str]] = {
        "headroom compress": lambda: whole_pipeline(text, task),
        "headroom log": lambda: largest_that_fits(lambda factor: by_log(text, factor), FACTORS, budget),
        "headroom text": lambda: largest_that_fits(
            lambda share: crusher.compress(text, task, min(1.0, ratio * share)).compressed,
            RATIO_SHARES,
            budget,
        ),
    }
    made = {}
    for row, make in makers.items():
        begin = time.perf_counter()
        shown = make()
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
