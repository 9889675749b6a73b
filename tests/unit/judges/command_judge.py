"""A program that answers as a judge, and misbehaves as its first argument says. Run with ``python -I``."""

import json
import os
import subprocess
import sys
import threading
import time


def answered(request, p=0.75):
    answers = {}
    for one in request["questions"]:
        if one["type"] == "noul":
            answers[one["id"]] = {"type": "noul", "noul": p}
        else:
            names = one.get("labels") or [str(k) for k in range(len(one["levels"]))]
            share = 1 / len(names)
            answers[one["id"]] = {"type": one["type"], "probabilities": dict.fromkeys(names, share)}
    return {"v": 1, "id": request["id"], "answers": answers}


def say(value):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(mode, *more):
    if mode == "deaf":
        time.sleep(600)
    if mode == "ends":
        sys.exit(3)
    if mode == "family":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        with open(more[0], "w") as file:
            file.write(f"{os.getpid()} {child.pid}")
        mode = "hangs"
    if mode == "loud":
        sys.stderr.write("e" * 300_000 + "the end")
        sys.stderr.flush()
    if mode == "banner":
        say("judge 1.0 is ready")
        say('{"level": "info"}')
    held = []
    for count, line in enumerate(sys.stdin.buffer, 1):
        request = json.loads(line)
        good = answered(request)
        if mode == "ok" or mode == "loud" or mode == "banner":
            say({**good, "usage": {"input_tokens": 10, "output_tokens": 2}, "cost_usd": 0.001})
        elif mode == "hangs":
            continue
        elif mode == "hangs-once" and count > 1:
            say(good)
        elif mode == "late":
            if count == 2:
                say(answered(held[0], 1.0))
                say(good)
            held.append(request)
        elif mode == "backwards":
            held.append(request)
            if len(held) == int(more[0]):
                for one in reversed(held):
                    say(answered(one, len(one["questions"]) / 10))
                held.clear()
        elif mode == "others":
            say({**good, "id": "f" * 16})
            say(["no", "object"])
            say({**good, "id": 7})
            say(good)
        elif mode == "one":
            say(good)
            sys.exit(0)
        elif mode == "exits":
            sys.exit(4)
        elif mode == "half":
            sys.stdout.write(json.dumps(good)[:-5])
            sys.stdout.flush()
            sys.exit(0)
        elif mode == "long":
            say({**good, "note": "x" * (2 << 20)})
        elif mode == "nan":
            say(json.dumps(good).replace("0.75", "NaN"))
        elif mode == "broken":
            say(json.dumps(good) + "}")
        elif mode == "error":
            say({"v": 1, "id": request["id"], "error": {"code": "no_model", "message": "m" * 900}})
        elif mode == "older" and set(request) - {"v", "id", "deadline_ms", "door", "questions"}:
            error = {"code": "unknown_field", "message": "I know neither task nor context"}
            say({"v": 1, "id": request["id"], "error": error})
        elif mode == "environment":
            say(
                {
                    **good,
                    "answers": {},
                    "environment": dict(os.environ),
                    "cwd": os.getcwd(),
                    "argv": list(more),
                }
            )
        elif mode == "slow":
            threading.Timer(0.3, say, [good]).start()


if __name__ == "__main__":
    main(*sys.argv[1:])
