"""Indices of every kind against NumPy: reads, updates, traced, mapped, differentiated.

Cites element.order, element.outside, element.update, element.negative, element.together
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.test_util import check_grads

SHAPES = [(3, 2, 4), (4,), (1, 3), (2, 0, 3), (2, 2, 1)]


@st.composite
def indices(draw: st.DrawFn, shape: tuple[int, ...], masks: bool) -> tuple[Any, ...]:
    """An index with arrays of ints, and with `masks` of booleans, that NumPy takes."""
    together = draw(st.sampled_from([(), (1,), (2,), (2, 3), (0,), (3, 1)]))
    parts: list[Any] = []
    dim = 0
    while dim < len(shape) and draw(st.integers(0, 5)):
        extent = shape[dim]
        kinds = ["slice", "slice", "array", "array", "int"] + ["mask"] * masks
        kind = draw(st.sampled_from(kinds if extent else ["slice", "slice"]))
        if kind == "slice":
            bound = st.none() | st.integers(-extent - 1, extent + 1)
            step = st.sampled_from([None, None, 1, 2, -1, -2])
            parts.append(draw(st.builds(slice, bound, bound, step)))
        elif kind == "int":
            parts.append(draw(st.integers(-extent, extent - 1)))
        elif kind == "mask":
            parts.append(
                np.array(
                    draw(st.lists(st.booleans(), min_size=extent, max_size=extent))
                )
            )
        else:
            lead = draw(st.integers(0, len(together)))
            size = int(np.prod(together[lead:]))
            places = st.lists(
                st.integers(-extent, extent - 1), min_size=size, max_size=size
            )
            parts.append(np.array(draw(places), "int32").reshape(together[lead:]))
        dim += 1
    if draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts))), None)
    if dim == len(shape) and draw(st.integers(0, 3)) == 0:
        parts.insert(draw(st.integers(0, len(parts))), Ellipsis)
    return tuple(parts)


def numbered(shape: tuple[int, ...]) -> np.ndarray:
    """An array of different numbers."""
    return np.arange(np.prod(shape), dtype="float32").reshape(shape) - 4


def taken(shape: tuple[int, ...], index: tuple[Any, ...]) -> np.ndarray | None:
    """NumPy's result of a read, or None where it refuses: masks of different counts."""
    try:
        return numbered(shape)[index]
    except IndexError:
        return None


def split(index: tuple[Any, ...]) -> tuple[list[Any], Any]:
    """The arrays of an index, and a function of them that gives the index again."""
    arrays = [jnp.asarray(p) for p in index if isinstance(p, np.ndarray) and p.ndim]

    def joined(given: list[Any]) -> tuple[Any, ...]:
        left = iter(given)
        return tuple(
            next(left) if isinstance(p, np.ndarray) and p.ndim else p for p in index
        )

    return arrays, joined


@given(st.data())
def test_reading_is_that_of_numpy(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(SHAPES))
    index = data.draw(indices(shape, masks=True))
    wanted = taken(shape, index)
    x = jnp.asarray(numbered(shape))
    if wanted is None:
        with pytest.raises(IndexError):
            x[index]
        return
    masked = any(isinstance(p, np.ndarray) and p.dtype == bool for p in index)
    arrays, joined = split(index)
    found = [x[index], x.at[index].get(), x.at[index].get(mode="fill")]
    found.append(traceir.jit(lambda x: x[index], backend="reference")(x))
    if not masked:
        staged = traceir.jit(lambda x, g: x[joined(g)], backend="reference")
        found.append(staged(x, arrays))
    for got in found:
        np.testing.assert_array_equal(got, wanted)
        assert got.shape == wanted.shape


UPDATES = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}


@given(st.data())
def test_updating_is_that_of_numpy(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(SHAPES))
    index = data.draw(indices(shape, masks=True))
    read = taken(shape, index)
    if read is None:
        return
    values = np.arange(read.size, dtype="float32").reshape(read.shape) / 2 + 1
    name = data.draw(st.sampled_from(["set", *UPDATES]))
    wanted = numbered(shape)
    if name == "set":
        # The last of several stays, in the order of the index.
        places = np.arange(wanted.size).reshape(shape)[index]
        for place, value in zip(places.reshape(-1), values.reshape(-1), strict=True):
            wanted.reshape(-1)[place] = value
    else:
        UPDATES[name].at(wanted, index, values)
    x = jnp.asarray(numbered(shape))

    def update(x: Any, values: Any) -> Any:
        return getattr(x.at[index], name)(values)

    staged = traceir.jit(update, backend="reference")
    for got in (update(x, values), staged(x, values)):
        np.testing.assert_allclose(got, wanted, rtol=1e-5)


@given(st.data())
def test_a_batch_of_indices_is_each_of_them(data: st.DataObject) -> None:
    x = jnp.asarray(numbered((3, 2, 4)))
    first = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=6, max_size=6)))
    second = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=6, max_size=6)))
    i = jnp.asarray(first.astype("int32").reshape(2, 3))
    j = jnp.asarray(second.astype("int32").reshape(2, 3))
    batch = jnp.stack([x, x + 1])

    def read(x: Any, i: Any, j: Any) -> Any:
        return x[i, :, j], x[0, :, j[0]], x.at[i].get(mode="fill", fill_value=0)

    def write(x: Any, i: Any, j: Any) -> Any:
        return x.at[i, :, j].add(1.0), x.at[:, 1, j].set(0.5, mode="clip")

    for f in (read, write):
        mapped = traceir.vmap(f)(batch, i, j)
        shared = traceir.vmap(f, in_axes=(None, 0, 0))(x, i, j)
        for k in range(2):
            for got, want in zip(mapped, f(batch[k], i[k], j[k]), strict=True):
                np.testing.assert_array_equal(got[k], want)
            for got, want in zip(shared, f(x, i[k], j[k]), strict=True):
                np.testing.assert_array_equal(got[k], want)


