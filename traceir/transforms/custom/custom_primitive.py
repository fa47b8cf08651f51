"""Primitives of users: rules by registry, programs when recorded.

Serves: custom_primitive.*
"""

from __future__ import annotations

import functools
from abc import ABCMeta
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar

import numpy as np

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import entry_points
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, HostFunction, Params, sort_params
from traceir.ir.params import EqnParams, NamedPrimitive
from traceir.tracing.callbacks import pure_callback
from traceir.tracing.named_primitives import BuiltInPrimitive
from traceir.tracing.trace import (
    OPENING,
    Tracer,
    Value,
    bind_all,
    current_trace,
    handle,
    typeof,
)
from traceir.transforms.autodiff.jvp_trace import is_inexact
from traceir.transforms.custom.custom_calls import check_captures, program_of
from traceir.transforms.rules.derivative_templates import zeros
from traceir.transforms.rules.registry import (
    JVP,
    TRANSPOSE,
    BatchAxis,
    Batched,
    Cotangents,
    Dims,
    JvpResult,
    LinearOperand,
    Tangents,
    Values,
    Zero,
)

CALL = "custom_primitive_call"
Rule = Callable[..., Any]
R = TypeVar("R", bound=Rule)


@entry_points("bind")
class Primitive(NamedPrimitive, metaclass=ABCMeta):
    """An operation that a user defines: by what it computes, and by its rules.

    `def_impl` gives what it computes outside of traces, `def_abstract_eval` the types
    of its results, `set_lowering` a function of operations that computes the same in
    programs; a primitive without one calls its `impl` on the host. Its derivative, its
    transpose and its batching are registered in `traceir.as_jax.modules.interpreters`.
    An equation holds it, and beside the params that it was given a call of that
    function's program: whatever runs a program runs that, by the row that all
    primitives of users have.

    >>> import traceir
    >>> from traceir.as_jax.modules.interpreters import mlir
    >>> twice_p = Primitive("twice")
    >>> _ = twice_p.def_impl(lambda x: 2 * x)
    >>> _ = twice_p.def_abstract_eval(lambda x: x)
    >>> mlir.register_lowering(twice_p, mlir.lower_fun(lambda x: 2 * x, False))
    >>> twice_p.bind(3.0), traceir.jit(twice_p.bind)(3.0)
    (6.0, Array(6., dtype=float32, weak_type=True))
    >>> traceir.make_jaxpr(twice_p.bind)(3.0)
    { lambda ; a:f32[]. let b:f32[] = twice a in (b,) }
    """

    multiple_results = False
    # A class may define these two as methods; the latter gives effects, too.
    impl: Rule | None = None
    abstract_eval: Rule | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        return super().__new__(cls, CALL)

    def __init__(self, name: str) -> None:
        self._name = name
        self.lowering: Rule | None = None

    def __repr__(self) -> str:
        return self._name

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(self._name, spec)

    def __eq__(self, other: object) -> bool:
        # Looked up by the name of a row it is found where that name is.
        named = type(other) is str and str.__eq__(self, other)
        return self is other or named

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = NamedPrimitive.__hash__

    def def_impl(self, impl: R) -> R:
        """Set what it computes of arrays, and return it: this is a decorator."""
        self.impl = impl
        return impl

    def def_abstract_eval(self, abstract_eval: R) -> R:
        """Set the function of types that gives the types of results, and return it."""
        self.abstract_eval = abstract_eval
        return abstract_eval

    def def_effectful_abstract_eval(self, abstract_eval: R) -> R:
        """Set the function that gives the types of results and effects, and return it.

        Effects are none of a program's here: what computes on the host runs in the
        program's order.
        """
        self.abstract_eval = lambda *avals, **given: abstract_eval(*avals, **given)[0]
        return abstract_eval

    def types(self, avals: Sequence[ShapedArray], params: dict[str, Any]) -> Any:
        """The types of the results, by `abstract_eval`."""
        if self.abstract_eval is None:
            raise self.lacks("abstract_eval")
        found = self.abstract_eval(*avals, **params)
        if "abstract_eval" in vars(self):
            return found
        made, effects = found
        if effects:
            raise self.lacks("order among effects")
        return made

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply it to arrays: a result, or a list of them (`multiple_results`).

        Raises TypeError (jit.argument) for an operand that is no array, and
        NotImplementedError (custom_primitive.rule) where a rule is asked that it lacks.
        """
        for value in args:
            typeof(value)
        trace = current_trace()
        if trace is None or (trace.sole is False and not any_traced(args)):
            return self.run(args, params)
        call = PrimitiveCall(self, tuple(params.items()))
        found = bind_all(self, args, call_params(call))
        return list(found) if self.multiple_results else found[0]

    @property
    def params_type(self) -> type[EqnParams]:
        """The class of its calls' params."""
        return CallParams

    def eqn_params(
        self, avals: Sequence[ShapedArray], params: Mapping[str, Hashable]
    ) -> EqnParams:
        """The params that its equation stores: a call with these, and its program."""
        call = PrimitiveCall(self, tuple(params.items()))
        program, captured = call.program(avals)
        return CallParams(call_params(call, program, len(captured)))

    def run(self, args: Sequence[Value], params: dict[str, Any]) -> Any:
        """The results outside of traces."""
        if self.impl is None:
            raise self.lacks("impl")
        return self.impl(*args, **params)

    def lacks(self, rule: str) -> Exception:
        """The error of a rule that it does not have (custom_primitive.rule)."""
        return rules.error("custom_primitive.rule", got=f"no {rule} of {self.name}")


