"""The judges of a case: by the tables, its faults, by the implementation, nearly.

Each is computed with the tables as they are and with a mutant; where one differs, the
case tells the mutant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from mutation.edges import Application, Edge, Probe
from mutation.faults import faults

from traceir.conform import Case, judge
from traceir.conform.casefiles.cases import attempt
from traceir.conform.casefiles.outcomes import expected_class
from traceir.conform.judging.borrowed import PARTS
from traceir.conform.judging.implementation import Implementation
from traceir.conform.systems.implementations import (
    CompiledImplementation,
    Oracle,
    Reference,
)
from traceir.errors import CLASSES
from traceir.ir.jaxpr import ClosedJaxpr, subjaxprs
from traceir.rules import Rules

# The classes by one of which an implementation without rules may reject.
FOREIGN = (
    *("TypeError", "ValueError", "IndexError", "KeyError", "AttributeError"),
    *("NotImplementedError", "OverflowError", "RuntimeError", "RecursionError"),
    *("AssertionError", "SyntaxError", "ZeroDivisionError", "FloatingPointError"),
    *("NameError", "OSError", "UserWarning", *CLASSES),
)
# What is asked of mutants of sets and bounds, which tell right results from those that
# are wrong by a little.
CLOSE = ("edges", "probes")
# The same of rows with relations.
RELATED = ("relations",)


@dataclass(frozen=True)
class Trusted(Oracle):
    """The oracle, which nobody watches: that it borrows nothing is shown elsewhere."""

    shares = tuple(PARTS)


@dataclass(frozen=True)
class Checked(Reference):
    """The reference's types and the formulas' values: by the same rows, sooner."""

    def eval(
        self, program: ClosedJaxpr, args: Sequence[np.ndarray]
    ) -> Sequence[np.ndarray]:
        return Oracle(self.rules).eval(program, args)


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
class Changed(Reference):
    """The reference with each of its results changed as a whole."""

    change: Callable[[np.ndarray], np.ndarray] = np.array

    def eval(
        self, program: ClosedJaxpr, args: Sequence[np.ndarray]
    ) -> Sequence[np.ndarray]:
        return [self.change(np.asarray(r)) for r in super().eval(program, args)]


def _other_zeros(result: np.ndarray) -> np.ndarray:
    if result.dtype.kind != "f":
        return result
    return np.where(result == 0, -result, result)


def _negated(result: np.ndarray) -> np.ndarray:
    return -result if result.dtype.kind in "fc" else result


def _conjugate(result: np.ndarray) -> np.ndarray:
    return np.array(np.conj(result), result.dtype)


def _mirrored(result: np.ndarray) -> np.ndarray:
    return np.flip(result, -1) if result.ndim else result


def _transposed(result: np.ndarray) -> np.ndarray:
    square = result.ndim > 1 and result.shape[-1] == result.shape[-2]
    return np.swapaxes(result, -1, -2) if square else result


def _no_numbers(result: np.ndarray) -> np.ndarray:
    return np.full_like(result, np.nan) if result.dtype.kind in "fc" else result


def _infinite(result: np.ndarray) -> np.ndarray:
    return np.full_like(result, np.inf) if result.dtype.kind in "fc" else result


# Changes of all results alike.
CHANGES = (
    *(_other_zeros, _negated, _conjugate, _mirrored, _transposed),
    *(np.zeros_like, np.ones_like, _no_numbers, _infinite),
)
# What an implementation may declare, right or wrong.
CHOICES = {
    "choice.subnormal": ("keep", "flush", "another"),
    "choice.contraction": ("none", "fused", "another"),
    "choice.sum-order": ("fixed", "free", "another"),
    "choice.dot-order": ("fixed", "library", "another"),
    "choice.factor-order": ("fixed", "library", "another"),
    "choice.nan-payload": ("any", "another"),
    "choice.zero-extremum": ("ordered", "either", "another"),
}


def probes(rules: Rules) -> Iterator[Reference]:
    """Implementations that are right or wrong by a little, or differ in one respect."""
    for steps in (1, -1, 2, -2, 4, -4, 5, -5, 9, -9):
        yield Nudged(rules, steps=steps)
    yield from (Changed(rules, change=change) for change in CHANGES)
    for name, options in CHOICES.items():
        yield from (Reference(rules, choices={name: o}) for o in options)


@dataclass(frozen=True)
class Judged:
    """A case to be judged, and what of it is known before."""

    case: Case
    # Whether the oracle has the very bits of the case: relations leave them open.
    exact: bool = True
    edges: tuple[Edge, ...] = ()
    asked: tuple[Probe, ...] = ()

    def kinds(self) -> tuple[str, ...]:
        """The judges that a hunt asks first, in order."""
        if self.case.plain:
            return ("plain",)
        if self.case.session:
            return ("reference", "oracle")
        first = ("faults", "tables") if self.case.reject else ("tables",)
        return (*first, "oracle", "reference")

    def about(
        self, relation: int, wanted: tuple[Any, ...]
    ) -> tuple[Judged, tuple[Any, ...]]:
        """The same of one relation, and what of the answers wanted is about it."""
        numbers = [k for k, p in enumerate(self.asked) if p.relation == relation]
        asked = tuple(self.asked[k] for k in numbers)
        return replace(self, asked=asked), tuple(wanted[k] for k in numbers)

    def verdict(self, by: str, rules: Rules) -> tuple[Any, ...]:
        """The answers of one judge, in order."""
        return tuple(self.answers(by, rules))

    def differs(self, by: str, rules: Rules, wanted: tuple[Any, ...]) -> bool:
        """True if a judge says something else; it stops at the first other answer."""
        found = self.answers(by, rules)
        return any(next(found, None) != want for want in wanted)

    def answers(self, by: str, rules: Rules) -> Iterator[Any]:
        """The answers of one judge; an exception is one, too."""
        for ask in VERDICTS[by](self, rules):
            try:
                yield ask()
            except Exception as error:
                yield type(error).__name__

    def _judge(self, judged: Implementation, rules: Rules, exact: bool = False) -> Ask:
        return lambda: judge(judged, self.case, rules, exact=exact).kind

    def _plain(self, rules: Rules) -> Iterator[Ask]:
        function = self.case.plain
        assert function is not None
        compiles = function.decorates
        judged = CompiledImplementation("numba") if compiles else Reference(rules)
        yield self._judge(judged, rules)

    def _oracle(self, rules: Rules) -> Iterator[Ask]:
        yield self._judge(Trusted(rules), rules, self.exact)

    def _tables(self, rules: Rules) -> Iterator[Ask]:
        yield self._judge(Checked(rules), rules, self.exact)

    def _faults(self, rules: Rules) -> Iterator[Ask]:
        yield lambda: faults(self.case, rules)

    def _reference(self, rules: Rules) -> Iterator[Ask]:
        yield self._judge(Reference(rules), rules)

    def _class(self, rules: Rules) -> Iterator[Ask]:
        """The classes that stand for the rules that the case expects to be broken."""
        for rule in sorted(self.case.rejected):
            yield from (partial(expected_class, name, rule) for name in FOREIGN)

    def _edges(self, rules: Rules) -> Iterator[Ask]:
        if self.edges:
            here = Application.of(self.case)
            yield from (partial(here.right, edge, rules) for edge in self.edges)

    def _relations(self, rules: Rules) -> Iterator[Ask]:
        if self.asked:
            here = Application.of(self.case)
            yield from (partial(here.holds, probe, rules) for probe in self.asked)

    def _probes(self, rules: Rules) -> Iterator[Ask]:
        for probe in probes(rules):
            yield self._judge(probe, rules)


Ask = Callable[[], Any]
VERDICTS: Mapping[str, Callable[[Judged, Rules], Iterator[Ask]]] = {
    "plain": Judged._plain,
    "tables": Judged._tables,
    "oracle": Judged._oracle,
    "faults": Judged._faults,
    "reference": Judged._reference,
    "class": Judged._class,
    "edges": Judged._edges,
    "probes": Judged._probes,
    "relations": Judged._relations,
}


def is_close(case: Case) -> bool:
    """True if a case has the values of one equation."""
    if "value" not in case.verbs or case.session or case.plain:
        return False
    program = attempt(case)
    if not isinstance(program, ClosedJaxpr) or len(program.eqns) != 1:
        return False
    (eqn,) = program.eqns
    alone = program.jaxpr.outvars == eqn.outputs and not program.jaxpr.constvars
    return alone and not any(subjaxprs(eqn))
