"""Programs without the types of results, and with them again.

What an implementation is asked must not contain the answer. Serves: every table
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from traceir.errors import TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    UntypedVar,
    Var,
)
from traceir.ir.typecheck import infer
from traceir.rules import Rules

# The type of what cannot be typed, which a check then tells.
UNKNOWN = ShapedArray((), "bool")
Inferred = Callable[[Eqn], Sequence[ShapedArray]]


def untyped(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program without the types of results, its own and those of inner programs.

    >>> from traceir.text import parse
    >>> print(untyped(parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }")))
    { lambda ; a:f32[]. let b = sin a in (b,) }
    """
    return _Renamed(lambda var, aval: UntypedVar(), lambda eqn: ()).program(program)


def typed(program: ClosedJaxpr, rules: Rules | None = None) -> ClosedJaxpr:
    """The program with the types that the tables infer where it has none.

    An equation that cannot be typed gets types for a check to refuse. Types are strong,
    as text has them.

    >>> from traceir.text import parse
    >>> bare = untyped(parse("{ lambda ; a:f32[2]. let b:f32[2] = sin a in (b,) }"))
    >>> typed(bare).out_avals
    (ShapedArray(float32[2]),)
    """

    def inferred(eqn: Eqn) -> Sequence[ShapedArray]:
        try:
            return infer(
                eqn.primitive, [a.aval for a in eqn.inputs], dict(eqn.params), rules
            )
        except TraceirError:
            return ()

    return typed_by(program, inferred)


def typed_by(program: ClosedJaxpr, inferred: Inferred) -> ClosedJaxpr:
    """The program with types by `inferred` where it has none.

    That function gets equations whose operands, and whose inner programs, have types.
    """

    def made(var: Var, aval: ShapedArray) -> Var:
        return Var(aval.update(weak_type=False)) if isinstance(var, UntypedVar) else var

    return _Renamed(made, inferred).program(program)


class _Renamed:
    """Programs with other variables for results; equal programs stay one object."""

    def __init__(
        self, made: Callable[[Var, ShapedArray], Var], inferred: Inferred
    ) -> None:
        self.made = made
        self.inferred = inferred
        self.done: dict[int, ClosedJaxpr] = {}

    def program(self, closed: ClosedJaxpr) -> ClosedJaxpr:
        """The program, which is made once."""
        if id(closed) not in self.done:
            jaxpr = self.jaxpr(closed.jaxpr)
            self.done[id(closed)] = ClosedJaxpr(jaxpr, closed.consts, closed.backend)
        return self.done[id(closed)]

    def jaxpr(self, jaxpr: Jaxpr) -> Jaxpr:
        """The program without values of constants."""
        starts = (*jaxpr.constvars, *jaxpr.invars)
        env = dict(zip(starts, starts))
        defined = {v for eqn in jaxpr.eqns for v in eqn.outputs}
        early: set[Atom] = set()

        def use(atom: Atom) -> Atom:
            if isinstance(atom, Literal):
                return atom
            if atom not in env and atom in defined:  # it is read before that
                env[atom] = self.made(atom, UNKNOWN)
                early.add(env[atom])
            return env.get(atom, atom)

        eqns = []
        for eqn in jaxpr.eqns:
            inputs = tuple(map(use, eqn.inputs))
            params = tuple((name, self.param(value)) for name, value in eqn.params)
            eqn = replace(eqn, inputs=inputs, params=params)
            found = () if early.intersection(inputs) else self.inferred(eqn)
            avals = (*found, *[UNKNOWN] * (len(eqn.outputs) - len(found)))
            for var, aval in zip(eqn.outputs, avals):
                env.setdefault(var, self.made(var, aval))
            eqns.append(replace(eqn, outputs=tuple(env[v] for v in eqn.outputs)))
        outvars = tuple(map(use, jaxpr.outvars))
        return replace(jaxpr, eqns=tuple(eqns), outvars=outvars)

    def param(self, value: Hashable) -> Hashable:
        """The value of a param, its programs renamed."""
        if isinstance(value, tuple):
            return tuple(map(self.param, value))
        return self.program(value) if isinstance(value, ClosedJaxpr) else value
