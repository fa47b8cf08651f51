"""Products with logarithms, entropies, logistic functions. Serves: promote.*

A product of 0 with a logarithm is 0, and the derivatives are those of the formulas, as
in `jax.scipy.special`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.lax.checks.operands import (
    Operand,
    aligned,
    as_array,
    like,
    operand,
    promoted_inexact,
    refuse_complex,
    shape_of,
    typed,
)
from traceir.lax.checks.shapes import axes_in
from traceir.numpy.assembly.tiling import broadcast_arrays
from traceir.numpy.elementwise.arithmetic import add, subtract
from traceir.numpy.elementwise.composites import where
from traceir.numpy.elementwise.exponential import expm1
from traceir.numpy.elementwise.logic import equal
from traceir.scipy.special.logsums import log_shares, shares
from traceir.tracing.trace import bind_one, typeof
from traceir.transforms.custom.custom_jvp import custom_jvp

Axis = Any


def real(name: str, x: Operand, primitive: str | None = None) -> Array:
    """A primitive of one floating operand, for operands that promote to one."""
    return bind_one(primitive or name, *promoted_inexact(name, x))


def reals(name: str, *operands: Operand) -> list[Array]:
    """Operands as floating arrays of one dtype, their shapes made to broadcast."""
    return [as_array(x) for x in aligned(name, promoted_inexact(name, *operands))]


def named(name: str, function: Callable[..., Any]) -> custom_jvp:
    """A function with a derivative of its own, under its public name."""
    function.__name__ = name
    return custom_jvp(function)


def filled(x: Operand, number: float) -> Array:
    """One number, in the shape and dtype of `x`, and as weak."""
    aval = typeof(x)
    return lax.broadcast(typed(number, aval.dtype, aval.weak_type), aval.shape)


def expit(x: Operand) -> Array:
    """`1 / (1 + exp(-x))`, floating.

    >>> expit(0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return real("expit", x, "logistic")


def logit(x: Operand) -> Array:
    """`log(x / (1 - x))`, the inverse of `expit`; floating.

    >>> logit(0.5)
    Array(0., dtype=float32, weak_type=True)
    """
    result: Array = _logit(*reals("logit", x))
    return result


_logit = named("logit", lambda x: lax.log(lax.div(x, lax.sub(like(1, x), x))))
_logit.defjvps(lambda t, out, x: lax.div(t, lax.mul(x, lax.sub(like(1, x), x))))


def _guarded(x: Array, y: Array, log: Callable[[Array], Array]) -> Array:
    some = lax.bitwise_or(lax.ne(x, like(0, x)), lax.ne(y, y))
    product = lax.mul(x, log(y))
    return where(some, product, filled(product, 0))


def xlogy(x: Operand, y: Operand) -> Array:
    """`x * log(y)`, 0 where `x` is 0 and `y` not NaN; floating.

    Raises TypeError (face.argument, face.broadcast).

    >>> xlogy(0, 0)
    Array(0., dtype=float32, weak_type=True)
    """
    result: Array = _xlogy(*_pair("xlogy", x, y))
    return result


def xlog1py(x: Operand, y: Operand) -> Array:
    """`x * log(1 + y)`, 0 where `x` is 0 and `y` not NaN; floating.

    Raises TypeError (face.argument, face.broadcast).

    >>> xlog1py(0, -1)
    Array(0., dtype=float32, weak_type=True)
    """
    result: Array = _xlog1py(*_pair("xlog1py", x, y))
    return result


def _pair(name: str, x: Operand, y: Operand) -> tuple[Array, ...]:
    first, second = reals(name, x, y)
    if first.shape == second.shape:
        return first, second
    return tuple(broadcast_arrays(first, second))


_xlogy = named("xlogy", lambda x, y: _guarded(x, y, lax.log))
_xlog1py = named("xlog1py", lambda x, y: _guarded(x, y, lax.log1p))


@_xlogy.defjvp
def _xlogy_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    (x, y), (dx, dy) = primals, tangents
    found, share = xlogy(x, y), lax.mul(dx, lax.log(y))
    return found, lax.add(share, lax.div(lax.mul(dy, x), y))


@_xlog1py.defjvp
def _xlog1py_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    (x, y), (dx, dy) = primals, tangents
    found, share = xlog1py(x, y), lax.mul(dx, lax.log1p(y))
    slope = lax.div(lax.mul(dy, x), lax.add(like(1, y), y))
    return found, lax.add(share, slope)


_xlogx = named("_xlogx", lambda x: xlogy(x, x))


@_xlogx.defjvp
def _xlogx_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    [x], [t] = primals, tangents
    return _xlogx(x), lax.mul(t, lax.add(lax.log(x), like(1, x)))


def entr(x: Operand) -> Array:
    """`-x * log(x)`, 0 at 0 and -inf below; floating.

    >>> import traceir.numpy as jnp
    >>> entr(jnp.array([-1.0, 0.0, 0.5]))
    Array([      -inf, -0.       ,  0.3465736], dtype=float32)
    """
    refuse_complex("entr", x)
    [value] = reals("entr", x)
    below, lowest = lax.lt(value, like(0, value)), filled(value, -np.inf)
    return lax.select(below, lowest, lax.neg(_xlogx(value)))


def rel_entr(p: Operand, q: Operand) -> Array:
    """`p * log(p / q)`; 0 where `p` is 0 and `q` not below, else inf outside.

    Raises TypeError (face.argument, face.broadcast).

    >>> rel_entr(0.5, 0.25)
    Array(0.3465736, dtype=float32, weak_type=True)
    """
    refuse_complex("rel_entr", p, q)
    p, q = reals("rel_entr", p, q)
    both = (p > 0) & (q > 0)
    none = equal(p, 0) & (q >= 0)
    # What is not taken has derivatives, too: they must be finite.
    safe_p, safe_q = where(both, p, 1), where(both, q, 1)
    found = subtract(_xlogx(safe_p), xlogy(safe_p, safe_q))
    outside = where(none, like(0.0, found), np.inf)
    return where(both, found, outside)


def kl_div(p: Operand, q: Operand) -> Array:
    """`p * log(p / q) - p + q`, and inf outside of where both are positive.

    Raises TypeError (face.argument, face.broadcast).

    >>> kl_div(0.5, 0.25)
    Array(0.09657359, dtype=float32, weak_type=True)
    """
    refuse_complex("kl_div", p, q)
    p, q = reals("kl_div", p, q)
    return add(rel_entr(p, q) - p, q)


def _transformed(x: Array, power: Array, log: Callable[[Array], Array]) -> Array:
    plain = equal(power, 0)
    safe = where(plain, filled(power, 1), power)
    logarithm = log(x)
    return where(plain, logarithm, expm1(safe * logarithm) / safe)


def boxcox(x: Operand, lmbda: Operand) -> Array:
    """`(x**lmbda - 1) / lmbda`, and `log(x)` where `lmbda` is 0; floating.

    Raises TypeError (face.argument, face.broadcast).

    >>> boxcox(4.0, 0.5)
    Array(2., dtype=float32, weak_type=True)
    """
    value, power = reals("boxcox", x, lmbda)
    return _transformed(value, power, lax.log)


def boxcox1p(x: Operand, lmbda: Operand) -> Array:
    """`((1 + x)**lmbda - 1) / lmbda`, and `log(1 + x)` where `lmbda` is 0; floating.

    Raises TypeError (face.argument, face.broadcast).

    >>> boxcox1p(3.0, 0.5)
    Array(2., dtype=float32, weak_type=True)
    """
    value, power = reals("boxcox1p", x, lmbda)
    return _transformed(value, power, lax.log1p)


def softmax(x: Operand, /, *, axis: Axis = None) -> Array:
    """Exponentials divided by their sum over axes, by default all.

    Raises ValueError (face.axis), TypeError (face.argument).

    >>> import traceir.numpy as jnp
    >>> softmax(jnp.array([1000.0, 1000.0]))
    Array([0.5, 0.5], dtype=float32)
    """
    value = operand("softmax", x)
    return shares(value, axes_in(axis, len(shape_of(value))))


def log_softmax(x: Operand, /, *, axis: Axis = None) -> Array:
    """The logarithm of `softmax`, exact far below 0.

    Raises ValueError (face.axis), TypeError (face.argument).

    >>> import traceir.numpy as jnp
    >>> log_softmax(jnp.array([0.0, 200.0]))
    Array([-200.,    0.], dtype=float32)
    """
    value = operand("log_softmax", x)
    return log_shares(value, axes_in(axis, len(shape_of(value))))
