"""Tests that some case tells a mutant of the tables from the tables.

Each mutant is tried in a process of its own, forked before any rule has been read, in
which the mutated tables are *the* tables: of the oracle, the evaluator, `jit` and the
functions of arrays alike.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from mutation.asks import mistaken
from mutation.examples import unlike
from mutation.faults import equations, faults
from mutation.tables import Mutant, Tables
from mutation.transform_uses import misused

from traceir import rules
from traceir.conform import Case, judge
from traceir.conform.casefiles.cases import attempt
from traceir.conform.systems.implementations import (
    CompiledImplementation,
    Oracle,
    Reference,
)
from traceir.errors import RuleTableError
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.rules import Rules, load, parsed_tables
from traceir.rules.rules import PRIMITIVES

PATIENCE = 20
LOADER = "the loader"
SILENCE = "no answer"
CITATION = "a citation"
CODE = "the code of an ask"
EXAMPLES = "the rule over examples"
WAYS = "the way of running"
# What of a primitive's row no program reads that is not transformed.
TRANSFORMED = frozenset({"jvp", "transpose", "linear", "derivative", "batch"})
# What a row of prose has; nothing reads such a row, but cases cite it.
PROSE_ROW = frozenset({"id", "says", "hint", "hints", "class", "name", "mark"})


@dataclass(frozen=True)
class Nudged(Reference):
    """The reference, its first inexact element some units in the last place away."""

    steps: int = 1

    def eval(
        self, program: ClosedJaxpr, args: Sequence[np.ndarray]
    ) -> Sequence[np.ndarray]:
        results = [np.array(r) for r in super().eval(program, args)]
        for result in results:
            flat = result.reshape(-1)
            if result.dtype.kind == "f":
                near = np.isfinite(flat) & (flat != 0)
                for k in np.flatnonzero(near)[:1]:
                    word = flat[k : k + 1].view(f"i{result.dtype.itemsize}")
                    word += self.steps
        return results


@dataclass(frozen=True)
class Negated(Reference):
    """The reference with the other sign of every zero."""

    def eval(
        self, program: ClosedJaxpr, args: Sequence[np.ndarray]
    ) -> Sequence[np.ndarray]:
        results = map(np.asarray, super().eval(program, args))
        return [np.where(r == 0, -r, r) if r.dtype.kind == "f" else r for r in results]


# What an implementation may declare, right or wrong.
CHOICES = {
    "choice.subnormal": ("keep", "flush", "another"),
    "choice.contraction": ("none", "fused", "another"),
    "choice.sum-order": ("fixed", "free", "another"),
    "choice.dot-order": ("fixed", "library", "another"),
    "choice.nan-payload": ("any", "another"),
    "choice.zero-extremum": ("ordered", "either", "another"),
}


def probes(rules: Rules) -> Iterator[Reference]:
    """Implementations that are right or wrong by a little."""
    for steps in (1, -1, 2, -2, 4, -4, 5, -5, 9, -9):
        yield Nudged(rules, steps=steps)
    yield Negated(rules)
    for name, options in CHOICES.items():
        yield from (Reference(rules, choices={name: o}) for o in options)


def verdicts(case: Case, rules: Rules) -> Iterator[Any]:
    """The verdicts on one case: by the tables, its faults, by the implementation."""
    if case.plain:
        compiles = case.plain.decorates
        judged = CompiledImplementation("numba") if compiles else Reference(rules)
        yield judge(judged, case, rules).kind
        return
    yield judge(Oracle(rules), case, rules, exact=True).kind
    if case.reject and not case.session:
        yield faults(case, rules)
    yield judge(Reference(rules), case, rules).kind
    if "value" in case.verbs and not case.session and len(program_of(case)) == 1:
        for probe in probes(rules):
            yield judge(probe, case, rules).kind


def program_of(case: Case) -> Sequence[Any]:
    """The equations of a case's program, none where it cannot be read."""
    program = attempt(case)
    return program.eqns if isinstance(program, ClosedJaxpr) else ()


def relevant(cases: Sequence[Case]) -> Mapping[str, list[Case]]:
    """The cases that cite a rule, or are about a primitive or a class, by its name."""
    found: dict[str, list[Case]] = defaultdict(list)
    prims = rules.default().prims
    for case in cases:
        names = {*case.cites} | {c.partition(".")[0] for c in case.cites}
        for name in (names | set(used(case))) & prims.keys():
            names |= {name, *prims[name].classes}
        for name in names:
            found[name].append(case)
    return found


def used(case: Case) -> Iterator[str]:
    """The primitives of a case's program, or what may be such in its functions."""
    if case.session is None:
        program = attempt(case)
        if isinstance(program, ClosedJaxpr):
            yield from (eqn.primitive for eqn in equations(program))
        return
    for word in case.words("given"):
        yield word.partition("[")[0].rpartition(".")[2]


