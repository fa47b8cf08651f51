"""Adapters that know nothing: they give back what is asked, or ask this project."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from traceir import check
from traceir.conform import Rejected
from traceir.conform.casefiles.outcomes import Outcome
from traceir.conform.casefiles.sessions import Call, Probe, Session
from traceir.conform.casefiles.untyped import typed
from traceir.errors import TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, UntypedVar
from traceir.ir.typecheck import infer
from traceir.reference.interpreter import eval_jaxpr

Arrays = Sequence[np.ndarray]


class Echo:
    """Says of each call what the call says of itself."""

    name = "echo"

    def type(self, program: ClosedJaxpr) -> Any:
        """The types of the results as the program has them."""
        return [v.aval for v in program.jaxpr.outvars]

    def eval(self, program: ClosedJaxpr, args: Arrays) -> Any:
        """The arguments."""
        return args

    def session(self, session: Session) -> Any:
        """The outcomes that the session asks for."""
        return [_echoed(s) for s in session.steps if isinstance(s, Call | Probe)]


def _echoed(step: Call | Probe) -> Outcome:
    if isinstance(step, Probe):
        return Outcome("answers", answer=step.answer)
    return Outcome(
        step.verdict or "traces", step.rule, step.values, program=step.program
    )


class EchoesInputs(Echo):
    """Takes results for inputs, as many as there are."""

    def type(self, program: ClosedJaxpr) -> Any:
        """The types of the first inputs."""
        return program.in_avals[: len(program.jaxpr.outvars)]

    def eval(self, program: ClosedJaxpr, args: Arrays) -> Any:
        """The first arguments."""
        return args[: len(program.jaxpr.outvars)]


class EchoesLast(Echo):
    """Takes results for the last inputs."""

    def type(self, program: ClosedJaxpr) -> Any:
        """The types of the last inputs."""
        return program.in_avals[-len(program.jaxpr.outvars) :]

    def eval(self, program: ClosedJaxpr, args: Arrays) -> Any:
        """The last arguments."""
        return args[-len(program.jaxpr.outvars) :]


class EchoesAlike(Echo):
    """Takes an argument of the right type, or zeros, for each result."""

    def eval(self, program: ClosedJaxpr, args: Arrays) -> Any:
        """The first arguments of the types that the results have."""
        found = []
        for aval in program.out_avals:
            same = [a for a in args if (a.shape, a.dtype) == (aval.shape, aval.dtype)]
            found += same[:1] or [np.zeros(aval.shape, aval.dtype)]
        return found


class Checks(Echo):
    """Has this project's check say what is refused."""

    def type(self, program: ClosedJaxpr) -> Any:
        """The types that the program has after that."""
        check(program)
        return super().type(program)


class ChecksTyped(Echo):
    """Has this project put types into programs, and check them."""

    def type(self, program: ClosedJaxpr) -> Any:
        """The types that this project infers."""
        found = typed(program)
        check(found)
        return found.out_avals

    def eval(self, program: ClosedJaxpr, args: Arrays) -> Any:
        """The results of this project's kernels."""
        return eval_jaxpr(program, program.consts, *args)


class ChecksInThread(ChecksTyped):
    """Has this project do the same in a thread of its own."""

    def type(self, program: ClosedJaxpr) -> Any:
        """The types that this project infers."""
        return _in_thread(super().type, program)

    def eval(self, program: ClosedJaxpr, args: Arrays) -> Any:
        """The results of this project's kernels."""
        return _in_thread(super().eval, program, args)


def _in_thread(function: Any, *args: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *args).result()


class ChecksInChild(Echo):
    """Has this project say what is refused in a child that is forked."""

    def type(self, program: ClosedJaxpr) -> Any:
        """The types that the program has, unless the child says that it is refused."""
        child = os.fork()
        if not child:
            refused = 0
            try:
                check(typed(program))
            except TraceirError:
                refused = 1
            except BaseException:  # the watch, which ends the child with 0
                pass
            os._exit(refused)
        if os.waitpid(child, 0)[1]:
            raise Rejected("TypeError", "refused")
        return super().type(program)


class Infers(Echo):
    """Has this project infer the types, equation by equation."""

    def type(self, program: ClosedJaxpr) -> Any:
        """The types of the results."""
        types: dict[Any, ShapedArray] = {}

        def read(atom: Any) -> ShapedArray:
            return types[atom] if isinstance(atom, UntypedVar) else atom.aval

        for eqn in program.eqns:
            inputs = [read(a) for a in eqn.inputs]
            found = infer(eqn.primitive, inputs, dict(eqn.params))
            types.update(zip(eqn.outputs, found))
        return [read(v) for v in program.jaxpr.outvars]


class Refuses(Echo):
    """Refuses whatever comes."""

    def type(self, program: ClosedJaxpr) -> Any:
        """No types."""
        raise Rejected("TypeError", "no")
