"""The lines of `array/lines` as plain functions: NumPy's dtypes, not only its kinds.

Rules: face.function, face.ufunc, promote.numpy
"""

from __future__ import annotations

import warnings
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from array_lines import Line, draw, lines
from rule_errors import raises_rule

from traceir.jit.function import JitFunction, Options

OPTIONS = Options(backend="reference", face="numpy", x64=True, numpy_out=True)
DTYPES = ("bool", "int8", "uint16", "float16", "float32")
# What no plain function can say: NumPy calls a vectorized function with elements that
# it has at hand, and makes matrices; and float16 in places where NumPy widens it.
OTHERWISE = ("np.vectorize", 'np.r_["r"', 'np.r_["c"', "np.r_[1:4", "np.poly(")
TRACED = [
    line
    for line in lines()
    if "static" not in line.marks
    and line.operands
    and not line.text.startswith(OTHERWISE)
]
REFUSALS = (TypeError, ValueError, IndexError, ArithmeticError, AttributeError)


def operands(line: Line, dtype: str) -> dict[str, Any] | None:
    """Operands that NumPy takes and that have elements, if there are any."""
    start = crc32(line.text.encode())
    for seed in range(start, start + 60):
        found = draw(line, dtype, seed)
        if not all(v.size for v in found.values()):
            continue
        try:
            line.run(np, found)
        except REFUSALS:
            continue
        return found
    return None


def same(found: Any, wanted: Any, line: Line, digits: float) -> None:
    """Assert that a result has NumPy's dtype, shape and values."""
    if isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other, line, digits)
        return
    one, other = np.asarray(found), np.asarray(wanted)
    assert (one.dtype, one.shape) == (other.dtype, other.shape)
    if other.dtype.kind == "f":
        finest = max(float(np.finfo(other.dtype).eps), digits)
        error = finest * (1e3 if "loose" in line.marks else 16)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(
                one.astype(float), other.astype(float), error, error
            )
    else:
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("line", TRACED, ids=lambda line: line.text)
def test_a_line_has_the_dtypes_of_numpy(line: Line) -> None:
    chosen = [dtype for dtype in line.dtypes if dtype in DTYPES]
    tried = 0
    for dtype in chosen:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given = operands(line, dtype)
        if given is None:
            continue
        tried += 1
        function = eval(f"lambda {', '.join(given)}: {line.text}", {"np": np})
        digits = float(np.finfo(dtype).eps) if dtype.startswith("float") else 0.0
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            wanted = function(**given)
            found = JitFunction(function, None, None, OPTIONS)(**given)
        try:
            same(found, wanted, line, digits)
        except AssertionError as error:
            raise AssertionError(f"{dtype}: {error}") from None
    assert tried


def test_histograms_have_the_dtypes_that_numpy_has() -> None:
    def run(x: Any, w: Any, n: Any) -> Any:
        return (
            np.histogram(x, np.linspace(0.0, 3.0, 4)),
            np.histogram(x, [0, 1, 3]),
            np.histogram(x, 3, weights=w),
            np.histogram(x, 3, weights=n),
            np.histogram(n, np.linspace(0.0, 3.0, 4), density=True),
        )

    x, n = np.array([1.0, 2.0, 2.5], "float32"), np.array([1, 2, 3])
    w = np.array([1j, 2, 3], "complex64")
    for found, wanted in zip(
        JitFunction(run, None, None, OPTIONS)(x, w, n), run(x, w, n)
    ):
        for ours, theirs in zip(found, wanted):
            np.testing.assert_allclose(ours, theirs)
            assert ours.dtype == theirs.dtype


def test_the_polynomial_of_a_matrix_is_refused() -> None:
    with raises_rule("face.vector", ValueError, "poly"):
        JitFunction(lambda x: np.poly(x), None, None, OPTIONS)(np.eye(2))
