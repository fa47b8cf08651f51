"""Try every mutant of the tables, and write down what the cases say of them.

    python -m mutation [table ...]

Without a table, all of them, and `spec/runs/mutants.json` is written.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from multiprocessing import get_context

from mutation.hunt import LOADER, Hunter
from mutation.record import Allowed, enumeration, read_allowed, write
from mutation.tables import Mutant

from traceir.conform import load_cases
from traceir.rules import spec_path
from traceir.rules.load import read_tables

Found = list[tuple[int, str | None]]


def hunt(part: tuple[int, int], only: Sequence[str]) -> Found:
    """What tells each mutant, in one of several equal parts."""
    tables = read_tables(spec_path() / "rules")
    # The corpus holds whole programs, whose every part a smaller case is about.
    cases = [c for c in load_cases() if not c.name.startswith("jax/")]
    hunter = Hunter(tables, cases)
    hunter.prepare()
    chosen = [(n, m) for n, m in enumerate(enumeration(tables))]
    return [
        (n, hunter.teller(mutant))
        for n, mutant in chosen
        if (n // 40) % part[1] == part[0] and (not only or mutant.table in only)
    ]


def main(only: Sequence[str]) -> int:
    """Print the survivors and the counts; 1 if one survives that is not allowed."""
    began = time.time()
    workers = min(os.cpu_count() or 1, 2)
    with get_context("fork").Pool(workers) as pool:
        parts = [((n, workers), only) for n in range(workers)]
        found = dict(chain.from_iterable(pool.starmap(hunt, parts, 1)))
    mutants = list(enumeration(read_tables(spec_path() / "rules")))
    survivors = [mutants[n] for n, teller in sorted(found.items()) if teller is None]
    allowed = read_allowed()
    left = report(survivors, allowed)
    count: Counter[str] = Counter(mutants[n].table for n in found)
    print(f"{len(found)} mutants: {dict(count)}")
    print(f"{sum(t == LOADER for t in found.values())} refused by the loader")
    print(f"{len(survivors)} survive, {len(left)} of them not allowed")
    print(f"{time.time() - began:.0f} s")
    if not only:
        write(mutants, survivors, allowed)
    return bool(left)


def report(survivors: Sequence[Mutant], allowed: Allowed) -> list[Mutant]:
    """The survivors that are not on the list of those that may."""
    left = [m for m in survivors if m not in allowed]
    for mutant in left:
        print(f"survives: {mutant}")
    return left


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
