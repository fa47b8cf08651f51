"""NumPy's protocols, operators and methods, bound to traced arrays.

Serves: promote.numpy, face.ufunc, face.function, face.view

`ufuncs` asks NumPy for the dtypes of a loop, `functions` finds the function of
`traceir.numpy` with the same name, and `tables` has those that compute in other dtypes
than their operands'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir import rules
from traceir.face.arrays.aliasing import arrays, lay, memory_of, shared_or_new
from traceir.face.arrays.array import NumpyTracer, known, traced
from traceir.face.arrays.texts import marked
from traceir.face.arrays.traced_index import TracedIndex
from traceir.face.arrays.values import array_of, cast
from traceir.face.arrays.views import PartView
from traceir.face.callers import by_user
from traceir.face.checks.bounds import check_index
from traceir.face.functions import chosen as chosen  # its functions are registered
from traceir.face.functions import copies, functions, substitutes, ufunc_methods, ufuncs
from traceir.face.functions import searched as searched  # as are these
from traceir.face.functions import triangles as triangles
from traceir.face.functions.flat import FlatIterator, flat_set, partition, sort
from traceir.face.functions.functions import call_ufunc, method
from traceir.face.functions.selection import Unsized
from traceir.face.functions.tables import BINARY, COMPARISON, UNARY
from traceir.face.functions.writing import (
    begins_with_mask,
    index_of,
    is_known,
    read,
    write,
)
from traceir.face.python import operators
from traceir.face.python.number_methods import METHODS as NUMBER_METHODS
from traceir.face.python.numbers import as_python
from traceir.face.slices import created, joined, selected
from traceir.face.slices import indexing as slices
from traceir.face.slices import ordered as ordered  # its functions are registered
from traceir.tracing.trace import Tracer

Function = Callable[..., Any]

# Methods that are functions of NumPy's of the same name.
METHODS = (
    *("all", "any", "argmax", "argmin", "argsort", "clip", "cumprod", "cumsum", "dot"),
    *("max", "mean", "min", "nonzero", "prod", "ptp", "repeat", "round", "std", "sum"),
    *("searchsorted", "take", "trace", "var", "diagonal", "compress", "choose"),
    *("ravel", "squeeze", "swapaxes", "put"),
)


def _foreign(value: Any) -> bool:
    """True if a value is of a class that handles universal functions itself."""
    kind = type(value)
    if kind is NumpyTracer or isinstance(value, (np.ndarray, np.generic)):
        return False
    return hasattr(kind, "__array_ufunc__")


def _refused(value: Any) -> bool:
    """True if an operator leaves the operation to the other operand, or to nobody."""
    return (
        value is None or isinstance(value, (str, bytes, dict, set)) or _foreign(value)
    )


def _repeats(number: NumpyTracer, other: Any) -> bool:
    """True for a product of an integer and a sequence of Python's, which repeats it."""
    return (
        isinstance(other, (list, tuple)) and number.number and number.dtype.kind in "iu"
    )


def _operators(name: str, ufunc: str) -> Iterator[tuple[str, Function]]:
    """An operator's method, its reflected one, and the one in place.

    Between two Python numbers the result is one, too: it stays weak.
    """
    apply = call_ufunc(ufunc)
    plain = operators.checked(name, getattr(Tracer, f"__{name}__"))

    def forward(self: Any, other: Any) -> Any:
        if _refused(other) or (name == "mul" and _repeats(self, other)):
            return NotImplemented
        both = _is_python(self) and _is_python(other)
        return plain(self, other) if both else apply(self, other)

    def backward(self: Any, other: Any) -> Any:
        if _refused(other) or (name == "mul" and _repeats(self, other)):
            return NotImplemented
        both = _is_python(self) and _is_python(other)
        return plain(traced(other), self) if both else apply(other, self)

    def in_place(self: Any, other: Any) -> Any:
        if isinstance(other, Unsized) and not self.number:
            return getattr(np, ufunc)(self, other, out=self)
        if self.number or _refused(other):
            return NotImplemented
        if name == "matmul" and np.ndim(other) < 2:
            got = f"{self.aval.str_short()} @= {np.shape(other)}"
            raise rules.error("update.shape", got=got)
        options = {"out": (self,)}
        return ufuncs.apply(getattr(np, ufunc), "__call__", (self, other), options)

    yield f"__{name}__", forward
    if name in BINARY:
        yield f"__r{name}__", backward
    if name in BINARY and name != "divmod":
        yield f"__i{name}__", in_place


def _unary(name: str, ufunc: str) -> Function:
    apply, plain = call_ufunc(ufunc), getattr(Tracer, f"__{name}__")

    def called(self: Any) -> Any:
        return plain(self) if _is_python(self) else apply(self)

    return called


def _is_python(value: Any) -> bool:
    """True if a value is a Python number, or stands for one."""
    if isinstance(value, NumpyTracer):
        return value.weak_type and value.number
    return type(value) in (int, float, complex)


