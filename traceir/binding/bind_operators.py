"""Operators and methods, bound to arrays and tracers. Serves: promote.*, array.*

Each is made, and the functions that it is made of are imported, when it is first asked
for. In a trace whose face is NumPy, operators promote by NumPy's table; functions of
`traceir.numpy` never do.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from traceir import lax, numpy, rules
from traceir.arrays.array import Array
from traceir.base import config
from traceir.base.tracebacks import entry_point, users_frames
from traceir.dtypes import is_inexact
from traceir.eager import dispatch
from traceir.errors import shown
from traceir.lax.checks.operands import as_array, convert, default_dtype, promoted
from traceir.tracing.trace import Tracer, typeof

Function = Callable[..., Any]

# What an operator leaves to the other operand's reflected one.
_ACCEPTED = (bool, int, float, complex, Array, np.ndarray, np.generic)
# To these no array is equal, and none of their elements is compared: nobody means that.
_COMPARED = (list, tuple, set, dict)

# The functions of `traceir.numpy` that operators are, by name.
BINARY: dict[str, str] = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "divmod": "divmod",
    "pow": "power",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
COMPARISON: dict[str, str] = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
UNARY: dict[str, str] = {
    "neg": "negative",
    "pos": "positive",
    "abs": "abs",
    "invert": "invert",
}
# Methods that are functions under their names.
METHODS = (
    *("all", "any", "argmax", "argmin", "argpartition", "argsort", "astype"),
    *("choose", "clip", "conj", "conjugate", "cumprod", "cumsum", "diagonal", "dot"),
    *("max", "mean", "min", "nonzero", "partition", "prod", "ptp", "ravel", "repeat"),
    *("round", "searchsorted", "sort", "squeeze", "std", "sum", "swapaxes", "take"),
    *("trace", "var"),
)


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


def _short(name: str) -> Callable[[Function], Function]:
    # A power to a Python int is another primitive's.
    return dispatch.planned if name == "pow" else dispatch.binary


def _binary(name: str, called: str) -> Function:
    """An operator's method."""
    function = getattr(numpy, called)

    def long(self: Any, other: Any) -> Any:
        if not isinstance(other, _ACCEPTED):
            if hasattr(type(other), "__jax_array__"):
                return function(self, other.__jax_array__())
            if isinstance(other, _COMPARED) and name in ("eq", "ne"):
                got = f"{shown(other)} at position 1 of {function.__name__}"
                raise rules.error("face.argument", got=got)
            return NotImplemented
        return _apply(name, function, self, other)

    return _short(name)(long)


def _reflected(name: str, called: str) -> Function:
    """The method of an operator whose other operand does not know it."""
    function = getattr(numpy, called)

    def reflected(self: Any, other: Any) -> Any:
        if not isinstance(other, _ACCEPTED):
            if hasattr(type(other), "__jax_array__"):
                return function(other.__jax_array__(), self)
            return NotImplemented
        return _apply(name, function, other, self)

    return _short(name)(reflected)


def _unary(called: str) -> Function:
    function = getattr(numpy, called)
    return dispatch.planned(lambda self: function(self))


def _named(name: str) -> Function:
    """The method that is a function of `traceir.numpy`."""
    return _method(getattr(numpy, name))


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


def _at(self: Array) -> Any:
    from traceir.numpy.indexing.at_updates import IndexUpdates

    return IndexUpdates(self)


# Attributes: the functions of `traceir.numpy`, and what they are.
PROPERTIES: dict[str, tuple[str, str]] = {
    "T": ("transpose", "The dimensions in reverse order."),
    "mT": ("matrix_transpose", "The last two dimensions swapped."),
    "real": ("real", "The real parts."),
    "imag": ("imag", "The imaginary parts; zeros where the dtype is real."),
}


def _property(name: str) -> property:
    if name == "at":
        return property(_at, doc="Index this to update a copy: `x.at[i].set(v)`.")
    function, doc = PROPERTIES[name]
    return property(getattr(numpy, function), doc=doc)


def _getitem() -> Function:
    from traceir.eager.fast_getitem import with_fast_getitem
    from traceir.numpy.indexing.getitem import getitem

    return with_fast_getitem(getitem)


def _namespace() -> Any:
    from traceir.numpy.arrays.array_api import namespace

    return functools.partialmethod(entry_point(namespace), module=numpy)


def _to_device() -> Function:
    from traceir.numpy.arrays.array_api import to_device

    return entry_point(to_device)


def _view() -> Function:
    from traceir.numpy.arrays.viewing import view

    return _method(view)


def _makers() -> Iterator[tuple[str, Callable[[], Any]]]:
    """The makers of all attributes that arrays and tracers share, with their names."""
    for name, function in (BINARY | COMPARISON).items():
        yield f"__{name}__", functools.partial(_binary, name, function)
    for name, function in BINARY.items():
        yield f"__r{name}__", functools.partial(_reflected, name, function)
    for name, function in UNARY.items():
        yield f"__{name}__", functools.partial(_unary, function)
    for name in METHODS:
        yield name, functools.partial(_named, name)
    for name in (*PROPERTIES, "at"):
        yield name, functools.partial(_property, name)
    yield "__round__", lambda: entry_point(_round)
    yield "__iter__", lambda: entry_point(_iter)
    yield "__contains__", lambda: entry_point(_contains)
    yield "__getitem__", _getitem
    yield "__array_namespace__", _namespace
    yield "to_device", _to_device
    yield "compress", lambda: _method(_compress)
    yield "flatten", lambda: _named("ravel")
    yield "reshape", lambda: dispatch.planned(_reshape)
    yield "view", _view
    yield "transpose", lambda: dispatch.planned(_transpose)


MAKERS = dict(_makers())


def bindings() -> dict[str, Any]:
    """Everything that arrays and tracers share, by attribute name."""
    return {name: make() for name, make in MAKERS.items()}


class _LateMember:
    """Stands where an operator or a method will be, until somebody asks for it."""

    __slots__ = ("kind", "name")

    def __init__(self, kind: type, name: str) -> None:
        self.kind = kind
        self.name = name

    def __get__(self, instance: object | None, owner: type) -> Any:
        made = MAKERS[self.name]()
        if vars(self.kind)[self.name] is self:  # no other thread was sooner
            setattr(self.kind, self.name, made)
        try:
            return vars(self.kind)[self.name].__get__(instance, owner)
        except Exception as error:
            users_frames(error)
            raise


class _LateProperty(_LateMember):
    """The same of a property, which no value can be put in the place of."""

    __slots__ = ()

    def __set__(self, instance: object, value: object) -> None:
        self.__get__(None, type(instance)).__set__(instance, value)


def bind_all() -> None:
    """Give both classes their operators and methods."""
    for kind in (Array, Tracer):
        for name in MAKERS:
            late = _LateProperty if name in (*PROPERTIES, "at") else _LateMember
            setattr(kind, name, late(kind, name))


bind_all()
