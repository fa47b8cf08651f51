"""Faults in the results of single operations. Serves: sanitize.*

A fault is an element that the operation itself made: an integer that wrapped, a NaN of
operands without one, a read outside. Each is told by the operands and the results of
one equation; `traceir.sanitize.taint` says which of them matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import iinfo, kind_of
from traceir.ir.jaxpr import Params
from traceir.reference.kernels import KERNELS
from traceir.reference.kernels.structural.indexing import (
    FILL,
    PROMISE,
    inside_of_read,
    inside_of_write,
)

Arrays = Sequence[np.ndarray]


@dataclass(frozen=True, slots=True)
class Fault:
    """A clause that elements of a result violate: the values, and the user's line."""

    rule: str
    got: str
    where: str | None = None

    def error(self) -> Exception:
        """The error that tells of it."""
        return rules.error(self.rule, got=self.got, where=self.where)


@dataclass(frozen=True, slots=True)
class FoundFault:
    """A fault of one result, and where: `bad` has its shape, or is None for a write."""

    result: int
    bad: np.ndarray | None
    rule: str
    got: str


def faults(
    primitive: str, params: Params, arrays: Arrays, results: Arrays
) -> Iterator[FoundFault]:
    """The faults of one operation, those of its operands before those of its results.

    >>> x = np.array([100, 3], np.int8)
    >>> for found in faults("add", (), [x, x], [x + x]):
    ...     print(found.rule, found.bad, found.got)
    sanitize.overflow [ True False] `add` of 100 and 100, which int8 does not hold
    """
    check = CHECKS.get(primitive)
    if check is not None:
        yield from check(primitive, dict(params), arrays, results)
    if primitive in MOVES or primitive == "select_n":
        return
    for k, result in enumerate(results):
        if kind_of(result.dtype) == "f":
            yield from _not_finite(primitive, k, arrays, result)


# Primitives that only move elements: those operands that they move, None for all.
MOVES: Mapping[str, tuple[int, ...] | None] = {
    **dict.fromkeys(
        (
            *("broadcast_in_dim", "reshape", "transpose", "rev", "squeeze", "slice"),
            *("concatenate", "stack", "split", "unstack", "pad", "copy"),
        )
    ),
    "gather": (0,),
    "dynamic_slice": (0,),
    "dynamic_update_slice": (0, 1),
    "scatter": (0, 2),
    "bitcast_convert_type": (),
}


def pointwise(primitive: str) -> bool:
    """True if each element of the result depends only on the elements at its place."""
    row = rules.default().prims.get(primitive)
    if row is None:
        return False
    return not {"pointwise1", "pointwise2"}.isdisjoint(row.classes) or primitive in (
        "add_any",
        "clamp",
        "reduce_precision",
    )


# Floats -------------------------------------------------------------------------------


def _not_finite(
    primitive: str, k: int, arrays: Arrays, result: np.ndarray
) -> Iterator[FoundFault]:
    """Elements that are no number, or infinite, of operands without such elements."""
    nan, infinite = np.isnan(result), np.isinf(result)
    if not (nan.any() or infinite.any()):
        return
    floats = [a for a in arrays if kind_of(a.dtype) == "f"]
    before = _known(primitive, [np.isnan(a) for a in floats], result.shape)
    nan &= ~before
    before |= _known(primitive, [np.isinf(a) for a in floats], result.shape)
    infinite &= ~before
    for rule, bad, what in (
        ("sanitize.nan", nan, "nan"),
        ("sanitize.inf", infinite, "an infinity"),
    ):
        if bad.any():
            got = f"{what} in the result of {_shown(primitive, arrays, bad)}"
            yield FoundFault(k, bad, rule, got)


def _known(
    primitive: str, found: Sequence[np.ndarray], shape: tuple[int, ...]
) -> np.ndarray:
    """The elements of a result at which an operand already has the fault."""
    known = np.zeros(shape, bool)
    for one in found:
        known |= one if pointwise(primitive) else one.any()
    return known


