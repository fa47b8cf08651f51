"""`python -m benchmarks.functions [--only name]`: measure, print, write docs/plain.rst.

Each function runs in a worker's process; one that a contender holds up for too long, or
brings down, is begun anew without it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import time
from dataclasses import asdict
from multiprocessing.connection import Connection
from typing import Any

from benchmarks import readme
from benchmarks.functions import page
from benchmarks.functions.contenders import (
    NAMES,
    PATIENCE,
    Outcome,
    arguments,
    described,
    examples,
)
from benchmarks.functions.worker import serve
from benchmarks.report import machine

RESULTS = page.RESULTS


class Worker:
    """A process that measures; it is ended when it takes too long."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other,), daemon=True)
        self.process.start()
        other.close()

    def end(self) -> None:
        """End the process now."""
        self.process.kill()
        self.process.join()


class Troubled(Exception):
    """A contender took too long, or the process came to its end."""

    def __init__(self, contender: str, outcome: Outcome) -> None:
        super().__init__(contender)
        self.contender, self.outcome = contender, outcome


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(prog="benchmarks.functions", description=__doc__)
    parser.add_argument("--only", default="", help="functions whose names contain this")
    given = parser.parse_args()
    os.environ["TRACEIR_CACHE"] = "0"  # first calls compile
    listed = examples()
    worker, rows = Worker(), []
    for name in (name for name in listed if given.only in name):
        worker, row = _measured(worker, name)
        row["arguments"] = [described(a) for a in arguments(listed[name])]
        rows.append(row)
        print(page.line(row), flush=True)
    worker.end()
    if not given.only:
        document = {"machine": machine(), "rows": rows}
        RESULTS.write_text(_text(document))
        page.write()
        readme.draw()


def _measured(worker: Worker, name: str) -> tuple[Worker, dict[str, Any]]:
    """A function's row; the worker to go on with."""
    outcomes: dict[str, Outcome] = {}
    contenders = list(NAMES)
    while True:
        try:
            times = _asked(worker.connection, name, contenders, outcomes)
            break
        except Troubled as trouble:
            worker.end()
            worker = Worker()
            outcomes[trouble.contender] = trouble.outcome
            contenders = [c for c in contenders if c != trouble.contender]
    row: dict[str, Any] = {"name": name, "numpy": statistics.median(times["NumPy"])}
    for contender in NAMES:
        found = asdict(outcomes[contender])
        if contender in times:
            pairs = zip(times["NumPy"], times[contender], strict=True)
            found["time"] = statistics.median(times[contender])
            found["ratio"] = statistics.median([n / t for n, t in pairs])
        row[contender] = found
    return worker, row


def _asked(
    connection: Connection,
    name: str,
    contenders: list[str],
    outcomes: dict[str, Outcome],
) -> dict[str, list[float]]:
    """The worker's answer about a function. Raises Troubled."""
    connection.send((name, contenders))
    now = contenders[0] if contenders else "times"
    started = time.perf_counter()
    while True:
        try:
            if not connection.poll(PATIENCE if now != "times" else None):
                raise Troubled(now, Outcome("timeout", PATIENCE))
            match connection.recv():
                case ("begin", what):
                    now, started = what, time.perf_counter()
                case ("first", contender, outcome):
                    outcomes[contender] = outcome
                case ("times", found):
                    times: dict[str, list[float]] = found
                    return times
        except (EOFError, ConnectionResetError):
            took = time.perf_counter() - started
            raise Troubled(now, Outcome("crash", took)) from None


def _text(document: dict[str, Any]) -> str:
    """The results as JSON, a row on each line; figures to four digits."""
    rounded = json.loads(
        json.dumps(document), parse_float=lambda x: float(f"{float(x):.4g}")
    )
    rows = ",\n".join(map(json.dumps, rounded["rows"]))
    return f'{{"machine": {json.dumps(rounded["machine"])},\n"rows": [\n{rows}\n]}}\n'


if __name__ == "__main__":
    main()
