"""The hunt: which case tells a mutant of the tables from the tables.

The hunter has judged every case by the tables as they are, and knows which rows each of
them reads. A mutant is tried in a child, on the cases that read its row: the one that
told it before, those that told its like, those that cite the row, the cheapest first.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeAlias

from mutation import functions, members
from mutation.asks import mistaken
from mutation.derived import answers
from mutation.examples import unlike
from mutation.installed import in_child, install, lenient, streamed
from mutation.orders import LIKELY, Ordered, part_of
from mutation.record import NO_ANSWER, Told
from mutation.tables import Mutant, of_an_exception
from mutation.transform_uses import misused
from mutation.verdicts import CLOSE, RELATED, is_close
from mutation.waiting import leave_when_idle

from traceir.rules import Rules

LOADER = "the loader"
CITATION = "a citation"
CODE = "the code of an ask"
EXAMPLES = "the rule over examples"
MEMBERS = "the members of sets"
WAYS = "the way of running"
DERIVED = "what is derived"
# Cases that are tried before such results are.
FIRST = 6
# Cases of its like that a mutant is tried on alone, before all others are.
GUESSED = 2
# What a row of prose has; nothing reads such a row, but cases cite it.
PROSE_ROW = frozenset({"id", "says", "hint", "hints", "class", "name", "mark"})
# Columns whose mutants are told by results that are right or wrong by a little.
BOUNDS = frozenset({"accuracy", "ulp", "post", "allowed", "reference", "class", "each"})


# A case and its judge, something else that tells a mutant, or nothing.
Answer: TypeAlias = tuple[int, str] | Told | None


@dataclass
class Hunter(Ordered):
    """Tries mutants on the cases that may tell them."""

    def prepare(self, kept: Path | None = None) -> None:
        """Look at all cases, and derive what children then have."""
        super().prepare(kept)
        vars(self)["derived"] = answers(self.base)

    def together(
        self, chunk: Sequence[tuple[Mutant, Told | None]]
    ) -> list[Told | None]:
        """The tellers of mutants by the first cases of each, in one process for many.

        None for those that these cases do not tell, that need a process of their own,
        or whose case is found to have another verdict in the end: what one mutant
        leaves behind tells no other.
        """
        found: list[Told | None] = [None] * len(chunk)
        left = [k for k, (mutant, _) in enumerate(chunk) if not is_lasting(mutant)]
        while left:
            answers = streamed(partial(self._each, [chunk[k] for k in left]))
            spoilt = answers.pop() if len(answers) > len(left) else ()
            for k, answer in zip(left, answers):
                if answer not in spoilt:
                    found[k] = self.noted(chunk[k][0], answer)
            left = left[len(answers) + 1 :]  # without the one that stopped the process
        return found

    def _each(self, chunk: Iterable[tuple[Mutant, Told | None]]) -> Iterator[Any]:
        """The answer about each mutant, then those that cannot be trusted."""
        leave_when_idle()
        told: set[tuple[int, str]] = set()
        for count, (mutant, before) in enumerate(chunk):
            self.desk.take(-1)
            changed = lenient(mutant.tables(self.tables), mutant.table, self.base)
            answer: Answer = Told(LOADER)
            if changed is not None:
                many = FIRST if self.judges(mutant) else LIKELY
                order = self.order(mutant, before)[:many]
                install(changed)
                answer = self.besides(mutant, changed)
                answer = answer or self._different(order, (), changed)
            self.noted(mutant, answer)
            if isinstance(answer, tuple):
                told.add(answer)
            yield answer
            if count % 10 == 9:
                gc.collect()
        install(self.base)
        yield [
            (n, by)
            for n, by in told
            if self.judged[n].differs(by, self.base, self.verdicts[n, by])
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
        for place in (mutant.row, part_of(mutant), mutant.table):
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
    ) -> Told | None:
        """The teller of a mutant, None if nothing tells it, by a process of its own.

        `before` is what told it once, which is tried first, or `alone`.
        """
        changed = self.changed(mutant)
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
        stages = [(order[:first], ()), (near if late else (), late)]
        stages += [(order[first:], ())]
        for some, by in stages[: 1 if alone and not late else None]:
            if some:
                told = self.stage(mutant, changed, some, by)
                if told is not None:
                    return told
        return Told(CITATION) if self.is_cited(mutant) else None

    def changed(self, mutant: Mutant) -> Rules | None:
        """The rules that a mutant leaves, None if nothing can be made of them."""
        if mutant.kind == functions.KIND:
            return self.base
        return lenient(mutant.tables(self.tables), mutant.table, self.base)

    def guessed(self, mutant: Mutant) -> Told | None:
        """The teller among the cases that told the mutant's like, by their judges.

        Most of those that late judges tell are told by these, in a tenth of the time,
        and most mutants of a set by its farthest members.
        """
        late = self.judges(mutant)
        changed = self.changed(mutant)
        if changed is not None and mutant.table == "sets":
            return self.stage(mutant, changed, (), ())
        if late not in (CLOSE, RELATED):
            return None
        near = self.telling[part_of(mutant)], self.telling[mutant.row]
        like = dict.fromkeys([*near[0][:GUESSED], *near[1][:GUESSED]])
        some = [n for n in like if is_close(self.cases[n])]
        if changed is None or not some:
            return None
        return self.stage(mutant, changed, some, late)

    def stage(
        self,
        mutant: Mutant,
        changed: Rules,
        order: Sequence[int],
        late: Sequence[str],
    ) -> Told | None:
        """The teller of a mutant among some cases, by the usual judges or late ones."""
        self.know(order, late)

        def found() -> Answer:
            leave_when_idle()
            install(changed)
            if mutant.kind == functions.KIND:
                functions.apply(mutant)
            relation = relation_of(mutant) if late else None
            return self.besides(mutant, changed) or self._different(
                order, late, changed, relation
            )

        self.desk.take(-1)
        answer = in_child(lambda: (found(),))
        if answer is None:
            return self.silence()
        return self.noted(mutant, answer[0])

    def besides(self, mutant: Mutant, changed: Rules) -> Told | None:
        """Tests of their own that tell mutants besides cases."""
        if mutant.path[-1] == "code" and mistaken(changed):
            return Told(CODE)
        if mutant.table == "collectives" and unlike():
            return Told(EXAMPLES)
        if mutant.table == "sets" and members.wrong():
            return Told(MEMBERS)
        if mutant.path[-1] in ("handles", "keeps") and misused(changed):
            return Told(WAYS)
        if mutant.table == "judgements" and answers(changed) != self.derived:
            return Told(DERIVED)
        return None

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

    @cached_property
    def derived(self) -> Sequence[str]:
        """The texts that the judgements derive without mutation."""
        return answers(self.base)

    def _different(
        self,
        order: Sequence[int],
        late: Sequence[str],
        changed: Rules,
        relation: int | None = None,
    ) -> tuple[int, str] | None:
        """The first case with another verdict than without mutation, and its judge.

        Of the usual judges, or of `late` ones. One `relation` of the row alone is
        asked, if it is known which.
        """
        asked = [(n, late or self.judged[n].kinds()) for n in order]
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


def is_lasting(mutant: Mutant) -> bool:
    """True if a mutant changes a process for good, or is told by other judges alone."""
    return mutant.kind == functions.KIND or of_an_exception(mutant)


def relation_of(mutant: Mutant) -> int | None:
    """The number of the relation that a mutant changes in part."""
    match mutant.path[3:]:
        case ("post", int(number), _, *_):
            return number
    return None
