"""Scalar expressions: one primitive, one entry. Serves: the values of `prim.*` rows"""

from __future__ import annotations

import numpy as np

from traceir_numba.device_functions import short
from traceir_numba.emitters.kinds import (
    Elementwise,
    ExpressionContext,
    emitter,
    register,
)


@emitter("add")
def add(e: ExpressionContext, x: str, y: str) -> str:
    """Integers wrap."""
    return e.wrap(f"{x} + {y}")


@emitter("add_any")
def add_any(e: ExpressionContext, x: str, y: str) -> str:
    """As `add`: contributions to one cotangent."""
    return add(e, x, y)


@emitter("sub")
def sub(e: ExpressionContext, x: str, y: str) -> str:
    """Integers wrap."""
    return e.wrap(f"{x} - {y}")


@emitter("mul")
def mul(e: ExpressionContext, x: str, y: str) -> str:
    """Integers wrap; floating products are rounded before a sum takes them."""
    if e.contracts and e.kind == "f":
        return e.call(f"times_{short(e.dtype)}", x, y)
    return e.wrap(f"{x} * {y}")


@emitter("div", slow=("int64", "uint64"))
def div(e: ExpressionContext, x: str, y: str) -> str:
    """Integers divide towards zero, and nothing is undefined."""
    return f"{x} / {y}" if e.kind == "f" else e.call(f"div_{short(e.dtype)}", x, y)


@emitter("rem", slow=("float32", "float64", "int64", "uint64"))
def rem(e: ExpressionContext, x: str, y: str) -> str:
    """The dividend's sign; floating remainders are exact."""
    name = "fmod" if e.kind == "f" else "rem"
    return e.call(f"{name}_{short(e.dtype)}", x, y)


@emitter("neg")
def neg(e: ExpressionContext, x: str) -> str:
    """The least integer is its own negative."""
    return f"-{x}" if e.kind == "f" else e.cast(f"-i64({x})")


@emitter("sign")
def sign(e: ExpressionContext, x: str) -> str:
    """Zeros keep their sign and NaN stays."""
    zero, one = e.number(0), e.number(1)
    if e.kind == "u":
        return f"{one} if {x} > {zero} else {x}"
    return f"{one} if {x} > {zero} else ({e.number(-1)} if {x} < {zero} else {x})"


@emitter("abs")
def absolute(e: ExpressionContext, x: str) -> str:
    """The least integer is its own magnitude."""
    if e.kind == "f":
        return f"abs({x})"
    return (
        x
        if e.kind == "u"
        else e.cast(f"-i64({x}) if {x} < {e.number(0)} else i64({x})")
    )


@emitter("max")
def maximum(e: ExpressionContext, x: str, y: str) -> str:
    """NaN wins."""
    return extremum(e, x, y, ">", "|")


@emitter("min")
def minimum(e: ExpressionContext, x: str, y: str) -> str:
    """NaN wins."""
    return extremum(e, x, y, "<", "&")


def extremum(e: ExpressionContext, x: str, y: str, sign: str, logic: str) -> str:
    """The larger or smaller of two."""
    if e.kind == "b":
        return f"{x} {logic} {y}"
    if e.kind == "f":
        return f"({x} if {x} {sign} {y} else {y}) if {x} == {x} else {x}"
    return f"{x} if {x} {sign} {y} else {y}"


@emitter("pow", exact=False)
def power(e: ExpressionContext, x: str, y: str) -> str:
    """The exponent may be an integer."""
    exponent = y if e.operands[1] == e.dtype else e.cast(y)
    return e.call(f"pow_{short(e.dtype)}", x, exponent)


@emitter("atan2", exact=False)
def angle(e: ExpressionContext, y: str, x: str) -> str:
    """The ordinate comes first."""
    return e.call(f"atan2_{short(e.dtype)}", y, x)


@emitter("floor")
def floor(e: ExpressionContext, x: str) -> str:
    """A whole number of the same dtype."""
    return e.call(f"floor_{short(e.dtype)}", x)


