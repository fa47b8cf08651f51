"""The operands that one result of an equation is computed from. Serves: face.demand

Of a choice each result has its own: those that its branches compute it from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from traceir.ir.jaxpr import Atom, Eqn, Var, programs_in


def operands_behind(eqn: Eqn, result: Var) -> Iterator[Atom]:
    """The operands that decide a result; all of them, but for a choice.

    >>> from traceir.text import parse
    >>> text = "{ lambda ; a:f32[] b:f32[]. let c:f32[] = add a b in (c,) }"
    >>> (eqn,) = parse(text).jaxpr.eqns
    >>> len(list(operands_behind(eqn, eqn.outputs[0])))
    2
    """
    if eqn.primitive != "cond":
        yield from eqn.inputs
        return
    index, *operands = eqn.inputs
    yield index
    number = eqn.outputs.index(result)
    for branch in programs_in(eqn.params):
        jaxpr = branch.jaxpr
        found = behind(jaxpr.eqns, jaxpr.outvars[number])
        yield from (
            x for x, v in zip(operands, jaxpr.invars, strict=True) if v in found
        )


def is_behind(eqns: Sequence[Eqn], atom: Atom, primitive: str) -> bool:
    """True if a value is computed by an equation of a primitive, or of a program
    within which there is one.

    >>> from traceir.text import parse
    >>> text = "{ lambda ; a:f32[]. let b:f32[] = sin a; c:f32[] = neg a in (c,) }"
    >>> eqns = parse(text).eqns
    >>> [is_behind(eqns, e.outputs[0], "sin") for e in eqns]
    [True, False]
    """
    makers = [eqn for eqn in eqns if _has(eqn, primitive)]
    if not makers:
        return False
    found = behind(eqns, atom)
    return any(not found.isdisjoint(eqn.outputs) for eqn in makers)


def _has(eqn: Eqn, primitive: str) -> bool:
    return eqn.primitive == primitive or any(
        _has(inner, primitive) for p in programs_in(eqn.params) for inner in p.eqns
    )


def behind(eqns: Iterable[Eqn], atom: Atom) -> set[Atom]:
    """The variables that one is computed from by some equations, with those between."""
    makers = {v: eqn for eqn in eqns for v in eqn.outputs}
    found: set[Atom] = set()
    todo = [atom]
    while todo:
        var = todo.pop()
        if isinstance(var, Var) and var not in found:
            found.add(var)
            if var in makers:
                todo += operands_behind(makers[var], var)
    return found
