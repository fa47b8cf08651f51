"""The Array API standard 2024.12, function by function, from its text."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest
import standard
from rule_errors import raises_rule
from soak import sample
from standard import Function

import traceir
import traceir.numpy as jnp
from traceir.base.config import enable_x64
from traceir.lax.checks.attribute_hints import coverage

FUNCTIONS = standard.functions()
PRESENT = [f for f in FUNCTIONS if f.find() is not None]
ELEMENTWISE = [f for f in PRESENT if f.chapter == "elementwise"]


def run(backend: str, function: Any, *xs: Any) -> Any:
    """A function of arrays: as it is, or compiled by a backend."""
    if backend == "eager":
        return function(*map(jnp.asarray, xs))
    return traceir.jit(function, backend=backend)(*xs)


def test_every_function_is_there() -> None:
    assert not [f.name for f in FUNCTIONS if f.find() is None]
    assert not coverage()["extensions"]
    with raises_rule("face.missing", AttributeError, "did you mean fft"):
        _ = jnp.fft.fff


@pytest.mark.parametrize("function", PRESENT, ids=lambda f: f.name)
def test_a_function_can_be_called_as_the_standard_says(function: Function) -> None:
    found = function.find()
    assert found is not None
    args, named = standard.call_of(function)
    own = inspect.signature(found)
    bound = own.bind(*args, **named)
    for name, default in named.items():
        assert bound.arguments[name] is default or bound.arguments[name] == default
    for p in function.signature.parameters.values():
        if p.kind is p.POSITIONAL_OR_KEYWORD:
            own.bind_partial(**{p.name: p.default})


def operand(dtype: str, seed: int, low: float = 0.1) -> np.ndarray:
    """Ordinary numbers of a dtype, within the domain of nearly every function."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, (3, 5)).astype(bool)
    if "int" in dtype:
        return rng.integers(1, 6, (3, 5)).astype(dtype)
    real = rng.uniform(low, low + 0.8, (3, 5))
    if "complex" in dtype:
        return (real + 1j * rng.uniform(-0.8, 0.8, (3, 5))).astype(dtype)
    return real.astype(dtype)


def widened(x: np.ndarray) -> np.ndarray:
    """The same with 64 bits to a part: 8-bit floats of NumPy's would be coarser."""
    return x.astype({"f": "float64", "c": "complex128"}.get(x.dtype.kind, x.dtype))


# What is compiled is primitives, each of which has cases and draws of its own.
STAGED = [(function, "reference") for function in ELEMENTWISE]
STAGED += [(function, "numba") for function in sample(ELEMENTWISE, 2)]


@pytest.mark.parametrize(
    ("function", "backend"), STAGED, ids=lambda given: getattr(given, "name", given)
)
def test_the_dtypes_of_elementwise_functions(function: Function, backend: str) -> None:
    """All dtypes that are admitted, in one program, beside NumPy's values."""
    # The domain of this one begins at 1.
    low = 1.1 if function.name == "acosh" else 0.1
    count = range(function.operands)
    xs = {d: [operand(d, k, low) for k in count] for d in function.dtypes}
    called = function.find()
    assert called is not None

    def f(xs: dict[str, list[Any]]) -> dict[str, Any]:
        return {d: called(*x) for d, x in xs.items()}

    with enable_x64():
        found = traceir.jit(f, backend=backend)(xs)
    reference = getattr(np, function.name)
    for d, x in xs.items():
        want = function.result_of(d)
        assert found[d].dtype == want and found[d].shape == (3, 5), d
        rtol = 1e-5 if d in ("float32", "complex64") else 1e-12
        if d == "bool" or "bit" in function.name or x[0].dtype.kind in "fc":
            np.testing.assert_allclose(found[d], reference(*map(widened, x)), rtol=rtol)
        else:
            with np.errstate(all="ignore"):
                np.testing.assert_array_equal(
                    np.asarray(found[d]), np.asarray(reference(*x)).astype(want)
                )


