"""Simplification by ranges of integers: wraps and clamps go.

Counters of loops have known ends, and so have many places in arrays. Comparisons whose
result is known are literals, choices by them are one side, and a place that is inside
of its array says so (`inside`), which is no part of the traced program: code for it has
no clamp and no test. Divisions are one operation: by a power of two that takes bits,
and of numbers that are not negative there is nothing to round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Var,
    sort_params,
)
from traceir.numpy.indexing.divisions import is_division
from traceir.numpy.indexing.integer_ranges import RangeAnalysis
from traceir.numpy.indexing.intervals import Range, Ranges, of_dtype, of_elements
from traceir_numba.lowering.split_loops import most_turns, split

FLOWS = frozenset({"scan", "while", "cond"})
# Whose results differ from their operands in no other way than by their value.
_FOLDED = frozenset(
    {
        *("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "add", "sub", "mul"),
        *("max", "min", "clamp", "select_n", "convert_element_type", "sign"),
    }
)


def fold_ranges(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The same program, simpler where ranges of integers say so.

    A program without loops stays as it is.
    """
    if not any(eqn.primitive in FLOWS for eqn in closed.eqns):
        return closed
    ranges = [of_dtype(v.aval.dtype) for v in closed.jaxpr.invars]
    return _folded(closed, ranges, RangeAnalysis(()))


def _folded(closed: ClosedJaxpr, ranges: Ranges, around: RangeAnalysis) -> ClosedJaxpr:
    """A program for inputs of these ranges."""
    jaxpr = closed.jaxpr
    whole = jaxpr
    if jaxpr.constvars:
        ranges = [*(of_elements(np.asarray(c)) for c in closed.consts), *ranges]
        invars = (*jaxpr.constvars, *jaxpr.invars)
        whole = replace(jaxpr, constvars=(), invars=invars)
    fold = _Folding(whole, around.inside(whole, ranges))
    eqns = tuple(fold.eqns())
    outvars = tuple(fold.use(a) for a in jaxpr.outvars)
    return ClosedJaxpr(replace(jaxpr, eqns=eqns, outvars=outvars), closed.consts)


