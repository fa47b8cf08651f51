"""Folds by any function. Cites: control.carry-types, control.branch-tree,
control.length, face.axis
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax

ROWS = np.arange(30, dtype="float32").reshape(2, 5, 3) % 7 - 3
WHOLE = ROWS.astype("int32")

# A function, an array, where it starts, and what is the same.
FOLDS: list[tuple[Any, np.ndarray, Any, Callable[..., Any]]] = [
    (lax.add, ROWS, 0.0, np.sum),
    (lax.mul, ROWS, 1.0, np.prod),
    (lax.max, ROWS, -np.inf, np.max),
    (lax.min, WHOLE, np.iinfo("int32").max, np.min),
    (lax.bitwise_and, ROWS > 0, True, np.all),
    (lax.bitwise_or, ROWS > 0, False, np.any),
    (lax.bitwise_xor, WHOLE, 0, np.bitwise_xor.reduce),
    (lax.bitwise_and, WHOLE, -1, np.bitwise_and.reduce),
    (lax.add, ROWS, 2.0, lambda x, axis: x.sum(axis) + 2),
    (lambda a, b: a * b, ROWS, 3.0, lambda x, axis: 3 * x.prod(axis)),
    (lambda a, b: b, WHOLE, 0, lambda x, axis: np.moveaxis(x, axis, 0)[-1]),
]


@pytest.mark.parametrize("backend", [None, "numba"])
@pytest.mark.parametrize("k", range(len(FOLDS)))
def test_a_fold_is_numpys(k: int, backend: str | None) -> None:
    function, x, start, want = FOLDS[k]
    for axis in range(3):

        def fold(v: Any, axis: int = axis) -> Any:
            return lax.reduce(v, x.dtype.type(start), function, (axis,))

        found = fold(x) if backend is None else traceir.jit(fold, backend=backend)(x)
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(found, want(x, axis=axis))


def test_folds_of_primitives_are_these() -> None:
    closed = traceir.make_jaxpr(lambda v: lax.reduce(v, 0.0, lax.add, (0, 2)))(ROWS)
    assert [eqn.primitive for eqn in closed.jaxpr.eqns] == ["reduce_sum"]


def test_what_changes_nothing_may_have_another_dtype() -> None:
    assert lax.reduce(WHOLE[0, 0], False, lax.add, (0,)) == WHOLE[0, 0].sum()
    assert lax.reduce(ROWS[0, 0], 0, lax.add, (0,)).dtype == ROWS.dtype
    least = np.iinfo("int32").min
    assert lax.reduce_window(WHOLE.ravel(), least, lax.max, (2,)).dtype == WHOLE.dtype
    for start in (1, np.float16(0.5), np.int8(3)):
        with raises_rule("control.start"):
            lax.reduce(ROWS, start, lax.max, (0,))
        with raises_rule("control.start"):
            lax.reduce_window(ROWS, start, lax.add, (1, 1, 2))


def greatest(a: Any, b: Any) -> Any:
    """The greater one of two pairs of a value and its place."""
    left = a[0] >= b[0]
    return tuple(jnp.where(left, x, y) for x, y in zip(a, b, strict=True))


def test_several_arrays_are_folded_together() -> None:
    places = np.arange(30, dtype="int32").reshape(ROWS.shape)
    starts = np.float32(-9), np.int32(-1)
    value, place = lax.reduce((ROWS, places), starts, greatest, (0, 1, 2))
    assert (float(value), int(place)) == (ROWS.max(), int(ROWS.argmax()))
    none = lax.reduce((ROWS[:0], places[:0]), starts, greatest, (0,))
    assert [x.tolist() for x in none] == [[[-9] * 3] * 5, [[-1] * 3] * 5]


def test_a_fold_has_derivatives_and_batches() -> None:
    def fold(v: Any) -> Any:
        return lax.reduce(v, 0.0, lambda a, b: a + b + a * b, (0,))  # prod(1 + v) - 1

    x = np.array([1.0, 2.0, 3.0], "float32")
    np.testing.assert_allclose(traceir.grad(fold)(x), [12, 8, 6])
    np.testing.assert_allclose(traceir.vmap(fold)(np.stack([x, -x])), [23, -1])


def test_what_is_no_fold_is_refused() -> None:
    for rule, call in (
        ("control.branch-tree", lambda: lax.reduce(ROWS, 0.0, lambda a, b: (a,), (0,))),
        ("control.branch-tree", lambda: lax.reduce((ROWS,), 0.0, lax.add, (0,))),
        ("control.carry-types", lambda: lax.reduce(ROWS, 0.0, lambda a, b: ROWS, (0,))),
        (
            "control.length",
            lambda: lax.reduce((ROWS, ROWS[0]), (0.0, 0.0), greatest, (0,)),
        ),
        ("face.axis", lambda: lax.reduce(ROWS, 0.0, lambda a, b: a, (3,))),
    ):
        with raises_rule(rule):
            call()
