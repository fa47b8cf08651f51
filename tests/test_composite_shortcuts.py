"""Composites by one function of NumPy's give the bits of all. Cites: level.bind"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir.eager.dispatch import planned
from traceir.ir.avals import ShapedArray
from traceir.reference.kernels.elementwise.composite_shortcuts import (
    SHORTCUTS,
    composite_shortcut,
)

DTYPES = ("int8", "int16", "int32", "uint8", "uint16", "uint32", "int64", "uint64")


def outcomes(function: Callable[..., Any], *args: Any) -> list[Any]:
    """Types and bits of what the long way gives, and then each call by a plan."""
    long = getattr(function, "__wrapped__", function)
    short = planned(long)
    found = [long(*args), *(short(*args) for _ in range(4))]
    assert all(np.asarray(v).flags.c_contiguous for v in found)
    return [(v.aval, np.asarray(v).tobytes()) for v in found]


def part_of(number: int, x: Any, y: Any) -> Any:
    """The quotients, or the remainders."""
    return jnp.divmod(x, y)[number]


def same(found: list[Any]) -> bool:
    return all(one == found[0] for one in found)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "divmod"])
def test_division_of_whole_numbers(name: str, dtype: str) -> None:
    function = getattr(jnp, name)
    with traceir.enable_x64():
        ends = np.iinfo(dtype)
        numbers = [ends.min, ends.max, 0, 1, 3, ends.max - 1, ends.min + 1, 7, 5]
        x = jnp.array(numbers, dtype)
        divisors = [*numbers[1:2], *numbers[3:]]
        if ends.min:
            divisors += [ends.min, -1, -1, -3, -2]
        for k in range(len(divisors)):
            y = jnp.array(np.resize(np.roll(divisors, k), len(numbers)), dtype)
            scalar = jnp.array(divisors[k], dtype)
            for second in (y, y.at[2].set(0), y * 0, scalar, scalar * 0):
                if name == "divmod":
                    for part in range(2):
                        one = partial(part_of, part)
                        assert same(outcomes(one, x, second))
                else:
                    assert same(outcomes(function, x, second))
                    assert same(outcomes(function, x[0], second))


@pytest.mark.parametrize("number", [3, -2, 1, -1, 0, 100])
def test_operators_with_a_number(number: int) -> None:
    x = jnp.arange(-5, 5, dtype="int8")
    for sign in (1, -1):
        y = x * sign
        assert len({tuple((y // number).tolist()) for _ in range(4)}) == 1
        assert len({tuple((y % number).tolist()) for _ in range(4)}) == 1
    if number:
        assert (x // number).tolist() == [k // number for k in range(-5, 5)]
        assert (x % number).tolist() == [k % number for k in range(-5, 5)]


PLACES: list[Any] = [[0, 2, -1], [-3, 1], [5, -9, 1], [[0, 1], [2, 7]], [], 2, -4]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "int8", "uint32"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_reads_at_places(axis: int | None, dtype: str) -> None:
    x = (jnp.arange(12) % 5).astype(dtype).reshape(3, 4)
    for places in PLACES:
        for kind in ("int32", "int8", "uint8"):
            at = jnp.asarray(np.array(places).astype(kind))
            assert same(outcomes(lambda x, at: jnp.take(x, at, axis), x, at))
    for mode in ("fill", "clip", "wrap"):
        at = jnp.asarray([0, 5, -9])
        assert same(
            outcomes(lambda x, at, m=mode: jnp.take(x, at, axis, mode=m), x, at)
        )


def test_reads_fill_with_what_is_asked_for() -> None:
    x, at = jnp.arange(4.0), jnp.asarray([1, 9])
    for _ in range(4):
        assert jnp.take(x, at, fill_value=-1).tolist() == [1, -1]
        assert np.isnan(jnp.take(x, at)[1])
        assert jnp.take(x, at, mode="clip").tolist() == [1, 3]


def test_what_is_no_more_than_its_parts() -> None:
    two, real = ShapedArray((2,), "int32"), ShapedArray((2,), "float32")
    divide, take = (getattr(jnp, n).__wrapped__ for n in ("floor_divide", "take"))
    assert composite_shortcut(divide, [two, two], (), divide) is not None
    assert composite_shortcut(divide, [real, real], (), divide) is None
    assert composite_shortcut(divide, [two, real], (), divide) is None
    assert composite_shortcut(divide, [two], (3,), divide) is None
    assert (
        composite_shortcut(take, [real, two], (None, None, False, False, None), take)
        is None
    )


def test_a_name_of_a_users_is_not_taken_for_ours() -> None:
    @traceir.jit
    def floor_divide(x: Any, y: Any) -> Any:
        return x - y

    x = jnp.arange(3)
    assert [floor_divide(x, x).tolist() for _ in range(3)] == [[0, 0, 0]] * 3


def test_all_are_functions_of_ours() -> None:
    import importlib

    for name in SHORTCUTS:
        module, _, function = name.rpartition(".")
        found = getattr(importlib.import_module(module), function)
        assert f"{found.__module__}.{found.__qualname__}" == name


def test_in_a_trace_composites_are_equations() -> None:
    x = jnp.arange(3)
    for _ in range(3):
        x // x
    text = str(traceir.make_jaxpr(lambda x: x // x)(x))
    assert "name=floor_divide" in text
