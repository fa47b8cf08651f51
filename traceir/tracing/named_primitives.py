"""Primitives as values: the names that equations have.

Serves: level.bind
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from traceir import rules
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import sort_params
from traceir.tracing.trace import Trace, Value, bind, bind_all, call_form, in_force


class BuiltInPrimitive(str):
    """A primitive of the tables: the name that equations have for it.

    >>> import traceir
    >>> neg_p = traceir.lax.neg_p
    >>> traceir.make_jaxpr(lambda x: -x)(1.0).eqns[0].primitive == neg_p
    True
    >>> neg_p.bind(2.0), neg_p.multiple_results
    (Array(-2., dtype=float32, weak_type=True), False)
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name."""
        return str(self)

    @property
    def multiple_results(self) -> bool:
        """True if it gives a list of results."""
        return not call_form(self)[1]

    def bind(self, *values: Value, **params: Any) -> Any:
        """Apply it: recorded inside a trace, evaluated outside (level.bind)."""
        found = bind(str(self), *values, **params)
        return list(found) if self.multiple_results else found

    def bind_with_trace(
        self,
        trace: Trace | None,
        values: Sequence[Value],
        avals: Sequence[ShapedArray],
        params: dict[str, Any],
    ) -> Any:
        """Apply it while a trace is in force."""
        with in_force(trace):
            found = bind_all(str(self), values, sort_params(params))
        return list(found) if self.multiple_results else found[0]

    def __repr__(self) -> str:
        return str(self)


@functools.cache
def named(attribute: str) -> BuiltInPrimitive | None:
    """The primitive of a name such as `add_p`; None for any other.

    >>> named("add_p"), named("scatter_add_p"), named("add"), named("no_such_p")
    (add, scatter-add, None, None)
    """
    name, prims = attribute.removesuffix("_p"), rules.default().prims
    spelled = name.replace("_", "-")  # as scatter-add is
    found = name if name in prims else spelled if spelled in prims else None
    return None if name == attribute or found is None else BuiltInPrimitive(found)