class _Folding:
    def __init__(self, jaxpr: Jaxpr, ranges: RangeAnalysis) -> None:
        self.jaxpr = jaxpr
        self.ranges = ranges
        self.env: dict[Var, Atom] = {}

    def use(self, atom: Atom) -> Atom:
        """The atom in place of another."""
        return self.env.get(atom, atom) if isinstance(atom, Var) else atom

    def eqns(self) -> list[Eqn]:
        """The equations that are left."""
        found = []
        for eqn in self.split():
            if (known := self.known(eqn)) is not None:
                self.env[eqn.outputs[0]] = self.use(known)
                continue
            made = self.rewritten(eqn)
            if eqn.primitive in FLOWS:
                self.env.update(self.numbers(eqn))
            found.append(replace(made, inputs=tuple(self.use(a) for a in made.inputs)))
        return found

    def split(self) -> Iterator[Eqn]:
        """The equations, with loops in which places may be outside as two."""
        for eqn in self.jaxpr.eqns:
            parts = split(eqn, self.ranges)
            if len(parts) > 1:
                self.ranges.add(parts)
            yield from parts

    def numbers(self, eqn: Eqn) -> dict[Var, Literal]:
        """The results of an equation that are known numbers."""
        scalars = [v for v in eqn.outputs if not v.aval.shape]
        found = {v: self.ranges.of(v) for v in scalars if v.aval.dtype.kind in "biu"}
        return {v: _literal(v, one[0]) for v, one in found.items() if one[0] == one[1]}

    def known(self, eqn: Eqn) -> Atom | None:
        """The result of an equation, if it is a number or an operand."""
        if eqn.primitive not in _FOLDED:
            return None
        (out,) = eqn.outputs
        if out.aval.shape or out.aval.dtype.kind not in "biu":
            return self.chosen(eqn) if eqn.primitive == "select_n" else None
        low, high = self.ranges.of(out)
        if low == high:
            return _literal(out, low)
        ranges = [self.ranges.of(a) for a in eqn.inputs]
        match eqn.primitive:
            case "select_n":
                return self.chosen(eqn)
            case "and" | "or" if out.aval.dtype == bool:
                neutral = int(eqn.primitive == "and"), int(eqn.primitive == "and")
                return (
                    eqn.inputs[ranges.index(neutral) - 1] if neutral in ranges else None
                )
            case "max" | "min":
                return _extreme(eqn, ranges)
            case "clamp":
                (_, least), (low, high), (most, _) = ranges
                inside = least <= low and high <= most
                return eqn.inputs[1] if inside else None
        return None

    def chosen(self, eqn: Eqn) -> Atom | None:
        """The side of a choice by a condition that is known."""
        which, *cases = eqn.inputs
        if which.aval.shape or which.aval.dtype != bool:
            return None
        low, high = self.ranges.of(which)
        return cases[low] if low == high else None

    def rewritten(self, eqn: Eqn) -> Eqn:
        """The equation in a simpler form."""
        match eqn.primitive:
            case "scan":
                return self.scan(eqn)
            case "while":
                return self.while_(eqn)
            case "cond":
                return self.cond(eqn)
            case "jit":
                return self.call(eqn)
            case name if name in _PLACED:
                return self.placed(eqn, *_PLACED[name](eqn, self.ranges))
        return eqn

    def scan(self, eqn: Eqn) -> Eqn:
        """A loop over rows, with its body simplified."""
        loop = self.ranges.loop(eqn)
        return _with(eqn, jaxpr=_folded(eqn.param("jaxpr"), loop.inputs, self.ranges))

    def while_(self, eqn: Eqn) -> Eqn:
        """A loop with a test, both programs simplified; it says how many turns it has
        at most."""
        loop = self.ranges.loop(eqn)
        return _with(
            eqn,
            most_turns=most_turns(eqn, self.ranges),
            body_jaxpr=_folded(eqn.param("body_jaxpr"), loop.inputs, self.ranges),
            cond_jaxpr=_folded(eqn.param("cond_jaxpr"), loop.test_inputs, self.ranges),
        )

    def cond(self, eqn: Eqn) -> Eqn:
        """A choice, its sides simplified under their conditions."""
        programs = eqn.param("branches")
        found = self.ranges.branches(eqn)
        sides = zip(programs, found, strict=True)
        return _with(
            eqn,
            branches=tuple(_folded(c, ranges, self.ranges) for c, (_, ranges) in sides),
        )

    def call(self, eqn: Eqn) -> Eqn:
        """A call: a division by its simple form, another one with its program
        simplified.
        """
        closed, name = eqn.param("jaxpr"), eqn.param("name")
        if is_division(closed.jaxpr, name):
            return self.division(eqn, name) or eqn
        if any(e.primitive in FLOWS for e in closed.eqns):
            ranges = [self.ranges.of(a) for a in eqn.inputs]
            return _with(eqn, jaxpr=_folded(closed, ranges, self.ranges))
        return eqn

    def division(self, eqn: Eqn, name: str) -> Eqn | None:
        """An integer division as one equation, where there is one for it."""
        (x, y), (out,) = eqn.inputs, eqn.outputs
        dtypes = {a.aval.dtype for a in (x, y, out)}
        (low, high), (least, most) = self.ranges.of(x), self.ranges.of(y)
        wide = out.aval.dtype.itemsize == 8
        vectors = bool(out.aval.shape) and not wide
        if len(dtypes) > 1 or out.aval.dtype.kind != "i" or vectors:
            return None
        operation = "rem" if name == "remainder" else "div"
        by = least if least == most and least > 0 and not out.aval.shape else 0
        if by & (by - 1) == 0 and by:  # bits, whatever the sign
            aval = ShapedArray((), out.aval.dtype)
            if name == "remainder":
                return _simple(eqn, "and", x, Literal(by - 1, aval))
            shift = Literal(by.bit_length() - 1, aval)
            return _simple(eqn, "shift_right_arithmetic", x, shift)
        divisor = _literal(y, by) if by else y
        if operation == "rem" and wide and least > 0:
            if low >= 0 and high < 2 * least:
                return _simple(eqn, operation, x, divisor, wraps="end")
            if low >= -least and high < least:
                return _simple(eqn, operation, x, divisor, wraps="start")
        if low >= 0 and least > 0:
            return _simple(eqn, operation, x, divisor, positive=True)
        return _simple(eqn, operation, x, divisor, rounds="down") if wide else None

    def placed(
        self, eqn: Eqn, places: Sequence[Range], lasts: Mapping[int, int]
    ) -> Eqn:
        """A read or write that says in which dimensions its places are inside."""
        inside = tuple(
            d
            for (d, last), (low, high) in zip(lasts.items(), places, strict=True)
            if low >= 0 and high <= last
        )
        return _with(eqn, inside=inside) if inside else eqn


