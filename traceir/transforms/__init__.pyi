"""The names of `traceir.transforms`: type checkers and the import read them.

A line is one name; its module is imported when the name is first asked for.
"""

from traceir.transforms.autodiff.gradients import grad as grad
from traceir.transforms.autodiff.gradients import value_and_grad as value_and_grad
from traceir.transforms.autodiff.jvp_vjp import jvp as jvp
from traceir.transforms.autodiff.jvp_vjp import linearize as linearize
from traceir.transforms.autodiff.jvp_vjp import vjp as vjp
from traceir.transforms.autodiff.linear_transpose import (
    linear_transpose as linear_transpose,
)
from traceir.transforms.control.checkpoint import checkpoint as checkpoint
from traceir.transforms.control.checkpoint import remat as remat
from traceir.transforms.custom.closure_convert import closure_convert as closure_convert
from traceir.transforms.custom.custom_jvp import custom_jvp as custom_jvp
from traceir.transforms.custom.custom_vjp import custom_vjp as custom_vjp
from traceir.transforms.jacobians import hessian as hessian
from traceir.transforms.jacobians import jacfwd as jacfwd
from traceir.transforms.jacobians import jacobian as jacobian
from traceir.transforms.jacobians import jacrev as jacrev
