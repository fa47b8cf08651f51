"""Donated arguments: what is deleted, what is refused, whose memory results have.

Cites jit.donated, jit.donate, jit.donate-twice
"""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.errors import TraceirError
from traceir.jit.donation import taken

LARGE = 1 << 18
BACKENDS = ["reference", "numba"]


def double(x: Any, y: Any) -> Any:
    return x * 2 + y


@pytest.fixture(params=BACKENDS)
def f(request: pytest.FixtureRequest) -> Any:
    return traceir.jit(double, donate_argnums=0, backend=request.param)


def address(x: Any) -> int:
    found: int = np.asarray(x).ctypes.data
    return found


def rule_of(call: Callable[[], Any]) -> str:
    with pytest.raises(TraceirError) as caught:
        call()
    assert caught.value.rule is not None
    return caught.value.rule


def test_a_donated_array_is_deleted(f: Any) -> None:
    for _ in range(3):
        x, y = jnp.arange(4.0), jnp.ones(4)
        np.testing.assert_array_equal(f(x, y), [1, 3, 5, 7])
        assert (x.is_deleted(), y.is_deleted()) == (True, False)


USES: dict[str, Callable[[Any], Any]] = {
    "arithmetic": lambda x: x + 1,
    "text": repr,
    "str": str,
    "numpy": np.asarray,
    "iteration": list,
    "index": lambda x: x[0],
    "truth": bool,
    "number": float,
    "item": lambda x: x.item(0),
    "list": lambda x: x.tolist(),
    "jit": traceir.jit(lambda x: x * 1),
    "closure": lambda x: traceir.jit(lambda y: x + y)(1.0),
    "gradient": traceir.grad(lambda x: x.sum()),
    "pickle": pickle.dumps,
    "where": lambda x: jnp.where(True, x, 0),
}


@pytest.mark.parametrize("name", USES)
def test_a_deleted_array_cannot_be_used(name: str) -> None:
    x = jnp.arange(1.0)
    x.delete()
    x.delete()
    assert x.is_deleted()
    with pytest.raises(RuntimeError, match="Array has been deleted"):
        USES[name](x)
    assert rule_of(lambda: USES[name](x)) == "array.deleted"


def test_a_deleted_array_has_its_type() -> None:
    x = jnp.ones((2, 3))
    x.delete()
    assert (x.shape, x.dtype, x.ndim, len(x)) == ((2, 3), np.dtype("float32"), 2, 2)
    assert traceir.eval_shape(lambda v: v, x).shape == (2, 3)
    assert copy.copy(x) is x
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = x.nothing


def test_by_name_by_keyword_and_in_trees() -> None:
    g = traceir.jit(double, donate_argnames="y")
    for call in (
        lambda x, y: g(x, y),
        lambda x, y: g(x, y=y),
        lambda x, y: g(y=y, x=x),
    ):
        x, y = jnp.arange(4.0), jnp.ones(4)
        call(x, y)
        assert (x.is_deleted(), y.is_deleted()) == (False, True)
    last = traceir.jit(double, donate_argnums=-1)
    x, y = jnp.arange(4.0), jnp.ones(4)
    last(x, y)
    assert (x.is_deleted(), y.is_deleted()) == (False, True)
    h = traceir.jit(lambda d, k: {n: v * k for n, v in d.items()}, donate_argnums=0)
    tree = {"a": jnp.ones(3), "b": jnp.ones((2, 2))}
    result = h(tree, 2)
    assert all(v.is_deleted() for v in tree.values())
    np.testing.assert_array_equal(result["b"], np.full((2, 2), 2))


def test_static_arguments_beside_donated_ones() -> None:
    g = traceir.jit(lambda n, x: x * n, static_argnums=0, donate_argnums=1)
    x = jnp.ones(3)
    np.testing.assert_array_equal(g(3, x), [3, 3, 3])
    assert x.is_deleted()


@pytest.mark.parametrize(
    "options",
    [
        {"donate_argnums": 5},
        {"donate_argnums": -3},
        {"donate_argnums": "x"},
        {"donate_argnames": "q"},
        {"donate_argnames": [1]},
        {"donate_argnums": 0, "static_argnums": 0},
        {"donate_argnames": "x", "static_argnums": 0},
    ],
)
def test_arguments_that_cannot_be_donated(options: dict[str, Any]) -> None:
    assert rule_of(lambda: traceir.jit(double, **options)) == "jit.donate"


def test_an_array_is_donated_once(f: Any) -> None:
    x = jnp.arange(4.0)
    assert rule_of(lambda: f(x, x)) == "jit.donate-twice"
    assert not x.is_deleted()
    both = traceir.jit(lambda x, y: (x + 1, y + 1), donate_argnums=(0, 1))
    assert rule_of(lambda: both(x, x)) == "jit.donate-twice"


def test_what_fits_no_result_stays() -> None:
    g = traceir.jit(lambda x, y: x.sum() + y, donate_argnums=(0, 1))
    x, y = jnp.ones(3), jnp.float32(1)
    with pytest.warns(UserWarning, match=r"not usable: f32\[3\]"):
        g(x, y)
    assert (x.is_deleted(), y.is_deleted()) == (False, True)
    first = traceir.jit(lambda x, y: x + y, donate_argnums=(0, 1))
    x, y = jnp.ones(3), jnp.ones(3)
    with pytest.warns(UserWarning, match="not usable"):
        first(x, y)
    assert (x.is_deleted(), y.is_deleted()) == (True, False)


@pytest.mark.filterwarnings("ignore:Some donated arrays")
def test_what_is_not_used_stays() -> None:
    g = traceir.jit(lambda x, y: y * 2, donate_argnums=0)
    x = jnp.ones(3)
    g(x, jnp.ones(3))
    assert not x.is_deleted()


