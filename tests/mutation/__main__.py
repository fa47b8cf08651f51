"""Try the mutants of the tables that are stale, and write down what tells them.

    python -m mutation [table ...]    hunt, in all tables or some
    python -m mutation row NAME ...   what tells the mutants of rows, by the record
    python -m mutation check          confirm a sample of the record

A hunt goes on where an earlier one was interrupted: what was found is kept in
`spec/runs/mutants.json.xz` every minute.
"""

from __future__ import annotations

import os
import pickle
import random
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from multiprocessing import get_context
from typing import Any

from mutation import functions
from mutation.hunt import CITATION, Hunter
from mutation.installed import Desk
from mutation.known import of_the_suite
from mutation.record import (
    ROOT,
    Allowed,
    Hunted,
    State,
    Told,
    case_digest,
    digest_of,
    engine_digest,
    enumeration,
    read_allowed,
)
from mutation.tables import Mutant

from traceir.conform.reporting.progress import Progress
from traceir.rules import spec_path
from traceir.rules.load import read_tables

Tables = dict[str, Any]
Trial = tuple[int, Told | None, float]
# Mutants that a worker is given at once, twice as many of one row: of those told soon,
# and of others, each of which may take a minute. Seconds between writes.
CHUNK = 20
FEW = 2
# The ways to try mutants, from the soonest to that by all cases.
WAYS = ("soon", "guess", "all")
# Sections of rows that no code reads, unless they have more than prose.
PROSE = ("fact", "form")
PAUSE = 90
# What judging the cases reads: kept between hunts, since to find it takes a minute.
LOOKS = ROOT / "build" / "mutants" / "looks.pickle"

# The cases of earlier hunts: what survived these is tried on the others alone.
SUITES = ROOT / "build" / "mutants" / "suites.pickle"

# What workers have from the process that they are forked from.
_hunter: Hunter
_mutants: Sequence[Mutant]
_before: Hunted


class Survived:
    """The cases that a mutant survived in an earlier hunt, by their numbers.

    None of a mutant that was told, or for which something else has changed since.
    """

    def __init__(
        self, hunted: Hunted, state: State, numbers: Mapping[str, int]
    ) -> None:
        self.hunted, self.state = hunted, state
        kept = pickle.loads(SUITES.read_bytes()) if SUITES.exists() else {}
        kept[state.all_cases] = frozenset(state.cases.items())
        SUITES.parent.mkdir(parents=True, exist_ok=True)
        SUITES.write_bytes(pickle.dumps(kept))
        self.suites = {
            suite: frozenset(numbers[n] for n, _ in cases & state.cases.items())
            for suite, cases in kept.items()
        }

    def __call__(self, mutant: Mutant) -> frozenset[int]:
        entry, state = self.hunted.of(mutant), self.state
        if entry is None or entry.killer:
            return frozenset()
        if (entry.row, entry.engine) != (state.row(mutant), state.engine):
            return frozenset()
        return self.suites.get(entry.case, frozenset())


def _begin() -> None:
    _hunter.desk = Desk()  # it is shared with children, but not among workers


def _try(numbers: Sequence[int], how: str) -> list[Trial]:
    """The trials of some mutants: by what tells them `soon`, by a guess, or by all."""
    chunk = []
    for n in numbers:
        entry = _before.of(_mutants[n])
        before = Told(entry.killer, entry.by) if entry and entry.killer else None
        chunk.append((_mutants[n], before))
    began = _spent()
    hunter = _hunter
    match how:
        case "soon":
            found = hunter.together(chunk)
        case "guess":
            found = [hunter.guessed(mutant) for mutant, _ in chunk]
        case _:
            found = [hunter.teller(*one) for one in chunk]
    each = (_spent() - began) / len(numbers)
    return [(n, told, each) for n, told in zip(numbers, found)]


def _spent() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def state_of(tables: Tables) -> State:
    """The tables, with the cases and the engine as they are."""
    cases = {case.name: case_digest(case) for case in of_the_suite()}
    return State(tables, cases, engine_digest())