PLACES = jnp.array([2, 0, 2, 5, -1])
SINGLE = jnp.array([2, 0, 5])
DERIVED = {
    "read": lambda x, y: x[PLACES] * y[:, None],
    "filled": lambda x, y: x.at[PLACES].get(mode="fill", fill_value=3) * y[:, None],
    "set": lambda x, y: x.at[PLACES, 1].set(y) ** 2,
    "set, unique": lambda x, y: x.at[SINGLE, 1].set(y[:3], unique_indices=True) ** 2,
    "set, clipped": lambda x, y: x.at[PLACES, 1].set(y, mode="clip") ** 2,
    "add": lambda x, y: x.at[PLACES, 1].add(y) ** 2,
    "subtract": lambda x, y: x.at[PLACES, 1].subtract(y) ** 2,
    "multiply": lambda x, y: x.at[SINGLE, 1].multiply(y[:3], unique_indices=True),
    "min": lambda x, y: x.at[PLACES, 1].min(y) ** 2,
    "max": lambda x, y: x.at[PLACES, 1].max(y) ** 2,
    "a slice": lambda x, y: x.at[1:, ::2].set(y[:2]) ** 2,
    "a traced place": lambda x, y: x[PLACES[0]] * y[PLACES[1]],
    "along an axis": lambda x, y: (
        jnp.take_along_axis(x, PLACES[None, :4] % 3, 0) * y[0]
    ),
}


@pytest.mark.parametrize("name", DERIVED)
@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_derivatives_are_those_of_differences(name: str, mode: str) -> None:
    x = jnp.array([[0.5, -1.25, 2.0, 0.75], [1.5, 0.25, -0.5, 3.0], [-2.0, 1.75, 1, 4]])
    y = jnp.array([0.3, -2.2, 2.6, 1.1, -0.7])
    with traceir.enable_x64(True):
        args = (x.astype("float64"), y.astype("float64"))
        check_grads(
            lambda *xs: DERIVED[name](*map(jnp.asarray, xs)), args, 1, modes=[mode]
        )


def test_elements_that_are_equally_small_share_a_derivative() -> None:
    def least(x: Any, y: Any) -> Any:
        return x.at[jnp.array([0, 0, 1])].min(y)

    x, y = jnp.array([1.0, 5.0]), jnp.array([1.0, 1.0, 2.0])
    _, pull = traceir.vjp(least, x, y)
    of_x, of_y = pull(jnp.array([3.0, 7.0]))
    assert of_x.tolist() == [1.0, 0.0]
    assert of_y.tolist() == [1.0, 1.0, 7.0]


def test_a_product_of_several_updates_has_no_derivative() -> None:
    def product(y: Any) -> Any:
        return jnp.ones(2).at[jnp.array([0, 0])].multiply(y).sum()

    with pytest.raises(NotImplementedError, match="scatter-mul"):
        traceir.grad(product)(jnp.ones(2))


def test_negative_places_can_be_outside() -> None:
    x, i = jnp.arange(3), jnp.array([-1, 1])
    got = x.at[i].set(9, wrap_negative_indices=False)
    assert got.tolist() == [0, 9, 2]
    found = x.at[i].get(mode="fill", fill_value=7, wrap_negative_indices=False)
    assert found.tolist() == [7, 1]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_places_of_every_dtype(dtype: str) -> None:
    with traceir.enable_x64(True):
        i = jnp.array([2, 0, 100], dtype=dtype)
        read = traceir.jit(lambda x, i: (x[i], x[i[0]]), backend="reference")
        several, one = read(jnp.arange(3.0), i)
        assert several.tolist() == [2.0, 0.0, 2.0]
        assert one == 2.0


LISTS = {
    "beside an int": lambda x: x[1, [0, 1]],
    "alone in a tuple": lambda x: x[[1, 0],],
    "two": lambda x: x[[0, 1], [1, 2]],
    "a tuple": lambda x: x[:, (0, 2)],
    "empty": lambda x: x[1, []],
    "of bools": lambda x: x[1, [True, False, True]],
    "nested": lambda x: x[1, [[0, 1], [2, 0]]],
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_among_entries_is_an_array(name: str) -> None:
    values, read = np.arange(6.0, dtype="float32").reshape(2, 3), LISTS[name]
    for run in (read, traceir.jit(read)):
        np.testing.assert_array_equal(run(jnp.array(values)), read(values))


def test_a_list_of_traced_places_is_an_array() -> None:
    x = jnp.arange(6.0).reshape(2, 3)
    found = traceir.jit(lambda i: x[1, [i, 0]])(2)
    np.testing.assert_array_equal(found, [5.0, 3.0])
    changed = x.at[:, [0, 2]].set(9.0)
    np.testing.assert_array_equal(changed, [[9.0, 1.0, 9.0], [9.0, 4.0, 9.0]])


def test_a_list_alone_is_no_index() -> None:
    with raises_rule("index.type", TypeError, r"\[0, 1\]"):
        jnp.arange(3)[[0, 1]]


@pytest.mark.parametrize("index", [0, -1, 5, (0, slice(None)), (0, None)])
def test_no_element_can_be_written_where_there_is_none(index: Any) -> None:
    x = jnp.zeros((0, 3))
    for run in (lambda v: v.at[index].set(1), lambda v: v.at[index].get(mode="fill")):
        for way in (run, traceir.jit(run)):
            with raises_rule("index.empty", IndexError, r"\(0, 3\)"):
                way(x)
