"""Dispatch of NumPy's functions to those of `traceir.numpy`.

Serves: face.function, face.meaning

A function of NumPy's is the one of `traceir.numpy` with its name, once its operands
have the dtype in which NumPy computes. `OWN` has those that are something else.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir import rules
from traceir.face.arrays.aliasing import (
    arrays,
    lay,
    signature,
    view_of,
    viewed,
    with_named_output,
)
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.arrays.limits import check_length
from traceir.face.arrays.unwrapping import claim_for_writing, unwrapped
from traceir.face.arrays.values import array_of, cast, dtype_in
from traceir.face.functions import tables, ufuncs
from traceir.lax.checks.operands import convert, operand
from traceir.lax.checks.warnings import warn
from traceir.pytrees import flatten
from traceir.tracing.concretization import demanded
from traceir.tracing.trace import Tracer, typeof

Function = Callable[..., Any]


def apply(func: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A function of NumPy's on arguments with arrays of the trace.

    Raises TypeError (face.function) for a function that there is not.
    """
    args, kwargs = with_named_output(func, args, kwargs)
    if func in DIRECT:
        return DIRECT[func](*args, **kwargs)
    try:
        found = view_of(func, args, kwargs)
    except KeyError:
        got = f"a traced argument of {func.__name__}, which gives a view"
        settings = [v for v in flatten.leaves((args, kwargs)) if _is_number(v)]
        raise demanded(rules.error("face.meaning", got=got), *settings) from None
    return new(func, args, kwargs) if found is NotImplemented else found


def _is_number(value: Any) -> bool:
    """True for a traced number that is not known."""
    return isinstance(value, NumpyTracer) and value.number and not value.shape


def new(func: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of a function that is no view of its operands."""
    found = lay(_new(func, args, kwargs), func, args, kwargs)
    if func.__name__ in tables.ARRAYS and isinstance(found, NumpyTracer):
        found.number = False
    return found


def _new(func: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    claim_for_writing(
        (kwargs.get("out"), *(args[:1] if func in tables.WRITING else ()))
    )
    try:
        plain = unwrapped(tuple(args)), unwrapped(dict(kwargs))
    except KeyError:
        pass
    else:
        operands = list(arrays((*args, *kwargs.values())))
        for array in operands:
            array.touch()  # it may be written to
        return viewed(func(*plain[0], **plain[1]), operands)
    check_length()
    out = kwargs.get("out")
    if out is not None:
        rest = {name: value for name, value in kwargs.items() if name != "out"}
        return _into(out, apply(func, args, rest))
    if func in OWN:
        return _traced(OWN[func](*args, **kwargs))
    return by_name(func, args, kwargs)


def by_name(func: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of the function of `traceir.numpy` with the name of NumPy's."""
    bound = arguments(func, args, kwargs)
    if func in CHECKED:
        CHECKED[func](bound)
    name = func.__name__
    _check_by_value(name, bound)
    met = _meet(bound, tables.MEETING[name]) if name in tables.MEETING else bound
    if name in tables.CUMULATIVE and bound.get("dtype") is None:
        met = {**met, "dtype": reduction_dtype(typeof(_array(bound["a"])).dtype)}
    met = {key: _computed(func, bound, key, value) for key, value in met.items()}
    found = _traced(_call(func, met))
    return _in_numpys_dtype(func, bound, found)


def _check_by_value(name: str, bound: Mapping[str, Any]) -> None:
    """Refuse what has a shape that values decide (order.size), and warn where they
    decide whether NumPy's result is complex."""
    if name in tables.TRIMMING:
        got = f"{name} of a traced array, without its leading zeros"
        raise rules.error("order.size", got=got, hint=tables.TRIMMING[name])
    if name in tables.REAL_BY_VALUE:
        operand = typeof(_array(next(iter(bound.values()))))
        if (operand.dtype.kind == "c") == (name == "poly"):
            warn(
                f"what `{name}` gives is complex here; NumPy's is real where the "
                f"values leave no imaginary part. {tables.REAL_BY_VALUE[name]}; "
                f"the `{name}` of `traceir.numpy` is always complex"
            )


def _in_numpys_dtype(func: Function, bound: Mapping[str, Any], found: Any) -> Any:
    """A result in NumPy's dtype, where this follows from the operands'."""
    if func.__name__ in tables.PLACES:
        if isinstance(found, tuple):
            return tuple(_of_dtype(places, np.int64) for places in found)
        return _of_dtype(found, np.int64)
    if func in (np.histogram2d, np.histogramdd):
        return type(found)((_of_dtype(found[0], float), *found[1:]))
    if func is np.histogram:
        return _counted(bound, *found)
    arrays = [v for v in bound.values() if isinstance(v, (Tracer, np.ndarray))]
    if bound.get("method") in tables.DISCRETE:
        return _of_dtype(found, arrays[0].dtype)
    if func.__name__ in tables.POLYNOMIALS and all(
        v.dtype.kind in "biu" for v in arrays
    ):
        return _of_dtype(found, np.int64)
    return found


def _counted(bound: Mapping[str, Any], counts: Any, edges: Any) -> tuple[Any, Any]:
    """A histogram: integers, or in the dtype of the weights; edges are as given."""
    weights = bound.get("weights")
    dtype = np.dtype(np.int64) if weights is None else _strong(_array(weights))
    if bound.get("density"):
        dtype = np.promote_types(dtype, float)
    given = bound.get("bins", 10)
    edge = _real(_array(bound["a"])) if type(given) in (int, str) else _array(given)
    real = traced(jnp.real(edges.now()))
    return _of_dtype(counts, dtype), _of_dtype(real, edge.dtype)


def _of_dtype(found: Any, dtype: Any) -> Any:
    """A result in a dtype, of which it is not known yet how it lies in memory."""
    return traced(convert(found.now(), np.dtype(dtype)))


def _computed(func: Function, bound: Mapping[str, Any], key: str, value: Any) -> Any:
    """An argument in the dtype in which NumPy computes, if it is an array."""
    name = func.__name__
    if not isinstance(value, (Tracer, np.ndarray)):
        return value
    if name in tables.WIDE:
        return convert(operand(key, value), np.promote_types(value.dtype, float))
    if name in tables.COUNTED:
        wide = np.promote_types(value.dtype, np.int64)
        return convert(operand(key, value), wide)
    whole = name in tables.WHOLE or bound.get("method") in tables.DISCRETE
    whole = whole or type(bound.get("period")) is int
    linear = func.__module__ == "numpy.linalg"
    return _real(value) if (name in tables.REAL or linear) and not whole else value


def _into(out: Any, result: Any) -> Any:
    if not isinstance(out, NumpyTracer):
        raise rules.error("face.out", got=f"an array of shape {np.shape(out)}")
    if result.shape != out.shape:
        got = f"a result of shape {result.shape} for an output of shape {out.shape}"
        raise rules.error("update.shape", got=got)
    out.store(cast(operand("out", result), out.dtype))
    return out


def _traced(result: Any) -> Any:
    """Results as arrays of the trace."""
    if isinstance(result, (Tracer, jnp.ndarray)):
        return traced(result)
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*map(_traced, result))
    if type(result) in (list, tuple):
        return type(result)(map(_traced, result))
    return result


