"""The Array API standard on arrays and their namespace."""

from __future__ import annotations

import copy
import importlib
import operator
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import standard
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.base.config import enable_x64
from traceir.dtypes import added, kind_of

DTYPES = (
    *("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32"),
    *("float16", "bfloat16", "float32", "complex64"),
)


class Producer:
    """An array of another library: it has DLPack's two methods, and nothing else."""

    def __init__(self, value: np.ndarray) -> None:
        self.value = value

    def __dlpack__(self, **asked: Any) -> Any:
        return self.value.__dlpack__(**asked)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.value.__dlpack_device__()


def test_an_array_knows_its_namespace() -> None:
    x = jnp.arange(3)
    assert x.__array_namespace__() is jnp
    assert x.__array_namespace__(api_version="2024.12") is jnp
    assert jnp.__array_api_version__ == "2024.12"
    with raises_rule("array.api-version", ValueError, "2021"):
        x.__array_namespace__(api_version="2021.12")


def test_a_tracer_knows_its_namespace() -> None:
    def f(x: Any) -> Any:
        return x.__array_namespace__().sin(x.to_device(traceir.devices()[0]))

    np.testing.assert_allclose(traceir.jit(f)(jnp.ones(2)), np.sin(np.ones(2)), 1e-6)


def test_the_namespace_tells_what_it_can() -> None:
    info = jnp.__array_namespace_info__()
    device = info.default_device()
    assert info.devices() == [device]
    assert jnp.zeros(2, device=device).device == device
    assert set(info.capabilities()) == {
        "boolean indexing",
        "data-dependent shapes",
        "max dimensions",
    }
    assert set(info.default_dtypes(device=device)) == {
        "real floating",
        "complex floating",
        "integral",
        "indexing",
    }
    with raises_rule("array.device", ValueError, "gpu"):
        info.dtypes(device="gpu")


@pytest.mark.parametrize("x64", [False, True])
def test_the_dtypes_of_the_namespace_are_those_of_arrays(x64: bool) -> None:
    with enable_x64(x64):
        info = jnp.__array_namespace_info__()
        found = info.dtypes()
        assert all(jnp.zeros(1, d).dtype == d for d in found.values())
        for name in ("float64", "int64", "complex128"):
            assert (name in found) == x64
        assert "complex64" in found
        assert info.default_dtypes()["complex floating"] == jnp.asarray(1j).dtype
        assert info.default_dtypes()["integral"] == jnp.arange(2).dtype
        assert info.default_dtypes()["real floating"] == jnp.zeros(2).dtype
        kinds = info.dtypes(kind=("bool", "unsigned integer"))
        assert all(name.startswith(("bool", "uint")) for name in kinds)


KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DTYPES)
def test_a_dtype_is_of_its_kinds(name: str, kind: str) -> None:
    dtype = jnp.dtype(name)
    assert jnp.isdtype(dtype, kind) == (kind_of(dtype) in KINDS[kind])
    assert jnp.isdtype(dtype, ("bool", dtype, kind))


def test_a_kind_that_there_is_not_is_refused() -> None:
    with raises_rule("dtype.kind", ValueError, "whole"):
        jnp.isdtype(jnp.int8, "whole")


def test_casts_keep_every_number() -> None:
    assert jnp.can_cast(jnp.ones(2, "int16"), "float32")
    assert not jnp.can_cast("int32", jnp.float32)
    assert jnp.can_cast(jnp.bfloat16, jnp.float32)
    assert jnp.can_cast("complex64", "complex128")
    assert jnp.can_cast("float32", "complex64")
    assert not jnp.can_cast("float64", "complex64")
    assert not jnp.can_cast("complex128", "complex64")
    for real in ("bool", "int64", "float64"):
        assert not jnp.can_cast("complex64", real)
        assert jnp.can_cast(real, "complex128")


@pytest.mark.parametrize("name", [n for n in DTYPES if n[0] in "fb" and n != "bool"])
def test_the_limits_of_floating_dtypes(name: str) -> None:
    info = jnp.finfo(jnp.zeros(2, name))
    one = jnp.ones((), name)
    assert info.bits == 8 * one.itemsize and info.dtype == one.dtype
    assert float(one + info.eps) > 1 and float(one + info.eps / 4) == 1
    assert np.isfinite(float(info.max)) and float(info.min) == -float(info.max)
    assert float(info.smallest_normal) == 2.0 ** float(np.log2(info.tiny))


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_the_limits_of_complex_dtypes_are_those_of_their_parts(name: str) -> None:
    info, part = jnp.finfo(name), jnp.finfo(standard.part_of(name))
    assert info.dtype == part.dtype == standard.part_of(name)
    for limit in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(info, limit) == getattr(part, limit)
    with enable_x64():
        assert jnp.finfo(jnp.ones(1, name)).bits == info.bits


