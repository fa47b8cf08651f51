"""Functions of Python's that are loops, written in Python and recorded.

Serves: python.domain, python.overflow, staged.loop
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from traceir import numpy as jnp
from traceir.base.caches import once
from traceir.face.control_flow import iteration, runtime
from traceir.face.control_flow.rewriting import syntax
from traceir.face.control_flow.rewriting.code_objects import code_of
from traceir.face.python.numbers import require

# The greatest integer of 64 bits, and its root.
_MOST = 2**63 - 1
_MOST_FACTOR = 3037000499
_SEEN = {
    **vars(builtins),
    "range": iteration.range_of,
    syntax.RUNTIME: runtime,
    syntax.LOCALS: locals,
}


def staged(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose loops and choices are recorded where a trace needs it.

    It is rewritten when it is called first.
    """
    assert isinstance(function, FunctionType)

    @once
    def made() -> Callable[..., Any]:
        names = {**function.__globals__, "__builtins__": _SEEN}
        return FunctionType(code_of(function.__code__), names, function.__name__)

    @functools.wraps(function)
    def call(*operands: Any) -> Any:
        return made()(*operands)

    return call


@staged
def total(items: Any, start: Any) -> Any:
    """The sum, from the first item on."""
    for item in items:
        start = start + item
    return start


@staged
def product(items: Any, start: Any) -> Any:
    """The product, from the first item on."""
    for item in items:
        start = start * item
    return start


@staged
def least(items: Any) -> Any:
    """The first item of an array that none is less than."""
    best = items[0]
    for item in items[1:]:
        best = item if item < best else best
    return best


@staged
def greatest(items: Any) -> Any:
    """The first item of an array that none is greater than."""
    best = items[0]
    for item in items[1:]:
        best = item if item > best else best
    return best


@staged
def power_of_remainders(base: Any, exponent: Any, modulus: Any) -> Any:
    """`pow(base, exponent, modulus)`, whose products have to fit into 64 bits."""
    require(exponent < 0, "python.domain", "pow() with such an exponent")
    require(abs(modulus) > _MOST_FACTOR, "python.overflow", "pow() by such a modulus")
    found, base = 1 % modulus, base % modulus
    while exponent > 0:
        if exponent % 2 == 1:
            found = found * base % modulus
        base = base * base % modulus
        exponent = exponent // 2
    return found


@staged
def permutations(n: Any, k: Any) -> Any:
    """The number of ways to take `k` of `n` things, in order."""
    require((n < 0) | (k < 0), "python.domain", "a count below zero")
    found = n * 0 + 1
    for i in range(k):
        factor = n - i
        require(found > _MOST // jnp.maximum(factor, 1), "python.overflow", "perm")
        found = found * factor
    return found


@staged
def combinations(n: Any, k: Any) -> Any:
    """The number of ways to take `k` of `n` things."""
    require((n < 0) | (k < 0), "python.domain", "a count below zero")
    found = n * 0 + 1
    few = k if k < n - k else n - k
    for i in range(few):
        factor = n - i
        require(found > _MOST // jnp.maximum(factor, 1), "python.overflow", "comb")
        found = found * factor // (i + 1)
    return found if k <= n else 0