def function_of(func: Function) -> Function:
    """The function of `traceir.numpy` with the name of one of NumPy's.

    Raises TypeError (face.function).
    """
    home: Any = jnp
    for part in (func.__module__ or "").split(".")[1:]:
        home = getattr(home, part, None) if not part.startswith("_") else home
    found = getattr(home, func.__name__, None)
    if found is None or found is func or not callable(found):
        name = f"{func.__module__}.{func.__name__}"
        raise rules.error("face.function", got=name)
    return found  # type: ignore[no-any-return]  # it is callable


def arguments(
    func: Function, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of a call by name; several of one name as a tuple."""
    try:
        return dict(signature(func).bind(*args, **kwargs).arguments)
    except TypeError as error:
        raise rules.error("face.meaning", got=f"{func.__name__}: {error}") from None


def _meet(bound: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Arguments with those of these names in the dtype in which NumPy has them meet."""
    met = {**bound}
    several = [n for n in names if n in bound]
    if "bins" in several and type(bound["bins"]) in (int, str):  # how many, no edges
        several.remove("bins")
    if not several:
        return met
    flat: list[Any] = []
    for name in several:
        value = bound[name]
        flat += value if isinstance(value, (list, tuple)) else [value]
    arrays = list(map(_array, flat))
    weak = not {"choicelist", "x", "q"}.isdisjoint(names)
    dtype = np.result_type(*[dtype_in(v) if weak else _strong(v) for v in arrays])
    for name in several:
        value = bound[name]
        if isinstance(value, (list, tuple)):
            met[name] = [convert(_array(part), dtype) for part in value]
        else:
            met[name] = convert(_array(value), dtype)
    return met


def _strong(value: Any) -> np.dtype:
    """The dtype of an operand that NumPy makes an array of first."""
    return typeof(value).dtype


def _array(value: Any) -> Any:
    """An operand: lists become arrays."""
    if isinstance(value, (list, tuple)):
        return array_of(value)
    return operand("an array", value)


def _real(value: Any) -> Any:
    """An array of integers or booleans in float64, anything else as it is."""
    if isinstance(value, (Tracer, np.ndarray)) and value.dtype.kind in "biu":
        return convert(operand("an array", value), np.dtype(np.float64))
    return value


def _call(func: Function, bound: Mapping[str, Any]) -> Any:
    """Call the function with NumPy's arguments, without those that have no meaning."""
    found = function_of(func)
    known = signature(found).parameters
    given: dict[str, Any] = {}
    before: tuple[Any, ...] = ()
    several: tuple[Any, ...] = ()
    for name, value in bound.items():
        kind = signature(func).parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            before, several = tuple(given.values()), value
            given = {}
        elif kind is inspect.Parameter.VAR_KEYWORD:
            given |= value
        elif value is not np._NoValue:
            given[name] = _list(name, value)
    _check_options(func, found, given)
    if several:
        return found(*before, *several, **given)
    renamed = _by_position(func, found)
    left = {renamed.get(name, name): value for name, value in given.items()}
    positional = [
        left.pop(name)
        for name, parameter in known.items()
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY and name in left
    ]
    return found(*positional, **left)


def _list(name: str, value: Any) -> Any:
    """A list of numbers as an array, where the function takes arrays."""
    if not isinstance(value, (list, tuple)) or name in tables.LISTS:
        return value
    if any(isinstance(v, Tracer) and not v.shape for v in value):
        return array_of(value)
    plain = value and all(
        isinstance(v, (bool, int, float, complex, list)) for v in value
    )
    return np.array(value) if plain else value


@cache
def _by_position(func: Function, found: Function) -> dict[str, str]:
    """The names of the first function's arguments in the other one, if they differ."""
    ours, theirs = signature(found).parameters, signature(func).parameters
    pairs = zip(theirs.items(), ours.items(), strict=False)
    return {
        name: other
        for (name, _), (other, parameter) in pairs
        if name != other and name not in ours and other not in theirs
    }


def _check_options(func: Function, found: Function, given: dict[str, Any]) -> None:
    """Drop options that say nothing here, in place; refuse others that are unknown."""
    ours, theirs = signature(found).parameters, signature(func).parameters
    renamed = _by_position(func, found)
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in ours.values()):
        return
    for name in [n for n in given if n not in ours and n not in renamed]:
        value = given.pop(name)
        parameter = theirs.get(name)
        default = parameter.default if parameter else None
        if value is None or value is default or name in _MEANINGLESS:
            continue
        raise rules.error("face.meaning", got=f"{name}={value!r} of {func.__name__}")


