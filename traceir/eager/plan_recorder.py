"""The trace that records a function for its plan. Serves: level.bind"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir.ir.jaxpr import Eqn, Jaxpr, Literal, Var
from traceir.reference.interpreter import InterpretedProgram, call_of
from traceir.reference.kernels.elementwise import widening
from traceir.reference.kernels.elementwise.composite_shortcuts import composite_shortcut
from traceir.reference.kernels.elementwise.ufunc_shortcuts import (
    UfuncShortcut,
    ufunc_shortcut,
)
from traceir.reference.result_ownership import fresh, quiet
from traceir.tracing.staging import StagedTracer, StagingTrace

# The primitive of an equation that stands for those of a composite, and its param.
COMPOSITE, SHORTCUT = "composite", "shortcut"


class PlanRecorder(StagingTrace):
    """The trace that records a function for its plan."""

    __slots__ = ()
    plain = True

    def composite(
        self, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> Any:
        """Record a composite: one equation if that is known, else its equations."""
        first, known = len(self.eqns), len(self.constants)
        found = function(*args, **kwargs)
        added = self.eqns[first:]
        alone = type(found) is StagedTracer and len(self.constants) == known
        if not alone or kwargs or any(e.primitive == COMPOSITE for e in added):
            return found
        inputs = [v._var for v in args if isinstance(v, StagedTracer)]
        others = tuple(v for v in args if not isinstance(v, StagedTracer))
        variables = [v for v in inputs if type(v) is Var]
        if len(variables) < len(inputs) or type(found._var) is Literal:
            return found
        fallback = _UncompiledComposite(variables, added, found._var)
        shortcut = composite_shortcut(
            function, [v.aval for v in inputs], others, fallback
        )
        if shortcut is not None:
            out = Var(found.aval)
            params = ((SHORTCUT, shortcut),)
            self.eqns[first:] = [Eqn(COMPOSITE, tuple(inputs), (out,), params)]
            found._var = out
        return found


class _UncompiledComposite:
    """A composite by its equations, made ready when that is asked for."""

    __slots__ = ("jaxpr", "program")

    def __init__(self, inputs: Sequence[Var], eqns: Sequence[Eqn], out: Any) -> None:
        self.jaxpr = Jaxpr((), tuple(inputs), tuple(eqns), (out,))
        self.program: InterpretedProgram | None = None

    def __call__(self, *xs: np.ndarray) -> Any:
        if self.program is None:
            self.program = InterpretedProgram(self.jaxpr, ())
        return fresh(quiet().run(self.program.results, *xs)[0], xs)


def kernel_of(eqn: Eqn) -> Callable[..., Any] | UfuncShortcut:
    """The function that computes an equation: its kernel, or a shortcut of it."""
    if eqn.primitive == COMPOSITE:
        shortcut: UfuncShortcut = eqn.param(SHORTCUT)
        return shortcut
    inputs = [a.aval for a in eqn.inputs]
    dtypes = [a.dtype for a in (*inputs, *(v.aval for v in eqn.outputs))]
    found = None
    if not widening.needed(dtypes):
        found = ufunc_shortcut(eqn.primitive, inputs, dict(eqn.params))
    return call_of(eqn) if found is None else found
