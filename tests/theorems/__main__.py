"""``python -m theorems``: try the theorems on all small programs, and on drawn ones.

    python -m theorems [--programs=N] [--seconds=N] [theorem ...]

Every small program is tried, then so many drawn ones of each theorem, in chunks. The
record, `tests/records/theorems.json`, is written after each chunk: a run that is
stopped goes on where it stopped. Small programs are tried anew if the judgements, the
trials or the small programs have changed since.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
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
    """The digest of the judgements and of the trials."""
    table = spec_path() / "rules" / "judgements.toml"
    files = [table, *Path(__file__).parent.glob("*.py")]
    texts = (path.read_bytes() for path in sorted(files, key=lambda p: p.name))
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:16]


def kind_of(theorem: str) -> str:
    """The kind of programs that are drawn for a theorem."""
    return KINDS.get(theorem.removeprefix("theorem."), "any")


def subjects(theorem: str, programs: Iterable[ClosedJaxpr]) -> Iterator[Any]:
    """Each program, and the subject of its trial."""
    for n, program in enumerate(programs):
        compiles = theorem == "theorem.passes" and n % COMPILED == 0
        yield program, Subject(compiles=compiles)


def chunk(theorem: str, programs: Iterable[ClosedJaxpr]) -> tuple[int, list[str]]:
    """The number of programs that were tried, and the faults."""
    count, faults = 0, []
    for program, subject in subjects(theorem, programs):
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
    count, faults = chunk(theorem, programs)
    row["small"] += count
    row["small_faults"] = (row["small_faults"] + faults)[:KEPT]
    row["whole"] = count < CHUNK
    return True


def more(theorem: str, row: dict[str, Any], most: int) -> bool:
    """Try one chunk of drawn programs more; False if so many have been tried."""
    first = row.get("drawn", 0)
    if first >= most:
        return False
    numbers = range(first, first + CHUNK)
    _, faults = chunk(theorem, (drawn(kind_of(theorem), n) for n in numbers))
    row["drawn"] = first + CHUNK
    row["drawn_faults"] = (row.get("drawn_faults", []) + faults)[:KEPT]
    return True


def main() -> int:
    """Try them; the exit status is 1 if there are faults."""
    parser = argparse.ArgumentParser(prog="theorems", description=__doc__)
    parser.add_argument("theorem", nargs="*", default=[], help="all if none is named")
    parser.add_argument("--programs", type=int, default=1_000_000, help="drawn ones")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    given = parser.parse_args()
    end = time.monotonic() + given.seconds
    names = [t for t in TRIALS if not given.theorem or t in given.theorem]
    kinds: dict[str, Callable[[str, dict[str, Any]], bool]] = {
        "small": small,
        "drawn": partial(more, most=given.programs),
    }
    for kind, go_on in kinds.items():
        left = list(names)
        while left and time.monotonic() < end:
            # The theorem goes on of which the fewest programs were tried.
            record = read()
            counts = {t: record.get(t, {}).get(kind, 0) for t in left}
            theorem = min(left, key=lambda name: counts[name])
            if not go_on(theorem, record.setdefault(theorem, {})):
                left.remove(theorem)
            write(record)
            print(theorem, record[theorem].get(kind, 0), kind, flush=True)
    faults = [f for row in read().values() for f in _faults(row)]
    print(*faults, sep="\n")
    return bool(faults)


def _faults(row: dict[str, Any]) -> list[str]:
    return [*row.get("small_faults", []), *row.get("drawn_faults", [])]


if __name__ == "__main__":
    sys.exit(main())
