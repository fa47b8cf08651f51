"""The interpreter of regions: calls, `cond`, `while`, `scan`, over any domain.

Serves: the `steps` of every region's row

A region is a primitive with programs in its params. A `Domain`
says what its values are: arrays for the reference; arrays with marks, or checked ones,
for the sanitizers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np

from traceir.base.lazy_exports import LazyTable
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr

V = TypeVar("V")
Row = TypeVar("Row", contravariant=True)
# From the operands of a region, or of a program within it, to the results.
Call = Callable[..., list[V]]


class RowBuffer(Protocol[Row]):
    """A value that is made row by row."""

    def __setitem__(self, k: int, row: Row, /) -> None:
        """Set a row of it."""


class Domain(Protocol[V]):
    """The values of a program, as far as regions have to know them."""

    def ready(self, closed: ClosedJaxpr) -> Call[V]:
        """A program within another, ready to run."""

    def known(self, value: V) -> np.ndarray:
        """The array that decides which program runs, or whether one runs again."""

    def lanes(self, which: np.ndarray, new: V, old: V) -> V:
        """New elements where `which` holds, of their rank; old ones elsewhere."""

    def row(self, value: V, k: int) -> V:
        """A row of a value, along its first axis."""

    def rows(self, length: int, aval: ShapedArray) -> RowBuffer[V]:
        """Room for rows of a type."""

    def whole(self, rows: Any) -> V:
        """The value whose rows have been set."""


def region(domain: Domain[V], primitive: str, params: dict[str, Any]) -> Call[V]:
    """The function that computes the results of a region from its operands."""
    made: Call[V] = REGIONS[primitive](domain, **params)
    return made


def _jit(domain: Domain[V], *, jaxpr: ClosedJaxpr, **_: Any) -> Call[V]:
    return domain.ready(jaxpr)


def _custom(domain: Domain[V], *, call_jaxpr: ClosedJaxpr, **_: Any) -> Call[V]:
    return domain.ready(call_jaxpr)


def _cond(domain: Domain[V], *, branches: tuple[ClosedJaxpr, ...]) -> Call[V]:
    choices = list(map(domain.ready, branches))

    def choose(index: V, *xs: V) -> list[V]:
        k = int(domain.known(index))
        return choices[k if 0 <= k < len(choices) else -1](*xs)

    return choose


def _while(
    domain: Domain[V],
    *,
    cond_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_jaxpr: ClosedJaxpr,
    body_nconsts: int,
    **_: Any,
) -> Call[V]:
    test, body = domain.ready(cond_jaxpr), domain.ready(body_jaxpr)
    split = cond_nconsts + body_nconsts

    def repeat(*xs: V) -> list[V]:
        tested, used, carry = xs[:cond_nconsts], xs[cond_nconsts:split], [*xs[split:]]
        ranks = [len(aval.shape) for aval in body_jaxpr.out_avals]
        while (more := domain.known(test(*tested, *carry)[0])).any():
            found = body(*used, *carry)
            if not more.all():
                several = zip(ranks, found, carry, strict=True)
                found = [domain.lanes(_of_rank(more, r), n, o) for r, n, o in several]
            carry = found
        return carry

    return repeat


def _of_rank(lanes: np.ndarray, rank: int) -> np.ndarray:
    return lanes.reshape(lanes.shape + (1,) * (rank - lanes.ndim))


def _scan(
    domain: Domain[V],
    *,
    jaxpr: ClosedJaxpr,
    length: int,
    reverse: bool,
    num_consts: int,
    num_carry: int,
    **_: Any,
) -> Call[V]:
    body, split = domain.ready(jaxpr), num_consts + num_carry
    avals = jaxpr.out_avals[num_carry:]
    order = range(length - 1, -1, -1) if reverse else range(length)

    def steps(*xs: V) -> list[V]:
        consts, carry, over = xs[:num_consts], [*xs[num_consts:split]], xs[split:]
        stacks = [domain.rows(length, aval) for aval in avals]
        for k in order:
            results = body(*consts, *carry, *[domain.row(x, k) for x in over])
            carry = results[:num_carry]
            for stack, row in zip(stacks, results[num_carry:], strict=True):
                stack[k] = row
        return carry + [domain.whole(stack) for stack in stacks]

    return steps


# The programs that equations stand for, from their params.
EXPANSIONS: LazyTable[Callable[[Any], ClosedJaxpr]] = LazyTable(
    "traceir.transforms.batching.shard_map_equation"
)


def _parts(domain: Domain[V], **params: Any) -> Call[V]:
    return domain.ready(EXPANSIONS["shard_map"](params))


REGIONS: dict[str, Callable[..., Call[Any]]] = {
    "jit": _jit,
    "cond": _cond,
    "while": _while,
    "scan": _scan,
    "custom_jvp_call": _custom,
    "custom_primitive_call": _custom,
    "custom_vjp_call": _custom,
    "remat2": _jit,
    "shard_map": _parts,
}
