"""The hunt: which case tells a mutant of the tables from the tables.

The hunter has judged every case by the tables as they are, and knows which rows each of
them reads. A mutant is tried in a child, on the cases that read its row: the one that
told it before, those that told its like, those that cite the row, the cheapest first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice, starmap
from typing import Any, TypeAlias

import numpy as np
from mutation import functions
from mutation.asks import mistaken
from mutation.examples import unlike
from mutation.installed import in_child, install, lenient, streamed
from mutation.known import COLUMNS, Known
from mutation.record import NO_ANSWER, Told
from mutation.tables import Mutant, of_an_exception
from mutation.transform_uses import misused
from mutation.verdicts import CLOSE, RELATED, VERDICTS, is_close

from traceir.conform import Case
from traceir.rules import Rules
from traceir.rules.rules import PRIMITIVES

LOADER = "the loader"
CITATION = "a citation"
CODE = "the code of an ask"
EXAMPLES = "the rule over examples"
WAYS = "the way of running"
# Cases of a row by which results near the edge of what is right are tried.
NEAR = 4
# Cases of each accuracy set by which the mutants of sets are tried.
OF_A_SET = 8
# Cases that are tried before such results are.
FIRST = 6
# Cases that are tried before the others, which most mutants do not come to.
LIKELY = 40
# Cases by which mutants of relations are tried before that: they take long.
SOME = 12
# Judges that are given the tables, and so can be asked of many mutants in one process.
ALONE = ("tables", "faults")
# What a row of prose has; nothing reads such a row, but cases cite it.
PROSE_ROW = frozenset({"id", "says", "hint", "hints", "class", "name", "mark"})
# Columns whose mutants are told by results that are right or wrong by a little.
BOUNDS = frozenset({"accuracy", "ulp", "post", "allowed", "reference", "class", "each"})


# A case and its judge, something else that tells a mutant, or nothing.
Answer: TypeAlias = tuple[int, str] | Told | None


@dataclass
class Hunter(Known):
    """Tries mutants on the cases that may tell them."""

    telling: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    # The cases, by number, of which it is known that they do not tell a mutant.
    known_of: Callable[[Mutant], Collection[int]] = lambda mutant: ()

    def tellers(self, chunk: Sequence[tuple[Mutant, Told | None]]) -> list[Told | None]:
        """The tellers of some mutants, each given with the one that it had before."""
        found = self.sift(chunk)
        return [
            told or self.teller(*given, judges=self.left(given[0]))
            for told, given in zip(found, chunk)
        ]

    def sift(self, chunk: Sequence[tuple[Mutant, Told | None]]) -> list[Told | None]:
        """The tellers of those mutants that are told soon, in one process for all."""
        found: list[Told | None] = [None] * len(chunk)
        asked = [k for k, (mutant, _) in enumerate(chunk) if self.soon(mutant)]
        # Those last by which the rules of the process become others.
        asked.sort(key=lambda k: of_an_exception(chunk[k][0]))
        orders = {k: self.order(*chunk[k]) for k in asked}
        for k in asked:
            mutant = chunk[k][0]
            if is_of_programs(mutant):
                orders[k] = self.programs(orders[k])
            if self.judges(mutant) == RELATED:
                orders[k] = orders[k][:SOME]
            self.know(orders[k], self.soon(mutant), apart=True)
        while asked:
            given = [(chunk[k][0], orders[k]) for k in asked]
            answers = streamed(partial(starmap, self.at_once, given))
            for k, answer in zip(asked, answers):
                found[k] = self.noted(chunk[k][0], answer)
            if len(answers) == len(asked):
                break
            found[asked[len(answers)]] = self.silence()
            asked = asked[len(answers) + 1 :]
        return found

    def soon(self, mutant: Mutant) -> Sequence[str]:
        """The judges that are asked of many mutants in one process, if any are."""
        if of_an_exception(mutant):
            return ("class",)
        return ALONE if is_of_programs(mutant) else ()

    def left(self, mutant: Mutant) -> Sequence[str]:
        """The judges that have not been asked."""
        return tuple(by for by in VERDICTS if by not in self.soon(mutant))

    def at_once(self, mutant: Mutant, order: Sequence[int]) -> Answer:
        """The teller of a mutant, of programs alone, which are given their tables.

        Nothing is derived from these that another mutant would find; of an exception's
        class, nothing is derived but that.
        """
        self.desk.take(-1)
        changed = lenient(mutant.tables(self.tables), mutant.table, self.base)
        if changed is None:
            return Told(LOADER)
        if of_an_exception(mutant):
            install(changed)
            return self._different(order, ("class",), changed, ("class",))
        return self._different(order, (), changed, ALONE)

    def programs(self, order: Sequence[int]) -> list[int]:
        """Those of some cases that are programs."""
        return [
            n for n in order if not self.cases[n].session and not self.cases[n].plain
        ]

    def silence(self) -> Told:
        """The case that a child has stopped at which never ends, or is killed."""
        number = self.desk.number
        return Told(self.cases[number].name if number >= 0 else LOADER, NO_ANSWER)

    def noted(self, mutant: Mutant, answer: Answer) -> Told | None:
        """An answer in words; the case is tried first on mutants of the same kind."""
        if not isinstance(answer, tuple):
            return answer
        number, by = answer
        for place in (mutant.row, part_of(mutant)):
            recent = self.telling[place]
            if number in recent:
                recent.remove(number)
            recent.insert(0, number)
        return Told(self.cases[number].name, by)

    def teller(
        self,
        mutant: Mutant,
        before: Told | None = None,
        alone: bool = False,
        judges: Sequence[str] = tuple(VERDICTS),
    ) -> Told | None:
        """The teller of a mutant, None if nothing tells it, by a process of its own.

        `before` is what told it once, which is tried first, or `alone`.
        """
        changed: Rules | None = self.base
        if mutant.kind != functions.KIND:
            changed = lenient(mutant.tables(self.tables), mutant.table, self.base)
        if changed is None:
            return Told(LOADER)
        order = self.order(mutant, before, alone)
        late = self.judges(mutant)
        if alone and before and before.by not in late:
            late = ()
        near = order
        if late == CLOSE and mutant.table != "sets":
            near = self.near(order)
        elif late == RELATED:
            near = self.unlike(order)
        first = FIRST if late in (CLOSE, RELATED) else 0 if late else LIKELY
        stages = [(order[:first], ()), (near, late), (order[first:], ())]
        for some, by in stages[: 1 if alone and not late else None]:
            if by or some:
                told = self.stage(mutant, changed, some, by, judges)
                if told is not None:
                    return told
        return Told(CITATION) if self.is_cited(mutant) else None

    def stage(
        self,
        mutant: Mutant,
        changed: Rules,
        order: Sequence[int],
        late: Sequence[str],
        judges: Sequence[str],
    ) -> Told | None:
        """The teller of a mutant among some cases, by the usual judges or late ones."""
        self.know(order, late)

        def found() -> Answer:
            install(changed)
            if mutant.kind == functions.KIND:
                functions.apply(mutant)
            if mutant.path[-1] == "code" and mistaken(changed):
                return Told(CODE)
            if mutant.table == "collectives" and unlike():
                return Told(EXAMPLES)
            if mutant.path[-1] in ("handles", "keeps") and misused(changed):
                return Told(WAYS)
            relation = relation_of(mutant) if late else None
            return self._different(order, late, changed, late or judges, relation)

        self.desk.take(-1)
        answer = in_child(lambda: (found(),))
        if answer is None:
            return self.silence()
        return self.noted(mutant, answer[0])

    def is_cited(self, mutant: Mutant) -> bool:
        """True if it is a row of prose that is gone, and a case cites it."""
        if mutant.kind != "delete":
            return False
        row: Any = self.tables
        for step in mutant.path:
            row = row[step]
        if not isinstance(row, Mapping):
            return False
        cited = any(row.get("id") in case.cites for case in self.cases)
        return cited and PROSE_ROW.issuperset(row)

    def judges(self, mutant: Mutant) -> tuple[str, ...]:
        """The judges that are asked after those that every case has."""
        if of_an_exception(mutant):
            return ("class",)
        bounds = mutant.table in ("accuracy", *functions.TABLES)
        close = bounds or BOUNDS & {*map(str, mutant.path)}
        if mutant.path[3:4] in (("post",), ("each",), ("let",)) and self.related(
            mutant
        ):
            return RELATED
        return CLOSE if close else ()

    def related(self, mutant: Mutant) -> bool:
        """True if a mutant is of a row with relations, or of a class of such rows."""
        name = str(mutant.path[2])
        rows = [name] if mutant.path[1] == "prim" else self.classes.get(name, [])
        return any(self.base.prims[row].post for row in rows)

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
            like = self.telling[mutant.row][:8]
            return list(dict.fromkeys([*first, *like, *self.of_sets]))
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
        like = [n for n in (*near[:8], *far[:8]) if n in allowed]
        return list(dict.fromkeys([*first, *like, *reading]))

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The numbers of the cases by their names."""
        return {case.name: n for n, case in enumerate(self.cases)}

    def near(self, order: Sequence[int]) -> list[int]:
        """The cases by which it is told what is right or wrong by a little."""
        close = (n for n in order if is_close(self.cases[n]))
        return list(islice(close, NEAR))

    def unlike(self, order: Sequence[int]) -> list[int]:
        """The cases by which relations are told: the greatest of each kind.

        Those that told others come first.
        """
        found: dict[tuple[Any, ...], tuple[int, int]] = {}
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
        if mutant.table == "errors":
            return {mutant.row}
        return None

    def _different(
        self,
        order: Sequence[int],
        late: Sequence[str],
        changed: Rules,
        alone: Sequence[str] = (),
        relation: int | None = None,
    ) -> tuple[int, str] | None:
        """The first case with another verdict than without mutation, and its judge.

        Of the usual judges, or of `late` ones; of those `alone`, if there are any. One
        `relation` of the row alone is asked, if it is known which.
        """
        asked = [
            (n, [by for by in late or self.judged[n].kinds() if by in (alone or (by,))])
            for n in order
        ]
        # The first judge of every case before the second of any: they agree mostly.
        for k in range(max((len(judges) for _, judges in asked), default=0)):
            for n, judges in asked:
                if k >= len(judges):
                    continue
                self.desk.take(n)
                by, judged = judges[k], self.judged[n]
                wanted = self.verdicts[n, by]
                if by in RELATED and relation is not None:
                    judged, wanted = judged.about(relation, wanted)
                if judged.differs(by, changed, wanted):
                    return n, by
        return None


