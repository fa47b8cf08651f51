"""Indexing and `.at[]` against NumPy.

Rules: element.outside, element.update, index.*, update.*
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp

SHAPE = (3, 1, 5)
VALUES = np.arange(15, dtype="float32").reshape(SHAPE) - 4


FORWARD = st.none() | st.integers(1, 3)
ANY = FORWARD | st.integers(-3, -1)


def entries(extent: int, step: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An int inside a dimension, or a slice with a step."""
    bound = st.none() | st.integers(-extent - 2, extent + 2)
    return st.integers(-extent, extent - 1) | st.builds(slice, bound, bound, step)


@st.composite
def indices(draw: st.DrawFn, step: st.SearchStrategy[Any]) -> tuple[Any, ...]:
    """A basic index of an array of `SHAPE`."""
    rank = draw(st.integers(0, len(SHAPE)))
    parts: list[Any] = [draw(entries(extent, step)) for extent in SHAPE[:rank]]
    if draw(st.booleans()):
        place = draw(st.integers(0, rank))
        after = [draw(entries(e, step)) for e in SHAPE[place + len(SHAPE) - rank :]]
        parts = [*parts[:place], Ellipsis, *after]
    for _ in range(draw(st.integers(0, 2))):
        parts.insert(draw(st.integers(0, len(parts))), None)
    return tuple(parts)


@given(indices(ANY))
def test_reading_is_that_of_numpy(index: tuple[Any, ...]) -> None:
    wanted = VALUES[index]
    x = jnp.asarray(VALUES)
    staged = traceir.jit(lambda x: x[index], backend="reference")
    for got in (x[index], x.at[index].get(), staged(x)):
        np.testing.assert_array_equal(got, wanted)
        assert got.shape == wanted.shape


OPERATIONS = {
    "set": lambda old, new: new,
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "min": np.minimum,
    "max": np.maximum,
}


@given(indices(FORWARD), st.sampled_from(sorted(OPERATIONS)), st.booleans())
def test_updating_is_that_of_numpy(
    index: tuple[Any, ...], name: str, scalar: bool
) -> None:
    shape = VALUES[index].shape
    size = int(np.prod(shape))
    new = np.float32(2.5) if scalar else np.arange(size, dtype="f").reshape(shape) + 1
    wanted = VALUES.copy()
    wanted[index] = OPERATIONS[name](wanted[index], new)
    x = jnp.asarray(VALUES)

    def update(x: Any, new: Any) -> Any:
        return getattr(x.at[index], name)(new)

    staged = traceir.jit(update, backend="reference")
    for got in (update(x, new), staged(x, new)):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
        assert got.dtype == np.float32
    np.testing.assert_array_equal(x, VALUES)


def test_a_read_outside_gives_the_nearest_element() -> None:
    x = jnp.arange(4)
    assert [x[k].item() for k in (10, -10, 3, -4)] == [3, 0, 3, 0]
    assert x[2:100].tolist() == [2, 3]
    assert x[np.array([1, 10, -9, -1])].tolist() == [1, 3, 0, 3]


def test_an_update_outside_is_left_out() -> None:
    x = jnp.arange(4)
    assert x.at[10].set(9).tolist() == [0, 1, 2, 3]
    assert x.at[-5].add(9).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "index",
    [
        np.s_[::-1],
        np.s_[2:0:-1, 0],
        np.s_[np.array([0, 2])],
        np.s_[np.array([[0, 2], [-1, 1]]), 0, 1:3],
        np.s_[VALUES > 0],
        np.s_[VALUES[:, 0, 0] > 0],
        np.s_[VALUES[:, 0, 0] > 0, 0],
        np.s_[None, ..., VALUES[0, 0] > -3],
        np.s_[True],
        np.s_[np.array(1)],
        np.s_[np.int64(1), np.uint8(0)],
    ],
    ids=str,
)
def test_masks_and_arrays_select_from_concrete_arrays(index: Any) -> None:
    wanted = VALUES[index]
    parts = index if isinstance(index, tuple) else (index,)
    ours = tuple(
        jnp.asarray(part) if isinstance(part, np.ndarray) else part for part in parts
    )
    for got in (jnp.asarray(VALUES)[index], jnp.asarray(VALUES)[ours]):
        np.testing.assert_array_equal(got, wanted)
        assert type(got) is traceir.Array


