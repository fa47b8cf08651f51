"""Universal functions made of Python functions.

Serves: face.signature, face.axis, face.reduce-empty, face.choice
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from types import FunctionType
from typing import Any

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.base.tracebacks import entry_points
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    as_array,
    convert,
    default_dtype,
    dtype_of,
    operand,
    operands,
    shape_of,
)
from traceir.lax.checks.shapes import axes_in, axis_in
from traceir.numpy.arrays.creation import asarray, broadcast_to
from traceir.numpy.elementwise.composites import where as _where
from traceir.numpy.elementwise.logic import equal, greater, less, logical_and
from traceir.numpy.functional.vectorize import vectorize
from traceir.numpy.indexing.getitem import getitem
from traceir.numpy.manipulation.shapes import expand_dims, moveaxis
from traceir.numpy.ranges.linspace import arange


@composite(static_argnames=["function"])
def _call_vectorized(*args: Operand, function: Callable[..., Any]) -> Any:
    return vectorize(function)(*args)


class _UfuncType(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        if type(instance) is FunctionType and cls is ufunc:
            return hasattr(instance, "nin")  # `jnp.add` is one, and a function
        return super().__instancecheck__(instance)


@entry_points()
class ufunc(metaclass=_UfuncType):
    """A function of scalars that is applied element by element; see `frompyfunc`.

    Methods fold and combine with functions of two operands and one result. Their
    arguments are those of NumPy's, without `out`.

    >>> import traceir.numpy as jnp
    >>> plus = ufunc(lambda x, y: x + y, 2, 1, identity=0)
    >>> plus(jnp.arange(3), 1), plus.reduce(jnp.arange(4))
    (Array([1, 2, 3], dtype=int32), Array(6, dtype=int32))
    """

    def __init__(
        self,
        func: Callable[..., Any],
        /,
        nin: int,
        nout: int,
        *,
        identity: Any = None,
    ) -> None:
        self.__name__ = getattr(func, "__name__", "ufunc")
        self.__doc__ = func.__doc__
        self._function = func
        self.nin, self.nout, self.identity = nin, nout, identity

    @property
    def nargs(self) -> int:
        """The number of operands and results."""
        return self.nin + self.nout

    def __repr__(self) -> str:
        return f"<traceir.numpy.ufunc {self.__name__!r}>"

    def __call__(self, *args: Operand) -> Any:
        if len(args) != self.nin:
            got = f"{len(args)} arguments of {self.__name__}, not {self.nin}"
            raise rules.error("face.signature", got=got)
        given = operands(self.__name__, args)
        found = _call_vectorized(*given, function=self._function)
        count = len(found) if isinstance(found, (tuple, list)) else 1
        if count != self.nout:
            got = f"{count} results of {self.__name__}, not {self.nout}"
            raise rules.error("face.signature", got=got)
        return found

    def _check_binary(self, method: str) -> None:
        if (self.nin, self.nout) != (2, 1):
            got = (
                f"{method} of {self.nin} operands and {self.nout} results, not 2 and 1"
            )
            raise rules.error("face.signature", got=got)

    def _given(self, name: str, a: Operand, dtype: DTypeLike) -> Array:
        value = operand(name, a)
        if dtype is not None:
            value = convert(value, dtype_of(dtype, name))
        return as_array(value)

    def reduce(
        self,
        a: Operand,
        axis: int | tuple[int, ...] | None = 0,
        dtype: DTypeLike = None,
        *,
        keepdims: bool = False,
        initial: Operand = None,
        where: Operand = None,
    ) -> Array:
        """The elements along axes folded into one, from the first to the last.

        `initial` comes before them, by default the identity, if there is one; `where`
        leaves elements out and needs either. Raises ValueError (face.reduce-empty,
        face.axis, face.signature).
        """
        self._check_binary("reduce")
        value = self._given("reduce", a, dtype)
        axes = axes_in(axis, value.ndim)
        rows, kept = _front(value, axes)
        start = self.identity if initial is None else initial
        mask = None
        if where is not None:
            mask, _ = _front(broadcast_to(asarray(where), value.shape), axes)
        if start is None and (mask is not None or not rows.shape[0]):
            raise rules.error("face.reduce-empty", got=f"reduce of {value.shape}")
        found = self._fold(rows, start, mask)
        return lax.reshape(found, kept) if keepdims else found

    def _fold(self, rows: Array, start: Operand, mask: Array | None) -> Array:
        if start is None:
            first, rows = rows[0], rows[1:]
        else:
            begin = convert(operand("reduce", start), rows.dtype, rows.weak_type)
            first = broadcast_to(begin, rows.shape[1:])

        def step(total: Array, part: Any) -> tuple[Array, None]:
            row, which = part if mask is not None else (part, None)
            new = convert(self(total, row), total.dtype, total.weak_type)
            return as_array(new if which is None else _where(which, new, total)), None

        parts = rows if mask is None else (rows, mask)
        total: Array = lax.scan(step, first, parts)[0]
        return total

    def accumulate(self, a: Operand, axis: int = 0, dtype: DTypeLike = None) -> Array:
        """The folds of all beginnings of the elements along an axis.

        Raises ValueError (face.axis, face.signature).
        """
        self._check_binary("accumulate")
        value = self._given("accumulate", a, dtype)
        at = axis_in(axis, value.ndim)
        rows = moveaxis(value, at, 0)
        if not rows.shape[0]:
            return value

        def step(total: Array, row: Array) -> tuple[Array, Array]:
            new = as_array(convert(self(total, row), total.dtype, total.weak_type))
            return new, new

        _, later = lax.scan(step, rows[0], rows[1:])
        return moveaxis(lax.concatenate([rows[:1], later], 0), 0, at)

    def reduceat(
        self, a: Operand, indices: Operand, axis: int = 0, dtype: DTypeLike = None
    ) -> Array:
        """The folds from each index up to the next, the last one up to the end.

        An index that is not below the next one gives its element alone. Raises
        ValueError (face.axis, face.signature, face.vector).
        """
        self._check_binary("reduceat")
        value = self._given("reduceat", a, dtype)
        rows = moveaxis(value, axis_in(axis, value.ndim), 0)
        starts = as_array(convert(asarray(indices), default_dtype(int)))
        if starts.ndim != 1:
            raise rules.error("face.vector", got=f"reduceat at shape {starts.shape}")
        extent = rows.shape[0]
        starts = _where(less(starts, 0), starts + extent, starts)
        ends = lax.concatenate([starts[1:], asarray([extent], starts.dtype)], 0)
        shape = (starts.size,) + (1,) * (rows.ndim - 1)
        starts, ends = lax.reshape(starts, shape), lax.reshape(ends, shape)

        def step(total: Array, part: Any) -> tuple[Array, None]:
            row, place = part
            wide = broadcast_to(row, total.shape)
            new = convert(self(total, wide), total.dtype, total.weak_type)
            inside = logical_and(greater(place, starts), less(place, ends))
            total = _where(inside, new, total)
            return _where(equal(place, starts), wide, total), None

        first = getitem(rows, (lax.reshape(starts, (starts.size,)),))
        found: Array = lax.scan(step, first, (rows, arange(extent)))[0]
        return moveaxis(found, 0, axis_in(axis, value.ndim))

    def outer(self, A: Operand, B: Operand, /) -> Any:
        """The function of each element of `A` with each of `B`, `A`'s axes first.

        Raises ValueError (face.signature).
        """
        self._check_binary("outer")
        x, y = operands("outer", (A, B))
        rank = len(shape_of(x))
        new = range(rank, rank + len(shape_of(y)))
        return self(expand_dims(x, list(new)), y)

    def at(
        self,
        a: Operand,
        indices: Any,
        b: Operand = None,
        /,
        *,
        inplace: bool = True,
    ) -> Array:
        """A copy with the function applied to the elements at an index, one by one.

        An element that the index names twice is changed twice. Arrays cannot be
        written to, so `inplace=False` must be said. Raises ValueError (face.choice,
        face.signature).
        """
        if inplace:
            hint = "pass inplace=False and use the result"
            raise rules.error("face.choice", got="inplace=True", hint=hint)
        if self.nout != 1 or self.nin != (1 if b is None else 2):
            got = f"at of {self.nin} operands and {self.nout} results"
            raise rules.error("face.signature", got=got)
        value = as_array(operand("at", a))
        places = arange(value.size).reshape(value.shape)[indices]
        count = prod(places.shape)
        other = None
        if b is not None:
            other = broadcast_to(asarray(b), places.shape).reshape(count)

        def step(flat: Array, part: Any) -> tuple[Array, None]:
            place, *rest = part
            return flat.at[place].set(self(flat[place], *rest)), None

        parts = [places.reshape(count), *([] if other is None else [other])]
        flat = lax.scan(step, value.reshape(value.size), tuple(parts))[0]
        return lax.reshape(flat, value.shape)


def _front(x: Array, axes: tuple[int, ...]) -> tuple[Array, list[int]]:
    """These axes as one, in front of the others; the shape with them at extent 1."""
    kept = [1 if d in axes else n for d, n in enumerate(x.shape)]
    moved = moveaxis(x, list(axes), list(range(len(axes))))
    count = prod(moved.shape[: len(axes)])
    return lax.reshape(moved, (count, *moved.shape[len(axes) :])), kept


def frompyfunc(
    func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None
) -> ufunc:
    """A universal function of a Python function of `nin` scalars with `nout` results.

    It is traced, so it is made of functions of this module. `identity` is what `reduce`
    gives for no elements.

    >>> import traceir.numpy as jnp
    >>> larger = frompyfunc(lambda x, y: jnp.where(x > y, x, y), 2, 1)
    >>> larger(jnp.array([1, 5]), 3), larger.accumulate(jnp.array([1, 3, 2]))
    (Array([3, 5], dtype=int32), Array([1, 3, 3], dtype=int32))
    """
    return ufunc(func, nin, nout, identity=identity)
