"""Methods of universal functions: `reduce`, `accumulate`, `at`. Serves: face.ufunc"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir import numpy as jnp
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.arrays.limits import check_length
from traceir.face.arrays.unwrapping import unwrapped
from traceir.face.arrays.values import operand_of
from traceir.face.checks.bounds import check_index
from traceir.face.functions import functions, ufuncs, writing
from traceir.lax.checks.operands import convert
from traceir.lax.checks.shapes import axis_in

Options = Mapping[str, Any]

# Reductions and running ones that are functions of their own.
_REDUCED: dict[str, Callable[..., Any]] = {
    "add": np.sum,
    "multiply": np.prod,
    "maximum": np.max,
    "minimum": np.min,
    "logical_and": np.all,
    "logical_or": np.any,
}
_CUMULATIVE: dict[str, Callable[..., Any]] = {"add": np.cumsum, "multiply": np.cumprod}


def _reduce(ufunc: np.ufunc, inputs: Sequence[Any], options: Options) -> Any:
    rest = dict(options)
    axis = rest.pop("axis", inputs[1] if len(inputs) > 1 else 0)
    if ufunc.__name__ in _REDUCED:
        known = {k: v for k, v in rest.items() if v is not None}
        func = _REDUCED[ufunc.__name__]
        return functions.apply(func, (inputs[0],), {"axis": axis, **known})
    keepdims = rest.pop("keepdims", False)
    _refuse(ufunc, "reduce", rest)
    rows = _rows(inputs[0], axis)
    found = rows[0]
    for row in rows[1:]:
        check_length()
        found = ufuncs.computed(ufunc, [found, row])[0]
    return jnp.expand_dims(found, axis) if keepdims else found


def _accumulate(ufunc: np.ufunc, inputs: Sequence[Any], options: Options) -> Any:
    rest = dict(options)
    axis = rest.pop("axis", inputs[1] if len(inputs) > 1 else 0)
    if ufunc.__name__ in _CUMULATIVE:
        known = {k: v for k, v in rest.items() if v is not None}
        func = _CUMULATIVE[ufunc.__name__]
        return functions.apply(func, (inputs[0],), {"axis": axis, **known})
    _refuse(ufunc, "accumulate", rest)
    if ufunc.__name__ in ("maximum", "minimum"):
        x = traced(operand_of("accumulate", inputs[0]))
        cumulative = lax.cummax if ufunc.__name__ == "maximum" else lax.cummin
        return traced(cumulative(x, axis_in(axis, x.ndim)))
    rows = _rows(inputs[0], axis)
    found = rows[:1]
    for row in rows[1:]:
        check_length()
        found.append(ufuncs.computed(ufunc, [found[-1], row])[0])
    return traced(jnp.stack(found, axis))


def _rows(x: Any, axis: int) -> list[Any]:
    moved = jnp.moveaxis(traced(operand_of("reduce", x)), axis, 0)
    return [moved[k] for k in range(moved.shape[0])]


def _outer(ufunc: np.ufunc, inputs: Sequence[Any], options: Options) -> Any:
    left, right = (operand_of("outer", v, k) for k, v in enumerate(inputs))
    rank = np.ndim(right) if not hasattr(right, "ndim") else right.ndim
    shape = np.shape(left) if not hasattr(left, "shape") else left.shape
    wide = jnp.reshape(left, (*shape, *[1] * rank))
    return ufuncs.apply(ufunc, "__call__", (traced(wide), right), options)


def _at(ufunc: np.ufunc, inputs: Sequence[Any], options: Options) -> None:
    """`ufunc.at(a, index, b)`: each place of the index counts, however often."""
    array, index, *operands = inputs
    if not isinstance(array, NumpyTracer):
        raise rules.error("face.out", got=f"an array of shape {np.shape(array)}")
    place = writing.index_of(index)
    method = _UPDATES.get(ufunc.__name__)
    if method is None:
        if operands:
            raise rules.error("face.function", got=f"{ufunc.__name__}.at")
        writing.write(array, index, ufuncs.computed(ufunc, [array[index]])[0])
        return
    array.check_home()
    new = convert(operand_of("at", operands[0]), array.dtype)
    if writing.is_known(place):
        writing.check_fits(new, writing.taken(array.shape, place))
    elif not writing.is_mask(place):
        check_index(array.shape, place)
        writing.check_empty(new, array, place)
    array.replace(traced(getattr(array.now().at[place], method)(new)))


# The updates of `x.at[i]` that count a place as often as the index has it.
_UPDATES = {
    "add": "add",
    "subtract": "subtract",
    "multiply": "multiply",
    "maximum": "max",
    "minimum": "min",
}


def _refuse(ufunc: np.ufunc, method: str, options: Options) -> None:
    left = [k for k, v in options.items() if v is not None]
    if left:
        got = f"{', '.join(left)} of {ufunc.__name__}.{method}"
        raise rules.error("face.meaning", got=got)


def _reduceat(ufunc: np.ufunc, inputs: Sequence[Any], options: Options) -> Any:
    """A reduction from each place to the next; the places are known while tracing."""
    array, places, *more = inputs
    rest = {"axis": 0, **dict(zip(("axis", "dtype"), more, strict=False)), **options}
    axis = rest.pop("axis")
    try:
        starts = np.asarray(unwrapped(places)).tolist()
    except KeyError:
        got = f"{ufunc.__name__}.reduceat with places that are traced"
        raise rules.error("face.function", got=got) from None
    moved = jnp.moveaxis(traced(operand_of("reduceat", array)), axis, 0)
    parts = []
    for start, stop in zip(starts, [*starts[1:], moved.shape[0]], strict=True):
        check_length()
        part = moved[start : max(stop, start + 1)]
        parts.append(_reduce(ufunc, (part,), {**rest, "axis": 0}))
    return traced(jnp.stack(parts, axis))


METHODS: dict[str, Callable[..., Any]] = {
    "reduce": _reduce,
    "accumulate": _accumulate,
    "outer": _outer,
    "at": _at,
    "reduceat": _reduceat,
}