def asked(words: Sequence[str], tables: Tables) -> Namespace:
    """The command line; it ends the process for a table that there is not."""
    parser = ArgumentParser("python -m mutation", description="Hunt mutants of tables.")
    every = ", ".join(sorted({*tables, *functions.TABLES}))
    known = f"in this order, of {every}; row NAME; check"
    # What may be left out has no `choices` in Python 3.11.
    parser.add_argument("words", nargs="*", metavar="table", help=known)
    parser.add_argument("--jobs", type=int, default=2, help="processes (%(default)d)")
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after so many")
    parser.add_argument("--soon", action="store_true", help="what is told soon alone")
    parser.add_argument("--late", action="store_true", help="what is not told soon")
    parser.add_argument("--new", action="store_true", help="what nothing is known of")
    found = parser.parse_args(words)
    for word in found.words if found.words[:1] not in (["row"], ["check"]) else ():
        if word not in {*tables, *functions.TABLES}:
            parser.error(f"there is no table {word}")
    return found


def main(words: Sequence[str]) -> int:
    """Hunt, tell or check; 1 if a mutant survives that is not allowed."""
    tables = read_tables(spec_path() / "rules")
    options = asked(words, tables)
    hunted, state = Hunted.read(), state_of(tables)
    mutants = list(enumeration(tables))
    match options.words:
        case ["row", *rows]:
            return tell(mutants, rows, hunted, state)
        case ["check", *_]:
            return check(mutants, hunted, state, options.seconds or 8.0)
    allowed = read_allowed()

    def wanted(mutant: Mutant) -> bool:
        entry = hunted.of(mutant)
        if options.words and mutant.table not in options.words:
            return False
        if not options.new:
            return state.stale(mutant, entry)
        known = mutant in allowed and not state.changed(mutant, entry)
        return state.unknown(mutant, entry) and not known

    stale = [n for n, mutant in enumerate(mutants) if wanted(mutant)]
    if options.words:
        stale.sort(key=lambda n: options.words.index(mutants[n].table))
    try:
        hunt(mutants, stale, hunted, state, options)
    except KeyboardInterrupt:
        print("interrupted: the next hunt goes on from here")
        return 130
    finally:
        hunted.write(mutants, allowed)
    return report(mutants, hunted, state, allowed)


def hunt(
    mutants: Sequence[Mutant],
    stale: Sequence[int],
    hunted: Hunted,
    state: State,
    options: Namespace,
) -> None:
    """Try these mutants, and enter what is found as it comes."""
    stale = uncited(mutants, stale, hunted, state)
    if not stale:
        return
    began = written = time.monotonic()
    global _hunter, _mutants, _before
    _hunter, _mutants, _before = Hunter.of(state.tables, LOOKS), mutants, hunted
    _hunter.known_of = Survived(hunted, state, _hunter.numbers)
    for mutant in mutants:
        entry = hunted.of(mutant)
        if entry and entry.killer in _hunter.numbers:
            _hunter.noted(mutant, (_hunter.numbers[entry.killer], entry.by))
    allowed = read_allowed()
    with (
        get_context("fork").Pool(options.jobs, _begin) as pool,
        Progress(len(stale)) as progress,
    ):
        # First those that are told soon, then by a guess, then the others.
        left = list(stale)
        ways = WAYS[:1] if options.soon else WAYS[-1:] if options.late else WAYS
        for how in ways:
            chunks = list(_chunks(mutants, left, CHUNK if how == "soon" else FEW))
            left = []
            for found in pool.imap_unordered(partial(_try, how=how), chunks):
                for n, told, seconds in found:
                    if how != WAYS[-1] and told is None:
                        hunted.seconds += seconds
                        left.append(n)
                        continue
                    hunted.add(mutants[n], state.entry(mutants[n], told), seconds)
                    progress.step("pass" if told else "survive")
                if time.monotonic() - written > PAUSE:
                    hunted.write(mutants, allowed)
                    written = time.monotonic()
                if options.seconds and time.monotonic() - began > options.seconds:
                    return
            left.sort(key={n: k for k, n in enumerate(stale)}.__getitem__)


