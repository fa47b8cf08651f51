"""Functions of NumPy's that need code of their own here. Serves: face.function"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir import rules
from traceir.dtypes import kind_of
from traceir.face.arrays.array import traced
from traceir.face.arrays.unwrapping import unwrapped, wrapped
from traceir.face.arrays.values import cast, operand_of
from traceir.face.checks.bounds import check_places
from traceir.face.functions import ufuncs
from traceir.face.functions.functions import CHECKED, own
from traceir.face.functions.functions import OWN as OWN
from traceir.lax.checks.operands import convert, operand
from traceir.lax.checks.shapes import axis_in
from traceir.tracing.trace import Tracer, typeof


@own(np.clip)
def _clip(
    a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None
) -> Any:
    """Elements no less than one bound and no greater than the other."""
    low = a_min if min is None else min
    high = a_max if max is None else max
    if low is not None:
        a = ufuncs.apply(np.maximum, "__call__", (a, low), {})
    if high is not None:
        a = ufuncs.apply(np.minimum, "__call__", (a, high), {})
    return a


@own(np.angle)
def _angle(z: Any, deg: bool = False) -> Any:
    """The angle of complex numbers; of real ones 0, or pi for negative ones."""
    x = traced(operand_of("angle", z))
    height = x.imag if _is_complex(x) else x.dtype.type(0)
    found = ufuncs.apply(np.arctan2, "__call__", (height, x.real), {})
    return found * (180 / np.pi) if deg else found


@own(np.block)
def _block(arrays: Any) -> Any:
    """Nested lists of arrays, put together as one."""
    dtype = np.result_type(*[typeof(operand("block", v)).dtype for v in _flat(arrays)])
    return jnp.block(_nested(arrays, dtype))


def _flat(arrays: Any) -> Iterator[Any]:
    if isinstance(arrays, list):
        for part in arrays:
            yield from _flat(part)
    else:
        yield arrays


def _nested(arrays: Any, dtype: np.dtype) -> Any:
    if isinstance(arrays, list):
        return [_nested(part, dtype) for part in arrays]
    return convert(operand("block", arrays), dtype)


@own(np.conj)
def _conj(val: Any) -> Any:
    value = operand("conj", val)
    return traced(jnp.conj(value) if _is_complex(value) else value)


@own(np.iscomplexobj)
def _is_complex(x: Any) -> bool:
    return bool(typeof(x).dtype.kind == "c")


@own(np.isrealobj)
def _is_real(x: Any) -> bool:
    return not _is_complex(x)


@own(np.take)
def _take(
    a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise"
) -> Any:
    """Elements at places along an axis."""
    x, places = traced(operand_of("take", a)), traced(operand_of("take", indices, 1))
    if mode == "raise":
        at = 0 if axis is None else axis_in(axis, x.ndim)
        check_places(places, x.size if axis is None else x.shape[at], at)
    return jnp.take(x, places, axis, mode=None if mode == "raise" else mode)


@own(np.choose)
def _choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """The element of the choice that each element of `a` names."""
    which = traced(operand_of("choose", a))
    cases = [operand_of("choose", case, 1) for case in choices]
    if mode == "raise":
        check_places(which, len(cases), 0, least=0)
    meet = np.result_type(*[typeof(case).dtype for case in cases])
    same = [convert(case, meet) for case in cases]
    return jnp.choose(which, same, mode="clip" if mode == "raise" else mode)


@own(np.piecewise)
def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """For each element what the function of the last condition that holds gives; what
    is no list is the only condition, and one of lower rank is about whole rows."""
    value = operand_of("piecewise", x)
    rank = np.ndim(value)
    if not isinstance(condlist, (list, tuple)):
        lone = np.ndim(condlist) == 0 or (np.ndim(condlist) == 1 and rank)
        condlist = [condlist] if lone else condlist
    elif condlist and np.ndim(condlist[0]) == 0 and rank:
        condlist = [np.array(condlist)]
    conditions = [_of_rank(jnp.asarray(c), rank) for c in condlist]
    found = jnp.broadcast_arrays(value, *conditions)[1:]
    return jnp.piecewise(value, found, funclist, *args, **kw)


def _of_rank(x: Any, rank: int) -> Any:
    return jnp.reshape(x, x.shape + (1,) * (rank - x.ndim))


@own(np.round, np.around)
def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Elements rounded; booleans as numbers in half precision, and integers to tens as
    floats."""
    value = operand_of("round", a)
    own = typeof(value).dtype
    if kind_of(own) == "b":
        return jnp.round(convert(value, np.dtype(np.float16)), decimals)
    if own.kind in "iu" and decimals < 0:
        return convert(jnp.round(convert(value, np.dtype(float)), decimals), own)
    return jnp.round(value, decimals)


@own(np.take_along_axis)
def _take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """The elements at each line's own places along an axis."""
    x = traced(operand_of("take_along_axis", arr))
    places = traced(operand_of("take_along_axis", indices, 1))
    _check_along(x, places, axis)
    return jnp.take_along_axis(x, places, axis)


@own(np.put_along_axis)
def _put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """Write to the elements at each line's own places along an axis."""
    places = traced(operand_of("put_along_axis", indices, 1))
    new = cast(operand_of("put_along_axis", values, 2), arr.dtype)
    _check_along(arr, places, axis)
    arr.store(jnp.put_along_axis(arr.now(), places, new, axis, inplace=False))


