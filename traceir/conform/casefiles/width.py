"""Programs that have numbers of 64 bits, and so need these types.

Serves: cache.flag.enable_x64
"""

from __future__ import annotations

import numpy as np

from traceir.ir.jaxpr import Atom, ClosedJaxpr, UntypedVar, subjaxprs

# The bytes of the dtypes that there are when 64-bit types are on, by kind.
WIDE = {"i": 8, "u": 8, "f": 8, "c": 16}


def is_wide(program: ClosedJaxpr) -> bool:
    """True if a number of 64 bits, or of two such parts, occurs in a program."""
    jaxpr = program.jaxpr
    atoms: list[Atom] = [*jaxpr.constvars, *jaxpr.invars, *jaxpr.outvars]
    for eqn in program.eqns:
        atoms += [*eqn.inputs, *eqn.outputs]
    dtypes = [a.aval.dtype for a in atoms if not isinstance(a, UntypedVar)]
    params = [(key, v) for eqn in program.eqns for key, v in eqn.params]
    dtypes += [v for _, v in params if isinstance(v, np.dtype)]
    if ("bit_width", 64) in params:
        return True
    inner = (p for eqn in program.eqns for p in subjaxprs(eqn))
    return any(d.itemsize == WIDE.get(d.kind) for d in dtypes) or any(
        map(is_wide, inner)
    )
