"""Derivative rules of exported functions, as programs. Serves: export.derivatives

A program that is read from a file has no functions. Its rules, where the file has them,
are programs that stand in the place of the functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn
from traceir.tracing.staging import apply
from traceir.tracing.trace import Value, bind, typeof
from traceir.transforms.autodiff.jvp_trace import is_inexact
from traceir.transforms.custom.custom_calls import host_rule, program_of
from traceir.transforms.custom.symbolic_zeros import told
from traceir.transforms.rules.derivative_templates import zeros
from traceir.transforms.rules.registry import (
    Cotangent,
    Cotangents,
    Mask,
    Tangent,
    Tangents,
    Values,
    Zero,
)

# The params of calls of functions with rules that are rules.
FUNCTIONS = {"custom_jvp_call": ("jvp",), "custom_vjp_call": ("fwd", "bwd")}


def as_typed(value: Value, want: ShapedArray) -> Value:
    """A value of that shape and dtype, as strong or weak as the type is."""
    if typeof(value).weak_type == want.weak_type:
        return value
    return bind(
        "convert_element_type",
        value,
        new_dtype=want.dtype,
        weak_type=want.weak_type,
        sharding=None,
    )


def _applied(closed: ClosedJaxpr, values: Values) -> list[Value]:
    pairs = zip(values, closed.in_avals, strict=True)
    return apply(closed, [as_typed(value, want) for value, want in pairs])


@dataclass(frozen=True, slots=True)
class JvpProgram:
    """A JVP rule: from primals, and tangents of the real ones, to the same of results.

    The tangents of the results in `zero` are left out.
    """

    closed: ClosedJaxpr
    zero: tuple[int, ...]

    def __call__(
        self, primals: Values, tangents: Tangents
    ) -> tuple[list[Value], list[Tangent]]:
        """The results, and their tangents."""
        pairs = zip(primals, tangents, strict=True)
        moving = [told(t, typeof(p), False) for p, t in pairs if is_inexact(typeof(p))]
        found = _applied(self.closed, [*primals, *moving])
        count = (len(found) + len(self.zero)) // 2
        outs, rest = found[:count], iter(found[count:])
        return outs, [
            Zero(typeof(out)) if k in self.zero else next(rest)
            for k, out in enumerate(outs)
        ]


@dataclass(frozen=True, slots=True)
class ForwardProgram:
    """A forward rule: from primals to results, of which there are `count`, and
    residuals."""

    closed: ClosedJaxpr
    count: int

    def __call__(
        self, primals: Values, moving: Mask | None = None
    ) -> tuple[list[Value], list[Value], None]:
        """Results, residuals, and nothing that the backward rule must know."""
        found = _applied(self.closed, primals)
        return found[: self.count], found[self.count :], None


@dataclass(frozen=True, slots=True)
class BackwardProgram:
    """A backward rule: from residuals, and cotangents of real results, to cotangents.

    Those of the arguments in `zero` are left out.
    """

    closed: ClosedJaxpr
    zero: tuple[int, ...]

    def __call__(
        self,
        trees: None,
        residuals: Values,
        cotangents: Cotangents,
        avals: Sequence[ShapedArray],
    ) -> list[Cotangent]:
        """The cotangent of each argument."""
        given = [
            zeros(ct.aval) if isinstance(ct, Zero) else ct
            for ct in cotangents
            if not isinstance(ct, Zero) or is_inexact(ct.aval)
        ]
        rest = iter(_applied(self.closed, [*residuals, *given]))
        return [
            Zero(aval) if k in self.zero else next(rest) for k, aval in enumerate(avals)
        ]


Rule = JvpProgram | tuple[ForwardProgram, BackwardProgram]


def named_alone(eqn: Eqn) -> bool:
    """True if only the name of a call's rule is known."""
    return any(eqn.param(name).function is None for name in FUNCTIONS[eqn.primitive])


