"""The Array API standard on statistics, running totals and truths."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import standard
from execution_modes import WAYS, runner

import traceir.numpy as jnp
from traceir.base.config import enable_x64

NUMERIC = standard.KINDS["numeric"]
FLOATING = standard.KINDS["floating"]
REAL = standard.KINDS["real"]
COMPLEX = standard.KINDS["complex"]
# Compiled code is made of a dtype of each kind.
COMPILED = ("int8", "uint32", "float32", "complex64")
CUBE = np.array([[[1, 2, 0], [3, 1, 2]], [[0, 5, 1], [2, 2, 1]]])
AXES: list[Any] = [None, 0, -1, (0, 2), (), (0, 1, 2)]
Call = Callable[..., Any]


def dtypes(way: str) -> tuple[str, ...]:
    """The dtypes that are tried."""
    return COMPILED if way == "numba" else NUMERIC


def cube(dtype: str) -> np.ndarray:
    """The cube in a dtype; of complex numbers with other numbers as second parts."""
    return (CUBE + 1j * CUBE[::-1] if dtype in COMPLEX else CUBE).astype(dtype)


def accumulated(dtype: str) -> str:
    """The dtype of sums: that of the operand, at least the default one of its kind."""
    return {"i": "int64", "u": "uint64"}.get(dtype[0], dtype)


def kept(dtype: str) -> str:
    """The dtype of the operand."""
    return dtype


def real(dtype: str) -> str | None:
    """The dtype of means: that of the operand; integers are not said to have any."""
    return dtype if dtype in FLOATING else None


REDUCTIONS: dict[str, Callable[[str], str | None]] = {
    "sum": accumulated,
    "prod": accumulated,
    "max": kept,
    "min": kept,
    "mean": real,
    "std": real,
    "var": real,
    "all": lambda _: "bool",
    "any": lambda _: "bool",
}
OF_REAL_NUMBERS = ("max", "min", "std", "var")


def takes(name: str, dtype: str) -> bool:
    """True if a reduction is said to take a dtype."""
    return dtype not in COMPLEX or name not in OF_REAL_NUMBERS


@cache
def reduced(way: str) -> dict[str, dict[str, list[Any]]]:
    """All reductions over all axes, with every dtype, in one program."""

    def f(xs: dict[str, Any]) -> dict[str, dict[str, list[Any]]]:
        return {
            name: {
                d: [
                    getattr(jnp, name)(x, axis=axis, keepdims=keepdims)
                    for axis in AXES
                    for keepdims in (False, True)
                ]
                for d, x in xs.items()
                if takes(name, d)
            }
            for name in REDUCTIONS
        }

    with enable_x64():
        return runner(way)(f, {d: jnp.asarray(cube(d)) for d in dtypes(way)})


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_over_axes(name: str, way: str) -> None:
    for dtype, found in reduced(way)[name].items():
        x = cube(dtype)
        if dtype not in COMPLEX:
            x = x.astype("float64")
        options = ((axis, keepdims) for axis in AXES for keepdims in (False, True))
        for one, (axis, keepdims) in zip(found, options, strict=True):
            want = getattr(np, name)(x, axis=axis, keepdims=keepdims)
            if (wanted := REDUCTIONS[name](dtype)) is not None:
                assert one.dtype == wanted, dtype
            assert one.shape == want.shape
            np.testing.assert_allclose(one, want, rtol=1e-6)


@pytest.mark.parametrize("name", ["sum", "prod", "cumulative_sum", "cumulative_prod"])
@pytest.mark.parametrize("dtype", NUMERIC)
def test_totals_in_a_dtype_that_is_asked_for(dtype: str, name: str) -> None:
    with enable_x64():
        for wanted in NUMERIC if dtype in REAL else COMPLEX:
            found = getattr(jnp, name)(jnp.asarray([2, 3], dtype), dtype=wanted)
            last = 5 if "sum" in name else 6
            assert found.dtype == wanted and np.ravel(found)[-1] == last
        small = jnp.asarray([100, 100], "int8")
        assert int(jnp.sum(small)) == 200
        assert int(jnp.sum(small, dtype="int8")) == -56


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_running_totals(name: str, way: str) -> None:
    def f(xs: dict[str, Any]) -> dict[str, Any]:
        call = getattr(jnp, name)
        return {
            d: (call(x, axis=1), call(x, axis=-1, include_initial=True), call(x[0, 0]))
            for d, x in xs.items()
        }

    with enable_x64():
        found = runner(way)(f, {d: jnp.asarray(cube(d)) for d in dtypes(way)})
    call = getattr(np, name)
    for dtype, results in found.items():
        x = cube(dtype) if dtype in COMPLEX else CUBE
        wanted = (
            call(x, axis=1),
            call(x, axis=-1, include_initial=True),
            call(x[0, 0]),
        )
        for one, want in zip(results, wanted, strict=True):
            assert one.dtype == accumulated(dtype)
            np.testing.assert_array_equal(one, want)


NAN, INF = np.nan, np.inf
EMPTY: list[float] = []
SPECIAL: list[tuple[str, list[float], dict[str, Any], float]] = [
    ("sum", EMPTY, {}, 0.0),
    ("prod", EMPTY, {}, 1.0),
    ("mean", EMPTY, {}, NAN),
    ("std", EMPTY, {}, NAN),
    ("var", EMPTY, {}, NAN),
    ("std", [1.0, 2.0], {"correction": 2}, NAN),
    ("var", [1.0, 2.0], {"correction": 2}, NAN),
    ("var", [1.0, 2.0], {"correction": 2.5}, NAN),
    ("std", [1.0, 2.0], {"correction": 3}, NAN),
    ("var", [1.0, 3.0], {"correction": 1}, 2.0),
    ("std", [1.0, 3.0], {"correction": 0.0}, 1.0),
    *((name, [1.0, NAN, 2.0], {}, NAN) for name in ("sum", "prod", "mean", "max")),
    *((name, [1.0, NAN, 2.0], {}, NAN) for name in ("min", "std", "var")),
    ("sum", [INF, -INF], {}, NAN),
    ("sum", [INF, 1.0], {}, INF),
    ("prod", [INF, 0.0], {}, NAN),
    ("prod", [INF, -1.0], {}, -INF),
    ("mean", [INF, -INF], {}, NAN),
    ("max", [-INF, INF], {}, INF),
    ("min", [-INF, INF], {}, -INF),
    ("all", EMPTY, {}, 1.0),
    ("any", EMPTY, {}, 0.0),
    ("all", [NAN, INF, -INF], {}, 1.0),
    ("any", [0.0, NAN], {}, 1.0),
    ("any", [0.0, -INF], {}, 1.0),
    ("any", [0.0, -0.0], {}, 0.0),
    ("count_nonzero", [NAN, INF, 0.0, -0.0], {}, 2.0),
]


# Parts of sums are sums of parts; what is not zero has a part that is not.
SPECIAL_COMPLEX: list[tuple[str, list[complex], complex]] = [
    ("sum", [], 0),
    ("prod", [], 1),
    ("mean", [], complex(NAN, NAN)),
    ("sum", [1, complex(NAN, 2), 1j], complex(NAN, 3)),
    ("sum", [INF, complex(0, -INF)], complex(INF, -INF)),
    ("sum", [complex(INF, 1), complex(-INF, 1)], complex(NAN, 2)),
    ("prod", [1j, 1j, complex(NAN, NAN)], complex(NAN, NAN)),
    ("prod", [1j, 1j, 2], -2),
    ("mean", [1j, 3, 2 + 2j], complex(5, 3) / 3),
    ("all", [1j, complex(0, NAN), complex(-INF, 0)], 1),
    ("all", [1j, 0], 0),
    ("any", [0, complex(-0.0, -0.0)], 0),
    ("any", [0, complex(0, NAN)], 1),
    ("count_nonzero", [1j, 0, 1, complex(0, NAN), complex(-0.0, -0.0)], 3),
]


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("way", WAYS)
def test_special_complex_elements(way: str, dtype: str) -> None:
    def f(xs: list[Any]) -> list[Any]:
        pairs = zip(xs, SPECIAL_COMPLEX, strict=True)
        return [getattr(jnp, name)(x) for x, (name, _, _) in pairs]

    with enable_x64():
        found = runner(way)(f, [jnp.asarray(x, dtype) for _, x, _ in SPECIAL_COMPLEX])
    for got, (name, x, want) in zip(found, SPECIAL_COMPLEX, strict=True):
        near = np.asarray(got, "complex128")
        np.testing.assert_allclose(near, want, 1e-6, err_msg=f"{name} {x}")


@pytest.mark.parametrize("dtype", standard.KINDS["real floating"])
@pytest.mark.parametrize("way", WAYS)
def test_special_elements(way: str, dtype: str) -> None:
    def f(xs: list[Any]) -> list[Any]:
        return [
            getattr(jnp, name)(x, **options)
            for x, (name, _, options, _) in zip(xs, SPECIAL, strict=True)
        ]

    with enable_x64():
        found = runner(way)(f, [jnp.asarray(x, dtype) for _, x, _, _ in SPECIAL])
    for got, (name, x, options, want) in zip(found, SPECIAL, strict=True):
        np.testing.assert_equal(float(got), want, f"{name} {x} {options}")


def test_a_running_total_is_made_of_sums_one_by_one() -> None:
    with enable_x64():
        x = jnp.asarray([1.0, INF, -INF, 2.0])
        np.testing.assert_equal(np.asarray(jnp.cumulative_sum(x)), [1, INF, NAN, NAN])
        y = jnp.asarray([2.0, 0.0, INF])
        np.testing.assert_equal(np.asarray(jnp.cumulative_prod(y)), [2, 0, NAN])


@pytest.mark.parametrize("way", WAYS)
def test_differences(way: str) -> None:
    def f(xs: dict[str, Any]) -> dict[str, Any]:
        return {
            d: (
                jnp.diff(x),
                jnp.diff(x, axis=0, n=2),
                jnp.diff(x, n=0),
                jnp.diff(x, axis=1, prepend=x[:, :1], append=x),
            )
            for d, x in xs.items()
        }

    with enable_x64():
        found = runner(way)(f, {d: jnp.asarray(cube(d)) for d in dtypes(way)})
    for dtype, results in found.items():
        x = cube(dtype)
        wanted = (
            np.diff(x),
            np.diff(x, axis=0, n=2),
            np.diff(x, n=0),
            np.diff(x, axis=1, prepend=x[:, :1], append=x),
        )
        for one, want in zip(results, wanted, strict=True):
            assert one.dtype == dtype and one.shape == want.shape
            np.testing.assert_array_equal(one, want)