# Integers -----------------------------------------------------------------------------

Check = Callable[[str, Mapping[str, Any], Arrays, Arrays], Iterator[FoundFault]]


def _wrapped(
    primitive: str, params: Mapping[str, Any], arrays: Arrays, results: Arrays
) -> Iterator[FoundFault]:
    """Integers that their dtype does not hold.

    Arithmetic modulo 2**n differs from the true value by a multiple of 2**n, and the
    same in float64 by far less than half of that, as long as the value is one that the
    dtype holds. So the two are apart by 2**(n - 1) just where it is not.
    """
    (result,) = results
    if kind_of(result.dtype) not in "iu":
        return
    wide = [
        a.astype(np.float64) if k in COUNTED[primitive] else a
        for k, a in enumerate(arrays)
    ]
    if "preferred_element_type" in params:
        params = {**params, "preferred_element_type": np.dtype(np.float64)}
    about = np.asarray(KERNELS[primitive](*wide, **params))
    half = 2.0 ** (8 * result.dtype.itemsize - 1)
    bad = np.abs(about - result) >= half
    if bad.any():
        shown = _shown(primitive, arrays, bad)
        got = f"{shown}, which {result.dtype} does not hold"
        yield FoundFault(0, bad, "sanitize.overflow", got)


def _by_zero(
    primitive: str, params: Mapping[str, Any], arrays: Arrays, results: Arrays
) -> Iterator[FoundFault]:
    """Integers divided by zero."""
    x, y = arrays
    if kind_of(x.dtype) in "iu":
        bad = np.broadcast_to(y == 0, results[0].shape)
        if bad.any():
            yield FoundFault(
                0, bad, "sanitize.division", _shown(primitive, arrays, bad)
            )


def _divided(
    primitive: str, params: Mapping[str, Any], arrays: Arrays, results: Arrays
) -> Iterator[FoundFault]:
    """Integers divided by zero, and the least one by -1."""
    yield from _by_zero(primitive, params, arrays, results)
    x, y = arrays
    if kind_of(x.dtype) == "i":
        least = iinfo(x.dtype).min
        bad = np.broadcast_to((y == -1) & (x == least), results[0].shape)
        if bad.any():
            got = f"{_shown(primitive, arrays, bad)}, which {x.dtype} does not hold"
            yield FoundFault(0, bad, "sanitize.overflow", got)


def _converted(
    primitive: str, params: Mapping[str, Any], arrays: Arrays, results: Arrays
) -> Iterator[FoundFault]:
    """Numbers that become an integer of a dtype that does not hold them."""
    (x,), (result,) = arrays, results
    kind = kind_of(x.dtype)
    if kind_of(result.dtype) not in "iu" or kind == "b":
        return
    if kind == "f":
        least, most = iinfo(result.dtype).min, iinfo(result.dtype).max
        whole = np.trunc(x.astype(np.float64))
        bad = ~((whole >= float(least)) & (whole < float(most + 1)))
    else:
        bad = (result.astype(x.dtype) != x) | ((result < 0) != (x < 0))
    if bad.any():
        got = f"{_at(x, bad)} of {x.dtype}, made {result.dtype}"
        yield FoundFault(0, np.asarray(bad), "sanitize.conversion", got)


def _shown(primitive: str, arrays: Arrays, bad: np.ndarray) -> str:
    """An operation, with the operands of its first bad element where it has them."""
    if not pointwise(primitive) or not arrays:
        return f"`{primitive}`"
    shown = " and ".join(_at(np.broadcast_to(a, bad.shape), bad) for a in arrays)
    return f"`{primitive}` of {shown}"


def _at(array: np.ndarray, bad: np.ndarray) -> str:
    return str(array[np.unravel_index(int(np.argmax(bad)), bad.shape)])


# Places -------------------------------------------------------------------------------


