"""Failing runs of common tools, made from a seed; lines that begin with ``MARK`` are the labelled ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .draft import hexes, pick

MARK = "\x00"


class Failure(NamedTuple):
    """A failing run: its text, the 0-based indexes of its labelled lines, and the exit code."""

    text: str
    labelled: tuple[int, ...]
    exit_code: int


def marked(block: str) -> list[str]:
    """Return the lines of ``block``, each labelled; a blank line is not."""
    return [MARK + line if line.strip() else line for line in block.strip("\n").split("\n")]


def _words(draw: random.Random) -> str:
    noun = pick(draw, "cart order price stock mail login label")
    return f"{noun}_{pick(draw, 'adds drops keeps rounds sorts merges')}"


def _pytest(draw: random.Random) -> Iterator[str]:
    yield "============================= test session starts =============================="
    yield "collected 1204 items\n"
    for number in range(1204):
        if number == 733:
            yield from marked(
                "tests/test_totals.py::test_rounds_half_even FAILED                              [ 60%]"
            )
        name = f"tests/test_{pick(draw, 'cart mail price')}.py::test_{_words(draw)}[{number}]"
        yield f"{name} PASSED".ljust(73) + f"[{number * 100 // 1204:3}%]"
    yield "\n=================================== FAILURES ==================================="
    yield from marked(
        """
____________________________ test_rounds_half_even _____________________________
    def test_rounds_half_even():
        total = invoice_total([Decimal("0.125")] * 2)
>       assert total == Decimal("0.24")
E       AssertionError: assert Decimal('0.26') == Decimal('0.24')
tests/test_totals.py:41: AssertionError
"""
    )
    yield "=========================== short test summary info ============================"
    yield from marked(
        "FAILED tests/test_totals.py::test_rounds_half_even - AssertionError: assert Decimal('0.26') ==..."
    )
    yield from marked("=================== 1 failed, 1203 passed in 41.22s ===================")


def _collection(draw: random.Random) -> Iterator[str]:
    yield "============================= test session starts =============================="
    yield "collected 812 items / 1 error"
    yield "==================================== ERRORS ===================================="
    yield from marked(
        """
_______________ ERROR collecting tests/api/test_refunds.py _______________
ImportError while importing test module '/srv/shop/tests/api/test_refunds.py'.
tests/api/test_refunds.py:4: in <module>
    from shop.refunds import RefundPolicy
E   ImportError: cannot import name 'RefundPolicy' from 'shop.refunds' (/srv/shop/src/shop/refunds.py)
"""
    )
    yield "=============================== warnings summary ==============================="
    for number in range(160):
        yield f"tests/test_{_words(draw)}.py::test_{number}"
        yield "  /srv/venv/lib/dates.py:88: DeprecationWarning: utcnow() is deprecated, use an aware datetime"
    yield from marked("=========================== short test summary info ============================")
    yield from marked("ERROR tests/api/test_refunds.py")
    yield from marked("!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!")


def _jest(draw: random.Random) -> Iterator[str]:
    for number in range(420):
        if number == 260:
            yield "FAIL src/checkout/Summary.test.tsx"
            yield from marked(
                """
  ● Summary › shows the voucher once
    expect(received).toHaveLength(expected)
    Expected length: 1
    Received length: 2
    > 31 |     expect(screen.getAllByText("VOUCHER-5")).toHaveLength(1);
      at Object.<anonymous> (src/checkout/Summary.test.tsx:31:46)
"""
            )
        yield f"PASS src/{pick(draw, 'cart mail login')}/{_words(draw)}{number}.test.tsx"
        yield f"  ✓ {_words(draw).replace('_', ' ')} ({draw.randint(1, 40)} ms)"
    yield from marked("Test Suites: 1 failed, 420 passed, 421 total")
    yield from marked("Tests:       1 failed, 1283 passed, 1284 total")
    yield "Snapshots:   0 total\nTime:        38.104 s"


def _go_test(draw: random.Random) -> Iterator[str]:
    for number in range(300):
        if number == 190:
            yield from marked(
                """
--- FAIL: TestLeaseExpires (0.31s)
    lease_test.go:77: lease of node-b: got 12s left, want 0s
