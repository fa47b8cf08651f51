"""Operators, methods and NumPy's functions of arrays on a device. Serves: array.*

Each is a small function under `jit(target="cuda")`, so results stay on the device.

The methods of arrays on a device, and NumPy's functions of them, are functions under
`jit` for the device, one for each way to call them, made when they are first wanted:
numbers are operands in them, shapes and axes part of the key.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.base import config
from traceir.base.config import local
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import entry_point
from traceir.binding.bind_operators import BINARY, COMPARISON, METHODS, UNARY
from traceir.jit.cache.static_keys import typed
from traceir.jit.function import Options
from traceir.pytrees import flatten
from traceir.tracing.trace import Tracer
from traceir_numba.cuda.arrays.arrays import DeviceArray, resolved
from traceir_numba.cuda.arrays.foreign import device_put, is_foreign
from traceir_numba.cuda.function import CudaFunction, on_host

Function = Callable[..., Any]

OPTIONS = Options(
    backend="cuda", face="numpy", x64=True, numpy_out=True, write_arguments=False
)
# How many functions are kept, each for one way to call it.
MOST = 1024
# Of these Python's integers are numbers like others, not part of the function.
_TAKES_NUMBERS = {getattr(operator, name) for name in ("add", "sub", "mul", "truediv")}
_TAKES_NUMBERS |= {getattr(operator, name) for name in COMPARISON}
_functions: dict[Any, CudaFunction[..., Any]] = {}
# NumPy's functions whose results have as many elements as values decide.
_COUNTED = {
    *(np.nonzero, np.flatnonzero, np.argwhere, np.extract, np.compress, np.trim_zeros),
    *(np.unique, np.unique_all, np.unique_counts, np.unique_inverse, np.unique_values),
    *(np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d),
}


@dataclass(frozen=True, slots=True)
class _OperandNumber:
    """The position of an array among the operands."""

    number: int


class _OperatorCall:
    """A call taken apart: its operands, the rest, and a key for the rest."""

    def __init__(self, function: Function, args: Any, kwargs: Any) -> None:
        self.operands: list[Any] = []
        self.numbers = function in _TAKES_NUMBERS
        self.args, first = self.part(tuple(args))
        self.kwargs, second = self.part(dict(kwargs))
        self.key = function, first, second

    def part(self, value: Any) -> tuple[Any, Any]:
        """A value with places for its arrays, and its key."""
        kind = type(value)
        if self.is_operand(value):
            self.operands.append(value)
            return _OperandNumber(len(self.operands)), _OperandNumber
        if kind is tuple or kind is list:
            pairs = [self.part(v) for v in value]
            return kind(p for p, _ in pairs), (kind, *(k for _, k in pairs))
        if kind is dict:
            found = {n: self.part(v) for n, v in value.items()}
            keys = ((n, k) for n, (_, k) in found.items())
            return {n: p for n, (p, _) in found.items()}, (dict, *keys)
        if kind is slice:
            own, key = self.part((value.start, value.stop, value.step))
            return slice(*own), (slice, key)
        return value, typed(value)

    def is_operand(self, value: Any) -> bool:
        """True if a value is an array, or a number that may be any other."""
        kind = type(value)
        if kind is float or kind is complex:
            return self.numbers
        if kind is int:
            return self.numbers and -(1 << 31) <= value < 1 << 31
        array = isinstance(value, DeviceArray | Array | np.ndarray | np.generic)
        return array or is_foreign(value)

    def function(self) -> CudaFunction[..., Any]:
        """The function of the operands."""
        function, args, kwargs = self.key[0], self.args, self.kwargs

        def call(*operands: Any) -> Any:
            given, named = _with(args, operands), _with(kwargs, operands)
            return function(*given, **named)

        call.__name__ = call.__qualname__ = getattr(function, "__name__", "call")
        return CudaFunction(call, None, None, OPTIONS)


def _with(part: Any, operands: tuple[Any, ...]) -> Any:
    """The argument with operands in the places that stand for them."""
    kind = type(part)
    if kind is _OperandNumber:
        return operands[part.number - 1]
    if kind is tuple or kind is list:
        return kind(_with(p, operands) for p in part)
    if kind is dict:
        return {n: _with(p, operands) for n, p in part.items()}
    if kind is slice:
        return slice(*_with((part.start, part.stop, part.step), operands))
    return part


def applied(function: Function, *args: Any, **kwargs: Any) -> Any:
    """A function of arrays, done on the device; inside a trace, of their values."""
    call = _OperatorCall(function, args, kwargs)
    if local.trace is not None:
        operands = tuple(map(on_host, call.operands))
        return function(*_with(call.args, operands), **_with(call.kwargs, operands))
    found = _functions.get(call.key)
    if found is None:
        if len(_functions) >= MOST:
            _functions.clear()
        found = _functions[call.key] = call.function()
    if not local.context.disable_jit:
        return found(*call.operands)
    # Without `jit`, too, this is how such arrays are computed with.
    with config.scope("disable_jit", False):
        return found(*call.operands)


# -- methods --------------------------------------------------------------------------


def _accepted(value: Any) -> bool:
    own = isinstance(value, DeviceArray | np.ndarray | np.generic | int | float)
    return own or isinstance(value, complex) or is_foreign(value)


def _binary(function: Function) -> tuple[Function, Function]:
    """The method of an operator, and the reflected one."""

    @entry_point
    def method(self: DeviceArray, other: Any) -> Any:
        if isinstance(other, Tracer):
            return function(on_host(self), other)
        return applied(function, self, other) if _accepted(other) else NotImplemented

    @entry_point
    def reflected(self: DeviceArray, other: Any) -> Any:
        if isinstance(other, Tracer):
            return function(other, on_host(self))
        return applied(function, other, self) if _accepted(other) else NotImplemented

    return method, reflected


def _unary(function: Function) -> Function:
    return lambda self: applied(function, self)


def _method(name: str) -> Function:
    call = _called(name)

    def method(self: DeviceArray, *args: Any, **kwargs: Any) -> Any:
        return applied(call, self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = f"As NumPy's `{name}`, on the device."
    return method


def _called(name: str) -> Function:
    """The function that calls a method."""

    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(x, name)(*args, **kwargs)

    call.__name__ = name
    return call


def _transposed(x: Any) -> Any:
    return x.T


def _matrix_transposed(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


_RESHAPE, _TRANSPOSE, _RAVEL = map(_called, ("reshape", "transpose", "ravel"))


def _reshape(self: DeviceArray, *shape: Any, order: str = "C") -> Any:
    """The elements under another shape: ints, or one sequence of them."""
    wanted = shape[0] if len(shape) == 1 else shape
    wanted = (wanted,) if hasattr(wanted, "__index__") else tuple(wanted)
    found = resolved(wanted, self.size) if order == "C" else None
    if found is not None and local.trace is None:
        return self.as_shape(found)
    return applied(_RESHAPE, self, wanted, order=order)


def _ravel(self: DeviceArray, order: str = "C") -> Any:
    """The elements in one dimension."""
    if order == "C" and local.trace is None:
        return self.as_shape((self.size,))
    return applied(_RAVEL, self, order=order)


def _getitem(self: DeviceArray, index: Any) -> Any:
    """A part, as NumPy reads it; a row of a whole array shares its memory."""
    if type(index) is int and local.trace is None and self.shape:
        length = self.shape[0]
        if -length <= index < length:
            return self.row(index % length)
    if isinstance(index, Tracer):
        return on_host(self)[index]
    if local.trace is None:
        index = _told(index)
    return applied(operator.getitem, self, index)


def _told(index: Any) -> Any:
    """An index whose masks are the places that they select, read by the host."""
    parts = index if isinstance(index, tuple) else (index,)
    if not any(_is_mask(part) for part in parts):
        return index
    found: list[Any] = []
    for part in parts:
        found += np.nonzero(np.asarray(part)) if _is_mask(part) else (part,)
    return tuple(found)


def _is_mask(part: Any) -> bool:
    return getattr(part, "dtype", None) == np.dtype(bool) and part.ndim > 0


def _contains(self: DeviceArray, value: Any) -> bool:
    return bool(applied(_any_equal, self, value))


def _any_equal(x: Any, y: Any) -> Any:
    return np.any(x == y)


@entry_point
def _ufunc(
    self: DeviceArray, ufunc: Any, method: str, *inputs: Any, **kwargs: Any
) -> Any:
    """NumPy's functions of elements."""
    if any(x is not None for x in kwargs.pop("out", ())):
        raise rules.error("array.immutable", got=f"out= of {ufunc.__name__}")
    if any(isinstance(x, Tracer) for x in inputs):
        return getattr(ufunc, method)(*map(on_host, inputs), **kwargs)
    function = ufunc if method == "__call__" else _ufunc_method(ufunc, method)
    return applied(function, *inputs, **kwargs)


