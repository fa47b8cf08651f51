"""`python -m benchmarks [group ...] [--threads 1 2]`: measure, print, write the docs.

Each group runs in a process of its own, bound to as many processors as it may have
threads. Without names all groups run, and the tables and plots of the docs are written.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

# A workload's row, with all that can run it; rows that bring their own calls; rows of
# times already taken.
WORKLOADS = (
    *("elementwise", "reductions", "stencils"),
    *("algebra", "linalg", "loops", "gradients"),
    *("indexing", "windows", "ordering", "formats"),
    *("random", "special", "complex", "fft"),
)
WHOLE = ("examples", "plain", "devices")
FIRST = ("compiles", "growth", "processes", "memory")
GROUPS = (*WORKLOADS, *WHOLE, "calls", "steps", "eager", *FIRST)
RESULTS = Path(__file__).parent / "results.json"


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="group", help=", ".join(GROUPS))
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", default="", help="rows whose names contain this")
    parser.add_argument(
        "--keep", action="store_true", help="replace these groups' rows in the docs"
    )
    parser.add_argument("--as-json", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if unknown := set(given.groups) - set(GROUPS):
        parser.error(f"no group {', '.join(sorted(unknown))}")
    if given.as_json:
        _measure(given.groups[0], given.threads[0], given.only)
        return
    rows = []
    for group in given.groups or GROUPS:
        # Whether there are one or two processors matters to whole arrays alone.
        for threads in (
            given.threads if group in (*WORKLOADS, *WHOLE) else given.threads[-1:]
        ):
            rows += _in_process(group, threads, given.only)
    if given.only:
        return
    if not given.groups or given.keep:
        report = import_module("benchmarks.report")
        every = _beside(given.groups) + rows
        every.sort(key=lambda row: GROUPS.index(str(row["group"])))
        document = {"machine": report.machine(), "rows": every}
        RESULTS.write_text(_text(document))
        report.write(json.loads(RESULTS.read_text()))
        subprocess.run([sys.executable, "-m", "benchmarks.readme"], check=True)


def _beside(groups: list[str]) -> list[dict[str, object]]:
    """The rows of all other groups, from the run before; none if all groups ran."""
    if not groups:
        return []
    kept = json.loads(RESULTS.read_text())["rows"]
    return [row for row in kept if row["group"] not in groups]


def _in_process(group: str, threads: int, only: str) -> list[dict[str, object]]:
    command = [sys.executable, "-m", "benchmarks", group, "--as-json"]
    command += ["--threads", str(threads), "--only", only]
    own = {**os.environ, "TRACEIR_CACHE": "0"}  # only `processes` turns it on
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=own, cwd=RESULTS.parents[1]
    )
    rows = []
    with process:
        for line in process.stdout or ():
            rows.append(json.loads(line))
            _show(rows[-1])
    if process.returncode:
        raise SystemExit(f"{group} ended with {process.returncode}")
    return rows


def _text(document: dict[str, Any]) -> str:
    """The results as JSON, a row on each line; figures to five digits."""
    rounded = json.loads(
        json.dumps(document), parse_float=lambda x: float(f"{float(x):.5g}")
    )
    rows = ",\n".join(map(json.dumps, rounded["rows"]))
    return f'{{"machine": {json.dumps(rounded["machine"])},\n"rows": [\n{rows}\n]}}\n'


def _show(row: dict[str, object]) -> None:
    from benchmarks.report import own_time, ratio_texts

    print(
        f"{row['group']:12}{row['threads']:2}  {row['name']:34}"
        f"{own_time(row):>10}  {ratio_texts(row)}",
        flush=True,
    )


def _measure(group: str, threads: int, only: str) -> None:
    """In a process of its own: print each row's times as a line of JSON."""
    available = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, available[:threads])
    from benchmarks.rows import rows_of

    for row in rows_of(group, only):
        print(json.dumps({"group": group, "threads": threads, **row}), flush=True)


if __name__ == "__main__":
    main()
