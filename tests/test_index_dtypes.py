"""Places of every integer dtype in arrays of any length, against NumPy.

What 2**31 elements are for int32, 300 are for int8: arithmetic with extents is one, so
narrow places show it in small arrays. Of long arrays the programs are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from soak import SOAK

import traceir
import traceir.numpy as jnp
from traceir import lax

X = np.arange(300, dtype=np.int32)
M = np.arange(600, dtype=np.int32).reshape(2, 300)
ROWS = np.arange(1500, dtype=np.int32).reshape(300, 5)
LONG = 2**31 + 10
Made = Callable[[Any], Any]


def written(x: np.ndarray, places: Any) -> np.ndarray:
    """A copy with -5 at places."""
    found = x.copy()
    found[places] = -5
    return found


def slid(x: Any, i: Any) -> Any:
    return lax.dynamic_slice(x, (i,), (2,))


def each_row(i: Any) -> Any:
    return jnp.resize(i, 300)


# What a function makes of several places, and what NumPy makes of them as int64.
SEVERAL: dict[str, tuple[Made, Made]] = {
    "x[i]": (lambda i: jnp.asarray(X)[i], lambda i: X[i]),
    "m[1, i]": (lambda i: jnp.asarray(M)[1, i], lambda i: M[1, i]),
    "m[::-1, i]": (lambda i: jnp.asarray(M)[::-1, i], lambda i: M[::-1, i]),
    "set": (lambda i: jnp.asarray(X).at[i].set(-5), lambda i: written(X, i)),
    "set steps": (
        lambda i: jnp.asarray(M).at[::2, i].set(-5),
        lambda i: written(M, (slice(None, None, 2), i)),
    ),
    "get": (lambda i: jnp.asarray(X).at[i].get(mode="fill"), lambda i: X[i]),
    "take": (lambda i: jnp.take(X, i), lambda i: X[i]),
    "take wrap": (lambda i: jnp.take(X, i, mode="wrap"), lambda i: X[i]),
    "take clip": (
        lambda i: jnp.take(X, i, mode="clip"),
        lambda i: X[np.maximum(i, 0)],
    ),
    "take all": (lambda i: jnp.take(M, i), lambda i: M.reshape(-1)[i]),
    "along": (lambda i: jnp.take_along_axis(X, i, 0), lambda i: X[i]),
    "put": (lambda i: jnp.put(X, i, -5, inplace=False), lambda i: written(X, i)),
    "put wrap": (
        lambda i: jnp.put(X, i, -5, mode="wrap", inplace=False),
        lambda i: written(X, i),
    ),
    "put along": (
        lambda i: jnp.put_along_axis(X, i, -5, 0, inplace=False),
        lambda i: written(X, i),
    ),
    "choose": (
        lambda i: jnp.choose(i, [np.int32(2 * k) for k in range(150)], mode="wrap"),
        lambda i: 2 * (i % 150),
    ),
    "delete": (
        lambda i: jnp.delete(X, i, assume_unique_indices=True),
        lambda i: np.delete(X, i),
    ),
    "insert": (lambda i: jnp.insert(X, i, -5), lambda i: np.insert(X, i, -5)),
    "repeat": (
        lambda i: jnp.repeat(np.arange(3), abs(i[1:4]), total_repeat_length=200),
        lambda i: np.repeat(np.arange(3), np.abs(i[1:4]))[:200],
    ),
    "one_hot": (
        lambda i: traceir.nn.one_hot(i, 300, dtype=int),
        lambda i: (i[:, None] == np.arange(300)).astype(int),
    ),
    "ravel_multi_index": (
        lambda i: jnp.ravel_multi_index((i, i), (300, 300), mode="wrap"),
        lambda i: np.ravel_multi_index((i % 300, i % 300), (300, 300)),
    ),
    "unravel_index": (
        lambda i: jnp.stack(jnp.unravel_index(i, (2, 300))),
        lambda i: np.stack(np.unravel_index(i % 600, (2, 300))),
    ),
    "vmap of slices": (
        lambda i: traceir.vmap(lambda k: slid(X, k))(i),
        lambda i: np.stack([X[k:][:2] for k in np.minimum(i % 300, 298)]),
    ),
    "vmap of rows": (
        lambda i: traceir.vmap(slid)(ROWS, each_row(i % 4)),
        lambda i: np.stack(
            [r[k:][:2] for r, k in zip(ROWS, np.resize(i % 4, 300).clip(0, 3))]
        ),
    ),
    "vmap of updates": (
        lambda i: traceir.vmap(lambda r, k: r.at[k].set(-5))(ROWS, each_row(i % 5)),
        lambda i: np.stack(
            [written(r, k) for r, k in zip(ROWS, np.resize(i % 5, 300))]
        ),
    ),
}
# The same for one place.
ONE: dict[str, tuple[Made, Made]] = {
    "x[i]": (lambda i: jnp.asarray(X)[i], lambda i: X[i]),
    "set": (lambda i: jnp.asarray(X).at[i].set(-5), lambda i: written(X, i)),
    "slice": (lambda i: slid(X, i), lambda i: X[min(i % 300, 298) :][:2]),
    "slice by two": (
        lambda i: lax.dynamic_slice(M.T, (i * 0 + 100, i), (1, 1)),
        lambda i: M.T[100, max(0, min(i if i >= 0 else i + 2, 1))],
    ),
    "update": (
        lambda i: lax.dynamic_update_slice(X, np.int32([-5]), (i,)),
        lambda i: written(X, i),
    ),
    "index": (lambda i: lax.dynamic_index_in_dim(X, i), lambda i: X[[i]]),
    "roll": (lambda i: jnp.roll(X, i), lambda i: np.roll(X, i)),
    "roll rows": (lambda i: jnp.roll(M, i, axis=1), lambda i: np.roll(M, i, 1)),
}
PLACES = [
    np.array([-1, 3, -100, 127, -128], "int8"),
    np.array([255, 3, 0, 200], "uint8"),
    np.array([-1, 298, -300, 7], "int16"),
    np.array([1, 299, 5, 0], "uint32"),
]


def wrong(table: dict[str, tuple[Made, Made]], places: Any) -> list[str]:
    """The functions that, eager or traced, differ from NumPy's at these places."""
    found = []
    for name, (ours, numpys) in table.items():
        wanted = np.asarray(numpys(places.astype(np.int64))).ravel()
        for way, f in (
            ("eager", ours),
            ("traced", traceir.jit(ours, backend="reference")),
        ):
            if not np.array_equal(np.asarray(f(jnp.asarray(places))).ravel(), wanted):
                found.append(f"{name}, {way}")
    return found


