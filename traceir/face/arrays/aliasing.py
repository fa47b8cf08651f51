"""Alias analysis: NumPy is asked which results are views. Serves: face.view

The table in `memory_sharing` decides if a function gives a view. NumPy tells which
elements it has: the function is called on arrays of zeros that lie in memory as the
operands do, and the addresses and strides of the result tell the way from the operand
to its view.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.arrays.layouts import dense_order, elementwise, placed
from traceir.face.arrays.memory_sharing import APART, ORDERED, SAME, SHARED, Sharing
from traceir.face.arrays.unwrapping import unwrapped, wrapped
from traceir.face.arrays.values import array_of
from traceir.face.arrays.views import ReshapeView
from traceir.rules.formulas.language import parse

Function = Callable[..., Any]


@functools.cache
def _rows() -> dict[Function, Sharing]:
    """The rows of the table by functions, of those that this NumPy has."""
    named = {name: SHARED[SAME.get(name, name)] for name in (*SHARED, *SAME)}
    found = {}
    for name, row in named.items():
        home: Any = np
        for part in name.split(".")[1:]:
            home = getattr(home, part, None)
        if name.startswith("numpy.") and home is not None:
            found[home] = row
    return found


@functools.cache
def _ordered() -> frozenset[Function]:
    """The functions whose results are C-contiguous, whatever they are given."""
    homes = (np, np.linalg)
    return frozenset(getattr(h, n) for h in homes for n in ORDERED if hasattr(h, n))


def view_of(func: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of a function if it is a view of its operands, else NotImplemented.

    Raises TypeError (face.meaning) for arguments that it does not take, KeyError for
    one that is traced.
    """
    row = _rows().get(func)
    if row is None:
        return NotImplemented
    bound = _bound(func, tuple(map(_array, args)), kwargs)
    operands = list(arrays(bound.arguments[row.of]))
    if not operands or not holds(row, bound.arguments):
        return NotImplemented
    given = dict(bound.arguments)
    for name, value in given.items():
        given[name] = memory_of(value) if name == row.of else unwrapped(value)
    bound.arguments.update(given)
    try:
        result = func(*bound.args, **bound.kwargs)
    except np.exceptions.AxisError as error:
        got = f"{error}, in {func.__name__} of {operands[0].aval.str_short()}"
        raise rules.error("face.axis", got=got) from None
    if _has_numbers(result):
        return NotImplemented
    found = viewed(result, operands)
    _check_views(func, operands, found)
    _note(row, bound.arguments, operands, found)
    return found


def _bound(func: Function, args: Any, kwargs: Any) -> inspect.BoundArguments:
    """The arguments of a call by name. Raises TypeError (face.meaning)."""
    try:
        bound = signature(func).bind(*args, **kwargs)
    except TypeError as error:
        raise rules.error("face.meaning", got=f"{func.__name__}: {error}") from None
    bound.apply_defaults()
    return bound


def _has_numbers(result: Any) -> bool:
    """True if a result has elements: they would be those of the zeros."""
    if isinstance(result, (tuple, list)):
        return any(map(_has_numbers, result))
    return isinstance(result, np.generic)


def _check_views(func: Function, operands: Sequence[NumpyTracer], found: Any) -> None:
    """Raise TypeError (face.strides) for a result that is neither a view nor an
    operand.

    Its elements would be those of arrays that only tell a layout.
    """
    made = list(arrays(found))
    several = isinstance(found, (tuple, list))
    related = [v for v in made if _is_of(v, operands)]
    if len(related) < (min(len(made), len(operands)) if several else 1):
        got = f"{func.__name__} of {operands[0].aval.str_short()}"
        raise rules.error("face.strides", got=got)


def shared_or_new(name: str, given: dict[str, Any], new: Function) -> Any:
    """The result by a row of the table: its operand itself, or `new`."""
    row = SHARED[name]
    operand = given[row.of]
    found = operand if holds(row, given) else new(**given)
    _note(row, given, [operand], found)
    return found


def _note(
    row: Sharing, given: Mapping[str, Any], operands: Sequence[NumpyTracer], found: Any
) -> None:
    """Keep in mind that a view was told from a copy by the layout of its operands."""
    if not _asks_layout(row, given, operands):
        return
    for operand in operands:
        for made in arrays(found):
            for origin in operand.origins:
                origin.decided(operand.root, made.root)


