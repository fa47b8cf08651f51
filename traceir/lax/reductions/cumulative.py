"""Prefix sums, products and extrema, and their derivatives.

A sum is linear. The others are differentiated as `associative_scan` computes them, so
that no factor is divided by. Serves: class.cumulative, derive.jvp
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

from traceir.arrays.array import Array
from traceir.ir.jaxpr import Params
from traceir.lax.checks.operands import Operand, operand
from traceir.lax.control.associative import associative_scan
from traceir.lax.elementwise.arithmetic import max, min, mul
from traceir.tracing.trace import Value, bind_all, bind_one, living, typeof
from traceir.transforms.autodiff.jvp_trace import JVPTrace
from traceir.transforms.rules.registry import JVP, JvpRule, Tangent, Zero


def _cumulative(primitive: str, x: Operand, axis: int, reverse: bool) -> Array:
    params = {"axis": index(axis), "reverse": bool(reverse)}
    return bind_one(primitive, operand(primitive, x), **params)


def cumsum(operand: Operand, axis: int = 0, reverse: bool = False) -> Array:
    """Sum of each element and all before it along an axis; after it, with `reverse`.

    Raises TypeError (cumulative.numeric), ValueError (cumulative.axis).

    >>> import traceir.numpy as jnp
    >>> cumsum(jnp.array([1, 2, 3])), cumsum(jnp.array([1, 2, 3]), reverse=True)
    (Array([1, 3, 6], dtype=int32), Array([6, 5, 3], dtype=int32))
    """
    return _cumulative("cumsum", operand, axis, reverse)


def cumprod(operand: Operand, axis: int = 0, reverse: bool = False) -> Array:
    """Product of each element and all before it along an axis; otherwise as `cumsum`.

    >>> import traceir.numpy as jnp
    >>> cumprod(jnp.array([1, 2, 3]))
    Array([1, 2, 6], dtype=int32)
    """
    return _cumulative("cumprod", operand, axis, reverse)


def cummax(operand: Operand, axis: int = 0, reverse: bool = False) -> Array:
    """Greatest of each element and all before it, NaN after one; as `cumsum`.

    >>> import traceir.numpy as jnp
    >>> cummax(jnp.array([2, 1, 3]))
    Array([2, 2, 3], dtype=int32)
    """
    return _cumulative("cummax", operand, axis, reverse)


def cummin(operand: Operand, axis: int = 0, reverse: bool = False) -> Array:
    """Least of each element and all before it, NaN after one; as `cumsum`.

    >>> import traceir.numpy as jnp
    >>> cummin(jnp.array([2, 1, 3]))
    Array([2, 1, 1], dtype=int32)
    """
    return _cumulative("cummin", operand, axis, reverse)


def cumlogsumexp(operand: Operand, axis: int = 0, reverse: bool = False) -> Array:
    """Logarithm of the sum of powers of e up to each element; otherwise as `cumsum`.

    Floating (cumlogsumexp.floating); no power is too large or too small.

    >>> import traceir.numpy as jnp
    >>> cumlogsumexp(jnp.array([1000.0, 1000.0]))
    Array([1000.    , 1000.6932], dtype=float32)
    """
    return _cumulative("cumlogsumexp", operand, axis, reverse)


def by_scan(primitive: str, combine: Callable[[Operand, Operand], Array]) -> JvpRule:
    """Forward mode of the same by `associative_scan`."""

    def rule(
        primals: Sequence[Value], tangents: Sequence[Tangent], params: Params
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        [x], [t] = primals, tangents
        if type(t) is Zero:
            return bind_all(primitive, primals, params), [Zero(typeof(x))]
        known: dict[str, Any] = dict(params)
        trace = JVPTrace(primitive, "jvp")
        with living(trace):
            out = associative_scan(combine, trace.pair(x, t), **known)
        [[primal], [tangent]] = trace.split([out])
        return [primal], [tangent]

    return rule


JVP["cumprod"] = by_scan("cumprod", mul)
JVP["cummax"] = by_scan("cummax", max)
JVP["cummin"] = by_scan("cummin", min)
