"""Function transforms: derivatives and batches of whatever can be traced.

Takes a function, gives a function. A transform is a trace of its own: its tracers carry
tangents or batch axes, and each operation is bound again under the outer trace. Start
reading at `autodiff.gradients.grad`.

- `autodiff`: automatic differentiation: forward, linearized, transposed
- `batching`: batching: `vmap`, `pmap`, `shard_map`, and rules of classes of primitives
- `control`: derivatives and batches of control flow, and `checkpoint`
- `custom`: functions with derivative rules of their own
- `rules`: registries of rules, templates from the rows, rewrites of programs
- `jacobians`: Jacobians and Hessians
"""

# The rules of these enter the registries when they are imported.
from traceir.transforms.autodiff import coded_rules as coded_rules
from traceir.transforms.autodiff.gradients import grad, value_and_grad
from traceir.transforms.autodiff.jvp_vjp import jvp, linearize, vjp
from traceir.transforms.autodiff.linear_transpose import linear_transpose
from traceir.transforms.batching import convolution as convolution
from traceir.transforms.control import call_rules as call_rules
from traceir.transforms.control import cond as cond
from traceir.transforms.control import partial_eval as partial_eval
from traceir.transforms.control import scan as scan
from traceir.transforms.control import scan_reverse as scan_reverse
from traceir.transforms.control import while_ as while_
from traceir.transforms.control.checkpoint import checkpoint, remat
from traceir.transforms.custom import callbacks as callbacks
from traceir.transforms.custom import custom_batching as custom_batching
from traceir.transforms.custom.closure_convert import closure_convert
from traceir.transforms.custom.custom_jvp import custom_jvp
from traceir.transforms.custom.custom_vjp import custom_vjp
from traceir.transforms.jacobians import hessian, jacfwd, jacobian, jacrev

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
