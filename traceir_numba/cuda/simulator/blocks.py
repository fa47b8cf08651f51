"""The scheduler of the simulator: threads run from barrier to barrier.

Of Numba's simulator this keeps what kernels call, and has an order of its own. One
thread runs at a time, in a fixed order or in the opposite one, so what depends on the
order differs between the two. Threads of a block that wait at different barriers, or
end while others wait, are an error, as are places before the beginning of memory; what
blocks share begins as nonsense. A kernel without barriers needs no threads of Python's.

Tests run every primitive's cases, the patterns that are fused, and random programs of
all kinds in the simulator, and everything in the opposite order, too, with the same
bits. A few programs run in Numba's own order as well.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np

# What is in memory before anybody has written there: bytes that are no small number.
NONSENSE = 0xA5

# Whether threads and blocks run in the opposite order.
_backwards = False


@contextmanager
def backwards() -> Iterator[None]:
    """The last thread of the last block comes first."""
    global _backwards
    before, _backwards = _backwards, True
    try:
        yield
    finally:
        _backwards = before


class SimulatedKernel:
    """A kernel that runs thread after thread.

    `face` makes what Numba's simulator has for kernels, for a grid and a block.
    """

    def __init__(self, body: Callable[..., None], face: Callable[..., Any]) -> None:
        self.body, self.face = body, face
        self.waits = _waits(body)

    def __call__(self, blocks: Any, threads: Any, *args: Any) -> None:
        """Run so many blocks of so many threads, each a number or up to three."""
        grid, block = _three(blocks), _three(threads)
        cuda = _Cuda(self.face, grid, block)
        given = [_memory(arg) for arg in args]
        space = self.body.__globals__
        before, space["cuda"] = space.get("cuda"), cuda
        try:
            for place in _ordered(_points(grid)):
                cuda.begin(place)
                self._block(cuda, _ordered(_points(block)), given)
        finally:
            space["cuda"] = before

    def _block(self, cuda: _Cuda, places: Sequence[Any], args: list[Any]) -> None:
        """Run all threads of a block, in turns if the kernel has barriers."""

        def thread(number: int) -> None:
            cuda.number, cuda.threadIdx = number, cuda.point(places[number])
            with np.errstate(all="ignore"):  # each of Python's threads has its own
                self.body(*args)

        if not self.waits:
            for number in range(len(places)):
                thread(number)
            return
        cuda.turns = _Turns(len(places))
        cuda.turns.run(thread)


def _waits(body: Any) -> bool:
    """True if a function, or one of its module's that it calls, has barriers."""
    found, todo = {body}, [body]
    while todo:
        one = todo.pop()
        names = one.__code__.co_names
        if any(name.startswith("syncthreads") for name in names):
            return True
        space = one.__globals__
        called = [space[n] for n in names if hasattr(space.get(n), "__code__")]
        todo += [c for c in called if c not in found]
        found.update(called)
    return False


def _three(sizes: Any) -> tuple[int, int, int]:
    given = sizes if isinstance(sizes, tuple) else (sizes,)
    x, y, z = (*given, 1, 1)[:3]
    return x, y, z


def _points(sizes: tuple[int, int, int]) -> list[tuple[int, ...]]:
    """All places, that along x running first."""
    return [point[::-1] for point in product(*map(range, sizes[::-1]))]


def _ordered(places: list[Any]) -> list[Any]:
    return places[::-1] if _backwards else places


class _Cuda:
    """The object that a kernel calls `cuda`: the thread whose turn it is."""

    turns: _Turns
    threadIdx: Any
    blockIdx: Any
    number: int

    def __init__(
        self, face: Callable[..., Any], grid: Sequence[int], block: Sequence[int]
    ) -> None:
        self._face = face(grid, block)
        self.gridDim, self.blockDim = self.point(grid), self.point(block)
        self.shared, self.local = _SharedMemory(), _LocalMemory()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._face, name)

    def point(self, place: Sequence[int]) -> Any:
        """Three numbers, by their names."""
        named: Any = type(self._face.gridDim)
        return named(*place)

    def begin(self, place: Sequence[int]) -> None:
        """Another block, whose threads share memory of their own."""
        self.blockIdx = self.point(place)
        self.shared.made.clear()

    def grid(self, dims: int) -> Any:
        """The thread's number among all, or its place."""
        triples = zip(self.blockIdx, self.blockDim, self.threadIdx, strict=True)
        found = tuple(b * size + t for b, size, t in triples)
        return found[0] if dims == 1 else found[:dims]

    def gridsize(self, dims: int) -> Any:
        """The number of threads."""
        found = tuple(b * n for b, n in zip(self.blockDim, self.gridDim, strict=True))
        return found[0] if dims == 1 else found[:dims]

    def syncthreads(self) -> None:
        """Let all other threads of the block come here."""
        number, place = self.number, self.threadIdx
        self.turns.wait(number, _line(sys._getframe(1)))
        self.number, self.threadIdx = number, place


