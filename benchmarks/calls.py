"""The cost of a call beside its work: nine elements, passed in several ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import numpy as np

import traceir
import traceir_numba
from benchmarks.measure import Call
from benchmarks.workload import normal
from benchmarks.worlds import OWN

Both = tuple[str, dict[str, Call]]


def _call(f: Callable[..., Any], args: tuple[Any, ...]) -> Call:
    return lambda: f(*args)


def _row(name: str, fun: Any, args: tuple[Any, ...], **options: Any) -> Both:
    mine = traceir.tree.map(traceir.numpy.asarray, args)
    theirs = jax.tree.map(jax.numpy.asarray, args)
    f = traceir.jit(fun, backend="numba", **options)
    g = jax.jit(fun, **options)
    return name, {OWN: _call(f, mine), "JAX": _call(g, theirs)}


def rows() -> Iterator[Both]:
    """JAX's calls are not waited for: on a CPU it is done with such small work."""
    x = normal(9)
    yield _row("one array", lambda a: a * 2 + 1, (x,))
    yield _row("two arrays", lambda a, b: a * 2 + b, (x, x))
    yield _row("six arrays", _six, (x,) * 6)
    tree = {"w": x, "b": x, "rest": [x, (x, x)]}
    yield _row("a tree of five", lambda p: p["w"] * p["b"] + p["rest"][1][0], (tree,))
    yield _row("two trees", lambda p, q: p["w"] + q["b"], (tree, tree))
    mine, theirs = traceir.numpy.asarray(x), jax.numpy.asarray(x)
    f = traceir.jit(_power, backend="numba", static_argnums=1)
    g = jax.jit(_power, static_argnums=1)
    yield "a static argument", {OWN: lambda: f(mine, 3), "JAX": lambda: g(theirs, 3)}
    h, k = traceir.jit(_product, backend="numba"), jax.jit(_product)
    yield (
        "a keyword argument",
        {OWN: lambda: h(mine, n=mine), "JAX": lambda: k(theirs, n=theirs)},
    )
    yield (
        "an array and a number",
        {OWN: lambda: h(mine, 2.0), "JAX": lambda: k(theirs, 2.0)},
    )
    axpb = partial(_axpb, 2.0)
    own, other = traceir_numba.jit(axpb), jax.jit(axpb)
    yield (
        "one array of NumPy's",
        {OWN: lambda: own(x), "JAX": lambda: np.asarray(other(x))},
    )


def _six(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> Any:
    return a + b + c + d + e + f


def _power(a: Any, n: int) -> Any:
    return a**n


def _product(a: Any, n: Any) -> Any:
    return a * n


def _axpb(a: float, x: Any) -> Any:
    return a * x + 1
