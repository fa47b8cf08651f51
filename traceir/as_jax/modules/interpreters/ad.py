"""Derivatives and transposes of users' primitives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traceir.transforms.autodiff.jvp_trace import JVPTracer as JVPTracer
from traceir.transforms.custom.custom_primitive import JVPS as primitive_jvps
from traceir.transforms.custom.custom_primitive import (
    TRANSPOSES as primitive_transposes,
)
from traceir.transforms.custom.custom_primitive import Primitive, instantiate_zeros
from traceir.transforms.rules.registry import LinearOperand as UndefinedPrimal
from traceir.transforms.rules.registry import Zero

__all__ = [
    "JVPTracer",
    "UndefinedPrimal",
    "Zero",
    "deflinear2",
    "instantiate_zeros",
    "is_undefined_primal",
    "primitive_jvps",
    "primitive_transposes",
]


def is_undefined_primal(value: Any) -> bool:
    """True for an operand whose cotangent is asked for.

    >>> from traceir.ir.avals import ShapedArray
    >>> is_undefined_primal(UndefinedPrimal(ShapedArray((), "float32")))
    True
    """
    return isinstance(value, UndefinedPrimal)


def deflinear2(primitive: Primitive, transpose: Callable[..., Any]) -> None:
    """Register a primitive that is linear in all operands, by its transpose.

    >>> same_p = Primitive("same")
    >>> deflinear2(same_p, lambda ct, x: [ct])
    >>> same_p in primitive_jvps, same_p in primitive_transposes
    (True, True)
    """

    def jvp(primals: Any, tangents: Any, **params: Any) -> tuple[Any, Any]:
        out = primitive.bind(*primals, **params)
        return out, primitive.bind(*map(instantiate_zeros, tangents), **params)

    primitive_jvps[primitive] = jvp
    primitive_transposes[primitive] = transpose
