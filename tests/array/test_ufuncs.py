"""Universal functions of Python functions, and their methods. Cites face.signature"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp

HOST = np.frompyfunc(lambda x, y: x - 2 * y, 2, 1)
OURS = jnp.frompyfunc(lambda x, y: x - 2 * y, 2, 1)
PLUS = jnp.frompyfunc(lambda x, y: x + y, 2, 1, identity=0)
NEGATIVE = jnp.frompyfunc(lambda x: -x, 1, 1)
ROWS = np.array([[3, -1, 4, 1], [5, 9, -2, 6], [5, 3, 5, -8]], "int32")
WHERE = ROWS > 0

CALLS: list[Callable[[Any, Any], Any]] = [
    lambda f, x: f(x, 3),
    lambda f, x: f(x, x[0]),
    lambda f, x: f.reduce(x),
    lambda f, x: f.reduce(x, axis=1),
    lambda f, x: f.reduce(x[0], axis=None),
    lambda f, x: f.reduce(x, axis=-1, keepdims=True),
    lambda f, x: f.reduce(x, initial=7),
    lambda f, x: f.accumulate(x),
    lambda f, x: f.accumulate(x, axis=1),
    lambda f, x: f.outer(x[0], x),
    lambda f, x: f.reduceat(x[1], np.array([0, 2, 1, 3])),
    lambda f, x: f.reduceat(x, np.array([0, 2]), axis=1),
]


@pytest.mark.parametrize("call", CALLS, ids=range(len(CALLS)))
@pytest.mark.parametrize("backend", [None, "reference", "numba"])
def test_a_method_gives_what_numpy_gives(
    call: Callable[[Any, Any], Any], backend: str | None
) -> None:
    want = np.asarray(call(HOST, ROWS), "int32")

    def run(x: Any) -> Any:
        return call(OURS, x)

    staged = traceir.jit(run, backend=backend) if backend else run
    found = staged(jnp.asarray(ROWS))
    assert found.dtype == "int32"
    np.testing.assert_array_equal(found, want)


def test_elements_are_left_out_where_there_is_an_identity() -> None:
    x = jnp.asarray(ROWS)
    np.testing.assert_array_equal(
        PLUS.reduce(x, where=WHERE), np.add.reduce(ROWS, where=WHERE)
    )
    assert PLUS.reduce(x[:0, 0]) == 0


def test_an_element_that_is_named_twice_is_changed_twice() -> None:
    want = ROWS[0].copy()
    np.add.at(want, [1, 1, -1], [10, 20, 30])
    index, values = jnp.array([1, 1, -1]), jnp.array([10, 20, 30])
    found = PLUS.at(jnp.asarray(ROWS[0]), index, values, inplace=False)
    np.testing.assert_array_equal(found, want)
    found = NEGATIVE.at(jnp.asarray(ROWS), (0, slice(1, 3)), inplace=False)
    np.testing.assert_array_equal(found[0], [3, 1, -4, 1])


def test_what_a_function_is() -> None:
    assert isinstance(PLUS, jnp.ufunc)
    assert (PLUS.nin, PLUS.nout, PLUS.nargs, PLUS.identity) == (2, 1, 3, 0)
    assert repr(NEGATIVE) == "<traceir.numpy.ufunc '<lambda>'>"


def test_a_derivative_and_a_batch() -> None:
    slope = traceir.grad(lambda x: PLUS.reduce(x * x))(jnp.array([1.0, 2.0]))
    np.testing.assert_array_equal(slope, [2, 4])
    rows = traceir.vmap(PLUS.accumulate)(jnp.asarray(ROWS))
    np.testing.assert_array_equal(rows, np.cumsum(ROWS, axis=1))


BAD: list[tuple[str, Callable[[], Any]]] = [
    ("face.signature", lambda: PLUS(1)),
    ("face.signature", lambda: jnp.frompyfunc(lambda x: x, 1, 2)(1)),
    ("face.signature", lambda: NEGATIVE.reduce(jnp.arange(3))),
    ("face.signature", lambda: NEGATIVE.at(jnp.arange(3), 0, 1, inplace=False)),
    ("face.reduce-empty", lambda: OURS.reduce(jnp.zeros(0))),
    ("face.reduce-empty", lambda: OURS.reduce(jnp.zeros(2), where=True)),
    ("face.choice", lambda: PLUS.at(jnp.arange(3), 0, 1)),
    ("face.axis", lambda: PLUS.reduce(jnp.arange(3), axis=1)),
    ("face.vector", lambda: PLUS.reduceat(jnp.arange(3), jnp.zeros((1, 1), int))),
]


@pytest.mark.parametrize(("rule", "act"), BAD, ids=range(len(BAD)))
def test_what_cannot_be_is_refused(rule: str, act: Callable[[], Any]) -> None:
    with raises_rule(rule, ValueError):
        act()


# --- the methods of functions that have names -----------------------------------------

NAMED = {
    "numbers": ("add", "multiply", "subtract", "maximum", "minimum"),
    "truths": ("logical_and", "logical_or", "logical_xor"),
    "bits": ("bitwise_and", "bitwise_or", "bitwise_xor"),
    "logarithms": ("logaddexp", "logaddexp2"),
}
BOTH = [(kind, name) for kind, names in NAMED.items() for name in names]
METHODS_OF_NAMED: dict[str, Callable[[Any, Any], Any]] = {
    "reduce": lambda f, x: f.reduce(x),
    "reduce of axis": lambda f, x: f.reduce(x, axis=1, keepdims=True),
    "reduce of all": lambda f, x: f.reduce(x, axis=None),
    "accumulate": lambda f, x: f.accumulate(x, axis=1),
    "outer": lambda f, x: f.outer(x[0], x),
    "reduceat": lambda f, x: f.reduceat(x[0], np.array([0, 2, 1])),
}


@pytest.mark.parametrize(("kind", "name"), BOTH)
def test_a_named_function_has_methods(kind: str, name: str) -> None:
    host, ours = getattr(np, name), getattr(jnp, name)
    rows = ROWS > 0 if kind == "truths" else ROWS
    rows = ROWS.astype("float32") / 4 if kind == "logarithms" else rows
    for method, call in METHODS_OF_NAMED.items():
        if name == "subtract" and method == "reduce of all":
            continue  # NumPy folds in no order over several axes
        wanted = call(host, rows)
        jitted = traceir.jit(functools.partial(call, ours))
        for found in (call(ours, rows), jitted(rows)):
            np.testing.assert_allclose(found, wanted, rtol=1e-6, err_msg=method)
    if kind in ("numbers", "logarithms"):
        found = ours.reduce(rows, initial=2, where=WHERE)
        np.testing.assert_allclose(
            found, host.reduce(rows, initial=2, where=WHERE), rtol=1e-6
        )
    plain = rows[0].copy()
    host.at(plain, [0, 3, 0], rows[1, :3])
    found = ours.at(rows[0], np.array([0, 3, 0]), rows[1, :3], inplace=False)
    np.testing.assert_allclose(found, plain, rtol=1e-6)
    assert (ours.nin, ours.nout, ours.nargs) == (host.nin, host.nout, host.nargs)
    assert ours.identity == host.identity or kind == "logarithms"
    assert isinstance(ours, jnp.ufunc)


def test_named_functions_of_few_arguments() -> None:
    assert jnp.negative.at(ROWS, 0, inplace=False)[0].tolist() == (-ROWS[0]).tolist()
    assert jnp.add.reduce(ROWS, dtype="float32").dtype == "float32"
    assert jnp.logical_and.reduce(ROWS > 0, dtype="int32").dtype == "int32"
    assert jnp.add.reduce(np.zeros((0, 2))).tolist() == [0, 0]
    assert jnp.logaddexp.reduce(np.zeros((0, 2))).tolist() == [-np.inf] * 2
    with raises_rule("face.reduce-empty", ValueError):
        jnp.subtract.reduce(np.zeros((0, 2)))
    with raises_rule("face.choice", ValueError, "inplace"):
        jnp.add.at(ROWS, 0, 1)
    with raises_rule("face.signature", ValueError):
        jnp.negative.reduce(ROWS)
    assert not isinstance(jnp.sin, jnp.ufunc) and isinstance(PLUS, jnp.ufunc)


def test_methods_of_named_functions_are_transformed() -> None:
    x = np.array([0.5, 2.0, 3.0], "float32")
    slope = traceir.grad(jnp.multiply.reduce)(x)
    np.testing.assert_allclose(slope, [6, 1.5, 1], rtol=1e-6)
    rows = traceir.vmap(jnp.subtract.reduce)(np.stack([x, -x]))
    np.testing.assert_allclose(rows, [-4.5, 4.5])
