"""LLVM's optimisation pipeline, linking and code generation.

Contraction stays off: no pass may turn a product and a sum into one rounding
(choice.contraction).

Loops that `llvm.vectors` makes loops over vectors are simplified, with their functions
in place, and no more; for all others the pipeline is LLVM's own at its third level.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from traceir.base.fast_dataclass import dataclass
from traceir_numba.llvm.native import native, unfenced
from traceir_numba.llvm.vectors.widen import widened
from traceir_numba.runtime.code_loader import lock
from traceir_numba.runtime.mcjit import processor, target_machine
from traceir_numba.store.units import (
    Addresses,
    LoadedObject,
    ObjectFile,
    linked,
    unit_key,
)

# The first line of a text whose numbers stay alone.
SCALAR = "; scalar\n"


@dataclass(frozen=True, slots=True)
class MachineCode:
    """Machine code of one LLVM module: it is loaded as long as the unit lives.

    `texts` and `inlined` are what it was made of, as `link` has them.
    """

    unit: LoadedObject
    texts: tuple[str, ...]
    inlined: tuple[str, ...]

    @property
    def addresses(self) -> Addresses:
        """The addresses of the functions."""
        return self.unit.addresses

    @property
    def llvm(self) -> str:
        """The optimised LLVM text."""
        with lock:
            return str(optimised(self.texts, self.inlined))

    @property
    def assembly(self) -> str:
        """The assembly text for this machine."""
        with lock:
            module = optimised(self.texts, self.inlined)
            return str(target_machine().emit_assembly(module))


def link(
    texts: Sequence[str],
    symbols: Iterable[str],
    inlined: Iterable[str] = (),
    uses: Iterable[MachineCode] = (),
) -> MachineCode:
    """Optimise and load LLVM modules as one; gives the addresses of `symbols`.

    `inlined` are further modules, callees first, whose functions are made part of
    their callers. `uses` have the functions that are called where they are: they stay
    as long as this code does.

    Raises RuntimeError for a function that is in none of these, nor in a library.
    """
    own, parts, names = tuple(texts), tuple(inlined), tuple(symbols)
    units = [code.unit for code in uses]
    key = unit_key(*own, "", *parts)
    with lock:  # what LLVM made on the way is freed before the lock is
        unit = linked(key, names, units, lambda: object_file(own, parts))
    return MachineCode(unit, own, parts)


def object_file(texts: tuple[str, ...], inlined: tuple[str, ...] = ()) -> ObjectFile:
    """The object file of some texts, as `link` has them. The caller holds the lock."""
    module = optimised(texts, inlined)
    needs = _needed(module)
    return ObjectFile(target_machine().emit_object(module), needs)


class OwnModule(llvm.ModuleRef):  # type: ignore[misc]  # llvmlite has no types
    """A module of a context that frees it, if the context is the first to be freed.

    Where an error holds both, as one that a signal raises, they are garbage together,
    which has no order.
    """

    def _dispose(self) -> None:
        if not self._context.closed:
            super()._dispose()


def parsed(text: str, context: Any) -> Any:
    """The LLVM module of a text, in a context."""
    module = llvm.parse_assembly(text, context)
    module.__class__ = OwnModule
    return module


def optimised(
    texts: tuple[str, ...],
    inlined: tuple[str, ...],
    target: Any = None,
    context: Any = None,
) -> Any:
    """The LLVM module of some texts, as `link` has them, for this machine or another.

    It is in a context of its own, unless one is given: what LLVM keeps of constants and
    types for as long as their context lives then goes with the module. The caller holds
    `code_loader.lock`.
    """
    context = llvm.create_context() if context is None else context
    wide: str | None = None
    if target is None:
        target, bits = target_machine(), vector_bits()
        scalar = any(text.startswith(SCALAR) for text in texts)
        can = bits and not scalar
        if can:
            wide, texts = widened(texts, native(inlined, texts), bits)
        if wide is not None and not texts:
            return _simplified(wide, target, context)
        inlined = native(inlined)
        if not any(" double" in text for text in (*texts, *inlined)):
            inlined = tuple(map(unfenced, inlined))
    module = parsed(texts[0], context)
    for text in texts[1:]:
        module.link_in(parsed(text, context))
    # Callers before callees: the linker leaves out what nothing refers to yet.
    for part in reversed(inlined):
        module.link_in(_to_inline(part, context))
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.loop_interleaving = True
    # Unrolled loops become vectors, such as those of folds. But a vector that is read
    # where its numbers were written one by one waits until they are in the cache.
    scalar = any(text.startswith(SCALAR) for text in texts)
    options.slp_vectorization = not scalar
    builder = llvm.create_pass_builder(target, options)
    run_passes(builder.getModulePassManager(), module, builder)
    if wide is not None:
        module.link_in(_simplified(wide, target, context))
    return module


def _simplified(text: str, target: Any, context: Any) -> Any:
    """The module of a text whose loops are over vectors already."""
    module = parsed(text, context)
    module.verify()
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_instruction_combine_pass()
    if " = alloca [" in text:
        passes.add_loop_rotate_pass()
        passes.add_loop_unroll_pass()
        passes.add_sroa_pass()
        passes.add_instruction_combine_pass()
    passes.add_global_dead_code_eliminate_pass()
    options = llvm.create_pipeline_tuning_options()
    run_passes(passes, module, llvm.create_pass_builder(target, options))
    return module


@cache
def vector_bits() -> int:
    """The bits of this machine's vectors; 0 where loads and stores take no mask."""
    _, features = processor()
    has = set(features.split(","))
    return 512 if {"+avx512bw", "+avx512dq", "+avx512vl"} <= has else 0


def run_passes(passes: Any, module: Any, builder: Any) -> None:
    """Run and free a pass manager, which llvmlite does not free."""
    passes.run(module, builder)
    if type(passes)._dispose is llvm.ffi.ObjectRef._dispose:
        llvm.newpassmanagers.NewPassManager._dispose(passes)
        passes.detach()
    else:
        passes.close()


def _needed(module: Any) -> tuple[str, ...]:
    """The functions of other modules that a module calls."""
    names = [f.name for f in module.functions if f.is_declaration]
    return tuple(name for name in names if not name.startswith("llvm."))


def _to_inline(text: str, context: Any) -> Any:
    module = parsed(text, context)
    for function in module.functions:
        if not function.is_declaration:
            function.linkage = llvm.Linkage.linkonce_odr
            function.add_function_attribute("alwaysinline")
    return module
