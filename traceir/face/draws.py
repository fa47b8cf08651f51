"""Numbers drawn from NumPy's generators, one or an array, also by machine code.

Serves: face.random, staged.drawn

A draw is a call of a foreign function (`ForeignFunction`) on a generator's address, in
the order of all draws of the program. That order is the value of an array that the
trace has besides the user's, to which each draw writes: loops carry it, choices join
it. What is drawn otherwise is a call of the host in that order.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np

from traceir.base import config
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.checks.exceptions import note_if
from traceir.face.generator_arguments import (
    exports,
    generator_of,
    opened,
    opened_with_kept,
)
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ForeignFunction, HostFunction
from traceir.lax.checks.operands import convert
from traceir.tracing.staging import StagingTrace
from traceir.tracing.trace import Tracer, bind, current_trace, in_force

INTEGER = np.dtype("int64")
REAL = np.dtype("float64")
NUMBER = ShapedArray((), INTEGER)


class Check(NamedTuple):
    """A test of a draw's parameters that must not hold, and NumPy's exception then."""

    fails: Callable[..., Any]
    kind: type[Exception]
    text: str


class Distribution(NamedTuple):
    """A method that draws numbers, as a foreign function of its parameters.

    These have defaults; None is that of one that has to be given. The function is there
    where NumPy exports what it `needs`. One number is Python's or NumPy's. A method may
    take the `extents` of an array alone.
    """

    function: str
    needs: str
    parameters: Mapping[str, float | None] = {}
    checks: Sequence[Check] = ()
    dtype: np.dtype = REAL
    python: bool = True
    extents: bool = False
    scope: Callable[[Sequence[int]], AbstractContextManager[Any]] = opened


def _not_negative(name: str, place: int) -> Check:
    """The check of a parameter that is not negative, as -0.0 is."""

    def fails(*values: Any) -> Any:
        value = values[place]
        return np.logical_and(np.signbit(value), np.logical_not(np.isnan(value)))

    return Check(fails, ValueError, f"{name} < 0")


def _real(name: str, *positive: str, **parameters: float | None) -> Distribution:
    """A distribution of real numbers; some of its parameters are not negative."""
    names = list(parameters)
    checks = tuple(_not_negative(one, names.index(one)) for one in positive)
    return Distribution(f"draw_{name}", f"random_{name}", parameters, checks)


def _too_wide(text: str) -> Check:
    return Check(
        lambda low, high: np.logical_not(np.isfinite(high - low)), OverflowError, text
    )


_UNIT = Distribution("draw_standard_uniform", "random_standard_uniform")
_UNIFORM = _real("uniform", low=0.0, high=1.0)
_BACKWARDS = Check(
    lambda low, high: np.signbit(high - low), ValueError, "high - low < 0"
)
_WHOLE = Distribution(
    "draw_integers",
    "random_bounded_uint64",
    {"low": None, "high": None},
    (Check(lambda low, high: low >= high, ValueError, "low >= high"),),
    INTEGER,
    False,
)
# The polar method with the C library's logarithm, as NumPy's compilers leave it where
# products and sums have no common instruction.
_GAUSS = Distribution(
    "draw_legacy_gauss",
    "random_standard_uniform" if platform.machine() in ("x86_64", "AMD64") else "none",
    scope=opened_with_kept,
)
# By the name of a generator's class, the methods that draw numbers one by one.
METHODS: Mapping[str, Mapping[str, Distribution]] = {
    "Generator": {
        "random": _UNIT,
        "uniform": _UNIFORM._replace(
            checks=(_too_wide("high - low range exceeds valid bounds"), _BACKWARDS)
        ),
        "integers": _WHOLE,
        "standard_normal": _real("standard_normal"),
        "standard_exponential": _real("standard_exponential"),
        "normal": _real("normal", "scale", loc=0.0, scale=1.0),
        "lognormal": _real("lognormal", "sigma", mean=0.0, sigma=1.0),
        "laplace": _real("laplace", "scale", loc=0.0, scale=1.0),
        "exponential": _real("exponential", "scale", scale=1.0),
        "gamma": _real("gamma", "shape", "scale", shape=None, scale=1.0),
    },
    "RandomState": {
        **dict.fromkeys(("random", "random_sample"), _UNIT),
        "rand": _UNIT._replace(extents=True),
        "uniform": _UNIFORM._replace(checks=(_too_wide("Range exceeds valid bounds"),)),
        "randint": _WHOLE._replace(function="draw_randint", python=True),
        "standard_normal": _GAUSS,
        "randn": _GAUSS._replace(extents=True),
        "normal": _real("normal", "scale", loc=0.0, scale=1.0)._replace(
            function="draw_legacy_normal", needs=_GAUSS.needs, scope=opened_with_kept
        ),
    },
}


class Order:
    """The order of a trace's draws, and the numbers of generators that it asked for.

    `cell` is an array that each draw writes to.
    """

    def __init__(self, trace: StagingTrace) -> None:
        self.trace = trace
        self.numbers: dict[int, tuple[Any, Any]] = {}
        with in_force(trace):
            self.cell: Any = traced(np.int64(0), number=False)

    def number(self, generator: Any, name: Callable[[], Any]) -> Any:
        """The number of a generator that no argument is, asked for when the program
        runs, once and before any loop."""
        found = self.numbers.get(id(generator))
        if found is None:
            with in_force(self.trace):
                callback = HostFunction("generator", lambda: [np.asarray(name())])
                (number,) = _call(callback, (), (NUMBER,))
            found = self.numbers[id(generator)] = number, generator
        return found[0]


def call_in_order(
    name: str,
    target: Callable[..., Sequence[np.ndarray]],
    operands: Sequence[Any],
    avals: Sequence[ShapedArray],
) -> list[Any]:
    """Record a call of the host among the draws of a trace; gives its results, which
    have these types."""
    order = order_of_draws()
    if order is None:
        return _call(HostFunction(name, target), operands, avals)

    def called(before: np.ndarray, *arrays: np.ndarray) -> list[np.ndarray]:
        return [np.array(before), *target(*arrays)]

    given = order.cell.now(), *operands
    after, *found = _call(HostFunction(name, called), given, (NUMBER, *avals))
    order.cell.store(after)
    return found


def _call(
    callback: HostFunction, operands: Sequence[Any], avals: Sequence[ShapedArray]
) -> list[Any]:
    found: list[Any] = bind(
        "io_callback",
        *operands,
        callback=callback,
        result_avals=tuple(avals),
        sharding=None,
        ordered=True,
    )
    return found


def order_of_draws() -> Order | None:
    """The order of the draws of the trace in force; None inside of another trace, where
    all draws are calls of the host."""
    trace: Any = current_trace()
    while trace is not None and getattr(trace, "writes_outside", False):
        trace = trace.parent
    own = isinstance(trace, StagingTrace) and trace.tracer is NumpyTracer
    if not own or trace.parent is not None or trace.transform != "jit":
        return None
    if trace.draws is None:
        trace.draws = Order(trace)
    found: Order = trace.draws
    return found


def drawn(kind: type, name: str, args: Any, kwargs: Any, number: Any) -> Any:
    """A number drawn by a method of a generator's, of the kind that the method gives,
    or an array of such; None where machine code has no such draw. `number` gives the
    generator's."""
    own = kind.__module__.startswith("numpy.random.")
    row = METHODS.get(kind.__name__, {}).get(name) if own else None
    if row is None or not exports(row.needs):
        return None
    order = order_of_draws()
    if order is None:
        return None
    given = _parameters(row, args, kwargs)
    if given is None or not config.local.context.x64:
        return None
    values, shape = given
    for check in row.checks:
        _require(check, values)

    def target(before: Any, own: Any, *values: Any) -> list[Any]:
        size = {} if row.extents else {"size": shape or None}
        extents = shape if row.extents else ()
        method = getattr(generator_of(own), name)
        made = method(*(v[()] for v in values), *extents, **size)
        return [np.array(before), np.asarray(made, row.dtype)]

    made = ForeignFunction(row.function, target, row.scope)
    operands = order.cell.now(), number(order), *values
    after, value = _call(made, operands, (NUMBER, ShapedArray(shape, row.dtype)))
    order.cell.store(after)
    if shape:
        return traced(value, number=False)
    return traced(convert(value, row.dtype, row.python), number=True)