def _check_along(x: Any, places: Any, axis: Any) -> None:
    at = 0 if axis is None else axis_in(axis, x.ndim)
    check_places(places, x.size if axis is None else x.shape[at], at)


@own(np.put)
def _put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Write to elements by their places in the flat array, values again and again."""
    places = traced(operand_of("put", ind, 1))
    if mode == "raise":
        check_places(places, a.size)
    new = cast(operand_of("put", v, 2), a.dtype)
    kind = None if mode == "raise" else mode
    a.store(jnp.put(a.now(), places, new, mode=kind, inplace=False))


@own(np.full_like)
def _full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """An array with one value everywhere; known while tracing if the value is."""
    aval, value = typeof(operand("like", a)), fill_value
    wanted = aval.dtype if dtype is None else np.dtype(dtype)
    extents = aval.shape if shape is None else shape
    if isinstance(value, Tracer) and not value.knows("level.concretize.array"):
        full = jnp.full(extents, convert(operand("full", value), wanted))
        return traced(full, number=False)
    return wrapped(np.full(extents, unwrapped(value), wanted))


@own(np.zeros_like)
def _zeros_like(a: Any, *args: Any, **options: Any) -> Any:
    return _full_like(a, 0, *args, **options)


@own(np.empty_like)
def _empty_like(prototype: Any, *args: Any, **options: Any) -> Any:
    return _full_like(prototype, 0, *args, **options)


@own(np.ones_like)
def _ones_like(a: Any, *args: Any, **options: Any) -> Any:
    return _full_like(a, 1, *args, **options)


def _check_unraveled(bound: Mapping[str, Any]) -> None:
    check_places(bound["indices"], prod(np.atleast_1d(bound["shape"])), 0, least=0)


def _check_inserted(bound: Mapping[str, Any]) -> None:
    arr, axis, obj = bound["arr"], bound.get("axis"), bound["obj"]
    if isinstance(obj, Tracer):
        n = np.size(arr) if axis is None else np.shape(arr)[axis]
        check_places(obj, n + 1, axis or 0, least=-n)


def _check_roots(bound: Mapping[str, Any]) -> None:
    """Refuse a matrix of roots: its polynomial is real or complex by its elements."""
    roots = bound["seq_of_zeros"]
    if np.ndim(roots) > 1:
        raise rules.error("face.vector", got=f"poly of shape {np.shape(roots)}")


CHECKED[np.unravel_index] = _check_unraveled
CHECKED[np.insert] = _check_inserted
CHECKED[np.poly] = _check_roots


@own(np.tril)
def _tril(m: Any, k: int = 0) -> Any:
    """The elements up to a diagonal; a vector is every row of a matrix."""
    return jnp.tril(_square("tril", m), k)


@own(np.triu)
def _triu(m: Any, k: int = 0) -> Any:
    """The elements from a diagonal on; a vector is every row of a matrix."""
    return jnp.triu(_square("triu", m), k)


def _square(name: str, m: Any) -> Any:
    x = operand_of(name, m)
    return jnp.broadcast_to(x, (len(x), len(x))) if np.ndim(x) == 1 else x


@own(np.convolve)
def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """Products with an array that is moved along, added up, in the operands' dtype."""
    x, y = _vectors("convolve", a, v)
    if x.dtype.kind not in "biu":
        return jnp.convolve(x, y, mode)
    return _part_of(_products(x, y), x.size, y.size, mode)


@own(np.correlate)
def _correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """Products with an array that is moved along, added up, in the operands' dtype."""
    x, y = _vectors("correlate", a, v)
    if x.dtype.kind not in "biu":
        return jnp.correlate(x, y, mode)
    if x.size < y.size:
        return jnp.flip(_part_of(_products(y, jnp.flip(x)), y.size, x.size, mode))
    return _part_of(_products(x, jnp.flip(y)), x.size, y.size, mode)


def _vectors(name: str, a: Any, v: Any) -> list[Any]:
    """Two vectors in one dtype. Raises ValueError (face.vector)."""
    operands = [jnp.atleast_1d(operand_of(name, value)) for value in (a, v)]
    for value in operands:
        if value.ndim > 1 or not value.size:
            raise rules.error("face.vector", got=f"{name} of shape {value.shape}")
    dtype = np.result_type(*(value.dtype for value in operands))
    return [convert(value, dtype) for value in operands]


def _products(x: Any, y: Any) -> Any:
    """The sums of products of whole numbers at every distance."""
    padded = jnp.pad(x, (y.size - 1, y.size - 1))
    windows = np.arange(x.size + y.size - 1)[:, None] + np.arange(y.size)
    products = padded[windows] * jnp.flip(y)
    return jnp.any(products, 1) if x.dtype == bool else _total(products)


def _total(products: Any) -> Any:
    return jnp.sum(products, 1, dtype=products.dtype)


def _part_of(found: Any, one: int, other: int, mode: str) -> Any:
    """The sums that a mode asks for: all, those in the middle, or the whole ones."""
    long, short = max(one, other), min(one, other)
    if mode == "same":
        first = (short - 1) // 2
        return found[first : first + long]
    return found[short - 1 : long] if mode == "valid" else found
