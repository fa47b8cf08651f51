"""Bounds checks of indices that are traced: an IndexError at run time.

Serves: index.bounds

A place that is known is looked at while tracing. Traced ones are noted; when the
function has been traced, those that may be outside get equations that tell.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.base import source_info
from traceir.base.config import local
from traceir.face.arrays.array import NumpyTracer
from traceir.face.arrays.integer_ranges import RangeAnalysis
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal
from traceir.ir.promotion import canonical_dtype
from traceir.jit.bounds_check import BoundsChecks, PlaceCheck, outside
from traceir.numpy.indexing import index_plan
from traceir.tracing.staging import StagingTrace
from traceir.tracing.trace import Tracer, current_trace

_INT64 = np.dtype("int64")


def check_index(shape: tuple[int, ...], index: Any) -> None:
    """Check an index in which something is traced, for an array of this shape."""
    dim = 0
    for part in index_plan.entries(index, len(shape)):
        if part is None or isinstance(part, (bool, np.bool_)):
            continue
        if not isinstance(part, (slice, Tracer)) and np.asarray(part).dtype == bool:
            dim += np.ndim(part)
            continue
        if not isinstance(part, slice):
            check_places(part, shape[dim], dim)
        dim += 1


def check_places(
    places: Any, extent: int, axis: int = 0, least: int | None = None
) -> None:
    """Check places in a dimension, from `least` on: by default, as many below 0.

    Raises IndexError (index.bounds) for a known one.
    """
    least = -extent if least is None else least
    if not isinstance(places, Tracer):
        nothing = Literal(0, ShapedArray((), _INT64))
        check = PlaceCheck(nothing, least, extent, axis, None)
        got = outside(check, np.asarray(places))
        if got is not None:
            raise rules.error("index.bounds", got=got)
        return
    trace = current_trace()
    if not isinstance(places, NumpyTracer) or places._trace is not trace:
        return  # in an inner function of a transform JAX's rule holds
    if not places.size or trace.transform != "jit":
        return
    note_check(
        PlaceCheck(places.now()._var, least, extent, axis, source_info.capture())
    )


def note_check(check: PlaceCheck) -> None:
    """Have the trace in force make a check when its function has been traced."""
    trace = current_trace()
    if isinstance(trace, StagingTrace):
        trace.checks.append(check)


def note_flag(
    flag: Any,
    rule: str = "index.bounds",
    got: str = "",
    inner: Sequence[PlaceCheck] = (),
) -> None:
    """Have the trace in force raise a rule's error if a flag is set, when it has been
    traced; `inner` are the checks of regions whose flag it is."""
    trace = current_trace()
    if isinstance(trace, StagingTrace):
        where = source_info.capture()
        atom = trace.atom(flag)
        note_check(PlaceCheck(atom, 0, None, 0, where, rule, got, tuple(inner)))


class EmittedChecks:
    """The equations of a trace's checks: their places and their results."""

    def __init__(self, trace: StagingTrace) -> None:
        self.checks = _unproven(trace)
        self.first = len(trace.eqns)
        flag = _flag(trace, self.checks)
        self.flag = None if flag is None else trace.atom(flag)
        self.last = len(trace.eqns)

    def split(
        self, jaxpr: Jaxpr, constants: Sequence[np.ndarray]
    ) -> tuple[Jaxpr, BoundsChecks | None]:
        """The program without the checks, and the one with them."""
        if self.flag is None:
            return jaxpr, None
        parts = (jaxpr.constvars, jaxpr.invars)
        eqns = (*jaxpr.eqns[: self.first], *jaxpr.eqns[self.last :])
        name = jaxpr.debug_name
        whole = Jaxpr(*parts, jaxpr.eqns, (*jaxpr.outvars, self.flag), name)
        checks = BoundsChecks(ClosedJaxpr(whole, tuple(constants)), self.checks)
        return Jaxpr(*parts, eqns, jaxpr.outvars, name), checks


def region_flag(trace: StagingTrace) -> Any:
    """Whether a check fails in a region that is in force; None if none can. Those that
    can stay its checks."""
    trace.checks = list(_unproven(trace))
    return _flag(trace, trace.checks)


def _flag(trace: StagingTrace, checks: Sequence[PlaceCheck]) -> Any:
    flags = list(_flags(trace, _distinct(checks)))
    return functools.reduce(lax.bitwise_or, flags) if flags else None