def rule_of(eqn: Eqn) -> Rule:
    """The rule of a call as programs, traced on the types of its operands.

    Raises TypeError (custom.named) where only its name is known, TypeError
    (export.whole) for one that holds a value of a trace, and what the rule raises.
    """
    given: dict[str, Any] = dict(eqn.params)
    count: int = given["num_consts"]
    avals = [atom.aval for atom in eqn.inputs[count:]]
    functions = [given[name] for name in FUNCTIONS[eqn.primitive]]
    found = [host_rule(function, eqn.primitive) for function in functions]
    names = [function.name for function in functions]
    if len(found) == 1:
        return _jvp(found[0], avals, names[0])
    return _vjp(found, avals, names)


def _jvp(rule: Any, avals: Sequence[ShapedArray], name: str) -> JvpProgram:
    if isinstance(rule, JvpProgram):
        return rule
    zero: list[int] = []

    def call(values: Values) -> list[Value]:
        rest = iter(values[len(avals) :])
        moving = [next(rest) if is_inexact(a) else Zero(a) for a in avals]
        outs, tangents = rule(values[: len(avals)], moving)
        return [*outs, *_moving(tangents, zero)]

    closed = _staged(call, [*avals, *filter(is_inexact, avals)], name)
    return JvpProgram(closed, tuple(zero))


def _vjp(
    functions: Sequence[Any], avals: Sequence[ShapedArray], names: Sequence[str]
) -> tuple[ForwardProgram, BackwardProgram]:
    fwd, bwd = functions
    if isinstance(fwd, ForwardProgram):
        return fwd, bwd
    known: list[Any] = []
    zero: list[int] = []

    def forward(values: Values) -> list[Value]:
        outs, residuals, trees = fwd(values)
        known.extend((len(outs), trees))
        return [*outs, *residuals]

    there = _staged(forward, avals, names[0])
    count, trees = known
    outs, saved = there.out_avals[:count], there.out_avals[count:]

    def backward(values: Values) -> list[Value]:
        rest = iter(values[len(saved) :])
        given = [next(rest) if is_inexact(a) else Zero(a) for a in outs]
        return _moving(bwd(trees, values[: len(saved)], given, avals), zero)

    back = _staged(backward, [*saved, *filter(is_inexact, outs)], names[1])
    return ForwardProgram(there, count), BackwardProgram(back, tuple(zero))


def _moving(found: Sequence[Any], zero: list[int]) -> list[Value]:
    """Those that are not zero everywhere; the numbers of the others go to `zero`."""
    zero.extend(k for k, value in enumerate(found) if isinstance(value, Zero))
    return [value for value in found if not isinstance(value, Zero)]


def _staged(
    call: Callable[[Any], Values], avals: Sequence[ShapedArray], name: str
) -> ClosedJaxpr:
    paths = [f"{name}[{k}]" for k in range(len(avals))]
    closed, captured = program_of(call, avals, paths, name, "make_jaxpr")
    if captured:
        got = f"the rule {name}, which holds a value of a trace"
        raise rules.error("export.whole", got=got)
    return closed


def fits(rule: Rule, eqn: Eqn) -> bool:
    """True if programs have the types of a rule of this call."""
    if isinstance(rule, JvpProgram) != (eqn.primitive == "custom_jvp_call"):
        return False
    given = [atom.aval for atom in eqn.inputs[eqn.param("num_consts") :]]
    outs = [var.aval for var in eqn.outputs]
    if isinstance(rule, JvpProgram):
        moving = [a for k, a in enumerate(outs) if k not in rule.zero]
        wanted = ([*given, *filter(is_inexact, given)], [*outs, *moving])
        return _types(rule.closed) == tuple(map(_short, wanted))
    there, back = rule
    saved = there.closed.out_avals[there.count :]
    moving = [a for k, a in enumerate(given) if k not in back.zero]
    wanted = ([*saved, *filter(is_inexact, outs)], moving)
    return _types(there.closed) == (_short(given), _short([*outs, *saved])) and (
        _types(back.closed) == tuple(map(_short, wanted))
    )


def _types(closed: ClosedJaxpr) -> tuple[list[str], list[str]]:
    return _short(closed.in_avals), _short(closed.out_avals)


def _short(avals: Sequence[ShapedArray]) -> list[str]:
    return [aval.str_short() for aval in avals]