# Options about memory, or about subclasses.
_MEANINGLESS = frozenset({"order", "subok", "like", "copy", "overwrite_input", "kind"})
# Functions that are no function of `traceir.numpy` with the same arguments; and those
# that are asked first, since they write to an operand, known or not, or are asked how
# it lies in memory.
OWN: dict[Function, Function] = {}
DIRECT: dict[Function, Function] = {}
# What is to check of the arguments of others, by name.
CHECKED: dict[Function, Callable[[Mapping[str, Any]], None]] = {}


def own(*funcs: Function) -> Callable[[Function], Function]:
    """Register the implementation of NumPy's functions on traced arrays."""

    def register(function: Function) -> Function:
        OWN.update(dict.fromkeys(funcs, function))
        return function

    return register


def direct(*funcs: Function) -> Callable[[Function], Function]:
    """Register functions that are asked before any table, as those that write."""

    def register(function: Function) -> Function:
        DIRECT.update(dict.fromkeys(funcs, function))
        return function

    return register


def reduction_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of NumPy's sums and products of a dtype.

    >>> reduction_dtype(np.dtype("int8")), reduction_dtype(np.dtype("float32"))
    (dtype('int64'), dtype('float32'))
    """
    if dtype.kind in "bi":
        return np.promote_types(dtype, np.int64)
    return np.promote_types(dtype, np.uint64) if dtype.kind == "u" else dtype


def method(name: str) -> Function:
    """The method of an array that is the function of NumPy's with its name."""
    func = getattr(np, name)

    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        if func is np.compress:  # the condition comes first
            return apply(func, (*args[:1], self, *args[1:]), kwargs)
        return apply(func, (self, *args), kwargs)

    return called


def call_ufunc(name: str) -> Function:
    """A universal function, called on operands in order."""
    ufunc = getattr(np, name)

    def called(*inputs: Any) -> Any:
        return ufuncs.apply(ufunc, "__call__", inputs, {})

    return called
