"""Evaluation at once inside a trace. Serves: level.compile-time"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.ir.avals import ShapedArray
from traceir.tracing.trace import Trace, Value, current_trace, living


class EvalTrace(Trace):
    """The trace that evaluates operations without traced operands."""

    __slots__ = ()
    kind = "EvalTrace"

    def __init__(self, around: Trace) -> None:
        super().__init__(around.name, around.transform, around.face)
        self.level = around.level  # it makes no tracers
        self.decide = rules.default().levels.evaluating
        self.whole = self.decide(self.place, around.whole, 0, 0)
        self.sole = False
        self.axes = {}

    def array(self, value: Value, aval: ShapedArray) -> Value:
        """A concrete array."""
        return Array._wrap(np.array(value, aval.dtype, order="C"), aval)


@contextmanager
def ensure_compile_time_eval() -> Iterator[None]:
    """Within `with`: operations on values that are not traced are evaluated at once.

    So Python can branch on what is computed from constants (level.compile-time);
    operations on tracers are recorded as ever.

    >>> import traceir, traceir.numpy as jnp
    >>> @traceir.jit
    ... def f(x):
    ...     with traceir.ensure_compile_time_eval():
    ...         scale = 2.0 if jnp.sin(1.0) > 0 else 3.0
    ...     return x * scale
    >>> f(4.0)
    Array(8., dtype=float32, weak_type=True)
    """
    around = current_trace()
    if around is None:
        yield
        return
    with living(EvalTrace(around)):
        yield