def _asks_layout(
    row: Sharing, given: Mapping[str, Any], operands: Sequence[NumpyTracer]
) -> bool:
    """True if a row's condition depends on strides, for these arguments."""
    asks = parse(row.when).calls
    if "lies" in asks:
        return given.get("order", "C") in ("C", "F")
    # A vector has every shape as a view, whatever its stride.
    wide = any(operand.ndim > 1 for operand in operands)
    return "runs" in asks or ("viewable" in asks and wide)


def _array(value: Any) -> Any:
    """Lists of traced numbers, and such a number, as arrays; others as they are."""
    if isinstance(value, NumpyTracer) and value.number:
        return traced(value, number=False)
    is_list = isinstance(value, (list, tuple)) and any(True for _ in arrays(value))
    return array_of(value) if is_list else value


def _is_of(made: NumpyTracer, operands: Sequence[NumpyTracer]) -> bool:
    is_safe = made.base is not None or not made.size
    return is_safe or any(made is operand for operand in operands)


@functools.cache
def signature(func: Function) -> inspect.Signature:
    """The parameters of a function of NumPy's."""
    return inspect.signature(func)


@functools.cache
def _names_from_output(func: Function) -> tuple[str, ...]:
    """The positional arguments of a function from its output on."""
    try:
        given = signature(func).parameters.values()
    except ValueError:  # it tells none
        return ()
    names = [p.name for p in given if p.kind is p.POSITIONAL_OR_KEYWORD]
    return (*names[names.index("out") :],) if "out" in names else ()


