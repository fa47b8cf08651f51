"""Weak types added to programs whose text leaves them out. Serves: aval.weak"""

from __future__ import annotations

from collections.abc import Sequence

from traceir.errors import TraceirError
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from traceir.ir.typecheck import infer
from traceir.rules import Rules


def weaken(
    closed: ClosedJaxpr, weak: Sequence[bool], rules: Rules | None = None
) -> ClosedJaxpr:
    """The program with some inputs weakly typed, and its results accordingly.

    An equation that cannot be typed keeps its written types, for checking to report.
    """
    jaxpr = closed.jaxpr
    env: dict[Var, Var] = {}
    for var, is_weak in zip(jaxpr.invars, weak):
        env[var] = Var(var.aval.update(weak_type=is_weak))

    def use(atom: Atom) -> Atom:
        return atom if isinstance(atom, Literal) else env.get(atom, atom)

    eqns = []
    for eqn in jaxpr.eqns:
        inputs = tuple(map(use, eqn.inputs))
        outputs = _outputs(eqn, inputs, rules)
        env.update(zip(eqn.outputs, outputs))
        eqns.append(Eqn(eqn.primitive, inputs, outputs, eqn.params, eqn.effects))
    invars = tuple(env[v] for v in jaxpr.invars)
    outvars = tuple(map(use, jaxpr.outvars))
    weakened = Jaxpr(jaxpr.constvars, invars, tuple(eqns), outvars)
    return ClosedJaxpr(weakened, closed.consts)


def _outputs(
    eqn: Eqn, inputs: tuple[Atom, ...], rules: Rules | None
) -> tuple[Var, ...]:
    try:
        avals = [a.aval for a in inputs]
        types = infer(eqn.primitive, avals, dict(eqn.params), rules)
    except TraceirError:
        return eqn.outputs
    pairs = zip(eqn.outputs, types)
    found = (Var(v.aval.update(weak_type=t.weak_type)) for v, t in pairs)
    return tuple(found) if len(types) == len(eqn.outputs) else eqn.outputs