def test_an_argument_that_is_the_result() -> None:
    g = traceir.jit(lambda x: x, donate_argnums=0, backend="numba")
    x = jnp.arange(4.0)
    result = g(x)
    assert x.is_deleted()
    np.testing.assert_array_equal(result, [0, 1, 2, 3])


def test_nothing_is_deleted_inside_a_trace(f: Any) -> None:
    x, y = jnp.arange(4.0), jnp.ones(4)
    traceir.jit(lambda v: f(v, v * 2) + v)(x)
    traceir.make_jaxpr(f)(x, y)
    traceir.grad(lambda v: f(v, y).sum())(x)
    traceir.vmap(f)(x, y)
    traceir.jvp(lambda v: f(v, y), (x,), (x,))
    with traceir.disable_jit():
        f(x, y)
    assert not x.is_deleted()


def test_an_error_leaves_arguments_alone() -> None:
    def fails(x: Any) -> Any:
        raise ZeroDivisionError

    g = traceir.jit(fails, donate_argnums=0)
    x = jnp.ones(3)
    with pytest.raises(ZeroDivisionError):
        g(x)
    assert not x.is_deleted()
    h = traceir.jit(lambda x, n: x + n, donate_argnums=0)
    h(jnp.ones(3, "int32"), 2)
    x = jnp.ones(3, "int32")
    with raises_rule("jit.overflow", OverflowError, "at argument n"):
        h(x, 1 << 40)
    assert not x.is_deleted()


def test_a_numpy_array_is_no_ones_to_take(f: Any) -> None:
    x = np.arange(float(LARGE), dtype=np.float32)
    for _ in range(2):
        f(x, jnp.ones(LARGE))
    np.testing.assert_array_equal(x, np.arange(float(LARGE)))


# -- memory ---------------------------------------------------------------------------


def test_a_large_result_has_the_memory_of_the_argument() -> None:
    g = traceir.jit(double, donate_argnums=0, backend="numba")
    y = jnp.ones(LARGE)
    x = g(jnp.arange(float(LARGE)), y)
    where = address(x)
    want = np.asarray(x).copy()
    for _ in range(4):
        x = g(x, y)
        want = want * 2 + 1
        assert address(x) == where
        np.testing.assert_array_equal(x, want)


HOLDERS: dict[str, Callable[[Any], Any]] = {
    "view": np.asarray,
    "part": lambda x: np.asarray(x)[3:],
    "dlpack": lambda x: np.from_dlpack(np.asarray(x)),
    "memoryview": lambda x: memoryview(np.asarray(x)),
    "shape": lambda x: x.reshape(2, -1),
    "same memory": lambda x: x._value,
}


@pytest.mark.parametrize("name", HOLDERS)
@pytest.mark.parametrize("fresh", [False, True])
def test_memory_that_something_holds_is_not_written(name: str, fresh: bool) -> None:
    g = traceir.jit(double, donate_argnums=0, backend="numba")
    y = jnp.ones(LARGE)
    x = jnp.arange(float(LARGE)) if fresh else g(jnp.arange(float(LARGE)), y)
    before = np.asarray(x).copy()
    held = HOLDERS[name](x)
    result = g(x, y)
    np.testing.assert_array_equal(result, before * 2 + 1)
    shown = np.asarray(held)
    start = 3 if name == "part" else 0
    np.testing.assert_array_equal(shown.ravel(), before[start:])


def test_an_array_whose_memory_is_held_is_not_deleted(f: Any) -> None:
    x = jnp.arange(4.0)
    held = np.asarray(x)
    f(x, jnp.ones(4))
    assert not x.is_deleted()
    assert list(held) == [0, 1, 2, 3]


@pytest.mark.parametrize("copied", [jnp.array, lambda x: x.copy()])
def test_a_copy_outlives_what_it_was_made_of(f: Any, copied: Any) -> None:
    x = jnp.arange(4.0)
    other = copied(x)
    f(x, jnp.ones(4))
    assert x.is_deleted()
    np.testing.assert_array_equal(other, [0, 1, 2, 3])
    assert jnp.array(other, copy=False) is jnp.asarray(other) is other


def test_what_is_taken() -> None:
    x = jnp.arange(3.0)
    where, aval = address(x), x.aval
    memory = taken(x, aval)
    assert memory.ctypes.data == where
    assert x.is_deleted()


def test_intermediates_take_the_memory_of_what_was_read() -> None:
    """A product cannot be written over its operand; what comes after it can."""
    n = 300

    def layers(x: Any, w: Any) -> Any:
        return jnp.tanh(jnp.tanh(x @ w) @ w) @ w

    x = jnp.asarray(np.random.default_rng(0).random((n, n)), "float32")
    w = jnp.eye(n)
    plain = traceir.jit(layers, backend="numba")
    giving = traceir.jit(layers, backend="numba", donate_argnums=0)
    want = np.asarray(plain(x, w))
    for _ in range(2):
        given = x.copy()
        np.testing.assert_array_equal(giving(given, w), want)
        assert given.is_deleted()


def test_what_runs_the_calls_keeps_neither_function_nor_arguments() -> None:
    def add(x: Any, y: Any) -> Any:
        return x + y

    giving = traceir.jit(add, donate_argnums=0)
    x, y = jnp.zeros(4), jnp.ones(4)
    kept = [weakref.ref(held) for held in (add, x, y)]
    giving(x, y)
    del x, y
    gc.collect()
    assert [ref() for ref in kept] == [add, None, None]
    del add, giving
    gc.collect()
    assert kept[0]() is None
