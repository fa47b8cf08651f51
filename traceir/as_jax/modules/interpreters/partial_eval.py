"""Programs of functions of which some arguments are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from traceir.as_jax.wrapped_functions import WrappedFun
from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Jaxpr
from traceir.lax.control.bodies import trace_body
from traceir.pytrees.flatten import flatten
from traceir.tracing.staging import apply
from traceir.transforms.control.partial_eval import partial_eval_program
from traceir.transforms.rules.dce import live_program

__all__ = ["PartialVal", "dce_jaxpr", "trace_to_jaxpr_nounits"]


@dataclass(frozen=True, eq=False)
class PartialVal:
    """An argument or a result whose value is known, or of which the type alone is.

    It is a pair of both, of which one is None.

    >>> aval = ShapedArray((), "float32")
    >>> PartialVal.known(3).is_known(), PartialVal.unknown(aval).is_known()
    (True, False)
    """

    aval: ShapedArray | None
    value: Any = None

    def __iter__(self) -> Iterator[Any]:
        return iter((self.aval, self.value))

    @staticmethod
    def known(value: Any) -> PartialVal:
        """One whose value is known."""
        return PartialVal(None, value)

    @staticmethod
    def unknown(aval: Any) -> PartialVal:
        """One whose type alone is known."""
        return PartialVal(aval)

    def is_known(self) -> bool:
        """True if its value is known."""
        return self.aval is None


def trace_to_jaxpr_nounits(
    fun: WrappedFun,
    pvals: Sequence[PartialVal],
    instantiate: bool | Sequence[bool] = False,
) -> tuple[Jaxpr, list[PartialVal], list[Any]]:
    """The program of what is not known, the results, and the program's constants.

    What depends on known arguments alone is computed; the program takes the others, and
    gives the results that are not known. Those to `instantiate` count as such.

    >>> from traceir.as_jax.wrapped_functions import wrap_init
    >>> given = [PartialVal.known(2.0), PartialVal.unknown(ShapedArray((), "float32"))]
    >>> found = trace_to_jaxpr_nounits(wrap_init(lambda x, y: (x + 1, x * y)), given)
    >>> [pval.is_known() for pval in found[1]], len(found[0].outvars)
    ([True, False], 1)
    """
    unknown = [pval.aval for pval in pvals if pval.aval is not None]

    def run(*values: Any) -> Any:
        rest = iter(values)
        args = (p.value if p.is_known() else next(rest) for p in pvals)
        return fun.call_wrapped(*args)

    leaf = flatten(0)[1]
    body = trace_body(run, [(leaf, [aval]) for aval in unknown], "make_jaxpr")
    moved = [False] * len(body.consts) + [True] * len(unknown)
    if isinstance(instantiate, bool):
        instantiate = [instantiate] * len(body.out_avals)
    halves = partial_eval_program(body.closed, moved, instantiate)
    found = iter(apply(halves.known, body.consts))
    outs = [
        PartialVal.unknown(aval) if late else PartialVal.known(next(found))
        for aval, late in zip(body.out_avals, halves.moved, strict=True)
    ]
    residuals, linear = list(found), halves.linear.jaxpr
    inner, given = linear.invars[: len(residuals)], linear.invars[len(residuals) :]
    program = Jaxpr((*linear.constvars, *inner), given, linear.eqns, linear.outvars)
    return program, outs, [*halves.linear.consts, *residuals]


def dce_jaxpr(
    jaxpr: Jaxpr,
    used_outputs: Sequence[bool],
    instantiate: bool | Sequence[bool] = False,
) -> tuple[Jaxpr, list[bool]]:
    """The program without equations that no used result needs, and the inputs it takes.

    Inputs to `instantiate` are taken in any case, and constants stay.

    >>> import traceir
    >>> both = traceir.make_jaxpr(lambda x, y: (x + 1.0, y * 2.0))(1.0, 2.0)
    >>> leaner, taken = dce_jaxpr(both.jaxpr, [True, False])
    >>> len(leaner.eqns), taken
    (1, [True, False])
    """
    if isinstance(instantiate, bool):
        instantiate = [instantiate] * len(jaxpr.invars)
    names: Any = jaxpr.constvars  # the values do not matter
    live, taken = live_program(ClosedJaxpr(jaxpr, names), used_outputs, instantiate)
    return replace(live.jaxpr, constvars=jaxpr.constvars), list(taken)
