"""Rows of a known length: the bits that LLVM gives them, in whole vectors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compiling import AVX512, executable, has_bits_of_llvm, traced
from soak import sample

import traceir.numpy as jnp
from traceir_numba import cost_model

LENGTHS = [2, 7, 9, 10, 15, 16, 17, 31, 33, 40, 63, 64, 65, 100, 127, 129, 200, 255]
LENGTHS += [257, 300, 500, 511, 512, 513]


def softmax(x: Any) -> Any:
    """A row's exponentials, over their sum."""
    e = jnp.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def standardised(x: Any) -> Any:
    """A row with mean 0 and variance 1, nearly."""
    return (x - x.mean(1, keepdims=True)) / jnp.sqrt(x.var(1, keepdims=True) + 1)


PROGRAMS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "sums": (lambda x: x.sum(1), "float32 float64 float16 int32 complex64"),
    "products": (lambda x: x.prod(1), "float32 int32"),
    "extremes": (lambda x: (x.max(1), x.min(1)), "float32 float64 float16 int8"),
    "places": (lambda x: (x.argmax(1), x.argmin(1)), "float32 int32"),
    "truths": (lambda x: ((x > 0).any(1), (x > 0).all(1)), "float32 uint8"),
    "weights": (softmax, "float32 float64"),
    "standardised": (standardised, "float32 float64 float16"),
    "products with a row": (lambda x: x @ x[0], "float32 float64"),
    "every second": (lambda x: (x[:, ::2] * 2).sum(1), "float32"),
    "two lines": (
        lambda x: x.reshape(2, -1, x.shape[1]).sum((0, 2)),
        "float32 int32",
    ),
}
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 3e38]
ALL = [
    (name, dtype, length)
    for name, (_, dtypes) in PROGRAMS.items()
    for dtype in dtypes.split()
    for length in LENGTHS
]


def rows(dtype: str, length: int) -> np.ndarray:
    """So many rows that their length is known, a few with special numbers."""
    count = 2 * (cost_model.FIXED_ROW_ELEMENTS // (2 * length) + 2)
    rng = np.random.default_rng(length)
    x = rng.normal(size=(count, length)) * 8
    if dtype == "complex64":
        return (x + 1j * x[::-1]).astype(dtype)
    if dtype[0] == "f":
        x[:5].flat[rng.integers(0, 5 * length, 4)] = rng.choice(SPECIAL, 4)
    with np.errstate(all="ignore"):
        return np.asarray(x.astype(dtype))


@pytest.mark.parametrize(("name", "dtype", "length"), sample(ALL, 4))
def test_rows_of_a_known_length_have_the_bits_of_llvm(
    name: str, dtype: str, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = rows(dtype, length)
    assert has_bits_of_llvm(PROGRAMS[name][0], x, monkeypatch)


@pytest.mark.skipif(not AVX512, reason="the processor has no such vectors")
@pytest.mark.parametrize("length", [48, 100, 128])
@pytest.mark.parametrize("name", ["sums", "extremes", "products with a row"])
def test_accumulators_of_known_rows_are_registers(name: str, length: int) -> None:
    closed = traced(PROGRAMS[name][0], rows("float32", length))
    text = executable(closed).as_text("asm")
    assert re.search(r"v(add|max)ps.*zmm", text)
    assert not re.search(r"(add|max)ps.*%rsp", text)
