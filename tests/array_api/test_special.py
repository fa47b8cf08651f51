"""The Array API standard's special operands, and what it says of all operands."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import cache
from itertools import groupby, product
from typing import Any

import numpy as np
import pytest
import standard
from execution_modes import WAYS, runner

import traceir
import traceir.numpy as jnp
from traceir.base.config import enable_x64

SPECIAL = {
    name: list(group)
    for name, group in groupby(standard.specials(), key=lambda case: case.name)
}
# Zeros with another sign than the standard's without the flag, as in jax.numpy.
OTHERWISE = {
    ("floor_divide", "-0", "over"): "+0",
    ("floor_divide", "-0", "under"): "-0",
    ("floor_divide", "negative", "-inf"): "-0",
    ("remainder", "-0", "over"): "-0",
    ("remainder", "+0", "under"): "+0",
}


def test_special_cases_are_of_functions() -> None:
    elementwise = {f.name for f in standard.functions() if f.chapter == "elementwise"}
    assert SPECIAL.keys() <= elementwise
    assert len(SPECIAL) == len({s.name for s in standard.specials()})
    cited = {(c.name, *c.operands) for cases in SPECIAL.values() for c in cases}
    assert OTHERWISE.keys() <= cited


@cache
def special(way: str, dtype: str, flag: bool = False) -> dict[str, np.ndarray]:
    """The results of all special operands, in one program, with the flag or without."""
    operands = {}
    for name, cases in SPECIAL.items():
        points = [xs for case in cases for xs in case.points()]
        operands[name] = [np.array(c, dtype) for c in zip(*points, strict=True)]

    def f(operands: dict[str, list[Any]]) -> dict[str, Any]:
        return {name: getattr(jnp, name)(*xs) for name, xs in operands.items()}

    with enable_x64(), traceir.array_api(flag):
        given = {n: list(map(jnp.asarray, xs)) for n, xs in operands.items()}
        found = runner(way)(f, given)
    return {name: np.asarray(x, "float64") for name, x in found.items()}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SPECIAL)
def test_special_operands(name: str, way: str, dtype: str) -> None:
    points = [(case, xs) for case in SPECIAL[name] for xs in case.points()]
    error = 2 * float(np.finfo(dtype).eps)
    wrong = [
        (*case.operands, xs, case.result, float(got))
        for (case, xs), got in zip(points, special(way, dtype)[name], strict=True)
        if not ours(case).admits(float(got), xs, error)
    ]
    assert wrong == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_special_operands_by_the_flag(name: str, way: str) -> None:
    points = [(case, xs) for case in SPECIAL[name] for xs in case.points()]
    wrong = [
        (*case.operands, xs, case.result, float(got))
        for (case, xs), got in zip(points, special(way, "float64", True)[name])
        if not case.admits(float(got), xs, 1e-15)
    ]
    assert wrong == []


@pytest.mark.parametrize("way", WAYS)
def test_quotients_and_signs_by_the_flag(way: str) -> None:
    def f(x: Any, y: Any) -> list[Any]:
        pairs = jnp.floor_divide(x, y), jnp.remainder(x, y), *jnp.divmod(x, y)
        return [*pairs, jnp.sign(x), jnp.sign(jnp.asarray(x, int) * 0)]

    with enable_x64(), traceir.array_api(True):
        found = runner(way)(f, jnp.asarray(LEFT), jnp.asarray(RIGHT))
    with np.errstate(all="ignore"):
        plain, rest = LEFT / RIGHT, np.remainder(LEFT, RIGHT)
        ends = np.isinf(LEFT) | np.isinf(RIGHT) | (LEFT == 0)
        floor = np.where(ends, plain, np.floor_divide(LEFT, RIGHT))
    wanted = floor, rest, floor, rest, np.sign(LEFT), np.zeros(LEFT.shape)
    for got, want in zip(map(np.asarray, found), wanted, strict=True):
        np.testing.assert_array_equal(got, want)
        real = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got)[real], np.signbit(want)[real])


def test_places_by_the_flag() -> None:
    edges = jnp.array([1.0, 2.0])
    with enable_x64():
        assert jnp.searchsorted(edges, 2.0).dtype == "int32"
        with traceir.array_api(True):
            assert jnp.searchsorted(edges, 2.0).dtype == "int64"


def ours(case: standard.Special) -> standard.Special:
    """A special case with the result that these functions have."""
    result = OTHERWISE.get((case.name, *case.operands), case.result)
    return standard.Special(case.name, case.operands, result)


# What is said of all operands --------------------------------------------------------

EDGES = (*standard.CLASSES["any"], 1e-310, 1e308, -1e308, 0.1, -7.0, 5.5)
LEFT, RIGHT = (np.array(c) for c in zip(*product(EDGES, EDGES), strict=True))
Pair = Callable[..., Any]
AS_IF: dict[str, tuple[Pair, Pair]] = {
    "subtract": (jnp.subtract, lambda x, y: jnp.add(x, jnp.negative(y))),
    "square": (lambda x, y: jnp.square(x), lambda x, y: jnp.multiply(x, x)),
    "reciprocal": (lambda x, y: jnp.reciprocal(x), lambda x, y: jnp.divide(1.0, x)),
    "add commutes": (jnp.add, lambda x, y: jnp.add(y, x)),
    "hypot commutes": (jnp.hypot, lambda x, y: jnp.hypot(y, x)),
    "hypot of -x": (jnp.hypot, lambda x, y: jnp.hypot(-x, y)),
    "hypot of -y": (jnp.hypot, lambda x, y: jnp.hypot(x, -y)),
    "cosh": (lambda x, y: jnp.cosh(x), lambda x, y: jnp.cosh(-x)),
    "sinh": (lambda x, y: jnp.sinh(x), lambda x, y: -jnp.sinh(-x)),
    "tanh": (lambda x, y: jnp.tanh(x), lambda x, y: -jnp.tanh(-x)),
    # Which of two zeros is the greater one is left open.
    "clip": (
        lambda x, y: 0.0 + jnp.clip(x, jnp.minimum(y, 2.0), 2.0),
        lambda x, y: 0.0 + jnp.maximum(jnp.minimum(x, 2.0), jnp.minimum(y, 2.0)),
    ),
    "clip to nothing": (lambda x, y: jnp.clip(x), lambda x, y: x),
    "round": (lambda x, y: jnp.round(x), lambda x, y: jnp.rint(x)),
}


@cache
def as_if(way: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Both sides of all of these, in one program."""

    def f(x: Any, y: Any) -> dict[str, tuple[Any, Any]]:
        return {name: (one(x, y), other(x, y)) for name, (one, other) in AS_IF.items()}

    with enable_x64():
        found = runner(way)(f, jnp.asarray(LEFT), jnp.asarray(RIGHT))
    return {k: (np.asarray(a), np.asarray(b)) for k, (a, b) in found.items()}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", AS_IF)