def _literal(var: Atom, value: int) -> Literal:
    return Literal(var.aval.dtype.type(value).item(), var.aval)


def _extreme(eqn: Eqn, ranges: Ranges) -> Atom | None:
    """The operand that is the greater one, or the less, whatever they are."""
    (a, b), sign = ranges, 1 if eqn.primitive == "max" else -1
    x, y = eqn.inputs
    if sign > 0:
        return x if a[0] >= b[1] else y if b[0] >= a[1] else None
    return x if a[1] <= b[0] else y if b[1] <= a[0] else None


def _simple(eqn: Eqn, primitive: str, *inputs: Atom, **params: Any) -> Eqn:
    made = sort_params(params)
    return replace(eqn, primitive=primitive, inputs=inputs, params=made)


def _with(eqn: Eqn, **params: Any) -> Eqn:
    return replace(eqn, params=sort_params({**dict(eqn.params), **params}))


# -- places ---------------------------------------------------------------------------

Places = tuple[list[Range], dict[int, int]]  # ranges, and the last place by dimension


def _sliced(
    first: int, sizes: Sequence[int], eqn: Eqn, ranges: RangeAnalysis
) -> Places:
    shape = eqn.inputs[0].aval.shape
    places = [ranges.of(a) for a in eqn.inputs[first:]]
    return places, {d: n - sizes[d] for d, n in enumerate(shape)}


def _slice(eqn: Eqn, ranges: RangeAnalysis) -> Places:
    return _sliced(1, eqn.param("slice_sizes"), eqn, ranges)


def _update(eqn: Eqn, ranges: RangeAnalysis) -> Places:
    return _sliced(2, eqn.inputs[1].aval.shape, eqn, ranges)


def _gather(eqn: Eqn, ranges: RangeAnalysis) -> Places:
    return _rows(eqn, eqn.param("slice_sizes"), ranges)


def _scatter(eqn: Eqn, ranges: RangeAnalysis) -> Places:
    windows, single, _, batched, _ = eqn.param("dimension_numbers")
    rest = iter(eqn.inputs[2].aval.shape[d] for d in windows)
    gone = {*single, *batched}
    rank = eqn.inputs[0].aval.ndim
    return _rows(eqn, [1 if d in gone else next(rest) for d in range(rank)], ranges)


def _rows(eqn: Eqn, sizes: Sequence[int], ranges: RangeAnalysis) -> Places:
    x, indices = eqn.inputs[:2]
    names = eqn.param("dimension_numbers")[2]
    found = _columns(indices, len(names), ranges)
    return found, {d: x.aval.shape[d] - sizes[d] for d in names}


def _columns(indices: Atom, count: int, ranges: RangeAnalysis) -> list[Range]:
    """The ranges of an index array's columns."""
    eqn = ranges.makers[indices][0] if indices in ranges.makers else None
    if (
        eqn is not None
        and eqn.primitive == "concatenate"
        and len(eqn.inputs) == count
        and eqn.param("dimension") == indices.aval.ndim - 1
    ):
        return [ranges.of(a) for a in eqn.inputs]
    return [ranges.of(indices)] * count


_PLACED: dict[str, Callable[[Eqn, RangeAnalysis], Places]] = {
    "dynamic_slice": _slice,
    "dynamic_update_slice": _update,
    "gather": _gather,
    "scatter": _scatter,
    **{f"scatter-{how}": _scatter for how in ("add", "sub", "mul", "min", "max")},
}
