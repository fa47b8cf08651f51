"""The cache of compiled kernels, keyed by their text.

Functions of numbers become part of the kernels that call them, short kernels part of
the routines that call them; functions of pointers are loaded once. Kernels that are new
go into LLVM modules of bounded size. Parts of a program that are equal are one kernel,
so a long repetitive program compiles in little more than the time to read it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from functools import cache
from hashlib import sha256
from weakref import WeakValueDictionary

import numpy as np

from traceir.base.caches import LRUCache
from traceir.base.fast_dataclass import dataclass
from traceir.base.fork_safety import in_child, kept_over_forks
from traceir_numba import cost_model, vecmath
from traceir_numba.codegen.nest import KernelSource
from traceir_numba.device_functions import (
    NUMBERS,
    DeviceFunction,
    closure,
    function,
    short,
)
from traceir_numba.emitters.draws import EXPORTED
from traceir_numba.errors import wrapped
from traceir_numba.gemm import blocked, strided
from traceir_numba.llvm import optimize, safepoints, thread_team, turns
from traceir_numba.llvm.lower import lower
from traceir_numba.llvm.shared_launches import launch, with_launches
from traceir_numba.llvm.symbols import (
    KNOWN,
    Bits,
    Callee,
    Cast,
    Intrinsic,
    LaneArray,
    Table,
    table,
)
from traceir_numba.llvm.types import IRValue, float_text, literal
from traceir_numba.loops.nest import LoopNest
from traceir_numba.runtime.mcjit import processor


@dataclass(slots=True, weakref_slot=True, eq=False)
class CompiledKernel:
    """Machine code of one kernel, shared by the programs that live at one time."""

    kernel: KernelSource
    code: optimize.MachineCode
    symbol: str
    lowered: str  # the text before it was optimised


# What makes two kernels the same code: equal nests, or a routine's text.
Key = LoopNest | str

_kernels: WeakValueDictionary[Key, CompiledKernel] = WeakValueDictionary()
# Of those that no program has any more the last ones stay: a function that is made anew
# in each round of a loop is not compiled anew.
_recent: LRUCache[CompiledKernel] = LRUCache(256)
# Those that some thread is compiling.
_pending: dict[Key, Future[CompiledKernel]] = {}
# Reentrant, as others: a collection inside may run a user's code.
_lock = kept_over_forks(threading.RLock())
_count = 0


def compile_count() -> int:
    """The number of kernels that this process has compiled."""
    return _count


def compiled(requests: Sequence[tuple[Key, KernelSource]]) -> list[CompiledKernel]:
    """The code of some kernels; those that are new are compiled together.

    The kernels that a routine calls must be compiled before it.

    A kernel that another thread is compiling is waited for. Raises RuntimeError
    (backend.compile) when one does not compile.
    """
    while True:
        try:
            return _compiled(requests)
        except CancelledError:  # the other thread was interrupted: it is our turn
            continue


def _compiled(requests: Sequence[tuple[Key, KernelSource]]) -> list[CompiledKernel]:
    """The compiled kernels; each is made by one thread, and others wait for it."""
    own: dict[Key, Future[CompiledKernel]] = {}
    found: dict[Key, CompiledKernel | Future[CompiledKernel]] = {}
    try:  # around all of it, so that no interrupt leaves others waiting
        with _lock:
            for nest, _ in requests:
                known = _kernels.get(nest) or _pending.get(nest)
                if known is None:
                    known = own[nest] = _pending[nest] = Future()
                found[nest] = known
        if own:
            _compile({n: k for n, k in requests if n in own}, own)
    finally:
        _abandon(own)
    return [_recent.use(nest, _ready(found[nest])) for nest, _ in requests]


def _ready(one: CompiledKernel | Future[CompiledKernel]) -> CompiledKernel:
    return one.result() if isinstance(one, Future) else one


def _abandon(futures: dict[Key, Future[CompiledKernel]]) -> None:
    """Take kernels off the pending ones: the next caller tries again."""
    for nest, future in futures.items():
        with _lock:
            if _pending.get(nest) is future:
                del _pending[nest]
        future.cancel()


def _compile(
    kernels: dict[Key, KernelSource], futures: dict[Key, Future[CompiledKernel]]
) -> None:
    """Compile kernels together, and give them, or the error, to all waiting threads."""
    global _count
    try:
        made = _build(list(kernels.values()))
    except Exception as error:  # those that wait now get the error, too
        for future in futures.values():
            future.set_exception(error)
        raise
    with _lock:
        _count += len(made)
        _kernels.update(zip(kernels, made, strict=True))
    for nest, one in zip(kernels, made, strict=True):
        futures[nest].set_result(one)


@in_child
def _forget_unfinished() -> None:
    """Forget the kernels that other threads were compiling: a child has no such
    threads.
    """
    _pending.clear()


@dataclass(slots=True)
class _KernelText:
    """A kernel on its way: its LLVM text, and the kernels that it calls."""

    kernel: KernelSource
    symbol: str
    text: str
    inner: dict[str, CompiledKernel]


def _build(kernels: list[KernelSource]) -> list[CompiledKernel]:
    with wrapped("backend.compile", ", ".join(k.name for k in kernels)):
        parts = [_part(kernel) for kernel in kernels]
        batches = _batches(sorted(parts, key=lambda part: part.kernel.scalar))
        made = {one.symbol: one for b in batches for one in _linked_together(b)}
        return [made[part.symbol] for part in parts]


def _part(kernel: KernelSource) -> _KernelText:
    """The LLVM text of a kernel, with the compiled kernels that it calls."""
    inner = {name: _kernels[nest] for name, nest in kernel.kernels}
    others = {name: _callee_of(one) for name, one in inner.items()}
    symbol = _symbol(kernel)
    given = kernel.shared if turns.can_share() else ()
    launches = {n: launch(others[n], inner[n].kernel.sizes, k) for n, k in given}
    others |= {name: one.callee for name, one in launches.items()}
    args = _arguments(kernel, kernel.sizes)
    shared = kernel.private is not None
    own = turns.part_symbol(symbol) if shared else symbol
    rounds = kernel.rounds if safepoints.can_poll() else ()
    text = _lowered(
        *(kernel.text, own, args, None, kernel.calls, others, ()),
        *(kernel.interleave, rounds, shared),
    )
    text = with_launches(text, launches.values())
    if kernel.private is not None:
        text += turns.shared_text(symbol, len(kernel.pointers), kernel.private)
    if kernel.scalar:
        text = optimize.SCALAR + text
    return _KernelText(kernel, symbol, text, inner)


def _batches(parts: Iterable[_KernelText]) -> Iterator[list[_KernelText]]:
    """Kernels that become one module: LLVM's work grows faster than a module."""
    batch: list[_KernelText] = []
    size = 0
    for part in parts:
        other = bool(batch) and batch[0].kernel.scalar != part.kernel.scalar
        if batch and (other or size + len(part.text) > cost_model.MODULE_TEXT):
            yield batch
            batch, size = [], 0
        batch.append(part)
        size += len(part.text)
    yield batch


