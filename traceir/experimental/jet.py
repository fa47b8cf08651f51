"""Derivatives of higher order along a curve: of a function of a power series.

Serves: derive.jvp
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial
from typing import Any

from traceir.dtypes import is_inexact
from traceir.pytrees import flatten
from traceir.tracing.trace import typeof
from traceir.transforms import jvp


def jet(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    series: Sequence[Sequence[Any]],
    factorial_scaled: bool = True,
) -> tuple[Any, Any]:
    """The value of `fun` at `primals`, and the derivatives of ``fun(x(t))`` at 0.

    `series` has for each argument the derivatives of ``x(t)``: the first, the second
    and so on, as many for each; without `factorial_scaled` it has, and gives, the
    coefficients of powers of t. Arguments and results may be trees. It is `jvp` as
    often as there are terms, so each doubles the work, and any function will do. In the
    place of a leaf of the result stands the list of its terms. Raises ValueError for
    series of several lengths.

    >>> import traceir.numpy as jnp
    >>> [float(term) for term in jet(jnp.sin, (0.0,), ((1.0, 0.0, 0.0),))[1]]
    [1.0, 0.0, -1.0]
    """
    orders = {len(terms) for terms in series}
    if len(primals) != len(series) or len(orders) > 1:
        got = (
            f"{len(primals)} arguments, and series of {[len(s) for s in series]} terms"
        )
        raise ValueError(f"each argument has a series of as many terms: got {got}")
    order = orders.pop() if orders else 0
    scales = [factorial(k + 1) if factorial_scaled else 1 for k in range(order)]
    towers = [_columns(x, terms) for x, terms in zip(primals, series, strict=True)]

    def along(t: Any) -> Any:
        """The function at a time, in a list of one."""
        points = [
            tree.unflatten([_at(x, terms, scales, t) for x, *terms in leaves])
            for leaves, tree in towers
        ]
        return [fun(*points)]

    tower: Callable[[Any], Any] = along
    for _ in range(order):
        tower = _with_slope(tower)
    value, *slopes = tower(0.0)
    leaves, tree = flatten.flatten(value)
    rows = [tree.flatten_up_to(slope) for slope in slopes]
    if not factorial_scaled:
        rows = [[x / factorial(k) for x in row] for k, row in enumerate(rows, 1)]
    terms = [[row[k] for row in rows] for k in range(len(leaves))]
    return value, tree.unflatten(terms)


def _columns(x: Any, terms: Sequence[Any]) -> tuple[list[Any], Any]:
    """For each leaf of an argument the leaf and its terms, and the tree."""
    leaves, tree = flatten.flatten(x)
    rows = [leaves, *(tree.flatten_up_to(term) for term in terms)]
    return list(zip(*rows, strict=True)), tree


def _at(x: Any, terms: Sequence[Any], scales: Sequence[int], t: Any) -> Any:
    """The point of a curve at a time."""
    if not is_inexact(typeof(x).dtype):
        return x
    found: Any = 0
    for term, scale in zip(reversed(terms), reversed(scales), strict=True):
        found = (found + term / scale) * t
    return x + found


def _with_slope(along: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function that gives the slope of the last result, too."""

    def call(t: Any) -> Any:
        values, slopes = jvp(along, (t,), (1.0,))
        return [*values, slopes[-1]]

    return call
