"""Expressions over an array that lies in memory in some way, by NumPy and traced.

`data/memory.txt` has an expression for every function and method of the face. What it
gives is looked at as NumPy tells it: whether it shares memory with the array, its
strides, and whether it can be written to.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from traceir.errors import TraceirError
from traceir.face.arrays.array import NumpyTracer
from traceir.jit.function import JitFunction, Options

LINES = (Path(__file__).parent / "data" / "memory.txt").read_text("utf-8").splitlines()
# From an argument that is C-contiguous to an array that lies in another way.
LAYOUTS = {
    "x": (3, 3),
    "x.T": (3, 2),
    "x + 0": (2, 3),
    "x.copy('F')": (3, 3),
    "x[::2, ::2]": (6, 6),
    "x[::-1]": (3, 3),
    "x[:, ::-1]": (2, 3),
    "x[:, :3]": (3, 6),
    "np.broadcast_to(x, (3, 3))": (3,),
    "x[:6]": (6,),
    "x[::2]": (12,),
    "x[::-1].view()": (6,),
    "x[1, ...]": (3,),
    "x[:0]": (2, 3),
    "x[:1]": (3, 3),
    "x[:1].T": (3, 3),
    "x.reshape(())": (1,),
    "x.transpose(1, 2, 0)": (2, 3, 4),
    "x * 2": (2, 2, 4),
    "x[:, :, ::2]": (3, 1, 3),
    "x.transpose(0, 2, 1) * 2": (3, 3, 3),
}
DTYPES = ("float64", "int64", "complex128")
OPTIONS = Options(backend="reference", face="numpy", x64=True, numpy_out=True)


@dataclass(frozen=True)
class Seen:
    """The visible properties of a result: one without elements shares nothing."""

    shape: tuple[int, ...]
    dtype: str
    shares: bool
    strides: tuple[int, ...]
    writeable: bool
    values: np.ndarray = field(compare=False, repr=False)

    @property
    def memory(self) -> tuple[Any, ...]:
        """All but the elements."""
        return self.shape, self.dtype, self.shares, self.strides, self.writeable

    def is_near(self, other: Seen) -> bool:
        """True if the elements are those of another result, but for the last digits."""
        one = np.nan_to_num(self.values), np.nan_to_num(other.values)
        return np.allclose(*one, rtol=1e-6, atol=1e-6)


def argument(layout: str, dtype: str) -> np.ndarray:
    """The argument that a layout is made of."""
    shape = LAYOUTS[layout]
    return (np.arange(np.prod(shape)).reshape(shape) % 5 + 1).astype(dtype)


def flat(results: Any) -> Iterator[Any]:
    """The results one by one."""
    if isinstance(results, (tuple, list)):
        for part in results:
            yield from flat(part)
    elif results is not None:
        yield results


def seen(result: Any, memory: Any, array: Any, value: Any) -> Seen:
    """The visible properties of a result that lies like `memory`, beside the array."""
    value = np.asarray(value)
    is_array = isinstance(memory, np.ndarray)
    wide = [s for s, n in zip(getattr(memory, "strides", ()), value.shape) if n > 1]
    shares = is_array and bool(value.size) and np.may_share_memory(memory, array)
    writeable = not is_array or not value.size or memory.flags.writeable
    strides = tuple(wide) if value.size else ()
    kind = value.dtype.str
    return Seen(value.shape, kind, shares, strides, writeable, value)


def by_numpy(line: str, layout: str, x: np.ndarray) -> list[Seen]:
    """NumPy's results of an expression."""
    array = eval(layout, {"np": np, "x": x})
    results = list(flat(eval(line, {"np": np, "a": array})))
    return [seen(r, r, array, r) for r in results]


class _Notes:
    """Keeps what an expression gave while it was traced."""

    def __call__(self, array: Any, results: Any) -> Any:
        self.array = memory_of(array)
        found = list(flat(results))
        # Arrays that are never read, so they may not go with what is returned.
        self.memories = [memory_of(r) for r in found]
        return found


def memory_of(value: Any) -> Any:
    """The memory layout of an array; a number has none."""
    is_traced = isinstance(value, NumpyTracer)
    if is_traced and not value.number:
        return value.memory
    return None if is_traced else value


def traced(line: str, layout: str, x: np.ndarray) -> list[Seen]:
    """The drop-in decorator's results of an expression."""
    notes = _Notes()
    text = f"def program(x):\n    a = {layout}\n    return notes(a, {line})\n"
    names: dict[str, Any] = {"np": np, "notes": notes}
    exec(text, names)
    results = JitFunction(names["program"], None, None, OPTIONS)(x)
    pairs = zip(results, notes.memories, strict=True)
    return [seen(r, m, notes.array, r) for r, m in pairs]


def differences(
    line: str, dtype: str, layouts: Any = LAYOUTS
) -> Iterator[tuple[str, Any, Any]]:
    """The layouts under which an expression is seen otherwise than NumPy has it."""
    for layout in layouts:
        x = argument(layout, dtype)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                wanted = by_numpy(line, layout, x.copy())
            except Exception:
                continue  # no expression for such an array
            try:
                found: Any = traced(line, layout, x.copy())
            except TraceirError as error:
                found = error.rule
            except Exception as error:
                found = f"{type(error).__name__}: {error}"
        if isinstance(found, str) or found != wanted or not near(found, wanted):
            yield layout, found, wanted


def near(one: list[Seen], other: list[Seen]) -> bool:
    """True if results have nearly the same elements."""
    return all(a.is_near(b) for a, b in zip(one, other, strict=True))
