"""Arrays of other libraries are taken where they lie, and results are theirs.

Libraries of which there is no array without a device are stood in for by classes that
have the same interfaces. Cites: backend.foreign, array.capsule, array.copy
"""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir_numba
from traceir_numba.cuda import DeviceArray, device_put, from_dlpack
from traceir_numba.cuda.arrays import foreign
from traceir_numba.cuda.runtime import device

# What stands in for an array of a device is in the host's memory.
SIMULATED = device.is_simulated()
DEVICE = not SIMULATED
STANDS_IN = pytest.mark.skipif(not SIMULATED, reason="a device reads its own memory")


class Interface:
    """An array that tells of itself as CuPy's do, in version 3 of the interface."""

    def __init__(self, array: np.ndarray, **told: Any) -> None:
        self.array = array
        self.told = told

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        own = dict(self.array.__array_interface__)
        found = {name: own[name] for name in ("shape", "typestr", "data")}
        strides = None if self.array.flags.c_contiguous else self.array.strides
        return {**found, "strides": strides, "version": 3, "stream": 1, **self.told}


class Packed:
    """An array that DLPack alone tells of, as PyTorch's."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __dlpack__(self, stream: Any = None) -> Any:
        return self.array.__dlpack__()


class Refusing(Packed):
    """One that does not let itself be exported."""

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("a gradient is asked for")


class Elsewhere(Packed):
    """One on another device."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 7


