"""Entries as one object file, with all that they call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import llvmlite.binding as llvm

from traceir.base.fast_dataclass import dataclass
from traceir_numba.aot.calls import Calls, entry_text
from traceir_numba.aot.entries import AotFunction, Artefact
from traceir_numba.aot.instructions import missing_text
from traceir_numba.aot.parts import MEMORY, SUM, data_text, sum_text
from traceir_numba.aot.seals import FORMAT
from traceir_numba.device_functions import DTYPES
from traceir_numba.gemm import blocked, strided
from traceir_numba.llvm import optimize, safepoints, turns
from traceir_numba.llvm.lower import lower
from traceir_numba.pipeline import kernel_cache
from traceir_numba.runtime import code_loader, mcjit

# What the C library has, which whoever links an artefact has, too.
LIBRARY = frozenset(("malloc", "free", "memcpy", "memset", "memmove"))
# How code of any place finds what a thread has of its own.
SYSTEM = "__tls_get_addr"
# What makes the texts of products, by the beginnings of their names.
PRODUCTS = {
    "traceir_gemm_": blocked.texts_of,
    "traceir_strided_": strided.texts_of,
}


@dataclass(frozen=True, slots=True)
class LlvmTexts:
    """LLVM text of functions, and of those that become part of them."""

    texts: tuple[str, ...]
    inlined: tuple[str, ...] = ()


def object_of(artefact: Artefact) -> bytes:
    """The object file: the entries, the function `missing`, and the data `mark`."""
    missing, mark = artefact.missing, artefact.mark
    entries, instructions = artefact.entries, artefact.instructions
    found = {symbol: t for e in entries for symbol, t in _own(e).items()}
    exported = {missing, mark, *(e.symbol for e in entries)}
    calls = [Calls(entry, instructions) for entry in entries]
    with code_loader.lock, TemporaryDirectory(prefix="traceir-data-") as folder:
        target, context = _target(instructions), llvm.create_context()
        texts = tuple(entry_text(one, missing) for one in calls)
        marked = f"@{mark} = constant i8 {FORMAT}\n"
        asked = missing_text(missing, instructions)
        whole = _module(LlvmTexts((*texts, asked, marked)), target, context)
        while needed := _needed(whole) - LIBRARY:
            # One text can define several of them.
            further = _texts(min(needed), found, instructions)
            whole.link_in(_module(further, target, context))
        for value in (*whole.functions, *whole.global_variables):
            if not value.is_declaration and value.name not in exported:
                value.linkage = llvm.Linkage.internal
        _strip(whole, target)
        large = {name: data for one in calls for name, data in one.large.items()}
        if large:
            data = data_text(large, Path(folder))
            whole.link_in(optimize.parsed(data, context))
        return bytes(target.emit_object(whole))


def _own(entry: AotFunction) -> Mapping[str, LlvmTexts]:
    """The texts of the kernels of an entry, by their definitions."""
    return {
        symbol: LlvmTexts(tuple(map(_alone, code.texts)), code.inlined)
        for code in entry.build.codes()
        for symbol in code.addresses
    }


def _texts(
    symbol: str, kernels_: Mapping[str, LlvmTexts], instructions: tuple[str, ...]
) -> LlvmTexts:
    """The texts that define a function."""
    if symbol in kernels_:
        return kernels_[symbol]
    if symbol in ("traceir_malloc", "traceir_free"):
        return LlvmTexts((MEMORY,))
    if symbol == safepoints.SYMBOL:
        return LlvmTexts((safepoints.NEVER,))
    if symbol in turns.NEEDS:
        return LlvmTexts((turns.ALONE,))
    if symbol == safepoints.STOPPED.symbol:
        return LlvmTexts((turns.STOPPABLE,))
    if symbol.startswith(SUM):
        dtype = symbol.removeprefix(SUM)
        args = (f"{dtype}*", f"{dtype}*", "int64", "int64")
        return LlvmTexts(
            (lower(sum_text(dtype), symbol, args, None, kernel_cache.NAMES),)
        )
    for beginning, texts_of in PRODUCTS.items():
        if symbol.startswith(beginning):
            texts = texts_of(DTYPES[symbol.split("_")[-1]], instructions)
            return LlvmTexts(tuple(map(_alone, texts)))
    return LlvmTexts(*kernel_cache.texts_of(symbol))


def _alone(text: str) -> str:
    """The text of what is shared with no other thread."""
    alone = "@traceir_threads = internal constant i64 1"
    return text.replace("declare void @traceir_threads()", alone)


def _module(texts: LlvmTexts, target: Any, context: Any) -> Any:
    return optimize.optimised(texts.texts, texts.inlined, target, context)


def _needed(module: Any) -> set[str]:
    names = {f.name for f in module.functions if f.is_declaration}
    return {name for name in names if not name.startswith("llvm.")}


def _target(instructions: Iterable[str]) -> Any:
    """The target of code that can lie anywhere, for these instructions."""
    mcjit.target_machine()  # which starts LLVM
    llvm.initialize_native_asmparser()
    target = mcjit.triple()
    cpu = "x86-64" if target.startswith("x86_64") else "generic"
    features = ",".join(f"+{name}" for name in instructions)
    features += mcjit.TUNING.get(target.partition("-")[0], "")
    return llvm.Target.from_triple(target).create_target_machine(
        cpu=cpu, features=features, opt=3, reloc="pic", codemodel="default"
    )


def _strip(module: Any, target: Any) -> None:
    """Leave out functions that nothing calls."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options())
    optimize.run_passes(passes, module, builder)