def _sliced(
    primitive: str, params: Mapping[str, Any], arrays: Arrays, results: Arrays
) -> Iterator[FoundFault]:
    """A box that does not lie inside: any of its elements is of another place."""
    x, *starts = arrays
    sizes = params.get("slice_sizes")
    if sizes is None:
        sizes, *starts = starts[0].shape, *starts[1:]
    for d, (start, size, extent) in enumerate(zip(starts, sizes, x.shape)):
        if not 0 <= int(start) <= extent - size:
            bad = np.ones(results[0].shape, bool) if "slice_sizes" in params else None
            got = f"{_place(int(start), size)} in dimension {d} of extent {extent}"
            yield FoundFault(0, bad, "sanitize.index", f"`{primitive}` at {got}")
            return


def _place(start: int, size: int) -> str:
    if size != 1:
        return f"places {start} to {start + size - 1}"
    return f"place {start}" if start >= 0 else f"place {start}, counted from 0,"


def _gathered(
    primitive: str, params: Mapping[str, Any], arrays: Arrays, results: Arrays
) -> Iterator[FoundFault]:
    """Windows outside of the array that are read where it was promised otherwise."""
    x, indices = arrays
    numbers, sizes = params["dimension_numbers"], params["slice_sizes"]
    if params["mode"] != PROMISE or inside_of_read(x, indices, sizes, numbers):
        return
    filled = {**params, "mode": FILL, "fill_value": 1}
    bad = np.asarray(KERNELS[primitive](np.zeros(x.shape, np.int8), indices, **filled))
    got = _outside(x.shape, indices, sizes, numbers[2])
    yield FoundFault(0, bad == 1, "sanitize.index", f"`{primitive}` at {got}")


def _scattered(
    primitive: str, params: Mapping[str, Any], arrays: Arrays, results: Arrays
) -> Iterator[FoundFault]:
    """Windows outside of the array that are written where it was promised otherwise."""
    x, indices, updates = arrays
    numbers = params["dimension_numbers"]
    if params["mode"] == PROMISE:
        sizes, inside = inside_of_write(x, indices, updates, numbers)
        if not inside:
            got = _outside(x.shape, indices, sizes, numbers[2])
            yield FoundFault(0, None, "sanitize.index", f"`{primitive}` at {got}")
    if primitive in COUNTED:
        yield from _wrapped(primitive, params, arrays, results)


def _outside(
    shape: tuple[int, ...],
    indices: np.ndarray,
    sizes: Sequence[int],
    named: Sequence[int],
) -> str:
    """The first place outside, as an error shows it."""
    for k, d in enumerate(named):
        column = indices[..., k]
        bad = (column < 0) | (column > shape[d] - sizes[d])
        if bad.any():
            place = _place(int(column[bad][0]), sizes[d])
            return f"{place} in dimension {d} of extent {shape[d]}"
    return "no place outside"


# Where a result may wrap: the operands that are numbers, not places or exponents.
COUNTED: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(
        (
            *("neg", "abs", "integer_pow", "square", "reduce_sum", "reduce_prod"),
            *("cumsum", "cumprod", "psum", "select_and_scatter_add"),
        ),
        (0,),
    ),
    **dict.fromkeys(
        (
            "add",
            "sub",
            "mul",
            "pow",
            "add_any",
            "dot_general",
            "conv_general_dilated",
            "reduce_window_sum",
        ),
        (0, 1),
    ),
    **dict.fromkeys(("scatter-add", "scatter-sub", "scatter-mul"), (0, 2)),
}
CHECKS: Mapping[str, Check] = {
    **dict.fromkeys(COUNTED, _wrapped),
    "div": _divided,
    "rem": _by_zero,
    "convert_element_type": _converted,
    **dict.fromkeys(("dynamic_slice", "dynamic_update_slice"), _sliced),
    "gather": _gathered,
    **dict.fromkeys(
        (
            "scatter",
            "scatter-add",
            "scatter-sub",
            "scatter-mul",
            "scatter-min",
            "scatter-max",
        ),
        _scattered,
    ),
}
