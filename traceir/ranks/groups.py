"""An axis of a mesh as processes: a name that collectives of programs may have.

Where an axis crosses processes, a collective over it is one over the examples in this
process and one over such an axis. Serves: process.*
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from traceir.base.fast_dataclass import dataclass
from traceir.ir.jaxpr import Eqn, Jaxpr, subjaxprs
from traceir.ranks.topology import STATE


@dataclass(frozen=True, slots=True, repr=False)
class RankAxis:
    """The processes along an axis of a mesh, in groups that have nothing in common.

    >>> RankAxis("x", ((0, 1), (2, 3)))
    x@((0, 1), (2, 3))
    """

    name: Hashable
    groups: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """The number of processes in a group."""
        return len(self.groups[0])

    @property
    def number(self) -> int:
        """The number of the group that this process is in."""
        own = STATE.topology.index
        return next(k for k, group in enumerate(self.groups) if own in group)

    @property
    def place(self) -> int:
        """The place of this process in its group."""
        return self.groups[self.number].index(STATE.topology.index)

    def __repr__(self) -> str:
        return f"{self.name}@{self.groups}"


def axes_of(eqn: Eqn) -> Iterator[RankAxis]:
    """The axes of processes that an equation names itself."""
    for _, value in eqn.params:
        for part in value if type(value) is tuple else (value,):
            if type(part) is RankAxis:
                yield part


def axes_within(jaxpr: Jaxpr) -> tuple[RankAxis, ...]:
    """The axes of processes that a program names, and those within it, each once.

    >>> from traceir.text import parse
    >>> axes_within(parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }").jaxpr)
    ()
    """
    found: tuple[RankAxis, ...] | None = jaxpr.__dict__.get("_rank_axes")
    if found is None:
        named: dict[RankAxis, None] = {}
        for eqn in jaxpr.eqns:
            named.update(dict.fromkeys(axes_of(eqn)))
            for inner in subjaxprs(eqn):
                named.update(dict.fromkeys(axes_within(inner.jaxpr)))
        found = tuple(named)
        object.__setattr__(jaxpr, "_rank_axes", found)
    return found
