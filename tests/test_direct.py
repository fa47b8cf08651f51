"""The short way of operators agrees with the long one. Cites: level.bind"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir.array import Array
from traceir.avals import ShapedArray
from traceir.direct import plan_of
from traceir.operators import BINARY, COMPARISON, UNARY, _apply

DTYPES = ("bool", "int8", "uint8", "int32", "uint32", "float16", "bfloat16", "float32")
SHAPES = (((3,), (3,)), ((2, 3), ()), ((3,), (2, 3)), ((), ()), ((0,), (0,)))


def operand(dtype: str, shape: tuple[int, ...], weak: bool) -> Array:
    """An array with elements at the ends of its dtype, weak where dtypes can be."""
    values = np.resize([1, 0, 2, 100], shape)
    x = jnp.asarray(values, dtype)
    weakly = weak and dtype in ("int32", "float32")
    return Array._wrap(np.array(x), ShapedArray(shape, x.dtype, weakly))


def outcome(call: Callable[..., Any], *args: Any) -> Any:
    """Type and elements of a result, or the error's rule."""
    try:
        found = call(*args)
    except (TypeError, ValueError) as error:
        return type(error), getattr(error, "rule", None)
    results = found if isinstance(found, tuple) else (found,)
    return [(r.aval, np.asarray(r).tobytes()) for r in results]


@pytest.mark.parametrize("name", [*BINARY, *COMPARISON])
@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_of_arrays(name: str, dtype: str) -> None:
    function = {**BINARY, **COMPARISON}[name]
    for first, second in SHAPES:
        for other in (dtype, "float32", "int32"):
            x, y = operand(dtype, first, False), operand(other, second, True)
            method = getattr(x, f"__{name}__")
            long = outcome(_apply, name, function, x, y)
            assert outcome(method, y) == outcome(method, y) == long


NUMBERS = (0, 1, -1, 3, 200, -0.0, 2.5, 1e30, float("nan"), True)


@pytest.mark.parametrize("name", [*BINARY, *COMPARISON])
@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_of_an_array_and_a_number(name: str, dtype: str) -> None:
    function = {**BINARY, **COMPARISON}[name]
    for weak in (False, True):
        x = operand(dtype, (4,), weak)
        for y in NUMBERS:
            method = getattr(x, f"__{name}__")
            long = outcome(_apply, name, function, x, y)
            assert outcome(method, y) == outcome(method, y) == long, y


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_of_one_array(name: str, dtype: str) -> None:
    x = operand(dtype, (4,), True)
    method = getattr(x, f"__{name}__")
    long = outcome(UNARY[name], x)
    assert outcome(method) == outcome(method) == long


def test_in_a_trace_operators_of_arrays_are_recorded() -> None:
    x = jnp.arange(3)
    x + x  # the short way is known

    def f(y: Any) -> Any:
        return x + x + y

    assert str(traceir.make_jaxpr(f)(x)).count("add") == 2


def test_a_deleted_array_is_refused_on_the_short_way() -> None:
    x, y = jnp.ones(3), jnp.ones(3)
    x + y
    y.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        x + y


def test_flags_that_look_at_results_take_the_long_way() -> None:
    x = jnp.zeros(3)
    x / x
    with traceir.debug_nans(True), pytest.raises(FloatingPointError):
        x / x


def test_what_is_several_equations_has_no_plan() -> None:
    whole, real = ShapedArray((2,), "int32"), ShapedArray((2,), "float32")
    assert plan_of(jnp.true_divide, [whole, whole]) is None
    assert plan_of(jnp.remainder, [real, real]) is None
    plan = plan_of(jnp.true_divide, [real, real])
    assert plan is not None and plan[1] is real


def test_an_eager_operation_compiles_nothing() -> None:
    from traceir_numba import backend

    before = backend.compile_count()
    x = jnp.arange(6.0).reshape(2, 3)
    for found in (
        x + x,
        x @ x.T,
        jnp.sin(x),
        jnp.sum(x),
        x[1:],
        jnp.where(x > 1, x, 0),
    ):
        found.block_until_ready()
    assert backend.compile_count() == before