def test_the_limits_of_integer_dtypes() -> None:
    assert jnp.iinfo(jnp.zeros(1, "int8")).min == -128
    assert jnp.iinfo(jnp.uint16).max == 65535 and jnp.iinfo("int32").bits == 32
    with pytest.raises(ValueError, match="integer"):
        jnp.iinfo(jnp.float32)


# DLPack ------------------------------------------------------------------------------

EXPORTED = [name for name in DTYPES if name != "bfloat16"]


@pytest.mark.parametrize("name", EXPORTED)
def test_numpy_reads_an_array_where_it_lies(name: str) -> None:
    x = jnp.asarray([[0, 1], [1, 0]], name)
    found = np.from_dlpack(x)
    assert found.dtype == x.dtype and not found.flags.writeable
    assert np.shares_memory(found, np.asarray(x))
    assert np.from_dlpack(x, copy=True).flags.writeable


@pytest.mark.parametrize("name", EXPORTED)
def test_memory_that_nobody_writes_is_shared(name: str) -> None:
    value = np.asarray([1, 0, 1], name)
    assert not np.shares_memory(np.asarray(jnp.from_dlpack(Producer(value))), value)
    shared = jnp.from_dlpack(Producer(value), copy=False)
    assert np.shares_memory(np.asarray(shared), value)
    value.setflags(write=False)
    found = jnp.from_dlpack(Producer(value))
    assert np.shares_memory(np.asarray(found), value)
    assert not np.shares_memory(
        np.asarray(jnp.from_dlpack(Producer(value), copy=True)), value
    )
    np.testing.assert_array_equal(found, value)


def test_a_round_trip_shares_memory() -> None:
    x = jnp.arange(5.0)
    assert np.shares_memory(np.asarray(jnp.from_dlpack(x)), np.asarray(x))


def test_what_lies_otherwise_is_copied() -> None:
    value = np.arange(6, dtype="int16").reshape(2, 3).T
    value.setflags(write=False)
    np.testing.assert_array_equal(jnp.from_dlpack(Producer(value)), value)
    with raises_rule("array.dlpack", BufferError, "strides"):
        jnp.from_dlpack(Producer(value), copy=False)
    assert jnp.from_dlpack(Producer(np.arange(3))).dtype == np.int32


def test_an_old_consumer_is_given_a_copy() -> None:
    x = jnp.arange(3)
    capsule = x.__dlpack__()

    class Old:
        def __dlpack__(self, **_: Any) -> Any:
            return capsule

        def __dlpack_device__(self) -> tuple[int, int]:
            return x.__dlpack_device__()

    found = np.from_dlpack(Old())
    assert found.tolist() == [0, 1, 2]
    assert not np.shares_memory(found, np.asarray(x))
    with raises_rule("array.dlpack", BufferError, "max_version"):
        x.__dlpack__(copy=False)


def test_what_dlpack_cannot_do_is_refused() -> None:
    x = jnp.arange(3)
    with raises_rule("array.dlpack", BufferError, "dl_device"):
        x.__dlpack__(dl_device=(2, 0))
    with raises_rule("array.dlpack", BufferError, "bf16"):
        jnp.ones(2, "bfloat16").__dlpack__(max_version=(1, 0))
    with raises_rule("array.capsule", TypeError, "list"):
        jnp.from_dlpack([1, 2])
    with raises_rule("array.device", ValueError, "gpu"):
        jnp.from_dlpack(x, device="gpu")


# Arrays as Python's objects ----------------------------------------------------------


@pytest.mark.parametrize("name", DTYPES)
def test_an_array_can_be_pickled_and_copied(name: str) -> None:
    x = jnp.asarray([0, 1], name)
    for found in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
        assert found.aval is x.aval and found.tolist() == x.tolist()
        assert not np.asarray(found).flags.writeable
    weak = jnp.asarray(1.5)
    assert pickle.loads(pickle.dumps(weak)).aval is weak.aval


@pytest.mark.parametrize("name", DTYPES)
def test_scalars_are_pythons_numbers(name: str) -> None:
    x = jnp.asarray(1, name)
    assert bool(x) is True and complex(x) == 1
    for number in (int, float):
        if kind_of(x.dtype) != "c":
            assert number(x) == 1
            continue
        with pytest.raises(TypeError, match="complex"):
            number(x)
    if kind_of(x.dtype) in "iu":
        assert operator.index(x) == 1
    else:
        with raises_rule("array.index", TypeError):
            operator.index(x)


