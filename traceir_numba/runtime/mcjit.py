"""Object code loaded into this process by LLVM's MCJIT.

An object file stays as long as the `Image` of it. LLVM frees an engine's object files
together, and an engine takes as much memory as several of them: some share one.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections import deque
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from traceir.base.fork_safety import kept_over_forks
from traceir_numba import cost_model
from traceir_numba.runtime.allocator import loaded
from traceir_numba.runtime.external_symbols import provided

# LLVM's modules share one context, which only one thread may use at a time. Reentrant:
# a collection between two calls of LLVM may run a user's code.
lock = kept_over_forks(threading.RLock())
# llvmlite's own, which is held in each of its calls, also those made without ours.
kept_over_forks(llvm.ffi.lib._lock._lock)


# What the symbols of generated code begin with.
OWN = "traceir_"


class Image:
    """A loaded object file, and the addresses of its functions while it lives."""

    __slots__ = ("addresses", "__weakref__")

    def __init__(self, addresses: Mapping[str, int]) -> None:
        self.addresses = addresses


class _Engine:
    """An engine of LLVM's: how many object files it has taken, how many are in use.

    `has` are its functions; of those with one name, the one that it finds.
    """

    __slots__ = ("engine", "has", "taken", "used")

    def __init__(self) -> None:
        target = _target().create_target_machine(
            reloc=_reloc(), codemodel="jitdefault", jit=True
        )
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
        self.has: dict[str, int] = {}
        self.taken = self.used = 0

    def takes(self, needs: Mapping[str, int]) -> bool:
        """True if it can load one more, which calls functions at these addresses."""
        found = (self.has.get(name, address) for name, address in needs.items())
        return self.taken < cost_model.ENGINE_OBJECTS and [*found] == [*needs.values()]


# The engine that takes the next object file, if it has room for one.
_current: list[_Engine] = []
_engines: dict[weakref.ref[Image], _Engine] = {}
# Images die in any thread at any moment, that of a compilation included.
_dead: deque[weakref.ref[Image]] = deque()


def load(code: bytes, symbols: Iterable[str], needs: Mapping[str, int]) -> Image:
    """Load an object file, which has the functions `symbols`.

    `needs` are the addresses of the functions of others that it calls: these must stay
    as long as it does. The caller holds `lock`.
    """
    _free()
    for name, address in needs.items():
        llvm.add_symbol(name, address)
    own = _engine_for(needs)
    own.taken += 1
    own.used += 1  # before anything that might free it
    own.engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    own.engine.finalize_object()
    found = {name: int(own.engine.get_function_address(name)) for name in symbols}
    own.has.update(found)
    image = Image(found)
    known = weakref.ref(image, _died)
    _engines[known] = own
    loaded[id(known)] = len(code)
    return image


def _engine_for(needs: Mapping[str, int]) -> _Engine:
    if _current and not _current[0].takes(needs):
        full = _current.pop()
        if not full.used:
            full.engine.close()
    if not _current:
        _current.append(_Engine())
    return _current[0]


def _died(image: weakref.ref[Image]) -> None:
    if sys is None or sys.is_finalizing():
        return
    _dead.append(image)
    # Another thread that has the lock frees it with the next object file.
    if lock.acquire(blocking=False):
        try:
            _free()
        finally:
            lock.release()


def _free() -> None:
    """Free the engines of which no object file is in use; the caller holds `lock`."""
    while _dead:
        dead = _dead.popleft()
        own = _engines.pop(dead)
        del loaded[id(dead)]
        own.used -= 1
        if own.used:
            continue
        if own.taken == cost_model.ENGINE_OBJECTS and own in _current:
            _current.remove(own)
        if own not in _current:
            own.engine.close()


def images() -> int:
    """The number of object files that are loaded and in use."""
    return len(_engines) - len(_dead)


def is_provided(symbol: str) -> bool:
    """True if a function that is not generated can be called by its symbol."""
    # LLVM remembers addresses of generated code that is gone.
    known = not symbol.startswith(OWN) and llvm.address_of_symbol(symbol)
    return bool(known) or provided(symbol)


@cache
def triple() -> str:
    """The name of this machine's target."""
    return str(llvm.get_process_triple())


@cache
def processor() -> tuple[str, str]:
    """The name of this machine's processor, and its features."""
    features = llvm.get_host_cpu_features()
    return str(llvm.get_host_cpu_name()), str(features.flatten())


@cache
def target_machine() -> Any:
    """The LLVM target of this machine."""
    cpu, features = processor()
    return _target().create_target_machine(
        opt=3,
        cpu=cpu,
        features=features,
        reloc=_reloc(),
        codemodel="jitdefault",
        jit=True,
    )


@cache
def _target() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(triple())


def _reloc() -> str:
    return "static" if triple().startswith(("x86", "i386", "i686")) else "default"