SCALARS = ("add", "subtract", "multiply", "maximum", "less", "equal", "atan2", "pow")


@pytest.mark.parametrize("name", SCALARS)
def test_numbers_of_python_mix_with_arrays(name: str) -> None:
    function = getattr(jnp, name)
    with enable_x64():
        for dtype in ("float32", "float64"):
            x = jnp.asarray([0.5, 2.0], dtype)
            for found in (function(x, 2.0), function(2.0, x), function(x, 2)):
                assert found.dtype in (np.dtype(dtype), np.dtype(bool))


TURNED = ("add", "subtract", "multiply", "divide", "pow", "equal", "not_equal")


@pytest.mark.parametrize("name", TURNED)
def test_a_complex_number_of_python_mixes_with_floating_arrays(name: str) -> None:
    function = getattr(jnp, name)
    with enable_x64():
        for dtype in standard.KINDS["floating"]:
            x = jnp.asarray([0.5, 2.0], dtype)
            wide = np.result_type(dtype, "complex64")
            for found, want in (
                (function(x, 2 - 1j), function(x, jnp.asarray(2 - 1j, wide))),
                (function(1j, x), function(jnp.asarray(1j, wide), x)),
            ):
                assert found.dtype in (wide, np.dtype(bool))
                np.testing.assert_array_equal(found, want)


REAL = [f for f in ELEMENTWISE if f.dtypes and "complex64" not in f.dtypes]
# The standard leaves these open: numbers are in the order of their parts, as NumPy's.
OPEN: dict[str, Any] = {
    name: getattr(np, name)
    for name in (
        *("greater", "greater_equal", "less", "less_equal", "maximum", "minimum"),
        *("logical_and", "logical_not", "logical_or", "logical_xor"),
    )
}
OPEN["atan2"] = lambda x, y: -1j * np.log((y + 1j * x) / np.sqrt(x * x + y * y))
OPEN["logaddexp"] = lambda x, y: np.log(np.exp(x) + np.exp(y))


@pytest.mark.parametrize("function", REAL, ids=lambda f: f.name)
def test_a_function_of_real_numbers_has_no_complex_ones(function: Function) -> None:
    called = function.find()
    assert called is not None
    xs = [np.complex64([1j, 2])] * function.operands
    if function.name in OPEN:
        want = OPEN[function.name](*xs)
        np.testing.assert_allclose(called(*xs), want, rtol=1e-6)
        return
    with pytest.raises(TypeError, match="complex64"):
        called(*xs)


OPERATORS = {
    "__add__": "add", "__sub__": "subtract", "__mul__": "multiply",
    "__truediv__": "divide", "__floordiv__": "floor_divide", "__mod__": "remainder",
    "__pow__": "pow", "__lt__": "less", "__le__": "less_equal", "__gt__": "greater",
    "__ge__": "greater_equal", "__eq__": "equal", "__ne__": "not_equal",
    "__and__": "bitwise_and", "__or__": "bitwise_or", "__xor__": "bitwise_xor",
    "__lshift__": "bitwise_left_shift", "__rshift__": "bitwise_right_shift",
    "__neg__": "negative", "__pos__": "positive", "__abs__": "abs",
    "__invert__": "bitwise_invert",
}  # fmt: skip


@pytest.mark.parametrize("method", OPERATORS)
def test_operators_are_the_functions(method: str) -> None:
    function = next(f for f in FUNCTIONS if f.name == OPERATORS[method])
    called = function.find()
    assert called is not None
    with enable_x64():
        for dtype in function.dtypes:
            xs = [jnp.asarray(operand(dtype, k)) for k in range(function.operands)]
            found, want = getattr(xs[0], method)(*xs[1:]), called(*xs)
            assert found.dtype == want.dtype
            np.testing.assert_array_equal(found, want)


# Creation ----------------------------------------------------------------------------