def is_of_programs(mutant: Mutant) -> bool:
    """True if programs that are not transformed may tell a mutant."""
    if mutant.table not in PRIMITIVES or len(mutant.path) < 3:
        return False
    return not {*map(str, mutant.path)} & {*COLUMNS} and not of_an_exception(mutant)


def kind_of(case: Case) -> tuple[tuple[Any, ...], int]:
    """The kind of a close case, by its params and operands, and their extent."""
    (eqn,) = case.program().eqns
    operands = [value.array for value in case.values("call")]
    numbers = [a for a in operands if a.dtype.kind in "fc"]
    finite = all(np.isfinite(a).all() for a in numbers)
    forms = [(a.dtype.kind, a.ndim, is_wide(a.shape)) for a in operands]
    size = sum(a.size for a in operands)
    return (eqn.primitive, str(eqn.params), finite, size > 0, *forms), size


def is_wide(shape: tuple[int, ...]) -> bool | None:
    """True for matrices with more columns than rows, None for square ones."""
    return None if len({*shape[-2:]}) < 2 else shape[-1] > shape[-2]


def relation_of(mutant: Mutant) -> int | None:
    """The number of the relation that a mutant changes in part."""
    match mutant.path[3:]:
        case ("post", int(number), _, *_):
            return number
    return None


def part_of(mutant: Mutant) -> str:
    """The part of a row that a mutant changes, such as one formula."""
    return "/".join(mutant.where.split("/")[:5])
