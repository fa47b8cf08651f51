"""Generated source compiled twice: by the backend and by Numba, to compare bits."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from itertools import count
from typing import Any

import numba
import numpy as np
from numba.extending import intrinsic

from traceir_numba import vecmath
from traceir_numba.device_functions import NUMBERS, DeviceFunction, closure, short
from traceir_numba.llvm import optimize
from traceir_numba.pipeline import kernel_cache

Arrays = list[np.ndarray]

_numbers = count()


def memory(dtype: str) -> str:
    """The dtype of an array of numbers: no memory has truths."""
    return "uint8" if dtype == "bool" else dtype


def driver(f: DeviceFunction) -> DeviceFunction:
    """A function of pointers and a size that calls another at each place.

    Those that take pointers are called once, with the first elements as numbers.
    """
    once = any(arg.endswith("*") for arg in f.args)
    at = "0" if once else "i"
    given, pointers = [], []
    for k, arg in enumerate(f.args):
        pointers.append(arg if arg.endswith("*") else memory(arg) + "*")
        truth = " != 0" if arg == "bool" else ""
        given.append(f"A{k}" if arg.endswith("*") else f"A{k}[{at}]{truth}")
    called = f"{f.name}({', '.join(given)})"
    line = called
    if f.result is not None:
        pointers.append(memory(f.result) + "*")
        line = f"R[{at}] = {f'u8({called})' if f.result == 'bool' else called}"
    names = [f"A{k}" for k in range(len(f.args))] + ["R"] * (f.result is not None)
    loop = f"    {line}" if once else f"    for i in range(n):\n        {line}"
    text = f"def over_{f.name}({', '.join([*names, 'n'])}):\n{loop}"
    args = (*pointers, "int64")
    return DeviceFunction(f"over_{f.name}", args, None, text, (f.name,))


def linked(f: DeviceFunction, symbol: str) -> optimize.MachineCode:
    """The driver of a function as the backend compiles it, under a name of its own."""
    over = driver(f)
    text = kernel_cache._lowered(over.text, symbol, over.args, None, [f.name])
    needed = closure([f.name])
    inlined = [
        kernel_cache._function_text(g)
        for g in needed
        if not kernel_cache._is_bitcast(g)
    ]
    return optimize.link([text], [symbol], inlined, kernel_cache._products(needed))


def ours(f: DeviceFunction, arrays: Arrays, n: int) -> Arrays:
    """The arrays after a call of the driver that the backend compiles."""
    symbol = f"traceir_test_{next(_numbers)}"
    code = linked(f, symbol)
    return _called(code.addresses[symbol], driver(f), arrays, n)


def numbas(f: DeviceFunction, arrays: Arrays, n: int) -> Arrays:
    """The arrays after a call of the driver that Numba compiles."""
    over = driver(f)
    space = _space(f)
    exec(over.text, space)
    types = [_type(arg) for arg in over.args]
    made = numba.cfunc(numba.void(*types), error_model="numpy")(space[over.name])
    return _called(made.address, over, arrays, n)


def _space(f: DeviceFunction) -> dict[str, Any]:
    """The names of a generated module, with all that a function calls."""
    space: dict[str, Any] = {short(d): _type(d) for d in NUMBERS}
    space |= {"math": math, "np": np, "inf": math.inf, "nan": math.nan}
    space |= {"intrinsic": intrinsic, "row_of": _row_of}
    space["function"] = numba.njit(error_model="numpy", forceinline=True)
    needed = closure([f.name], read=True)
    read = [name for g in needed for name in (g.name, *g.reads)]
    real = [n for n in read if n in vecmath.FUNCTIONS or n in vecmath.VALUES]
    exec(vecmath.source(real), space)
    for g in needed:
        if g.name not in vecmath.FUNCTIONS:
            exec(f"@function\n{g.text}", space)
    return space


@intrinsic
def _row_of(types: Any, pointer: Any, offset: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.gep(args[0], [args[1]])

    return pointer(pointer, numba.int64), generate


def _type(dtype: str) -> Any:
    if dtype.endswith("*"):
        return numba.types.CPointer(_type(dtype[:-1]))
    return numba.boolean if dtype == "bool" else getattr(numba, dtype)


def _called(address: int, over: DeviceFunction, arrays: Arrays, n: int) -> Arrays:
    given = [a.copy() for a in arrays]
    entry = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * len(over.args))(address)
    entry(*[a.ctypes.data for a in given], n)
    return given


def operands(f: DeviceFunction, n: int, seed: int) -> Arrays:
    """Arrays for a driver: special values first, then any bits at all."""
    rng = np.random.default_rng(seed)
    arrays = []
    for k, arg in enumerate(f.args):
        dtype = arg.rstrip("*")
        drawn = values(rng, dtype, n)
        # Sizes are small, and no two operands have the same values side by side.
        sized = dtype == "int64" and any(a.endswith("*") for a in f.args)
        if sized and not arg.endswith("*"):
            drawn = rng.integers(1, 5, n)
        # A way: one dimension, its extent and its stride.
        way = np.resize(np.array([1, 2, 3]), n)
        arrays.append(way if arg == "int64*" else np.roll(drawn, 7 * k))
    if f.result is not None:
        arrays.append(np.zeros(n, memory(f.result)))
    return arrays


def values(rng: np.random.Generator, dtype: str, n: int) -> np.ndarray:
    """Numbers of a dtype, each special one among them."""
    if dtype == "bool":
        return rng.integers(0, 2, n).astype(np.uint8)
    kind = np.dtype(dtype)
    bits = np.frombuffer(rng.bytes(n * kind.itemsize), kind).copy()
    special: Sequence[float]
    if kind.kind == "f":
        info = np.finfo(kind)
        near = rng.normal(size=n // 2).astype(kind)
        bits[n // 2 : n // 2 + len(near)] = near
        special = [0, 1, 0.5, 1.5, 2.5, info.max, info.tiny, info.smallest_subnormal]
        special = [*special, 2.0**31, 2.0**63, 1e9, math.inf]
        special = [math.nan, *special, *(-s for s in special)]
        bits[np.isnan(bits)] = math.nan  # of one sort: others may come out as any
    else:
        ends = np.iinfo(kind)
        special = [0, 1, 2, 3, 7, ends.min, ends.min + 1, ends.max, ends.max - 1]
        special += [ends.max // 2, *([-1, -2, -3, -7] if kind.kind == "i" else [])]
    return np.concatenate([np.array(special, kind), bits])[:n]


def same(got: Arrays, want: Arrays) -> bool:
    """True if two lists of arrays have the same bits, where all NaN are one."""
    return all(canonical(g) == canonical(w) for g, w in zip(got, want, strict=True))


def canonical(array: np.ndarray) -> bytes:
    """The bits of an array, in which all NaN are one."""
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(math.nan, array.dtype), array)
    return array.tobytes()
