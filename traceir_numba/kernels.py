"""Kernels compiled once per process: the same nest, whoever asks, is the same code."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from typing import Any

import numpy as np
from numba import types

from traceir.forks import in_child, kept_over_forks
from traceir_numba import blas, lower, machine, vecmath
from traceir_numba.call import Entry, callable_of
from traceir_numba.emit_cpu import Kernel
from traceir_numba.functions import NUMBERS, TILE, Function, closure, function, short
from traceir_numba.nests import Nest
from traceir_numba.problems import wrapped

# Kernels of shorter LLVM text become part of the routines that call them.
INLINED = 1 << 14


@dataclass(slots=True)
class Compiled:
    """Machine code of one kernel, and the ways of calling it."""

    kernel: Kernel
    code: machine.Code
    symbol: str
    lowered: str  # the text before it was optimised
    entries: dict[bool, Entry] = field(default_factory=dict)

    def entry(self, release: bool) -> Entry:
        """The call from Python; `release` lets other threads run meanwhile."""
        if release not in self.entries:
            self.entries[release] = callable_of(
                self.code.addresses[self.symbol],
                len(self.kernel.pointers),
                len(self.kernel.sizes),
                release,
            )
        return self.entries[release]


# What makes two kernels the same code: equal nests, or a routine's text.
Key = Nest | str

_kernels: dict[Key, Future[Compiled]] = {}
_lock = kept_over_forks(threading.Lock())
_count = 0


def compile_count() -> int:
    """How many kernels this process has compiled."""
    return _count


def compiled(requests: Sequence[tuple[Key, Kernel]]) -> list[Compiled]:
    """The code of some kernels; those that are new are compiled together.

    What a routine calls must be compiled before it.

    A kernel that another thread is compiling is waited for. Raises RuntimeError
    (backend.compile) when one does not compile.
    """
    while True:
        try:
            return _compiled(requests)
        except CancelledError:  # the other thread was interrupted: it is our turn
            continue


def _compiled(requests: Sequence[tuple[Key, Kernel]]) -> list[Compiled]:
    own: dict[Key, Future[Compiled]] = {}
    try:  # around all of it, so that no interrupt leaves others waiting
        with _lock:
            for nest, _ in requests:
                if nest not in _kernels:
                    own[nest] = _kernels[nest] = Future()
            futures = [_kernels[nest] for nest, _ in requests]
        if own:
            _compile({n: k for n, k in requests if n in own}, own)
    finally:
        _abandon(own)
    return [future.result() for future in futures]


def _abandon(futures: dict[Key, Future[Compiled]]) -> None:
    """Forget what was not compiled; the next caller tries again."""
    for nest, future in futures.items():
        if not future.done() or future.exception() is not None:
            with _lock:
                if _kernels.get(nest) is future:
                    del _kernels[nest]
            future.cancel()


def _compile(kernels: dict[Key, Kernel], futures: dict[Key, Future[Compiled]]) -> None:
    global _count
    try:
        made = _build(list(kernels.values()))
    except Exception as error:  # those that wait now get the error, too
        for future in futures.values():
            future.set_exception(error)
        raise
    with _lock:
        _count += len(made)
    for nest, one in zip(kernels, made, strict=True):
        futures[nest].set_result(one)


@in_child
def _forget_unfinished() -> None:
    """What other threads were compiling has nobody to finish it in a child."""
    for nest, future in list(_kernels.items()):
        if not future.done():
            del _kernels[nest]


def _build(kernels: list[Kernel]) -> list[Compiled]:
    with wrapped("backend.compile", ", ".join(k.name for k in kernels)):
        symbols = [_symbol(kernel) for kernel in kernels]
        texts = []
        called: dict[str, Compiled] = {}
        for kernel, symbol in zip(kernels, symbols, strict=True):
            inner = {name: _kernels[nest].result() for name, nest in kernel.kernels}
            called.update({one.symbol: one for one in inner.values()})
            args = [_pointer(d) for d in kernel.pointers]
            args += [types.int64] * len(kernel.sizes)
            others = {name: _kernel_external(one) for name, one in inner.items()}
            texts.append(
                _lowered(
                    kernel.text, kernel.name, symbol, args, None, kernel.calls, others
                )
            )
        small = [one for one in called.values() if len(one.lowered) < INLINED]
        all_kernels = [*kernels, *(one.kernel for one in small)]
        needed = closure(name for kernel in all_kernels for name in kernel.calls)
        inlined = [_inlined(f.name) for f in needed if _is_inlined(f)]
        inlined += [one.lowered for one in small]
        _load([f for f in needed if _is_loop(f)])
        code = machine.link(texts, symbols, inlined)
    return [
        Compiled(k, code, s, text)
        for k, s, text in zip(kernels, symbols, texts, strict=True)
    ]


def _kernel_external(one: Compiled) -> Any:
    """A kernel as a routine calls it."""
    args = [_pointer(d) for d in one.kernel.pointers]
    args += [types.int64] * len(one.kernel.sizes)
    return lower.external(one.symbol, args, types.none)


def _symbol(kernel: Kernel) -> str:
    """A name that no other kernel has: text or pointers differ where nests do."""
    text = f"{kernel.pointers} {kernel.text}"
    return f"traceir_{kernel.name}_{sha256(text.encode()).hexdigest()[:12]}"


# -- functions that kernels call ------------------------------------------------------


def _is_loop(f: Function) -> bool:
    """Whether it takes pointers; such functions are called, not made part of others."""
    return any(arg.endswith("*") for arg in f.args)


def _is_inlined(f: Function) -> bool:
    return bool(f.args) and not _is_loop(f) and not _is_bitcast(f)


def _is_bitcast(f: Function) -> bool:
    """Numba writes these with calls; one instruction does."""
    return f.name.startswith(("as_bits_", "as_float_"))


@cache
def _inlined(name: str) -> str:
    """The LLVM text of a scalar function."""
    return _function_text(function(name))


_loops: set[str] = set()
_loops_lock = kept_over_forks(threading.Lock())


def _load(functions: list[Function]) -> None:
    """Load functions on pointers, so that kernels find them by their symbols."""
    with _loops_lock:
        new = [f for f in functions if f.name not in _loops]
        if new:
            inner = closure(name for f in new for name in f.needs)
            machine.link(
                [_function_text(f) for f in new],
                [_linked(f.name) for f in new],
                [_inlined(f.name) for f in inner],
            )
            _loops.update(f.name for f in new)


def _function_text(f: Function) -> str:
    if f.name.startswith("product_"):
        found = blas.product_text(_linked(f.name), f.args[0].rstrip("*"))
        if found is not None:
            return found
    args = [_type(a) for a in f.args]
    return _lowered(
        f.text, f.name, _linked(f.name), args, f.result, f.needs, None, f.constants
    )


def _linked(name: str) -> str:
    return f"traceir_function_{name}"


def _lowered(
    text: str,
    name: str,
    symbol: str,
    args: list[Any],
    result: str | None,
    calls: Iterable[str],
    others: Mapping[str, Any] | None = None,
    constants: Iterable[str] = (),
) -> str:
    namespace = {**_namespace(), **(others or {})}
    namespace.update((constant, vecmath.VALUES[constant]) for constant in constants)
    namespace.update((call, _external(call)) for call in calls)
    exec(compile(text, f"<traceir {name}>", "exec"), namespace)
    of = types.none if result is None else _type(result)
    return lower.lower(namespace[name], symbol, args, of)


@cache
def _external(name: str) -> Any:
    f = function(name)
    result = types.none if f.result is None else _type(f.result)
    if name.startswith("lanes_") and not f.args:
        return lower.lanes(result.dtype, TILE)
    if _is_bitcast(f):
        return lower.bitcast(_type(f.args[0]), result)
    return lower.external(_linked(name), [_type(a) for a in f.args], result)


def _namespace() -> dict[str, Any]:
    """The globals of generated functions."""
    scalars = {short(d): _type(d) for d in NUMBERS}
    own = {"math": math, "np": np, "inf": math.inf, "nan": math.nan}
    return {**own, "row_of": lower.row_of, **scalars}


def _type(dtype: str) -> Any:
    if dtype.endswith("*"):
        return _pointer(dtype[:-1])
    return types.boolean if dtype == "bool" else getattr(types, dtype)


def _pointer(dtype: str) -> Any:
    return types.CPointer(_type(dtype))
