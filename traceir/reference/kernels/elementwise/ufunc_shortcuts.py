"""Kernels that are one NumPy ufunc call for known types.

Between a call and NumPy's function a kernel decides by its params and its operands. If
both are known before, so is its decision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter, methodcaller
from typing import Any

import numpy as np

from traceir.base import cost_model
from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.reference.kernels.elementwise.pointwise import REALS
from traceir.reference.kernels.linalg.contract import MATMUL
from traceir.reference.kernels.registry import KERNELS, Kernel

Types = Sequence[ShapedArray]


@dataclass(frozen=True, slots=True)
class UfuncShortcut:
    """A function of arrays, and how it is called in the place of a kernel.

    `rest` are positional arguments after the operands; `order` is the operands', where
    it is another; `packed` gives them as one tuple. Of contiguous operands it makes
    contiguous memory of its own, or a `view`. A `silent` one raises no floating-point
    flag.
    """

    function: Callable[..., Any]
    rest: tuple[Any, ...] = ()
    order: tuple[int, ...] | None = None
    packed: bool = False
    view: bool = False
    silent: bool = False

    def __call__(self, *xs: Any) -> Any:
        """The kernel's result for operands.

        >>> UfuncShortcut(np.add.reduce, (0,))(np.arange(4))
        np.int64(6)
        """
        given = xs if self.order is None else tuple(xs[k] for k in self.order)
        operands = (given,) if self.packed else given
        return self.function(*operands, *self.rest)


Rule = Callable[[Types, Mapping[str, Any]], UfuncShortcut | None]
DOT = (((0,), (0,)), ((), ()))
# The ranks of operands whose product is NumPy's, by what is summed.
PRODUCTS = {MATMUL: {(2, 2), (2, 1)}, DOT: {(1, 1)}}
# Kinds of numbers that NumPy orders and converts as the tables say.
ORDERED, INTEGRAL = frozenset("biuf"), frozenset("biu")
NUMBERS = ORDERED | {"c"}
# Functions that look at bits, compare or choose.
SILENT = frozenset(
    {
        *(np.negative, np.absolute, np.maximum, np.minimum, np.isfinite),
        *(np.equal, np.not_equal, np.less, np.less_equal),
        *(np.greater, np.greater_equal),
        *(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert),
    }
)
ARITHMETIC = frozenset({np.add, np.subtract, np.multiply, np.square})


def ufunc_shortcut(
    primitive: str, types: Types, params: Mapping[str, Any]
) -> UfuncShortcut | None:
    """The function that a kernel calls in the end; None where it does more.

    >>> ufunc_shortcut("integer_pow", [ShapedArray((2,), "float32")], {"y": 2}).function
    <ufunc 'square'>
    """
    rule = SHORTCUTS.get(primitive)
    if rule is not None:
        return rule(types, params)
    kernel = KERNELS.get(primitive)
    return _ufunc(kernel, types) if isinstance(kernel, np.ufunc) else None


def _ufunc(function: np.ufunc, types: Types) -> UfuncShortcut | None:
    kinds = {t.dtype.kind for t in types}
    if not kinds <= NUMBERS:
        return None
    silent = function in SILENT and kinds <= ORDERED
    exact = function in ARITHMETIC and kinds <= INTEGRAL
    return UfuncShortcut(function, silent=silent or exact)


def _dot(types: Types, params: Mapping[str, Any]) -> UfuncShortcut | None:
    x, y = types
    asked = params.get("preferred_element_type")
    ranks = PRODUCTS.get(params["dimension_numbers"], set())
    same = x.dtype.kind in ORDERED and (asked is None or asked == x.dtype == y.dtype)
    return UfuncShortcut(np.matmul) if same and (x.ndim, y.ndim) in ranks else None


def _power(types: Types, params: Mapping[str, Any]) -> UfuncShortcut | None:
    usual = params["y"] == 2 and types[0].dtype.kind in ORDERED
    return _ufunc(np.square, types) if usual else None


def _real(function: Kernel) -> Rule:
    return lambda types, params: (
        UfuncShortcut(function) if types[0].dtype.kind in ORDERED else None
    )


def _equal(function: np.ufunc) -> Rule:
    # The kernel is an operator, which knows arrays of keys besides.
    return lambda types, params: _ufunc(function, types)


# --- elements that move ---------------------------------------------------------------


def _reshaped(shape: Sequence[int]) -> UfuncShortcut:
    if not shape:  # a number of NumPy's has a method that takes no empty shape
        return UfuncShortcut(np.reshape, ((),), view=True, silent=True)
    return UfuncShortcut(methodcaller("reshape", tuple(shape)), view=True, silent=True)


def _reshape(types: Types, params: Mapping[str, Any]) -> UfuncShortcut | None:
    return _reshaped(params["new_sizes"])


def _squeeze(types: Types, params: Mapping[str, Any]) -> UfuncShortcut | None:
    left = set(range(types[0].ndim)) - set(params["dimensions"])
    return _reshaped([types[0].shape[d] for d in sorted(left)])


def _transpose(types: Types, params: Mapping[str, Any]) -> UfuncShortcut | None:
    shape, order = types[0].shape, params["permutation"]
    moved = [d for d in order if shape[d] != 1]
    if moved == sorted(moved):
        return _reshaped([shape[d] for d in order])
    return UfuncShortcut(lambda x: x.transpose(order).copy(), silent=True)


def _broadcast(types: Types, params: Mapping[str, Any]) -> UfuncShortcut | None:
    dims, shape = params["broadcast_dimensions"], params["shape"]
    in_order = sorted(dims) == list(dims)
    same = types[0].size == ShapedArray(shape, types[0].dtype).size
    return _reshaped(shape) if in_order and same else None


def _slice(types: Types, params: Mapping[str, Any]) -> UfuncShortcut | None:
    starts, limits = params["start_indices"], params["limit_indices"]
    steps = params.get("strides") or (1,) * len(starts)
    read = itemgetter(tuple(map(slice, starts, limits, steps)))
    return UfuncShortcut(lambda x: read(x).copy(), silent=True)


def _concatenate(types: Types, params: Mapping[str, Any]) -> UfuncShortcut | None:
    return UfuncShortcut(
        np.concatenate, (params["dimension"],), packed=True, silent=True
    )


def _stack(types: Types, params: Mapping[str, Any]) -> UfuncShortcut | None:
    if params["axis"] or not types[0].ndim:
        return None
    shape = (len(types), *types[0].shape)

    def stacked(*xs: np.ndarray) -> np.ndarray:
        found = np.concatenate(xs)
        found.setflags(write=False)  # what is behind a view is not written to either
        return found.reshape(shape)

    return UfuncShortcut(stacked, silent=True)


def _select(types: Types, params: Mapping[str, Any]) -> UfuncShortcut | None:
    usual = len(types) == 3 and types[0].dtype.kind == "b"
    return UfuncShortcut(np.where, order=(0, 2, 1), silent=True) if usual else None


def _convert(types: Types, params: Mapping[str, Any]) -> UfuncShortcut | None:
    x, dtype = types[0], params["new_dtype"]
    if x.dtype.kind not in ORDERED or dtype.kind not in ORDERED:
        return None
    if x.dtype.kind != "f" or dtype.kind not in "iu":
        silent = x.dtype.kind in INTEGRAL and dtype.kind in INTEGRAL
        return UfuncShortcut(methodcaller("astype", dtype), silent=silent)
    few = dtype.kind == "i" and x.size <= cost_model.STABLE_SORT_LINE
    return _to_integer(dtype, KERNELS["convert_element_type"]) if few else None


def _to_integer(dtype: np.dtype, kernel: Kernel) -> UfuncShortcut:
    """Numbers of a magnitude that the dtype holds are only cut off."""
    # A sum of squares is rounded, but never to less than the greatest of them.
    end, squares = float(np.iinfo(dtype).max + 1) ** 2, np.vdot

    def convert(x: np.ndarray) -> Any:
        if squares(x, x) < end:  # not so for NaN
            return x.astype(dtype)
        return kernel(x, new_dtype=dtype)

    return UfuncShortcut(convert)


# --- elements of a line ---------------------------------------------------------------


def _reduction(function: np.ufunc, typed: bool) -> Rule:
    def rule(types: Types, params: Mapping[str, Any]) -> UfuncShortcut | None:
        (x,), axes = types, params["axes"]
        if not axes or not x.size or x.dtype.kind not in ORDERED:
            return None
        axis = axes[0] if len(axes) == 1 else axes
        rest = (axis, x.dtype) if typed else (axis,)
        return UfuncShortcut(
            function.reduce, rest, silent=not typed and function in SILENT
        )

    return rule


def _logical(function: np.ufunc) -> Rule:
    def rule(types: Types, params: Mapping[str, Any]) -> UfuncShortcut | None:
        (x,), axes = types, params["axes"]
        if not axes or x.dtype.kind != "b":
            return None
        axis = axes[0] if len(axes) == 1 else axes
        return UfuncShortcut(function.reduce, (axis,), silent=True)

    return rule


def _arg_reduction(name: str) -> Rule:
    def rule(types: Types, params: Mapping[str, Any]) -> UfuncShortcut | None:
        if types[0].dtype.kind not in ORDERED:
            return None
        (axis,), dtype = params["axes"], params["index_dtype"]
        find = methodcaller(name, axis)
        return UfuncShortcut(lambda x: find(x).astype(dtype), silent=True)

    return rule


def _accumulate(function: np.ufunc) -> Rule:
    def rule(types: Types, params: Mapping[str, Any]) -> UfuncShortcut | None:
        dtype = types[0].dtype
        if params["reverse"] or dtype.kind not in ORDERED:
            return None
        return UfuncShortcut(function.accumulate, (params["axis"], dtype))

    return rule


def _sort(types: Types, params: Mapping[str, Any]) -> UfuncShortcut | None:
    axis = params["dimension"]
    alone = len(types) == 1 and types[0].dtype.kind in ORDERED
    if not alone or types[0].size > cost_model.STABLE_SORT_LINE:
        return None

    def ordered(x: np.ndarray) -> np.ndarray:
        found = x.copy()
        found.sort(axis, "stable")
        return found

    return UfuncShortcut(ordered, silent=True)


SHORTCUTS: dict[str, Rule] = {
    "argmax": _arg_reduction("argmax"),
    "argmin": _arg_reduction("argmin"),
    "broadcast_in_dim": _broadcast,
    "concatenate": _concatenate,
    "convert_element_type": _convert,
    "cummax": _accumulate(np.maximum),
    "cummin": _accumulate(np.minimum),
    "cumprod": _accumulate(np.multiply),
    "cumsum": _accumulate(np.add),
    "dot_general": _dot,
    "eq": _equal(np.equal),
    "integer_pow": _power,
    "ne": _equal(np.not_equal),
    "reduce_and": _logical(np.logical_and),
    "reduce_max": _reduction(np.maximum, False),
    "reduce_min": _reduction(np.minimum, False),
    "reduce_or": _logical(np.logical_or),
    "reduce_prod": _reduction(np.multiply, True),
    "reduce_sum": _reduction(np.add, True),
    "reshape": _reshape,
    "select_n": _select,
    "slice": _slice,
    "sort": _sort,
    "squeeze": _squeeze,
    "stack": _stack,
    "transpose": _transpose,
    **{name: _real(function) for name, function in REALS.items()},
}
