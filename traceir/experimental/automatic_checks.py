"""Failures of operations: NaNs, zeros and indices out of bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir.dtypes import is_inexact
from traceir.ir.jaxpr import Eqn
from traceir.tracing.trace import Value

# From operands and results to a boolean: that the operation has failed.
Failing = Callable[[Sequence[Value], Sequence[Value]], Value]


class JaxException(ValueError):
    """A check that failed."""

    says = ""


class FailedCheckError(JaxException):
    """A check that the user wrote failed."""


class NaNError(JaxException):
    """An operation gave a NaN."""

    says = "nan generated"


class DivisionByZeroError(JaxException):
    """A divisor was zero."""

    says = "division by zero"


class OutOfBoundsError(JaxException):
    """An index was out of bounds."""

    says = "out-of-bounds indexing"


def failing(kind: type[JaxException], eqn: Eqn) -> Failing | None:
    """A function that tells that an operation has failed so; None if it cannot."""
    if kind is NaNError:
        return _nan(eqn)
    if kind is DivisionByZeroError:
        return _zero if eqn.primitive in ("div", "rem") else None
    return _bounds(eqn)


def _zero(xs: Sequence[Value], outs: Sequence[Value]) -> Value:
    return jnp.any(jnp.equal(xs[1], 0))


def _nan(eqn: Eqn) -> Failing | None:
    """A function that tells that a result is a NaN; None if none can be."""
    places = [k for k, v in enumerate(eqn.outputs) if is_inexact(v.aval.dtype)]
    if not places or any(name.endswith("jaxpr") for name, _ in eqn.params):
        return None
    if eqn.primitive in ("cond", "gather", "debug_callback"):
        return None

    def rule(xs: Sequence[Value], outs: Sequence[Value]) -> Value:
        found = [jnp.any(jnp.isnan(outs[k])) for k in places]
        return jnp.any(jnp.stack(found))

    return rule


def _bounds(eqn: Eqn) -> Failing | None:
    """A function that tells that an index is out of bounds; None if there is none."""
    if eqn.primitive not in ("gather", "dynamic_slice", "dynamic_update_slice"):
        return None
    shape = eqn.inputs[0].aval.shape
    if eqn.primitive == "gather":
        numbers: Any = eqn.param("dimension_numbers")
        dims = numbers[2]
        last = [shape[d] - eqn.param("slice_sizes")[d] for d in dims]
        return lambda xs, outs: _outside(xs[1], last)
    update = eqn.primitive == "dynamic_update_slice"
    sizes = eqn.inputs[1].aval.shape if update else eqn.param("slice_sizes")
    first = 2 if update else 1
    ends = [extent - size for extent, size in zip(shape, sizes, strict=True)]
    return lambda xs, outs: _outside(jnp.stack(xs[first:]), ends)


def _outside(indices: Value, last: Sequence[int]) -> Value:
    ends = np.array(last, "int32")
    return jnp.any(jnp.logical_or(indices < 0, indices > ends))