def in_child(work: Any) -> Any:
    """The result of a function in a process of its own; None if it never returns."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            # Of the processor's time: a busy machine is no silence.
            signal.setitimer(signal.ITIMER_PROF, PATIENCE)
            signal.alarm(20 * PATIENCE)
            with open(write, "wb") as pipe:
                pickle.dump(work(), pipe)
        except Exception:
            if os.environ.get("MUTATION_TRACE"):
                traceback.print_exc()
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else None


def lenient(tables: Tables, table: str) -> Rules | None:
    """The rules of mutated tables; None if nothing can be made of them.

    That a machine has one transition for each event in each state is a rule of its
    tables; of other tables, it is left to the cases what a missing row means.
    """
    for how in (False, True)[: 1 if table == "machine" else 2]:
        try:
            return load(tables, lenient=how)
        except RuleTableError:
            continue
        except Exception:  # whatever the loader says of it, it has noticed
            return None
    return None


def install(found: Rules) -> None:
    """Make these the rules of the specification, in a process that has read none."""
    assert not rules.default.cache_info().currsize, "rules have been read"
    # `default` reads them from the tables or from the store.
    parsed_tables.remembered = lambda *args, **kwargs: found
    assert rules.default() is found


@dataclass
class Hunter:
    """The cases, and what is found of each without mutation."""

    tables: Tables
    cases: Sequence[Case]
    known: dict[str, list[Any]] = field(default_factory=dict)
    names: dict[str, list[int]] = field(default_factory=dict)
    telling: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    sessions: frozenset[int] = frozenset()

    def prepare(self) -> None:
        """Judge every case without mutation, and sort the cases by what they use."""

        def found() -> Any:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(0)
            install(load(self.tables))
            where = {case.name: n for n, case in enumerate(self.cases)}
            names = {
                name: [where[c.name] for c in some]
                for name, some in relevant(self.cases).items()
            }
            rules_ = rules.default()
            known = {c.name: list(verdicts(c, rules_)) for c in self.cases}
            numbers = {n for n, c in enumerate(self.cases) if c.session}
            return known, names, frozenset(numbers), [*sys.modules]

        self.known, self.names, self.sessions, modules = in_child(found)
        # What is imported and read here is not in each child: of the formulas, a child
        # reads those alone that differ.
        load(self.tables)
        for module in modules:
            with suppress(ImportError):
                import_module(module)

    def teller(self, mutant: Mutant) -> str | None:
        """The case that tells a mutant, or what else does, or None."""
        order = self.order(mutant)

        def found() -> Any:
            changed = lenient(mutant.tables(self.tables), mutant.table)
            if changed is None:
                return LOADER
            install(changed)
            if mutant.path[-1] == "code" and mistaken(changed):
                return CODE
            if mutant.table == "collectives" and unlike():
                return EXAMPLES
            if mutant.path[-1] in ("handles", "keeps") and misused(changed):
                return WAYS
            sys.setrecursionlimit(1500)
            close = mutant.table == "accuracy" or {"accuracy", "ulp"} & {*mutant.path}
            return self.first_different(order, changed, bool(close))

        # A mutant that never ends, or that kills its process, has been noticed.
        answer = in_child(lambda: (found(),))
        if answer is None:
            return SILENCE
        if isinstance(answer[0], int):
            self.telling[mutant.row].insert(0, answer[0])
            return self.cases[answer[0]].name
        found_: str | None = answer[0]
        return CITATION if found_ is None and self.is_cited(mutant) else found_

    def is_cited(self, mutant: Mutant) -> bool:
        """True if it is a row of prose that is gone, and a case cites it."""
        row: Any = self.tables
        for step in mutant.path:
            row = row[step]
        if mutant.kind != "delete" or not isinstance(row, Mapping):
            return False
        cited = any(row.get("id") in case.cites for case in self.cases)
        return cited and PROSE_ROW.issuperset(row)

    def order(self, mutant: Mutant) -> list[int]:
        """The cases to try: those that told mutants of the row, that are about it."""
        order = [*self.telling[mutant.row], *self.names.get(mutant.row, ())]
        if mutant.table == "staged":  # of which plain functions alone have anything
            order += [n for n, case in enumerate(self.cases) if case.plain]
        elif mutant.table not in PRIMITIVES:
            order += range(len(self.cases))
        elif TRANSFORMED.intersection(mutant.path[3:4]):
            order = [n for n in order if n in self.sessions]
        return list(dict.fromkeys(order))

    def first_different(
        self, order: Sequence[int], changed: Rules, close: bool
    ) -> int | None:
        """The first case with another verdict than without mutation.

        Only a `close` look is at what is right or wrong by a little, too.
        """
        late = []
        for n in order:
            case = self.cases[n]
            known = self.known[case.name]
            found = verdicts(case, changed)
            quick = 3 if case.reject else 2
            for want in known[:quick]:
                if next(found) != want:
                    return n
            late.append((n, found, known[quick:]))
        for n, found, wanted in late if close else ():
            if any(next(found) != want for want in wanted):
                return n
        return None
