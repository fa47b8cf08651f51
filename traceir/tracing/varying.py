"""Operands of types that tell of the same axes of a mesh. Serves: shard_map.vma"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence

from traceir import rules
from traceir.ir.jaxpr import Params
from traceir.rules.formulas.domains import PROGRAMS
from traceir.tracing.evaluation import Value, typeof

Bind = Callable[[str, Sequence[Value], Params], Sequence[Value]]


def varied_alike(primitive: str, values: Sequence[Value], bind: Bind) -> list[Value]:
    """Operands that vary alike, by `pvary` of those that vary along fewer axes.

    Programs in the params, and rows that tell themselves what varies, say it for each.
    """
    found = list(values)
    told = [typeof(value).vma for value in values]
    names = functools.reduce(lambda every, vma: every.union(vma), told, set[Hashable]())
    if all(len(vma) == len(names) for vma in told) or not _is_of_one_kind(primitive):
        return found
    for k, vma in enumerate(told):
        if missing := tuple(sorted(names.difference(vma), key=str)):
            [found[k]] = bind("pvary", [found[k]], (("axes", missing),))
    return found


@functools.cache
def _is_of_one_kind(primitive: str) -> bool:
    """True of a row whose operands all vary as its results do."""
    row = rules.default().prims[primitive]
    apart = row.host or row.varies is not None or row.across is not None
    return not (apart or any(p.domain in PROGRAMS for p in row.params))
