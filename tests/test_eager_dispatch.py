"""The short way of operators agrees with the long one. Cites: level.bind"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir.arrays.array import Array
from traceir.binding.bind_operators import BINARY, COMPARISON, UNARY, _apply
from traceir.eager.dispatch import planned
from traceir.eager.plan_codegen import OWN, plan_of
from traceir.ir.avals import ShapedArray
from traceir.tracing.trace import in_force

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
    function = getattr(jnp, {**BINARY, **COMPARISON}[name])
    for first, second in SHAPES:
        for other in (dtype, "float32", "int32"):
            x, y = operand(dtype, first, False), operand(other, second, True)
            method = getattr(x, f"__{name}__")
            long = outcome(_apply, name, function, x, y)
            assert [outcome(method, y) for _ in range(3)] == [long] * 3


NUMBERS = (0, 1, -1, 3, 200, -0.0, 2.5, 1e30, float("nan"), True)


@pytest.mark.parametrize("name", [*BINARY, *COMPARISON])
@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_of_an_array_and_a_number(name: str, dtype: str) -> None:
    function = getattr(jnp, {**BINARY, **COMPARISON}[name])
    for weak in (False, True):
        x = operand(dtype, (4,), weak)
        for y in NUMBERS:
            method = getattr(x, f"__{name}__")
            long = outcome(_apply, name, function, x, y)
            assert [outcome(method, y) for _ in range(3)] == [long] * 3, y


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_of_one_array(name: str, dtype: str) -> None:
    x = operand(dtype, (4,), True)
    method = getattr(x, f"__{name}__")
    long = outcome(getattr(jnp, UNARY[name]), x)
    assert [outcome(method) for _ in range(3)] == [long] * 3


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


def test_the_third_call_does_not_run_the_function() -> None:
    calls = []

    def f(x: Any, n: int, *, axis: int = 0) -> Any:
        calls.append(n)
        return jnp.sum(x * n, axis)

    g, x = planned(f), jnp.ones((2, 3))
    assert [g(x, 2, axis=1).tolist() for _ in range(4)] == [[6.0, 6.0]] * 4
    assert len(calls) == 2  # by the long way, and to make the plan
    g(x, 3, axis=1)
    g(x, 2)
    g(jnp.ones((2, 3), "int8"), 2, axis=1)
    assert len(calls) == 5


KEYS: dict[str, tuple[Any, Any]] = {
    "an int and a bool": (1, True),
    "an int and a float": (1, 1.0),
    "zeros": (0.0, -0.0),
    "complex zeros": (0j, complex(-0.0, 0.0)),
    "a text and a type": ("float32", np.float32),
    "tuples": ((1, 2), ((1,), 2)),
    "a tuple and a list": ((1,), [1]),
    "a tuple of a bool": ((1,), (True,)),
}


@pytest.mark.parametrize("name", KEYS)
def test_arguments_that_are_not_the_same_have_plans_of_their_own(name: str) -> None:
    g: Any = planned(lambda x, value: x + len(repr(value)))
    x = jnp.zeros(())
    for _ in range(3):
        for value in KEYS[name]:
            assert g(x, value).item() == len(repr(value))


def test_names_are_told_from_values() -> None:
    g: Any = planned(lambda x, *args, **kwargs: x + len(args) - len(kwargs))
    x = jnp.zeros(())
    for _ in range(3):
        assert g(x, "a", 1).item() == 2
        assert g(x, a=1).item() == -1


def test_a_value_that_is_asked_for_leaves_no_plan() -> None:
    two = ShapedArray((2,), "float32")
    assert plan_of(lambda xs: float(xs[0][0]), [two], [OWN]) is None
    g: Any = planned(lambda x: x if x[0] > 0 else -x)
    for sign in (1, -1, 1, -1):
        assert g(jnp.asarray([sign, 2])).tolist() == [1, 2 * sign]


def test_an_array_of_numpys_is_read_anew_by_each_call() -> None:
    g, x = planned(jnp.negative), np.arange(3.0)
    for k in range(4):
        x[0] = k
        found = g(x)
        assert found.dtype == np.float32
        assert found.tolist() == [-k, -1, -2]


def test_results_have_memory_of_their_own() -> None:
    g: Any = planned(lambda x: (jnp.reshape(x, (4,)), x.T, x.T, jnp.zeros(2)))
    h: Any = planned(lambda x: jnp.zeros(2))
    x = jnp.ones((2, 2))
    found = [*g(x), *g(x), *g(x), h(x), h(x), h(x), x]
    for k, one in enumerate(map(np.asarray, found)):
        assert not any(np.shares_memory(one, np.asarray(v)) for v in found[:k])


MADE: dict[str, Any] = {
    "stack": lambda x: jnp.stack([x, x]),
    "reshape": lambda x: jnp.reshape(x, (4,)),
    "a view of what is made": lambda x: jnp.reshape(x + 1, (4,)),
    "a view of a view": lambda x: jnp.reshape(jnp.ravel(x) * 2, (4, 1))[1:],
    "of two, one of the other": lambda x: jnp.expand_dims(x - 1, (0, 3)),
    "squeeze": lambda x: jnp.squeeze(x.reshape(1, 4)),
    "sort": jnp.sort,
    "transpose": jnp.transpose,
}


@pytest.mark.parametrize("name", MADE)
def test_nobody_makes_a_result_writable(name: str) -> None:
    g, x = planned(MADE[name]), jnp.ones((2, 2))
    for _ in range(3):
        with pytest.raises(ValueError, match="WRITEABLE"):
            np.asarray(g(x)).flags.writeable = True


def test_a_plan_of_an_array_of_numpys_shares_no_memory_with_it() -> None:
    g: Any = planned(lambda x: traceir.lax.reshape(x, (4,)))
    x = np.ones((2, 2), "float32")
    for _ in range(4):
        found = g(x)
        assert not np.shares_memory(np.asarray(found), x)
        with pytest.raises(ValueError, match="WRITEABLE"):
            np.asarray(found).flags.writeable = True


def test_a_copy_is_no_plan_that_hands_its_operand_on() -> None:
    x = jnp.ones(2)
    for name, handed in (("asarray", True), ("array", False)):
        g = planned(getattr(jnp, name))
        assert [g(x) is x for _ in range(3)] == [handed] * 3


def test_a_warning_comes_each_time() -> None:
    g, x = planned(jnp.astype), jnp.ones(2)
    for _ in range(3):
        with pytest.warns(UserWarning, match="float64"):
            g(x, "float64")


def test_flags_have_plans_of_their_own() -> None:
    g, whole = planned(jnp.sum), jnp.arange(3, dtype="int8")
    for _ in range(3):
        assert g(whole).dtype == np.int32
        with traceir.enable_x64(True):
            assert g(whole).dtype == np.int64
    add, x = planned(jnp.add), jnp.ones((2, 2))
    for _ in range(3):
        add(x, x[0])
        with traceir.numpy_rank_promotion("raise"), pytest.raises(ValueError):
            add(x, x[0])


def test_a_tracer_whose_trace_has_ended_is_refused() -> None:
    kept: list[Any] = []
    traceir.make_jaxpr(lambda x: kept.append(x))(1.0)
    g = planned(jnp.sin)
    for _ in range(3):
        with pytest.raises(traceir.errors.UnexpectedTracerError):
            g(kept[0])


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


def test_what_is_outside_every_trace() -> None:
    local = traceir.base.config.local
    seen: list[Any] = []

    def look(x: Any) -> Any:
        seen.append(local.outside)
        with traceir.enable_x64():
            seen.append(local.outside)
        with in_force(None):
            seen.append(local.outside is local.context)
        seen.append(local.outside)
        return x

    assert local.outside is local.context
    with traceir.enable_x64():
        assert local.outside is local.context
        assert local.outside.x64
        traceir.make_jaxpr(look)(1.0)
        assert local.outside is local.context
    assert local.outside is local.context
    assert seen == [None, None, True, None]


def test_an_update_reaches_a_thread_when_its_trace_has_ended() -> None:
    def change(x: Any) -> Any:
        thread = threading.Thread(
            target=traceir.base.config.update, args=("enable_x64", True)
        )
        thread.start()
        thread.join()
        return x

    x = jnp.arange(3, dtype="int8")
    try:
        for _ in range(3):
            assert jnp.sum(x).dtype == np.int32
        traceir.make_jaxpr(change)(1.0)
        assert jnp.sum(x).dtype == np.int64
    finally:
        traceir.base.config.update("enable_x64", False)
    assert jnp.sum(x).dtype == np.int32
