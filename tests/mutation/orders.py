"""The cases by which a mutant is tried, and their order.

No case tells a mutant of a row that it does not read. First comes what told the mutant
before, or others of its row, then what cites the row, then the cheapest.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, islice
from types import FrameType
from typing import Any

import numpy as np
from mutation.edges import SMALL
from mutation.installed import forget, in_child, install
from mutation.known import COLUMNS, Known
from mutation.record import Told
from mutation.tables import Mutant, leaves, of_an_exception
from mutation.verdicts import CLOSE, is_close

from traceir.conform import Case
from traceir.oracle import accuracy
from traceir.rules.rules import PRIMITIVES

# Cases of a row by which results near the edge of what is right are tried.
NEAR = 4
OF_A_DTYPE = 2
# Cases of each accuracy set by which the mutants of sets are tried.
OF_A_SET = 8
# Cases that are tried before the others, which most mutants do not come to.
LIKELY = 40
# Tables that speak of calls of functions alone, which programs have none of.
OF_CALLS = ("machine", "cache", "levels")
# Seconds for the cases of one mutant of a table that any case may read.
ENOUGH = 2.0


@dataclass
class Ordered(Known):
    """Cases in the order in which they are tried."""

    telling: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    # The cases, by number, of which it is known that they do not tell a mutant.
    known_of: Callable[[Mutant], Collection[int]] = lambda mutant: ()

    def order(
        self, mutant: Mutant, before: Told | None = None, alone: bool = False
    ) -> list[int]:
        """The cases to try: those that told this one or its like, that are about it."""
        vain = self.known_of(mutant)
        return [n for n in self._order(mutant, before, alone) if n not in vain]

    def _order(self, mutant: Mutant, before: Told | None, alone: bool) -> list[int]:
        known = before is not None and before.killer in self.numbers
        first = [self.numbers[before.killer]] if before and known else []
        if alone and before is not None:
            return first
        if mutant.table == "sets":
            runs = self.running.get(mutant.row, ())
            like = [n for n in self.telling[mutant.row][:8] if n in runs]
            of_sets = [n for n in self.of_sets if n in runs]
            return list(dict.fromkeys([*first, *like, *of_sets]))
        wanted = self.read_names(mutant)
        reading = [
            n
            for n, look in enumerate(self.looks)
            if wanted is None or wanted & look.reads
        ]
        if mutant.table == "staged":  # of which plain functions alone have anything
            reading = [n for n, case in enumerate(self.cases) if case.plain]
        elif mutant.table != "errors":
            reading = [n for n in reading if not self.cases[n].plain]

        def late(n: int) -> tuple[bool, float]:
            return mutant.row not in self.cases[n].cites, self.looks[n].seconds

        reading = sorted(reading, key=late)
        allowed = {*reading}
        near, far = self.telling[part_of(mutant)], self.telling[mutant.row]
        any_row = self.telling[mutant.table] if wanted is None else ()
        like = [n for n in (*near[:8], *far[:8], *any_row[:LIKELY]) if n in allowed]
        if wanted is None:
            reading = self.some(reading, mutant)
        return list(dict.fromkeys([*first, *like, *reading]))

    def some(self, reading: Sequence[int], mutant: Mutant) -> list[int]:
        """The cases that are tried where any may tell a mutant: those that cite its
        row, or one that this names, then some of each family, as many as the time for
        one mutant allows; in turn with these, those that have the dtype it is about.
        """
        if mutant.table in OF_CALLS:
            reading = [n for n in reading if self.cases[n].session]
        turns: dict[tuple[str, bool], int] = defaultdict(int)
        rank = {}
        row: Any = self.tables
        for step in mutant.path[:3]:
            row = row[step]
        about = {mutant.row, *(text for _, text in leaves(row) if type(text) is str)}
        shorts = self.shorts(mutant)
        for n in reading:
            case = self.cases[n]
            has = any(short in text for text in texts_of(case) for short in shorts)
            family = case.name.partition("/")[0], has
            cited = not about.isdisjoint(case.cites)
            if mutant.table == "judgements":  # by which programs are refused
                cited |= any(rule.startswith("program.") for rule in case.rejected)
            rank[n] = (0 if cited else turns[family]), not has
            turns[family] += not cited
        found, spent = [], 0.0
        for n in sorted(reading, key=rank.__getitem__):
            found.append(n)
            spent += self.looks[n].seconds
            if spent > ENOUGH:
                break
        return found

    def shorts(self, mutant: Mutant) -> list[str]:
        """The spellings in programs of the dtypes that a mutant is about."""
        if mutant.table != "lattice":
            return []
        place: Any = self.tables
        for step in mutant.path:
            place = place[step]
        dtypes = self.base.lattice.dtypes
        named = {mutant.row, *(text for _, text in leaves(place))}
        return [f":{dtypes[name].short}[" for name in named & dtypes.keys()]

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The numbers of the cases by their names."""
        return {case.name: n for n, case in enumerate(self.cases)}

    def near(self, order: Sequence[int]) -> list[int]:
        """The cases by which it is told what is right or wrong by a little.

        Those of floating results first, of each dtype some: bounds are stated by dtype.
        One has a zero among these, and one zeros of both signs among its operands: of
        some sets either of the two is a member.
        """
        close = [n for n in order if is_close(self.cases[n])]
        close.sort(key=lambda n: not is_inexact(self.cases[n]))
        zero = (n for n in close if has_zero(self.cases[n]))
        both = (n for n in close if has_both_zeros(self.cases[n]))
        of_dtypes: dict[str, list[int]] = defaultdict(list)
        for n in close:
            of_dtypes[result_dtype(self.cases[n])].append(n)
        each = chain.from_iterable(some[:OF_A_DTYPE] for some in of_dtypes.values())
        some = [*islice(zero, 1), *islice(both, 1), *close[:NEAR], *each]
        return list(dict.fromkeys(some))

    def unlike(self, order: Sequence[int]) -> list[int]:
        """The cases by which relations are told: the greatest of each kind, and of
        those of which edges are found exactly the one with the most zeros.

        Those that told others come first.
        """
        found: dict[tuple[Any, ...], tuple[Any, int]] = {}
        close = [n for n in order if is_close(self.cases[n])]
        for n in close:
            kind, size = kind_of(self.cases[n])
            if kind not in found or size > found[kind][0]:
                found[kind] = size, n
        return sorted((n for _, n in found.values()), key=close.index)

    @cached_property
    def of_sets(self) -> list[int]:
        """The cases by which mutants of accuracy sets are told: some of each set."""
        found: dict[tuple[str, str], list[int]] = defaultdict(list)
        for n in sorted(range(len(self.cases)), key=lambda n: self.looks[n].seconds):
            if is_close(self.cases[n]):
                (eqn,) = self.cases[n].program().eqns
                kinds = "".join(sorted({v.aval.dtype.kind for v in eqn.outputs}))
                found[self.base.prims[eqn.primitive].accuracy, kinds].append(n)
        return [n for some in found.values() for n in some[:OF_A_SET]]

    @cached_property
    def running(self) -> Mapping[str, set[int]]:
        """Those of the cases of sets in which each function of a set runs."""
        self.know(self.of_sets, CLOSE)
        ran: dict[str, set[int]] = defaultdict(set)

        def found() -> Mapping[str, set[int]]:
            install(self.base)
            for n in self.of_sets:
                forget()
                sys.setprofile(partial(note, n))
                for by in CLOSE:
                    self.judged[n].verdict(by, self.base)
                sys.setprofile(None)
            return ran

        def note(n: int, frame: FrameType, event: str, _: object) -> None:
            if event == "call" and frame.f_code.co_filename == accuracy.__file__:
                ran[frame.f_code.co_name].add(n)

        names: Mapping[str, set[int]] = in_child(found, patient=True)
        return names

    def read_names(self, mutant: Mutant) -> set[str] | None:
        """The names that a case must read to tell a mutant; None if any case may."""
        if mutant.table == "reals":
            named = f"'{mutant.row}'"
            rows = self.base.written.items()
            return {name for name, row in rows if named in repr(row)}
        if of_an_exception(mutant):
            parts = mutant.where.split("/")
            return {f"{parts[2]}.{parts[4]}" if "clause" in parts[3:] else mutant.row}
        if mutant.table in PRIMITIVES and len(mutant.path) > 2:
            _, section, name, *rest = map(str, mutant.path)
            names = [name] if section == "prim" else self.classes.get(name, [])
            column = COLUMNS.get(rest[0]) if rest else None
            return {f"{n}.{column}" if column else n for n in names}
        if mutant.table in ("errors", "text"):
            return {mutant.row}
        return None


