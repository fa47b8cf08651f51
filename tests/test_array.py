"""`Array`: immutable, read by NumPy, printed as in JAX.

Rules: element.owned, array.*, device.*
"""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.arrays import array_interface
from traceir.arrays.devices import CpuDevice, SingleDeviceSharding, default_backend
from traceir.binding import bind_operators
from traceir.ir.avals import ShapedArray

Array = traceir.Array


def small() -> Any:
    return jnp.array([1.5, -2.0, 0.0])


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (jnp.arange(5), "Array([0, 1, 2, 3, 4], dtype=int32)"),
        (jnp.array(30), "Array(30, dtype=int32, weak_type=True)"),
        (jnp.array(1.5), "Array(1.5, dtype=float32, weak_type=True)"),
        (jnp.zeros((0, 3)), "Array([], shape=(0, 3), dtype=float32)"),
        (jnp.zeros(0), "Array([], shape=(0,), dtype=float32)"),
        (jnp.array([True, False]), "Array([ True, False], dtype=bool)"),
        (jnp.array([1e-10, 1.0]), "Array([1.e-10, 1.e+00], dtype=float32)"),
        (
            jnp.arange(2000),
            "Array([   0,    1,    2, ..., 1997, 1998, 1999], dtype=int32)",
        ),
        (
            jnp.arange(22),
            "Array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, "
            "16,\n       17, 18, 19, 20, 21], dtype=int32)",
        ),
        (
            jnp.arange(6.0).reshape(2, 3),
            "Array([[0., 1., 2.],\n       [3., 4., 5.]], dtype=float32)",
        ),
    ],
)
def test_repr_is_that_of_jax(array: Any, text: str) -> None:
    assert repr(array) == text


def test_a_repr_that_is_too_long_continues_on_a_line_of_its_own() -> None:
    text = repr(jnp.arange(15.0) * jnp.float32(1.1))
    assert max(map(len, text.split("\n"))) <= 75
    assert text.endswith("],\n      dtype=float32)")


def test_str_and_format_are_those_of_numpy() -> None:
    assert str(jnp.array([1, 2])) == "[1 2]"
    assert f"{jnp.array(1.5):.2f}" == "1.50"
    assert f"{jnp.array([1.5])}" == "[1.5]"
    with pytest.raises(TypeError):
        format(jnp.array([1.5]), ".2f")


def test_type_and_place() -> None:
    x = jnp.ones((3, 4))
    assert (x.shape, x.dtype, x.ndim, x.size) == ((3, 4), np.float32, 2, 12)
    assert (x.itemsize, x.nbytes, x.weak_type) == (4, 48, False)
    assert x.aval is ShapedArray((3, 4), "float32")
    assert x.devices() == {CpuDevice(id=0)}
    assert (x.device, x.sharding) == (CpuDevice(0), SingleDeviceSharding(CpuDevice(0)))
    assert x.sharding.device_set == x.devices()
    assert repr(x.devices()) == "{CpuDevice(id=0)}"
    assert repr(x.sharding) == "SingleDeviceSharding(device=CpuDevice(id=0))"
    assert x.block_until_ready() is x
    assert x.is_ready()
    assert not x.is_deleted()
    assert x.T.shape == (4, 3)
    assert jnp.ones((2, 3, 4)).mT.shape == (2, 4, 3)
    assert x.real is x
    assert x.copy() is not x


def test_the_device_has_names() -> None:
    assert traceir.devices() == traceir.devices("cpu") == [CpuDevice(id=0)]
    assert str(CpuDevice()) == "cpu:0"
    assert CpuDevice().platform == default_backend() == "cpu"
    with raises_rule("device.platform", RuntimeError, "Unknown backend.*\n.*'gpu'"):
        traceir.devices("gpu")
    assert traceir.local_devices() == traceir.devices()
    assert traceir.device_count() == traceir.local_device_count() == 1
    assert traceir.default_backend() == "cpu"
    with raises_rule("device.platform", RuntimeError):
        traceir.device_count("gpu")


def test_a_tree_comes_back_from_the_devices() -> None:
    x = jnp.arange(3)
    got = traceir.device_get({"a": x, "b": [2, "s"], "c": None})
    assert type(got["a"]) is np.ndarray
    assert np.shares_memory(got["a"], np.asarray(x))
    assert (got["a"].tolist(), got["b"], got["c"]) == ([0, 1, 2], [2, "s"], None)
    assert traceir.jit(traceir.device_get)(x).tolist() == [0, 1, 2]
    assert traceir.block_until_ready((x, "s"))[0] is x
    assert traceir.jit(traceir.block_until_ready)([x])[0].tolist() == [0, 1, 2]


