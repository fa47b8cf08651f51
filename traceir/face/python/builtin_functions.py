"""Python's builtin functions on traced numbers and arrays.

Serves: python.argument

On values that are known they are Python's own.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir import numpy as jnp
from traceir.base import config
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.arrays.loop_steps import TracedList, TracedSequence, TracedTable
from traceir.face.arrays.stacked import column_of
from traceir.face.arrays.values import array_of
from traceir.face.control_flow.choices import truth_of
from traceir.face.control_flow.expressions import choose_value
from traceir.face.control_flow.iteration import TracedRange, has_steps
from traceir.face.functions.selection import Selection
from traceir.face.python import written
from traceir.face.python.numbers import as_integer, integer, is_traced
from traceir.face.python.printing import print
from traceir.face.python.rounding import rounded
from traceir.ir.promotion import promote
from traceir.lax.checks.operands import as_array, convert
from traceir.tracing.trace import Tracer, typeof

Function = Callable[..., Any]
_NUMBERS = (bool, int, float, complex)
_NOTHING: Any = object()


def _is_number(value: Any) -> bool:
    """True if a value is one number, traced or not."""
    if isinstance(value, Tracer):
        return not value.aval.shape
    return isinstance(value, _NUMBERS) or jnp.isscalar(value)


def _chosen(truth: Any, yes: Any, no: Any) -> Any:
    """One of two values by a truth; of two numbers without a branch."""
    truth = truth_of(truth)
    if isinstance(truth, bool):
        return yes if truth else no
    if not (_is_number(yes) and _is_number(no)):
        return choose_value(truth, lambda: yes, lambda: no)
    dtype, weak = promote(typeof(yes), typeof(no), face=config.local.context.face)
    sides = [as_array(convert(v, dtype, weak)) for v in (yes, no)]
    return traced(lax.select(truth, *sides), number=True)


def _is_array(value: Any) -> bool:
    if isinstance(value, TracedSequence):
        return True
    return (
        isinstance(value, NumpyTracer)
        and is_traced(value)
        and value.ndim == 1
        and value.size > 0
    )


def _elements(iterable: Any) -> Any:
    """A list with a length that is traced as an array; another iterable as it is."""
    return iterable.array() if isinstance(iterable, TracedList) else iterable


def _extreme(name: str, compare: Function, whole: Function) -> Function:
    """`min` or `max`: the first of the items that is no worse than any."""
    own = getattr(builtins, name)

    def found(*args: Any, key: Any = None, default: Any = _NOTHING) -> Any:
        rest = {} if default is _NOTHING else {"default": default}
        if len(args) == 1:
            args = (_elements(args[0]),)
        if len(args) == 1 and key is None:
            column = column_of(args[0])
            array = args[0] if column is None else column
            if _is_array(array):
                return whole(array)
        items = list(args[0]) if len(args) == 1 else list(args)
        if (len(args) != 1 and rest) or len(items) < 2:
            args = (items,) if len(args) == 1 else args
            return own(*args, key=key, **rest)
        best, best_key = items[0], key(items[0]) if key else items[0]
        for item in items[1:]:
            item_key = key(item) if key else item
            better = compare(item_key, best_key)
            best = _chosen(better, item, best)
            best_key = _chosen(better, item_key, best_key) if key else best
        return best

    found.__name__ = name
    return found


def sum(iterable: Any, /, start: Any = 0) -> Any:
    """The sum of numbers or arrays, from the first on."""
    iterable = _elements(iterable)
    column = column_of(iterable)
    if column is not None:
        return written.total(column, start)
    if has_steps(iterable) and not isinstance(iterable, range):
        return written.total(iterable, start)
    return builtins.sum(iterable, start)


def _combined(name: str, decisive: bool, whole: Function, both: Function) -> Function:
    """`any` or `all`, one of whose values may decide."""

    def found(iterable: Any, /) -> Any:
        iterable = _elements(iterable)
        if _is_array(iterable):
            return traced(whole(iterable), number=True)
        result: Any = not decisive
        for value in iterable:
            truth = truth_of(value)
            if isinstance(truth, bool):
                if truth is decisive:
                    return decisive
            else:
                result = truth if isinstance(result, bool) else both(result, truth)
        return result if isinstance(result, bool) else traced(result, number=True)

    found.__name__ = name
    return found


def sorted(iterable: Any, /, *, key: Any = None, reverse: bool = False) -> Any:
    """The items in order: numbers, by themselves or by what `key` makes of them.

    Raises TypeError (python.argument) for other items whose order is traced.
    """
    if isinstance(iterable, TracedTable) and not iterable.is_known:
        iterable = iterable.keys()
    if isinstance(iterable, TracedList) and key is None and not iterable.of_tuples:
        array = np.sort(iterable.array())
        return iterable.like(array[::-1] if reverse else array)
    items = list(iterable)
    keys = items if key is None else list(map(key, items))
    if not is_traced(*keys):
        return builtins.sorted(items, key=key, reverse=reverse)
    if not all(map(_is_number, (*items, *keys))):
        raise rules.error(
            "python.argument", got="sorted() of items that are no numbers"
        )
    weak = all(isinstance(v, _NUMBERS) or typeof(v).weak_type for v in items)
    values, ranks = array_of(items), array_of(keys)
    if reverse:
        values, ranks = values[::-1], ranks[::-1]
    found = jnp.take(values, jnp.argsort(ranks, stable=True))
    ordered = [convert(found[k], found.dtype, weak) for k in range(len(items))]
    return [traced(v, number=True) for v in (ordered[::-1] if reverse else ordered)]


def len(obj: Any, /) -> Any:
    """The number of items; of a range with traced bounds it is traced, as of what a
    traced mask selects."""
    if isinstance(obj, Selection):
        return obj.count
    if isinstance(obj, TracedTable):
        return obj.length
    if isinstance(obj, TracedSequence):
        return obj.steps().stop
    if not isinstance(obj, TracedRange):
        return builtins.len(obj)
    start, stop, step = obj.start, obj.stop, obj.step
    ahead = jnp.where(jnp.greater(step, 0), 1, -1)
    span = jnp.subtract(jnp.add(jnp.subtract(stop, start), step), ahead)
    count = jnp.floor_divide(span, step)
    return as_integer(jnp.maximum(count, 0))


def round(number: Any, ndigits: Any = None) -> Any:
    """The nearest integer, or decimal of so many digits; the even one of two."""
    if isinstance(number, NumpyTracer) and not number.number:
        got = f"round() of an array, {number.aval.str_short()}"
        raise rules.error("python.argument", got=got)
    if not is_traced(number) or number.shape:
        return builtins.round(number, ndigits)
    return rounded(number, ndigits)


def pow(base: Any, exp: Any, mod: Any = None) -> Any:
    """`base ** exp`, or its remainder by `mod`."""
    if mod is None or not is_traced(base, exp, mod):
        return builtins.pow(base, exp, *[] if mod is None else [mod])
    parts: Sequence[Any] = [integer(v, "pow()") for v in (base, exp, mod)]
    return written.power_of_remainders(*map(as_integer, parts))


FUNCTIONS: dict[str, Function] = {
    "min": _extreme("min", lambda a, b: a < b, written.least),
    "max": _extreme("max", lambda a, b: a > b, written.greatest),
    "any": _combined("any", True, np.any, lax.bitwise_or),
    "all": _combined("all", False, np.all, lax.bitwise_and),
    "sum": sum,
    "sorted": sorted,
    "len": len,
    "round": round,
    "pow": pow,
    "print": print,
}