def test_a_function_is_as_if_it_were_another(name: str, way: str) -> None:
    one, other = as_if(way)[name]
    np.testing.assert_array_equal(one, other)
    real = ~np.isnan(one)
    np.testing.assert_array_equal(np.signbit(one)[real], np.signbit(other)[real])


ROUNDED = ("add", "subtract", "multiply", "divide", "sqrt")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("way", WAYS)
def test_arithmetic_is_rounded_once(way: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    scale = 2.0 ** rng.integers(-140, 127, (2, 500))
    x, y = (rng.uniform(-1, 1, (2, 500)) * scale).astype(dtype)

    def f(x: Any, y: Any) -> list[Any]:
        both = [getattr(jnp, name)(x, y) for name in ROUNDED[:-1]]
        return [*both, jnp.sqrt(jnp.abs(x))]

    with enable_x64(), np.errstate(all="ignore"):
        found = runner(way)(f, jnp.asarray(x), jnp.asarray(y))
        want = [getattr(np, name)(x, y) for name in ROUNDED[:-1]]
        for got, wanted in zip(found, [*want, np.sqrt(np.abs(x))], strict=True):
            assert got.dtype == dtype
            np.testing.assert_array_equal(got, wanted)


def test_a_remainder_is_that_of_python() -> None:
    x, y = (np.array(c) for c in zip(*product((7.5, -7.5, 3.0, -0.25), (2.0, -1.5))))
    with enable_x64():
        found = jnp.remainder(jnp.asarray(x), jnp.asarray(y))
        whole = jnp.remainder(jnp.asarray([7, -7, 7]), jnp.asarray([3, 3, -3]))
    assert found.tolist() == [math.fmod(a, b) % b for a, b in zip(x, y)]
    assert whole.tolist() == [7 % 3, -7 % 3, 7 % -3]


@pytest.mark.parametrize("dtype", standard.KINDS["integer"])
def test_shifts_multiply_and_divide_by_powers_of_two(dtype: str) -> None:
    low = 0 if dtype.startswith("u") else -7
    x = np.arange(low, 9).astype(dtype)
    with enable_x64():
        for k in range(4):
            left = jnp.bitwise_left_shift(jnp.asarray(x), jnp.asarray(k, dtype))
            right = jnp.bitwise_right_shift(jnp.asarray(x), jnp.asarray(k, dtype))
            assert left.dtype == right.dtype == dtype
            assert left.tolist() == [n * 2**k for n in x.tolist()]
            assert right.tolist() == [n // 2**k for n in x.tolist()]


# Numbers of Python beside arrays -----------------------------------------------------

BINARY = [f for f in standard.functions() if f.operands == 2 and f.dtypes]
NUMBERS = {
    "bool": [True], "i": [2], "u": [2], "f": [2, 2.5], "c": [2, 2.5, 2 - 1j],
}  # fmt: skip


@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.name)
def test_a_number_takes_the_dtype_of_the_array(function: standard.Function) -> None:
    called = function.find()
    assert called is not None
    with enable_x64():
        for dtype in function.dtypes:
            x = jnp.asarray([1, 0, 1], dtype)
            want = "bool" if function.result == "bool" else dtype
            for value in NUMBERS["bool" if dtype == "bool" else dtype[0]]:
                as_array = jnp.asarray(value, dtype)
                for found, wanted in (
                    (called(x, value), called(x, as_array)),
                    (called(value, x), called(as_array, x)),
                ):
                    assert found.dtype == want, dtype
                    np.testing.assert_array_equal(found, wanted)


SWAPPED = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
    "and_": "bitwise_and",
    "or_": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}


@pytest.mark.parametrize("name", SWAPPED)
def test_operators_with_a_number_on_either_side_and_in_place(name: str) -> None:
    function = next(f for f in BINARY if f.name == SWAPPED[name])
    called, two = function.find(), getattr(operator, name)
    assert called is not None
    in_place = getattr(operator, "i" + name.rstrip("_"))
    with enable_x64():
        for dtype in function.dtypes:
            number: Any = True if dtype == "bool" else 2
            x, y = jnp.asarray([1, 0, 1], dtype), jnp.asarray([1, 1, 0], dtype)
            for found, wanted in (
                (two(number, x), called(number, x)),
                (two(x, number), called(x, number)),
                (in_place(x, y), called(x, y)),
            ):
                assert found.dtype == dtype
                np.testing.assert_array_equal(found, wanted)
