"""Measure a number of the cost models anew: `python -m tools.costs NAME`."""

from __future__ import annotations

import argparse
import ast
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.costs import operations
from tools.costs.entries import ROOT, Entry, entries
from tools.costs.programs import STORED

MEASURED = Path(__file__).with_name("measured.json")
# The seconds that a round takes at least, for each value in turn.
ROUND = 0.005


class Worker:
    """A process in which an entry has one value; `first` is its first call's time."""

    def __init__(self, entry: Entry, value: Any) -> None:
        self.value = value
        environment = {**os.environ, "TRACEIR_CACHE": "0"}
        if entry.program in STORED:
            kept = {"TRACEIR_CACHE_DIR": tempfile.mkdtemp()}
            environment = {**os.environ, "TRACEIR_CACHE": "1", **kept}
        command = ["-m", "tools.costs.worker", entry.program, entry.model, entry.name]
        self.process = subprocess.Popen(
            [sys.executable, *command, repr(value)],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.first = self._answer()
        self.times: list[float] = []

    def _answer(self) -> float:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the program ended with {self.value}; see above")
        return float(line)

    def call(self, count: int) -> float:
        """The seconds of a call, the mean of so many."""
        print(count, file=self.process.stdin, flush=True)
        return self._answer()

    def end(self) -> None:
        """Wait for the process, which has no more to read."""
        with self.process:
            pass


def others(value: Any) -> tuple[Any, Any]:
    """Half of a value, and double of it; of each part where it has several.

    >>> others(16), others((1, 4))
    ((8, 32), ((1, 2), (2, 8)))
    """
    if isinstance(value, tuple):
        half, double = zip(*map(others, value), strict=True)
        return half, double
    return max(1, value // 2), 2 * value


def measure(
    entry: Entry, values: list[Any], rounds: int
) -> dict[str, dict[str, float]]:
    """Medians by value: of the first call, and of calls in alternating rounds."""
    workers: list[Worker] = []
    try:
        for value in values:
            workers.append(Worker(entry, value))
        count = max(1, int(ROUND / max(w.call(1) for w in workers)))
        for _ in range(rounds):
            for worker in workers:
                worker.times.append(worker.call(count))
    finally:
        for worker in workers:
            worker.end()
    return {
        repr(w.value): {
            "first": float(f"{w.first:.4g}"),
            "call": float(f"{statistics.median(w.times):.4g}"),
        }
        for w in workers
    }


def shown(entry: Entry, found: dict[str, dict[str, float]]) -> str:
    """A table: each value with its seconds, and ratios to those of the one in use."""
    lines = [
        f"{entry.model}.{entry.name} = {entry.text} ({entry.unit})",
        entry.says,
        f"{'':2}{entry.program:24}{'first ms':>10}{'call us':>12}{'ratio':>8}",
    ]
    base = next(iter(found.values()))["call"]
    for value, took in found.items():
        first, call = took["first"] * 1e3, took["call"] * 1e6
        lines.append(f"  {value:24}{first:10.1f}{call:12.2f}{took['call'] / base:8.2f}")
    return "\n".join(lines)


def value_of(entry: Entry) -> Any:
    """An entry's value: numbers, shifts and products of them, and tuples."""
    return eval(compile(entry.text, entry.name, "eval"), {"__builtins__": {}})


def main() -> None:
    """Measure what the command line names, or list all names."""
    known = entries()
    parser = argparse.ArgumentParser(prog="python -m tools.costs", description=__doc__)
    parser.add_argument("names", nargs="*", help="entries; without any, all are listed")
    parser.add_argument("--values", help="such as 8,16 instead of half and double")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--record", action="store_true", help=f"in {MEASURED.name}")
    asked = parser.parse_args()
    if not asked.names:
        for entry in known.values():
            print(f"{entry.name:28} {entry.text[:24]:24} {entry.program}")
        return
    for name in asked.names:
        if name not in known:
            parser.error(f"there is no {name}; without a name all are listed")
        entry = known[name]
        if entry.program == "operations":
            print(operations.table())
            continue
        value = value_of(entry)
        tried = [value, *others(value)]
        if asked.values:
            tried = [value, *ast.literal_eval(f"[{asked.values}]")]
        tried = list(dict.fromkeys(tried))
        found = measure(entry, tried, asked.rounds)
        print(shown(entry, found), flush=True)
        if asked.record:
            kept = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
            kept[name] = found
            ordered = {key: kept[key] for key in known if key in kept}
            lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in ordered.items()]
            MEASURED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
