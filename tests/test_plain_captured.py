"""Tables outside of a plain function, and views at places that are traced.

Cites face.box, face.view, update.external, update.readonly
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir import lax

TABLE = np.array([10.0, 20.0, 30.0, 40.0])
ROWS = np.arange(12).reshape(3, 4)
WORDS = np.array(["a", "b"])
PLACE, V = np.int64(2), np.array([0, -1, 1])
Function = Callable[..., Any]


class Interpolated:
    """An object with a table."""

    def __init__(self) -> None:
        self.table = TABLE * 2

    def __call__(self, x: Any) -> Any:
        return self.table[x.astype(int)]


def enclosed() -> Function:
    weights = TABLE + 1
    return lambda i: weights[i] * weights[0]


def copied(i: Any) -> Any:
    own = TABLE.copy()
    own[i] = 5.0
    return own


def looked_up(x: Any) -> Any:
    return TABLE[np.searchsorted(TABLE, x) % 4]


READS: list[tuple[Function, Any]] = [
    (lambda i: TABLE[i], PLACE),
    (lambda i: TABLE[i], V),
    (lambda i: ROWS[i], V),
    (lambda i: ROWS[i, 1] + ROWS[:, i].sum() + ROWS[0][i], PLACE),
    (lambda i: (TABLE * 2)[i] + TABLE.reshape(2, 2)[0, i % 2], PLACE),
    (lambda i: ROWS.T[i] + np.take(TABLE, i) + TABLE.take(i), PLACE),
    (lambda i, table=TABLE: table[i], PLACE),
    (lambda m: TABLE[m].sum(), np.array([True, False, True, True])),
    (lambda x: ROWS.dot(x) + TABLE.clip(15, x[0])[:3], np.array([30.0, 1, 2, 3])),
    (lambda x: [a * b for a, b in zip(TABLE, x)], TABLE),
    (lambda x: x * len(TABLE) if WORDS[0] == "a" and TABLE.any() else x, 2.5),
    (lambda x: np.array([TABLE[k] for k in np.argsort(x)]), TABLE),
    (lambda x: x * isinstance(TABLE, np.ndarray) * (type(TABLE) is np.ndarray), 2.0),
    (lambda i: np.choose(i, TABLE), V % 3),
    (looked_up, np.array([11.0, 25.0])),
    (enclosed(), PLACE),
    (copied, PLACE),
    (Interpolated(), np.array([0.5, 2.5])),
]


@pytest.mark.parametrize("k", range(len(READS)))
def test_a_table_is_read_at_traced_places(k: int) -> None:
    function, given = READS[k]
    want, found = function(given), traceir_numba.jit(function)(given)
    np.testing.assert_array_equal(found, want)
    assert np.asarray(found).dtype == np.asarray(want).dtype
    assert TABLE.tolist() == [10, 20, 30, 40]
    assert type(found) is not list or isinstance(found[0], np.float64)


def test_a_table_is_read_in_transforms_and_loops() -> None:
    def summed(x: Any) -> Any:
        inner = traceir.jit(lambda k: TABLE[k])(1) + traceir.vmap(TABLE.__getitem__)(V)
        return lax.fori_loop(0, 3, lambda k, c: c + TABLE[k], x) + jnp.sum(inner)

    assert traceir_numba.jit(summed)(1.0) == 61 + 60 + 70
    with raises_rule("index.bounds", IndexError, r"TABLE\[i\]"):
        traceir_numba.jit(lambda i: TABLE[i])(np.int64(4))


def through_a_view(i: Any) -> None:
    np.asarray(TABLE)[i] = 1.0


def through_an_operator(i: Any) -> None:
    table = TABLE
    table += i


WRITES: list[tuple[str, type[Exception], Function]] = [
    ("update.external", TypeError, lambda i: TABLE.__setitem__(i, 1.0)),
    ("update.external", TypeError, lambda i: TABLE.__setitem__(0, i)),
    ("update.external", TypeError, lambda i: np.add(TABLE, i, out=TABLE)),
    ("update.external", TypeError, lambda i: np.add.at(TABLE, [0], i)),
    ("update.external", TypeError, lambda i: np.copyto(TABLE, i)),
    ("update.external", TypeError, through_an_operator),
    ("update.readonly", ValueError, through_a_view),
    ("update.readonly", ValueError, lambda i: ROWS[i].fill(2)),
    ("update.readonly", ValueError, lambda i: ROWS[i].sort()),
]


@pytest.mark.parametrize("k", range(len(WRITES)))
def test_a_table_is_not_written_to(k: int) -> None:
    rule, kind, function = WRITES[k]
    with raises_rule(rule, kind):
        traceir_numba.jit(function)(PLACE)
    assert TABLE.tolist() == [10, 20, 30, 40]
    assert ROWS.tolist() == np.arange(12).reshape(3, 4).tolist()


def test_a_variable_of_a_function_around_is_set() -> None:
    total = np.zeros(2)

    def added(x: Any) -> Any:
        nonlocal total
        total = total + x
        return total

    with raises_rule("update.external", TypeError, "the variable total"):
        traceir_numba.jit(added)(2.0)
    assert total.tolist() == [0, 0]


def written_rows(x: Any, i: Any) -> Any:
    x[i][0] = 5.0
    row = x[i]
    row += 1
    row[1:] *= 2
    x[:, i][...] -= 3
    return row


def read_later(x: Any, i: Any) -> Any:
    row, column = x[i], x.T[i, :]
    x[...] = x * 2
    np.add(x[i], 1, out=x[i])
    x[i].sort()
    x[[i, 0]] += 1
    return row, column, x[i - 1, None].T


@pytest.mark.parametrize("function", [written_rows, read_later])
@pytest.mark.parametrize("i", [1, -1])
def test_a_view_at_a_traced_place_is_one(function: Function, i: int) -> None:
    plain, given = (np.arange(9.0)[::-1].reshape(3, 3).copy() for _ in range(2))
    want = function(plain, np.int64(i))
    found = traceir_numba.jit(function)(given, np.int64(i))
    for ours, numpys in zip((*found, given), (*want, plain), strict=True):
        np.testing.assert_array_equal(ours, numpys)


def test_views_at_traced_places_that_are_refused() -> None:
    x = np.ones((3, 4))
    with raises_rule("update.readonly", ValueError, "x"):
        traceir_numba.jit(lambda x, i: np.broadcast_to(x, (2, 3, 4))[i].fill(0))(x, 1)
    with raises_rule("face.meaning", TypeError, "shares_memory"):
        traceir_numba.jit(lambda x, i: np.shares_memory(x[i], x[0]))(x, 1)

    def inner(x: Any) -> Any:
        def body(k: Any, total: Any) -> Any:
            row = x[k]
            row += 1
            return total

        return lax.fori_loop(0, 2, body, x.sum())

    with raises_rule("update.readonly", ValueError, "row"):
        traceir_numba.jit(inner)(x)


SINGLE: list[Function] = [
    lambda w: np.pad(w, 1),
    lambda w: np.roll(w, 1),
    lambda w: np.resize(w, ()),
    lambda w: np.isin(w, 1),
    lambda w: np.block(w),
    lambda w: np.i0(w),
    lambda w: np.cov(np.stack([w, w + 1])),
]


@pytest.mark.parametrize("k", range(len(SINGLE)))
def test_an_array_without_dimensions_is_written_to(k: int) -> None:
    def program(x: Any, i: Any) -> Any:
        made = SINGLE[k](x[i, ...])
        made.T.ravel()[0] = 3
        return made

    x = np.array([1.0, 2.0])
    assert traceir_numba.jit(program)(x, PLACE - 1) == program(x, PLACE - 1)