_ufunc_methods: dict[tuple[Any, str], Function] = {}


def _ufunc_method(ufunc: Any, method: str) -> Function:
    """A function for `np.add.reduce` and the like, the same one each time."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*args, **kwargs)

    return _ufunc_methods.setdefault((ufunc, method), call)


def _function(
    self: DeviceArray, function: Function, types: Any, args: Any, kwargs: Any
) -> Any:
    """NumPy's other functions; the host computes those whose shapes values decide."""
    counted = function in _COUNTED or (function is np.where and len(args) == 1)
    if counted and local.trace is None:
        given = flatten.map_(on_host, (args, kwargs))
        return device_put(function(*given[0], **given[1]))
    return applied(function, *args, **kwargs)


def _nonzero(self: DeviceArray) -> Any:
    """The places of the elements that are not zero, an array for each dimension."""
    return np.nonzero(self)


@dataclass(frozen=True, slots=True)
class DeviceUpdates:
    """The attribute `x.at`: `x.at[i].set(y)` is a changed copy, made on the device.

    The methods are those of arrays of `traceir.numpy`.
    """

    array: DeviceArray

    def __getitem__(self, index: Any) -> DeviceUpdate:
        return DeviceUpdate(self.array, index)


@dataclass(frozen=True, slots=True)
class DeviceUpdate:
    """The value of `x.at[index]`."""

    array: DeviceArray
    index: Any

    def __getattr__(self, name: str) -> Function:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *args, **kwargs: applied(
            _updated, self.array, name, self.index, args, kwargs
        )