# Libraries ask if what an equation holds is a primitive: those of the tables are, too.
Primitive.register(BuiltInPrimitive)


def any_traced(values: Sequence[Value]) -> bool:
    """True if one of the values is a tracer."""
    return any(isinstance(value, Tracer) for value in values)


@dataclass(frozen=True, eq=False)
class PrimitiveCall:
    """A primitive of a user with the values of its params; as a function of arrays it
    is what programs compute."""

    primitive: Primitive
    params: tuple[tuple[str, Hashable], ...]

    def __call__(self, values: Values) -> list[Value]:
        """The results, by the lowering or by a call of the host."""
        given = dict(self.params)
        if self.primitive.lowering is not None:
            return self.results(self.primitive.lowering(*values, **given))
        if self.primitive.impl is None:
            raise self.primitive.lacks("lowering")
        outs = self.out_avals([typeof(v) for v in values])
        run = functools.partial(self.on_host, outs)
        return list(pure_callback(run, outs, *values, vmap_method="sequential"))

    def on_host(self, outs: Sequence[ShapedArray], *arrays: Any) -> list[np.ndarray]:
        """The results of `impl`, as NumPy arrays."""
        found = self.results(self.primitive.run(arrays, dict(self.params)))
        return [np.asarray(v, a.dtype) for v, a in zip(found, outs, strict=True)]

    def program(
        self, avals: Sequence[ShapedArray]
    ) -> tuple[ClosedJaxpr, tuple[Tracer, ...]]:
        """The program of operands of such types, and what it captures of traces.

        Raises TypeError (custom_primitive.types) where `abstract_eval` tells others.
        """
        name = self.primitive.name
        found = program_of(self, avals, [""] * len(avals), name, "jit")
        check_types(self, found[0], avals)
        return found

    def results(self, found: Any) -> list[Any]:
        """Results as a list."""
        return list(found) if self.primitive.multiple_results else [found]

    def out_avals(self, avals: Sequence[ShapedArray]) -> list[ShapedArray]:
        """The types of the results, by `abstract_eval`."""
        found = self.results(self.primitive.types(avals, dict(self.params)))
        return [ShapedArray(a.shape, a.dtype, a.weak_type) for a in found]

    def rule(self, registry: dict[Primitive, Rule], name: str) -> Rule:
        """A rule of the primitive; NotImplementedError (custom_primitive.rule)."""
        found = registry.get(self.primitive)
        if found is None:
            raise self.primitive.lacks(name)
        return functools.partial(found, **dict(self.params))

    def batch(
        self, axis: BatchAxis, values: Values, dims: Dims, params: Params
    ) -> Batched:
        """The rule that is registered, on operands and their batched dimensions."""
        own, places = own_values(values, params), own_values(dims, params)
        if self.primitive in AXIS_BATCHERS:
            rule = self.rule(AXIS_BATCHERS, "batching")
            outs, found = rule(axis.size, axis.name, axis, own, places)
        else:
            outs, found = self.rule(BATCHERS, "batching")(own, places)
        if not self.primitive.multiple_results:
            return [outs], [found]
        return list(outs), list(found)


# The rules of primitives, by what asks for them.
JVPS: dict[Primitive, Rule] = {}
TRANSPOSES: dict[Primitive, Rule] = {}
BATCHERS: dict[Primitive, Rule] = {}
AXIS_BATCHERS: dict[Primitive, Rule] = {}


def call_params(call: PrimitiveCall, program: Any = None, captured: int = 0) -> Params:
    """The params of the equation that holds a call."""
    return sort_params(
        {
            "name": call.primitive.name,
            "primitive": HostFunction(call.primitive.name, call),
            "call_jaxpr": program,
            "num_consts": captured,
            "symbolic_zeros": False,
        }
    )


