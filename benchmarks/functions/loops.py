"""`python -m benchmarks.functions.loops [--only name]`: loops beside `numba.njit`.

Each function of `tests/plain/loops` runs in a process of its own, with one thread and
without the store of compiled programs: first the call that compiles, then calls in
turns, by the processor time of the thread. Writes `benchmarks/loops.json`; with
`--only`, the rows of that file that were measured, if the machine is the one of the
others.

With `--threads 2`, functions with a `prange` run with so many, beside
`numba.njit(parallel=True)`; that is the table `parallel` of the same file. Calls then
take the time that passes.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import pkgutil
import statistics
import time
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import plain.loops
from plain.loops.program import Program

from benchmarks import readme
from benchmarks.functions import page
from benchmarks.functions.contenders import leaves, rebuilt

RESULTS = page.LOOPS
OWN, OTHER = "traceir", "numba.njit"
# Seconds for a function, with both first calls.
PATIENCE = 120.0
ROUNDS = 9
ENOUGH = 2.0
SAMPLE = 2e-3


def programs() -> dict[str, Program]:
    """All functions by name."""
    found: list[Program] = []
    for module in pkgutil.iter_modules(plain.loops.__path__):
        loaded = importlib.import_module(f"plain.loops.{module.name}")
        found += getattr(loaded, "PROGRAMS", [])
    return {str(program): program for program in found}


def compiled(contender: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as a contender has it."""
    if contender == OWN:
        import traceir_numba

        own: Callable[..., Any] = traceir_numba.jit(function)
        return own
    import numba

    several = os.environ["NUMBA_NUM_THREADS"] != "1"
    return rebuilt(function, {}, numba.njit(parallel=True) if several else numba.njit)


def clock() -> Callable[[], float]:
    """The clock of calls after the first: with one thread that of its own work, which
    other programs on the machine leave as it is."""
    alone = os.environ["NUMBA_NUM_THREADS"] == "1"
    return time.thread_time if alone else time.perf_counter


def _total(xs: Any) -> Any:
    s = 0.0
    for x in xs:
        s += x
    return s


def is_parallel(program: Program) -> bool:
    """True if a function has a loop over `prange`."""
    return "prange" in program.function.__code__.co_names


def measure(name: str, connection: Connection) -> None:
    """Send a function's row: for each contender its first call and its best one."""
    program = programs()[name]
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")  # functions that Numba has nothing to share in
    calls: dict[str, Callable[..., Any]] = {}
    row: dict[str, Any] = {}
    results: dict[str, list[Any]] = {}
    for contender in (OWN, OTHER):
        compiled(contender, _total)(np.ones(40))
        f = compiled(contender, program.function)
        args = program.arguments(*program.large)
        start = time.perf_counter()
        try:
            result = f(*args)
        except Exception as error:
            row[contender] = {"status": f"{type(error).__name__}: {error}"[:200]}
            continue
        row[contender] = {"status": "works", "first": time.perf_counter() - start}
        calls[contender], results[contender] = f, leaves([result, *args])
    if len(results) == 2:
        pairs = zip(*(results[c] for c in (OWN, OTHER)), strict=True)
        same = all(np.allclose(a, b, 1e-7, 1e-7, equal_nan=True) for a, b in pairs)
        row["same"] = same
    times: dict[str, list[float]] = {c: [] for c in calls}
    started = time.perf_counter()
    for k in range(ROUNDS):
        for contender in list(calls)[:: 1 if k % 2 else -1]:
            times[contender].append(_sample(calls[contender], program, clock()))
        if k >= 2 and time.perf_counter() - started > ENOUGH:
            break
    for contender in calls:
        row[contender]["best"] = min(times[contender])
    connection.send(row)


def _sample(f: Callable[..., Any], program: Program, now: Callable[[], float]) -> float:
    """Seconds of the best of some calls; new arguments are not counted."""
    best, total = np.inf, 0.0
    while total < SAMPLE:
        args = program.arguments(*program.large)
        start = now()
        f(*args)
        took = now() - start
        best, total = min(best, took), total + took
    return best


def _row(name: str) -> dict[str, Any]:
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    process = context.Process(target=measure, args=(name, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        row: dict[str, Any] = mine.recv() if mine.poll(PATIENCE) else {}
    except EOFError:
        row = {}
    process.kill()
    process.join()
    return {"name": name, **row}


def line(row: dict[str, Any]) -> str:
    """A row for the terminal."""
    if "best" not in row.get(OWN, {}) or "best" not in row.get(OTHER, {}):
        whys = [
            f"{c}: {row.get(c, {}).get('status', 'no answer')}" for c in (OWN, OTHER)
        ]
        return f"{row['name']:36} {'; '.join(whys)}"
    speed, first = ratios(row)
    wrong = "" if row["same"] else "  other values"
    return (
        f"{row['name']:36} {row[OWN]['best'] * 1e3:9.3f} ms  speed {speed:6.2f}"
        f"  first {row[OWN]['first']:5.2f} s  {first:5.2f}{wrong}"
    )


def ratios(row: dict[str, Any]) -> tuple[float, float]:
    """The speed as a multiple of the other one's, warm and in the first call."""
    own, other = row[OWN], row[OTHER]
    return other["best"] / own["best"], other["first"] / own["first"]


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="functions whose names contain this")
    parser.add_argument("--threads", default=1, type=int, help="for prange alone")
    given = parser.parse_args()
    threads = str(given.threads)
    os.environ |= {"TRACEIR_CACHE": "0", "TRACEIR_NUM_THREADS": threads}
    os.environ["NUMBA_NUM_THREADS"] = threads
    rows = []
    for name, program in programs().items():
        if given.only in name and (given.threads == 1 or is_parallel(program)):
            rows.append(_row(name))
            print(line(rows[-1]), flush=True)
    both = [ratios(r) for r in rows if r.get("same")]
    if both:
        speeds, firsts = zip(*both, strict=True)
        mean, first = statistics.geometric_mean(speeds), statistics.median(firsts)
        print(f"{len(both)} of {len(rows)} run by both; {mean:.2f} times the speed of")
        print(f"{OTHER}, at least {min(speeds):.2f}; the first call {first:.2f} times")
    record("rows" if given.threads == 1 else "parallel", rows, bool(given.only))


def record(part: str, rows: list[dict[str, Any]], some: bool) -> None:
    """Write a table, or only `some` of its rows, and the pages that show it."""
    from benchmarks.report import machine  # which asks for jax

    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    here, day = machine(), "date"
    if some:
        if {**known.get("machine", {}), day: ""} != {**here, day: ""}:
            print(f"not written: {RESULTS.name} is of another machine, or of none")
            return
        renewed = {row["name"]: row for row in rows}
        rows = [renewed.get(row["name"], row) for row in known.get(part, [])]
        here = known["machine"]
    text = json.dumps({**known, "machine": here, part: rows}, indent=1)
    RESULTS.write_text(text + "\n")
    page.write()
    readme.draw()


if __name__ == "__main__":
    main()
