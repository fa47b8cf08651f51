"""Operations over a named axis, by the column `across` of their rows.

The column says each element of a result by the elements that all examples have: it is
evaluated on places, and the elements at these are folded. Serves: batch.*
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, Literal
from traceir.oracle.transforms.builder import Beyond, DerivedProgram, Params
from traceir.rules import Prim, Scope
from traceir.rules.applied import row_scope
from traceir.rules.formulas.helpers import box

Index = tuple[int, ...]
FOLDS = {"sum": "reduce_sum", "max": "reduce_max", "min": "reduce_min"}
BUILTINS: Mapping[str, Callable[..., Any]] = {"sum": sum, "max": max, "min": min}


@dataclass(frozen=True)
class Folded:
    """Elements of all examples, at these places, folded by a primitive."""

    by: str
    places: tuple[Index, ...]


class ExamplePlaces:
    """The examples of an operand, of which the places are known."""

    def __getitem__(self, index: Index) -> Folded:
        return Folded("", (index,))


def _fold(name: str, parts: Iterable[Any]) -> Any:
    """A fold of elements, or of numbers."""
    found = list(parts)
    if not any(isinstance(part, Folded) for part in found):
        return BUILTINS[name](found)
    if any(part.by not in ("", FOLDS[name]) for part in found):
        raise Beyond("a fold of another fold")
    return Folded(FOLDS[name], tuple(p for part in found for p in part.places))


def names_of(params: Params) -> tuple[str, ...]:
    """The names of the axes that an operation is about."""
    given = params.get("axes", params.get("axis_name", ()))
    axes = given if isinstance(given, tuple) else (given,)
    return tuple(a for a in axes if isinstance(a, str))


def across(
    builder: DerivedProgram,
    row: Prim,
    params: Params,
    whole: Sequence[Atom],
    out: ShapedArray,
    size: int,
    name: str,
) -> Atom:
    """The results of all examples of an axis, in front; `whole` are their operands."""
    if row.across is None:
        raise Beyond(f"{row.name} of an axis")
    rest = tuple(other for other in names_of(params) if other != name)
    if rest and "axes" not in params:
        raise Beyond("several axes as one")
    examples = [a.aval.update(shape=a.aval.shape[1:]) for a in whole]
    outer = row_scope(row, examples, tuple(sorted(params.items())), builder.rules)
    folds = {name: partial(_fold, name) for name in FOLDS}
    known = {**folds, "whole": ExamplePlaces(), "size": size}
    elements = [
        row.across(Scope({**known, "n": n, "i": index}, row.each, outer))
        for n in range(size)
        for index in box(out.shape)
    ]
    found = _array(builder, elements, whole, (size, *out.shape), out)
    return (
        builder.apply(row.name, [found], {**params, "axes": rest})[0] if rest else found
    )


def _array(
    builder: DerivedProgram,
    elements: Sequence[Any],
    whole: Sequence[Atom],
    shape: Index,
    out: ShapedArray,
) -> Atom:
    """The array of some elements: places of the operand, folds of these, numbers."""
    if not elements:
        raise Beyond("no elements")
    parts = {e: _element(builder, e, whole, out) for e in dict.fromkeys(elements)}
    flat = builder.apply("stack", [parts[e] for e in elements], {"axis": 0})[0]
    sizes = {"new_sizes": shape, "dimensions": None, "sharding": None}
    return builder.apply("reshape", [flat], sizes)[0]


def _element(
    builder: DerivedProgram, element: Any, whole: Sequence[Atom], out: ShapedArray
) -> Atom:
    if not isinstance(element, Folded):
        scalar = ShapedArray((), out.dtype)
        return builder.stretched(Literal(out.dtype.type(element).item(), scalar), ())
    taken = [_taken(builder, whole[0], place) for place in element.places]
    if not element.by:
        return taken[0]
    if not taken:
        return builder.filled(0, ShapedArray((), out.dtype))
    params: dict[str, Any] = {"axes": (0,)}
    if element.by == "reduce_sum":
        params["out_sharding"] = None
    line = builder.apply("stack", taken, {"axis": 0})[0]
    return builder.apply(element.by, [line], params)[0]


def _taken(builder: DerivedProgram, whole: Atom, place: Index) -> Atom:
    """One element of an array."""
    limits = tuple(k + 1 for k in place)
    params = {"start_indices": place, "limit_indices": limits, "strides": None}
    part = builder.apply("slice", [whole], params)[0]
    every = tuple(range(len(place)))
    return builder.apply("squeeze", [part], {"dimensions": every})[0]
