"""Functions with derivatives of their own. Serves: custom_jvp.*, custom_vjp.*"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.oracle.transforms.builder import Beyond, NamedFunction
from traceir.oracle.transforms.recordings import FunctionProgram, Recordings
from traceir.oracle.transforms.terms import Term
from traceir.pytrees import flatten

Fun = Callable[..., Any]
Types = Sequence[ShapedArray]


def closed_program(traced: FunctionProgram) -> ClosedJaxpr:
    """The program of a rule, which must read its arguments alone."""
    if traced.captured:
        raise Beyond("a rule that reads values around it")
    return traced.closed


def alike(some: Types, others: Types) -> bool:
    """True if these have one another's shapes and dtypes."""
    return [(a.shape, a.dtype) for a in some] == [(a.shape, a.dtype) for a in others]


class _WithRule:
    """A function that runs as it is, but is one operation where it is recorded."""

    way = ""
    defined = False

    def __init__(self, system: Recordings, fun: Fun, apart: tuple[int, ...] = ()):
        self.system, self.fun, self.apart = system, fun, apart

    def __call__(self, *args: Any) -> Any:
        system = self.system
        if not self.defined:
            raise system.rules.error("custom.undefined")
        if any(isinstance(args[k], Term) and args[k].home for k in self.apart):
            raise system.rules.error("custom.nondiff")
        known = {k: args[k] for k in self.apart}
        values = [system.as_term(a) for k, a in enumerate(args) if k not in known]
        if system.handler(values) is None:
            return self.fun(*args)

        def moving(*terms: Any) -> Any:
            rest = iter(terms)
            given = (known[k] if k in known else next(rest) for k in range(len(args)))
            return self.fun(*given)

        # Outside of a recording of all operations, it is run on what is known.
        way = self.way if system.records else "jvp"
        traced = system.trace(moving, [v.aval for v in values], way, values)
        rules = self.rules([*known.values()], traced)
        found = system.bind(
            f"{self.way}_call",
            *traced.captured,
            *values,
            name=getattr(self.fun, "__name__", self.way),
            call_jaxpr=traced.closed,
            num_consts=len(traced.captured),
            symbolic_zeros=False,
            **rules,
        )
        return traced.tree.unflatten(list(found))

    def rules(self, known: list[Any], traced: FunctionProgram) -> dict[str, Any]:
        """The params that hold the rules."""
        raise NotImplementedError


class CustomJvp(_WithRule):
    """A function with tangents of its own."""

    way = "custom_jvp"
    rule: Fun

    def defjvp(self, rule: Fun) -> None:
        """The rule: results and tangents by arguments and theirs."""
        self.rule, self.defined = rule, True

    def rules(self, known: list[Any], traced: FunctionProgram) -> dict[str, Any]:
        """The rule as a function of types that gives a program."""

        def jvp(primals: Types, tangents: Types) -> ClosedJaxpr:
            count = len(primals)

            def flat(*terms: Any) -> Any:
                found = self.rule(*known, terms[:count], terms[count:])
                if not isinstance(found, tuple) or len(found) != 2:
                    raise error("custom_jvp.pair")
                if any(flatten.flatten(part)[1] != traced.tree for part in found):
                    raise error("custom_jvp.tree")
                return found

            made = closed_program(self.system.trace(flat, [*primals, *tangents]))
            if not alike(made.out_avals, [*traced.closed.out_avals] * 2):
                raise error("custom_jvp.types")
            return made

        error = self.system.rules.error
        return {"jvp": NamedFunction("jvp", jvp)}


class CustomVjp(_WithRule):
    """A function with cotangents of its own."""

    way = "custom_vjp"
    forward: Fun
    backward: Fun

    def defvjp(self, forward: Fun, backward: Fun) -> None:
        """The rules: results and residuals; cotangents by these and the results'."""
        self.forward, self.backward = forward, backward
        self.defined = True

    def rules(self, known: list[Any], traced: FunctionProgram) -> dict[str, Any]:
        """The rules as functions of types that give programs."""
        trees: list[Any] = []

        def fwd(primals: Types) -> ClosedJaxpr:
            def flat(*terms: Any) -> Any:
                found = self.forward(*known, *terms)
                if not isinstance(found, tuple) or len(found) != 2:
                    raise error("custom_vjp.pair")
                leaves, tree = flatten.flatten(found[1])
                trees.append(tree)
                results, own = flatten.flatten(found[0])
                types = [self.system.aval(v) for v in results]
                if own != traced.tree or not alike(types, traced.closed.out_avals):
                    raise error("custom_vjp.results")
                return results, leaves

            return closed_program(self.system.trace(flat, primals))

        def bwd(residuals: Types, outs: Types) -> ClosedJaxpr:
            def flat(*terms: Any) -> Any:
                kept = trees[-1].unflatten([*terms[: len(residuals)]])
                given = [*terms[len(residuals) :]]
                found = self.backward(*known, kept, traced.tree.unflatten(given))
                if not isinstance(found, tuple) or len(found) != traced.count:
                    raise error("custom_vjp.tree")
                types = [self.system.aval(v) for v in found]
                if not alike(types, traced.closed.in_avals[-traced.count :]):
                    raise error("custom_vjp.types")
                return found

            return closed_program(self.system.trace(flat, [*residuals, *outs]))

        error = self.system.rules.error
        return {"fwd": NamedFunction("fwd", fwd), "bwd": NamedFunction("bwd", bwd)}