FAIL
FAIL	shop.example/coord/lease	0.412s
"""
            )
        for case in range(draw.randint(1, 4)):
            yield f"=== RUN   Test{pick(draw, 'Add Drop Merge Sort Walk')}{number}/{case}"
            name = f"Test{pick(draw, 'Add Drop Merge Sort Walk')}{number}/{case}"
            yield f"--- PASS: {name} (0.{draw.randint(0, 9)}0s)"
        package = f"shop.example/{pick(draw, 'cart mail coord')}/{_words(draw)}{number}"
        yield f"ok  \t{package}\t0.{draw.randint(100, 900)}s"
    yield from marked("FAIL")


def _go_race(draw: random.Random) -> Iterator[str]:
    for number in range(140):
        yield f"ok  \tshop.example/{pick(draw, 'cart mail coord')}/{_words(draw)}{number}\t(cached)"
    yield from marked("panic: runtime error: invalid memory address or nil pointer dereference")
    yield from marked("[signal SIGSEGV: segmentation violation code=0x1 addr=0x18 pc=0x6f1c2a]\n")
    yield from marked("goroutine 34 [running]:\nshop.example/stock.(*Ledger).Close(0x0)")
    yield from marked("\t/srv/shop/stock/ledger.go:118 +0x1a")
    for number in range(220):
        yield f"\ngoroutine {number + 40} [select, {draw.randint(1, 9)} minutes]:"
        yield f"shop.example/queue.(*Worker).loop(0xc{hexes(draw, 9)})"
        yield f"\t/srv/shop/queue/worker.go:{draw.randint(40, 90)} +0x{hexes(draw, 2)}"
    yield from marked("FAIL\tshop.example/stock\t3.018s")


def _cargo_build(draw: random.Random) -> Iterator[str]:
    for number in range(330):
        crate = f"{pick(draw, 'amber birch cedar flint')}-{pick(draw, 'core macros sys util')}"
        yield f"   Compiling {crate} v{draw.randint(0, 4)}.{number % 30}.1"
    yield from marked(
        """
error[E0502]: cannot borrow `basket` as mutable because it is also borrowed as immutable
  --> crates/cart/src/basket.rs:57:9
   |
56 |     let first = basket.lines.first();
   |                 ------ immutable borrow occurs here
57 |         basket.push(line);
   |         ^^^^^^^^^^^^^^^^^ mutable borrow occurs here
"""
    )
    for number in range(120):
        yield f"warning: unused variable: `left_{number}`"
        yield f"  --> crates/mail/src/{_words(draw)}.rs:{number + 9}:13"
    yield from marked("error: could not compile `cart` (lib) due to 1 previous error; 120 warnings emitted")


def _maven(draw: random.Random) -> Iterator[str]:
    for number in range(900):
        if number == 640:
            yield from marked(
                """
[ERROR] Tests run: 14, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.8 s <<< FAILURE! - in shop.TaxTest
[ERROR] shop.TaxTest.reducedRateForBooks  Time elapsed: 0.02 s  <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <0.07> but was: <0.19>
	at shop.TaxTest.reducedRateForBooks(TaxTest.java:52)
"""
            )
        counts = f"Tests run: {draw.randint(1, 30)}, Failures: 0, Errors: 0, Skipped: 0"
        yield f"[INFO] {counts} - in shop.{_words(draw)}{number}Test"
    yield "[INFO] Results:"
    yield from marked(
        "[ERROR] Failures: \n[ERROR]   TaxTest.reducedRateForBooks:52 expected: <0.07> but was: <0.19>"
    )
    yield "[INFO] ------------------------------------------------------------------------"
    yield from marked("[INFO] BUILD FAILURE")
    yield "[INFO] Total time:  01:12 min"


def _gradle(draw: random.Random) -> Iterator[str]:
    for number in range(260):
        task = f":{pick(draw, 'cart mail stock')}:{_words(draw)}{number}"
        yield f"> Task {task} {pick(draw, 'UP-TO-DATE FROM-CACHE')}"
    yield from marked("> Task :stock:compileKotlin FAILED")
    yield from marked(
        "e: file:///srv/shop/stock/src/main/kotlin/Shelf.kt:23:18 Unresolved reference: capacityOf"
    )
    for number in range(180):
        yield f"> Task :{pick(draw, 'cart mail')}:{_words(draw)}{number} SKIPPED"
    yield from marked(
        """
FAILURE: Build failed with an exception.
* What went wrong:
Execution failed for task ':stock:compileKotlin'.
"""
    )
    yield "* Try:\n> Run with --stacktrace option to get the stack trace.\nBUILD FAILED in 48s"


def _make_gcc(draw: random.Random) -> Iterator[str]:
    for number in range(240):
        unit = f"src/{_words(draw)}{number}"
        yield f"gcc -O2 -Wall -Werror=return-type -Iinclude -fPIC -MMD -c {unit}.c -o build/{unit}.o"
        if number == 171:
            yield from marked(
                """
src/net/poll.c: In function 'poll_once':
src/net/poll.c:204:12: error: 'struct poller' has no member named 'deadline_ms'
  204 |     if (p->deadline_ms < now)
      |            ^~
make[2]: *** [Makefile:88: build/src/net/poll.o] Error 1
"""
            )
            yield "make[2]: *** Waiting for unfinished jobs...."
    yield from marked("make[1]: *** [Makefile:12: all] Error 2")
    yield "make: *** [GNUmakefile:4: build] Error 2"


def _linker(draw: random.Random) -> Iterator[str]:
    for number in range(420):
        yield f"[{number}/422] Building CXX object lib/CMakeFiles/core.dir/{_words(draw)}{number}.cpp.o"
    yield "[421/422] Linking CXX executable bin/shopd"
    yield from marked("/usr/bin/ld: lib/libcore.a(session.cpp.o): in function `Session::renew()':")
    yield from marked("session.cpp:(.text+0x1c4): undefined reference to `Clock::monotonic_ms()'")
    yield from marked("collect2: error: ld returned 1 exit status\nninja: build stopped: subcommand failed.")


def _tsc(draw: random.Random) -> Iterator[str]:
    for number in range(300):
        file = f"packages/{pick(draw, 'cart mail login')}/src/{_words(draw)}{number}.ts"
        yield f"[{number}] bundling {file} {draw.randint(1, 90)} kB"
    yield from marked(
        """