def _updated(x: Any, name: str, index: Any, args: Any, kwargs: Any) -> Any:
    return getattr(x.at[index], name)(*args, **kwargs)


# Python's name of a method, and the function of `operator` where that is another.
_NAMED = {"and": "and_", "or": "or_"}
PROPERTIES: dict[str, tuple[Function, str]] = {
    "T": (_unary(_transposed), "The dimensions in reverse order."),
    "mT": (_unary(_matrix_transposed), "The last two dimensions swapped."),
    "real": (_unary(np.real), "The real parts."),
    "imag": (_unary(np.imag), "The imaginary parts; zeros where the dtype is real."),
    "at": (DeviceUpdates, "Index this to update a copy: `x.at[i].set(v)`."),
}
OWN: dict[str, Function] = {
    "reshape": _reshape,
    "ravel": _ravel,
    "flatten": _ravel,
    "transpose": _method("transpose"),
    "nonzero": _nonzero,
    "__getitem__": _getitem,
    "__contains__": _contains,
    "__array_ufunc__": _ufunc,
    "__array_function__": _function,
}


def bindings() -> dict[str, Any]:
    """Everything that arrays on a device have by functions, by attribute name."""
    found: dict[str, Any] = {}
    for name in BINARY:
        function = (
            divmod if name == "divmod" else getattr(operator, _NAMED.get(name, name))
        )
        found[f"__{name}__"], found[f"__r{name}__"] = _binary(function)
    for name in COMPARISON:
        found[f"__{name}__"] = _binary(getattr(operator, name))[0]
    for name in UNARY:
        found[f"__{name}__"] = _unary(getattr(operator, name))
    for name in METHODS:
        found[name] = _method(name)
    for name, (function, doc) in PROPERTIES.items():
        found[name] = property(function, doc=doc)
    return found | {"__round__": _method("round"), **OWN}


def bind_all() -> None:
    """Give the class its operators and methods."""
    for name, value in bindings().items():
        setattr(DeviceArray, name, value)