@emitter("round")
def nearest(e: ExpressionContext, x: str) -> str:
    """`rounding_method` 0: halves away from zero; 1: to even."""
    way = ("away", "even")[int(str(e.params["rounding_method"]))]
    return e.call(f"round_{way}_{short(e.dtype)}", x)


@emitter("sqrt")
def sqrt(e: ExpressionContext, x: str) -> str:
    """An instruction on all machines."""
    return f"math.sqrt({x})"


def vectorised(name: str) -> None:
    """A real function of `traceir_numba.vecmath`."""

    def emit(e: ExpressionContext, *operands: str) -> str:
        return e.call(f"{name}_{short(e.dtype)}", *operands)

    register(name, Elementwise(emit, exact=False))


vectorised("exp")
vectorised("log")
vectorised("sin")
vectorised("cos")
vectorised("log1p")
vectorised("tanh")
vectorised("exp2")
vectorised("expm1")
vectorised("logistic")
vectorised("sinh")
vectorised("cosh")
vectorised("asinh")
vectorised("acosh")
vectorised("atanh")
vectorised("cbrt")
vectorised("tan")
vectorised("asin")
vectorised("acos")
vectorised("atan")
vectorised("erf")
vectorised("erfc")
vectorised("erf_inv")
vectorised("lgamma")
vectorised("digamma")
vectorised("bessel_i0e")
vectorised("bessel_i1e")
vectorised("zeta")
vectorised("polygamma")
vectorised("igamma")
vectorised("igammac")
vectorised("igamma_grad_a")
vectorised("random_gamma_grad")
vectorised("regularized_incomplete_beta")


def comparison(name: str, sign: str) -> None:
    """A comparison: all but `ne` are false of NaN."""

    def emit(e: ExpressionContext, x: str, y: str) -> str:
        return f"{x} {sign} {y}"

    register(name, Elementwise(emit))


for _name, _sign in {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}.items():
    comparison(_name, _sign)


@emitter("and")
def conjunction(e: ExpressionContext, x: str, y: str) -> str:
    """Of truths or of bits."""
    return f"{x} & {y}" if e.kind == "b" else e.wrap(f"{x} & {y}")


@emitter("or")
def disjunction(e: ExpressionContext, x: str, y: str) -> str:
    """Of truths or of bits."""
    return f"{x} | {y}" if e.kind == "b" else e.wrap(f"{x} | {y}")


@emitter("not")
def inversion(e: ExpressionContext, x: str) -> str:
    """Of a truth or of all bits."""
    return f"not {x}" if e.kind == "b" else e.wrap(f"~{x}")


@emitter("select_n")
def select_n(e: ExpressionContext, which: str, *cases: str) -> str:
    """The case of that number; a number out of range means the nearest case."""
    if e.kind == "b" and len(cases) == 2:
        return f"{cases[1]} if {which} else {cases[0]}"
    chosen = cases[-1]
    for k in range(len(cases) - 2, -1, -1):
        chosen = f"{cases[k]} if {which} <= {short(e.operand)}({k}) else ({chosen})"
    return chosen


@emitter("convert_element_type")
def convert(e: ExpressionContext, x: str) -> str:
    """Floating to integer saturates and takes NaN to 0; integers wrap."""
    half = e.params.get("half")
    if half:
        return halved(e, str(half), x)
    kind = np.dtype(e.dtype).kind
    if e.dtype == e.operand:
        return x
    if kind == "b":
        return f"{x} != {short(e.operand)}(0)"
    if e.kind == "f" and kind in "iu":
        return e.call(f"{short(e.dtype)}_of_{short(e.operand)}", x)
    return e.cast(x)


def halved(e: ExpressionContext, half: str, x: str) -> str:
    """Bits of a half (`traceir_numba.lowering.float16`) as a number, or the reverse."""
    if e.dtype == "float32":
        return e.call(f"{half}_value", x)
    return e.call(f"{half}_bits_{short(e.operand)}", x)