def uncited(
    mutants: Sequence[Mutant], stale: Sequence[int], hunted: Hunted, state: State
) -> list[int]:
    """The mutants that are to be tried; those of cited facts are entered."""
    hunter, left = Hunter.ready(state.tables), []
    for n in stale:
        if mutants[n].path[1] in PROSE and hunter.is_cited(mutants[n]):
            told = Told(CITATION)
            hunted.add(mutants[n], state.entry(mutants[n], told), 0.0)
        else:
            left.append(n)
    return left


def _chunks(
    mutants: Sequence[Mutant], numbers: Sequence[int], many: int
) -> Iterator[list[int]]:
    """The mutants that a worker is given at once: those of a row together, mostly."""
    found: list[int] = []
    for n in numbers:
        other = found and mutants[found[-1]].row != mutants[n].row
        if len(found) >= (many if other else 2 * many):
            yield found
            found = []
        found.append(n)
    if found:
        yield found


def report(
    mutants: Sequence[Mutant], hunted: Hunted, state: State, allowed: Allowed
) -> int:
    """Print the survivors and the counts; 1 if one survives that is not allowed."""
    summary = hunted.summary(mutants, allowed)
    for line in summary["surviving"]:
        print(f"survives: {line}")
    stale = sum(state.stale(m, hunted.of(m)) for m in mutants)
    print(
        f"{summary['mutants']} mutants: {summary['killed']} told, "
        f"{len(summary['allowed'])} allowed, {len(summary['surviving'])} open, "
        f"{stale} stale"
    )
    return bool(summary["surviving"])


def tell(
    mutants: Sequence[Mutant], rows: Sequence[str], hunted: Hunted, state: State
) -> int:
    """Print what tells the mutants of rows, by the record; 1 if there are none."""
    found = [m for m in mutants if {*_names(m)} & {*rows}]
    allowed = read_allowed()
    for mutant in found:
        entry = hunted.of(mutant)
        told = "not tried" if entry is None else f"{entry.killer} {entry.by}".strip()
        if not told:
            known = mutant in allowed
            told = f"allowed: {allowed.reason(mutant)}" if known else "nothing"
        old = " (stale)" if entry and state.stale(mutant, entry) else ""
        print(f"{mutant}\n    {told}{old}")
    print(f"{len(found)} mutants of {', '.join(rows)}")
    return not found


def _names(mutant: Mutant) -> Iterator[str]:
    """The names of a row: its own, its id, and its place in the tables."""
    parts = mutant.where.split("/")
    yield from (mutant.row, *parts[2:3], "/".join(parts[:3]))
    if "clause" in parts[3:4] and len(parts) > 4:
        yield f"{parts[2]}.{parts[4]}"


def check(
    mutants: Sequence[Mutant], hunted: Hunted, state: State, seconds: float
) -> int:
    """Confirm a sample of what the record says, each mutant by what told it.

    The sample is another one for other tables, cases or another engine. 1 if one is
    not told any more.
    """
    told = [m for m in mutants if (e := hunted.of(m)) and e.killer in state.cases]
    seed = digest_of([str(len(mutants)), state.all_cases, state.engine])
    random.Random(seed).shuffle(told)
    hunter = Hunter.ready(state.tables)
    began, wrong, tried = _spent(), [], 0
    for mutant in told:
        entry = hunted.of(mutant)
        assert entry is not None
        if state.changed(mutant, entry):
            continue
        tried += 1
        before = Told(entry.killer, entry.by)
        if hunter.teller(mutant, before, alone=True) is None:
            wrong.append(f"{mutant}: not told by {entry.killer}")
        if _spent() - began > seconds:
            break
    print(*wrong, f"{tried} of {len(told)} confirmed", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