def _unproven(trace: StagingTrace) -> tuple[PlaceCheck, ...]:
    """The checks of places that may be outside."""
    if not trace.checks:
        return ()
    constants = {var: array for var, array, _ in trace.constants.values()}
    ranges = RangeAnalysis(trace.eqns, constants)
    for var, found in trace.known_ranges():
        ranges.assume(var, found)
    return tuple(c for c in trace.checks if not _holds(ranges, c))


def _holds(ranges: RangeAnalysis, check: PlaceCheck) -> bool:
    if check.extent is None:
        return False
    low, high = ranges.of(check.places)
    return check.least <= low and high < check.extent


def _distinct(checks: Sequence[PlaceCheck]) -> list[PlaceCheck]:
    """Each check once."""
    return list({(c.places, c.least, c.extent): c for c in checks}.values())


def _flags(trace: StagingTrace, checks: Sequence[PlaceCheck]) -> Iterator[Any]:
    """The tests for indices out of bounds, in parts: of arrays, and of numbers of one
    dimension, whose extremes tell.
    """
    numbers: dict[tuple[int, int], list[Atom]] = {}
    for check in checks:
        if check.extent is None:
            yield trace.tracer(check.places, trace, check.source)
        elif check.places.aval.shape:
            places = _wide(trace, check.places)
            yield _any_outside(places, check.least, check.extent)
        else:
            limits = check.least, check.extent
            numbers.setdefault(limits, []).append(check.places)
    for limits, atoms in numbers.items():
        stretches, rest = _stretches(trace, atoms)
        for base, offset, start, stop in stretches:
            places = lax.slice(_wide(trace, base), (start,), (stop,))
            yield _any_outside(lax.add(places, offset), *limits)
        if rest:
            those = [_wide(trace, atom) for atom in rest]
            low = functools.reduce(lax.min, those)
            yield _outside(low, functools.reduce(lax.max, those), *limits)


def _wide(trace: StagingTrace, atom: Atom) -> Any:
    """Places in the widest dtype of integers that there is."""
    dtype = canonical_dtype(_INT64, local.context.x64)
    return lax.convert_element_type(trace.tracer(atom, trace, None), dtype)


def _stretches(
    trace: StagingTrace, atoms: Sequence[Atom]
) -> tuple[list[tuple[Atom, int, int, int]], list[Atom]]:
    """Numbers that are, but for an offset, all elements between two places of a vector,
    as loops read them: vector, offset, places. And the other numbers."""
    makers: dict[Atom, Eqn] = {v: e for e in trace.eqns for v in e.outputs}
    found: dict[tuple[Atom, int], dict[int, Atom]] = {}
    rest: list[Atom] = []
    for atom in atoms:
        element = _element(makers, atom)
        if element is None:
            rest.append(atom)
        else:
            base, offset, place = element
            found.setdefault((base, offset), {})[place] = atom
    stretches = []
    for (base, offset), places in found.items():
        start, stop = min(places), max(places) + 1
        if stop - start == len(places) > 1:
            stretches.append((base, offset, start, stop))
        else:
            rest += places.values()
    return stretches, rest


def _element(makers: Mapping[Atom, Eqn], atom: Atom) -> tuple[Atom, int, int] | None:
    """The vector that a number is an element of but for an offset, the offset, and the
    place, where these are known."""
    offset = 0
    while (eqn := makers.get(atom)) is not None:
        match eqn.primitive, eqn.inputs:
            case "squeeze" | "reshape", (inner,):
                atom = inner
            case "add", (inner, Literal() as number) | (Literal() as number, inner):
                atom, offset = inner, offset + int(number.value)
            case "sub", (inner, Literal() as number):
                atom, offset = inner, offset - int(number.value)
            case "slice", (base,) if atom.aval.shape == (1,):
                return base, offset, eqn.param("start_indices")[0]
            case _:
                return None
    return None


def _any_outside(places: Any, least: int, extent: int) -> Any:
    return lax.reduce_or(_outside(places, places, least, extent), range(places.ndim))


def _outside(low: Any, high: Any, least: int, extent: int) -> Any:
    below = lax.lt(low, lax.full_like(low, least))
    return lax.bitwise_or(below, lax.ge(high, lax.full_like(high, extent)))
