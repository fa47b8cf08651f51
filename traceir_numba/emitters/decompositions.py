"""Primitives that are rewritten in terms of others."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from itertools import repeat
from typing import Any

import numpy as np

from traceir import rules
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Params,
    Var,
    sort_params,
)
from traceir.reference.regions import EXPANSIONS
from traceir_numba.emitters.kinds import Decomposition, register

Shape = tuple[int, ...]


def params_of(
    primitive: str, out: ShapedArray, given: Mapping[str, Hashable]
) -> Params:
    """All params of an equation: what its result's type tells, defaults, and others."""
    row = rules.default().prims[primitive]
    told: dict[str, Hashable] = {}
    for param in row.params:
        if param.name in ("shape", "new_sizes"):
            told[param.name] = out.shape
        elif param.name in ("dtype", "new_dtype"):
            told[param.name] = out.dtype
    return sort_params({**row.defaults, **told, **given})


def constant(value: object, dtype: np.dtype) -> Literal:
    """A constant of a dtype."""
    return Literal(np.asarray(value, dtype)[()], ShapedArray((), dtype))


class DecompositionBuilder:
    """A program of one equation's operands, made equation by equation."""

    def __init__(self, eqn: Eqn) -> None:
        self.eqn = eqn
        self.operands = tuple(Var(x.aval) for x in eqn.inputs)
        self.eqns: list[Eqn] = []

    def bind(
        self,
        primitive: str,
        *inputs: Atom,
        shape: Shape | None = None,
        dtype: np.dtype | None = None,
        **params: Any,
    ) -> Var:
        """Apply a primitive; the result has the equation's type, but for what is given.

        Params that the result's type tells, and those that have defaults, need not be.
        """
        own = self.eqn.outputs[0].aval
        shape, dtype = own.shape if shape is None else shape, dtype or own.dtype
        out = Var(own.update(shape=shape, dtype=dtype))
        full, source = params_of(primitive, out.aval, params), self.eqn.source
        self.eqns.append(Eqn(primitive, inputs, (out,), full, source=source))
        return out

    def number(self, value: int) -> Literal:
        """A constant of the equation's dtype."""
        return constant(value, self.eqn.outputs[0].aval.dtype)

    def converted(self, x: Atom, dtype: np.dtype | None = None) -> Atom:
        """An array in a dtype, the equation's own unless given."""
        dtype = dtype or self.eqn.outputs[0].aval.dtype
        if x.aval.dtype == dtype:
            return x
        return self.bind("convert_element_type", x, shape=x.aval.shape, dtype=dtype)

    def reshaped(self, x: Atom, shape: Shape) -> Atom:
        """The same elements under another shape."""
        return x if x.aval.shape == shape else self.bind("reshape", x, shape=shape)

    def transposed(self, x: Atom, order: Shape) -> Atom:
        """The dimensions in another order."""
        if order == tuple(range(len(order))):
            return x
        shape = tuple(x.aval.shape[d] for d in order)
        return self.bind("transpose", x, shape=shape, permutation=order)

    def sliced(
        self, x: Atom, starts: Shape, stops: Shape, steps: Shape | None = None
    ) -> Var:
        """A part of an array: in each dimension from where to where, how far apart."""
        shape = tuple(map(len, map(range, starts, stops, steps or repeat(1))))
        ends: dict[str, Any] = {"start_indices": starts, "limit_indices": stops}
        own: dict[str, Any] = {"shape": shape, "dtype": x.aval.dtype, "strides": steps}
        return self.bind("slice", x, **ends, **own)

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
        return build.finish(build.bind("broadcast_in_dim", build.number(1)))
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
    params = params_of("reshape", eqn.outputs[0].aval, {})
    return replace(eqn, primitive="reshape", params=params)


def called(param: str) -> Callable[[Eqn], ClosedJaxpr]:
    """The program in a param."""

    def program(eqn: Eqn) -> ClosedJaxpr:
        found = eqn.stored()[param]
        assert isinstance(found, ClosedJaxpr)
        return found

    return program


def unchanged(eqn: Eqn) -> ClosedJaxpr:
    """The operand: there is nothing to compute."""
    build = DecompositionBuilder(eqn)
    return build.finish(build.operands[0])


def custom_lin(eqn: Eqn) -> ClosedJaxpr:
    """Raise TypeError (custom_vjp.forward): there is nothing to run."""
    raise rules.error("custom_vjp.forward")


register("custom_lin", Decomposition(custom_lin))
register("integer_pow", Decomposition(integer_pow))


def square_root(eqn: Eqn) -> ClosedJaxpr | None:
    """A power that is a square root, which is an instruction; roots of zeros have no
    sign, and that of the least number is the greatest."""
    x, exponent = eqn.inputs
    if not isinstance(exponent, Literal) or exponent.value != 0.5:
        return None
    build = DecompositionBuilder(eqn)
    x, dtype = build.operands[0], eqn.outputs[0].aval.dtype
    root = build.bind("sqrt", build.bind("add", x, constant(0, dtype)))
    least = build.bind("eq", x, constant(-np.inf, dtype), dtype=np.dtype(bool))
    return build.finish(build.bind("select_n", least, root, constant(np.inf, dtype)))


register("square", Decomposition(square))
register("clamp", Decomposition(clamp))
register("rsqrt", Decomposition(rsqrt))
register("name", Decomposition(unchanged))
register("reshard", Decomposition(unchanged))
register("stop_gradient", Decomposition(unchanged))
register("jit", Decomposition(called("jaxpr")))
register("remat2", Decomposition(called("jaxpr")))
register("shard_map", Decomposition(lambda eqn: EXPANSIONS["shard_map"](eqn.stored())))
register("custom_jvp_call", Decomposition(called("call_jaxpr")))
register("custom_vjp_call", Decomposition(called("call_jaxpr")))
register("custom_primitive_call", Decomposition(called("call_jaxpr")))