def test_an_operator_in_place_makes_a_new_array() -> None:
    x = y = jnp.ones(2)
    x += 1
    assert x.tolist() == [2, 2] and y.tolist() == [1, 1]
    x @= jnp.eye(2)
    assert x.tolist() == [2, 2]


def test_to_another_dtype() -> None:
    x = jnp.ones(2)
    assert x.astype("float32") is x
    assert x.astype("float32", copy=True) is not x
    assert x.astype(jnp.int8, device=x.device).dtype == np.int8
    assert x.to_device(x.device) is x
    calls: list[Callable[[], Any]] = [
        lambda: x.astype("int8", device="gpu"),
        lambda: x.to_device("gpu"),
        lambda: x.to_device(x.device, stream=1),
        lambda: jnp.zeros(2, device="gpu"),
    ]
    for call in calls:
        with raises_rule("array.device", ValueError):
            call()


def test_a_copy_is_made_where_it_is_asked_for() -> None:
    x = jnp.ones(2)
    assert jnp.asarray(x, copy=False) is x and jnp.asarray(x) is x
    assert jnp.asarray(x, copy=True) is not x
    for value, dtype in ((np.ones(2), None), ([1], None), (x, "int8")):
        with raises_rule("array.copy", ValueError):
            jnp.asarray(value, dtype, copy=False)


# Libraries that ask an array for its namespace ---------------------------------------


def namespace_of(*arrays: Any) -> Any:
    """The namespace of arrays, as libraries of the standard look for it."""
    found = {a.__array_namespace__() for a in arrays if hasattr(a, "shape")}
    (namespace,) = found
    return namespace


def standardized(x: Any) -> Any:
    """A function of such a library: it knows no library of arrays."""
    xp = namespace_of(x)
    kept = xp.asarray(x, dtype=xp.float32, copy=True)
    spread = xp.sqrt(xp.mean((kept - xp.mean(kept)) ** 2))
    return xp.where(spread > 0, (kept - xp.mean(kept)) / spread, xp.zeros_like(kept))


def test_a_function_of_the_standard() -> None:
    x = np.arange(6, dtype="float32")
    want = (x - x.mean()) / x.std()
    np.testing.assert_allclose(standardized(jnp.asarray(x)), want, rtol=1e-6)
    np.testing.assert_allclose(traceir.jit(standardized)(x), want, rtol=1e-6)


def test_array_api_compat_knows_the_arrays() -> None:
    # SciPy brings a copy of its own.
    compat = importlib.import_module("scipy._lib.array_api_compat")
    x = jnp.arange(6.0)
    assert compat.is_array_api_obj(x) and not compat.is_numpy_array(x)
    assert compat.array_namespace(x, 2.0, x) is jnp
    assert compat.size(x) == 6 and compat.device(x) == x.device
    assert compat.to_device(x, compat.device(x)) is x

    def total(x: Any) -> Any:
        return compat.array_namespace(x).sum(x) / compat.size(x)

    assert float(traceir.jit(total)(x)) == float(total(x)) == 2.5


SCIPY = """
import os
os.environ["SCIPY_ARRAY_API"] = "1"
import numpy, traceir, traceir.numpy as jnp
from scipy import stats
traceir.base.config.update("enable_x64", True)
x = numpy.random.default_rng(0).normal(size=50) ** 2
for function in (stats.gmean, stats.skew):
    found = function(jnp.asarray(x))
    assert isinstance(found, traceir.Array), type(found)
    numpy.testing.assert_allclose(found, function(x), rtol=1e-12)
print("agreed")
"""


def test_functions_of_scipy_run_on_arrays() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCIPY], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "agreed", done.stderr[-2000:]


def test_bfloat16_is_rounded_once() -> None:
    x = np.array([1.00390625000001, 16842753, -1.00390625000001, 1e39, np.nan])
    with enable_x64():
        found = np.asarray(jnp.asarray(x, jnp.bfloat16), np.float64)
        whole = jnp.asarray([16842753, -16842753, 2**63 - 1], "int64").astype(
            added("bfloat16")
        )
    np.testing.assert_array_equal(
        found, [1.0078125, 16908288, -1.0078125, np.inf, np.nan]
    )
    assert whole.tolist() == [16908288, -16908288, 2.0**63]


@pytest.mark.parametrize("kind", [ValueError, IndexError])
def test_an_axis_out_of_bounds_is_both_errors_that_libraries_expect(
    kind: type[Exception],
) -> None:
    for call in (jnp.expand_dims, jnp.sum, jnp.flip, jnp.sort, jnp.unstack):
        with raises_rule("face.axis", kind):
            call(jnp.ones(2), axis=-5)
