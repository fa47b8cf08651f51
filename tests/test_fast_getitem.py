"""Reads outside traces give what the long way gives. Cites: index.clamp, level.bind"""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir.base import config
from traceir.eager.fast_getitem import with_fast_getitem
from traceir.numpy.indexing.getitem import getitem

P, MASK = jnp.asarray([2, 0, -1]), jnp.asarray([True, False, True, True])
ROWS = jnp.asarray([[0], [3]])
INDICES: list[Any] = [
    *(0, -1, 3, 9, -9, np.int64(2), np.uint8(1), True, 1.0, "a", None, ..., [0, 1]),
    *(slice(1, 3), slice(None, None, -1), slice(-2, None), slice(5, 9), slice(2, 0)),
    *(slice(0, 4, 2), slice(None, None, 0), slice(1.0, 2), slice(P[1], 3)),
    *(P, np.asarray(P), P[1], MASK, np.asarray(MASK), MASK[0], jnp.asarray([9, -9])),
    *((1, 2), (1, ..., 0), (slice(1, 3), 1), (None, 1), (slice(2), None, slice(1, 2))),
    *((P, 1), (P, slice(1, 3)), (slice(1, 3), P), (ROWS, P), (P, None, 1), (MASK, 0)),
    *((0, slice(None), P), (P, slice(None), 1), (9, 9), (1, 1, 1, 1), (..., ...), ()),
    *(jnp.zeros(0, "int32"), P.astype("uint8"), P.astype("float32"), (True, 1)),
]
SHAPES = [(4,), (4, 3), (4, 3, 2), (), (0, 3), (1, 1)]


def outcome(call: Any, x: Any, index: Any) -> Any:
    """Type and bits of what is read, or the error."""
    try:
        found = call(x, index)
    except (IndexError, TypeError, ValueError) as error:
        return type(error), getattr(error, "rule", str(error))
    value = np.asarray(found)
    assert value.flags.c_contiguous
    assert not value.flags.writeable
    return found.aval, value.tobytes()


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_reads(index: Any) -> None:
    for shape in SHAPES:
        for dtype in ("float32", "bfloat16", "bool"):
            x = jnp.asarray(np.arange(np.prod(shape)).reshape(shape) % 7, dtype)
            long = outcome(getitem, x, index)
            assert outcome(lambda y, i: y[i], x, index) == long
            assert outcome(lambda y, i: y[i], x, index) == long


def test_plain_reads_do_not_run_the_function() -> None:
    asked = []
    read = with_fast_getitem(lambda x, index: asked.append(index))
    x = jnp.ones((3, 2))
    for index in (1, slice(1, 2), (0, 1), (..., 0), (None, 1), P, x[:, 0] > 0):
        assert read(x, index) is not None
    assert asked == []
    read(x, 3)
    with config.scope("debug_nans", True):
        read(x, 1)
    assert asked == [3, 1]


def test_a_read_of_a_weak_array_is_weak() -> None:
    x = traceir.lax.broadcast(1.0, (3,))
    assert x.aval.weak_type
    assert x[1].aval.weak_type
    assert x[:2].aval.weak_type


def test_reads_of_a_deleted_array_are_refused() -> None:
    x = jnp.ones(3)
    x.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        x[1]


def test_reads_are_recorded_in_a_trace() -> None:
    x = jnp.arange(3)
    text = str(traceir.make_jaxpr(lambda y: y + x[1])(1))
    assert "slice" in text


@pytest.mark.parametrize("backend", ["reference", "numba"])
@pytest.mark.parametrize("length", [8, 1 << 19])
def test_parts_outlive_the_array_and_change_with_nothing(
    backend: str, length: int
) -> None:
    update = traceir.jit(lambda x: x * 2 + 1, donate_argnums=0, backend=backend)
    x = update(jnp.arange(length, dtype="float32"))
    parts = [x[1], x[:3], x[length // 2 :], x[::-1], x.reshape(2, -1), x.reshape(-1)[2]]
    parts += [parts[4][1], parts[4].T, np.asarray(x[1:])]
    want = [np.array(part) for part in parts]
    for _ in range(3):
        x = update(x)
    del x
    update(jnp.zeros(length))
    for part, before in zip(parts, want, strict=True):
        assert not np.asarray(part).flags.writeable
        np.testing.assert_array_equal(part, before)


def test_a_small_part_does_not_keep_a_large_array() -> None:
    x = jnp.zeros((1000, 1000))
    for part in (x[0], x[1:3], x[5, 5], x[:, 1], x[400], x.reshape(-1)[7]):
        owner = np.asarray(part)
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        assert owner.nbytes <= 2 * part.nbytes


def test_half_of_a_large_array_shares_its_memory() -> None:
    x = jnp.zeros((1000, 1000))
    for part in (x[500:], x[:], x[1:][1:], x.reshape(-1), x.reshape(10, -1)[2:]):
        for _ in range(3):  # by a plan, too
            assert part.shape
        assert not np.asarray(part).flags.writeable
    assert np.shares_memory(np.asarray(x[500:]), np.asarray(x))


def test_an_array_of_a_dead_view_is_donated() -> None:
    update = traceir.jit(lambda x: x + 1, donate_argnums=0, backend="numba")
    for _ in range(3):
        x = jnp.zeros(1 << 18).reshape(2, -1)
        update(x)
        assert x.is_deleted()
        y = jnp.zeros(1 << 18)
        held = y.reshape(2, -1)
        update(y)
    assert not y.is_deleted()
    assert held[0, 0] == 0


@pytest.mark.parametrize("part", [lambda x: x[1:], lambda x: x.reshape(2, 2)])
def test_parts_are_pickled_copied_and_lent(part: Any) -> None:
    x = jnp.arange(4.0)
    for _ in range(3):
        found = part(x)
        assert pickle.loads(pickle.dumps(found)).tolist() == found.tolist()
        assert copy.copy(found) is found
        lent = np.from_dlpack(found)
        assert not lent.flags.writeable
        assert lent.tolist() == found.tolist()
        own = np.array(found)
        own[:] = 9
        assert x.tolist() == [0, 1, 2, 3]
        with pytest.raises(ValueError, match="WRITEABLE"):
            np.asarray(found).flags.writeable = True