@pytest.mark.parametrize("places", PLACES, ids=lambda p: p.dtype.name)
def test_places_of_a_narrow_dtype_reach_the_whole_array(places: np.ndarray) -> None:
    assert wrong(SEVERAL, places) == []
    assert [w for p in places[:2] for w in wrong(ONE, p)] == []


@pytest.mark.parametrize("place", [2**31, 2**32, -(2**32), 2**40, 2**63 - 1])
def test_a_place_beyond_the_index_dtype_stays_outside(place: int) -> None:
    x, many = jnp.arange(4), np.array([place])
    wanted = x if place > 0 else x.at[0].set(9)
    clipped = x[-1] if place > 0 else x[0]
    for f in (lambda x: x.at[place].set(9), lambda x: x.at[many].set(9)):
        kept = (f(x), traceir.jit(f)(x))
        assert all((np.asarray(k) == np.asarray(x)).all() for k in kept), wanted
    for f in (lambda x: x[place], lambda x: x[many][0]):
        assert (f(x), traceir.jit(f)(x)) == (clipped, clipped)


def test_an_unsigned_place_beyond_is_no_negative_one() -> None:
    last = np.uint32(2**32 - 1)
    for f in (lambda x, i: x[i], lambda x, i: x[i[None]][0]):
        assert int(traceir.jit(f)(jnp.arange(4), last)) == 3


def scalar(dtype: str) -> traceir.ShapeDtypeStruct:
    return traceir.ShapeDtypeStruct((), dtype)


