"""Object code in this process: loaded by LLVM, which Numba need not be imported for."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from traceir.forks import kept_over_forks
from traceir_numba.libraries import provided

# LLVM's modules share one context, which only one thread may use at a time.
lock = kept_over_forks(threading.Lock())


def load(code: bytes, symbols: Iterable[str]) -> Mapping[str, int]:
    """Load an object file, and give the addresses of some of its functions.

    What it calls must have been loaded before: LLVM would end the process. It stays as
    long as the process. The caller holds `lock`.
    """
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    found = {name: int(engine.get_function_address(name)) for name in symbols}
    _loaded.update(found)
    return found


_loaded: set[str] = set()


def is_known(symbol: str) -> bool:
    """Whether code that calls this function can be loaded."""
    return symbol in _loaded or bool(llvm.address_of_symbol(symbol)) or provided(symbol)


@cache
def triple() -> str:
    """The name of this machine's target."""
    return str(llvm.get_process_triple())


@cache
def processor() -> tuple[str, str]:
    """The name of this machine's processor, and what it can do."""
    features = llvm.get_host_cpu_features()
    return str(llvm.get_host_cpu_name()), str(features.flatten())


@cache
def target_machine() -> Any:
    """What makes code for this machine."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = triple()
    cpu, features = processor()
    return llvm.Target.from_triple(target).create_target_machine(
        opt=3,
        cpu=cpu,
        features=features,
        reloc="static" if target.startswith(("x86", "i386", "i686")) else "default",
        codemodel="jitdefault",
        jit=True,
    )


@cache
def _engine() -> Any:
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
