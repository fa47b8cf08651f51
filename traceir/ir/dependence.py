"""The operands that one result of an equation is computed from. Serves: face.demand

Of a choice each result has its own: those that its branches compute it from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
