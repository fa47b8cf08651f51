"""Random generators of NumPy and Python, drawn from at run time.

Serves: face.random

A generator has a stand-in in a traced function. A call of a method is recorded as an
ordered call of the host, so each run draws anew, in the order of the program, from the
generator itself. The types of the results are those of a call on a copy.

A stand-in is met wherever a name, an argument or an attribute leads to a generator
(`external`, `objects`).
"""

from __future__ import annotations

import copy
import functools
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from traceir import rules
from traceir.base import config
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.arrays.unwrapping import in_numpy_trace
from traceir.face.draws import Order, call_in_order, drawn
from traceir.face.generator_arguments import (
    GeneratorArgument,
    generator_of,
    held,
    is_generator,
)
from traceir.ir.avals import ShapedArray
from traceir.ir.promotion import canonical_dtype
from traceir.lax.checks.operands import convert
from traceir.pytrees import flatten
from traceir.tracing.concretization import demanded
from traceir.tracing.trace import Tracer, typeof

Function = Callable[..., Any]
# Methods that change an array that they are given.
_IN_PLACE = frozenset({"shuffle"})
_NUMBERS = (bool, int, float, complex)


class HostGenerator:
    """The stand-in for a generator in a traced function.

    `live` gives the generator when the program runs, `like` is one for the types. Of an
    argument `live` is given the generator of the call, which has a traced `number`.
    """

    __slots__ = ("_like", "_live", "_number")

    def __init__(
        self, live: Callable[[Any], Any], like: Any, number: Tracer | None = None
    ) -> None:
        self._live = live
        self._like = like
        self._number = number

    @property  # type: ignore[misc]  # it has no setter
    def __class__(self) -> Any:
        return type(self._like)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._like, name)
        if is_generator(found):
            live = self._live
            return HostGenerator(
                lambda own: getattr(live(own), name), found, self._number
            )
        if name.startswith("__") or not callable(found):
            return found
        return _method(self, name)


def of_generator(generator: Any) -> HostGenerator:
    """The stand-in of a generator that is there before the program runs."""
    if type(generator) is HostGenerator:
        return generator
    if type(generator) is GeneratorArgument:
        return HostGenerator(lambda own: own, generator.alike(), generator.number)
    return HostGenerator(lambda _: generator, generator)


def _method(seen: HostGenerator, name: str) -> Function:
    """A method of a generator, as a call of the host."""

    def called(*args: Any, **kwargs: Any) -> Any:
        if not in_numpy_trace():
            return getattr(seen._live(None), name)(*args, **kwargs)
        if name in _IN_PLACE:
            return _shuffled(seen, name, args, kwargs)
        out = kwargs.pop("out", None)
        if isinstance(out, NumpyTracer):
            kwargs.setdefault("size", out.shape)
        if out is None:
            number = functools.partial(_number_of, seen)
            single = drawn(type(seen._like), name, args, kwargs, number)
            if single is not None:
                return single
        spare = _copied(seen._like)
        made = _staged(
            name,
            lambda own, *a, **k: getattr(own, name)(*a, **k),
            lambda own, *a, **k: getattr(spare, name)(*a, **k),
            (seen, *args),
            kwargs,
        )
        if isinstance(out, NumpyTracer):
            out.store(convert(made, out.dtype))
            return out
        return made

    return called


def _number_of(seen: HostGenerator, order: Order) -> Any:
    """The number of a generator in the trace in force."""
    if seen._number is not None:
        return seen._number
    generator = seen._live(None)
    return order.number(generator, held(generator).now)


def _copied(generator: Any) -> Any:
    """A generator with the same numbers to come; one of the system has no state."""
    if isinstance(generator, random.SystemRandom):
        return generator
    return copy.deepcopy(generator)


def _shuffled(seen: HostGenerator, name: str, args: Any, kwargs: Any) -> None:
    """A method that changes its array: the host gives the new elements."""
    array, *rest = args
    if not isinstance(array, NumpyTracer):
        got = f"{name} of a {type(array).__name__}"
        raise rules.error("face.random", got=got, hint="shuffle an array")

    def run(own: Any, x: Any, *more: Any, **options: Any) -> Any:
        made = np.array(x)
        getattr(own, name)(made, *more, **options)
        return made

    spare = _copied(seen._like)
    probe = functools.partial(run, spare)
    args = (seen, array, *rest)
    new = _staged(name, run, lambda own, *a, **k: probe(*a, **k), args, kwargs)
    array.store(new)


class _MadeGenerator(threading.local):
    """The generator that a program has made, in each thread that runs it."""

    value: Any = None


def maker(factory: Function) -> Function:
    """A function that makes a generator in a traced function, anew in each run."""

    def made(*args: Any, **kwargs: Any) -> Any:
        if not in_numpy_trace():
            return factory(*args, **kwargs)
        own = _MadeGenerator()
        like: list[Any] = []

        def make(*a: Any, **k: Any) -> Any:
            own.value = held(factory(*a, **k))
            return own.value.number

        def probe(*a: Any, **k: Any) -> Any:
            like.append(factory(*a, **k))
            return np.int64(0)

        number = _staged(factory.__name__, make, probe, args, kwargs)
        return HostGenerator(lambda own: own, like[-1], number)

    return made