def test_a_number_made_in_a_trace_is_an_index() -> None:
    closed = traceir.make_jaxpr(lambda x: x[jnp.int32(1)])(jnp.arange(3))
    assert [eqn.primitive for eqn in closed.eqns] == ["slice", "squeeze"]


@pytest.mark.parametrize("rank", [1, 3])
def test_a_mask_updates_if_it_is_known(rank: int) -> None:
    def f(x: Any) -> Any:
        mask = x > 2 if rank == 3 else x[:, 0, 0] > 2
        return x.at[mask].multiply(10)

    wanted = VALUES.copy()
    wanted[VALUES > 2 if rank == 3 else VALUES[:, 0, 0] > 2] *= 10
    x = jnp.asarray(VALUES)
    np.testing.assert_array_equal(f(x), wanted)
    with raises_rule("index.mask", IndexError):
        traceir.jit(f, backend="reference")(x)


def test_a_mask_of_what_is_differentiated_is_known() -> None:
    slope = traceir.grad(lambda x: x.at[x > 2].multiply(10).sum())(jnp.array([1.0, 3]))
    assert slope.tolist() == [1, 10]


def test_other_updates() -> None:
    x = jnp.array([1.0, 2.0, 3.0])
    assert x.at[1].power(3).tolist() == [1, 8, 3]
    assert x.at[:2].apply(jnp.negative).tolist() == [-1, -2, 3]
    assert x.at[0].mul(5).tolist() == [5, 2, 3]
    assert jnp.arange(3, dtype="uint8").at[0].set(300).tolist() == [44, 1, 2]
    assert (jnp.arange(3) > 0).at[0].set(True).tolist() == [True] * 3


def test_an_update_keeps_dtype_and_weakness() -> None:
    for x in (jnp.arange(3), jnp.full((3,), 1.5), jnp.full((3,), 2)):
        assert x.at[0].set(1).aval is x.aval


def test_an_update_that_loses_a_fraction_warns() -> None:
    with pytest.warns(FutureWarning, match="float32.*int32") as caught:
        assert jnp.arange(3).at[0].set(2.5).tolist() == [2, 1, 2]
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jnp.ones(3).at[0].set(2)


LONG = np.arange(300, dtype="float32")


@pytest.mark.parametrize("backend", ["reference", "numba"])
@pytest.mark.parametrize(
    ("dtype", "place"), [("int8", -1), ("int16", -2), ("uint8", 9)]
)
def test_a_narrow_place_counts_from_the_end_of_a_long_array(
    dtype: str, place: int, backend: str
) -> None:
    at = np.dtype(dtype).type(place)
    expected = LONG[place]

    def every(x: Any, i: Any) -> list[Any]:
        lax = traceir.lax
        pair = jnp.stack([i, i])
        return [
            *(x[i], x[pair][0], x[None][0, i], x.at[i].get(mode="fill")),
            *(jnp.take(x, i), jnp.take(x, i, mode="wrap"), jnp.take(x, pair)[0]),
            *(
                x.at[i].add(1000.0).max() - 1000,
                x.at[pair].set(-1.0).min() + i * 0 + x[i] + 1,
            ),
            jnp.argmax(x.at[i].set(999.0)),
            jnp.take_along_axis(x, pair, 0)[0],
            lax.dynamic_index_in_dim(x, i, keepdims=False),
            lax.dynamic_slice(x[None], (i * 0, i), (1, 1))[0, 0],
        ]

    found = traceir.jit(every, backend=backend)(LONG, at)
    assert [float(v) for v in found] == [float(expected)] * len(found)
    assert [float(v) for v in every(jnp.asarray(LONG), jnp.asarray(at))] == [
        float(expected)
    ] * len(found)
