"""Scalar expressions: one primitive, one entry. Serves: the values of `prim.*` rows"""

from __future__ import annotations

import numpy as np

from traceir_numba.device_functions import short
from traceir_numba.emitters.decompositions import square_root
from traceir_numba.emitters.kinds import (
    Elementwise,
    ExpressionContext,
    called,
    emitter,
    register,
)
from traceir_numba.emitters.narrow_bits import wide_of

# Between operands; integers wrap. Of comparisons, all but `ne` are false of NaN.
SUMS = {"add": "+", "add_any": "+", "sub": "-"}
LOGIC = {"and": "&", "or": "|"}
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def infix(name: str, sign: str) -> None:
    """A primitive that is an operator between its operands."""

    def emit(e: ExpressionContext, x: str, y: str) -> str:
        text = f"{x} {sign} {y}"
        return text if e.dtype == "bool" and name not in SUMS else e.wrap(text)

    register(name, Elementwise(emit))


for _name, _sign in {**SUMS, **LOGIC, **COMPARISONS}.items():
    infix(_name, _sign)


@emitter("mul")
def mul(e: ExpressionContext, x: str, y: str) -> str:
    """Integers wrap; floating products are rounded before a sum takes them."""
    if e.contracts and e.kind == "f":
        return e.call(f"times_{short(e.dtype)}", x, y)
    return e.wrap(f"{x} * {y}")


@emitter("div", slow=("int64", "uint64"))
def div(e: ExpressionContext, x: str, y: str) -> str:
    """Integers divide towards zero, and nothing is undefined."""
    if e.kind == "f":
        return f"{x} / {y}"
    if e.params.get("positive") and e.dtype == "int64":
        return e.cast(f"u64({x}) // u64({y})")
    name = "floor_div" if e.params.get("rounds") == "down" else "div"
    return e.call(f"{name}_{short(e.dtype)}", x, y)


@emitter("rem", slow=("float32", "float64", "int64", "uint64"))
def rem(e: ExpressionContext, x: str, y: str) -> str:
    """The dividend's sign; floating remainders are exact."""
    wraps = e.params.get("wraps")  # a place that is one round away at most
    if wraps:
        away, back = (f">= {y}", "-") if wraps == "end" else ("< 0", "+")
        return f"{e.cast(f'{x} {back} {y}')} if {x} {away} else {x}"
    if e.params.get("positive") and e.dtype == "int64":
        return e.cast(f"u64({x}) % u64({y})")
    if e.params.get("rounds") == "down":
        return f"{x} % {y}"
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


def power(e: ExpressionContext, x: str, y: str) -> str:
    """The exponent may be an integer."""
    exponent = y if e.operands[1] == e.dtype else e.cast(y)
    return e.call(f"pow_{short(e.dtype)}", x, exponent)


register("pow", Elementwise(power, exact=False, decompose=square_root))


called("floor")


@emitter("round")
def nearest(e: ExpressionContext, x: str) -> str:
    """`rounding_method` 0: halves away from zero; 1: to even."""
    way = ("away", "even")[int(str(e.params["rounding_method"]))]
    return e.call(f"round_{way}_{short(e.dtype)}", x)


@emitter("sqrt")
def sqrt(e: ExpressionContext, x: str) -> str:
    """An instruction on all machines."""
    return f"math.sqrt({x})"


# Real functions of `traceir_numba.vecmath`.
called("exp", "exp2", "expm1", "log", "log1p", "logistic", "cbrt", exact=False)
called("sin", "cos", "tan", "asin", "acos", "atan", "atan2", exact=False)
called("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", exact=False)
called("erf", "erfc", "erf_inv", "lgamma", "digamma", "zeta", "polygamma", exact=False)
called("igamma", "igammac", "igamma_grad_a", "random_gamma_grad", exact=False)
called("bessel_i0e", "bessel_i1e", "regularized_incomplete_beta", exact=False)


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
    """Bits of a dtype (`traceir_numba.lowering.narrow`) as a number, or the reverse."""
    if e.dtype == wide_of(half):
        return e.call(f"{half}_value", x)
    return e.call(f"{half}_bits_{short(e.operand)}", x)
