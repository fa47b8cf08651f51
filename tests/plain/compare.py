"""Comparison of what a function under the decorator did with what NumPy does."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

import traceir_numba


def leaves(value: Any) -> list[Any]:
    """The arrays and numbers of a result; the state of a generator of numbers."""
    if isinstance(value, np.random.Generator):
        return [np.array(str(value.bit_generator.state))]
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in leaves(part)]
    return [] if value is None else [value]


def same(found: Any, wanted: Any) -> None:
    """Assert that results have NumPy's dtypes, shapes and values."""
    for one, other in zip(leaves(found), leaves(wanted), strict=True):
        one, other = np.asarray(one), np.asarray(other)
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if other.dtype.kind in "fc":
            loose = 1e-4 if other.dtype in (np.float32, np.complex64) else 1e-9
            np.testing.assert_allclose(one, other, loose, loose)
        else:
            np.testing.assert_array_equal(one, other)


def equals(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Assert that a function gives the very values that it gives without the decorator,
    and so its arguments; an int may be a float."""
    plain, given = copy.deepcopy(arguments), copy.deepcopy(arguments)
    np.testing.assert_array_equal(traceir_numba.jit(function)(*given), function(*plain))
    for one, other in zip(given, plain, strict=True):
        np.testing.assert_array_equal(one, other)


def agrees(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Assert that a function does with the decorator what it does without.

    Both its results and the arguments that it has changed are compared.
    """
    plain, given = copy.deepcopy(arguments), copy.deepcopy(arguments)
    with np.errstate(over="ignore"):
        wanted = function(*plain)
    same(traceir_numba.jit(function)(*given), wanted)
    same(given, plain)