def _linked_together(parts: list[_KernelText]) -> list[CompiledKernel]:
    texts, symbols = [p.text for p in parts], [p.symbol for p in parts]
    inlined = _made_part(parts)
    uses = _load([f for f in _needed(parts) if _is_loop(f)])
    uses += [one.code for part in parts for one in part.inner.values()]
    if any(safepoints.CALLEE.symbol in text for text in (*texts, *inlined)):
        uses.append(safepoints.load())
    if any(p.kernel.private is not None or p.kernel.shared for p in parts):
        uses += [turns.load(), thread_team.load()]
    code = optimize.link(texts, symbols, inlined, uses)
    return [CompiledKernel(p.kernel, code, p.symbol, p.text) for p in parts]


def _made_part(parts: list[_KernelText]) -> list[str]:
    """The LLVM texts that become part of some kernels, callees first."""
    inlined = [_inlined(f.name) for f in _needed(parts) if _is_inlined(f)]
    return inlined + [one.lowered for one in _small(parts)]


def _needed(parts: list[_KernelText]) -> list[DeviceFunction]:
    """The functions that some kernels call, and the small kernels among these."""
    kernels = [*(part.kernel for part in parts), *(one.kernel for one in _small(parts))]
    return closure(name for kernel in kernels for name in kernel.calls)


def _small(parts: list[_KernelText]) -> list[CompiledKernel]:
    """The kernels that become part of what calls them."""
    inner = [(part, *pair) for part in parts for pair in part.inner.items()]
    called = {one.symbol: one for p, name, one in inner if name in p.kernel.short}
    alone = (one for one in called.values() if one.kernel.private is None)
    return [x for x in alone if len(x.lowered) < cost_model.INLINED_KERNEL_TEXT]


def _arguments(kernel: KernelSource, sizes: Sequence[str]) -> tuple[str, ...]:
    """The types of a kernel's arguments, with so many integers."""
    pointers = tuple(f"{dtype}*" for dtype in kernel.pointers)
    return pointers + ("int64",) * len(sizes)


def _callee_of(one: CompiledKernel) -> Callee:
    """A kernel as a routine calls it."""
    args = _arguments(one.kernel, one.kernel.own_sizes)
    return Callee(one.symbol, args, None if one.kernel.private is None else "int64")


def _symbol(kernel: KernelSource) -> str:
    """A name that no other kernel has: text or pointers differ where nests do."""
    text = f"{kernel.pointers} {kernel.text}"
    return f"traceir_{kernel.name}_{sha256(text.encode()).hexdigest()[:12]}"


