"""Control flow: equations read and written as loops or choices.

Serves: prim.while, prim.scan, prim.cond
"""

from __future__ import annotations

from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Literal,
    Params,
    Var,
    sort_params,
)
from traceir.transforms.control.while_ import WhileEqn, with_one_predicate
from traceir_numba import cost_model
from traceir_numba.emitters.decompositions import params_of
from traceir_numba.emitters.kinds import (
    EMITTERS,
    Elementwise,
    IndexGenerator,
    Reduce,
    Region,
    View,
    register,
)

Atoms = tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class LoopOp:
    """A body that runs `length` times or, where there is a test, as long as it holds.

    The body takes `used`, the carry and one row of each of `rows`; it gives the carry
    and one row of each stacked result. The test takes `test_consts` and the carry; it
    holds `most_turns` times at most, where that is known. The user may have said that
    turns are `independent`; the last `status` values of the carry are those of the
    check that fails first.
    """

    body: ClosedJaxpr
    consts: Atoms
    carry: Atoms
    xs: Atoms = ()
    length: int = 0
    reverse: bool = False
    test: ClosedJaxpr | None = None
    test_consts: Atoms = ()
    most_turns: int | None = None
    independent: bool = False
    status: int = 0

    @property
    def operands(self) -> Atoms:
        """The equation's operands."""
        return self.test_consts + self.consts + self.carry + self.xs


@dataclass(frozen=True, slots=True)
class SwitchOp:
    """One of several programs of the same operands; the last one for other indices.

    With `exits` the last one leaves the loop around, if there is one: its first results
    are these parts of the status, and no other value of the turn is looked at.
    """

    index: Atom
    branches: tuple[ClosedJaxpr, ...]
    xs: Atoms
    exits: tuple[int, ...] = ()

    @property
    def operands(self) -> Atoms:
        """The equation's operands."""
        return (self.index, *self.xs)

    @property
    def is_known(self) -> bool:
        """True if a branch may stand for all, as the index is written in the program:
        one that leaves a loop is a step of its own."""
        if not isinstance(self.index, Literal):
            return False
        return not self.exits or self.chosen() is not self.branches[-1]

    def chosen(self) -> ClosedJaxpr:
        """The branch where the index is written in the program."""
        assert isinstance(self.index, Literal)
        k = int(self.index.value)
        return self.branches[k if 0 <= k < len(self.branches) else -1]


Flow = LoopOp | SwitchOp


def _turns(eqn: Eqn) -> dict[str, Any]:
    """The facts that an equation tells about its turns."""
    params = dict(eqn.params)
    return {name: params.get(name, 0) for name in ("independent", "status")}


def read_while(eqn: Eqn) -> LoopOp:
    """A loop with a test; one for each lane becomes one for all of them."""
    loop, xs = with_one_predicate(WhileEqn.of(eqn.params)), eqn.inputs
    first = loop.test_nconsts
    carry = len(xs) - len(loop.body.out_avals)
    # The body of a loop with lanes takes the constants of both programs.
    used = xs[carry - loop.body_nconsts : carry]
    return LoopOp(
        *(loop.body, used, xs[carry:]),
        test=loop.test,
        test_consts=xs[:first],
        most_turns=dict(eqn.params).get("most_turns"),  # type: ignore[arg-type]
        **_turns(eqn),
    )


def write_while(eqn: Eqn, flow: Flow) -> Params:
    """The params of a loop with a test."""
    assert isinstance(flow, LoopOp)
    return sort_params(
        {
            **dict(eqn.params),
            "body_jaxpr": flow.body,
            "body_nconsts": len(flow.consts),
            "cond_jaxpr": flow.test,
            "cond_nconsts": len(flow.test_consts),
            "independent": flow.independent,
            "status": flow.status,
        }
    )


def read_scan(eqn: Eqn) -> LoopOp:
    """A loop over rows."""
    xs, used = eqn.inputs, int(eqn.param("num_consts"))
    split = used + int(eqn.param("num_carry"))
    return LoopOp(
        eqn.param("jaxpr"),
        xs[:used],
        xs[used:split],
        xs[split:],
        int(eqn.param("length")),
        bool(eqn.param("reverse")),
        **_turns(eqn),
    )


def write_scan(eqn: Eqn, flow: Flow) -> Params:
    """The params of a loop over rows."""
    assert isinstance(flow, LoopOp)
    return sort_params(
        {
            **dict(eqn.params),
            "jaxpr": flow.body,
            "num_consts": len(flow.consts),
            "num_carry": len(flow.carry),
            "status": flow.status,
        }
    )


def is_unrolled(eqn: Eqn, flow: LoopOp) -> bool:
    """True if all turns of a loop are asked for as one body, and it is short.

    What is between turns is then in registers, as in `polyval`.
    """
    body = flow.body.jaxpr.eqns
    plain = Elementwise | IndexGenerator | Reduce | View
    return (
        eqn.primitive == "scan"
        and 1 < flow.length <= int(eqn.param("unroll"))
        and not flow.status
        and len(body) * flow.length <= cost_model.UNROLLED_BODY_EQUATIONS
        and all(isinstance(EMITTERS.get(one.primitive), plain) for one in body)
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


def read_cond(eqn: Eqn) -> SwitchOp:
    """A choice of programs."""
    exits: tuple[int, ...] = dict(eqn.params).get("exits", ())  # type: ignore[assignment]
    return SwitchOp(eqn.inputs[0], eqn.param("branches"), eqn.inputs[1:], exits)


def write_cond(_: Eqn, flow: Flow) -> Params:
    """The params of a choice."""
    assert isinstance(flow, SwitchOp)
    exits = {"exits": flow.exits} if flow.exits else {}
    return sort_params({"branches": flow.branches, **exits})


register("while", Region(read_while, write_while))
register("scan", Region(read_scan, write_scan))
register("cond", Region(read_cond, write_cond))
