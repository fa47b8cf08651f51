"""LLVM text to machine code: one engine for all kernels of the process.

Contraction stays off: no pass may turn a product and a sum into one rounding
(choice.contraction).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite.binding as llvm
from numba.core.compiler_lock import global_compiler_lock

from traceir.forks import kept_over_forks


@dataclass(frozen=True, slots=True)
class Code:
    """Optimised machine code of one LLVM module, alive as long as the process."""

    module: Any
    addresses: Mapping[str, int]

    @property
    def llvm(self) -> str:
        """The optimised LLVM text."""
        with _lock:
            return str(self.module)

    @property
    def assembly(self) -> str:
        """The assembly text for this machine."""
        with _lock:
            return str(_machine().emit_assembly(self.module))


# LLVM's modules share one context, which only one thread may use at a time.
_lock = kept_over_forks(threading.Lock())
# Numba's lowering is in LLVM too, for kernels and for users' own functions.
kept_over_forks(global_compiler_lock)


def link(
    texts: Sequence[str], symbols: Iterable[str], inlined: Iterable[str] = ()
) -> Code:
    """Optimise and load LLVM modules as one; gives the addresses of `symbols`.

    `inlined` are further modules, callees first, whose functions are made part of
    their callers.
    """
    with _lock:  # what LLVM made on the way is freed before the lock is
        return _link(texts, symbols, inlined)


def _link(texts: Sequence[str], symbols: Iterable[str], inlined: Iterable[str]) -> Code:
    module = llvm.parse_assembly(texts[0])
    for text in texts[1:]:
        module.link_in(llvm.parse_assembly(text))
    # Callers before callees: the linker leaves out what nothing refers to yet.
    for part in reversed(list(inlined)):
        module.link_in(_to_inline(part))
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.loop_interleaving = True
    builder = llvm.create_pass_builder(_machine(), options)
    builder.getModulePassManager().run(module, builder)
    _check_resolved(module)
    engine = _engine()
    engine.add_module(module)
    engine.finalize_object()
    found = {name: int(engine.get_function_address(name)) for name in symbols}
    _loaded.update(found)
    return Code(module, found)


_loaded: set[str] = set()


def _check_resolved(module: Any) -> None:
    """Raise RuntimeError for a function that is nowhere: LLVM would end the process."""
    for function in module.functions:
        name = function.name
        known = not function.is_declaration or name.startswith("llvm.")
        if not known and name not in _loaded and not llvm.address_of_symbol(name):
            raise RuntimeError(f"no code for {name}")


def _to_inline(text: str) -> Any:
    module = llvm.parse_assembly(text)
    for function in module.functions:
        if not function.is_declaration:
            function.linkage = llvm.Linkage.linkonce_odr
            function.add_function_attribute("alwaysinline")
    return module


def triple() -> str:
    """The name of this machine's target."""
    return str(llvm.get_process_triple())


@cache
def _machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = triple()
    return llvm.Target.from_triple(target).create_target_machine(
        opt=3,
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        reloc="static" if target.startswith(("x86", "i386", "i686")) else "default",
        codemodel="jitdefault",
        jit=True,
    )


@cache
def _engine() -> Any:
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
