"""Try every mutant of the tables, and write down what the cases say of them.

    python -m mutation [table ...]

Without a table, all of them. What is found of a table replaces what was found of it
before in `spec/runs/mutants.json.xz`.
"""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from io import StringIO
from itertools import chain
from multiprocessing import get_context
from typing import Any

from mutation.hunt import Hunter
from mutation.record import Allowed, enumeration, read_allowed, write
from mutation.tables import Mutant

from traceir.conform import load_cases
from traceir.conform.reporting.progress import Progress
from traceir.rules import spec_path
from traceir.rules.load import read_tables

Tables = dict[str, Any]
Found = list[tuple[int, str | None]]


def hunt(part: tuple[int, int], only: Sequence[str], tables: Tables) -> Found:
    """The cases that tell each mutant, in one of several equal parts."""
    # The corpus holds whole programs, whose every part a smaller case is about.
    cases = [c for c in load_cases() if not c.name.startswith("jax/")]
    hunter = Hunter(tables, cases)
    hunter.prepare()
    chosen = [(n, m) for n, m in enumerate(enumeration(tables)) if wanted(m, only)]
    own = [pair for k, pair in enumerate(chosen) if (k // 20) % part[1] == part[0]]
    found: Found = []
    # One part shows how far it is, for all.
    with Progress(len(own), sys.stderr if part[0] == 0 else StringIO()) as progress:
        for n, mutant in own:
            found.append((n, hunter.teller(mutant)))
            progress.step("pass" if found[-1][1] else "survive")
    return found


def wanted(mutant: Mutant, only: Sequence[str]) -> bool:
    """True if a mutant is of one of these tables, or of any, if there are none."""
    return not only or mutant.table in only


def asked(words: Sequence[str], tables: Tables) -> list[str]:
    """The tables of a command line; it ends the process for any other word."""
    parser = ArgumentParser("python -m mutation", description="Hunt mutants of tables.")
    # What may be left out has no `choices` in Python 3.11.
    parser.add_argument("table", nargs="*", help=f"of {', '.join(sorted(tables))}")
    found: list[str] = parser.parse_args(words).table
    for word in found:
        if word not in tables:
            parser.error(f"there is no table {word}")
    return found


def main(words: Sequence[str]) -> int:
    """Print the survivors and the counts; 1 if one survives that is not allowed."""
    began = time.time()
    tables = read_tables(spec_path() / "rules")
    only = asked(words, tables)
    mutants = list(enumeration(tables))
    workers = min(os.cpu_count() or 1, 2)
    with get_context("fork").Pool(workers) as pool:
        parts = [((n, workers), only, tables) for n in range(workers)]
        found = dict(chain.from_iterable(pool.starmap(hunt, parts, 1)))
    told = {m: found[n] for n, m in enumerate(mutants) if wanted(m, only)}
    allowed = read_allowed()
    left = report([m for m in told if told[m] is None], allowed)
    write(told, allowed)
    print(f"{len(told)} mutants, {len(left)} survive that are not allowed")
    print(f"{time.time() - began:.0f} s")
    return bool(left)


def report(survivors: Sequence[Mutant], allowed: Allowed) -> list[Mutant]:
    """The survivors that are not on the list of those that may."""
    left = [m for m in survivors if m not in allowed]
    for mutant in left:
        print(f"survives: {mutant}")
    return left


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
