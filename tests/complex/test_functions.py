"""Functions of complex numbers against the tables, at the edges and elsewhere.

Serves: accuracy.complex, accuracy.complex-limits
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from traceir.ir.jaxpr import sort_params
from traceir.oracle.scalar_interpreter import faults
from traceir.reference.interpreter import evaluate_eqn
from traceir.rules import default

PARTS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 20.0, 1e10, np.inf, -np.inf, np.nan)
EDGES = np.array([complex(a, b) for a in PARTS for b in PARTS])
FEW = np.array([complex(a, b) for a in PARTS[::2] for b in PARTS[1::2]])
DTYPES = ("complex64", "complex128")
UNARY = (
    *("exp", "exp2", "expm1", "log", "log1p", "sqrt", "rsqrt", "square", "logistic"),
    *("sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("neg", "abs", "sign", "real", "imag", "conj"),
)
BINARY = ("add", "sub", "mul", "div", "eq", "ne", "max", "min")


def wrong(primitive: str, *xs: np.ndarray, **params: Any) -> list[str]:
    """The reference's results that the tables find wrong."""
    given = {**default().prims[primitive].defaults, **params}
    found = evaluate_eqn(primitive, sort_params(given), xs)
    return faults(primitive, given, xs, found)


def sample(count: int, dtype: str, seed: int = 0) -> np.ndarray:
    """Numbers of many sizes, in all directions."""
    rng = np.random.default_rng(seed)
    parts = rng.normal(size=(2, count)) * 10.0 ** rng.uniform(-4, 4, count)
    return (parts[0] + 1j * parts[1]).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_a_function_at_the_edges(name: str, dtype: str) -> None:
    params = {"input_dtype": np.dtype(dtype)} if name == "conj" else {}
    assert wrong(name, EDGES.astype(dtype), **params) == []


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [n for n in UNARY if n not in ("exp2", "conj")])
def test_a_function_of_numbers_of_many_sizes(name: str, dtype: str) -> None:
    assert wrong(name, sample(60, dtype)) == []


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_two_numbers_at_the_edges(name: str, dtype: str) -> None:
    x, y = (v.ravel().astype(dtype) for v in np.meshgrid(FEW, FEW))
    assert wrong(name, x, y) == []


@pytest.mark.parametrize("dtype", DTYPES)
def test_arithmetic_of_numbers_of_many_sizes(dtype: str) -> None:
    x, y = sample(60, dtype), sample(60, dtype, 1)
    for name in ("add", "sub", "mul", "div"):
        assert wrong(name, x, y) == []
    unit = x / np.abs(x)
    assert wrong("pow", unit * 2, unit[::-1]) == []
    for power in (0, 1, 2, 3, -1, -2, 7):
        assert wrong("integer_pow", unit, y=power) == []


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_products_and_orders(dtype: str) -> None:
    x = (sample(24, dtype) / 100).reshape(4, 6)
    line = {"axis": 1, "reverse": False}
    for name in ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min"):
        assert wrong(name, x, axes=(1,)) == []
    for name in ("cumsum", "cumprod", "cummax", "cummin"):
        assert wrong(name, x, **line) == []
    assert wrong("dot_general", x, x, dimension_numbers=(((1,), (1,)), ((), ()))) == []
    edges = FEW.astype(dtype)
    assert wrong("sort", edges, dimension=0, is_stable=True, num_keys=1) == []


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("other", ["bool", "int32", "uint8", "float32", "complex128"])
def test_conversions(dtype: str, other: str) -> None:
    x = EDGES.astype(dtype)
    assert wrong("convert_element_type", x, new_dtype=np.dtype(other)) == []
    plain = np.array([0, 1, 3]).astype(other)
    assert wrong("convert_element_type", plain, new_dtype=np.dtype(dtype)) == []


def test_what_is_wrong_is_found() -> None:
    x = np.complex64([1 + 2j, 3 - 1j, complex(-4, -0.0)])
    near = np.sqrt(x.astype(np.complex128))
    for factor in (1 + 1e-5, 1 + 1e-5j):
        off = (near * factor).astype(np.complex64)
        assert len(faults("sqrt", {"accuracy": None}, [x], [off])) == 3
    other_side = np.conjugate(near).astype(np.complex64)
    assert len(faults("sqrt", {"accuracy": None}, [x], [other_side])) == 3
    assert faults("conj", {"input_dtype": x.dtype}, [x], [x])
    assert faults("div", {}, [x, x], [np.full(3, 1 + 1e-6j, np.complex64)])
