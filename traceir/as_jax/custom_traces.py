"""Traces of users, which handle operations by a method of their own."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Sequence
from typing import Any

from traceir.as_jax.wrapped_functions import WrappedFun, wrap_init
from traceir.ir.jaxpr import ClosedJaxpr, Params
from traceir.ir.params import NamedPrimitive, chosen
from traceir.tracing.named_primitives import LACKED, primitive_of
from traceir.tracing.staging import apply
from traceir.tracing.trace import Trace, Value
from traceir.transforms.custom.custom_jvp import functions_of_call

# The calls of functions with rules, and the methods that handle them.
CALLS = {
    "custom_jvp_call": "process_custom_jvp_call",
    "custom_vjp_call": "process_custom_vjp_call",
}


class CustomTrace(Trace, metaclass=ABCMeta):
    """A trace whose `process_primitive` handles all operations while it is in force.

    A subclass defines it: of a primitive, operands and a dict of params it gives the
    result, or a list of results for a primitive with several. The trace around it is
    that in which it was made. Of its values as much is known as under `jit`, the types.
    Any trace is an instance of this class, which annotations name as that of traces.
    """

    @classmethod
    def __subclasshook__(cls, other: type) -> Any:
        return issubclass(other, Trace) if cls is CustomTrace else NotImplemented

    def __init__(self) -> None:
        super().__init__(type(self).__name__, "jit")

    def process_primitive(
        self, primitive: NamedPrimitive, tracers: Sequence[Value], params: Any, /
    ) -> Any:
        """Handle an operation; raises NotImplementedError where no class defines it."""
        raise NotImplementedError(f"{type(self).__name__}.process_primitive")

    def process_custom_jvp_call(
        self,
        primitive: NamedPrimitive,
        fun: WrappedFun,
        jvp: WrappedFun,
        tracers: Sequence[Value],
        /,
        *,
        symbolic_zeros: bool,
    ) -> Sequence[Value]:
        """Handle the call of a function with a `custom_jvp` rule; raises
        NotImplementedError where no class defines it: the rule would be lost."""
        raise self.lacks("process_custom_jvp_call")

    def process_custom_vjp_call(
        self,
        primitive: NamedPrimitive,
        fun: WrappedFun,
        fwd: WrappedFun,
        bwd: WrappedFun,
        tracers: Sequence[Value],
        /,
        *,
        out_trees: Any,
        symbolic_zeros: bool,
    ) -> Sequence[Value]:
        """As `process_custom_jvp_call`, of a function with a `custom_vjp` rule."""
        raise self.lacks("process_custom_vjp_call")

    def lacks(self, method: str) -> NotImplementedError:
        """The error of a method that no class defines."""
        return NotImplementedError(
            f"{type(self).__name__} handles a call of a function with derivative rules"
            f" by `{method}`, which it does not define"
        )

    def full_raise(self, value: Value) -> Value:
        """The value as it is: any value may be an operand here."""
        return value

    def bind(
        self, primitive: str, values: Sequence[Value], params: Params
    ) -> Sequence[Value]:
        """Have the method handle the operation; returns its results."""
        named = primitive_of(primitive)
        lacked = LACKED.get(primitive, ())
        given = dict(named.params_type(params))
        given = {n: chosen(n, v) for n, v in given.items() if n not in lacked}
        if primitive in CALLS:
            return self.call(named, values, given)
        if primitive == "jit":
            given["inline"] = False
        found = self.process_primitive(named, values, given)
        return list(found) if named.multiple_results else [found]

    def takes_functions(self, values: Sequence[Value]) -> bool:
        """True: it is given the rules."""
        return True

    def call(
        self, named: NamedPrimitive, values: Sequence[Value], given: dict[str, Any]
    ) -> Sequence[Value]:
        """Have a method handle the call of a function with rules."""
        body = given["call_jaxpr"]
        program = isinstance(body, ClosedJaxpr)
        fun = wrap_init(lambda *xs: apply(body, xs) if program else body(xs))
        zeros = given["symbolic_zeros"]
        if named == "custom_jvp_call":
            jvp = wrap_init(functions_of_call(given))
            return self.process_custom_jvp_call(
                named, fun, jvp, values, symbolic_zeros=zeros
            )
        fwd, bwd = wrap_init(given["fwd"]), wrap_init(given["bwd"])
        return self.process_custom_vjp_call(
            named, fun, fwd, bwd, values, out_trees=None, symbolic_zeros=zeros
        )
