"""Derivative rules of a user's own, and the zeros they are told."""

from traceir.tracing.named_primitives import builtin
from traceir.transforms.custom.closure_convert import closure_convert
from traceir.transforms.custom.custom_gradient import custom_gradient
from traceir.transforms.custom.custom_jvp import custom_jvp
from traceir.transforms.custom.custom_vjp import custom_vjp
from traceir.transforms.custom.custom_vmap import linear_call
from traceir.transforms.custom.symbolic_zeros import (
    CustomVJPPrimal,
    SymbolicZero,
    custom_vjp_primal_tree_values,
    zero_from_primal,
)

custom_jvp_call_p = builtin("custom_jvp_call")
custom_vjp_call_p = builtin("custom_vjp_call")

__all__ = [
    "CustomVJPPrimal",
    "SymbolicZero",
    "closure_convert",
    "custom_gradient",
    "custom_jvp",
    "custom_jvp_call_p",
    "custom_vjp",
    "custom_vjp_call_p",
    "custom_vjp_primal_tree_values",
    "linear_call",
    "zero_from_primal",
]
