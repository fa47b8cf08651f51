"""Types of programs, tracers, and the state of traces."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

from traceir.as_jax.custom_traces import CustomTrace as Trace
from traceir.as_jax.program_parts import (
    Effects,
    JaxprTypeError,
    check_jaxpr,
    concrete_or_error,
    gensym,
    jaxprs_in_params,
    new_jaxpr_eqn,
    no_effects,
    primal_dtype_to_tangent_dtype,
    subjaxprs,
)
from traceir.errors import ConcretizationTypeError, TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, Literal, Var
from traceir.ir.jaxpr import Eqn as JaxprEqn
from traceir.tracing.eval_trace import ensure_compile_time_eval
from traceir.tracing.named_primitives import builtin
from traceir.tracing.staging import apply
from traceir.tracing.trace import Trace as AnyTrace
from traceir.tracing.trace import Tracer, current_trace, in_force, typeof
from traceir.transforms.custom.custom_primitive import Primitive

AbstractValue: TypeAlias = ShapedArray
Value: TypeAlias = Any
ParamDict: TypeAlias = dict[str, Any]
max_dim, min_dim = max, min  # extents are integers
get_aval = typeof
eval_context = ensure_compile_time_eval
set_current_trace = in_force
# Classes of arrays of other libraries, and what tells their types.
pytype_aval_mappings: dict[type, Callable[[Any], ShapedArray]] = {np.ndarray: typeof}
stop_gradient_p = builtin("stop_gradient")

__all__ = [
    "AbstractValue",
    "Atom",
    "ClosedJaxpr",
    "ConcretizationTypeError",
    "DropVar",
    "Effect",
    "Effects",
    "Jaxpr",
    "JaxprEqn",
    "JaxprTypeError",
    "Literal",
    "ParamDict",
    "Primitive",
    "ShapedArray",
    "Trace",
    "TraceTag",
    "Tracer",
    "Value",
    "Var",
    "check_jaxpr",
    "concrete_or_error",
    "ensure_compile_time_eval",
    "eval_context",
    "eval_jaxpr",
    "find_top_trace",
    "full_lower",
    "gensym",
    "get_aval",
    "get_opaque_trace_state",
    "is_concrete",
    "jaxpr_as_fun",
    "jaxprs_in_params",
    "mapped_aval",
    "max_dim",
    "min_dim",
    "new_jaxpr_eqn",
    "no_effects",
    "primal_dtype_to_tangent_dtype",
    "pytype_aval_mappings",
    "set_current_trace",
    "stop_gradient_p",
    "subjaxprs",
    "take_current_trace",
    "trace_state_clean",
    "unmapped_aval",
    "valid_jaxtype",
]


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], *args: Any) -> list[Any]:
    """The results of a program's equations, applied in the trace in force.

    >>> import traceir
    >>> closed = traceir.make_jaxpr(lambda x: x + 1)(1.0)
    >>> eval_jaxpr(closed.jaxpr, closed.consts, 2.0)
    [Array(3., dtype=float32, weak_type=True)]
    """
    return apply(ClosedJaxpr(jaxpr, tuple(consts)), args)


def jaxpr_as_fun(closed_jaxpr: ClosedJaxpr) -> Callable[..., list[Any]]:
    """A program as a function of its inputs, which returns the list of its results.

    >>> import traceir
    >>> jaxpr_as_fun(traceir.make_jaxpr(lambda x: -x)(1.0))(2.0)
    [Array(-2., dtype=float32, weak_type=True)]
    """

    def call(*args: Any) -> list[Any]:
        return apply(closed_jaxpr, args)

    return call


class OpaqueTraceState:
    """The trace that was in force at a moment: equal where it is the same one."""

    __slots__ = ("_trace",)

    def __init__(self, trace: AnyTrace | None) -> None:
        self._trace = trace

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpaqueTraceState) and self._trace is other._trace

    def __hash__(self) -> int:
        return hash(self._trace)


def get_opaque_trace_state(convention: Hashable = None) -> OpaqueTraceState:
    """A token for the trace in force, to tell later whether it is another.

    >>> get_opaque_trace_state() == get_opaque_trace_state()
    True
    """
    return OpaqueTraceState(current_trace())


def trace_state_clean() -> bool:
    """True outside every trace.

    >>> trace_state_clean()
    True
    """
    return current_trace() is None


def find_top_trace(values: Any) -> AnyTrace | None:
    """The trace in force, whatever the values are.

    >>> find_top_trace([1.0]) is None
    True
    """
    return current_trace()


@contextmanager
def take_current_trace() -> Iterator[AnyTrace | None]:
    """The trace in force, in which a trace that is made inside the `with` will be.

    >>> with take_current_trace() as trace:
    ...     trace is None
    True
    """
    yield current_trace()


class DropVar(Var):
    """The class of results that nobody reads, in other implementations: none here."""


class UserEffect:
    """A kind of effect of a user's primitive, in other implementations."""


Effect = UserEffect


class TraceTag:
    """A name for the traces of one transform: equal to itself alone."""


def is_concrete(value: Any) -> bool:
    """True if a value is known here.

    >>> is_concrete(1.0)
    True
    """
    return not isinstance(value, Tracer) or value.knows("level.concretize.array")


def full_lower(value: Any) -> Any:
    """The value itself: a traced value stays one.

    >>> full_lower(1.0)
    1.0
    """
    return value


def valid_jaxtype(x: Any) -> bool:
    """True for an array, a tracer or a number.

    >>> valid_jaxtype(1.0), valid_jaxtype("text")
    (True, False)
    """
    try:
        typeof(x)
    except TraceirError:
        return False
    return True


def mapped_aval(size: int, axis: int | None, aval: ShapedArray) -> ShapedArray:
    """The type of one example of a batch of so many along an axis.

    >>> mapped_aval(3, 0, ShapedArray((3, 2), "float32"))
    ShapedArray(float32[2])
    """
    if axis is None:
        return aval
    return aval.update(shape=aval.shape[:axis] + aval.shape[axis + 1 :])


def unmapped_aval(size: int, axis: int | None, aval: ShapedArray) -> ShapedArray:
    """The type of a batch of so many examples along an axis.

    >>> unmapped_aval(3, 0, ShapedArray((2,), "float32"))
    ShapedArray(float32[3,2])
    """
    if axis is None:
        return aval
    return aval.update(shape=(*aval.shape[:axis], size, *aval.shape[axis:]))
