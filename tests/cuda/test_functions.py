"""Options and methods of functions for a device.

Cites: cache.key.face, face.fallback, jit.compiled, jit.explain, update.refused,
debug.nan, sanitize.index, cache.strict.capture
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir_numba
from traceir.base import config
from traceir_numba.cuda import DeviceArray, device_put
from traceir_numba.cuda.backend import CHOICES

X = np.arange(6.0).reshape(2, 3)


@traceir_numba.jit(target="cuda", static_argnames="power")
def powers(tree: Any, power: int = 2) -> Any:
    """A tree in, a tree out, with a static argument."""
    return {name: (x**power, x.sum()) for name, x in tree.items()}


def test_trees_and_static_arguments() -> None:
    for power in (2, 3):
        found = powers({"a": X, "b": device_put(X[0])}, power=power)
        np.testing.assert_allclose(found["a"][0], X**power, 1e-15)
        np.testing.assert_allclose(found["b"][1], X[0].sum())
    assert powers.explain({"a": X, "b": X[0]}, power=3) == "hit"
    assert "cache.key.static" in powers.explain({"a": X, "b": X[0]}, power=4)


def test_calls_of_one_kind_are_counted_and_not_prepared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @traceir_numba.jit(target="cuda")
    def double(x: Any) -> Any:
        return x * 2

    x = double(device_put(X))
    double(x)
    monkeypatch.setattr(type(double), "_prepare", None)
    assert double(x).tolist() == (X * 4).tolist()
    assert double.cache_info()[:3] == (2, 1, 1)


def test_a_closure_over_arrays_of_the_device() -> None:
    held = device_put(X)
    add = traceir_numba.jit(lambda x: x + held, target="cuda")
    np.testing.assert_array_equal(add(X), X * 2)


def test_a_function_in_another_and_in_transforms() -> None:
    @traceir_numba.jit(target="cuda")
    def square(x: Any) -> Any:
        return (x * x).sum()

    outer = traceir_numba.jit(lambda x: square(x) + 1, target="cuda")
    assert float(outer(device_put(X))) == (X * X).sum() + 1
    with traceir.enable_x64():
        found = traceir.grad(square)(device_put(X))
        np.testing.assert_array_equal(found, 2 * X)
        rows = traceir.vmap(square)(device_put(X))
        np.testing.assert_array_equal(rows, (X * X).sum(1))


def test_stages() -> None:
    traced = powers.trace({"a": device_put(X)})
    assert traced.out_info["a"][0].shape == (2, 3)
    lowered = traced.lower()
    assert "@cuda.jit" in lowered.as_text()
    assert lowered.as_text() == powers.source({"a": X})
    compiled = lowered.compile()
    assert "@cuda.jit" in compiled.as_text()
    found = compiled({"a": X})["a"][0]
    assert isinstance(found, DeviceArray) and found.tolist() == (X * X).tolist()
    with raises_rule("jit.compiled", TypeError):
        compiled({"a": X[0]})
    with raises_rule("jit.dialect", ValueError, "'asm'; .* there is source, ptx"):
        compiled.as_text("asm")


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_what_is_compiled_ahead_takes_numbers_of_64_bits(target: str) -> None:
    lowered = traceir_numba.jit(lambda x: np.sin(x), target=target).lower(X)
    np.testing.assert_allclose(np.asarray(lowered.compile()(X)), np.sin(X), 1e-14)


def test_what_is_told_of_speed() -> None:
    @traceir_numba.jit(target="cuda")
    def wide(x: Any) -> Any:
        return (x * 2).sum(1) @ x + 1

    text = wide.explain(np.ones((300, 300)), what="speed")
    assert "mul reduce_sum over 300 x 300; reads a" in text
    assert " threads" in text and "made in: simplify and fuse" in text
    loop = traceir.jit(
        lambda x: traceir.lax.fori_loop(0, 3, lambda k, c: c * 2, x), backend="cuda"
    )
    assert "control flow, one kernel" in loop.explain(1.0, what="speed")


def test_numpy_runs_what_cannot_be_traced() -> None:
    @traceir_numba.jit(target="cuda", fallback="numpy")
    def positive(x: Any) -> Any:
        return np.setdiff1d(x, [0, 1, 2])

    with pytest.warns(UserWarning, match="positive cannot be traced"):
        found = positive(device_put(X))
    assert isinstance(found, DeviceArray) and found.tolist() == [3, 4, 5]
    with raises_rule("face.fallback"):
        traceir_numba.jit(positive, target="cuda", fallback="cpu")


def test_arguments_cannot_be_written_to() -> None:
    @traceir_numba.jit(target="cuda")
    def write(x: Any) -> Any:
        x[0] = 1
        return x

    with raises_rule("update.refused"):
        write(device_put(X))


def test_flags_that_look_at_programs() -> None:
    @traceir_numba.jit(target="cuda")
    def quotient(x: Any) -> Any:
        return x / x

    x = device_put(X)
    assert np.isnan(quotient(x).tolist()[0][0])
    with config.scope("debug_nans", True), raises_rule("debug.nan"):
        quotient(x)
    with config.scope("disable_jit", True):
        assert quotient(x + 1).tolist() == np.ones((2, 3)).tolist()
    checked = traceir_numba.jit(
        lambda x: x[np.argmax(x) + 9], target="cuda", sanitize=True
    )
    with raises_rule("sanitize.index", IndexError):
        checked(np.ones(3))


scale = 2.0


@traceir_numba.jit(target="cuda", strict=True)
def scaled(x: Any) -> Any:
    """It reads a variable of the module."""
    return x * scale


def test_strict_traces_are_looked_at_in_each_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = device_put(X)
    for _ in range(2):
        assert scaled(x).tolist() == (X * 2).tolist()
    monkeypatch.setitem(globals(), "scale", 3.0)
    with raises_rule("cache.strict.capture"):
        scaled(x)


def test_what_the_host_computes_is_put_on_the_device() -> None:
    @functools.partial(traceir_numba.jit, target="cuda")
    def called(x: Any) -> Any:
        shape = traceir.ShapeDtypeStruct(x.shape, x.dtype)
        return traceir.pure_callback(lambda v: np.asarray(v) + 1, shape, x) * 2

    found = called(device_put(X))
    assert isinstance(found, DeviceArray)
    np.testing.assert_array_equal(found, (X + 1) * 2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_product_is_rounded_before_a_sum_takes_it(dtype: str) -> None:
    assert "choice.contraction" not in CHOICES
    function = traceir_numba.jit(lambda x, y, z: x * y + z, target="cuda")
    x = np.full(1, 1 + np.finfo(dtype).eps, dtype)
    name = {"float32": "times_f32", "float64": "times_f64"}[dtype]
    assert f"{name}(b, a)" in function.source(x, x, x).replace("(a, b)", "(b, a)")
    np.testing.assert_array_equal(function(x, x, -(x * x)), np.zeros(1, dtype))
