"""Types of programs, and primitives of users.

Takes names; gives what stands elsewhere under them. Start reading at
`primitives.__getattr__`.

- `primitives`: primitives of the tables, and those of other programs, by name
"""

from traceir.as_jax.modules.core import (
    AbstractValue,
    ClosedJaxpr,
    DropVar,
    Effect,
    Jaxpr,
    JaxprEqn,
    Literal,
    Primitive,
    TraceTag,
    Var,
    find_top_trace,
    get_opaque_trace_state,
    jaxpr_as_fun,
    mapped_aval,
    set_current_trace,
    take_current_trace,
    unmapped_aval,
    valid_jaxtype,
)
from traceir.as_jax.modules.extend.core import primitives
from traceir.as_jax.program_parts import (
    Effects,
    JaxprTypeError,
    check_jaxpr,
    concrete_or_error,
    gensym,
    jaxprs_in_params,
    new_jaxpr_eqn,
    no_effects,
    primal_dtype_to_tangent_dtype,
    subjaxprs,
)

__all__ = [
    "DropVar",
    "Effect",
    "Effects",
    "JaxprTypeError",
    "TraceTag",
    "check_jaxpr",
    "concrete_or_error",
    "gensym",
    "jaxprs_in_params",
    "new_jaxpr_eqn",
    "no_effects",
    "primal_dtype_to_tangent_dtype",
    "subjaxprs",
    "primitives",
    "set_current_trace",
    "take_current_trace",
    "AbstractValue",
    "ClosedJaxpr",
    "Jaxpr",
    "JaxprEqn",
    "Literal",
    "Primitive",
    "Var",
    "find_top_trace",
    "get_opaque_trace_state",
    "jaxpr_as_fun",
    "mapped_aval",
    "unmapped_aval",
    "valid_jaxtype",
]
