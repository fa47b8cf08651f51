"""Short loops over rows whose turns are written one after the other.

A user asks for it by `unroll`, as `polyval` does: the turns are then one body, and what
is between them is in registers.
"""

from __future__ import annotations

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, Eqn, Var
from traceir_numba import cost_model
from traceir_numba.emitters.decompositions import params_of
from traceir_numba.emitters.host import entry_of
from traceir_numba.emitters.kinds import Elementwise, IndexGenerator, Reduce, View
from traceir_numba.emitters.regions import LoopOp


def is_unrolled(eqn: Eqn, flow: LoopOp) -> bool:
    """True if all turns of a loop are asked for as one body, and it is short."""
    body = flow.body.jaxpr.eqns
    plain = Elementwise | IndexGenerator | Reduce | View
    return (
        eqn.primitive == "scan"
        and 1 < flow.length <= int(eqn.param("unroll"))
        and not flow.status
        and len(body) * flow.length <= cost_model.UNROLLED_BODY_EQUATIONS
        and all(isinstance(entry_of(one), plain) for one in body)
    )


def row_of(x: Atom, number: int) -> list[Eqn]:
    """The equations of one row; the last one gives it."""
    shape = x.aval.shape
    cut, row = (Var(ShapedArray(s, x.aval.dtype)) for s in ((1, *shape[1:]), shape[1:]))
    ends = {
        "start_indices": (number, *(0 for _ in shape[1:])),
        "limit_indices": (number + 1, *shape[1:]),
    }
    return [
        Eqn("slice", (x,), (cut,), params_of("slice", cut.aval, ends)),
        Eqn(
            "squeeze",
            (cut,),
            (row,),
            params_of("squeeze", row.aval, {"dimensions": (0,)}),
        ),
    ]


def stacked(rows: tuple[Atom, ...], out: Var) -> Eqn:
    """The equation that lays rows one below the other."""
    return Eqn("stack", rows, (out,), params_of("stack", out.aval, {"axis": 0}))