# Programs over an array with places beyond 2**31; some have traced ones.
PROGRAMS: list[tuple[Any, ...]] = [
    (lambda x: x.at[2**31 + 1].set(3),),
    (lambda x: x.at[-1].set(3),),
    (lambda x: x.at[2**31 + 1 :].add(3),),
    (lambda x: x.at[: 2**31 : -2].set(3),),
    (lambda x: x.at[np.array([1, 2**31 + 1])].set(3),),
    (lambda x: x.at[np.array([1, -1], "int32")].set(3),),
    (lambda x, i: x.at[i].set(3), scalar("int32")),
    (lambda x, i: x.at[i].set(3), scalar("uint32")),
    (lambda x, i: x.at[i].set(3), scalar("int8")),
    (lambda x, i: x[i], scalar("int32")),
    (lambda x, i: x[i[None]], scalar("int32")),
    (lambda x: x.at[2**31 + 1].get(mode="fill"),),
    (lambda x, i: jnp.take(x, i), scalar("int32")),
    (lambda x, i: jnp.take(x, i, mode="wrap"), scalar("int32")),
    (lambda x, i: jnp.take_along_axis(x, i[None], 0), scalar("int32")),
    (lambda x, i: jnp.put(x, i, 3, inplace=False), scalar("int32")),
    (lambda x: lax.dynamic_slice(x, (2**31 + 1,), (2,)),),
    (lambda x, i: lax.dynamic_slice(x, (i,), (2,)), scalar("int32")),
    (lambda x: lax.dynamic_index_in_dim(x, -1),),
    (lambda x: lax.dynamic_update_slice(x, x[:2], (2**31 + 1,)),),
    (lambda x: jnp.argsort(x),),
    (lambda x: jnp.argmax(x),),
    (lambda x: jnp.nonzero(x, size=3),),
    (lambda x: jnp.searchsorted(x, np.int8(3)),),
    (lambda x: jnp.unique(x, size=3, return_index=True),),
    (lambda x, i: jnp.roll(x, i), scalar("int32")),
    (lambda x, i: jnp.delete(x, i), scalar("int32")),
    (lambda x, i: jnp.insert(x, i, 3), scalar("int32")),
    (lambda x, i: traceir.ops.segment_sum(x[:1], i[None], LONG), scalar("int32")),
    (lambda x, i: traceir.nn.one_hot(i, LONG), scalar("int32")),
    (lambda x: jnp.eye(2, LONG, dtype="int8"),),
    (lambda x: jnp.indices((LONG,)),),
    (lambda x, i: traceir.vmap(lambda i: slid(x, i))(i[None]), scalar("int32")),
]


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_no_place_of_a_long_array_wraps(number: int) -> None:
    f, *operands = PROGRAMS[number]
    long = traceir.ShapeDtypeStruct((LONG,), "int8")
    with traceir.enable_x64(True):
        text = str(traceir.make_jaxpr(f)(long, *operands))
    assert re.findall(r"-21474836\d\d", text) == []
    with (
        traceir.enable_x64(False),
        pytest.raises((OverflowError, TypeError), match="2147483"),
    ):
        traceir.make_jaxpr(f)(long, *operands)


def test_a_diagonal_far_beside_the_matrix_is_none() -> None:
    far = 2**31 + 3
    assert not jnp.eye(2, 3, far).any()
    assert not jnp.eye(2, 3, -far).any()
    assert jnp.tri(2, 3, far).all()
    assert not jnp.triu(jnp.ones((2, 3)), far).any()


def test_many_cases() -> None:
    cases = [np.full(2, k) for k in range(100)]
    found = jnp.choose(jnp.array([99, 3]), cases)
    assert found.tolist() == [99, 3]


@pytest.mark.parametrize("length", [LONG] * SOAK)
@pytest.mark.parametrize("traced", [False, True])
def test_a_long_array(traced: bool, length: int) -> None:
    def f(x: Any, i: Any) -> Any:
        y = x.at[2**31 + 1].set(3).at[-2].set(4)
        return y[2**31 + 1], y[i], jnp.argmax(y), y[-3:]

    with traceir.enable_x64(True):
        run = traceir.jit(f) if traced else f
        first, second, place, end = run(jnp.zeros(length, "int8"), np.int32(-2))
    assert (int(first), int(second), int(place)) == (3, 4, length - 2)
    assert end.tolist() == [0, 4, 0]