class CallParams(EqnParams):
    """The params of a call, which are read as those that the primitive was given."""

    __slots__ = ()

    def read(self) -> Params:
        """The primitive's own; where only its name is known, those of the row."""
        found: Any = dict(iter(self))["primitive"]
        return self if found.function is None else found.function.params


def call_of(params: Params) -> PrimitiveCall:
    """The call that an equation holds; TypeError (custom.named) where it was read."""
    found: Any = dict(params)["primitive"]
    if found.function is None:
        raise rules.error("custom.named", got=f"`{found.name}` of `{CALL}`")
    call: PrimitiveCall = found.function
    return call


def open_call(values: Values, params: Params) -> Any:
    """Apply a primitive: run it, pass it on as it is, or make its program."""
    params = tuple(params)  # as the row has them
    given, trace = dict(params), current_trace()
    if isinstance(given["call_jaxpr"], ClosedJaxpr):
        return handle(named_of(params), values, params)
    call = call_of(params)
    if trace is None:
        return call.results(call.primitive.run(values, dict(call.params)))
    if trace.takes_functions(values) or trace.kind == "BatchTrace":
        return handle(call.primitive, values, params)
    program, captured = call.program([typeof(v) for v in values])
    own = call_params(call, program, len(captured))
    return handle(call.primitive, (*captured, *values), own)


def named_of(params: Params) -> str:
    """The primitive of a call; the name of all, where it was read from text."""
    found: Any = dict(params)["primitive"]
    return CALL if found.function is None else found.function.primitive


def check_types(
    call: PrimitiveCall, program: ClosedJaxpr, avals: Sequence[ShapedArray]
) -> None:
    """Raise TypeError (custom_primitive.types) unless `abstract_eval` tells the types
    that the program has."""
    if call.primitive.abstract_eval is None:
        return
    told = [(a.shape, a.dtype) for a in call.out_avals(avals)]
    if told != [(a.shape, a.dtype) for a in program.out_avals]:
        shown = ", ".join(a.str_short() for a in call.out_avals(avals))
        found = ", ".join(a.str_short() for a in program.out_avals)
        got = f"{shown} from {call.primitive.name}, whose program gives {found}"
        raise rules.error("custom_primitive.types", got=got)


def own_values(values: Sequence[Any], params: Params) -> Sequence[Any]:
    """The operands of the primitive, less what its program captures."""
    count: Any = dict(params)["num_consts"]
    return values[count:]


def jvp_of_call(primals: Values, tangents: Tangents, params: Params) -> JvpResult:
    """The rule that is registered, on primals and tangents of which some are Zero."""
    call = call_of(params)
    count: Any = dict(params)["num_consts"]
    check_captures(tangents, count, call.primitive.name)
    rule = call.rule(JVPS, "derivative")
    outs, found = rule(own_values(primals, params), own_values(tangents, params))
    results = call.results(outs)
    moved = [
        t if isinstance(t, Zero) or is_inexact(typeof(p)) else Zero(typeof(p))
        for p, t in zip(results, call.results(found), strict=True)
    ]
    return results, moved


def transpose_of_call(
    cotangents: Cotangents, operands: Sequence[Any], params: Params
) -> Cotangents:
    """The rule that is registered, on cotangents of which some are Zero."""
    params = tuple(params)
    call = call_of(params)
    own = own_values(operands, params)
    rule = call.rule(TRANSPOSES, "transpose")
    given = cotangents if call.primitive.multiple_results else cotangents[0]
    found = list(rule(given, *own))
    front: list[Any] = [None] * (len(operands) - len(own))
    return front + list(of_linear(own, found))


def of_linear(operands: Sequence[Any], found: Sequence[Any]) -> Iterator[Any]:
    """The cotangents of those operands whose cotangent is asked for."""
    for operand, ct in zip(operands, found, strict=True):
        if not isinstance(operand, LinearOperand):
            yield None
        else:
            yield Zero(operand.aval) if ct is None or ct is Zero else ct


def instantiate_zeros(tangent: Any) -> Any:
    """An array of zeros for a tangent that is Zero; any other as it is.

    >>> instantiate_zeros(Zero(ShapedArray((2,), "float32")))
    Array([0., 0.], dtype=float32)
    """
    return zeros(tangent.aval) if isinstance(tangent, Zero) else tangent


OPENING[CALL] = open_call
JVP[CALL] = jvp_of_call
TRANSPOSE[CALL] = transpose_of_call