class _Turns:
    """The threads of one block: the one whose turn it is runs, and no other."""

    def __init__(self, count: int) -> None:
        self.doors = [threading.Lock() for _ in range(count)]
        self.end = threading.Lock()
        for lock in (*self.doors, self.end):
            lock.acquire()
        self.left = list(range(count))  # those of this round
        self.next = 0
        self.lines: dict[int, str | None] = {}
        self.error: BaseException | None = None

    def run(self, body: Callable[[int], None]) -> None:
        """Run all to their end. Raises the first error of any."""
        for number in self.left:
            args = number, body
            threading.Thread(target=self._thread, args=args, daemon=True).start()
        self.doors[0].release()
        self.end.acquire()
        if self.error is not None:
            raise self.error

    def _thread(self, number: int, body: Callable[[int], None]) -> None:
        self.doors[number].acquire()
        try:
            if self.error is None:
                body(number)
        except _Abandoned:
            pass
        except BaseException as error:
            self.error = self.error or error
        self._pass_on(number, None)

    def wait(self, number: int, line: str) -> None:
        """Let the others run until they wait, too."""
        self._pass_on(number, line)
        self.doors[number].acquire()
        if self.error is not None:
            raise _Abandoned

    def _pass_on(self, number: int, line: str | None) -> None:
        """Hand on the turn; after the last thread, all must be at one barrier."""
        self.lines[number] = line
        self.next += 1
        if self.next == len(self.left):
            lines = {self.lines[k] for k in self.left}
            if len(lines) > 1 and self.error is None:
                told = ", ".join(sorted(line or "the end" for line in lines))
                self.error = RuntimeError(f"threads of one block are at {told}")
            self.left = [k for k in self.left if self.lines[k] is not None]
            self.next = 0
        (self.doors[self.left[self.next]] if self.left else self.end).release()


def _line(frame: Any) -> str:
    """The line at which a function is now."""
    return f"line {frame.f_lineno} of {frame.f_code.co_name}"


class _Abandoned(Exception):
    """Another thread of the block has failed."""


# -- memory ---------------------------------------------------------------------------


class _CheckedMemory:
    """An array without places before its beginning."""

    __slots__ = ("array",)

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __getitem__(self, place: Any) -> Any:
        if type(place) is slice:
            _check((place.start, len(self.array) - place.stop))
            return _CheckedMemory(self.array[place])
        _check(place)
        return self.array[place]

    def __setitem__(self, place: Any, value: Any) -> None:
        _check(place)
        self.array[place] = value


def _check(place: Any) -> None:
    if (min(place) if type(place) is tuple else place) < 0:
        raise IndexError(f"a kernel reads or writes at {place}")


def _memory(arg: Any) -> Any:
    array = getattr(arg, "_ary", arg)
    return _CheckedMemory(array) if isinstance(array, np.ndarray) else arg


def _nonsense(shape: Any, dtype: Any) -> _CheckedMemory:
    array = np.empty(shape, dtype)
    array.reshape(-1).view(np.uint8).fill(NONSENSE)
    return _CheckedMemory(array)


class _SharedMemory:
    """Arrays of a block, told apart by the lines that make them."""

    def __init__(self) -> None:
        self.made: dict[str, _CheckedMemory] = {}

    def array(self, shape: Any, dtype: Any) -> _CheckedMemory:
        """The array that the line makes, which is made once."""
        line = _line(sys._getframe(1))
        if line not in self.made:
            self.made[line] = _nonsense(shape, dtype)
        return self.made[line]


class _LocalMemory:
    """Arrays of one thread."""

    def array(self, shape: Any, dtype: Any) -> _CheckedMemory:
        """A new array."""
        return _nonsense(shape, dtype)
