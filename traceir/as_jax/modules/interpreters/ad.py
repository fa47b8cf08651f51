"""Derivatives and transposes of users' primitives."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from traceir import numpy as jnp
from traceir.tracing.trace import typeof
from traceir.transforms.autodiff.jvp_trace import JVPTracer as JVPTracer
from traceir.transforms.custom.custom_primitive import JVPS as primitive_jvps
from traceir.transforms.custom.custom_primitive import (
    TRANSPOSES as primitive_transposes,
)
from traceir.transforms.custom.custom_primitive import Primitive, instantiate_zeros
from traceir.transforms.rules.derivative_templates import zeros
from traceir.transforms.rules.registry import LinearOperand as UndefinedPrimal
from traceir.transforms.rules.registry import Zero

__all__ = [
    "JVPTracer",
    "UndefinedPrimal",
    "Zero",
    "add_jaxvals",
    "add_tangents",
    "defbilinear",
    "defjvp",
    "defjvp2",
    "deflinear",
    "deflinear2",
    "instantiate_zeros",
    "is_undefined_primal",
    "primitive_jvps",
    "primitive_transposes",
    "zeros_like_aval",
]

zeros_like_aval = zeros
add_jaxvals = jnp.add


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


def deflinear(primitive: Primitive, transpose: Callable[..., Any]) -> None:
    """As `deflinear2`, by a transpose of the cotangent and the params alone.

    >>> same_p = Primitive("same")
    >>> deflinear(same_p, lambda ct: [ct])
    >>> primitive_transposes[same_p](1.0, None)
    [1.0]
    """
    deflinear2(primitive, lambda ct, *operands, **params: transpose(ct, **params))


def defjvp2(primitive: Primitive, *rules: Callable[..., Any] | None) -> None:
    """Register a primitive's derivatives, by one function for each operand, or None.

    It takes that operand's tangent, the result, the operands and the params.

    >>> root_p = Primitive("root")
    >>> _ = root_p.def_impl(jnp.sqrt)
    >>> defjvp2(root_p, lambda t, out, x: t / (2 * out))
    >>> primitive_jvps[root_p]((4.0,), (1.0,))[1]
    Array(0.25, dtype=float32, weak_type=True)
    """

    def jvp(primals: Any, tangents: Any, **params: Any) -> tuple[Any, Any]:
        out = primitive.bind(*primals, **params)
        parts = [
            rule(tangent, out, *primals, **params)
            for rule, tangent in zip(rules, tangents, strict=True)
            if rule is not None and not isinstance(tangent, Zero)
        ]
        return out, reduce(add_tangents, parts, Zero(typeof(out)))

    primitive_jvps[primitive] = jvp


def defjvp(primitive: Primitive, *rules: Callable[..., Any] | None) -> None:
    """As `defjvp2`, by functions that do not take the result.

    >>> thrice_p = Primitive("thrice")
    >>> _ = thrice_p.def_impl(lambda x: 3 * x)
    >>> defjvp(thrice_p, lambda t, x: 3 * t)
    >>> primitive_jvps[thrice_p]((4.0,), (1.0,))
    (12.0, 3.0)
    """

    def with_result(rule: Callable[..., Any]) -> Callable[..., Any]:
        return lambda tangent, out, *xs, **params: rule(tangent, *xs, **params)

    defjvp2(primitive, *(rule and with_result(rule) for rule in rules))


def defbilinear(
    primitive: Primitive, left: Callable[..., Any], right: Callable[..., Any]
) -> None:
    """Register a primitive that is linear in each of two operands, by two transposes.

    Each takes the cotangent, both operands and the params.

    >>> product_p = Primitive("product")
    >>> _ = product_p.def_impl(jnp.multiply)
    >>> defbilinear(product_p, lambda ct, x, y: ct * y, lambda ct, x, y: ct * x)
    >>> primitive_jvps[product_p]((4.0, 2.0), (1.0, 1.0))[1]
    Array(6., dtype=float32, weak_type=True)
    """

    def transpose(ct: Any, x: Any, y: Any, **params: Any) -> tuple[Any, Any]:
        if is_undefined_primal(x):
            return left(ct, x, y, **params), None
        return None, right(ct, x, y, **params)

    bind = primitive.bind
    defjvp(
        primitive,
        lambda tangent, x, y, **params: bind(tangent, y, **params),
        lambda tangent, x, y, **params: bind(x, tangent, **params),
    )
    primitive_transposes[primitive] = transpose


def add_tangents(x: Any, y: Any) -> Any:
    """The sum of two tangents, of which some may be Zero.

    >>> add_tangents(Zero(typeof(1.0)), 2.0)
    2.0
    """
    if isinstance(x, Zero):
        return y
    return x if isinstance(y, Zero) else jnp.add(x, y)
