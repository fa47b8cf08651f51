"""Python's numbers and functions in plain functions, as Python has them.

Rules: python.numbers, python.*, face.reach
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir_numba
from traceir.jit.function import JitFunction, Options

Function = Callable[..., Any]
REFERENCE = Options(backend="reference", face="numpy", x64=True, numpy_out=True)


def plain(value: Any) -> Any:
    """A result with Python's numbers and lists."""
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value


def agree(found: Any, wanted: Any, close: bool) -> None:
    """Assert that results are equal, in their kinds, too."""
    if isinstance(wanted, list):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            agree(one, other, close)
    elif isinstance(wanted, np.ndarray):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
    else:
        assert type(found) is type(wanted), (found, wanted)
        if close and not isinstance(wanted, (bool, int)):
            np.testing.assert_allclose(found, wanted, 1e-14, 0)
        else:
            assert repr(found) == repr(wanted)


def check(function: Function, *args: Any, close: bool = False) -> None:
    """Compare a function with itself under the decorator."""
    wanted = function(*args)
    agree(plain(traceir_numba.jit(function)(*args)), plain(wanted), close)


def conversions(x: Any) -> Any:
    """Classes of numbers, called and asked about."""
    return (
        *(int(x), float(x), bool(x), complex(x), complex(x, 2), complex(1j, x)),
        *(isinstance(x, float), isinstance(x, int), isinstance(x, (int, float))),
        *(isinstance(x, np.floating), type(x) is float, type(int(x)) is int),
        *(int("12") + x, float("inf"), int(3.9), bool([]), int.from_bytes(b"\1")),
        *(list(map(int, [x, 3])), list(map(float, (x, 3))), issubclass(bool, int)),
        *(np.zeros(2, int) + x, np.zeros(2, dtype=float), np.array([x, 1], int)),
        *(np.full(2, x).astype(int), np.dtype(float) == float, isinstance(3, int)),
    )


def builtin_functions(x: Any) -> Any:
    """The functions that Python has without an import."""
    return (
        *(abs(x), round(x), round(x, 1), divmod(x, 3), divmod(x, -3), pow(x, 2)),
        *(min(x, 2.5), max(x, 2.5), min(7.0, x, 3.5), max([x, 9.5]), max(x, x)),
        *(min([x, 3.0], key=lambda v: -v), max((x,), default=1.0), min(2, 3)),
        *(sum([x, 1.0, x]), sum((x, x), 1.5), sum(x * k for k in range(3))),
        *(any([x > 1, x < 0]), all((x > 1, x < 9)), any([]), any([x > 9, True])),
        *(sorted([x, 1.5, 3.5]), sorted([x, 1.5, 3.5], reverse=True)),
        *(sorted([x, -9.0, 3.5], key=abs), len([x, x]), x.is_integer()),
    )