def is_inexact(case: Case) -> bool:
    """True if a case has a floating or complex result."""
    return any(v.aval.dtype.kind in "fc" for v in case.values("value"))


def result_dtype(case: Case) -> str:
    """The dtype of a case's first result."""
    return str(case.values("value")[0].aval.dtype)


def texts_of(case: Case) -> list[str]:
    """The texts of what a case gives, calls and expects."""
    found = [part for parts in case.verbs.values() for part in parts]
    return [part.text[part.start : part.stop] for part in found]


def has_zero(case: Case) -> bool:
    """True if a case has a zero with a sign among its results."""
    results = [v.array for v in case.values("value")]
    return any(r.dtype.kind in "fc" and not r.all() for r in results)


def has_both_zeros(case: Case) -> bool:
    """True if a case has zeros of both signs among its operands."""
    operands = [v.array for v in case.values("call")]
    signs = [np.signbit(a[a == 0]) for a in operands if a.dtype.kind == "f"]
    return len({*chain.from_iterable(s.tolist() for s in signs)}) == 2


def kind_of(case: Case) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """The kind of a close case, by its params and operands, and the rank in it."""
    (eqn,) = case.program().eqns
    operands = [value.array for value in case.values("call")]
    numbers = [a for a in operands if a.dtype.kind in "fc"]
    finite = all(np.isfinite(a).all() for a in numbers)
    forms = [(a.dtype.kind, a.ndim, is_wide(a.shape)) for a in operands]
    size = sum(a.size for a in operands)
    small = 0 < size <= SMALL
    rank = (sum(np.count_nonzero(a == 0) for a in numbers),) if small else (size,)
    return (eqn.primitive, str(eqn.params), finite, size > 0, small, *forms), rank


def is_wide(shape: tuple[int, ...]) -> bool | None:
    """True for matrices with more columns than rows, None for square ones."""
    return None if len({*shape[-2:]}) < 2 else shape[-1] > shape[-2]


def part_of(mutant: Mutant) -> str:
    """The part of a row that a mutant changes, such as one formula."""
    return "/".join(mutant.where.split("/")[:5])
