"""Reads outside traces give what the long way gives. Cites: index.clamp, level.bind"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import config
from traceir.numpy.indexing import getitem
from traceir.reads import reading

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
    assert not np.shares_memory(value, np.asarray(x)) or found is x
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
    read = reading(lambda x, index: asked.append(index))
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