DTYPES = standard.KINDS["all"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_are_made_of_shapes(dtype: str) -> None:
    with enable_x64():
        device = jnp.__array_namespace_info__().default_device()
        for name, value in (("zeros", 0), ("ones", 1)):
            make, like = getattr(jnp, name), getattr(jnp, f"{name}_like")
            for shape in ((), 3, (0, 2), (2, 1, 3)):
                made = make(shape, dtype=jnp.dtype(dtype), device=device)
                assert made.dtype == dtype and made.shape == np.zeros(shape).shape
                assert bool(jnp.all(made == value))
                again = like(made, dtype=None, device=device)
                assert again.dtype == dtype and again.shape == made.shape
        assert jnp.empty((2, 3), dtype=dtype).shape == (2, 3)
        assert jnp.empty_like(jnp.ones(3), dtype=dtype).dtype == dtype
        filled = jnp.full((2,), 1, dtype=dtype)
        assert filled.dtype == dtype and filled.tolist() == [1, 1]
        assert jnp.full_like(filled, fill_value=0).tolist() == [0, 0]
        square = jnp.eye(3, 4, k=1, dtype=dtype)
        np.testing.assert_array_equal(square, np.eye(3, 4, 1, dtype))


def test_the_default_dtypes_of_creation() -> None:
    with enable_x64():
        info = jnp.__array_namespace_info__().default_dtypes()
        real, whole = info["real floating"], info["integral"]
        assert jnp.full(2, 1j).dtype == jnp.asarray([1j, 2]).dtype
        assert jnp.asarray([1j, 2]).dtype == info["complex floating"]
        assert jnp.zeros(2).dtype == jnp.linspace(0, 1, 3).dtype == real
        assert jnp.ones(2).dtype == jnp.eye(2).dtype == jnp.empty(2).dtype == real
        assert jnp.full(2, 1.5).dtype == jnp.asarray([1, 2.5]).dtype == real
        assert jnp.arange(3).dtype == jnp.full(2, 1).dtype == whole
        assert jnp.asarray([1, 2]).dtype == whole
        assert jnp.arange(3.0).dtype == real
        assert jnp.full(2, True).dtype == jnp.asarray([True]).dtype == bool


RANGES = [(3,), (2, 7), (2, 9, 3), (5, -3, -2), (0,), (3, 3), (0.0, 1.0, 0.25), (4, 1)]


@pytest.mark.parametrize("bounds", RANGES)
def test_ranges(bounds: tuple[float, ...]) -> None:
    with enable_x64():
        found = jnp.arange(*bounds)
        np.testing.assert_allclose(found, np.arange(*bounds))
        for dtype in ("int8", "float32"):
            assert jnp.arange(*bounds, dtype=dtype).dtype == dtype


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_spaces(count: int, endpoint: bool) -> None:
    with enable_x64():
        for dtype in ("float32", "float64"):
            found = jnp.linspace(-1.0, 3.0, count, dtype=dtype, endpoint=endpoint)
            want = np.linspace(-1.0, 3.0, count, dtype=dtype, endpoint=endpoint)
            assert found.dtype == dtype
            np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-7)
            if count > 1:
                assert float(found[0]) == -1 and (float(found[-1]) == 3) == endpoint


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [-1, 0, 2])
def test_triangles(k: int, dtype: str) -> None:
    x = np.arange(24).reshape(2, 3, 4).astype(dtype)
    with enable_x64():
        for found, want in (
            (jnp.tril(jnp.asarray(x), k=k), np.tril(x, k)),
            (jnp.triu(jnp.asarray(x), k=k), np.triu(x, k)),
        ):
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, want)


# Dtypes ------------------------------------------------------------------------------

