"""``python -m theorems``: try the theorems on all small programs, and on drawn ones.

    python -m theorems [--programs=N] [--seconds=N] [theorem ...]

Every small program is tried, then so many drawn ones of each theorem, in chunks. Where
a trial makes choices (batched axes, what is given later, another call, another order of
transforms), it makes all of them on a small program, and on a drawn one the first and
some that are drawn with it: one, of calls three.

The record, `tests/records/theorems.json`, is written after each chunk: a run that is
stopped goes on where it stopped. Small programs are tried anew if the judgements, the
trials or the small programs have changed since.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from recorded import Record

from theorems.drawn import drawn
from theorems.subjects import SUBJECTS
from theorems.trials import TRIALS, Subject, tried
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.rules import spec_path

RECORD = Record("theorems.json")
CHUNK = 1000
# Programs that are made into machine code, which takes long: one in so many.
COMPILED = 50
KINDS = {"jvp": "smooth", "transpose": "smooth", "composition": "smooth"}
KINDS |= {"vmap": "plain", "passes": "plain", "trace": "narrow", "keys": "narrow"}
# So it is of drawn ones.
DRAWN_COMPILED = 200
# A trial makes all choices on small programs, and draws some on drawn ones.
RANDOM = Random(0)
ALL, COMPILING = Subject(), Subject(compiles=True)
DRAWN, DRAWN_COMPILING = Subject(random=RANDOM), Subject(random=RANDOM, compiles=True)
# So many results of applications are kept for programs that have them, too.
APPLICATIONS = 200_000
# Modules of this package that have no part in trials.
APART = frozenset({"__main__.py", "test_theorems.py"})
# Faults that are kept of each theorem.
KEPT = 20


def read() -> dict[str, Any]:
    """The record, by theorem."""
    found: dict[str, Any] = (
        json.loads(RECORD.read_text()) if RECORD.path.exists() else {}
    )
    return found


def write(record: dict[str, Any]) -> None:
    """Write the record."""
    text = json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False)
    RECORD.write_text(text + "\n")


def digest() -> str:
    """The digest of the judgements, of the trials and of what is made machine code."""
    table = spec_path() / "rules" / "judgements.toml"
    trials = [p for p in Path(__file__).parent.glob("*.py") if p.name not in APART]
    files = sorted([table, *trials], key=lambda p: p.name)
    numbers = f"{CHUNK} {COMPILED} {DRAWN_COMPILED}".encode()
    texts = [numbers, *(path.read_bytes() for path in files)]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:16]


def kind_of(theorem: str) -> str:
    """The kind of programs that are drawn for a theorem."""
    return KINDS.get(theorem.removeprefix("theorem."), "any")


def small_chunk(theorem: str, programs: Iterable[ClosedJaxpr]) -> tuple[int, list[str]]:
    """The number of programs that were tried, and the faults."""
    count, faults = 0, []
    for n, program in enumerate(programs):
        subject = COMPILING if n % COMPILED == 0 else ALL
        count += 1
        faults += [f"{program}: {f}" for f in tried(theorem, program, subject)]
    return count, faults


def small(theorem: str, row: dict[str, Any]) -> bool:
    """Try one chunk of small programs more; False if all have been tried.

    Those that were tried count as long as tables, trials and programs are the same.
    """
    if row.get("digest") != (now := digest()):
        row |= {"digest": now, "small": 0, "whole": False, "small_faults": []}
    if row["whole"]:
        return False
    first = row["small"]
    programs = islice(SUBJECTS[theorem](1), first, first + CHUNK)
    count, faults = small_chunk(theorem, programs)
    row["small"] += count
    row["small_faults"] = (row["small_faults"] + faults)[:KEPT]
    row["whole"] = count < CHUNK
    return True


def more(theorems: Sequence[str], record: dict[str, Any]) -> None:
    """Try one chunk of drawn programs more, each by these theorems, of one kind."""
    kind = kind_of(theorems[0])
    first = record[theorems[0]].get("drawn", 0)
    found: dict[str, list[str]] = {theorem: [] for theorem in theorems}
    for number in range(first, first + CHUNK):
        program = drawn(kind, number)
        subject = DRAWN_COMPILING if number % DRAWN_COMPILED == 0 else DRAWN
        for theorem in theorems:
            RANDOM.seed(f"{theorem} {number}")
            found[theorem] += [
                f"{program}: {f}" for f in tried(theorem, program, subject)
            ]
    for subject in (DRAWN, DRAWN_COMPILING):
        if len(subject.interpreter.known) > APPLICATIONS:
            subject.interpreter.known.clear()
    for theorem, faults in found.items():
        row = record[theorem]
        row["drawn"] = first + CHUNK
        row["drawn_faults"] = (row.get("drawn_faults", []) + faults)[:KEPT]


def least(names: Iterable[str], counts: Mapping[str, int]) -> list[str]:
    """The theorems of one kind of which the fewest programs were tried."""
    first = min(names, key=lambda name: counts[name])
    return [
        name
        for name in names
        if counts[name] == counts[first] and kind_of(name) == kind_of(first)
    ]


def main() -> int:
    """Try them; the exit status is 1 if there are faults."""
    parser = argparse.ArgumentParser(prog="theorems", description=__doc__)
    parser.add_argument("theorem", nargs="*", default=[], help="all if none is named")
    parser.add_argument("--programs", type=int, default=1_000_000, help="drawn ones")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    given = parser.parse_args()
    end = time.monotonic() + given.seconds
    record = read()
    names = [t for t in TRIALS if not given.theorem or t in given.theorem]
    left = list(names)
    while left and time.monotonic() < end:
        theorem = least(left, {t: record.get(t, {}).get("small", 0) for t in left})[0]
        if not small(theorem, record.setdefault(theorem, {})):
            left.remove(theorem)
        written(record, [theorem], "small")
    # Tables and small programs stay: looking through them again takes a tenth longer.
    gc.collect()
    gc.freeze()
    while time.monotonic() < end:
        counts = {t: record[t].get("drawn", 0) for t in names}
        some = least(names, counts)
        if counts[some[0]] >= given.programs:
            break
        more(some, record)
        written(record, some, "drawn")
    faults = [f for row in record.values() for f in _faults(row)]
    print(*faults, sep="\n")
    return bool(faults)


def written(record: dict[str, Any], theorems: Sequence[str], kind: str) -> None:
    """Write the record, and say how far it is."""
    write(record)
    print(*theorems, record[theorems[0]].get(kind, 0), kind, flush=True)


def _faults(row: dict[str, Any]) -> list[str]:
    return [*row.get("small_faults", []), *row.get("drawn_faults", [])]


if __name__ == "__main__":
    sys.exit(main())
