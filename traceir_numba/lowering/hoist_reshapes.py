"""Reshapes moved up to values that are in memory anyway.

The reshape of an elementwise result is the elementwise result of reshaped operands, so
that what stands before and after a reshape can be one loop nest.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Var, sort_params
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.kinds import Elementwise, View
from traceir_numba.fusion.dataflow import identity_map

Shape = tuple[int, ...]


def hoist_reshapes(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, dict[Var, Var]]:
    """The same flat program with its reshapes as early as they can be.

    Also gives which variable of the program each new one is a reshape of.

    >>> from traceir.text.parser import parse
    >>> text = '''{ lambda ; a:i32[2,3]. let
    ...     b:i32[2,3] = neg a
    ...     c:i32[6] = reshape[dimensions=None new_sizes=(6,) sharding=None] b
    ...   in (c,) }'''
    >>> [eqn.primitive for eqn in hoist_reshapes(parse(text))[0].eqns]
    ['reshape', 'neg']
    """
    jaxpr = closed.jaxpr
    uses = Counter(a for e in jaxpr.eqns for a in set(e.inputs) if isinstance(a, Var))
    uses.update(a for a in jaxpr.outvars if isinstance(a, Var))
    makers = {v: e for e in jaxpr.eqns for v in e.outputs}
    moved: dict[Var, list[Eqn]] = {}  # in place of the equation that made a variable
    origins: dict[Var, Var] = {}
    for eqn in reversed(jaxpr.eqns):
        if _is_alias(eqn) and eqn.outputs[0] not in moved:
            _hoist(eqn, makers, uses, moved, origins)
    eqns = [e for eqn in jaxpr.eqns for e in moved.get(eqn.outputs[0], [eqn])]
    return ClosedJaxpr(replace(jaxpr, eqns=tuple(eqns)), closed.consts), origins


def _is_alias(eqn: Eqn) -> bool:
    """True if an equation gives an operand's memory another shape."""
    entry, operand = EMITTERS[eqn.primitive], eqn.inputs[0] if eqn.inputs else None
    out = eqn.outputs[0].aval
    return (
        isinstance(entry, View)
        and isinstance(operand, Var)
        # Memory that is seen as that of keys, or of words, has other elements.
        and operand.aval.dtype == out.dtype
        and entry.read(eqn, identity_map(out.ndim)) is None
    )


def _hoist(
    reshape: Eqn,
    makers: dict[Var, Eqn],
    uses: Counter[Var],
    moved: dict[Var, list[Eqn]],
    origins: dict[Var, Var],
) -> None:
    """Move one reshape above all elementwise equations that only it reads."""
    waiting = [reshape]
    # What is left of reshapes and elementwise equations, the last ones first.
    found: list[Eqn] = []
    while waiting:
        eqn = waiting.pop()
        operand, out = eqn.inputs[0], eqn.outputs[0]
        assert isinstance(operand, Var)
        maker = makers.get(operand)
        if maker is None or uses[operand] != 1:
            found.append(eqn)
        elif _is_alias(maker):
            moved[operand] = []
            waiting.append(_reshape(eqn, maker.inputs[0], out))
        elif _is_elementwise(maker):
            moved[operand] = []
            inputs = {a: _reshaped(a, out.aval.shape) for a in maker.inputs}
            for atom, fresh in inputs.items():
                if isinstance(fresh, Var) and isinstance(atom, Var) and fresh != atom:
                    origins[fresh] = atom
                    waiting.append(_reshape(eqn, atom, fresh))
            operands = tuple(inputs[a] for a in maker.inputs)
            found.append(replace(maker, inputs=operands, outputs=(out,)))
        else:
            found.append(eqn)
    moved[reshape.outputs[0]] = found[::-1]


def _is_elementwise(eqn: Eqn) -> bool:
    """True if all operands are scalars or have the result's shape."""
    shape = eqn.outputs[0].aval.shape
    return isinstance(EMITTERS[eqn.primitive], Elementwise) and all(
        atom.aval.shape in ((), shape) for atom in eqn.inputs
    )


def _reshaped(atom: Atom, shape: Shape) -> Atom:
    """The variable in an operand's place: a new one if it has a shape."""
    return Var(atom.aval.update(shape=shape)) if atom.aval.shape else atom


def _reshape(eqn: Eqn, operand: Atom, out: Atom) -> Eqn:
    """The reshape of another operand to the same shape."""
    assert isinstance(out, Var)
    params = {**dict(eqn.params), "new_sizes": out.aval.shape}
    return Eqn("reshape", (operand,), (out,), sort_params(params), source=eqn.source)