def getitem(self: NumpyTracer, index: Any) -> Any:
    """`x[index]`: a view where NumPy gives one, else a copy."""
    place = index_of(index)
    if slices.is_dynamic(place):
        return slices.read(self, place)
    if not is_known(place) and not begins_with_mask(place) and by_user():
        check_index(self.shape, place)
    return read(self, place)


def setitem(self: NumpyTracer, index: Any, value: Any) -> None:
    """`x[index] = value`."""
    place = index_of(index)
    if slices.is_dynamic(place, value):
        slices.update(self, place, value)
        return
    if not is_known(place) and not begins_with_mask(place) and by_user():
        check_index(self.shape, place)
    write(self, place, value)


def iterate(self: NumpyTracer) -> Iterator[Any]:
    """The parts along the first dimension, as views."""
    if not self.ndim:
        raise rules.error("array.length", got=self.aval.str_short())
    return (read(self, k) for k in range(self.shape[0]))


def contains(self: NumpyTracer, value: Any) -> bool:
    """True if an element is equal to a value; it must be known while tracing."""
    return bool(functions.apply(np.any, (self == value,), {}))


def astype(
    self: NumpyTracer,
    dtype: Any,
    order: str = "K",
    casting: str = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> Any:
    """The elements in another dtype: copied, or with `copy=False` where they must."""
    wanted = np.dtype(dtype)
    # NumPy itself checks the text of a casting.
    if not np.can_cast(self.dtype, wanted, casting):  # type: ignore[arg-type]
        got = f"from {self.dtype.name} to {wanted.name} with casting {casting!r}"
        raise rules.error("face.cast", got=got)
    given = {"self": self, "dtype": wanted, "order": order, "copy": copy}
    return shared_or_new("ndarray.astype", given, _converted)


def _converted(self: NumpyTracer, dtype: np.dtype, order: str, copy: bool) -> Any:
    value = self.concrete
    if value is not None:
        return known(np.array(value, dtype, order=order))  # type: ignore[call-overload]
    made = traced(cast(self.now(), dtype), number=self.number)
    return lay(made, np.ndarray.astype, (self, dtype, order), {})


def conjugate(self: NumpyTracer) -> Any:
    """The conjugates; an array of real numbers is itself."""
    new = method("conjugate")
    return shared_or_new("ndarray.conjugate", {"self": self}, new)


def fill(self: NumpyTracer, value: Any) -> None:
    """Make all elements one value."""
    write(self, Ellipsis, value)


def view(self: NumpyTracer, dtype: Any = None, type: Any = None) -> Any:
    """A view of the whole array; not of its bits as another dtype (face.meaning)."""
    if dtype not in (None, np.ndarray, self.dtype) or type not in (None, np.ndarray):
        raise rules.error("face.meaning", got=f"view as {dtype or type}")
    return read(self, Ellipsis)


def item(self: NumpyTracer, *index: Any) -> Any:
    """The element as a number: a traced one stays traced."""
    if not index:
        if self.size != 1:
            raise rules.error("face.item", got=self.aval.str_short())
        index = (0,) * self.ndim
    elif len(index) == 1:
        self = functions.apply(np.ravel, (self,), {})
    place = index_of(tuple(index))
    if not is_known(place) and by_user():
        check_index(self.shape, place)
    found = read(self, place)
    return found.item() if isinstance(found, np.generic) else as_python(found)


def reshape(self: NumpyTracer, *shape: Any, order: str = "C", copy: Any = None) -> Any:
    """The elements under another shape: ints, or one sequence of them."""
    extents = shape[0] if len(shape) == 1 else shape
    options = {} if copy is None else {"copy": copy}
    return functions.apply(np.reshape, (self, extents), {"order": order, **options})


def transpose(self: NumpyTracer, *axes: Any) -> Any:
    """The dimensions in another order: ints, one sequence of them, or reversed."""
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        return functions.apply(np.transpose, (self, axes[0]), {})
    return functions.apply(np.transpose, (self, axes or None), {})


def array_ufunc(
    self: NumpyTracer, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any
) -> Any:
    """A universal function of NumPy's on this array and others."""
    if any(map(_foreign, inputs)):
        return NotImplemented
    return ufuncs.apply(ufunc, method, inputs, options)


def array_function(
    self: NumpyTracer, func: Function, types: Any, args: Any, kwargs: Any
) -> Any:
    """A function of NumPy's on arguments in which there is this array."""
    if any(issubclass(kind, Unsized) for kind in types):
        return NotImplemented
    return functions.apply(func, args, kwargs)


def _part(name: str) -> property:
    """`x.real` or `x.imag`: a view of complex numbers, which can be written to."""
    plain = getattr(Tracer, name)

    def read_part(self: NumpyTracer) -> Any:
        if self.dtype.kind != "c":
            return self if name == "real" else _no_parts(self, plain)
        if self.number:
            return traced(PartView(name).read(self.now()))
        return self.through(PartView(name))

    def write_part(self: NumpyTracer, value: Any) -> None:
        if self.dtype.kind != "c" and name == "imag":
            raise rules.error("face.meaning", got=f"new imag of {self.aval}")
        same = isinstance(value, NumpyTracer) and value._base is self
        if same and value._step == PartView(name):  # `x.real += 1` has written it
            return
        into = self if self.number else read_part(self)
        write(into, Ellipsis, value)

    return property(read_part, write_part)


def _no_parts(self: NumpyTracer, plain: property) -> Any:
    """The imaginary parts of real numbers: read-only zeros."""
    made = traced(plain.__get__(self), number=self.number)
    if not self.number:
        made.layout = self.memory.imag
    return made


@functions.direct(np.imag)
def _imag(val: Any) -> Any:
    return val.imag if isinstance(val, NumpyTracer) else traced(jnp.imag(array_of(val)))


def _is_somewhere(array: NumpyTracer) -> bool:
    """True for a view at a traced place, or one of such a view."""
    step, base = array._step, array._base
    return base is not None and (isinstance(step, TracedIndex) or _is_somewhere(base))


def _sharing(func: Function) -> Function:
    """A function such as `np.shares_memory`, told of the layout of traced arrays."""

    def asked(a: Any, b: Any, max_work: Any = None) -> bool:
        for array in arrays((a, b)):
            array.tell()
            if _is_somewhere(array):
                got = f"a view at a traced place, in {func.__name__}"
                raise rules.error("face.meaning", got=got, hint="compare the places")
        return bool(func(*memory_of((a, b)), max_work=max_work))

    return asked


for _func in (np.shares_memory, np.may_share_memory):
    functions.direct(_func)(_sharing(_func))

PROPERTIES: dict[str, Function] = {
    "T": method("transpose"),
    "mT": method("matrix_transpose"),
    "base": lambda self: None if self._base is None else self.root,
}


def setflags(
    self: NumpyTracer, write: Any = None, align: Any = None, uic: Any = None
) -> None:
    """Make the array, and views that are taken later, read-only."""
    self.memory.setflags(write=write, align=align, uic=uic)


def text(self: NumpyTracer, spec: str = "") -> str:
    """The text of the value; of one that can't be known, that it is traced."""
    shown = marked(self, lambda value: format(value, spec))
    if shown is not None:
        return shown
    if spec or (by_user() and self.demandable()):
        return Tracer.__format__(self, spec or "s")
    return repr(self)


def _fixed(name: str) -> property:
    """An attribute that NumPy lets a program set, and a trace does not."""
    own = getattr(NumpyTracer, name)

    def refused(self: NumpyTracer, value: Any) -> None:
        got = f"setting {name} of {self.aval.str_short()} to {value}"
        hint = "make another array, as `x.reshape(shape)` and `x.astype(dtype)` do"
        raise rules.error("face.meaning", got=got, hint=hint)

    return property(lambda self: own.__get__(self), refused)


def bindings() -> Iterator[tuple[str, Any]]:
    """The attributes of the face's arrays beside those of all tracers."""
    for name, ufunc in (BINARY | COMPARISON).items():
        yield from _operators(name, ufunc)
    for name, ufunc in UNARY.items():
        yield f"__{name}__", _unary(name, ufunc)
    for name in METHODS:
        if hasattr(np, name):
            yield name, method(name)
    for name, function in PROPERTIES.items():
        yield name, property(function)
    for name in ("real", "imag"):
        yield name, _part(name)
    own = (astype, fill, sort, partition, item, reshape, transpose, *NUMBER_METHODS)
    for function in own:
        yield function.__name__, function
    for name in ("shape", "dtype", "strides"):
        yield name, _fixed(name)
    yield "setflags", setflags
    yield "conj", conjugate
    yield "conjugate", conjugate
    yield "copy", copies.duplicate
    yield "flatten", copies.flatten
    yield "flat", property(FlatIterator, flat_set)
    yield "view", view
    yield "__getitem__", getitem
    yield "__setitem__", setitem
    yield "__iter__", iterate
    yield "__contains__", contains
    yield "__hash__", NumpyTracer.__hash__
    yield "__repr__", lambda self: marked(self, repr) or Tracer.__repr__(self)
    yield "__str__", text
    yield "__format__", text
    yield "__array_ufunc__", array_ufunc
    yield "__array_function__", array_function


def bind_all() -> None:
    """Give the class its operators and methods."""
    for name, value in bindings():
        setattr(NumpyTracer, name, value)
    for part in (created, joined, selected):
        part.register()
    ufuncs.METHODS.update(ufunc_methods.METHODS)
    functions.OWN.update(substitutes.OWN)
