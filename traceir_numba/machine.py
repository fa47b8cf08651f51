"""LLVM text to machine code: one engine for all kernels of the process.

Contraction stays off: no pass may turn a product and a sum into one rounding
(choice.contraction).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
from numba.core.compiler_lock import global_compiler_lock

from traceir.forks import kept_over_forks
from traceir_numba.engine import is_known, load, lock, target_machine


@dataclass(frozen=True, slots=True)
class Code:
    """Optimised machine code of one LLVM module, alive as long as the process."""

    addresses: Mapping[str, int]
    code: bytes  # the object file
    needs: tuple[str, ...]  # functions of other modules that it calls
    bitcode: bytes  # LLVM's own form: a module that lives would need its lock to die

    @property
    def llvm(self) -> str:
        """The optimised LLVM text."""
        with lock:
            return str(llvm.parse_bitcode(self.bitcode))

    @property
    def assembly(self) -> str:
        """The assembly text for this machine."""
        with lock:
            module = llvm.parse_bitcode(self.bitcode)
            return str(target_machine().emit_assembly(module))


# Numba's lowering is in LLVM too, for kernels and for users' own functions.
kept_over_forks(global_compiler_lock)


def link(
    texts: Sequence[str], symbols: Iterable[str], inlined: Iterable[str] = ()
) -> Code:
    """Optimise and load LLVM modules as one; gives the addresses of `symbols`.

    `inlined` are further modules, callees first, whose functions are made part of
    their callers.
    """
    with lock:  # what LLVM made on the way is freed before the lock is
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
    builder = llvm.create_pass_builder(target_machine(), options)
    builder.getModulePassManager().run(module, builder)
    needs = _needed(module)
    code = target_machine().emit_object(module)
    return Code(load(code, symbols), code, needs, module.as_bitcode())


def _needed(module: Any) -> tuple[str, ...]:
    """The functions of other modules that a module calls.

    Raises RuntimeError for one that is nowhere: LLVM would end the process.
    """
    names = [f.name for f in module.functions if f.is_declaration]
    needed = tuple(name for name in names if not name.startswith("llvm."))
    for name in needed:
        if not is_known(name):
            raise RuntimeError(f"no code for {name}")
    return needed


def _to_inline(text: str) -> Any:
    module = llvm.parse_assembly(text)
    for function in module.functions:
        if not function.is_declaration:
            function.linkage = llvm.Linkage.linkonce_odr
            function.add_function_attribute("alwaysinline")
    return module