# -- functions that kernels call ------------------------------------------------------


def _is_loop(f: DeviceFunction) -> bool:
    """True if it takes pointers; such functions are called, not made part of others."""
    return any(arg.endswith("*") for arg in f.args)


def _is_inlined(f: DeviceFunction) -> bool:
    return bool(f.args) and not _is_loop(f) and not _is_bitcast(f)


def _is_bitcast(f: DeviceFunction) -> bool:  # one instruction, which needs no function
    return f.name.startswith(("as_bits_", "as_float_"))


@cache
def _inlined(name: str) -> str:
    """The LLVM text of a scalar function."""
    return _function_text(function(name))


# Functions whose code is another text than a reader's, by the beginnings of names.
PRODUCTS = {
    "product": (blocked.load, blocked.whole_text),
    "strided": (strided.load, strided.whole_text),
}
_loops: dict[str, optimize.MachineCode] = {}
_loops_lock = kept_over_forks(threading.RLock())


def _load(functions: list[DeviceFunction]) -> list[optimize.MachineCode]:
    """The code of functions on pointers and of those that they call; it stays."""
    with _loops_lock:
        new = [f for f in functions if f.name not in _loops]
        if new:
            inner = closure(name for f in new for name in f.needs)
            code = optimize.link(
                [_function_text(f) for f in new],
                [_linked(f.name) for f in new],
                [_inlined(f.name) for f in inner],
                [*_loops.values(), *_products([*new, *inner])],
            )
            _loops.update(dict.fromkeys((f.name for f in new), code))
        return [_loops[f.name] for f in functions]


def _products(functions: list[DeviceFunction]) -> list[optimize.MachineCode]:
    """The code that the texts of products call, for those that are among functions."""
    kinds = [(f.name.split("_")[0], f.args) for f in functions]
    found = {(kind, args[0].rstrip("*")) for kind, args in kinds if kind in PRODUCTS}
    return [PRODUCTS[kind][0](dtype) for kind, dtype in sorted(found)]


def texts_of(symbol: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """LLVM text of a function on pointers, by its symbol, and of inlined callees."""
    f = function(symbol.removeprefix(_linked("")))
    inner = tuple(_inlined(g.name) for g in closure(f.needs) if _is_inlined(g))
    return (_function_text(f),), inner


def _function_text(f: DeviceFunction) -> str:
    kind = f.name.split("_")[0]
    if f.llvm:
        return f.llvm.format(symbol=_linked(f.name))
    if kind in PRODUCTS:
        _, whole_text = PRODUCTS[kind]
        return whole_text(_linked(f.name), f.args[0].rstrip("*"))
    return _lowered(
        f.text, _linked(f.name), f.args, f.result, f.needs, None, f.constants
    )


def _linked(name: str) -> str:
    return f"traceir_function_{name}"


def _lowered(
    text: str,
    symbol: str,
    args: Sequence[str],
    result: str | None,
    calls: Iterable[str],
    others: Mapping[str, Callee] | None = None,
    constants: Iterable[str] = (),
    interleave: int = 1,
    rounds: Sequence[int] = (),
    stops: bool = False,
) -> str:
    """The LLVM text of a function, its names looked up in the tables."""
    names = {**NAMES, **(others or {})}
    names.update((constant, _constant(constant)) for constant in constants)
    names.update((call, _callee(call)) for call in calls)
    return lower(
        *(text, symbol, args, result, names, _attributes(), interleave, rounds, stops)
    )


@cache
def _callee(name: str) -> Callee | Bits | LaneArray:
    f = function(name)
    if name.startswith("lanes_") and not f.args:
        assert f.result is not None
        return LaneArray(f.result.rstrip("*"), cost_model.COLUMN_TILE)
    if _is_bitcast(f):
        assert f.result is not None
        return Bits(f.args[0], f.result)
    return Callee(_linked(name), f.args, f.result)


@cache
def _constant(name: str) -> IRValue | Table | Intrinsic:
    """The value of a name in the real functions' source."""
    found = vecmath.VALUES[name]
    if isinstance(found, np.ndarray):
        return table(name, found)
    if isinstance(found, np.float32):
        return IRValue(float_text(float(found)), "float32")
    return literal(found) if isinstance(found, int | float) else KNOWN[name]


# What all functions may call or read.
NAMES = {
    **{short(dtype): Cast(dtype) for dtype in NUMBERS},
    "inf": IRValue(float_text(math.inf), "float64", math.inf),
    "nan": IRValue(float_text(math.nan), "float64", math.nan),
    **{
        name: Callee(f"traceir_{name}", ("int64", *args), result)
        for name, (args, result) in EXPORTED.items()
    },
}


@cache
def _attributes() -> str:
    """Vectors as wide as the machine's, where LLVM would use half."""
    _, features = processor()
    return '"prefer-vector-width"="512" ' if "+avx512f," in features else ""
