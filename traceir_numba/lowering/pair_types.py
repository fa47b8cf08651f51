"""The types of values of two numbers, and programs over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, Eqn, Jaxpr, Literal, Var, subjaxprs
from traceir_numba.emitters.pairs.values import Pair, PairedArray, Value, part_of


def has_pairs(jaxpr: Jaxpr) -> bool:
    """True if values of two numbers occur in a program."""
    return any(part_of(a.aval.dtype) for a in atoms_in(jaxpr))


def atoms_in(jaxpr: Jaxpr) -> Iterator[Atom]:
    """All variables and literals of a program, those of programs inside included."""
    yield from (*jaxpr.constvars, *jaxpr.invars, *jaxpr.outvars)
    for eqn in jaxpr.eqns:
        yield from (*eqn.inputs, *eqn.outputs)
        for inner in subjaxprs(eqn):
            yield from atoms_in(inner.jaxpr)


def is_plain(eqn: Eqn) -> bool:
    """True if there are no values of two numbers in an equation."""
    if any(part_of(a.aval.dtype) for a in (*eqn.inputs, *eqn.outputs)):
        return False
    return not any(has_pairs(inner.jaxpr) for inner in subjaxprs(eqn))


def as_numbers(value: Any) -> np.ndarray:
    """A constant with both numbers along one dimension more."""
    array = np.asarray(value)
    part = part_of(array.dtype)
    if part is None:
        return array
    return np.ascontiguousarray(array).reshape(-1).view(part).reshape(*array.shape, 2)


def as_whole(aval: ShapedArray) -> ShapedArray:
    """The type of a value's numbers beside one another."""
    part = part_of(aval.dtype)
    return aval.update(shape=(*aval.shape, 2), dtype=part)


def parts_of(literal: Literal) -> tuple[Atom, Atom]:
    """The numbers of a constant."""
    aval = literal.aval
    part = part_of(aval.dtype)
    assert part is not None
    numbers = literal.array.reshape(-1).view(part)
    first, second = (Literal(n, ShapedArray((), part)) for n in numbers)
    return first, second


def part_param(value: Any) -> Any:
    """A param with the numbers' dtype for that of values of two."""
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(map(part_param, value))
    if isinstance(value, np.dtype):
        return part_of(value) or value
    return value


def atoms_of(values: Sequence[Value]) -> tuple[Atom, ...]:
    """The variables and constants that stand for values."""
    found: list[Atom] = []
    for value in values:
        match value:
            case Pair(first, second):
                found += first, second
            case PairedArray(var):
                found.append(var)
            case _:
                found.append(value)
    return tuple(found)


def apart(aval: ShapedArray) -> Value:
    """New variables for a value, one for each number."""
    part = part_of(aval.dtype)
    if part is None:
        return Var(aval)
    return Pair(*(Var(aval.update(dtype=part)) for _ in range(2)))


def together(aval: ShapedArray) -> Value:
    """A new variable for a value, its numbers beside one another."""
    return PairedArray(Var(as_whole(aval))) if part_of(aval.dtype) else Var(aval)


def same_form(value: Value, var: Var) -> Value:
    """New variables for an input, in the form of its argument."""
    match value:
        case Pair():
            return apart(var.aval)
        case PairedArray():
            return together(var.aval)
    return var


def renamed(jaxpr: Jaxpr) -> tuple[Jaxpr, dict[Var, tuple[Var, str]]]:
    """A program with variables of its own, and whose names they have."""
    fresh: dict[Var, Var] = {}

    def define(variables: Sequence[Var]) -> tuple[Var, ...]:
        fresh.update((v, Var(v.aval)) for v in variables)
        return tuple(fresh[v] for v in variables)

    def use(atom: Atom) -> Atom:
        return fresh.get(atom, atom) if isinstance(atom, Var) else atom

    constvars, invars = define(jaxpr.constvars), define(jaxpr.invars)
    eqns = []
    for eqn in jaxpr.eqns:
        inputs = tuple(map(use, eqn.inputs))
        eqns.append(replace(eqn, inputs=inputs, outputs=define(eqn.outputs)))
    outvars = tuple(map(use, jaxpr.outvars))
    made = Jaxpr(constvars, invars, tuple(eqns), outvars, jaxpr.debug_name)
    return made, {new: (old, "") for old, new in fresh.items()}
