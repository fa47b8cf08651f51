"""Linearization: forward mode whose tangents are recorded. Serves: derive.linearize

Two traces stand inside one another. The inner one carries tangents along, as in forward
mode. Whatever it applies goes to the outer one, which records what depends on a tangent
and passes the rest on to the trace around both. A tape of linear operations remains,
with the values that they need beside tangents: the residuals.
"""

from __future__ import annotations

from collections.abc import Callable

from traceir import rules
from traceir.base import source_info
from traceir.base.config import local as _local
from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.effects import effects_of
from traceir.ir.jaxpr import Params
from traceir.ir.name_stack import StackName
from traceir.ir.typecheck import infer
from traceir.tracing.staging import line
from traceir.tracing.trace import (
    Trace,
    Tracer,
    Value,
    bind_all,
    in_force,
    living,
    typeof,
)
from traceir.transforms.autodiff.jvp_trace import JVPTrace, is_inexact
from traceir.transforms.rules.dce import live_eqn
from traceir.transforms.rules.registry import (
    LINEARIZE,
    SPLIT,
    JvpResult,
    Mask,
    Tangent,
    Tangents,
    Values,
    Zero,
)


class LinearTracer(Tracer):
    """A tangent that is not known yet: operations on it are recorded."""

    __slots__ = ()
    _trace: TangentTrace

    def __init__(
        self, aval: ShapedArray, trace: TangentTrace, where: source_info.Source | None
    ) -> None:
        self.aval = aval
        self._trace = trace
        self._source = where


@dataclass(frozen=True, slots=True)
class LinearEqn:
    """A recorded operation: linear in its LinearTracers, the other inputs are known."""

    primitive: str
    inputs: tuple[Value, ...]
    outputs: tuple[LinearTracer, ...]
    params: Params
    source: source_info.Source | None
    name_stack: tuple[StackName, ...]


class TangentTrace(Trace):
    """Records operations on tangents; all others go to the trace around it."""

    __slots__ = ("tape", "outside")
    kind = "TangentTrace"

    def __init__(self, name: str, transform: str) -> None:
        super().__init__(name, transform)
        # A tangent is an argument of a function that is linear.
        self.knows = rules.default().levels.way("linear_transpose").knows
        self.tape: list[LinearEqn] = []
        # The number of names around, which are not the tape's.
        self.outside = len(_local.name_stack)

    def input(self, aval: ShapedArray) -> LinearTracer:
        """A tangent of this type."""
        return LinearTracer(aval, self, None)

    def taken(self) -> list[LinearEqn]:
        """The tape, given away: tangents that live on must not keep what is not live
        on it."""
        tape, self.tape = self.tape, []
        return tape

    def takes_functions(self, values: Values) -> bool:
        """Unless the function is one of tangents, of which the types are known."""
        return not any(type(v) is LinearTracer and v._trace is self for v in values)

    def bind(self, primitive: str, values: Values, params: Params) -> Values:
        """Record an operation on a tangent."""
        linear = [type(v) is LinearTracer and v._trace is self for v in values]
        if primitive in SPLIT:
            found = SPLIT[primitive](values, linear, params)
            if found is not None:
                return found
        avals = infer(primitive, tuple(map(typeof, values)), params)
        where = line()
        outputs = tuple(LinearTracer(aval, self, where) for aval in avals)
        names = _local.name_stack[self.outside :]
        eqn = LinearEqn(primitive, tuple(values), outputs, params, where, names)
        self.tape.append(eqn)
        return outputs


class LinearizeTrace(JVPTrace):
    """Forward mode over a tangent trace, with the rules that split operations."""

    __slots__ = ("around",)

    def __init__(self, tangents: TangentTrace, name: str, transform: str) -> None:
        super().__init__(name, transform)
        self.around = tangents.parent
        self.parent = tangents
        self.level = tangents.level

    def rule(
        self, primitive: str, primals: Values, tangents: Tangents, params: Params
    ) -> JvpResult:
        """The results and their tangents, by `LINEARIZE` or as in forward mode."""
        rule = LINEARIZE.get(primitive)
        if rule is None:
            return super().rule(primitive, primals, tangents, params)
        nonzero = [type(t) is not Zero for t in tangents]
        with in_force(self.around):
            outs, moves, residuals, linear = rule(primals, nonzero, params)
        found = linear(residuals, [t for t in tangents if type(t) is not Zero])
        moving = iter(found)
        return outs, [
            next(moving) if moved else Zero(typeof(out))
            for out, moved in zip(outs, moves, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Linearized:
    """The linear function near a point: the tape, its inputs, the tangents it gives.

    A tangent that a user's rule gives may be a value that no input's depends on.
    """

    tape: list[LinearEqn]
    inputs: list[LinearTracer | None]
    outputs: list[Tangent]

    def push(self, tangents: Tangents) -> list[Tangent]:
        """The tangents of the results by those of the inputs, in the trace in force."""
        known: dict[int, Value] = {}
        for tracer, tangent in zip(self.inputs, tangents, strict=True):
            if tracer is not None:
                known[id(tracer)] = tangent
        for eqn in self.tape:
            operands = [known.get(id(v), v) for v in eqn.inputs]
            with at(eqn):
                found = bind_all(eqn.primitive, operands, eqn.params)
            known.update(zip(map(id, eqn.outputs), found, strict=True))
        return [known.get(id(o), o) for o in self.outputs]

    def live(self) -> Linearized:
        """The same without the operations that no result depends on and that do
        nothing besides."""
        needed = {id(o) for o in self.outputs if type(o) is not Zero}
        found = []
        for eqn in reversed(self.tape):
            mask = tuple(id(o) in needed for o in eqn.outputs)
            if any(mask) or effects_of(eqn.primitive, eqn.params):
                lean = live_eqn(eqn, mask)
                found.append(lean)
                needed.update(id(v) for v in lean.inputs if type(v) is LinearTracer)
        return Linearized(found[::-1], self.inputs, self.outputs)


class at:
    """Inside the `with`, operations stand where an equation does in the program."""

    __slots__ = ("_eqn", "_names", "_outer")

    def __init__(self, eqn: LinearEqn) -> None:
        self._eqn = eqn

    def __enter__(self) -> None:
        self._outer, self._names = _local.source, _local.name_stack
        _local.source = self._outer or self._eqn.source
        _local.name_stack = self._names + self._eqn.name_stack

    def __exit__(self, *exception: object) -> None:
        _local.source, _local.name_stack = self._outer, self._names


def linearize_flat(
    call: Callable[[list[Value], JVPTrace], Values],
    primals: Values,
    nonzero: Mask,
    name: str,
    transform: str,
) -> tuple[list[Value], Linearized]:
    """Call a function of values on `primals`; its results, and the linearized function.

    The function is also given the trace that it runs in. Inputs that are not `nonzero`
    are held fixed.
    """
    tangents = TangentTrace(name, transform)
    inputs = [
        tangents.input(typeof(primal)) if moved else None
        for primal, moved in zip(primals, nonzero, strict=True)
    ]
    with living(tangents):
        trace = LinearizeTrace(tangents, name, transform)
        with living(trace):
            values = [trace.pair(p, t) for p, t in zip(primals, inputs)]
            outs = call(values, trace)
            results, found = trace.split(outs)
    outputs = [Zero(typeof(r)) if t is None else t for r, t in zip(results, found)]
    return results, Linearized(tangents.taken(), inputs, outputs)


def differentiable(values: Values) -> list[bool]:
    """The values that have tangents other than zero, as a mask."""
    return [is_inexact(typeof(v)) for v in values]