def _require(check: Check, values: Sequence[Any]) -> None:
    failed = check.fails(*values)
    if isinstance(failed, Tracer) or failed:
        error = note_if(failed, lambda: check.kind(check.text))
        if error is not None:
            raise error


def _parameters(
    row: Distribution, args: Any, kwargs: Any
) -> tuple[list[Any], tuple[int, ...]] | None:
    """The parameters of a draw as numbers of the function's types, and the shape of its
    result; None for what NumPy alone can take, such as parameters for each element."""
    names = list(row.parameters)
    if row.extents:
        args, size = (), args or None
    else:
        kwargs = dict(kwargs)
        size = kwargs.pop("size", None)
        if len(args) == len(names) + 1:
            *args, size = args
    shape = _known_shape(size)
    if shape is None or len(args) > len(names):
        return None
    given = dict(zip(names, args)) | kwargs
    if not given.keys() <= set(names):
        return None
    if row.dtype is INTEGER and given.get("high") is None:
        given = {"low": 0, "high": given.get("low")}
    found = [given.get(name, default) for name, default in row.parameters.items()]
    kinds = "iu" if row.dtype is INTEGER else "biuf"
    if not all(_is_number(value, kinds) for value in found):
        return None
    values = [
        convert(value, row.dtype)
        if isinstance(value, Tracer)
        else row.dtype.type(value)
        for value in found
    ]
    return values, shape


def _known_shape(size: Any) -> tuple[int, ...] | None:
    """The shape of what a draw gives, () for one number; None for another than of known
    positive extents."""
    if size is None:
        return ()
    extents = size if isinstance(size, (tuple, list)) else (size,)
    known = all(isinstance(n, (int, np.integer)) and n > 0 for n in extents)
    return tuple(map(int, extents)) if known and extents else None


def _is_number(value: Any, kinds: str) -> bool:
    if isinstance(value, NumpyTracer):
        return not value.shape and value.dtype.kind in kinds
    known = isinstance(value, (bool, int, float, np.number)) and not isinstance(
        value, np.complexfloating
    )
    return known and np.asarray(value).dtype.kind in kinds
