"""The Array API standard on shapes, places, order and sets of elements."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import standard
from execution_modes import WAYS, runner
from rule_errors import raises_rule

import traceir.numpy as jnp
from traceir.base.config import enable_x64

DTYPES = standard.KINDS["all"]
REAL = standard.KINDS["real"]
COMPLEX = standard.KINDS["complex"]
# Compiled code is made of a dtype of each kind.
COMPILED = ("bool", "int8", "uint64", "float32", "complex64")
WIDTHS = {"index": "int64", "place": "int32"}
TABLE = np.array([[3, 1, 2, 1], [0, 2, 2, 5], [1, 0, 4, 4]])
PLACES = np.array([2, 0, 0])
COLUMNS = np.array([[1, 1], [3, 0], [2, 2]])
Call = Callable[[Any, Any], Any]


def table(dtype: str) -> np.ndarray:
    """The table in a dtype; of complex numbers with other numbers as second parts."""
    return (TABLE + 1j * TABLE[::-1] if dtype in COMPLEX else TABLE).astype(dtype)


# With dtypes as the standard has them: "same", or "index" for places and counts; and
# "place" for those of `searchsorted`, which are int32, as JAX's are.
CALLS: dict[str, tuple[str, Call]] = {
    "broadcast_arrays": ("same", lambda xp, x: list(xp.broadcast_arrays(x, x[:, :1]))),
    "broadcast_to": ("same", lambda xp, x: xp.broadcast_to(x, (2, 3, 4))),
    "concat": ("same", lambda xp, x: xp.concat([x, x[:, :0], x[:, 1:]], axis=-1)),
    "concat flat": ("same", lambda xp, x: xp.concat((x, x[0]), axis=None)),
    "expand_dims": ("same", lambda xp, x: xp.expand_dims(x, axis=-1)),
    "expand_dims first": ("same", lambda xp, x: xp.expand_dims(x, axis=-3)),
    "flip": ("same", lambda xp, x: xp.flip(x)),
    "flip axes": ("same", lambda xp, x: xp.flip(x[None], axis=(0, -1))),
    "moveaxis": ("same", lambda xp, x: xp.moveaxis(x[None], (0, 1), (-1, 0))),
    "permute_dims": ("same", lambda xp, x: xp.permute_dims(x[None], (2, 0, 1))),
    "repeat": ("same", lambda xp, x: xp.repeat(x, 2)),
    "repeat axis": ("same", lambda xp, x: xp.repeat(x, 3, axis=-1)),
    "reshape": ("same", lambda xp, x: xp.reshape(x, (2, -1), copy=True)),
    "reshape to rank 0": ("same", lambda xp, x: xp.reshape(x[:1, :1], ())),
    "roll": ("same", lambda xp, x: xp.roll(x, 5)),
    "roll axes": ("same", lambda xp, x: xp.roll(x, (1, -2), axis=(0, 1))),
    "roll one shift": ("same", lambda xp, x: xp.roll(x, -1, axis=(0, 1))),
    "squeeze": ("same", lambda xp, x: xp.squeeze(x[None, :, None], axis=(0, 2))),
    "stack": ("same", lambda xp, x: xp.stack([x, x], axis=-1)),
    "tile": ("same", lambda xp, x: xp.tile(x, (2, 1, 2))),
    "tile few": ("same", lambda xp, x: xp.tile(x[None], (2,))),
    "unstack": ("same", lambda xp, x: tuple(xp.unstack(x, axis=-1))),
    "tril": ("same", lambda xp, x: xp.tril(x, k=-1)),
    "meshgrid": ("same", lambda xp, x: list(xp.meshgrid(x[0], x[:, 0]))),
    "meshgrid ij": (
        "same",
        lambda xp, x: list(xp.meshgrid(x[0], x[:, 0], indexing="ij")),
    ),
    "take": ("same", lambda xp, x: xp.take(x, xp.asarray(PLACES), axis=0)),
    "take_along_axis": (
        "same",
        lambda xp, x: xp.take_along_axis(x, xp.asarray(COLUMNS), axis=-1),
    ),
    "where": ("same", lambda xp, x: xp.where(xp.asarray(TABLE > 1), x, x[0])),
    "sort": ("same", lambda xp, x: xp.sort(x, stable=True)),
    "sort axis": ("same", lambda xp, x: xp.sort(x, axis=0)),
    "argsort": ("index", lambda xp, x: xp.argsort(x, stable=True)),
    "argsort axis": ("index", lambda xp, x: xp.argsort(x, axis=0, stable=True)),
    "argmax": ("index", lambda xp, x: xp.argmax(x)),
    "argmax axis": ("index", lambda xp, x: xp.argmax(x, axis=-1, keepdims=True)),
    "argmin": ("index", lambda xp, x: xp.argmin(x, axis=0)),
    "count_nonzero": ("index", lambda xp, x: xp.asarray(xp.count_nonzero(x))),
    "count_nonzero axes": (
        "index",
        lambda xp, x: xp.count_nonzero(x, axis=(0, 1), keepdims=True),
    ),
    "searchsorted": ("place", lambda xp, x: xp.searchsorted(xp.sort(x[0]), x)),
    "searchsorted right": (
        "place",
        lambda xp, x: xp.searchsorted(xp.sort(x[0]), x, side="right"),
    ),
    "searchsorted sorter": (
        "place",
        lambda xp, x: xp.searchsorted(x[0], x, sorter=xp.argsort(x[0])),
    ),
}


def takes(name: str, dtype: str) -> bool:
    """True if a call is said to take a dtype: complex numbers have no order."""
    ordered = name.startswith(("sort", "argsort", "argmax", "argmin", "searchsorted"))
    return dtype not in COMPLEX or not ordered


@cache
def called(way: str) -> dict[str, dict[str, Any]]:
    """The results of all calls with all dtypes, in one program."""

    def f(xs: dict[str, Any]) -> dict[str, dict[str, Any]]:
        calls = ((name, call) for name, (_, call) in CALLS.items())
        return {
            name: {d: call(jnp, x) for d, x in xs.items() if takes(name, d)}
            for name, call in calls
        }

    with enable_x64():
        chosen = COMPILED if way == "numba" else DTYPES
        return runner(way)(f, {d: jnp.asarray(table(d)) for d in chosen})


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_what_numpy_gives(name: str, way: str) -> None:
    kind, call = CALLS[name]
    for dtype, found in called(way)[name].items():
        want = call(np, table(dtype))
        several = isinstance(want, (list, tuple))
        assert several == isinstance(found, (list, tuple))
        pairs = zip(found, want, strict=True) if several else [(found, want)]
        for one, other in pairs:
            assert one.dtype == WIDTHS.get(kind, dtype)
            assert one.shape == other.shape
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", REAL)
def test_descending_orders_are_stable(dtype: str, way: str) -> None:
    def f(x: Any) -> tuple[Any, Any]:
        return jnp.sort(x, descending=True), jnp.argsort(x, axis=0, descending=True)

    with enable_x64():
        values, places = runner(way)(f, jnp.asarray(TABLE, dtype))
    np.testing.assert_array_equal(values, -np.sort(-TABLE, axis=-1))
    np.testing.assert_array_equal(places, np.argsort(-TABLE, axis=0, stable=True))


@pytest.mark.parametrize("dtype", DTYPES)
def test_places_of_what_is_not_zero(dtype: str) -> None:
    with enable_x64():
        found = jnp.nonzero(jnp.asarray(TABLE, dtype))
        for one, other in zip(found, np.nonzero(TABLE), strict=True):
            assert one.dtype == "int64"
            np.testing.assert_array_equal(one, other)
        repeated = jnp.repeat(jnp.asarray(TABLE[0], dtype), jnp.asarray([2, 0, 1, 3]))
        assert repeated.dtype == dtype
        want = np.repeat(TABLE[0].astype(dtype), [2, 0, 1, 3])
        np.testing.assert_array_equal(repeated, want)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_sets_of_elements(dtype: str) -> None:
    elements = table(dtype)
    values, first, back, counts = np.unique(elements, True, True, True)
    with enable_x64():
        x = jnp.asarray(elements)
        every, counted = jnp.unique_all(x), jnp.unique_counts(x)
        inverse, alone = jnp.unique_inverse(x), jnp.unique_values(x)
    assert every._fields == ("values", "indices", "inverse_indices", "counts")
    assert counted._fields == ("values", "counts")
    assert inverse._fields == ("values", "inverse_indices")
    for found in (every.values, counted.values, inverse.values, alone):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, values)
    for found, want in (
        (every.indices, first),
        (every.inverse_indices, back.reshape(3, 4)),
        (every.counts, counts),
        (counted.counts, counts),
        (inverse.inverse_indices, back.reshape(3, 4)),
    ):
        assert found.dtype == "int64"
        np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nans_are_distinct_and_zeros_are_not(dtype: str) -> None:
    with enable_x64():
        x = jnp.asarray([np.nan, 0.0, -0.0, np.nan, 1.0], dtype)
        every = jnp.unique_all(x)
        assert every.counts.tolist() == [2, 1, 1, 1]
        assert jnp.unique_counts(x).counts.tolist() == [2, 1, 1, 1]
        for values in (every.values, jnp.unique_values(x), jnp.unique_inverse(x)[0]):
            assert values.tolist()[:2] == [0.0, 1.0] and values.shape == (4,)
            assert np.isnan(values.tolist()[2:]).all()


def test_dtypes_meet_where_arrays_are_joined() -> None:
    with enable_x64():
        for (a, b), want in standard_pairs():
            x, y = jnp.ones(2, a), jnp.ones(2, b)
            assert jnp.concat([x, y]).dtype == jnp.stack([x, y]).dtype == want
            assert jnp.where(x > 0, x, y).dtype == want
            assert jnp.where(x > 0, x, 1).dtype == a


def standard_pairs() -> list[tuple[tuple[str, str], str]]:
    """Pairs of numeric dtypes of one kind, and the dtype in which they meet."""
    kinds = (standard.KINDS["integer"], standard.KINDS["floating"])
    pairs = [(a, b) for kind in kinds for a in kind for b in kind]
    met = [(pair, np.promote_types(*pair)) for pair in pairs]
    return [(p, m.name) for p, m in met if m.kind != "f" or p[0].startswith("f")]


X = TABLE
BAD: list[tuple[str, type[Exception], Callable[[], Any]]] = [
    ("face.broadcast-to", ValueError, lambda: jnp.broadcast_to(X, (3,))),
    ("face.axis", ValueError, lambda: jnp.expand_dims(X, 4)),
    ("face.axis-one", ValueError, lambda: jnp.squeeze(X, 0)),
    ("face.axis", ValueError, lambda: jnp.stack([X, X], axis=3)),
    ("face.axis", ValueError, lambda: jnp.unstack(X, axis=2)),
    ("face.axis", ValueError, lambda: jnp.diff(X, axis=2)),
    ("face.axis", ValueError, lambda: jnp.sum(X, axis=2)),
    ("face.axis", ValueError, lambda: jnp.all(X, axis=-3)),
    ("face.axis", ValueError, lambda: jnp.sort(X, axis=2)),
    ("face.least-rank", ValueError, lambda: jnp.nonzero(np.array(1))),
]


@pytest.mark.parametrize(("rule", "error", "act"), BAD, ids=range(len(BAD)))
def test_what_the_standard_refuses(
    rule: str, error: type[Exception], act: Callable[[], Any]
) -> None:
    with raises_rule(rule, error):
        act()