# The table of the standard: within a kind, and between the signs of integers.
MIXED = {
    ("uint8", "int8"): "int16", ("uint8", "int16"): "int16",
    ("uint8", "int32"): "int32", ("uint8", "int64"): "int64",
    ("uint16", "int8"): "int32", ("uint16", "int16"): "int32",
    ("uint16", "int32"): "int32", ("uint16", "int64"): "int64",
    ("uint32", "int8"): "int64", ("uint32", "int16"): "int64",
    ("uint32", "int32"): "int64", ("uint32", "int64"): "int64",
}  # fmt: skip
ORDERS = (
    ("int8", "int16", "int32", "int64"),
    ("uint8", "uint16", "uint32", "uint64"),
    ("float32", "float64", "complex128"),
    ("float32", "complex64", "complex128"),
    ("bool",),
)


def test_dtypes_meet_as_the_standard_says() -> None:
    table = MIXED | {("float64", "complex64"): "complex128"}
    for order in ORDERS:
        for k, wide in enumerate(order):
            table.update({(narrow, wide): wide for narrow in order[: k + 1]})
    with enable_x64():
        for (a, b), want in table.items():
            for pair in ((a, b), (b, a)):
                x, y = (jnp.ones(2, d) for d in pair)
                assert jnp.result_type(*pair) == jnp.result_type(x, pair[1]) == want
                if want != "bool":
                    assert (x + y).dtype == want


def dropped(source: str, target: str) -> bool:
    """True if a conversion drops imaginary parts, against the standard's advice."""
    kinds = standard.KINDS
    return source in kinds["complex"] and target in kinds["real"]


@pytest.mark.parametrize("source", DTYPES)
def test_every_dtype_becomes_every_other(source: str) -> None:
    with enable_x64():
        x = jnp.asarray([0, 1, 1], source)
        for target in DTYPES:
            if dropped(source, target):
                with pytest.warns(match="imaginary"):
                    assert jnp.astype(x, target).tolist() == [0, 1, 1]
                continue
            found = jnp.astype(x, jnp.dtype(target), copy=True)
            assert found.dtype == target and found is not x
            assert found.tolist() == [0, 1, 1]


def test_dtypes_are_equal_to_themselves_alone() -> None:
    dtypes = [jnp.dtype(name) for name in DTYPES]
    assert len(set(dtypes)) == len(DTYPES)
    assert all(
        getattr(jnp, n if n != "bool" else "bool_") == jnp.dtype(n) for n in DTYPES
    )


def test_constants() -> None:
    assert (jnp.e, jnp.pi, jnp.inf) == (math.e, math.pi, math.inf)
    assert math.isnan(jnp.nan) and jnp.newaxis is None


@pytest.mark.parametrize("n", range(1, 8))
def test_frequencies(n: int) -> None:
    with enable_x64():
        for name in ("fftfreq", "rfftfreq"):
            found = getattr(jnp.fft, name)(n, d=0.25)
            np.testing.assert_array_equal(found, getattr(np.fft, name)(n, 0.25))
            assert getattr(jnp.fft, name)(n, dtype="float32").dtype == np.float32
    assert not jnp.fft.fftfreq(0).size


@pytest.mark.parametrize("axes", [None, 0, (0, 1), (-1,)])
def test_shifts(axes: Any) -> None:
    x = np.arange(15).reshape(3, 5)
    for name in ("fftshift", "ifftshift"):
        found = getattr(jnp.fft, name)(x, axes=axes)
        np.testing.assert_array_equal(found, getattr(np.fft, name)(x, axes))
    again = jnp.fft.ifftshift(jnp.fft.fftshift(x, axes=axes), axes=axes)
    np.testing.assert_array_equal(again, x)


def test_the_correction_of_a_variance() -> None:
    x = np.arange(5.0)
    assert float(jnp.var(x, correction=1)) == np.var(x, ddof=1)
    np.testing.assert_allclose(jnp.std(x, correction=1.5), np.std(x, ddof=1.5), 1e-6)
    with raises_rule("face.choice", ValueError, "ddof"):
        jnp.var(x, ddof=1, correction=1)
