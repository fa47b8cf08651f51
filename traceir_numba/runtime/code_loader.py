"""Object code loaded into this process, and freed with its last user.

On Linux on x86-64 `elf` puts it into memory, elsewhere LLVM (`mcjit`), which is not
imported before.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping

from traceir.base.fork_safety import kept_over_forks
from traceir_numba.runtime import elf
from traceir_numba.runtime.allocator import loaded
from traceir_numba.runtime.external_symbols import address_of

# Held while code is made or loaded: LLVM's modules share one context, which only one
# thread may use at a time. Reentrant: a collection inside may run a user's code.
lock = kept_over_forks(threading.RLock())


class Image:
    """A loaded object file, and the addresses of its functions while it lives."""

    __slots__ = ("addresses", "__weakref__")

    def __init__(self, addresses: Mapping[str, int]) -> None:
        self.addresses = addresses


# What frees the memory of each image, and of those that are gone: images die in any
# thread at any moment, that of a compilation included.
_free: dict[weakref.ref[Image], Callable[[], object]] = {}
_dead: deque[Callable[[], object]] = deque()


def load(code: bytes, symbols: Iterable[str], needs: Mapping[str, int]) -> Image:
    """Load an object file, which has the functions `symbols`.

    `needs` are the addresses of the functions of others that it calls: these must stay
    as long as it does. The caller holds `lock`. Raises RuntimeError for code that calls
    what is nowhere.
    """
    _free_dead()
    if elf.is_loaded_here():
        memory, known = elf.load(code, lambda name: needs.get(name) or address_of(name))
        free: Callable[[], object] = memory.free
    else:
        from traceir_numba.runtime import mcjit  # which loads LLVM

        known, free = mcjit.load(code, symbols, needs)
    image = Image({name: known[name] for name in symbols})
    reference = weakref.ref(image, _died)
    _free[reference] = free
    loaded[id(reference)] = len(code)
    return image


def _died(image: weakref.ref[Image]) -> None:
    # Threads that the process ends with may still run its code.
    if sys is None or sys.is_finalizing():
        return
    del loaded[id(image)]
    _dead.append(_free.pop(image))
    # Another thread that has the lock frees it with the next object file.
    if lock.acquire(blocking=False):
        try:
            _free_dead()
        finally:
            lock.release()


def _free_dead() -> None:
    while _dead:
        _dead.popleft()()


def images() -> int:
    """The number of object files that are loaded and in use."""
    return len(_free)


def is_provided(symbol: str) -> bool:
    """True if a function that is not generated can be called by its symbol."""
    if elf.is_loaded_here():
        return address_of(symbol) is not None
    from traceir_numba.runtime import mcjit  # as above

    return mcjit.is_provided(symbol)