def test_numpy_reads_an_array_and_cannot_write_to_it() -> None:
    x = jnp.arange(3)
    view = np.asarray(x)
    assert not view.flags.writeable
    assert np.shares_memory(view, np.asarray(x))
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        view.flags.writeable = True
    own = np.array(x)
    own[0] = 7
    assert x.tolist() == [0, 1, 2]
    assert np.asarray(x, dtype=float).dtype == np.float64
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, dtype=float, copy=False)


def test_an_array_owns_its_elements() -> None:
    source = np.arange(3, dtype="int32")
    arrays = [jnp.array(source), jnp.asarray(source), source + jnp.zeros(3, int)]
    source[0] = 99
    assert [a.tolist() for a in arrays] == [[0, 1, 2]] * 3


def test_results_that_share_memory_cannot_be_written_to() -> None:
    x = jnp.arange(6)
    for y in (x.reshape(2, 3), x.T, x[1:], jnp.broadcast_to(x, (2, 6))):
        seen = np.asarray(y)
        assert not seen.flags.writeable
        with pytest.raises(ValueError, match="WRITEABLE"):
            seen.flags.writeable = True
        with pytest.raises(ValueError, match="read-only"):
            seen[..., 0] = 7
    assert x.tolist() == list(range(6))


def test_numpy_functions_give_numpy_and_operators_give_arrays() -> None:
    x = jnp.arange(3)
    assert type(np.sin(x)) is np.ndarray
    for y in (np.ones(3) + x, np.float32(2) * x, np.int32(1) - x, np.ones(3) == x):
        assert type(y) is Array
    assert (np.ones(3) + x).dtype == np.float32
    assert type(np.ones((2, 3)) @ jnp.ones(3)) is Array


BY_METHOD: dict[str, Callable[[Any], Any]] = {
    "sum": np.sum,
    "prod": lambda x: np.prod(x, axis=0),
    "mean": lambda x: np.mean(x, axis=1, keepdims=True),
    "max": np.max,
    "min": np.min,
    "any": np.any,
    "all": np.all,
    "var": np.var,
    "std": lambda x: np.std(x, ddof=1),
    "argmax": np.argmax,
    "argmin": lambda x: np.argmin(x, axis=1),
    "cumsum": lambda x: np.cumsum(x, axis=1),
    "cumprod": np.cumprod,
    "round": lambda x: np.round(x, 1),
}


@pytest.mark.parametrize("name", BY_METHOD)
def test_functions_of_numpy_that_call_a_method(name: str) -> None:
    function = BY_METHOD[name]
    elements = np.linspace(-1.3, 2, 6, dtype=np.float32).reshape(2, 3)
    x = jnp.array(elements)
    for result in (function(x), traceir.jit(lambda x: function(x))(x)):
        assert type(result) is Array
        np.testing.assert_allclose(result, function(elements), rtol=1e-6)


def test_results_have_memory_of_their_own() -> None:
    with pytest.raises(NotImplementedError, match="out"):
        small().sum(out=np.zeros(()))


def test_isinstance_tells_arrays_and_tracers() -> None:
    seen = []

    @traceir.jit
    def f(x: Any) -> Any:
        seen.extend([isinstance(x, Array), isinstance(x, np.ndarray)])
        return x

    f(small())
    assert seen == [True, False]
    assert isinstance(small(), Array)
    assert isinstance(small(), jnp.ndarray)
    assert not isinstance(np.ones(2), Array)
    assert not isinstance(1.0, Array)


def test_python_conversions() -> None:
    assert float(jnp.array(1.5)) == 1.5
    assert int(jnp.array(2.7)) == 2
    assert complex(jnp.array(1.0)) == 1 + 0j
    assert bool(jnp.array([True])) is True
    assert [1, 2, 3][jnp.array(1)] == 2
    assert list(range(jnp.array(3))) == [0, 1, 2]
    assert jnp.array([3, 4]).item(1) == 4
    assert jnp.array([3]).item() == 3
    assert small().tolist() == [1.5, -2.0, 0.0]
    assert round(jnp.array(2.5)).item() == 2
    assert round(jnp.array(2.567), 2).item() == pytest.approx(2.57)
    assert divmod(jnp.array(7), 2)[1].item() == 1


