"""Functions of functions: derivatives and batches of whatever can be traced."""

# The rules of these enter the registries when they are imported.
from traceir.transforms import callbacks as callbacks
from traceir.transforms import cond as cond
from traceir.transforms import convolution as convolution
from traceir.transforms import custom_batch as custom_batch
from traceir.transforms import indexed as indexed
from traceir.transforms import jit as jit
from traceir.transforms import scan as scan
from traceir.transforms import scan_reverse as scan_reverse
from traceir.transforms import splits as splits
from traceir.transforms import while_ as while_
from traceir.transforms import written as written
from traceir.transforms.checkpoint import checkpoint, remat
from traceir.transforms.convert import closure_convert
from traceir.transforms.custom_jvp import custom_jvp
from traceir.transforms.custom_vjp import custom_vjp
from traceir.transforms.derivatives import jvp, linearize, vjp
from traceir.transforms.gradients import grad, value_and_grad
from traceir.transforms.jacobians import hessian, jacfwd, jacobian, jacrev
from traceir.transforms.linear import linear_transpose

__all__ = [
    "checkpoint",
    "closure_convert",
    "custom_jvp",
    "custom_vjp",
    "grad",
    "hessian",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linear_transpose",
    "linearize",
    "remat",
    "value_and_grad",
    "vjp",
]
