"""Operators and methods, bound to arrays and tracers. Serves: promote.*, array.*

Imported last: what is bound here is made of everything before. In a trace whose face is
NumPy, operators promote by NumPy's table; functions of `traceir.numpy` never do.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from traceir import lax, numpy, rules
from traceir.arrays.array import Array
from traceir.base import config
from traceir.base.tracebacks import entry_point
from traceir.dtypes import is_inexact
from traceir.eager import dispatch
from traceir.eager.fast_getitem import with_fast_getitem
from traceir.errors import shown
from traceir.lax.checks.operands import as_array, convert, default_dtype, promoted
from traceir.numpy.arrays.array_api import namespace, to_device
from traceir.numpy.arrays.viewing import view
from traceir.numpy.indexing.at_updates import IndexUpdates
from traceir.numpy.indexing.getitem import getitem
from traceir.tracing.trace import Tracer, typeof

Function = Callable[..., Any]

# What an operator leaves to the other operand's reflected one.
_ACCEPTED = (bool, int, float, complex, Array, np.ndarray, np.generic)
# To these no array is equal, and none of their elements is compared: nobody means that.
_COMPARED = (list, tuple, set, dict)

BINARY: dict[str, Function] = {
    "add": numpy.add,
    "sub": numpy.subtract,
    "mul": numpy.multiply,
    "truediv": numpy.true_divide,
    "floordiv": numpy.floor_divide,
    "mod": numpy.remainder,
    "divmod": numpy.divmod,
    "pow": numpy.power,
    "matmul": numpy.matmul,
    "and": numpy.bitwise_and,
    "or": numpy.bitwise_or,
    "xor": numpy.bitwise_xor,
    "lshift": numpy.left_shift,
    "rshift": numpy.right_shift,
}
COMPARISON: dict[str, Function] = {
    "eq": numpy.equal,
    "ne": numpy.not_equal,
    "lt": numpy.less,
    "le": numpy.less_equal,
    "gt": numpy.greater,
    "ge": numpy.greater_equal,
}
UNARY: dict[str, Function] = {
    "neg": numpy.negative,
    "pos": numpy.positive,
    "abs": numpy.abs,
    "invert": numpy.invert,
}
METHODS: dict[str, Function] = {
    name: getattr(numpy, name)
    for name in (
        "all",
        "any",
        "argmax",
        "argmin",
        "argpartition",
        "argsort",
        "astype",
        "choose",
        "clip",
        "conj",
        "conjugate",
        "cumprod",
        "cumsum",
        "diagonal",
        "dot",
        "max",
        "mean",
        "min",
        "nonzero",
        "partition",
        "prod",
        "ptp",
        "ravel",
        "repeat",
        "round",
        "searchsorted",
        "sort",
        "squeeze",
        "std",
        "sum",
        "swapaxes",
        "take",
        "trace",
        "var",
    )
}


def _by_numpy(name: str, x: Any, y: Any) -> tuple[Any, Any]:
    """Operands in the dtype in which NumPy would have them meet."""
    if name == "pow" and isinstance(y, int):
        return x, y
    left, right = promoted(name, x, y, face="numpy")
    if name == "truediv" and not is_inexact(typeof(left).dtype):
        wide = np.dtype(np.float64)
        return convert(left, wide), convert(right, wide)
    return left, right


def _apply(name: str, function: Function, x: Any, y: Any) -> Any:
    if config.local.context.face == "numpy":
        x, y = _by_numpy(name, x, y)
    return function(x, y)


def _binary(name: str, function: Function) -> tuple[Function, Function]:
    """An operator's method and its reflected one."""

    def long(self: Any, other: Any) -> Any:
        if not isinstance(other, _ACCEPTED):
            if isinstance(other, _COMPARED) and name in ("eq", "ne"):
                got = f"{shown(other)} at position 1 of {function.__name__}"
                raise rules.error("face.argument", got=got)
            return NotImplemented
        return _apply(name, function, self, other)

    # A power to a Python int is another primitive's.
    short = dispatch.planned if name == "pow" else dispatch.binary

    def reflected(self: Any, other: Any) -> Any:
        if not isinstance(other, _ACCEPTED):
            return NotImplemented
        return _apply(name, function, other, self)

    return short(long), short(reflected)


