"""A campaign: many programs, their differences grouped, known ones told apart."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from against_jax.known import explanation, known
from against_jax.minimise import minimised
from against_jax.programs import Program, draw
from against_jax.running import Found, Late, Runner

CHUNK = 1000  # programs of one process: what libraries keep of each is given back
THOROUGH = 16  # each sixteenth program runs in every way on both sides
# Of the others a quarter each is compiled by the Numba backend and by the reference; of
# the rest, JAX is asked for the types and errors alone, which costs it no compilation.
BACKENDS = ("jit", "types", "reference", "types")
FORGET = 250
PATIENCE = 300  # seconds that one program has, with what makes it small

Row = dict[str, Any]


def run_chunk(seed: int, numbers: Sequence[int], place: Path, tries: int) -> None:
    """Run programs in this process; findings are appended to a file, as JSON."""
    runner = Runner()
    # Both libraries have many objects that stay: they are not looked at each time.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    seen: dict[str, Row] = {}
    with place.open("a") as file:
        for count, number in enumerate(numbers, 1):
            Path(f"{place}.at").write_text(str(number))
            for row in _rows(runner, draw(seed, number), number, seen, tries):
                print(json.dumps(row), file=file, flush=True)
            if count % FORGET == 0:
                runner.forget()


def _rows(
    runner: Runner, program: Program, number: int, seen: dict[str, Row], tries: int
) -> list[Row]:
    try:
        backend = BACKENDS[number % len(BACKENDS)]
        found = runner.differences(program, number % THOROUGH == 0, backend)
        if not found:
            return []
        return [_row(runner, program, number, found, seen, tries)]
    except Late as late:
        return [{**_start(program, number), "kind": "late", "detail": str(late)}]


def _start(program: Program, number: int) -> Row:
    return {
        "number": number,
        "source": program.source,
        "body": program.body,
        "wide": program.wide,
        "mode": "",
        "ours": "",
        "theirs": "",
    }


def _row(
    runner: Runner,
    program: Program,
    number: int,
    found: list[Found],
    seen: dict[str, Row],
    tries: int,
) -> Row:
    first = found[0]
    raw = f"{program.source} {first.mode} {first.difference}"
    if raw in seen:
        return {**seen[raw], "number": number}

    def same(candidate: Program) -> bool:
        try:
            return runner.again(candidate, first.mode) == first.difference
        except Late:
            return False

    small = minimised(program, same, tries)
    again = runner.differences(small, first.mode == "backend")
    last = next((f for f in again if f.difference == first.difference), first)
    seen[raw] = {
        **_start(small, number),
        "kind": first.difference.kind,
        "detail": first.difference.detail,
        "mode": " ".join(dict.fromkeys(f.mode for f in found)),
        "ours": str(last.ours),
        "theirs": str(last.theirs),
    }
    return seen[raw]


def run(
    seed: int, numbers: Sequence[int], place: Path, tries: int
) -> tuple[list[Row], float]:
    """Run a campaign in one process after the other; its findings, and the seconds."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("")
    began = time.time()
    for start in range(0, len(numbers), CHUNK):
        left = numbers[start : start + CHUNK]
        while left:
            left = _run_child(seed, left, place, tries)
    return findings([place]), time.time() - began


def findings(places: Iterable[Path]) -> list[Row]:
    """The findings that campaigns have written, in order."""
    return [json.loads(row) for p in places for row in p.read_text().splitlines()]


def _run_child(
    seed: int, numbers: Sequence[int], place: Path, tries: int
) -> Sequence[int]:
    """Run a chunk in a process of its own; the programs that it did not come to."""
    command = [sys.executable, "-m", "against_jax", "--chunk", f"--seed={seed}"]
    command += [f"--out={place}", f"--tries={tries}"]
    at = Path(f"{place}.at")
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    child = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, text=True)
    assert child.stdin is not None
    with child.stdin as told:
        told.write(" ".join(map(str, numbers)))
    kind = "crash"
    while child.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(PATIENCE / 10)
        if at.exists() and time.time() - at.stat().st_mtime > PATIENCE:
            kind = "hang"
            child.kill()
            child.wait()
    if child.returncode == 0:
        return ()
    if child.returncode > 0:
        raise SystemExit(f"the process of programs from {numbers[0]} on failed")
    number = int(at.read_text())
    row = {**_start(draw(seed, number), number), "kind": kind}
    with place.open("a") as file:
        print(json.dumps({**row, "detail": f"signal {-child.returncode}"}), file=file)
    return numbers[numbers.index(number) + 1 :]


def report(seed: int, numbers: Sequence[int], rows: list[Row], seconds: float) -> str:
    """The figures and the distinct findings, unexplained ones first, as text."""
    table = known()
    count = len(numbers)
    entries = {id(row): explanation(row, table) for row in rows}
    bad = [row for row in rows if not entries[id(row)]]
    rounded = sum(bool(entry and entry.rounding) for entry in entries.values())
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in bad:
        groups.setdefault((row["source"], row["kind"], row["detail"]), []).append(row)
    kinds = Counter(row["kind"] for row in rows)
    lines = [
        f"{count} programs, seed {seed}, from {numbers[0]}: {seconds:.0f} s, "
        f"{1000 * seconds / max(count, 1):.0f} ms each",
        f"{100 * (count - len(rows) + rounded) / count:.2f} % agree, {rounded} of them "
        f"but for rounding; {len(rows) - rounded} differ: {len(bad)} unexplained, in "
        f"{len(groups)} groups",
        ", ".join(f"{kind} {times}" for kind, times in kinds.most_common()),
    ]
    for (source, kind, detail), members in sorted(groups.items()):
        row = members[0]
        lines += [
            "",
            f"== {source}  [{kind}: {detail}] x{len(members)}"
            f"  (number {row['number']}, {row['mode']}, x64 {row['wide']})",
            row["body"].rstrip(),
            f"  ours    {row['ours']}",
            f"  theirs  {row['theirs']}",
        ]
    return "\n".join(lines) + "\n"
