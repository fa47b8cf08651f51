"""Arrays of Python numbers: great ints lose nothing, leaves meet as operands do.

Cites jit.overflow
"""

from __future__ import annotations

import itertools
import operator
import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax

GREAT = [[2**31, 1], [2**40], [-(2**31) - 1, 2], [2**63, 1], [2**64 - 1, -1], [2**70]]
FLOATING = ["float32", "float64", "float16", "complex64", "bool"]
WHOLE = ["int8", "uint8", "int32", "uint32", "int64", "uint64"]
LEAVES = (
    *(np.bool_(1), np.uint8(5), np.int8(3), np.int32(7), np.uint64(5), np.int64(4)),
    *(np.float16(1.5), np.float32(2.5), np.float64(0.25), np.complex64(1)),
    *(ml_dtypes.bfloat16(1.5), jnp.int8(2), jnp.bfloat16(3), jnp.asarray(1)),
    *(True, 1, 1.5, 2j),
)


class Readable:
    """A sequence that only NumPy can read."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.arange(2, dtype=dtype or "int16")


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("ints", GREAT, ids=str)
def test_great_ints_are_not_narrowed_first(
    ints: list[int], dtype: str, wide: bool
) -> None:
    wanted = np.array(ints, np.float64)
    with traceir.enable_x64(wide), np.errstate(over="ignore"):
        if not wide:
            dtype = dtype.replace("64", "32") if dtype == "float64" else dtype
        for found in (jnp.array(ints, dtype), jnp.asarray([ints], dtype)[0]):
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, wanted.astype(dtype))
        found = jnp.array([*map(np.float64, ints)], dtype)
        np.testing.assert_array_equal(found, wanted.astype(dtype))


@pytest.mark.parametrize("dtype", WHOLE)
@pytest.mark.parametrize("ints", [*GREAT, [2**63 + 1, 3], [255, -128]], ids=str)
def test_an_int_fits_an_integer_dtype_or_is_refused(
    ints: list[int], dtype: str
) -> None:
    limits = np.iinfo(dtype)
    with traceir.enable_x64(True):
        if limits.min <= min(ints) and max(ints) <= limits.max:
            np.testing.assert_array_equal(jnp.array(ints, dtype), np.array(ints, dtype))
        else:
            for value in (ints, [*ints, 1.5], [*ints, jnp.int8(1)]):
                with raises_rule("jit.overflow", OverflowError):
                    jnp.array(value, dtype)


@pytest.mark.parametrize("wide", [False, True])
def test_leaves_meet_as_operands_do(wide: bool) -> None:
    for pair in itertools.product(LEAVES, repeat=2):
        with traceir.enable_x64(wide), warnings.catch_warnings():
            found, nested = jnp.array([*pair]), jnp.array([[pair[0]], [pair[1]]])
            assert found.dtype == nested.dtype == jnp.result_type(*pair), pair
            each: list[Any] = [complex(leaf) for leaf in pair]
            np.testing.assert_array_equal(found.astype(complex), each)


NUMBERS: dict[str, list[float]] = {
    "uint8": [300.0, -1.0, 256.0, 1e40],
    "int8": [128.0, -129.0, 3e9],
    "int32": [2.0**31, -(2.0**31) - 1, 1e19],
    "uint32": [2.0**32, -1.0],
}


@pytest.mark.parametrize("dtype", NUMBERS)
def test_a_float_fits_an_integer_dtype_or_is_refused(dtype: str) -> None:
    for number in (*NUMBERS[dtype], np.inf, -np.inf, np.nan):
        kind: type[Exception] = ValueError if number != number else OverflowError
        value = float(number)
        forms: list[Any] = [value, [value], [[1, value]], (True, value)]
        for form in (*forms, [jnp.int8(1), value]):
            for make in (jnp.array, jnp.asarray, lambda v, d: getattr(jnp, d)(v)):
                with raises_rule("jit.overflow", kind):
                    make(form, dtype)
    limits = np.iinfo(dtype)
    for end, inside in ((limits.min, -0.5), (limits.max, 0.5)):
        assert jnp.array(float(end) + inside, dtype).tolist() == end
        assert jnp.array([float(end) + inside], dtype).tolist() == [end]


def test_ints_beyond_64_bits_meet_floats() -> None:
    for dtype in ("float32", "complex64", "bool"):
        found = jnp.array([2**70, 1.5, jnp.int8(0)], dtype)
        np.testing.assert_array_equal(found, np.array([2.0**70, 1.5, 0], dtype))


FILLED: dict[str, Callable[[int, str], Any]] = {
    "full": lambda n, d: jnp.full((2,), n, d),
    "full_like": lambda n, d: jnp.full_like(jnp.zeros(2, d), n),
    "full_like with a dtype": lambda n, d: jnp.full_like(jnp.zeros(2), n, d),
    "lax.full": lambda n, d: lax.full((2,), n, np.dtype(d)),
    "lax.full_like": lambda n, d: lax.full_like(jnp.zeros(2, d), n),
    "convert_element_type": lambda n, d: lax.convert_element_type(n, d),
}


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "uint32"])
@pytest.mark.parametrize("name", FILLED)
def test_what_is_filled_with_an_int_has_its_lower_bits(name: str, dtype: str) -> None:
    def make(number: int) -> Any:
        return FILLED[name](number, dtype)

    for number in (-1, 300, 2**31, 2**32 + 3, 2**40 + 7, 2**64 - 1, -(2**31) - 1):
        wanted = np.array(number).astype(dtype)
        for found in (make(number), traceir.jit(lambda n=number: make(n))()):
            assert found.dtype == dtype
            assert (np.asarray(found) == wanted).all()
    for number in (2**64, -(2**63) - 1):
        with raises_rule("jit.overflow", OverflowError):
            make(number)


@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64", "bool"])
@pytest.mark.parametrize("name", FILLED)
def test_what_is_filled_with_a_great_int(name: str, dtype: str) -> None:
    for number in (2**31, 2**40, -(2**33), 2**64, 2**70):
        with np.errstate(over="ignore"):
            wanted = np.array(float(number)).astype(dtype)
        assert (np.asarray(FILLED[name](number, dtype)) == wanted).all()


@pytest.mark.parametrize("power", [operator.pow, jnp.power, lax.integer_pow])
def test_an_exponent_may_be_any_int(power: Callable[..., Any]) -> None:
    x = jnp.array([0.0, 1.0, 0.5, 2.0])
    for exponent in (2**31, 2**40 + 1, 2**70):
        assert power(x, exponent).tolist() == [0, 1, 0, np.inf]
        assert power(x[1:], -exponent).tolist() == [1, np.inf, 0]
        slope = traceir.grad(lambda v, n=exponent: power(v, n).sum())
        assert slope(x).tolist() == [0, np.float32(exponent), 0, np.inf]
    whole = traceir.jit(lambda v: power(v, 2**33 + 1), backend="numba")
    assert whole(x).tolist() == [0, 1, 0, np.inf]
    assert power(jnp.array([0, 1, 2, -1]), 2**40 + 1).tolist() == [0, 1, 0, -1]


INT = 2**31 + 1
UNSIGNED: dict[str, Callable[[], Any]] = {
    "lax.full": lambda: lax.full((2,), INT, np.uint32),
    "full": lambda: jnp.full((2,), INT, "uint32"),
    "full_like": lambda: jnp.full_like(jnp.zeros(2, "uint32"), INT),
    "convert": lambda: lax.convert_element_type(INT, "uint32"),
    "set": lambda: jnp.zeros(2, "uint32").at[:].set(INT),
    "add": lambda: jnp.zeros(2, "uint32").at[:].add(INT),
    "max": lambda: jnp.zeros(2, "uint32").at[:].max(INT),
    "arange": lambda: jnp.arange(INT, INT + 1, dtype="uint32"),
    "arange of steps": lambda: jnp.arange(0, 2 * INT, INT, dtype="uint32")[1],
}


@pytest.mark.parametrize("name", UNSIGNED)
def test_an_int_may_be_any_that_the_dtype_asked_for_holds(name: str) -> None:
    for found in (UNSIGNED[name](), traceir.jit(UNSIGNED[name])()):
        assert found.dtype == "uint32"
        assert (np.asarray(found) == INT).all()


def test_a_range_ends_at_the_greatest_integer() -> None:
    top = 2**31
    assert jnp.arange(top - 1, top).tolist() == [top - 1]
    assert jnp.arange(2**40, 2**40 + 1, dtype="float32").tolist() == [2.0**40]
    for dtype in (None, "int32", "int8"):
        with raises_rule("jit.overflow", OverflowError):
            jnp.arange(top, top + 2, dtype=dtype)


@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64", "bool", "uint8"])
def test_an_int_of_numpy_is_not_narrowed_first(dtype: str) -> None:
    for wide in (np.int64(2**40), np.uint64(2**63), np.int64(-1)):
        with np.errstate(over="ignore"):
            wanted = wide.astype(dtype)
        for found in (
            jnp.array(wide, dtype),
            jnp.asarray(np.array(wide), dtype),
            jnp.full((), wide, dtype),
            lax.full((), wide, np.dtype(dtype)),
            jnp.full_like(1.0, wide, dtype),
            lax.convert_element_type(wide, dtype),
        ):
            assert found.dtype == dtype
            assert found == wanted


def test_grids_of_ints_and_floats_meet_without_a_warning() -> None:
    for wide, wanted in ((False, "float32"), (True, "float64")):
        with traceir.enable_x64(wide):
            assert jnp.mgrid[0:2, 0:1:3j].dtype == wanted
            assert {x.dtype.name for x in jnp.ogrid[0:2, 0:1:3j]} == {wanted}


def test_what_numpy_can_read_is_a_leaf() -> None:
    assert jnp.array([range(2), [2, 3]]).tolist() == [[0, 1], [2, 3]]
    found = jnp.array([Readable(), jnp.asarray([2, 3], "int8")])
    assert found.tolist() == [[0, 1], [2, 3]]
    assert found.dtype == "int16"


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int32", "bfloat16"])
def test_bfloat16_beside_others_in_a_dtype_that_is_asked_for(dtype: str) -> None:
    half = jnp.array([1.5, 2.0], "bfloat16")
    for other in (np.array([1, 3]), np.array([1.5, 3], "f2"), [1, 3]):
        found = jnp.array([half, other], dtype)
        want = [half.astype(dtype), jnp.array(other).astype(dtype)]
        np.testing.assert_array_equal(found, jnp.stack(want))
    assert jnp.array([half[0], 1], dtype)[1] == 1
