"""Places of elements in arrays, as the turns of a loop reach them.

Serves: staged.turns
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.base.source_info import Source
from traceir.ir.jaxpr import Atom, Eqn, Literal, Var

# A loop whose number of turns is not known has so many at most.
MANY = 1 << 62


@dataclass(frozen=True, slots=True)
class Info:
    """A kind of value: one that is the same in each turn, comes from the elements of
    arrays, or varies in another way."""

    name: str = ""


CONSTANT, DATA, VARIES = Info("constant"), Info("data"), Info("varies")


@dataclass(frozen=True, slots=True)
class TurnPlace(Info):
    """An integer: `factor` times the turn's number, numbers that never change, each so
    many times, and `offset`. It is `exact` if it is that where it is negative, too."""

    factor: int = 0
    terms: frozenset[tuple[Var, int]] = frozenset()
    offset: int = 0
    exact: bool = True

    @staticmethod
    def of(atom: Literal) -> Info:
        """A number that is written in the program."""
        if atom.aval.dtype.kind not in "iu":
            return CONSTANT
        return TurnPlace(offset=int(atom.value))

    @staticmethod
    def invariant(var: Var) -> Info:
        """A value that is the same in each turn."""
        if var.aval.shape or var.aval.dtype.kind not in "iu":
            return CONSTANT
        return TurnPlace(terms=frozenset([(var, 1)]))

    @staticmethod
    def turn(first: Atom, step: int) -> Info:
        """A counter."""
        start = (
            TurnPlace.of(first)
            if isinstance(first, Literal)
            else TurnPlace.invariant(first)
        )
        assert isinstance(start, TurnPlace)
        return replace(start, factor=step)

    @property
    def fixed(self) -> bool:
        """True if it is the same in each turn."""
        return not self.factor

    def plus(self, other: TurnPlace, times: int = 1) -> TurnPlace:
        """The sum with so many times another."""
        terms = dict(self.terms)
        for var, count in other.terms:
            terms[var] = terms.get(var, 0) + times * count
        return TurnPlace(
            "",
            self.factor + times * other.factor,
            frozenset((v, n) for v, n in terms.items() if n),
            self.offset + times * other.offset,
            self.exact and other.exact,
        )

    def is_parallel(self, other: TurnPlace) -> bool:
        """True if it differs from another by a known number in each turn."""
        return (self.factor, self.terms) == (other.factor, other.terms)


@dataclass(frozen=True, slots=True)
class PlaceColumns(Info):
    """A place with several coordinates, as one array."""

    parts: tuple[Info, ...] = ()


@dataclass(frozen=True, slots=True)
class ElementAccess:
    """A read or write of so many elements of an array along each dimension, from a
    coordinate on."""

    places: tuple[Info, ...]
    sizes: tuple[int, ...]
    reads: bool
    writes: bool
    source: Source | None


# -- values ---------------------------------------------------------------------------


def info_of(eqn: Eqn, given: Sequence[Info], makers: Mapping[Atom, Eqn]) -> Info:
    """The kind of an equation's results, by those of its operands."""
    out = eqn.outputs[0]
    if all(g is CONSTANT or (isinstance(g, TurnPlace) and g.fixed) for g in given):
        found = _affine(eqn, given, makers)
        return found or TurnPlace.invariant(out)
    found = _affine(eqn, given, makers)
    if found is not None:
        return found
    reads = eqn.primitive in ("dynamic_slice", "gather")
    return DATA if reads or DATA in _parts(given) else VARIES


def _parts(given: Sequence[Info]) -> Iterator[Info]:
    for one in given:
        yield from one.parts if isinstance(one, PlaceColumns) else (one,)


def _affine(eqn: Eqn, given: Sequence[Info], makers: Mapping[Atom, Eqn]) -> Info | None:
    out = eqn.outputs[0].aval
    if out.dtype.kind not in "iu":
        return None
    match eqn.primitive, given:
        case "convert_element_type", [TurnPlace() as x]:
            wide = out.dtype.itemsize >= eqn.inputs[0].aval.dtype.itemsize
            return x if wide else None
        case (("broadcast_in_dim" | "reshape" | "squeeze" | "expand_dims"), [x]):
            return x if prod(out.shape) == 1 else None
        case _ if out.dtype.itemsize < 8:
            return None  # it may begin again from the least number
        case "concatenate", _ if prod(out.shape) == len(given):
            return PlaceColumns(parts=tuple(given))
        case "add", [TurnPlace() as x, TurnPlace() as y]:
            return x.plus(y)
        case "sub", [TurnPlace() as x, TurnPlace() as y]:
            return x.plus(y, -1)
        case "neg", [TurnPlace() as x]:
            return TurnPlace().plus(x, -1)
        case "mul", [TurnPlace() as x, TurnPlace() as y]:
            for one, other in ((x, y), (y, x)):
                if not one.factor and not one.terms:
                    return TurnPlace().plus(other, one.offset)
        case "select_n", [_, TurnPlace() as x, TurnPlace()] if _is_wrapped(eqn, makers):
            return replace(x, exact=False)
    return None


def _is_wrapped(eqn: Eqn, makers: Mapping[Atom, Eqn]) -> bool:
    """True for a place that counts from the end where it is negative."""
    which, x, _ = eqn.inputs
    test, maker = makers.get(which), makers.get(x)
    if test is None or test.primitive != "lt":
        return False
    at, bound = test.inputs
    converted = maker is not None and maker.primitive == "convert_element_type"
    same = at is x or (converted and maker is not None and maker.inputs[0] is at)
    return same and isinstance(bound, Literal) and bound.value == 0


