"""Roots of polynomials, and complex numbers in order. Serves: face.vector"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    complex_dtype,
    convert,
    is_tracer,
    like,
    operand,
    promoted_inexact,
    shape_of,
)
from traceir.numpy import linalg
from traceir.numpy.arrays.creation import broadcast_to, eye
from traceir.numpy.elementwise.composites import where
from traceir.numpy.manipulation.rearrange import roll
from traceir.numpy.manipulation.stacking import atleast_1d
from traceir.numpy.reductions.reductions import all as _all
from traceir.numpy.reductions.reductions import argmin
from traceir.tracing.concretization import refusal
from traceir.tracing.trace import typeof


@composite
def sort_complex(a: Operand) -> Array:
    """Elements along the last axis in order, as complex numbers.

    By real parts, and where these are equal by imaginary ones.

    >>> import traceir.numpy as jnp
    >>> sort_complex(jnp.array([2, 1]))
    Array([1.+0.j, 2.+0.j], dtype=complex64)
    """
    value = operand("sort_complex", a)
    found = lax.sort(value, len(shape_of(value)) - 1)
    dtype = typeof(found).dtype
    if dtype.kind != "c":
        dtype = complex_dtype(dtype)
    return as_array(convert(found, dtype))


def roots(p: Operand, *, strip_zeros: bool = True) -> Array:
    """The complex numbers at which a polynomial is 0, in no order.

    The first coefficient is that of the highest power. Leading zeros are left out,
    which needs concrete coefficients. Without `strip_zeros` there is a result for each
    coefficient but one, and those that are no roots are NaN. Raises ValueError
    (face.vector), ConcretizationTypeError (level.concretize.number).

    >>> import traceir.numpy as jnp
    >>> roots(jnp.array([1.0, -3.0]))
    Array([3.+0.j], dtype=complex64)
    """
    value = atleast_1d(p)
    if len(shape_of(value)) > 1:
        raise rules.error("face.vector", got=f"roots of shape {shape_of(value)}")
    [x] = promoted_inexact("roots", value)
    if x.size < 2:
        return _without_zeros(as_array(x))
    if not strip_zeros:
        return _with_zeros(as_array(x))
    # What is differentiated has leading zeros that are known.
    nonzero: Any = lax.ne(x, like(0, x))
    if is_tracer(nonzero):
        raise refusal(nonzero, "level.concretize.number", "an argument of jnp.roots")
    above = np.flatnonzero(np.asarray(nonzero))
    start = int(above[0]) if above.size else x.size
    return _without_zeros(lax.slice(x, (start,), (x.size,)))


def _without_zeros(p: Array) -> Array:
    """The roots where the first coefficient is not 0: the eigenvalues of the matrix of
    which this is the characteristic polynomial."""
    degree = p.size - 1
    if degree < 1:
        return lax.full((0,), 0, np.result_type(p.dtype, np.complex64))
    first = lax.neg(lax.div(p[1:], broadcast_to(p[:1], (degree,))))
    below = eye(degree - 1, degree, dtype=p.dtype)
    return linalg.eigvals(lax.concatenate([first[None], below], 0))


def _with_zeros(p: Array) -> Array:
    """The roots, as many as there would be if no coefficient were 0."""
    size = p.size
    none = p == 0
    leading = where(_all(none), size, argmin(none))
    # Zeros that are moved to the end are roots that are 0, and these come last.
    found = _without_zeros(roll(where(leading == size, 1, p), -leading))
    _, last = lax.sort((found == 0, found), num_keys=1)
    real = lax.iota("int32", size - 1) < size - 1 - leading
    return where(real, last, complex(np.nan, np.nan))
