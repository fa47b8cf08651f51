"""Operators, methods and NumPy's functions of arrays on a device.

They are what NumPy gives for the same arrays, and stay there. Cites: array.length,
array.truth, array.scalar, array.index, array.deleted, array.immutable, array.device
"""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir_numba
from traceir.pytrees import flatten
from traceir_numba.cuda import DeviceArray, device_put, operators
from traceir_numba.cuda.runtime import device

A = np.array([[1.5, -2.0, 3.25], [0.5, 4.0, -1.0]])
B = np.array([[1, 2, 3], [4, 5, 6]], dtype="int32")

CALLS: dict[str, Callable[..., Any]] = {
    "plus": lambda a, b: a + 1,
    "minus": lambda a, b: 2 - b,
    "times": lambda a, b: a * b,
    "by": lambda a, b: 1.0 / a,
    "by whole": lambda a, b: b // 2,
    "rest": lambda a, b: b % 4,
    "both": lambda a, b: divmod(b, 4)[1],
    "power": lambda a, b: b**2,
    "product": lambda a, b: a @ b.T,
    "and": lambda a, b: b & 3,
    "or": lambda a, b: 8 | b,
    "xor": lambda a, b: b ^ b,
    "shifted": lambda a, b: b << 1,
    "less": lambda a, b: a < b,
    "equal": lambda a, b: a == 4.0,
    "negative": lambda a, b: -a,
    "size": lambda a, b: abs(a),
    "inverse": lambda a, b: ~b,
    "rounded": lambda a, b: a.round(1),
    "array": lambda a, b: np.ones((2, 3), "float32") + a,
    "number": lambda a, b: np.float64(2) * b,
    "sum": lambda a, b: a.sum(),
    "sums": lambda a, b: b.sum(axis=0),
    "mean": lambda a, b: a.mean(1, keepdims=True),
    "greatest": lambda a, b: a.argmax(axis=1),
    "cast": lambda a, b: a.astype("int8"),
    "turned": lambda a, b: a.T,
    "matrices": lambda a, b: a.mT if isinstance(a, DeviceArray) else a.T,
    "real": lambda a, b: (a + 2j).imag,
    "shape": lambda a, b: a.reshape(3, -1),
    "columns": lambda a, b: a.reshape((3, 2), order="F"),
    "flat": lambda a, b: a.ravel(),
    "flat columns": lambda a, b: a.flatten(order="F"),
    "axes": lambda a, b: a.transpose(1, 0),
    "row": lambda a, b: a[-1],
    "element": lambda a, b: a[1, 2],
    "steps": lambda a, b: a[:, ::-2],
    "picked": lambda a, b: a[:, np.array([2, 0])],
    "sine": lambda a, b: np.sin(a),
    "joined": lambda a, b: np.concatenate([a, b]),
    "folded": lambda a, b: np.add.reduce(a, axis=1),
    "where": lambda a, b: np.where(a > 0, a, b),
    "iterated": lambda a, b: sum(row[0] for row in a),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_numpy_gives_is_given_there(name: str) -> None:
    got, want = CALLS[name](*device_put((A, B))), CALLS[name](A, B)
    assert isinstance(got, DeviceArray)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    np.testing.assert_allclose(np.asarray(got), want, 1e-14)


def test_nothing_is_copied_to_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    a = device_put(A)
    first = (a * 2 - a).sum()

    def refuse(*_: object) -> None:
        raise AssertionError("a copy")

    monkeypatch.setattr(device, "download", refuse)
    again = (a * 2 - a).sum()
    monkeypatch.undo()
    assert again.tolist() == first.tolist() == 6.25


def test_numbers_are_operands_and_not_functions_of_their_own() -> None:
    a = device_put(A)
    operators._functions.clear()
    for k in range(4):
        assert ((a + k) * (k / 2)).shape == (2, 3)
    assert len(operators._functions) == 2


def test_updates_are_copies() -> None:
    a = device_put(A)
    assert a.at[0].set(7).tolist() == [[7.0] * 3, A[1].tolist()]
    assert a.at[:, 1].add(1).tolist()[0] == [1.5, -1.0, 3.25]
    assert a.tolist() == A.tolist()
    with raises_rule("array.immutable", TypeError):
        a[0] = 1
    with raises_rule("array.immutable", TypeError):
        np.add(a, 1, out=(a,))
    assert hasattr(a.at[0], "set") and not hasattr(a.at[0], "_set")


def test_numbers_come_out() -> None:
    one = device_put(np.array(5, "int8"))
    assert (int(one), float(one), complex(one), bool(one)) == (5, 5.0, 5 + 0j, True)
    assert [10, 20, 30, 40, 50, 60][one] == 60
    assert (one.item(), f"{one:03d}", str(one)) == (5, "005", "5")
    assert round(device_put(A), 1).tolist() == A.round(1).tolist()
    assert 4.0 in device_put(A) and 4.5 not in device_put(A)
    assert device_put(A).item(1, 1) == 4.0
    many = device_put(A)
    for rule, function in (
        ("array.truth", bool),
        ("array.scalar", float),
        ("array.scalar", int),
        ("array.index", operator.index),
        ("level.hash", hash),
    ):
        with raises_rule(rule):
            function(many)
    with raises_rule("array.length"):
        list(one)


def test_copies_and_pickles() -> None:
    a = device_put(A)
    assert copy.copy(a) is a and copy.deepcopy(a) is a
    own = a.copy()
    assert own.lie(False).pointer != a.lie(False).pointer
    back = pickle.loads(pickle.dumps([own]))[0]
    assert isinstance(back, DeviceArray) and back.tolist() == A.tolist()
    assert traceir.device_get({"a": a})["a"].tolist() == A.tolist()
    assert traceir.block_until_ready([a, 1])[0] is a


def test_places() -> None:
    a = device_put(A)
    assert a.devices() == {a.device} and a.to_device(a.device) is a
    assert type(a.to_device(traceir.devices()[0])) is np.ndarray
    with raises_rule("array.device", ValueError):
        a.to_device("tpu")


def test_a_deleted_array_says_so() -> None:
    a = device_put(A)
    a.delete()
    assert a.is_deleted() and repr(a).startswith("DeviceArray(deleted")
    with raises_rule("array.deleted"):
        a + 1


def test_arrays_that_a_traced_function_reads_are_constants() -> None:
    a = device_put(A)
    want = A * 2 + np.sin(A)

    def function(x: Any) -> Any:
        return a * x + np.sin(a) + a[0] - a[0]

    for target in ("cuda", "cpu"):
        got = traceir_numba.jit(function, target=target)(2.0)
        np.testing.assert_allclose(np.asarray(got), want, 1e-14)


def test_keys_of_calls_tell_what_is_alike_apart() -> None:
    a = device_put(B)
    assert a[0:2].shape == (2, 3) and a[0:1].shape == (1, 3)
    assert a.astype(bool).dtype == bool and a.astype(int).dtype == np.int64
    assert a.sum(keepdims=True).shape == (1, 1) and a.sum(keepdims=False).shape == ()


def test_functions_that_are_kept_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "MOST", 2)
    a = device_put(B)
    for k in range(3):
        assert a[:, k].tolist() == B[:, k].tolist()
    assert len(operators._functions) <= 2


COUNTED: list[Callable[[Any], Any]] = [
    lambda x: x[x > 0],
    lambda x: x[:, np.array([True, False, True])],
    lambda x: x[x[:, 0] > 2, 1:],
    lambda x: np.where(x > 0),
    lambda x: x.nonzero(),
    lambda x: np.unique(x, return_counts=True),
    lambda x: np.compress([True, False, True], x, axis=1),
    lambda x: np.unique_values(np.argwhere(x)),
]


@pytest.mark.parametrize("k", range(len(COUNTED)))
def test_values_decide_how_many_elements_there_are(k: int) -> None:
    x = np.array([[3.0, -1.0, 0.0], [2.0, 5.0, -4.0]])
    got, want = (flatten.leaves(COUNTED[k](a)) for a in (device_put(x), x))
    for one, other in zip(got, want, strict=True):
        assert isinstance(one, DeviceArray) and one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
