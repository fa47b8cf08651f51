"""Requests to a driver, told by a dialect that only writes them down."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from traceir_numba.cuda.runtime import device
from traceir_numba.cuda.runtime.pool import DeviceAllocation


class Memory:
    """Memory of a device as the dialects have it: an array over an interface."""

    def __init__(self, region: Any) -> None:
        self.told = region.__cuda_array_interface__
        self.gpu_data = SimpleNamespace(owner=region)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self.told, "strides": None}


class Event:
    """An event that says where it is recorded and waited for."""

    def __init__(self, said: list[Any]) -> None:
        self.said = said

    def record(self, stream: Any) -> None:
        self.said.append(("record", stream))

    def wait(self, stream: Any) -> None:
        self.said.append(("wait", stream))


class Dialect:
    """A dialect with a device of 4,096 bytes."""

    def __init__(self) -> None:
        self.said: list[Any] = []
        self.made = 0

    def device_array(self, size: int, dtype: Any) -> Any:
        self.made += 1
        told = {"data": (1 << 20, False), "shape": (size,), "typestr": "|u1"}
        return Memory(SimpleNamespace(__cuda_array_interface__=told))

    def as_cuda_array(self, region: Any, sync: bool) -> Memory:
        assert sync is False
        return Memory(region)

    def event(self, timing: bool) -> Event:
        assert timing is False
        return Event(self.said)

    def legacy_default_stream(self) -> str:
        return "legacy"

    def per_thread_default_stream(self) -> str:
        return "of thread"

    def external_stream(self, number: int) -> int:
        return number

    def get_current_device(self) -> Any:
        return SimpleNamespace(id=3)

    def current_context(self) -> Any:
        return SimpleNamespace(get_memory_info=lambda: (1024, 4096))


@pytest.fixture
def dialect(monkeypatch: pytest.MonkeyPatch) -> Dialect:
    """A device that is there, as far as anybody asks."""
    made = Dialect()
    monkeypatch.setattr(device, "is_simulated", lambda: False)
    monkeypatch.setattr(device, "dialect", lambda: made)
    pool = device.pool_of.__wrapped__(0)
    monkeypatch.setattr(device, "pool", lambda: pool)
    return made


def test_memory_is_told_of_by_its_interface(dialect: Dialect) -> None:
    memory = device.empty(10, "float64")
    assert memory.told["shape"] == (10,) and memory.told["typestr"] == "<f8"
    assert device.pointer(memory) == 1 << 20
    assert isinstance(device.owner(memory), DeviceAllocation)
    piece = device.owner(memory)
    assert (piece.size, device.pool().used, device.pool().bound) == (512, 512, 1024)
    del memory, piece
    device.empty(3, "uint8")
    assert dialect.made == 1
    assert device.owner(SimpleNamespace(gpu_data=None)) is None


def test_one_stream_waits_for_another_by_an_event(dialect: Dialect) -> None:
    device.let_wait(77, device.own_stream())
    device.let_wait(1, 2)
    device.let_wait(1, 1)
    assert dialect.said == [
        ("record", "legacy"),
        ("wait", 77),
        ("record", "of thread"),
        ("wait", "legacy"),
    ]


def test_streams_of_threads_keep_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CUDA_PER_THREAD_DEFAULT_STREAM", "1")
    assert device.own_stream() == device.OF_THREAD
    assert device.pool_of.__wrapped__(0).bound == 0


def test_the_device_has_a_number(dialect: Dialect) -> None:
    assert device.number() == 3
