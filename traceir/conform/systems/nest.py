"""The levels of a session: which values are known, whose operations these are.

Serves: level.*
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from traceir.arrays.array import Array
from traceir.base import config
from traceir.conform.systems import faces
from traceir.conform.systems.systems import as_array, as_value
from traceir.conform.systems.traced import (
    DemandedArguments,
    ModelTracer,
    TraceLevel,
    ValueOrigin,
    concrete,
    demands,
)
from traceir.ir.jaxpr import sort_params
from traceir.rules import Rules, Transform, walk
from traceir.tracing.trace import evaluate


def same(value: Any) -> Any:
    """The value itself."""
    return value


def element(value: Any) -> Any:
    """The value that a value of a trace stands for, a number being an array."""
    found = concrete(value)
    return found if isinstance(found, Array) else as_array(as_value(found))


def frozen(value: Any) -> Any:
    """A value as it is now: a NumPy array may be written to later."""
    return np.array(value) if isinstance(value, np.ndarray) else value


class TraceStack:
    """The traces in force, innermost last, and the operations in them."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.face = "jax"
        self.stack: list[TraceLevel] = []
        self.eager = TraceLevel("eager", self.transform("eager").knows)
        # How many of the traces let operations be evaluated at once.
        self.passed = 0
        # The inputs that are numbers, whose arguments may be known instead.
        self.numbers: dict[int, str] = {}

    def transform(self, name: str) -> Transform:
        """The row of a way of running a function."""
        return self.rules.levels.transforms[name]

    @property
    def innermost(self) -> TraceLevel:
        """The trace in force."""
        return self.stack[-1] if self.stack else self.eager

    @contextmanager
    def entered(self, transform: str) -> Iterator[TraceLevel]:
        """Within this way of running: a new trace, if it makes one."""
        row = self.transform(transform)
        if not row.traces:
            yield self.innermost
            return
        whole = row.handles == "all"
        self.stack.append(TraceLevel(transform, row.knows, self._depth(), whole))
        try:
            yield self.stack[-1]
        finally:
            self.stack.pop()

    @contextmanager
    def evaluated(self) -> Iterator[None]:
        """Within this, operations on untraced values are evaluated at once."""
        outer = self.passed
        if "level.compile-time" in self.rules.levels.nesting:
            self.passed = len(self.stack)
        try:
            yield
        finally:
            self.passed = outer

    def _depth(self) -> int:
        row = self.rules.levels.nesting.get("level.depth")
        scope = {"depth": len(self.stack)}
        return int(walk(row.level, scope)) if row and row.level else 0

    def level(self, value: Any) -> int:
        """The level that a value shows, 0 outside every trace."""
        return value.home.depth if isinstance(value, ModelTracer) else 0

    def argument(self, value: Any, transform: str) -> ModelTracer:
        """An argument as the function sees it that runs under `transform`."""
        row = self.transform(transform)
        home, known = self.eager, self.eager.knows
        made = None
        if isinstance(value, ModelTracer):
            home, known, made = value.home, value.knows, ValueOrigin(same, (value,))
        knows = self.rules.levels.within(known, row.knows)
        if row.traces:  # a number becomes an array
            return ModelTracer(element(value), self.innermost, knows, self.ask, made)
        return ModelTracer(concrete(value), home, knows, self.ask, made)

    def result(self, value: Any, made: ValueOrigin) -> ModelTracer:
        """A value that the trace in force has made."""
        home = self._home(made.operands)
        known = home.knows
        follows = not home.whole and home is not self.eager
        for operand in made.operands if follows else ():
            outer = operand.knows if isinstance(operand, ModelTracer) else known
            known = self.rules.levels.within(outer, known)
        return ModelTracer(value, home, known, self.ask, made)

    def ask(self, asked: ModelTracer, action: str) -> Any:
        """The value, if the rows permit the action; else the error of the ask's row."""
        levels = self.rules.levels
        row = next(ask for ask in levels.asks.values() if ask.action == action)
        if levels.permits(asked.knows, row.id):
            return asked.value
        labels = demands(asked, self.numbers)
        if labels:
            raise DemandedArguments(labels)
        raise self.rules.error(row.id)

    def bind(self, primitive: str, *values: Any, **params: Any) -> Any:
        """The results of a primitive, in the trace that the nesting rows say."""
        self.lift(values)
        operands, full = tuple(map(frozen, values)), sort_params(params)

        def function(*given: Any) -> Any:
            return evaluate(primitive, given, full)

        found = function(*map(concrete, operands))
        if len(found) == 1:
            return self.result(found[0], _one_of(function, 0, operands))
        return tuple(
            self.result(value, _one_of(function, n, operands))
            for n, value in enumerate(found)
        )

    def apply(self, function: Callable[..., Any], *args: Any, **params: Any) -> Any:
        """A function of arrays, applied in the trace that the nesting rows say."""
        traced = tuple(faces.parts((args, params), ModelTracer))
        self.lift(traced)
        given, named = faces.changed((args, params), self._known)
        if self.stack:
            transform = self.stack[-1].transform
            faces.refuse(function, given, named, ModelTracer, transform, self.face)
        args, params = faces.changed((args, params), frozen)

        def again(*values: Any) -> Any:
            left = iter(values)
            given, named = faces.changed(
                (args, params),
                lambda a: element(next(left)) if isinstance(a, ModelTracer) else a,
            )
            return faces.parts((function(*given, **named),), Array)

        face = self.face if self.stack else "jax"
        if face not in self.rules.lattice.faces:  # the row by which operands meet
            raise self.rules.error(f"promote.{face}")
        with config.face(face):
            # Outside every trace a number stays what it is.
            of = element if self.stack else concrete
            given, named = faces.changed(
                (args, params), lambda a: of(a) if isinstance(a, ModelTracer) else a
            )
            found = function(*given, **named)
        outputs = iter(range(len(faces.parts((found,), Array))))

        def output(value: Any) -> Any:
            if not isinstance(value, Array):
                return value
            return self.result(value, _one_of(again, next(outputs), traced))

        return faces.changed(found, output)

    def _known(self, value: Any) -> Any:
        is_eager = isinstance(value, ModelTracer) and value.home is self.eager
        return concrete(value) if is_eager else value

    def lift(self, values: Iterable[Any], capture: bool = True) -> None:
        """Note the values of outer traces that are used.

        Raises UnexpectedTracerError (level.lift) for a value of a trace that has ended.
        """
        row = self.rules.levels.nesting.get("level.lift")
        is_open = (self.eager, *self.stack)
        for value in values:
            if not isinstance(value, ModelTracer):
                continue
            scope = {"home": value.home, "open": is_open}
            if row is not None and row.holds and not row.holds(scope):
                raise self.rules.error(row.id)
            if capture and value.home in self.stack:
                for level in self.stack[self.stack.index(value.home) + 1 :]:
                    level.captures.append(value)

    def _home(self, operands: Sequence[Any]) -> TraceLevel:
        own = max(map(self._place, operands), default=0)
        level = self._handler(own)
        return self.stack[level - 1] if level else self.eager

    def _handler(self, own: int) -> int:
        """The place of the trace that handles an operation whose highest operand has
        this place."""
        whole = [n for n, level in enumerate(self.stack, 1) if level.whole]
        within = [n for n in whole if n > self.passed]
        outer = max([n for n in whole if n <= self.passed], default=0)
        if self.passed and not within:
            return self._by("level.compile-time", outer, own)
        if self.passed:
            outer = self._by("level.compile-time", outer, 0)
        return self._by("level.bind", max(within, default=outer), own)

    def _by(self, rule: str, whole: int, own: int) -> int:
        row = self.rules.levels.nesting.get(rule)
        scope = {"depth": len(self.stack), "whole": whole, "own": own, "named": 0}
        # Without the row, an operation would belong to its operands alone.
        return int(row.level(scope)) if row and row.level else own

    def _place(self, value: Any) -> int:
        """The place of a value's trace among those in force, 0 for none."""
        home = value.home if isinstance(value, ModelTracer) else self.eager
        return self.stack.index(home) + 1 if home in self.stack else 0


def _one_of(
    function: Callable[..., Any], n: int, operands: tuple[Any, ...]
) -> ValueOrigin:
    return ValueOrigin(lambda *values: function(*values)[n], operands)