@pytest.fixture(params=["cupy", "torch"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A library of that name, whose arrays have one of the interfaces."""
    name = request.param
    kind = type("Array", (Interface if name == "cupy" else Packed,), {})
    kind.__module__ = f"{name}.arrays"
    module = types.ModuleType(name)
    vars(module).update(kind=kind, from_dlpack=lambda x: kind(np.from_dlpack(x)))
    monkeypatch.setitem(sys.modules, name, module)
    return module


@traceir_numba.jit(target="cuda")
def twice(x: Any, y: Any = 1.0) -> Any:
    """A result, and one that is an argument."""
    return {"twice": x * 2 + y, "same": x}


@STANDS_IN
def test_results_are_the_librarys_whose_arrays_were_given(library: Any) -> None:
    given = np.arange(6.0).reshape(2, 3)
    found = twice(library.kind(given), np.ones(3))
    assert {type(v) for v in found.values()} == {library.kind}
    np.testing.assert_array_equal(found["twice"].array, given * 2 + 1)
    found["same"].array[...] = 7  # it is the library's, to write to
    np.testing.assert_array_equal(given, np.arange(6.0).reshape(2, 3))


@STANDS_IN
def test_results_for_arrays_of_several_libraries_are_ours(library: Any) -> None:
    given = np.arange(3.0)
    for other in (device_put(given), Interface(given)):
        found = twice(library.kind(given), other)
        assert isinstance(found["twice"], DeviceArray)
        np.testing.assert_array_equal(found["twice"], given * 3)


@STANDS_IN
def test_a_compiled_function_and_a_fallback_give_the_librarys_arrays(
    library: Any,
) -> None:
    given = library.kind(np.arange(3.0))
    compiled = twice.lower(given, given).compile()
    np.testing.assert_array_equal(compiled(given, given)["twice"].array, [0, 3, 6])

    @traceir_numba.jit(target="cuda", fallback="numpy")
    def odd(x: Any) -> Any:
        return np.setdiff1d(x, [0, 2])

    with pytest.warns(UserWarning, match="NumPy runs it as it is"):
        assert odd(given).array.tolist() == [1.0]


ARRAYS = {
    "whole": np.arange(24.0).reshape(2, 3, 4),
    "backwards": np.arange(24.0).reshape(4, 6)[::-1, ::-2],
    "turned": np.arange(6, dtype="int16").reshape(2, 3).T,
    "part": np.arange(24, dtype="uint8").reshape(4, 6)[1:3, 2:],
    "repeated": np.ndarray((2, 3), "f4", np.ones(1, "f4"), 0, (0, 0)),
    "pairs": (np.arange(6) * (1 - 2j)).reshape(2, 3)[:, ::2],
    "booleans": np.array([True, False, True])[::2],
    "scalar": np.array(2.5),
    "empty": np.zeros((0, 3))[::-1],
    "one": np.arange(4.0)[2:3],
}


@STANDS_IN
@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("kind", [Interface, Packed])
def test_elements_are_taken_as_they_lie(kind: Any, name: str) -> None:
    array = ARRAYS[name]
    there = device_put(kind(array))
    assert (there.shape, there.dtype) == (array.shape, array.dtype)
    np.testing.assert_array_equal(there, array)


@STANDS_IN
@pytest.mark.parametrize("kind", [Interface, Packed])
def test_what_lies_in_one_piece_is_not_copied(kind: Any) -> None:
    array = np.arange(6.0)
    there = device_put(kind(array[2:]))
    array[2] = 9
    assert there.tolist()[0] == 9
    assert device_put(kind(array[::2])).lie(False).pointer != array.ctypes.data


@STANDS_IN
def test_the_owner_of_shared_memory_lives_as_long_as_the_array() -> None:
    array = np.arange(4.0)
    before = sys.getrefcount(array)
    there = device_put(Packed(array))
    assert sys.getrefcount(array) > before
    del there
    assert sys.getrefcount(array) == before


@STANDS_IN
@pytest.mark.parametrize(
    "given",
    [
        Elsewhere(np.ones(2)),
        Refusing(np.ones(2)),
        Interface(np.ones(2), stream=0),
        Interface(np.ones(2), mask=np.ones(2)),
        Interface(np.ones(2, ">f8")),
        Interface(np.zeros(2, "M8[s]")),
        Interface(np.zeros(9, "u1")[1:].view("f8")),
        Interface(np.zeros(4, [("a", "u1"), ("b", "f4")])["b"]),
    ],
)
def test_what_cannot_be_taken_is_refused(given: Any) -> None:
    with raises_rule("backend.foreign", TypeError, "got: "):
        twice(given)


@STANDS_IN
def test_streams_wait_for_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[tuple[int, int]] = []
    monkeypatch.setattr(device, "let_wait", lambda *pair: waits.append(pair))
    twice(Interface(np.ones(2), stream=77), Interface(np.ones(2), stream=None))
    assert waits == [(1, 77), (77, 1)]


@STANDS_IN
def test_imports_through_dlpack() -> None:
    array = np.arange(6.0)
    there = from_dlpack(array)
    copied = from_dlpack(array, copy=True)
    array[0] = 5
    assert (there.tolist()[0], copied.tolist()[0]) == (5.0, 0.0)
    assert from_dlpack(there).lie(False).pointer == there.lie(False).pointer
    with raises_rule("array.copy", ValueError):
        from_dlpack(array[::2], copy=False)
    with raises_rule("array.capsule", TypeError):
        from_dlpack([1, 2])


def test_arrays_of_the_dialect_are_given_in_kind() -> None:
    give = foreign.LIBRARIES["numba"]
    found = give(device_put(np.arange(6).reshape(2, 3)))
    np.testing.assert_array_equal(found.copy_to_host(), np.arange(6).reshape(2, 3))


def check_kind(array: Any) -> None:
    """Results for a library's array are arrays of that library."""
    found = twice(array)["twice"]
    assert type(found) is type(array)
    want = np.arange(6).reshape(2, 3) * 2 + 1
    np.testing.assert_array_equal(np.asarray(device_put(found)), want)


NUMBERS = np.arange(6, dtype="float32").reshape(2, 3)


def test_tensors_of_pytorch_come_back_as_they_are() -> None:
    torch = pytest.importorskip("torch", reason="its tensors are compared, where it is")
    tensor = torch.asarray(NUMBERS)
    check_kind(tensor if SIMULATED else tensor.cuda())


def test_arrays_of_jax_come_back_as_they_are() -> None:
    jax = pytest.importorskip("jax", reason="its arrays are compared, where it is")
    check_kind(jax.numpy.asarray(NUMBERS))


@pytest.mark.skipif(not DEVICE, reason="CuPy has no arrays without a device")
def test_arrays_of_cupy_come_back_as_they_are() -> None:
    cupy = pytest.importorskip("cupy", reason="its arrays are compared, where it is")
    check_kind(cupy.asarray(NUMBERS))
