"""Plain functions with transforms, loops, other plain functions, and NumPy's protocols.

Rules: face.box, face.known, face.ufunc, update.outer, cache.key.face
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import zeros

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir import lax

V = np.array([0.5, -1.0, 2.0, 4.0])
COUNT = 0


def energy(x: Any) -> Any:
    """A number, with an update on the way."""
    y = np.zeros(len(x))
    y[1:] = np.sin(x[:-1]) * x[1:]
    y[0] += x[0] ** 2
    return y.sum()


def test_a_plain_function_is_differentiated_and_mapped() -> None:
    function = traceir_numba.jit(energy)
    wanted = np.zeros(4)
    for k in range(4):
        step = np.zeros(4)
        step[k] = 1e-6
        wanted[k] = (energy(V + step) - energy(V - step)) / 2e-6
    with traceir.enable_x64(True):
        np.testing.assert_allclose(traceir.grad(function)(V), wanted, 1e-6)
        rows = np.stack([V, 2 * V])
        mapped = traceir.vmap(function)(rows)
        np.testing.assert_allclose(mapped, [energy(V), energy(2 * V)], 1e-12)


@pytest.mark.parametrize(
    "function",
    [
        lambda w, x: (x * w).sum(),
        lambda w, x: np.add(np.sin(x), w).sum(),
        lambda w, x: ((x @ w) ** 2).sum(),
        lambda w, x: (x**w).sum() + w.max(),
        lambda w, x: np.maximum(x[::-1], w).sum() + (x.T - w).max(),
        lambda w, x: (np.arange(3) * np.divmod(x, w)[1]).sum(),
        lambda w, x: np.where(x > w, w, x).sum(),
        lambda w, x: (np.full_like(x, w.sum()) + np.zeros_like(x) * w).sum(),
        lambda w, x: (x.copy() * w).sum() + x.astype(np.float32)[0, 0],
    ],
)
def test_an_array_meets_one_of_a_transform_inside(function: Any) -> None:
    w, x = np.linspace(1, 3, 9).reshape(3, 3), np.linspace(0.5, 2, 9).reshape(3, 3)
    for transform in (traceir.grad, functools.partial(traceir.vmap, in_axes=(0, None))):
        with traceir.enable_x64(True):
            wanted = transform(traceir_numba.jit(function))(w, x)
        found = traceir_numba.jit(transform(function))(w, x)
        np.testing.assert_allclose(found, wanted, 1e-12)


def test_the_body_of_a_loop_updates_its_carry() -> None:
    def sums(x: Any) -> Any:
        def body(k: Any, out: Any) -> Any:
            out[k] = out[k - 1] + x[k]
            return out

        out = np.zeros(len(x))
        out[0] = x[0]
        return lax.fori_loop(1, len(x), body, out)

    assert traceir_numba.jit(sums)(V).tolist() == np.cumsum(V).tolist()


def test_a_plain_function_updates_the_arrays_of_another() -> None:
    @traceir_numba.jit
    def add_one(x: Any) -> None:
        x += 1

    @traceir_numba.jit
    def several(x: Any) -> Any:
        made = np.zeros(3)
        add_one(made)
        add_one(made[1:])
        add_one(x)
        return made

    x = V.copy()
    assert several(x).tolist() == [1, 2, 2]
    assert x.tolist() == (V + 1).tolist()


def helper(x: Any) -> Any:
    """A function of the same module: it makes arrays of the trace, too."""
    out = zeros(x.shape)
    out[x > 0] = 1
    return out


def setting(x: Any) -> Any:
    """It sets a global, once."""
    global COUNT
    COUNT = COUNT or 7
    return helper(x)


def importing(x: Any) -> Any:
    """It imports NumPy itself."""
    import numpy

    out = numpy.ones(4)
    out *= x
    return out


class Holder:
    """A method, and state that is read."""

    scale = 3.0

    def scaled(self, x: Any) -> Any:
        """The array, scaled by what the object has."""
        out = np.empty_like(x)
        out[:] = x * self.scale
        return out


def keyword(x: Any, *, factor: float = 2.0) -> Any:
    """It has a default."""
    out = np.full(4, factor)
    out += x
    return out


@pytest.mark.parametrize(
    "function",
    [
        setting,
        importing,
        Holder().scaled,
        functools.partial(keyword, factor=1.5),
        keyword,
        lambda x: helper(x) + 1,
        lambda x: [row * 2 for row in x.reshape(2, 2)],
        lambda x: sum(k * v for k, v in enumerate(x)),
        lambda x: {"low": x.min(), "both": (x.argmin(), x.argmax())},
        lambda x: np.mean([x[0], x[1], 2.0]),
        lambda x: np.array([[x[0], 1], [2, x[1]]]),
        lambda x: np.maximum(x, [0, 1, 2, 3]),
        lambda x: x * [1, 2, 3, 4],
        lambda x: [1.0, 2.0, 3.0, 4.0] - x,
        lambda x: np.add.reduce(x) + np.multiply.reduce(x),
        lambda x: np.maximum.accumulate(x) - np.add.accumulate(x),
        lambda x: np.subtract.outer(x, x),
        lambda x: np.hypot.reduce(x),
        lambda x: np.add(x, 1, where=x > 0, out=np.zeros(4)),
        lambda x: np.divmod(x, 3)[0] + np.modf(x)[1],
        lambda x: np.sqrt(x, where=x > 0, out=x.copy()),
        lambda x: np.add(x.astype("f4"), 1, dtype="f8"),
        lambda x: np.where(np.arange(4) % 2 == 0, x, np.arange(4)),
        lambda x: np.full_like(x, x[1]),
        lambda x: np.linspace(0, x[2], 5),
        lambda x: np.concatenate([x, np.arange(3)]),
        lambda x: np.stack([x, np.arange(4)], axis=-1),
        lambda x: x.astype(int) // 2,
        lambda x: x.astype("i1") + 1,
        lambda x: np.sin(x.astype("i1")),
        lambda x: np.sqrt(x > 0),
        lambda x: abs(x).astype("u1") * -1.0,
        lambda x: abs(x).astype("u1") < 300,
        lambda x: x.reshape(2, -1).T.copy().ravel(),
        lambda x: x.flatten()[::2],
        lambda x: np.atleast_2d(x) @ x,
        lambda x: np.split(x, 2),
        lambda x: np.array_split(x, 3),
        lambda x: x.item(2) + x.dot(x),
        lambda x: np.ndim(x) + np.size(x) + len(np.shape(x)),
        lambda x: np.sort(x)[::-1],
        lambda x: x.clip(0, 1).round(1),
        lambda x: (x > 0).all() | (x > 0).any(),
        lambda x: x[np.array([True, False, True, True])],
        lambda x: x[[0, 2]] + x[[1, 3]],
        lambda x: x[x.argmax()],
        lambda x: x[x > 0].sum() / x[x > 0].size,
        lambda x: np.power(2.0, x) + 2**x + x**0.5,
    ],
    ids=lambda f: getattr(f, "__name__", "partial"),
)
def test_what_python_and_numpy_offer(function: Callable[..., Any]) -> None:
    with np.errstate(invalid="ignore"):
        wanted = traceir.tree.leaves(function(V.copy()))
    found = traceir.tree.leaves(traceir_numba.jit(function)(V.copy()))
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, 1e-12)


UPDATES: list[Callable[[Any], Any]] = [
    lambda x: x.sort(),
    lambda x: x.fill(2),
    lambda x: x.put([0, 2], [5, 6]),
    lambda x: np.copyto(x, 3, where=x > 0),
    lambda x: np.add.at(x, [0, 0, 1], 1),
    lambda x: np.negative.at(x, [0, 2]),
    lambda x: np.cumsum(x, out=x),
    lambda x: np.clip(x, 0, 1, out=x),
    lambda x: x.__setitem__([1, 3], x[[3, 1]]),
    lambda x: x.__setitem__(x > 1, x[x > 1] ** 2),
    lambda x: x.__setitem__(slice(None, None, -2), [7, 8]),
    lambda x: x.reshape(2, 2).T.__setitem__(0, 9),
    lambda x: x[1:].__iadd__(x[:-1]),
    lambda x: np.flip(x).__setitem__(0, 1),
    lambda x: x[:, None].__setitem__((slice(2), 0), 4),
    lambda x: x.__setitem__(x.argmax(), 0),
]


@pytest.mark.parametrize("number", range(len(UPDATES)))
def test_updates_of_an_argument(number: int) -> None:
    given, plain = V.copy(), V.copy()
    traceir_numba.jit(UPDATES[number])(given)
    UPDATES[number](plain)
    assert given.tolist() == plain.tolist()


def test_arrays_of_a_plain_function_are_what_jnp_takes() -> None:
    def mixed(x: Any) -> Any:
        out = np.zeros(4)
        out[:2] = jnp.tanh(x[:2])
        before = jnp.sum(out)
        out += 1
        return before, jnp.sum(out), traceir.jit(jnp.cos)(out)

    before, after, cosines = traceir_numba.jit(mixed)(V)
    np.testing.assert_allclose(after, before + 4)
    np.testing.assert_allclose(cosines[2:], np.cos([1, 1]))


def test_a_loop_of_updates_is_traced_in_linear_size() -> None:
    def recurrence(x: Any) -> Any:
        y = np.zeros(len(x))
        for k in range(1, len(x)):
            y[k] = 0.5 * y[k - 1] + x[k]
        return y

    sizes = [
        len(traceir_numba.jit(recurrence).trace(np.ones(n)).jaxpr.jaxpr.eqns)
        for n in (10, 20, 40)
    ]
    assert sizes[2] - sizes[1] == 2 * (sizes[1] - sizes[0])


def test_a_global_that_is_set_while_tracing_is_set() -> None:
    global COUNT
    COUNT = 0
    traceir_numba.jit(lambda x: setting(x))(V)
    assert COUNT == 7


def test_numpy_is_as_it_was() -> None:
    traceir_numba.jit(helper)(V)
    assert type(np.zeros(3)) is np.ndarray
    assert type(helper(V)) is np.ndarray


def test_without_jit_a_plain_function_is_plain() -> None:
    with traceir.disable_jit():
        assert type(traceir_numba.jit(helper)(V)) is np.ndarray


def test_hits_write_to_other_arguments_and_orders_of_memory() -> None:
    @traceir_numba.jit
    def clear(table: Any, *, row: Any) -> Any:
        table[row] = 0
        return table.sum()

    tables = [np.ones((3, 4)), np.ones((4, 3)).T, np.ones((6, 8))[::2, ::2]]
    for k, table in enumerate(3 * tables):
        table[...] = 1
        assert clear(table, row=k % 3) == 8
        assert table.sum() == 8 and table[k % 3].sum() == 0
    assert clear.cache_info().misses == 1


@pytest.mark.parametrize("x", [3.0, np.float32(3), np.float64(3)])
def test_the_gradient_of_a_wider_result(x: Any) -> None:
    """A plain function that returns a float64 to a face that has none of its own."""

    def turns(x: Any) -> Any:
        s = 0.0
        for i in range(20):
            s = s + x * x * i
        return s

    for f, slope in ((lambda x: x * x + 1, 6), (turns, 1140)):
        plain = traceir_numba.jit(f)
        for call in (traceir.grad(plain), traceir.jit(traceir.grad(plain))):
            assert float(call(x)) == slope
        assert float(traceir.value_and_grad(plain)(x)[1]) == slope
