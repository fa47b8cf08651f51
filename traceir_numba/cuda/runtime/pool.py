"""A memory pool of the device, reused in the order of its stream.

All that is launched goes to one stream, so what has lost its last reader may be given
to the next launch at once: that one runs when those before it have. Nothing waits.
Serves: backend.memory

A piece of memory dies with whatever lies in it, and what dies only says so, since that
may happen in any thread at any moment.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

from traceir.base.fork_safety import kept_over_forks
from traceir_numba.cuda import cost_model


class MemoryInfo(NamedTuple):
    """Bytes of a device: `used` by arrays that live, `free` for the arrays to come."""

    used: int
    free: int


def rounded(size: int) -> int:
    """The bytes of the piece that serves for so many.

    >>> rounded(1), rounded(4096), rounded(4097), rounded(9000)
    (512, 4096, 4608, 9216)
    """
    size = max(size, cost_model.DEVICE_POOL_BYTES)
    step = max(1, (1 << (size - 1).bit_length()) // (2 * cost_model.DEVICE_POOL_STEPS))
    return -(-size // step) * step


class DeviceAllocation:
    """Memory that one array uses at a time; it goes back when nothing refers to it.

    `shown` is set where another library has been told of the memory: it may still read
    it in a stream of its own, so the driver takes it back, who waits for all streams.
    """

    __slots__ = ("memory", "size", "shown", "_pool", "__weakref__")

    def __init__(self, memory: Any, size: int, pool: DevicePool) -> None:
        self.memory = memory
        self.size = size
        self.shown = False
        self._pool = pool

    @property
    def number(self) -> int:
        """The number of the device that has it."""
        return self._pool.number

    def __del__(self) -> None:
        self._pool.left.append((self.memory, self.size, self.shown))


class DevicePool:
    """Pieces of memory by their size; `bound` is how much of it may lie unused.

    `make` gives new memory of so many bytes, and raises where there is none; the device
    has a `number`.

    >>> pool = DevicePool(bytearray, 1 << 20)
    >>> piece = pool.take(1000)
    >>> first = id(piece.memory)
    >>> del piece
    >>> id(pool.take(1001).memory) == first, pool.made
    (True, 1)
    """

    def __init__(
        self, make: Callable[[int], Any], bound: float, number: int = 0
    ) -> None:
        self.make = make
        self.bound = bound
        self.number = number
        self.made = 0
        self.used = 0
        self.free = 0
        # What dies says so here, from any thread and in the midst of anything.
        self.left: deque[tuple[Any, int, bool]] = deque()
        self._pieces: OrderedDict[int, list[Any]] = OrderedDict()
        self._lock = kept_over_forks(threading.RLock())

    def take(self, size: int) -> DeviceAllocation:
        """A piece of so many bytes or a few more."""
        size = rounded(size)
        with self._lock:
            self._collect()
            found = self._pieces.get(size)
            if found:
                memory = found.pop()
                self.free -= size
            else:
                memory = self.make(size)
                self.made += 1
            self.used += size
        return DeviceAllocation(memory, size, self)

    def clear(self) -> int:
        """Give back unused memory; returns the number of bytes."""
        with self._lock:
            self._collect()
            freed = self.free
            self._pieces.clear()
            self.free = 0
        return freed

    def info(self) -> MemoryInfo:
        """The bytes that are used, and those that lie unused."""
        with self._lock:
            self._collect()
            return MemoryInfo(self.used, self.free)

    def _collect(self) -> None:
        """Take up memory that has died, and give back a surplus, the oldest first."""
        while self.left:
            memory, size, shown = self.left.popleft()
            self.used -= size
            if shown or size > self.bound:
                continue
            self._pieces.setdefault(size, []).append(memory)
            self._pieces.move_to_end(size)
            self.free += size
        while self.free > self.bound:
            size, oldest = next(iter(self._pieces.items()))
            if oldest:
                del oldest[0]
                self.free -= size
            if not oldest:
                del self._pieces[size]
