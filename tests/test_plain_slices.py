"""Slices whose bounds are values in plain functions, beside NumPy run eagerly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plain.sliced import JUDGED
from rule_errors import raises_rule

import traceir_numba


def copied(args: tuple[Any, ...]) -> list[Any]:
    """Arguments to write to."""
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


@pytest.mark.parametrize(
    ("function", "args"), JUDGED, ids=lambda v: getattr(v, "__name__", "")
)
def test_a_function_gives_what_numpy_gives(
    function: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    wanted, found = function(*copied(args)), traceir_numba.jit(function)(*copied(args))
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype
    assert np.shape(found) == np.shape(wanted)


def taken(x: Any, lo: Any, hi: Any) -> Any:
    """Slices of all kinds, told by numbers."""
    weights = np.arange(1.0, 13.0)
    parts = x[lo:hi], x[lo:], x[:hi], x[lo:hi:-1], x[hi::2], x[:lo:-3], x[lo:hi][1:]
    y = np.zeros((7, 3))
    for k, part in enumerate(parts):
        y[k, 0] = len(part)
        for i, v in enumerate(part):
            y[k, 1] += v * weights[i]
        y[k, 2] = part.sum()
    x[lo:hi] = -1.0
    x[hi:lo:-1] += 5.0
    return y, x


def test_bounds_are_pythons() -> None:
    """Negative bounds count from the end, others are clipped."""
    compiled = traceir_numba.jit(taken)
    for lo in range(-14, 15, 2):
        for hi in range(-13, 15, 3):
            x = np.arange(12.0) ** 2
            for a, b in zip(taken(x.copy(), lo, hi), compiled(x, lo, hi), strict=True):
                np.testing.assert_array_equal(b, a, err_msg=f"{lo}:{hi}")


def test_an_extent_that_is_known_gives_an_array() -> None:
    """A result of a known extent, a view of it, and one that an end cuts."""

    @traceir_numba.jit
    def three(x: Any, i: Any) -> Any:
        part = x[i : i + 3]
        part[1] = 7.0
        return part, np.sort(x[i + 1 : 4 + i])

    x = np.arange(9.0)
    part, ordered = three(x, 2)
    assert part.tolist() == [2.0, 7.0, 4.0]
    assert ordered.tolist() == [4.0, 5.0, 7.0]
    assert x[3] == 7.0
    with raises_rule("slice.cut", ValueError, "an end of its array cuts"):
        three(x, 6)


def put(x: Any, lo: Any, hi: Any) -> None:
    """A wrong length."""
    x[lo:hi] = x[:hi]


def deep(x: Any, lo: Any, hi: Any) -> None:
    """Too many dimensions."""
    x[lo:hi] = x[None, :, None]


def guarded(x: Any, lo: Any, hi: Any) -> None:
    """A write to a slice of a view that is read-only."""
    y = x[1:]
    y.flags.writeable = False
    part = y[lo:hi]
    part += 1


REFUSED: list[tuple[str, type, Callable[..., Any]]] = [
    ("slice.length", TypeError, lambda x, i, j: np.fft.fft(x[i:j])),
    ("slice.lengths", ValueError, lambda x, i, j: (x[i:j] * 2).reshape(2, 2)),
    ("slice.length", TypeError, lambda x, i, j: [{"a": np.fft.fft(x[i:])}]),
    ("slice.length", TypeError, lambda x, i, j: np.partition(x[i:j], 1)),
    ("slice.length", TypeError, lambda x, i, j: list(x[i:j])),
    ("slice.step", TypeError, lambda x, i, j: x[:: i - j].sum()),
    ("slice.lengths", ValueError, lambda x, i, j: x[i:j] @ x[i:]),
    ("slice.lengths", ValueError, lambda x, i, j: (x[i:j] + x[:4]).sum()),
    ("slice.lengths", ValueError, lambda x, i, j: x[j:i].max()),
    ("slice.lengths", ValueError, put),
    ("update.shape", ValueError, deep),
    ("update.readonly", ValueError, guarded),
    ("slice.length", TypeError, lambda x, i, j: np.outer(x, x)[:, i:][x[i:] > 0]),
    ("index.bounds", IndexError, lambda x, i, j: x[i:j][3]),
]


@pytest.mark.parametrize(("rule", "kind", "function"), REFUSED)
def test_an_error_names_the_line(
    rule: str, kind: type, function: Callable[..., Any]
) -> None:
    @traceir_numba.jit
    def called(x: Any, bounds: Any) -> Any:
        return function(x, bounds[0], bounds[1])

    with raises_rule(rule, kind, "test_plain_slices.py"):
        called(np.arange(9.0), np.array([2, 5]))


@pytest.mark.parametrize("function", [case[2] for case in REFUSED[:6]])
def test_an_extent_that_is_needed_makes_bounds_known(
    function: Callable[..., Any],
) -> None:
    """Python's numbers among the arguments are known by demand."""
    x = np.arange(9.0)
    found = traceir_numba.jit(function)(x, 2, 6)
    assert str(found) == str(function(x, 2, 6))


def test_the_length_of_a_slice_is_no_part_of_the_program() -> None:
    """One program serves all bounds, with as many equations for long slices."""

    @traceir_numba.jit
    def total(x: Any, lo: Any, hi: Any) -> Any:
        return (x[lo:hi] * 2).sum()

    x = np.arange(1000.0)
    for lo, hi in ((0, 3), (5, 900), (-7, -2)):
        assert total(x, lo, hi) == 2 * x[lo:hi].sum()
    assert total.cache_info().misses == 1
