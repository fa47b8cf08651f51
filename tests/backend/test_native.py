"""Quotients of 64 bits by instructions of vectors, beside those of the reference.

Cites div, rem
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import traceir
from traceir import lax
from traceir_numba.llvm import native
from traceir_numba.runtime.mcjit import processor

EDGES = [0, 1, 2, 3, 7, 10, 10**6, 2**32 - 1, 2**32, 2**53, 2**53 + 1]
EDGES += [
    2**62 - 1,
    2**62,
    2**62 + 1,
    2**63 - 1,
    2**63,
    2**63 + 1,
    2**64 - 2,
    2**64 - 1,
]


def operands() -> tuple[np.ndarray, np.ndarray]:
    """Pairs of edges, edges with drawn numbers, and neighbours of products."""
    rng = np.random.default_rng(11)
    edges = np.array(EDGES, "uint64")

    def drawn(count: int) -> np.ndarray:
        bits = rng.integers(0, 1 << 64, count, "uint64")
        shifted: np.ndarray = bits >> rng.integers(0, 64, count).astype("uint64")
        return shifted

    pairs = [side.ravel() for side in np.meshgrid(edges, edges)]
    one, other = np.repeat(edges, 40), drawn(40 * len(edges))
    divisors = np.maximum(drawn(30_000), 1)
    most = np.uint64(2**64 - 1) // divisors
    products = divisors * np.minimum(drawn(30_000), most)
    x = [pairs[0], one, other, drawn(30_000)]
    y = [pairs[1], other, one, drawn(30_000)]
    for step in (-1, 0, 1):
        x.append(products + np.uint64(step % 2**64))
        y.append(divisors)
    return np.concatenate(x), np.concatenate(y)


def both(x: Any, y: Any) -> Any:
    """Quotient and remainder."""
    return lax.div(x, y), lax.rem(x, y)


@pytest.mark.parametrize("dtype", ["uint64", "int64"])
def test_quotients_are_exact(dtype: str) -> None:
    x, y = (side.view(dtype) for side in operands())
    with traceir.enable_x64(True):
        found = traceir.jit(both, backend="numba")(x, y)
        wanted = traceir.jit(both, backend="reference")(x, y)
        for one, other in zip(found, wanted, strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize("divisor", [1, 2, 3, 10, 1 << 40, (1 << 62) + 1, -1, -7])
def test_quotients_by_one_number(divisor: int) -> None:
    x = operands()[0].view("int64")
    with traceir.enable_x64(True):
        y = np.int64(divisor)
        found = traceir.jit(lambda x: both(x, y), backend="numba")(x)
        wanted = traceir.jit(lambda x: both(x, y), backend="reference")(x)
        for one, other in zip(found, wanted, strict=True):
            assert np.array_equal(one, other)


DIV = "define i64 @traceir_function_div_u64(i64 %a0, i64 %a1) nounwind {\n}"
CALL = "%r1 = call i64 @traceir_function_rem_u64(i64 %r0, i64 {})"


def test_other_processors_have_the_text_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    has = "+avx512dq" in processor()[1].split(",")
    for divisor in ("%r2", "3", "-12"):
        assert (native.native([DIV], [CALL.format(divisor)]) != (DIV,)) == has
    assert native.native([DIV]) == (DIV,)
    for divisor in ("2", "1", "-64"):  # a shift
        assert native.native([DIV], [CALL.format(divisor)]) == (DIV,)
    native._own.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(native, "processor", lambda: ("x86-64", "+sse2"))
        assert native.native([DIV], [CALL.format("3")]) == (DIV,)
    native._own.cache_clear()