def _unary(function: Function) -> Function:
    return dispatch.planned(lambda self: function(self))


def _method(function: Function) -> Function:
    @functools.wraps(function)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        # Functions of NumPy's call the methods of what they are given, and name these
        # arguments though nobody has asked for them.
        for name in ("out", "dtype"):
            if kwargs.get(name, self) is None:
                del kwargs[name]
        return function(self, *args, **kwargs)

    return dispatch.planned(method)


def _round(self: Array, ndigits: int | None = None) -> Array:
    """Whole numbers as integers, or numbers rounded to `ndigits` places."""
    rounded: Array = numpy.round(self, decimals=ndigits or 0)
    if ndigits is not None:
        return rounded
    return as_array(convert(rounded, default_dtype(int)))


def _iter(self: Array) -> Iterator[Array]:
    if not self.ndim:
        raise rules.error("array.length", got=self.aval.str_short())
    return (
        lax.index_in_dim(self, place, keepdims=False) for place in range(self.shape[0])
    )


def _contains(self: Array, value: Any) -> bool:
    return bool(numpy.any(numpy.equal(self, value)))


def _reshape(
    self: Array, *shape: Any, order: str = "C", out_sharding: Any = None
) -> Array:
    """The elements under another shape: ints, or one sequence of them."""
    extents = shape[0] if len(shape) == 1 else shape
    return numpy.reshape(self, extents, order, out_sharding=out_sharding)


def _compress(
    self: Array,
    condition: Any,
    axis: int | None = None,
    *,
    out: None = None,
    size: int | None = None,
    fill_value: Any = 0,
) -> Array:
    """The elements along an axis where the condition holds."""
    options: dict[str, Any] = {"size": size, "fill_value": fill_value, "out": out}
    return numpy.compress(condition, self, axis, **options)


def _transpose(self: Array, *axes: Any) -> Array:
    """The dimensions in another order: ints, one sequence of them, or reversed."""
    if len(axes) == 1 and (axes[0] is None or not hasattr(axes[0], "__index__")):
        return numpy.transpose(self, axes[0])
    return numpy.transpose(self, axes or None)


PROPERTIES: dict[str, tuple[Function, str]] = {
    "T": (numpy.transpose, "The dimensions in reverse order."),
    "mT": (numpy.matrix_transpose, "The last two dimensions swapped."),
    "real": (numpy.real, "The real parts."),
    "imag": (numpy.imag, "The imaginary parts; zeros where the dtype is real."),
    "at": (IndexUpdates, "Index this to update a copy: `x.at[i].set(v)`."),
}


def bindings() -> dict[str, Any]:
    """Everything that arrays and tracers share, by attribute name."""
    found: dict[str, Any] = {}
    for name, function in BINARY.items():
        found[f"__{name}__"], found[f"__r{name}__"] = _binary(name, function)
    for name, function in COMPARISON.items():
        found[f"__{name}__"] = _binary(name, function)[0]
    for name, function in UNARY.items():
        found[f"__{name}__"] = _unary(function)
    for name, function in METHODS.items():
        found[name] = _method(function)
    for name, (function, doc) in PROPERTIES.items():
        found[name] = property(function, doc=doc)
    return found | {
        "__round__": entry_point(_round),
        "__iter__": entry_point(_iter),
        "__contains__": entry_point(_contains),
        "__getitem__": with_fast_getitem(getitem),
        "__array_namespace__": functools.partialmethod(
            entry_point(namespace), module=numpy
        ),
        "to_device": entry_point(to_device),
        "compress": _method(_compress),
        "flatten": _method(numpy.ravel),
        "reshape": dispatch.planned(_reshape),
        "view": _method(view),
        "transpose": dispatch.planned(_transpose),
    }


def bind_all() -> None:
    """Give both classes their operators and methods."""
    for kind in (Array, Tracer):
        for name, value in bindings().items():
            setattr(kind, name, value)


bind_all()
