"""Algebra that is exact, by bits: each rewrite on every special number of each dtype.

Only what bits a NaN has may differ, a signalling one among them (choice.nan-payload).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.reference.interpreter import eval_jaxpr
from traceir_numba.lowering.canonicalize import ALGEBRA, canonicalize

DTYPES = ["float16", "bfloat16", "float32", "float64"]
WHOLE = ["bool", "int8", "uint8", "int32", "uint64"]
ONES = [1, 0, -0.0, -1]
# What each rule may be asked: an operand with itself, or with a number on either side.
TWO = {"mul", "div", "add", "sub", "max", "min", "and", "or"}
ONE = {"neg", "not"}


def special(dtype: str) -> np.ndarray:
    """Zeros, the least and the greatest numbers, infinities, both kinds of NaN."""
    made = np.dtype(dtype) if dtype != "bfloat16" else jnp.zeros(1, dtype).dtype
    if made.kind in "iub":
        ends = [0, 1] if made.kind == "b" else [np.iinfo(made).min, np.iinfo(made).max]
        return np.array([0, 1, *ends]).astype(made)
    found = np.array([0.0, -0.0, 1, -1, 3.3, np.inf, -np.inf, np.nan]).astype(made)
    bits = np.dtype(f"u{made.itemsize}")
    least = np.array([1], bits).view(made)
    signalling = (np.array([np.inf]).astype(made).view(bits) + 1).view(made)
    return np.concatenate([found, least, -least, signalling])


def bits(values: Any) -> bytes:
    """The bits of numbers, with one NaN for all."""
    array = np.atleast_1d(values)
    if array.dtype.kind in "fV":
        wide = array.astype("float64")
        return np.where(np.isnan(wide), np.nan, wide).tobytes()
    return array.tobytes()


def programs(name: str, x: np.ndarray) -> list[Any]:
    """Functions of one operand in which a rule may fire."""
    apply = {"and": lax.bitwise_and, "or": lax.bitwise_or, "not": lax.bitwise_not}
    f: Any = apply.get(name) or getattr(lax, name)
    if name in ONE:
        return [lambda v: f(f(v))]
    numbers = [np.asarray(n).astype(x.dtype)[()] for n in ONES]
    if x.dtype.kind == "u":
        numbers = numbers[:2]
    sides = [lambda v, n=n: f(v, n) for n in numbers]
    sides += [lambda v, n=n: f(n, v) for n in numbers]
    return [*sides, lambda v: f(v, v)]


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
@pytest.mark.parametrize("dtype", DTYPES + WHOLE)
def test_a_rewrite_changes_no_bit(dtype: str) -> None:
    assert set(ALGEBRA) >= TWO | ONE
    wrong, shorter = [], 0
    with traceir.enable_x64(True), np.errstate(all="ignore"):
        x = special(dtype)
        for name in sorted(TWO | ONE):
            for number, function in enumerate(programs(name, x)):
                try:
                    program = traceir.make_jaxpr(traceir.vmap(function))(x)
                except TypeError:
                    continue  # the primitive has no such operands
                scalar = traceir.make_jaxpr(function)(x[0])
                for one in (program, scalar):
                    for value in [x] if one is program else x:
                        small = canonicalize(one)
                        shorter += len(small.jaxpr.eqns) < len(one.jaxpr.eqns)
                        (left,) = eval_jaxpr(one.jaxpr, one.consts, value)
                        (right,) = eval_jaxpr(small.jaxpr, small.consts, value)
                        if bits(left) != bits(right):
                            wrong.append((name, number, value))
    assert wrong == []
    assert shorter > 20