# -- accesses -------------------------------------------------------------------------


def accesses_of(eqn: Eqn, given: Sequence[Info]) -> ElementAccess | None:
    """The access of an equation to its first operand; None if it is no such thing."""
    shape = eqn.inputs[0].aval.shape
    inside: Any = dict(eqn.params).get("inside", ())
    name = eqn.primitive
    places: dict[int, Info] = {}
    if name == "dynamic_slice":
        places, sizes = dict(enumerate(given[1:])), eqn.param("slice_sizes")
    elif name == "dynamic_update_slice":
        places, sizes = dict(enumerate(given[2:])), eqn.inputs[1].aval.shape
    elif name == "slice":
        starts, ends = eqn.param("start_indices"), eqn.param("limit_indices")
        places = {d: TurnPlace(offset=k) for d, k in enumerate(starts)}
        sizes = tuple(b - a for a, b in zip(starts, ends, strict=True))
        inside = range(len(shape))
    elif name == "gather" or name.startswith("scatter"):
        numbers = eqn.param("dimension_numbers")
        names, indices = numbers[2], eqn.inputs[1].aval
        several = prod(indices.shape) > len(names)
        for d, column in zip(names, _columns(given[1], len(names), several)):
            places[d] = column
        sizes = _window(eqn, numbers, shape)
    else:
        return None
    writes = name.startswith("scatter") or name == "dynamic_update_slice"
    found = []
    for d in range(len(shape)):
        place = places.get(d, TurnPlace())
        if isinstance(place, TurnPlace) and place.factor and d not in inside:
            # Beyond the end nothing is written, but the last element read.
            drops = name.startswith("scatter")
            place = replace(place, exact=place.exact and drops)
        found.append(place)
    reads = not writes or name not in ("scatter", "dynamic_update_slice")
    return ElementAccess(tuple(found), tuple(sizes), reads, writes, eqn.source)


def _columns(info: Info, count: int, several: bool) -> tuple[Info, ...]:
    if several or (isinstance(info, PlaceColumns) and len(info.parts) != count):
        return (DATA if DATA in _parts([info]) else VARIES,) * count
    if isinstance(info, PlaceColumns):
        return info.parts
    return (info,) * count if count == 1 or not isinstance(info, TurnPlace) else ()


def _window(
    eqn: Eqn, numbers: Sequence[Sequence[int]], shape: Sequence[int]
) -> tuple[int, ...]:
    if eqn.primitive == "gather":
        return tuple(eqn.param("slice_sizes"))
    windows, single, _, batched, _ = numbers
    rest = iter(eqn.inputs[2].aval.shape[d] for d in windows)
    gone = {*single, *batched}
    return tuple(1 if d in gone else next(rest) for d in range(len(shape)))


# -- several turns --------------------------------------------------------------------


def meetings(a: ElementAccess, b: ElementAccess, d: int, turns: int) -> range | None:
    """By how many turns `b` may come after `a` and meet it along a dimension; None if
    that is not known."""
    x, y = a.places[d], b.places[d]
    if not (isinstance(x, TurnPlace) and isinstance(y, TurnPlace) and x.is_parallel(y)):
        return None
    # The turns t and u meet where f * t + k .. + m overlaps f * u + l .. + n.
    low = x.offset - y.offset - (b.sizes[d] - 1)
    high = x.offset - y.offset + (a.sizes[d] - 1)
    if not x.factor:
        return range(1 - turns, turns) if low <= 0 <= high else range(0)
    if x.factor < 0:
        low, high = -high, -low
    by = abs(x.factor)
    return range(max(-(-low // by), 1 - turns), min(high // by, turns - 1) + 1)


def separated(found: Sequence[ElementAccess], rank: int, turns: int) -> bool:
    """True if some dimension keeps apart what one turn writes and others access."""
    writes = [a for a in found if a.writes]
    return any(
        all(
            _is_exact(a.places[d])
            and _is_exact(b.places[d])
            and (met := meetings(a, b, d, turns)) is not None
            and (not met or met == range(1))
            for a in writes
            for b in found
        )
        for d in range(rank)
    )


def _is_exact(place: Info) -> bool:
    return isinstance(place, TurnPlace) and place.exact


def conflict(write: ElementAccess, other: ElementAccess, turns: int) -> str:
    """The reason for which accesses in different turns have to be in order, or ""."""
    if turns < 2:
        return ""
    found = [meetings(write, other, d, turns) for d in range(len(write.places))]
    known = [met for met in found if met is not None]
    low = max((met.start for met in known), default=0)
    high = min((met.stop for met in known), default=0)
    moves = any(
        isinstance(p, TurnPlace) and p.factor
        for p, met in zip(write.places, found)
        if met
    )
    fixed = all(isinstance(p, TurnPlace) and p.fixed for p in write.places)
    if (
        high > low
        and (low < 0 or high > 1)
        and (moves or (fixed and None not in found))
    ):
        if other.reads:
            return "it reads an element that another turn writes"
        return "each turn writes to the same element"
    if other.reads and DATA in write.places:
        return "it changes an element at a place that is found in an array"
    return ""
