"""The small programs on which each theorem is tried, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice, product

import numpy as np

from theorems.small import (
    Application,
    Avals,
    applications,
    chained,
    program,
    within_regions,
)
from traceir.errors import TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, sort_params
from traceir.ir.typecheck import infer, results
from traceir.rules import default
from traceir.rules.applied import row_scope

Typed = tuple[Application, Avals]
# The types of what stands first and last in programs of two equations.
MIDDLE = (
    *(ShapedArray((), "float32"), ShapedArray((2,), "float32")),
    *(ShapedArray((2,), "int32"), ShapedArray((), "bool")),
)


@cache
def typed_applications(every: int = 1) -> tuple[Typed, ...]:
    """The applications that are well typed, with the types of results."""
    found = ((it, types(it)) for it in applications()[::every])
    return tuple((it, outs) for it, outs in found if outs is not None)


def types(it: Application) -> Avals | None:
    """The types of the results; None if there are none."""
    try:
        return infer(it.primitive, it.avals, it.params)
    except TraceirError:
        return None


def single(every: int = 1) -> Iterator[ClosedJaxpr]:
    """All programs of one equation, with the results that the row infers.

    An ill-typed one has those that the row would infer of it, if there are any.
    """
    for it in applications()[::every]:
        yield program(it, types(it) or _unchecked(it))


def _unchecked(it: Application) -> Avals:
    """The types of results by the column `out` alone, whatever the clauses say."""
    row = default().prims[it.primitive]
    try:
        return results(row, row_scope(row, it.avals, sort_params(it.params), default()))
    except Exception:  # a formula has no value where a clause does not hold
        return ()


def regions(every: int = 1) -> Iterator[ClosedJaxpr]:
    """The well-typed programs of one equation within regions."""
    for it, outs in typed_applications(every):
        yield from within_regions(it, outs)


def pairs(every: int = 1) -> Iterator[ClosedJaxpr]:
    """All programs of two equations, joined at a few types.

    The first is the first application with its primitive and such a result; so is the
    second, with such an operand.
    """
    for middle in MIDDLE:
        yield from _joined(typed_applications(every), middle, every)


def _joined(
    found: Sequence[Typed], middle: ShapedArray, every: int
) -> Iterator[ClosedJaxpr]:
    """The programs of two of these applications that are joined at a type."""
    both = product(*_at(found, middle))
    for (first, outs), (then, ends) in islice(both, 0, None, every):
        yield chained(first, outs, then, ends)


def _at(found: Sequence[Typed], middle: ShapedArray) -> tuple[list[Typed], list[Typed]]:
    """An application of each primitive that gives a type, and one that takes it."""
    firsts: dict[str, Typed] = {}
    lasts: dict[str, Typed] = {}
    for it, outs in found:
        if outs[:1] == (middle,):
            firsts.setdefault(it.primitive, (it, outs))
        if middle in it.avals:
            lasts.setdefault(it.primitive, (it, outs))
    return [*firsts.values()], [*lasts.values()]


def everything(every: int = 1) -> Iterator[ClosedJaxpr]:
    """All small programs, ill-typed ones too."""
    yield from single(every)
    yield from regions(every)
    yield from pairs(every)


# What is differentiated, in double precision so that a limit can be told.
WIDE = {np.dtype("float32"): np.dtype("float64")}


@cache
def wide_applications(every: int = 1) -> tuple[Typed, ...]:
    """The well-typed applications, in double precision in place of single."""
    found = []
    for it, _ in typed_applications(every):
        avals = tuple(a.update(dtype=WIDE.get(a.dtype, a.dtype)) for a in it.avals)
        params = {
            n: WIDE.get(v, v) if isinstance(v, np.dtype) else v
            for n, v in it.params.items()
        }
        wide = Application(it.primitive, avals, params)
        if (outs := types(wide)) is not None:
            found.append((wide, outs))
    return tuple(found)


def is_smooth(it: Application, outs: Avals) -> bool:
    """True if a primitive has a `value` and a derivative by a floating operand.

    Those of which the exact value says how it is conditioned take too long.
    """
    row = default().prims[it.primitive]
    if row.value is None or row.derivative is None or row.accuracy == "conditioned":
        return False
    if any(a.dtype.kind not in "fiub" for a in (*it.avals, *outs)) or _exempt(it):
        return False
    return all(any(a.dtype.kind == "f" for a in some) for some in (it.avals, outs))


def smooth(every: int = 1) -> Iterator[ClosedJaxpr]:
    """Programs of one and of two equations that have derivatives."""
    found = [pair for pair in wide_applications(every) if is_smooth(*pair)]
    for it, outs in found:
        yield program(it, outs)
    for middle in (ShapedArray((), "float64"), ShapedArray((2,), "float64")):
        yield from _joined(found, middle, every)


def _exempt(it: Application) -> bool:
    """True if the row says that the derivative is nowhere the slope."""
    row = default().prims[it.primitive]
    scope = row_scope(row, it.avals, sort_params(it.params), default())
    for singular in row.singular:
        if not singular.at.names.intersection(("i", *row.each)) and singular.at(scope):
            return True
    return False


def batched(every: int = 1) -> Iterator[ClosedJaxpr]:
    """Programs of one and of two equations that take arrays of numbers."""
    found = [(it, o) for it, o in wide_applications(every) if is_plain(it)]
    for it, outs in found:
        yield program(it, outs)
    for middle in (ShapedArray((2,), "float64"), ShapedArray((2,), "int32")):
        yield from _joined(found, middle, every)


def is_plain(it: Application) -> bool:
    """True if an application takes numbers alone, and has one right result."""
    row = default().prims[it.primitive]
    return row.value is not None and all(a.dtype.kind in "fiub" for a in it.avals)


def traceable(every: int = 1) -> Iterator[ClosedJaxpr]:
    """Well-typed programs of one and of two equations, on numbers."""
    found = [(it, o) for it, o in typed_applications(every) if is_plain(it)]
    for it, outs in found:
        yield program(it, outs)
    for middle in (ShapedArray((), "float32"), ShapedArray((2,), "int32")):
        yield from _joined(found, middle, every)


# For each theorem the programs, one in so many of them.
SUBJECTS: dict[str, Callable[[int], Iterator[ClosedJaxpr]]] = {
    "theorem.determinism": everything,
    "theorem.checker": everything,
    "theorem.soundness": everything,
    "theorem.trace": traceable,
    "theorem.keys": traceable,
    "theorem.jvp": smooth,
    "theorem.vmap": batched,
    "theorem.transpose": smooth,
    "theorem.partial-evaluation": pairs,
    "theorem.composition": smooth,
    "theorem.passes": batched,
}