def with_named_output(
    func: Function, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The arguments of a call; an output and what follows it by name."""
    names = _names_from_output(func)
    if not names:
        return args, kwargs
    at = [*signature(func).parameters].index("out")
    if len(args) <= at:
        return args, kwargs
    return args[:at], {**dict(zip(names, args[at:], strict=False)), **kwargs}


def holds(row: Sharing, given: Mapping[str, Any]) -> bool:
    """True if a row's condition holds for these arguments.

    Raises KeyError for one that is traced, where the condition asks for it.
    """
    formula = parse(row.when)
    if formula.calls & {"runs", "viewable"} and given.get("order") in ("A", "K"):
        for array in arrays(given[row.of]):
            array.tell()  # the order of the elements is that in memory
    names = {
        name: memory_of(value) if name == row.of else unwrapped(value)
        for name, value in given.items()
        if name in formula.names
    }
    return bool(formula({**_PREDICATES, **names}))


def memory_of(value: Any) -> Any:
    """The memory of arrays in nested tuples and lists."""
    if isinstance(value, NumpyTracer):
        return value.memory
    if type(value) in (tuple, list):
        return type(value)(map(memory_of, value))
    return value


def arrays(value: Any) -> Iterator[NumpyTracer]:
    """The arrays of the trace in nested tuples and lists."""
    if isinstance(value, NumpyTracer):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from arrays(part)


def viewed(result: Any, operands: Sequence[NumpyTracer]) -> Any:
    """NumPy's results as arrays of the trace: views of the operands, or new ones."""
    if type(result) in (tuple, list):
        return type(result)(viewed(part, operands) for part in result)
    if type(result) is not np.ndarray or result.dtype.kind == "O":
        return result
    for operand in operands:
        if result is operand.memory:
            return operand
        if np.may_share_memory(result, operand.memory):
            return operand.viewed(result)
    if not result.size:
        return wrapped(placed(result.shape, result.dtype, None, result.flags.writeable))
    return wrapped(result)


# Layouts of what is new --------------------------------------------------------------


def lay(found: Any, func: Function, args: Any, kwargs: Any) -> Any:
    """Results that are no views of these arguments; of others they might be some."""
    row = _rows().get(func)
    if row is not None:
        bound = _bound(func, args, kwargs)
        operands = list(arrays((*args, *kwargs.values())))
        _note(row, bound.arguments, operands, found)
    return lay_new(found, func, args, kwargs)


def lay_new(found: Any, func: Function, args: Any, kwargs: Any) -> Any:
    """Results that are new: NumPy tells how they lie in memory when that matters."""
    several = found if isinstance(found, (tuple, list)) else (found,)
    operands = list(arrays((*args, *kwargs.values())))
    if func in _ordered():
        return found
    least = 0 if getattr(func, "__name__", "") in APART else 1
    for k, made in enumerate(several):
        is_new = isinstance(made, NumpyTracer) and made.base is None
        if any(made is operand for operand in operands):
            is_new = False  # it was given for the result
        if is_new and made.ndim > least and made.layout is None:
            made.layout = functools.partial(_asked, func, args, kwargs, k)
            _inherit(made, operands)
    return found


def lay_elementwise(made: Any, inputs: Sequence[Any]) -> None:
    """Lay out the result of a universal function as its operands are."""
    if not isinstance(made, NumpyTracer) or made.ndim < 2:
        return
    operands = [
        v for v in inputs if isinstance(v, (NumpyTracer, np.ndarray)) and v.ndim
    ]
    if all(map(_is_plain, operands)):
        return
    made.layout = functools.partial(_elementwise, operands, made.dtype)
    _inherit(made, [v for v in operands if isinstance(v, NumpyTracer)])


def _is_plain(operand: Any) -> bool:
    """True if an array is C-contiguous, whatever the layout of the arguments."""
    if isinstance(operand, np.ndarray):
        return operand.flags.c_contiguous
    if operand.origins:
        return False
    return operand.layout is None and operand.concrete is None and operand.base is None


def _elementwise(operands: Sequence[Any], dtype: np.dtype) -> tuple[int, ...]:
    return elementwise(list(map(memory_of, operands)), dtype)


def _asked(func: Function, args: Any, kwargs: Any, k: int) -> tuple[int, ...]:
    """The strides of a result, for operands of zeros that lie as the real ones."""
    try:
        with np.errstate(all="ignore"):
            result = func(*_zeros(args), **_zeros(kwargs))
    except Exception as error:  # zeros are none of its operands
        got = f"the layout of {func.__name__}, which raises {error!r} for zeros"
        raise rules.error("face.strides", got=got) from None
    found = result[k] if isinstance(result, (tuple, list)) else result
    strides: tuple[int, ...] = found.strides
    return strides


def _zeros(value: Any) -> Any:
    if isinstance(value, NumpyTracer):
        known_value = value.concrete
        return _zeros_like(value.memory) if known_value is None else known_value
    if type(value) in (tuple, list):
        return type(value)(map(_zeros, value))
    if type(value) is dict:
        return {name: _zeros(part) for name, part in value.items()}
    return value


def _zeros_like(memory: np.ndarray) -> np.ndarray:
    """Fresh zeros, for a function that might write to them."""
    flags = memory.flags
    return placed(memory.shape, memory.dtype, memory.strides, flags.writeable)


# What the conditions ask --------------------------------------------------------------


def _viewable(a: Any, shape: Any, order: str) -> bool:
    if not isinstance(a, np.ndarray):
        return True  # a number is copied, whatever the shape
    order = order_of(a, order)
    extents = tuple(shape) if np.iterable(shape) else (shape,)
    turned = (a.T, extents[::-1]) if order == "F" else (a, extents)
    try:
        ReshapeView(turned[1], a.shape).of(turned[0])
    except ValueError:
        return False
    return True


def order_of(a: np.ndarray, order: str) -> str:
    """The order of C or of Fortran for that of the array."""
    if order == "A":
        return "F" if a.flags.fnc else "C"
    return order


def _runs(a: np.ndarray, order: str) -> bool:
    """True if all elements lie one behind the other in an order."""
    order = order_of(a, order)
    if order == "K":
        dense = dense_order(a)
        wide = [s for s, n in zip(a.strides, a.shape, strict=True) if n > 1]
        return dense is not None and min(wide, default=a.itemsize) == a.itemsize
    return bool(a.flags.f_contiguous if order == "F" else a.flags.c_contiguous)


def _lies(a: Any, order: str | None) -> bool:
    return order not in ("C", "F") or _runs(a, order)


def _is_same(a: Any, dtype: Any) -> bool:
    return dtype is None or a.dtype == np.dtype(dtype)


def _picks(operands: Sequence[Any]) -> bool:
    """True if einsum of these picks elements of one operand and adds up nothing."""
    if len(operands) != 2 or not isinstance(operands[0], str):
        return False
    text = operands[0].replace(" ", "").replace("...", ".")
    before, arrow, after = text.partition("->")
    if "," in before or (set(before) != set(after) if arrow else _repeats(before)):
        return False
    # Where dimensions have one name their extents are one.
    shape = operands[1].shape
    extents = dict(zip(before, shape, strict=False))
    return not _repeats(before) or all(
        extents[n] == e for n, e in zip(before, shape, strict=False)
    )


def _repeats(text: str) -> bool:
    return len(set(text)) < len(text)


_PREDICATES: Mapping[str, Function] = {
    "viewable": _viewable,
    "runs": _runs,
    "lies": _lies,
    "is_same": _is_same,
    "picks": _picks,
}


def _inherit(made: NumpyTracer, operands: Sequence[NumpyTracer]) -> None:
    """Make the layout of an array depend on that of these arrays."""
    found = [array.origins for array in operands if array.ndim]
    made._origins = frozenset().union(*found)
