"""Primitives that are rewritten in terms of others."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace

import numpy as np

from traceir import rules
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var, sort_params
from traceir_numba.emitters.kinds import Decomposition, register


class DecompositionBuilder:
    """A program of one equation's operands, made equation by equation."""

    def __init__(self, eqn: Eqn) -> None:
        self.eqn = eqn
        self.operands = tuple(Var(x.aval) for x in eqn.inputs)
        self.eqns: list[Eqn] = []

    def bind(self, primitive: str, *inputs: Atom, **params: Hashable) -> Var:
        """Apply a primitive; the result has the equation's type."""
        out = Var(self.eqn.outputs[0].aval)
        source = self.eqn.source
        self.eqns.append(
            Eqn(primitive, inputs, (out,), sort_params(params), source=source)
        )
        return out

    def shaped(
        self,
        primitive: str,
        shape: tuple[int, ...],
        /,
        *inputs: Atom,
        **params: Hashable,
    ) -> Var:
        """Apply a primitive; the result has the equation's dtype and this shape."""
        out = Var(self.eqn.outputs[0].aval.update(shape=shape))
        params = {**rules.default().prims[primitive].defaults, **params}
        source = self.eqn.source
        self.eqns.append(
            Eqn(primitive, inputs, (out,), sort_params(params), source=source)
        )
        return out

    def number(self, value: int) -> Literal:
        """A constant of the equation's dtype."""
        dtype = self.eqn.outputs[0].aval.dtype
        return Literal(np.asarray(value, dtype)[()], ShapedArray((), dtype))

    def finish(self, *results: Atom) -> ClosedJaxpr:
        """The program that gives `results`."""
        return ClosedJaxpr(Jaxpr((), self.operands, tuple(self.eqns), results))


def integer_pow(eqn: Eqn) -> ClosedJaxpr:
    """Products by repeated squaring; a negative power is the reciprocal."""
    build = DecompositionBuilder(eqn)
    exponent = int(eqn.param("y"))
    result: Atom | None = None
    power: Atom = build.operands[0]
    left = abs(exponent)
    while left:
        if left & 1:
            result = power if result is None else build.bind("mul", result, power)
        left >>= 1
        if left:
            power = build.bind("mul", power, power)
    if result is None:
        shape = eqn.outputs[0].aval.shape
        params = {"broadcast_dimensions": (), "shape": shape, "sharding": None}
        return build.finish(build.bind("broadcast_in_dim", build.number(1), **params))
    if exponent < 0:
        result = build.bind("div", build.number(1), result)
    return build.finish(result)


def square(eqn: Eqn) -> ClosedJaxpr:
    """A product."""
    build = DecompositionBuilder(eqn)
    return build.finish(build.bind("mul", *build.operands * 2))


def clamp(eqn: Eqn) -> ClosedJaxpr:
    """The lower bound first, then the upper one."""
    build = DecompositionBuilder(eqn)
    lower, x, upper = build.operands
    return build.finish(build.bind("min", build.bind("max", x, lower), upper))


def rsqrt(eqn: Eqn) -> ClosedJaxpr:
    """Two roundings, so at most one unit in the last place away."""
    build = DecompositionBuilder(eqn)
    root = build.bind("sqrt", build.operands[0])
    return build.finish(build.bind("div", build.number(1), root))


def as_reshape(eqn: Eqn) -> Eqn:
    """The operand in the result's shape, for an equation that changes no more."""
    shape = eqn.outputs[0].aval.shape
    params = {"new_sizes": shape, "dimensions": None, "sharding": None}
    return replace(eqn, primitive="reshape", params=sort_params(params))


def called(param: str) -> Callable[[Eqn], ClosedJaxpr]:
    """The program in a param."""

    def program(eqn: Eqn) -> ClosedJaxpr:
        found = eqn.param(param)
        assert isinstance(found, ClosedJaxpr)
        return found

    return program


def stop_gradient(eqn: Eqn) -> ClosedJaxpr:
    """The operand: there is nothing to compute."""
    build = DecompositionBuilder(eqn)
    return build.finish(build.operands[0])


def custom_lin(eqn: Eqn) -> ClosedJaxpr:
    """Raise TypeError (custom_vjp.forward): there is nothing to run."""
    raise rules.error("custom_vjp.forward")


register("custom_lin", Decomposition(custom_lin))
register("integer_pow", Decomposition(integer_pow))
register("square", Decomposition(square))
register("clamp", Decomposition(clamp))
register("rsqrt", Decomposition(rsqrt))
register("stop_gradient", Decomposition(stop_gradient))
register("jit", Decomposition(called("jaxpr")))
register("remat2", Decomposition(called("jaxpr")))
register("custom_jvp_call", Decomposition(called("call_jaxpr")))
register("custom_vjp_call", Decomposition(called("call_jaxpr")))
