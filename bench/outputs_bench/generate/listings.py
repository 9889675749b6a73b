"""Kinds with one row per thing: pods, processes, files, a query result."""

from __future__ import annotations

import random

from .draft import Kind, hexes, pick


def _pod_record(draw: random.Random, number: int) -> str:
    space = pick(draw, "shop edge search media batch observe")
    name = (
        f"{pick(draw, 'web api-gateway cart catalog worker cron resizer')}-{hexes(draw, 10)}-{hexes(draw, 5)}"
    )
    state = "Completed" if name.startswith("cron") else "Running"
    ready = "0/1" if state == "Completed" else "1/1"
    address = f"10.2.{draw.randint(0, 15)}.{draw.randint(2, 250)}"
    age, node = f"{draw.randint(1, 60)}d", f"node-{draw.randint(1, 24):02}"
    return f"{space:<13} {name:<34} {ready:<6} {state:<12} 0             {age:<5} {address:<12} {node}"


def _process_record(draw: random.Random, number: int) -> str:
    user = pick(draw, "root root www-data postgres app")
    command = draw.choice(
        (
            f"[kworker/{draw.randint(0, 31)}:{draw.randint(0, 3)}-events]",
            "nginx: worker process",
            f"postgres: app shop 10.8.0.{draw.randint(2, 90)}({draw.randint(30_000, 60_000)}) idle",
            f"/opt/shop/bin/worker --queue images --slot {draw.randint(0, 63)}",
        )
    )
    pid, memory = draw.randint(300, 64_000), draw.randint(2_000, 900_000)
    start = f"{draw.randint(0, 23):02}:{draw.randint(0, 59):02}"
    shares = f"{draw.random():3.1f}  {draw.random():3.1f}"
    return f"{user:<10} {pid:>6}  {shares} {memory * 3:>8} {memory:>7} ?  Ss  {start}  0:00 {command}"


def _file_record(draw: random.Random, number: int) -> str:
    size, minute = draw.randint(900, 90_000), f"{draw.randint(0, 23):02}:{draw.randint(0, 59):02}"
    folder = f"/srv/data/2031/{draw.randint(1, 4):02}/{draw.randint(1, 28):02}"
    date = f"Apr {draw.randint(1, 11):>2} {minute}"
    return f"-rw-r--r-- 1 app app {size:>12} {date} {folder}/part-{number:05}.parquet"


def _customer_record(draw: random.Random, number: int) -> str:
    city = pick(draw, "Berlin Lyon Turin Graz Gent Malmo Leeds Brno")
    since = f"20{draw.randint(24, 30)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
    name, plan = f"Customer {draw.randint(1, 99_999):05}", pick(draw, "basic team")
    return f" {10_000 + number:>6} | {name:<18} | {city:<10} | {plan:<7} | {draw.randint(1, 90):>5} | {since}"


KINDS = {
    "pod-list": Kind(
        _pod_record,
        "kubectl get pods --all-namespaces -o wide",
        head=f"{'NAMESPACE':<13} {'NAME':<34} READY  {'STATUS':<12} {'RESTARTS':<13} AGE   {'IP':<12} NODE\n",
        foot="\n",
    ),
    "process-list": Kind(
        _process_record,
        "ps aux",
        head="USER          PID %CPU %MEM      VSZ     RSS TTY STAT START  TIME COMMAND\n",
        foot="\n",
    ),
    "file-list": Kind(_file_record, "find /srv/data -ls", foot="\n"),
    "query-result": Kind(
        _customer_record,
        'psql -c "select * from customers"',
        head="     id | customer           | city       | plan    | seats | since\n"
        "--------+--------------------+------------+---------+-------+------------\n",
        foot="\n(all rows)\n\n",
    ),
}
