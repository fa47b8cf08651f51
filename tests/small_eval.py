"""A small implementation of types and values, to be made wrong one part at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from traceir.conform.casefiles.outcomes import Outcome
from traceir.conform.casefiles.sessions import Session
from traceir.conform.casefiles.untyped import typed
from traceir.conform.judging.run import Unsupported
from traceir.conform.systems.implementations import ByTables, declared
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Literal, Var, subjaxprs
from traceir.ir.typecheck import check, infer
from traceir.reference.interpreter import evaluate_eqn
from traceir.rules import default

Step = Callable[[Eqn, Sequence[Any]], Sequence[Any]]


class Small(ByTables):
    """Types and evaluates programs equation by equation; it has no sessions.

    `kernels` replace those of some primitives.
    """

    name = "small"
    rules = default()
    choices = declared()
    kernels: Mapping[str, Callable[..., Any]] = {}

    def type(self, program: ClosedJaxpr) -> Sequence[ShapedArray]:
        """The types of the results, from those of the inputs."""
        program = typed(program, self.rules)
        self.check(program)
        consts = [v.aval for v in program.jaxpr.constvars]
        return through(program, consts, program.in_avals, self.typed, lambda a: a.aval)

    def eval(
        self, program: ClosedJaxpr, args: Sequence[np.ndarray]
    ) -> Sequence[np.ndarray]:
        """The values of the results."""
        self.admit(program, args)
        found = through(program, program.consts, args, self.run, lambda a: a.array)
        return [np.array(x) for x in found]

    def session(self, session: Session) -> Sequence[Outcome]:
        """Not for this one."""
        raise Unsupported("has no sessions")

    def check(self, program: ClosedJaxpr) -> None:
        """Raise the error of the first clause that a program violates."""
        check(program, self.rules)

    def typed(self, eqn: Eqn, avals: Sequence[ShapedArray]) -> Sequence[ShapedArray]:
        """The types of one equation's results."""
        return infer(eqn.primitive, tuple(avals), eqn.params, self.rules)

    def run(self, eqn: Eqn, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """The values of one equation's results."""
        for inner in subjaxprs(eqn) if eqn.primitive == "jit" else ():
            return through(inner, inner.consts, arrays, self.run, lambda a: a.array)
        kernel = self.kernels.get(eqn.primitive)
        if kernel is None:
            return evaluate_eqn(eqn.primitive, eqn.params, arrays)
        with np.errstate(all="ignore"):
            found = kernel(*arrays, **dict(eqn.params))
        return [*map(np.asarray, found if isinstance(found, list) else [found])]


def through(
    program: ClosedJaxpr,
    consts: Sequence[Any],
    inputs: Sequence[Any],
    step: Step,
    literal: Callable[[Literal], Any],
) -> list[Any]:
    """The results of a program when each equation takes a step."""
    jaxpr = program.jaxpr
    env: dict[Var, Any] = dict(
        zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *inputs))
    )

    def read(atom: Atom) -> Any:
        return literal(atom) if isinstance(atom, Literal) else env[atom]

    for eqn in jaxpr.eqns:
        env.update(zip(eqn.outputs, step(eqn, [read(a) for a in eqn.inputs])))
    return [read(a) for a in jaxpr.outvars]
