"""Functions of functions: derivatives and batches of whatever can be traced."""

from traceir.transforms import jit as jit  # its rules enter the registries
from traceir.transforms.derivatives import (
    grad,
    jvp,
    linearize,
    value_and_grad,
    vjp,
)

__all__ = ["grad", "jvp", "linearize", "value_and_grad", "vjp"]
