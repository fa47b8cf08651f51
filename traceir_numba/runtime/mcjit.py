"""LLVM on this machine: what it is, and object code loaded by its MCJIT.

LLVM frees an engine's object files together, and an engine takes as much memory as
several of them: some share one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import Any

import llvmlite.binding as llvm

from traceir.base.fork_safety import kept_over_forks
from traceir_numba import cost_model
from traceir_numba.runtime.external_symbols import address_of

# llvmlite's own, which is held in each of its calls, also those made without ours.
kept_over_forks(llvm.ffi.lib._lock._lock)


# What the symbols of generated code begin with.
OWN = "traceir_"


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


def load(
    code: bytes, symbols: Iterable[str], needs: Mapping[str, int]
) -> tuple[dict[str, int], Callable[[], object]]:
    """Load an object file, which has the functions `symbols`: their addresses, and what
    frees them.

    `needs` are the addresses of the functions of others that it calls: these must stay
    as long as it does. The caller holds `code_loader.lock`, also where it frees them.
    """
    for name, address in needs.items():
        llvm.add_symbol(name, address)
    own = _engine_for(needs)
    own.taken += 1
    own.used += 1  # before anything that might free it
    own.engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    own.engine.finalize_object()
    found = {name: int(own.engine.get_function_address(name)) for name in symbols}
    own.has.update(found)
    return found, partial(_free, own)


def _engine_for(needs: Mapping[str, int]) -> _Engine:
    if _current and not _current[0].takes(needs):
        full = _current.pop()
        if not full.used:
            full.engine.close()
    if not _current:
        _current.append(_Engine())
    return _current[0]


def _free(own: _Engine) -> None:
    """Free an engine of which no object file is in use any more."""
    own.used -= 1
    if own.used:
        return
    if own.taken == cost_model.ENGINE_OBJECTS and own in _current:
        _current.remove(own)
    if own not in _current:
        own.engine.close()


def is_provided(symbol: str) -> bool:
    """True if a function that is not generated can be called by its symbol."""
    # LLVM remembers addresses of generated code that is gone.
    if not symbol.startswith(OWN) and llvm.address_of_symbol(symbol):
        return True
    address = address_of(symbol)
    if address is not None:
        llvm.add_symbol(symbol, address)
    return address is not None


@cache
def triple() -> str:
    """The name of this machine's target."""
    return str(llvm.get_process_triple())


@cache
def processor() -> tuple[str, str]:
    """The name of this machine's processor, and its features."""
    features = llvm.get_host_cpu_features()
    return str(llvm.get_host_cpu_name()), str(features.flatten())


# What LLVM is to think of a processor: elements far apart that are read one by one
# become vectors faster than those that one instruction gathers.
TUNING = {"x86_64": ",+prefer-no-gather"}


@cache
def target_machine() -> Any:
    """The LLVM target of this machine."""
    cpu, features = processor()
    return _target().create_target_machine(
        opt=3,
        cpu=cpu,
        features=features + TUNING.get(triple().partition("-")[0], ""),
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