def of_integers(n: Any) -> Any:
    """Arithmetic of integers, by Python's signs."""
    return (
        *(n // 3, n // -3, n % 3, n % -3, divmod(n, -4), -n // 2, -n % 5),
        *(n >> 1, n << 3, n >> 70, -n >> 70, n ^ 5, n & 6, n | 8, ~n, +n, -n),
        *(n**2, n**-1, 2 ** abs(n), n / 2, n / 7.0, n * 0.5, True + n, n % 2 == 0),
        *(pow(n, 3, 7), round(n, -1), round(n), int(n / 2), float(n), abs(n)),
        *(min(n, 3), max(n, 3, 5), n.bit_length(), n.bit_count(), len(range(n))),
        *(len(range(20, n, -2)), len(range(2, n, 3)), sum(range(n))),
        *(math.gcd(n, 12), math.lcm(n, 4), math.isqrt(abs(n)), math.floor(n / 2)),
        *(math.factorial(abs(n)), math.comb(abs(n), 2), math.perm(abs(n), 2)),
        *(math.ceil(n / 2), math.sqrt(n * n), math.pow(n, 2), n and 3, n or 4),
    )


def of_math(x: Any) -> Any:
    """The module `math`."""
    y = abs(x) + 0.1
    return (
        *(math.sqrt(y), math.exp(x), math.log(y), math.log(y, 10), math.log(8, y)),
        *(math.log2(y), math.log10(y), math.log1p(y), math.floor(x), math.ceil(x)),
        *(math.trunc(x), math.atan2(x, 2), math.hypot(x, 2.0), math.hypot(x, 1, 2)),
        *(math.isnan(x), math.isinf(x), math.isfinite(x), math.copysign(y, -1.0)),
        *(math.fabs(x), math.sin(x), math.cos(x), math.tanh(x), math.erf(x)),
        *(math.pow(y, 3), math.fmod(x, 2), math.modf(x), math.frexp(x)),
        *(math.ldexp(x, 3), math.degrees(x), math.radians(x), math.expm1(x)),
        *(math.pi * x, math.dist((x, 1.0), (2.0, x)), math.prod([x, 1.0, 2.0])),
        *(math.isclose(x, 2.5), math.isclose(x, x), math.inf > x, math.asinh(x)),
        *(math.nextafter(x, 9.0), math.lgamma(y), math.exp2(x), math.gamma(3)),
        *(math.acos(1 / (1 + y)), math.atan(x), math.cosh(x), math.cbrt(x)),
    )


def of_cmath(x: Any) -> Any:
    """The module `cmath`."""
    z = complex(x, 0.5)
    return (
        *(cmath.sqrt(x), cmath.exp(z), cmath.phase(z), cmath.polar(z), cmath.sin(z)),
        *(cmath.rect(abs(x), 1.0), cmath.isnan(x), cmath.log(z), cmath.log(z, 10)),
        *(abs(z), z.real, z.imag, z.conjugate(), z**2, cmath.acos(z), cmath.sqrt(-4)),
    )


def of_arrays(x: Any) -> Any:
    """Python's functions of an array."""
    return (
        *(sum(x), min(x), max(x), len(x), any(x > 2), all(x > -9), sorted(x)),
        *(int(x[0]), float(x[1]), round(x[2]), round(x[2], 1), int(x.sum()), abs(x)),
        *(math.sqrt(x[0]), math.floor(x[3]), list(map(float, x)), list(map(abs, x))),
        *(
            pow(x, 2),
            min(x[0], x[1]),
            max(x[0], 0.5),
            max(0.5, x[0]),
            sum(v for v in x),
        ),
        *(x.tolist(), x.item(0), x[0].item(), tuple(x), isinstance(x[0], float)),
        *(isinstance(x, np.ndarray), bool(x[0]), sum(x * x, 1.0), int(x[0]) // 2),
    )


@pytest.mark.parametrize("x", [2.5, -3.7, 4.0, np.float64(-2.5)])
def test_numbers_are_pythons(x: float) -> None:
    check(conversions, x)
    check(builtin_functions, x)
    check(of_math, x, close=True)
    check(of_cmath, x, close=True)


@pytest.mark.parametrize("n", [7, -6, 1])
def test_integers_have_pythons_signs(n: int) -> None:
    check(of_integers, n)


def test_functions_of_arrays() -> None:
    check(of_arrays, np.array([1.5, 2.5, 3.75, -2.25, 9.0]))


def totals(x: Any) -> Any:
    """Functions of arrays that are long: recorded loops."""
    return sum(x), max(x), min(x), max(x - 3), sum(range(len(x)))


def test_functions_of_long_arrays_are_loops() -> None:
    x = np.random.default_rng(0).normal(size=40_000)
    check(totals, x)
    x[5] = np.nan
    check(totals, x)
    x[0] = np.nan
    check(totals, x)


def decimals(x: Any) -> Any:
    """A float in decimals."""
    return [round(x, k) for k in (-3, -2, -1, 0, 1, 2, 3, 5, 10, 16, 30)]


def test_decimals_are_those_of_the_exact_value() -> None:
    rng = np.random.default_rng(1)
    drawn = [rng.normal(scale=10.0 ** rng.integers(-3, 9)) for _ in range(150)]
    ties = [k / 2**j for k in (-5, 1, 3, 5, 25, 35, 125, 2675) for j in (0, 1, 3)]
    rounding = traceir_numba.jit(decimals)
    for x in [*drawn, *ties, 2.675, 1.005, -0.001, 0.0, -0.0, 15.0, 25.0, 1e300]:
        x = float(x)
        assert repr(plain(rounding(x))) == repr(decimals(x)), x


RAISING: list[tuple[Function, Any, str, type[Exception]]] = [
    (lambda x: math.sqrt(x), -1.0, "python.domain", ValueError),
    (lambda x: math.log(x), 0.0, "python.domain", ValueError),
    (lambda x: math.acos(x), 2.0, "python.domain", ValueError),
    (lambda x: math.sin(x), math.inf, "python.domain", ValueError),
    (lambda x: math.pow(x, -1), 0.0, "python.domain", ValueError),
    (lambda x: cmath.log(x), 0.0, "python.domain", ValueError),
    (lambda n: math.factorial(n), -1, "python.domain", ValueError),
    (lambda n: math.isqrt(n), -1, "python.domain", ValueError),
    (lambda n: 1 << n, -1, "python.domain", ValueError),
    (lambda x: math.exp(x), 1e4, "python.overflow", OverflowError),
    (lambda x: math.floor(x), math.inf, "python.overflow", OverflowError),
    (lambda x: int(x), math.nan, "python.overflow", ValueError),
    (lambda x: round(x), 1e300, "python.overflow", OverflowError),
    (lambda n: math.factorial(n), 21, "python.overflow", OverflowError),
    (lambda x: 1.0 / x, 0.0, "python.zero", ZeroDivisionError),
    (lambda n: 1 / n, 0, "python.zero", ZeroDivisionError),
    (lambda n: 5 // n, 0, "python.zero", ZeroDivisionError),
    (lambda n: 5 % n, 0, "python.zero", ZeroDivisionError),
    (lambda x: x**-1, 0.0, "python.zero", ZeroDivisionError),
    (lambda x: math.sqrt(np.stack([x, x])), 2.0, "python.argument", TypeError),
    (lambda x: math.gcd(x, 2), 2.0, "python.argument", TypeError),
    (lambda x: int(x * 1j), 2.0, "python.argument", TypeError),
    (lambda x: math.gamma(x), 2.0, "face.function", TypeError),
    (lambda x: round(x), np.array([1.5, 2.5]), "python.argument", TypeError),
    (lambda x: round(x, 1), np.array([1.25]), "python.argument", TypeError),
]


@pytest.mark.parametrize("case", range(len(RAISING)))
def test_python_would_raise(case: int) -> None:
    function, value, rule, kind = RAISING[case]
    with raises_rule(rule, kind, "test_plain_scalars.py"):
        JitFunction(function, None, None, REFERENCE)(value)


def test_numbers_of_numpys_give_infinity() -> None:
    found = traceir_numba.jit(lambda x: (1 / x, x / x))(np.float64(0.0))
    assert found[0] == np.inf and np.isnan(found[1])


def roots(x: Any) -> Any:
    """A loop in which a number may have no root."""
    total = 0.0
    for v in x:
        total += math.sqrt(v)
    return total


def inverses(x: Any) -> Any:
    """A choice in which a number may be zero."""
    y = float(x)
    return 1 / y if y < 3 else y


def test_python_would_raise_in_a_loop() -> None:
    x = np.arange(100.0)
    check(roots, x, close=True)
    x[77] = -1
    with raises_rule("python.domain", ValueError, "total .= math.sqrt"):
        traceir_numba.jit(roots)(x)
    with raises_rule("python.zero", ZeroDivisionError, "return 1 / y"):
        traceir_numba.jit(inverses)(0.0)


def kinds(x: Any) -> Any:
    """A choice by the class of an argument."""
    if isinstance(x, bool):
        return 1
    if isinstance(x, int):
        return x + 2
    return x * 0.5 if type(x) is float else -1


@pytest.mark.parametrize("x", [3, 2.5, np.float32(2), 1j])
def test_a_class_is_asked_for(x: Any) -> None:
    check(kinds, x)


def swapped(a: Any, b: Any) -> Any:
    """Tuples swapped and unpacked, local functions, lambdas."""

    def mixed(p: Any, q: Any = 2.0) -> Any:
        return p * q + offset

    offset = a / 4

    def less(v: Any) -> Any:
        return v - 1

    (c, *rest), d = (a, b, a + b), less
    for _ in range(50):
        a, b = b, (a + b) % 9
        c, rest[0] = rest[0], c
    return a, b, mixed(c), mixed(q=d(b), p=3.0), rest[-1]


def test_tuples_are_swapped_and_functions_are_local() -> None:
    check(swapped, 3.0, 5.0)


def divisions(x: Any, y: Any) -> Any:
    """Divisions whose results may be zero."""
    return x // y, x % y, divmod(x, y)


def test_zeros_have_signs() -> None:
    dividing = traceir_numba.jit(divisions)
    values = [0.0, -0.0, 5.0, -5.0, 2.5, -2.5, 1e-9, -1e30, np.inf, -np.inf]
    for x in values[:-2]:
        for y in values[2:]:
            for kind in (float, np.float64):
                found, wanted = dividing(kind(x), kind(y)), divisions(kind(x), kind(y))
                assert repr(plain(found)) == repr(plain(wanted)), (x, y)
