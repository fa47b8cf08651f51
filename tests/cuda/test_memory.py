"""Memory of a device is used again, and what is said when there is none left.

Cites: backend.memory
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir_numba
from traceir_numba.cuda import clear_memory, device_put, memory_info
from traceir_numba.cuda.runtime import device
from traceir_numba.cuda.runtime.pool import DevicePool, rounded


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[DevicePool]:
    """A pool of a test's own."""
    fresh = DevicePool(device._allocate, 1 << 20)
    monkeypatch.setattr(device, "pool", lambda: fresh)
    yield fresh


@traceir_numba.jit(target="cuda")
def step(x: Any) -> Any:
    """A reduction, and what takes memory in between."""
    return x * 2 + x[::-1] @ np.ones(x.shape[0])


def test_calls_one_after_the_other_take_no_new_memory(pool: DevicePool) -> None:
    x = step(step(device_put(np.arange(300.0))))
    made = pool.made
    for _ in range(3):
        x = step(x)
    assert pool.made == made
    assert np.isfinite(x.tolist()).all()


def test_memory_is_taken_back_when_its_last_array_dies(pool: DevicePool) -> None:
    x = device_put(np.arange(200.0).reshape(2, 100))
    row, other = x[1], x.reshape(100, 2)
    del x
    held = rounded(1600)
    assert memory_info() == (held, 0)
    assert row.tolist() == list(range(100, 200))
    del row, other
    gc.collect()
    assert memory_info() == (0, held)
    assert clear_memory() == held
    assert memory_info() == (0, 0)


def test_what_lies_unused_is_bounded(pool: DevicePool) -> None:
    arrays = [device_put(np.zeros(n, "u1")) for n in (700_000, 400_000, 1 << 21)]
    del arrays
    assert memory_info().free <= 1 << 20
    assert memory_info().used == 0


def test_memory_that_others_were_shown_is_not_used_again(pool: DevicePool) -> None:
    x = device_put(np.arange(100.0))
    assert x.__cuda_array_interface__["shape"] == (100,)
    del x
    assert memory_info() == (0, 0)
    y = device_put(np.arange(100.0))
    reader = y.__dlpack__(stream=None, max_version=(1, 0))
    del y
    assert memory_info() == (rounded(800), 0)
    del reader
    assert memory_info() == (0, rounded(800))


class _Full:
    """A dialect whose device has no memory for so many tries."""

    def __init__(self, tries: int, inner: Any) -> None:
        self.tries = tries
        self.inner = inner

    def device_array(self, *args: Any) -> Any:
        self.tries -= 1
        if self.tries >= 0:
            raise RuntimeError(
                "[2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY"
            )
        return self.inner.device_array(*args)


def test_a_full_device_is_given_back_what_lies_unused(
    pool: DevicePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = device_put(np.zeros(100))
    del kept
    assert pool.info().free
    full = _Full(1, device.dialect())
    monkeypatch.setattr(device, "dialect", lambda: full)
    piece = pool.take(1 << 16)
    assert memory_info() == (piece.size, 0)


def test_a_device_without_memory_says_how_much_was_asked(
    pool: DevicePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = pool.take(1000)
    full = _Full(2, device.dialect())
    monkeypatch.setattr(device, "dialect", lambda: full)
    with raises_rule(
        "backend.memory", MemoryError, "65,536 bytes asked for; .* 1,024", inside=True
    ):
        pool.take(1 << 16)
    assert pool.used == kept.size


def test_other_errors_of_a_driver_are_its_own(
    pool: DevicePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def device_array(self, *_: Any) -> Any:
            raise RuntimeError("CUDA_ERROR_LAUNCH_FAILED")

    monkeypatch.setattr(device, "dialect", Broken)
    with pytest.raises(RuntimeError, match="LAUNCH_FAILED"):
        pool.take(1)


def test_a_forked_process_is_told_that_it_has_no_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device.dialect()
    monkeypatch.setattr(device, "_lost", [])
    with monkeypatch.context() as real:
        real.setattr(device, "is_simulated", lambda: False)
        device.after_fork()
    with raises_rule("backend.device", RuntimeError, "forked", inside=True):
        device.dialect()


def test_a_forked_process_has_a_simulator() -> None:
    before = device.dialect()
    device.after_fork()
    assert device.dialect() is before