def _staged(name: str, run: Function, probe: Function, args: Any, kwargs: Any) -> Any:
    """Record a call of the host; `probe` is called for the types of the results.

    Raises TypeError (face.random) for results that are no arrays or numbers.
    """
    leaves, tree = flatten.flatten((tuple(args), dict(kwargs)))
    fixed = [_fixed(leaf) for leaf in leaves]
    places = [k for k, leaf in enumerate(fixed) if _operand(leaf) is not None]
    operands = [_current(_operand(fixed[k])) for k in places]

    def arguments(values: Sequence[Any], seen: Function) -> Any:
        given = dict(zip(places, values, strict=True))
        own = [seen(leaf, given.get(k)) for k, leaf in enumerate(fixed)]
        return tree.unflatten(own)

    made, samples = _probed(name, probe, arguments, operands)
    results, kinds = flatten.flatten(made)
    _check_shapes(name, probe, arguments, operands, samples, results)
    avals = tuple(_result_aval(name, value) for value in results)

    def target(*arrays: np.ndarray) -> list[np.ndarray]:
        given, options = arguments([x if x.ndim else x[()] for x in arrays], _live)
        return [np.asarray(v) for v in flatten.leaves(run(*given, **options))]

    found = call_in_order(name, target, operands, avals)
    pairs = zip(found, results, strict=True)
    return kinds.unflatten([_as_drawn(value, like) for value, like in pairs])


def _fixed(leaf: Any) -> Any:
    """An argument that is known, by elements that never change; or a traced one."""
    if isinstance(leaf, NumpyTracer) and leaf.concrete is not None:
        return np.array(leaf.concrete)
    return np.array(leaf) if type(leaf) is np.ndarray else leaf


def _current(tracer: Any) -> Any:
    return tracer.now() if isinstance(tracer, NumpyTracer) else tracer


def _operand(leaf: Any) -> Any:
    """The operand of a call for one of its arguments; None for one that is known."""
    if type(leaf) is HostGenerator:
        return leaf._number
    return leaf if isinstance(leaf, Tracer) else None


def _live(leaf: Any, value: Any) -> Any:
    """An argument when the program runs, where `value` is its operand's."""
    if type(leaf) is HostGenerator:
        return leaf._live(None if value is None else generator_of(value))
    return leaf if value is None else value


def _probed(
    name: str, probe: Function, arguments: Any, operands: Sequence[Any]
) -> tuple[Any, list[Any]]:
    """The results of a call with numbers that stand for those that are traced, and
    these."""
    error: Exception | None = None
    for samples in _samples([typeof(v) for v in operands]):
        given, options = arguments(samples, _like)
        try:
            return probe(*given, **options), samples
        except Exception as raised:  # of NumPy's, which has no class for bad numbers
            error = raised
    got = f"{name}: {type(error).__name__}: {error}"
    raise rules.error("face.random", got=got)


def _check_shapes(
    name: str,
    probe: Function,
    arguments: Any,
    operands: Sequence[Any],
    samples: Sequence[Any],
    results: Any,
) -> None:
    """Demand traced integers that decide the shape of what a call gives, or whether it
    gives anything.

    Raises TypeError (face.random) where they can't be known.
    """
    shapes = list(map(np.shape, results))

    def others(number: int, change: int) -> list[Any] | None:
        """The shapes of the results where one operand is another."""
        changed = [*samples]
        changed[number] = changed[number] + changed[number].dtype.type(change)
        given, options = arguments(changed, _like)
        with suppress(Exception):  # of NumPy's, which has no class for bad numbers
            return list(map(np.shape, flatten.leaves(probe(*given, **options))))
        return None

    deciding = []
    for k, value in enumerate(samples):
        if value.dtype.kind in "iu" and not value.shape:
            found = (others(k, change) for change in (1, 4))
            if next((made for made in found if made is not None), None) != shapes:
                deciding.append(operands[k])
    if deciding:
        got = f"{name} of a shape that depends on {typeof(deciding[0]).str_short()}"
        raise demanded(rules.error("face.random", got=got), *deciding)


def _like(leaf: Any, value: Any) -> Any:
    """An argument that stands for that of a run."""
    if type(leaf) is HostGenerator:
        return leaf._like
    return leaf if value is None else value


def _samples(avals: Sequence[ShapedArray]) -> Iterator[list[Any]]:
    """Numbers that a distribution may have: ascending ones, parts of a whole, or
    descending ones that are larger."""
    yield [np.full(a.shape, k + 1, a.dtype)[()] for k, a in enumerate(avals)]
    yield [
        np.full(a.shape, 1 / max(a.size, 2) if a.dtype.kind == "f" else k + 1, a.dtype)[
            ()
        ]
        for k, a in enumerate(avals)
    ]
    yield [np.full(a.shape, 99 - k, a.dtype)[()] for k, a in enumerate(avals)]


def _result_aval(name: str, value: Any) -> ShapedArray:
    plain = isinstance(value, (*_NUMBERS, np.generic, np.ndarray))
    array = np.asarray(value) if plain else None
    if array is None or array.dtype.kind not in "biufc":
        got = f"{name}, which gives a {type(value).__name__}"
        raise rules.error("face.random", got=got)
    dtype = canonical_dtype(array.dtype, config.local.context.x64)
    return ShapedArray(array.shape, dtype)


def _as_drawn(value: Any, like: Any) -> Any:
    """A result as the kind of value that the method gives: array, scalar, number."""
    weak = type(like) in (int, float, complex)
    made = convert(value, value.dtype, True) if weak else value
    return traced(made, number=not isinstance(like, np.ndarray))
