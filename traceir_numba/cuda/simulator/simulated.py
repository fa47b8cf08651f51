"""The names that kernels find in the simulator.

Python's numbers are not a device's: a cast must wrap, a root of a negative number is
NaN, nothing warns. Functions of numbers are those that the CPU's kernels call, in
machine code; what a device has texts of its own for is run as written.
"""

from __future__ import annotations

import importlib
import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from traceir_numba.codegen.nest import KernelSource
from traceir_numba.cuda.codegen import device_functions
from traceir_numba.cuda.simulator import blocks
from traceir_numba.device_functions import NUMBERS, function, short
from traceir_numba.llvm.trampoline import callable_of


def names() -> dict[str, Any]:
    """Casts, and a `math` that keeps dtypes and never raises."""
    real = SimpleNamespace(sqrt=np.sqrt, copysign=np.copysign, fmod=np.fmod)
    casts = {short(d): _cast(d) for d in NUMBERS}
    return {**casts, "math": real, "function": lambda f: f}


@cache
def _cast(dtype: str) -> Callable[[Any], Any]:
    def cast(value: Any) -> Any:
        return np.asarray(value).astype(dtype)[()]

    return cast


# How long a thread of Numba's runs before another one has its turn, in seconds.
TURN = 2e-5

# Whether Numba's simulator runs the threads, each in one of Python's.
_numbas = False


@contextmanager
def by_numba() -> Iterator[None]:
    """Threads run as Numba's simulator has them, in no order; turns are short.

    Whoever waits at a barrier waits for a turn of all the others.
    """
    global _numbas
    before = _numbas, sys.getswitchinterval()
    _numbas = True
    sys.setswitchinterval(TURN)
    try:
        yield
    finally:
        _numbas = before[0]
        sys.setswitchinterval(before[1])


def kernel(space: dict[str, Any], name: str, dialect: Any) -> Callable[..., None]:
    """A function of a namespace as a kernel: of blocks and threads, then of arrays."""
    api = importlib.import_module(f"{dialect.__name__}.simulator.kernelapi")
    ours = blocks.SimulatedKernel(
        space[name], lambda *sizes: api.FakeCUDAModule(*sizes, 0)
    )
    numbas = dialect.jit(quiet(space, name))

    def launch(grid: Any, block: Any, *args: Any) -> None:
        if _numbas:
            numbas[grid, block](*args)
        else:
            ours(grid, block, *args)

    return launch


def fresh(memory: Any) -> Any:
    """Memory that begins as nonsense: no element may be read before it is written."""
    memory._ary.view(np.uint8).fill(blocks.NONSENSE)
    return memory


def quiet(space: dict[str, Any], name: str) -> Callable[..., Any]:
    """The function of a namespace without NumPy's warnings: each thread has its own.

    Numba's simulator looks for `cuda` among the names of the function that it is given.
    """
    text = f"""def {name}_quiet(*args):
    with np.errstate(all="ignore"):
        {name}(*args)"""
    exec(text, space)
    made: Callable[..., Any] = space[f"{name}_quiet"]
    return made


@cache
def scalar(name: str) -> Callable[..., Any]:
    """A function of numbers, as a device's kernels call it."""
    if name in ("times_f32", "times_f64"):  # which Python has, and rounds
        return operator.mul
    found = device_functions.own(name)
    if found is not None:
        text, needs = found
        space = {"np": np, **names(), **{n: scalar(n) for n in needs}}
        exec(text, space)
        cast = _cast(function(name).result or "")
        return lambda *args: cast(space[name](*args))
    return _compiled(name)


def _compiled(name: str) -> Callable[..., Any]:
    """A function of the CPU's, called for one element."""
    from traceir_numba.pipeline import kernel_cache

    made = function(name)
    result = made.result
    assert result is not None
    dtypes = [_memory(d) for d in (*made.args, result)]
    given = [f"A{k}[0]{' != 0' * (d == 'bool')}" for k, d in enumerate(made.args)]
    called = f"{name}({', '.join(given)})"
    called = f"u8({called})" if result == "bool" else called
    args = [*(f"A{k}" for k in range(len(made.args))), "R"]
    text = f"def one_{name}({', '.join(args)}):\n    R[0] = {called}"
    one = KernelSource(f"one_{name}", text, tuple(dtypes), (), (), (name,), ())
    (code,) = kernel_cache.compiled([(f"simulated {name}", one)])
    unit = code.code.unit
    entry = callable_of(unit.addresses[code.symbol], len(args), 0, False, unit)

    def call(*values: Any) -> Any:
        arrays = [
            np.asarray(v).astype(d).reshape(1) for v, d in zip(values, dtypes[:-1])
        ]
        found = np.empty(1, dtypes[-1])
        entry(*arrays, found)
        return found[0] != 0 if result == "bool" else found[0]

    return call


def _memory(dtype: str) -> str:
    return "uint8" if dtype == "bool" else dtype