@pytest.mark.parametrize(
    ("ask", "rule", "kind"),
    [
        (lambda: float(jnp.array([1.0])), "array.scalar", TypeError),
        (lambda: int(jnp.array([1, 2])), "array.scalar", TypeError),
        (lambda: bool(jnp.array([1, 2])), "array.truth", ValueError),
        (lambda: bool(jnp.array([])), "array.truth", ValueError),
        (lambda: [1, 2][jnp.array(1.0)], "array.index", TypeError),
        (lambda: range(jnp.array([1])), "array.index", TypeError),
        (lambda: len(jnp.array(1)), "array.length", TypeError),
        (lambda: list(jnp.array(1)), "array.length", TypeError),
        (lambda: Array(3), "array.make", TypeError),
    ],
)
def test_a_conversion_that_cannot_be(ask: Any, rule: str, kind: type) -> None:
    with raises_rule(rule, kind):
        ask()


def test_items_cannot_be_assigned() -> None:
    x = jnp.arange(4)
    with raises_rule("array.immutable", TypeError, "immutable") as _:
        x[1] = 0
    with pytest.raises(TypeError, match=r"x\.at\[idx\]\.set\(y\)"):
        x[1] = 0

    @traceir.jit
    def f(x: Any) -> Any:
        x[1] = 0

    with raises_rule("array.immutable", TypeError):
        f(x)


def test_attributes_cannot_be_assigned() -> None:
    for name in ("shape", "dtype", "other"):
        with pytest.raises(AttributeError):
            setattr(small(), name, None)


def test_an_array_has_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(small())


def test_iteration_gives_arrays() -> None:
    rows = list(jnp.arange(6).reshape(2, 3))
    assert [type(r) for r in rows] == [Array, Array]
    assert [r.tolist() for r in rows] == [[0, 1, 2], [3, 4, 5]]
    assert len(jnp.ones((2, 3))) == 2
    assert 1 in jnp.arange(3)
    assert 5 not in jnp.arange(3)


def test_comparison_with_what_is_no_array() -> None:
    x = jnp.arange(3)
    assert (x == None) is False  # noqa: E711
    assert (x != "a") is True
    for bad in ("a", None, [1, 2, 3]):
        with pytest.raises(TypeError, match="unsupported operand"):
            x + bad


def test_an_array_is_copied_pickled_and_weakly_referred_to() -> None:
    x = jnp.asarray(1.5) * 2
    again = pickle.loads(pickle.dumps(x))
    assert repr(again) == repr(x)
    assert again.aval is x.aval
    assert copy.copy(x) is copy.deepcopy(x) is x
    assert weakref.ref(x)() is x


def test_in_place_operators_bind_anew() -> None:
    x = y = jnp.arange(3)
    x += 1
    assert x.tolist() == [1, 2, 3]
    assert y.tolist() == [0, 1, 2]


def test_declared_methods_are_those_that_are_bound() -> None:
    text = Path(array_interface.__file__).read_text(encoding="utf-8")
    source = text.partition("class Methods:")[2]
    declared = set(re.findall(r"^        (?:def )?(\w+)(?:\(| = )", source, re.M))
    assert declared == set(bind_operators.bindings())


def test_methods_and_operators_have_documentation() -> None:
    for name, value in bind_operators.bindings().items():
        if not name.startswith("__"):
            assert value.__doc__, name


LATE = """
import threading
import traceir.numpy as jnp
from traceir.arrays.array import Array
from traceir.binding import bind_operators

x = jnp.asarray([[1.0, -2.0], [3.0, 4.0]])
kinds = {name: type(vars(Array)[name]).__name__ for name in bind_operators.MAKERS}
assert all("Late" in kind for kind in kinds.values()), kinds
try:
    x.T = 3
except AttributeError as error:
    assert "no setter" in str(error), error
else:
    raise AssertionError("it was set")
try:
    x.sum = 3
except AttributeError as error:
    assert "sum" in str(error), error
else:
    raise AssertionError("it was set")
found = []
threads = [threading.Thread(target=lambda: found.append(x.mean())) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert {float(one) for one in found} == {1.5}
assert Array.mean is Array.mean and Array.mean is vars(Array)["mean"]
assert (x + x).tolist() == (2 * x).tolist() and (-x)[0, 1] == 2 and 3.0 in x
assert Array.__add__ is vars(Array)["__add__"] and Array.T.__doc__
assert x.at[0, 0].set(9.0)[0, 0] == 9 and len(list(x)) == 2 and round(x)[1, 1] == 4
"""


def test_operators_and_methods_are_made_when_they_are_first_asked_for() -> None:
    subprocess.run([sys.executable, "-c", LATE], check=True)
