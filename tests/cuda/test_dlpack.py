"""Arrays of a device as DLPack's capsules. Cites: array.dlpack, array.key"""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
from traceir_numba.cuda import DeviceArray, device_put
from traceir_numba.cuda.arrays import dlpack
from traceir_numba.cuda.runtime import device

SIMULATED = device.is_simulated()
NUMPYS = pytest.mark.skipif(not SIMULATED, reason="NumPy reads no device's memory")
DTYPES = ["bool", "int8", "uint16", "int64", "float16", "float32", "complex64"]


@NUMPYS
@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_reads_the_memory_itself(dtype: str) -> None:
    there = device_put(np.arange(6).reshape(2, 3).astype(dtype))
    seen = np.from_dlpack(there)
    assert (seen.dtype, seen.shape, seen.flags.writeable) == (dtype, (2, 3), False)
    assert seen.ctypes.data == there.lie(False).pointer
    assert seen.tobytes() == np.asarray(there).tobytes()
    assert np.from_dlpack(there, copy=True).flags.writeable


@NUMPYS
def test_the_memory_lives_as_long_as_its_reader() -> None:
    there = device_put(np.arange(5.0))
    seen = np.from_dlpack(there)
    del there
    gc.collect()
    device_put(np.zeros(5))  # which would take the memory if it were free
    assert seen.tolist() == [0, 1, 2, 3, 4]
    before = len(dlpack._lent)
    del seen
    assert len(dlpack._lent) == before - 1


def test_capsules_that_nobody_reads_keep_nothing() -> None:
    before = len(dlpack._lent)
    for version in (None, (1, 0)):
        capsule = device_put(np.ones(2)).__dlpack__(max_version=version)
        assert len(dlpack._lent) == before + 1
        del capsule
        assert len(dlpack._lent) == before


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 1)])
@pytest.mark.parametrize("copy", [None, True])
def test_only_who_is_told_not_to_write_is_given_the_memory(
    version: Any, copy: Any
) -> None:
    there = device_put(np.arange(3.0))
    found = dlpack.read(there.__dlpack__(max_version=version, copy=copy))
    told = version is not None and version >= (1, 0)
    shares = found.pointer == there.lie(False).pointer
    assert shares is (told and not copy)
    assert (found.shape, found.strides, found.dtype) == ((3,), (8,), np.float64)


def test_what_is_read_once_is_not_read_again() -> None:
    capsule = device_put(np.ones(2)).__dlpack__()
    dlpack.read(capsule)
    with pytest.raises(BufferError):
        dlpack.read(capsule)
    with pytest.raises(BufferError):
        dlpack.read("no capsule")


def test_the_host_is_given_a_copy_when_it_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = device_put(np.arange(3.0))
    own = dlpack.CUDA, 0
    monkeypatch.setattr(DeviceArray, "__dlpack_device__", lambda self: own)
    capsule = there.__dlpack__(dl_device=(1, 0), max_version=(1, 0))
    assert dlpack.read(capsule).device == (1, 0)
    for wanted, copy in (((1, 0), False), ((2, 1), None)):
        with raises_rule("array.dlpack", BufferError):
            there.__dlpack__(dl_device=wanted, copy=copy)


def test_what_cannot_be_exported_is_refused() -> None:
    there = device_put(np.arange(3.0))
    with raises_rule("array.dlpack", BufferError, "stream=0"):
        there.__dlpack__(stream=0)
    with raises_rule("array.dlpack", BufferError, "without max_version"):
        there.__dlpack__(copy=False)
    keys = device_put(traceir.random.split(traceir.random.key(0)))
    with raises_rule("array.key"):
        keys.__dlpack__()
    with raises_rule("array.key"):
        np.asarray(keys)


def test_streams_wait_for_what_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[tuple[int, int]] = []
    monkeypatch.setattr(device, "let_wait", lambda *pair: waits.append(pair))
    there = device_put(np.arange(3.0))
    for stream in (None, -1, 1, 99):
        there.__dlpack__(stream=stream, max_version=(1, 0))
    assert waits == [(1, 1), (99, 1)]
    assert device.owner(there.memory).shown


@pytest.mark.parametrize(
    ("code", "bits", "lanes", "want"),
    [(2, 32, 1, "float32"), (4, 16, 1, "bfloat16"), (6, 8, 1, "bool")],
)
def test_kinds_of_elements_have_numbers(
    code: int, bits: int, lanes: int, want: str
) -> None:
    found = dlpack._dtype_of(dlpack._Dtype(code, bits, lanes))
    assert found.name == want and dlpack.code_of(found) == code


@pytest.mark.parametrize("kind", [(2, 32, 4), (0, 4, 1), (9, 8, 1)])
def test_other_elements_are_refused(kind: tuple[int, int, int]) -> None:
    with pytest.raises(BufferError, match="NumPy has no such elements"):
        dlpack._dtype_of(dlpack._Dtype(*kind))
    with pytest.raises(BufferError, match="no number"):
        dlpack.code_of(np.dtype("M8[s]"))
