"""Drawn programs: longer ones of the same applications, each by its number alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from random import Random

from theorems.small import within_regions
from theorems.subjects import (
    Typed,
    is_plain,
    is_smooth,
    typed_applications,
    wide_applications,
)
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Var, sort_params
from traceir.ir.typecheck import infer

MOST = 5
# One equation in so many stands within a region.
REGIONS = 8
Index = dict[ShapedArray, list[Typed]]


@cache
def pool(kind: str) -> tuple[Typed, ...]:
    """The applications of which programs of a kind are made."""
    if kind == "any":
        return typed_applications()
    if kind == "narrow":
        return tuple(pair for pair in typed_applications() if is_plain(pair[0]))
    if kind == "smooth":
        return tuple(pair for pair in wide_applications() if is_smooth(*pair))
    return tuple(pair for pair in wide_applications() if is_plain(pair[0]))


@cache
def by_operand(kind: str) -> Index:
    """The applications that take an operand of a type."""
    found: Index = defaultdict(list)
    for it, outs in pool(kind):
        for aval in dict.fromkeys(it.avals):
            found[aval].append((it, outs))
    return found


def drawn(kind: str, number: int) -> ClosedJaxpr:
    """The program of this number: each equation after the first reads one before."""
    random = Random(f"{kind} {number}")
    inputs: list[Var] = []
    eqns: list[Eqn] = []
    known: list[Var] = []
    for _ in range(random.randint(2, MOST)):
        read = random.choice(known) if known else None
        found = by_operand(kind).get(read.aval) if read else None
        it, outs = random.choice(found or pool(kind))
        operands: list[Atom] = []
        for aval in it.avals:
            same = [v for v in known if v.aval is aval]
            if same and random.random() < 0.8:
                operands.append(random.choice(same))
            else:
                inputs.append(Var(aval))
                known.append(inputs[-1])
                operands.append(inputs[-1])
        if kind == "any" and random.randrange(REGIONS) == 0:
            (eqn,) = random.choice(list(within_regions(it, outs))).eqns
            if len(eqn.inputs) == len(operands):
                eqns.append(_again(eqn, operands))
                known.extend(eqns[-1].outputs)
                continue
        results = tuple(map(Var, outs))
        params = sort_params(it.params)
        eqns.append(Eqn(it.primitive, tuple(operands), results, params))
        known.extend(results)
    return ClosedJaxpr(Jaxpr((), tuple(inputs), tuple(eqns), _results(eqns)))


def _again(eqn: Eqn, operands: Sequence[Atom]) -> Eqn:
    """The same equation on other operands."""
    avals = tuple(atom.aval for atom in operands)
    results = tuple(map(Var, infer(eqn.primitive, avals, eqn.params)))
    return Eqn(eqn.primitive, tuple(operands), results, eqn.params)


def _results(eqns: Sequence[Eqn]) -> tuple[Var, ...]:
    """The results of the last two equations."""
    return tuple(v for eqn in eqns[-2:] for v in eqn.outputs)
