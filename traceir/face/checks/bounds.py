"""Bounds checks of indices that are traced: an IndexError at run time.

Serves: index.bounds

A place that is known is looked at while tracing. Traced ones are noted; when the
function has been traced, those that may be outside get equations that tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.base import source_info
from traceir.base.config import local
from traceir.base.fast_dataclass import dataclass
from traceir.base.source_info import Source, user_frame_summary
from traceir.face.arrays.array import NumpyTracer
from traceir.face.checks.handlers import HANDLERS, refuse_handled
from traceir.ir.jaxpr import Atom, Eqn, Literal
from traceir.ir.promotion import canonical_dtype
from traceir.numpy.indexing import index_plan
from traceir.numpy.indexing.integer_ranges import RangeAnalysis
from traceir.numpy.indexing.intervals import ANY, Range
from traceir.tracing.staging import StagingTrace
from traceir.tracing.trace import Trace, Tracer, current_trace

_INT64 = np.dtype("int64")


@dataclass(frozen=True, eq=False, slots=True)
class PlaceCheck:
    """Places in one dimension, which are to be from `least` on and before the extent,
    and the user's line."""

    places: Atom
    least: int
    extent: int
    axis: int
    source: Source | None


def outside(
    extent: int, axis: int, values: Sequence[Any], source: Source | None
) -> Exception:
    """The IndexError (index.bounds) of a place outside of a dimension."""
    got = _got(values[0], axis, extent)
    where = None if source is None else user_frame_summary(source)
    return rules.error("index.bounds", got=got, where=where)


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
        flat = np.ravel(places)
        bad = flat[(flat < least) | (flat >= extent)]
        if bad.size:
            raise rules.error("index.bounds", got=_got(bad[0], axis, extent))
        return
    trace = current_trace()
    context = local.context
    if not context.boundscheck or context.sanitize or not places.size:
        return
    if not isinstance(places, NumpyTracer) or not _is_of(places, trace):
        return  # in an inner function of a transform JAX's rule holds
    if isinstance(trace, StagingTrace) and trace.transform == "jit":
        where = source_info.capture()
        atom = trace.atom(places.now())
        check = PlaceCheck(atom, least, extent, axis, where)
        if HANDLERS.get() and may_fail(trace, [check]):
            refuse_handled(IndexError)
        trace.checks.append(check)


def _is_of(value: NumpyTracer, trace: Trace | None) -> bool:
    """True if a value is of a trace, or of one that this is a region of."""
    while trace is not value._trace:
        if trace is None or not trace.writes_outside:
            return False
        trace = trace.parent
    return True


def _got(place: Any, axis: int, extent: int) -> str:
    return f"place {place} in dimension {axis} of extent {extent}"


def ranges_in(trace: StagingTrace) -> RangeAnalysis:
    """The ranges of a trace's integers, as far as it has come."""
    if trace.analysis is None:
        trace.analysis = RangeAnalysis(trace.eqns, trace.known_range)
    found: RangeAnalysis = trace.analysis
    found.follow()
    return found


def range_of(value: Any) -> Range:
    """The least and the greatest number that an integer may be."""
    if not isinstance(value, Tracer):
        return int(value), int(value)
    trace = current_trace()
    if not isinstance(trace, StagingTrace):
        return ANY
    atom = trace.atom(value)
    return ranges_in(trace).of(atom)


def may_fail(trace: StagingTrace, checks: Sequence[PlaceCheck]) -> list[PlaceCheck]:
    """The checks of places that may be outside, each once."""
    if not checks:
        return []
    ranges = ranges_in(trace)
    distinct: dict[Any, PlaceCheck] = {}
    for check in checks:
        if not _holds(ranges, check):
            distinct.setdefault((check.places, check.least, check.extent), check)
    return list(distinct.values())


def _holds(ranges: RangeAnalysis, check: PlaceCheck) -> bool:
    low, high = ranges.of(check.places)
    return check.least <= low and high < check.extent


def tests(
    trace: StagingTrace, checks: Sequence[PlaceCheck]
) -> Iterator[tuple[PlaceCheck, Any, Sequence[Any]]]:
    """Checks with their tests: whether a place is outside, and such a place.

    Of an array, and of numbers that one line takes from all elements between two places
    of a vector, the extremes are looked at.
    """
    stretches = _stretches(trace, [c for c in checks if not c.places.aval.shape])
    for check in checks:
        if check.places.aval.shape:
            places = _wide(trace, check.places)
        elif check not in stretches:
            place = _wide(trace, check.places)
            yield check, _outside(place, place, check), [place]
            continue
        elif stretches[check] is None:
            continue
        else:
            base, offset, start, stop = stretches[check]  # type: ignore[misc]
            places = lax.slice(_wide(trace, base), (start,), (stop,))
            places = lax.add(places, offset)
        axes = tuple(range(places.ndim))
        low, high = lax.reduce_min(places, axes), lax.reduce_max(places, axes)
        below = lax.lt(low, lax.full_like(low, check.least))
        yield check, _outside(low, high, check), [lax.select(below, low, high)]


def _wide(trace: StagingTrace, atom: Atom) -> Any:
    """Places in the widest dtype of integers that there is."""
    dtype = canonical_dtype(_INT64, local.context.x64)
    return lax.convert_element_type(trace.tracer(atom, trace, None), dtype)


def _stretches(
    trace: StagingTrace, checks: Sequence[PlaceCheck]
) -> dict[PlaceCheck, tuple[Atom, int, int, int] | None]:
    """Checks of numbers that are, but for an offset, all elements between two places of
    a vector, as a line in a loop reads them: for the first of each stretch vector,
    offset, places; for the others None."""
    makers: dict[Atom, Eqn] = {v: e for e in trace.eqns for v in e.outputs}
    found: dict[Any, dict[int, PlaceCheck]] = {}
    for check in checks:
        element = _element(makers, check.places)
        if element is not None:
            base, offset, place = element
            line = check.source and (id(check.source.code), check.source.lasti)
            key = base, offset, check.least, check.extent, line
            found.setdefault(key, {})[place] = check
    stretches: dict[PlaceCheck, tuple[Atom, int, int, int] | None] = {}
    for (base, offset, *_), members in found.items():
        start, stop = min(members), max(members) + 1
        if stop - start == len(members) > 1:
            first, *rest = [c for c in checks if c in members.values()]
            stretches[first] = base, offset, start, stop
            stretches |= dict.fromkeys(rest)
    return stretches


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


def _outside(low: Any, high: Any, check: PlaceCheck) -> Any:
    below = lax.lt(low, lax.full_like(low, check.least))
    return lax.bitwise_or(below, lax.ge(high, lax.full_like(high, check.extent)))