packages/cart/src/voucher.ts:18:7 - error TS2322: Type 'string | undefined' is not assignable to type
'string'. 18       code: query.get("v"),
         ~~~~
packages/mail/src/render.ts:90:21 - error TS2554: Expected 2 arguments, but got 1.
90   const html = render(template);
                      ~~~~~~~~~~~~~~~~
"""
    )
    for number in range(150):
        yield f"[{number + 300}] wrote dist/{pick(draw, 'cart mail login')}/{_words(draw)}{number}.js"
    yield from marked("Found 2 errors in 2 files.")


def _npm(draw: random.Random) -> Iterator[str]:
    for number in range(380):
        package = f"{pick(draw, 'fast tiny safe')}-{pick(draw, 'glob walk color')}{number}"
        yield f"npm http fetch GET 200 https://registry.example/{package} {draw.randint(8, 300)}ms"
        if number % 40 == 0:
            yield f"npm warn deprecated tiny-glob{number}@1.0.2: this version is no longer supported"
    yield from marked(
        """
npm ERR! code ERESOLVE
npm ERR! ERESOLVE unable to resolve dependency tree
npm ERR! Found: ui-kit@7.0.1
npm ERR! Could not resolve dependency:
npm ERR! peer ui-kit@"^6.2.0" from date-field@3.4.0
"""
    )
    yield "npm ERR! A complete log of this run can be found in: /root/.npm/_logs/debug-0.log"


def _composite(draw: random.Random) -> Iterator[str]:
    yield "==> lint"
    for number in range(200):
        yield f"src/{_words(draw)}{number}.py ok"
    yield "All checks passed!\n==> types"
    for number in range(60):
        yield f"src/{_words(draw)}{number}.py:{draw.randint(4, 90)}: note: unused type ignore"
    yield from marked(
        'src/shop/stock.py:66: error: Argument 1 to "reserve" has incompatible type "str"; expected "int"'
    )
    yield from marked("Found 1 error in 1 file (checked 261 source files)")
    yield "==> tests"
    for number in range(420):
        yield f"tests/test_{_words(draw)}.py::test_{number} PASSED"
    yield "============================= 420 passed in 12.40s ============================="
    yield "==> docs"
    for number in range(80):
        yield f"reading sources... [{number:3}%] {_words(draw)}"
    yield "build succeeded.\nmake: *** [Makefile:3: check] Error 1"


def _late_error(draw: random.Random) -> Iterator[str]:
    for number in range(400):
        yield f"WARN  [loader] row {number}: field 'discount' is missing, default used"
    for number in range(900):
        yield f"INFO  [loader] batch {number} of 1600 written in {draw.randint(3, 90)} ms"
    yield from marked(
        'ERROR [loader] batch 901: duplicate key value violates unique constraint "orders_pkey"'
    )
    yield from marked("ERROR [loader] detail: key (id)=(771204) already exists")
    for number in range(500):
        yield f"INFO  [rollback] batch {number} undone in {draw.randint(3, 20)} ms"
    yield "INFO  [loader] stopped, 0 rows kept"


def _terraform(draw: random.Random) -> Iterator[str]:
    for number in range(420):
        yield f"compute_instance.web[{number}]: Modifying... [id=i-{hexes(draw, 12)}]"
        yield f"compute_instance.web[{number}]: Modifications complete after {draw.randint(1, 40)}s"
        if number == 250:
            yield from marked(
                """
│ Error: creating firewall rule "front": quota "RULES_PER_NETWORK" exceeded (limit 200)
│   with firewall_rule.front["eu"],
│   on network.tf line 31, in resource "firewall_rule" "front":
"""
            )
    yield "Releasing state lock. This may take a few moments..."


FAILURES: dict[str, tuple[Callable[[random.Random], Iterator[str]], int]] = {
    "pytest": (_pytest, 1),
    "pytest-collection": (_collection, 2),
    "jest": (_jest, 1),
    "go-test": (_go_test, 1),
    "go-panic": (_go_race, 2),
    "cargo-build": (_cargo_build, 101),
    "maven": (_maven, 1),
    "gradle": (_gradle, 1),
    "make-gcc": (_make_gcc, 2),
    "linker": (_linker, 1),
    "tsc": (_tsc, 2),
    "npm-install": (_npm, 1),
    "composite-make": (_composite, 2),
    "late-error": (_late_error, 1),
    "terraform-apply": (_terraform, 1),
}


def failure(name: str) -> Failure:
    """Return the failing run called ``name``; raises ``KeyError`` for an unknown one."""
    make, exit_code = FAILURES[name]
    lines = "\n".join(make(random.Random(name))).split("\n")
    labelled = tuple(index for index, line in enumerate(lines) if line.startswith(MARK))
    text = "\n".join(line.removeprefix(MARK) for line in lines) + "\n"
    return Failure(text, labelled, exit_code)
