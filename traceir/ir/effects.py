"""Effects of equations: the things they do besides giving results.

Serves: program.effects

The row of a primitive tells; a primitive with programs in its params does what they do.

An equation with an effect is a barrier for every pass. Inside a compiled program it is
a call of the host between two kernels; a loop around it is then run by the host.
"""

from __future__ import annotations

import functools

from traceir import rules
from traceir.ir.jaxpr import Jaxpr, Params, programs_in, subjaxprs
from traceir.rules.formulas.domains import PROGRAMS

NONE: frozenset[str] = frozenset()


def effects_of(primitive: str, params: Params) -> frozenset[str]:
    """The effects of an equation.

    >>> effects_of("sin", ()), effects_of("debug_callback", ())
    (frozenset(), frozenset({'debug'}))
    """
    own, region = _row(primitive)
    if not region:
        return own
    return own.union(*(effects(inner.jaxpr) for inner in programs_in(params)))


def effects(jaxpr: Jaxpr) -> frozenset[str]:
    """The effects of a program, those of its equations.

    >>> from traceir.text import parse
    >>> effects(parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }").jaxpr)
    frozenset()
    """
    return NONE.union(*(eqn.effects for eqn in jaxpr.eqns))


def calls_host(jaxpr: Jaxpr) -> bool:
    """True if an equation of a program, or of one within it, calls the host.

    >>> from traceir.text import parse
    >>> eqn = "debug_callback[callback=f effect=Debug partitioned=False]"
    >>> calls_host(parse(f"{{ lambda ; . let {eqn} in () }}").jaxpr)
    True
    """
    found: bool | None = jaxpr.__dict__.get("_calls_host")
    if found is None:
        prims = rules.default().prims
        found = any(
            (row := prims.get(eqn.primitive)) is not None
            and (row.host or any(calls_host(c.jaxpr) for c in subjaxprs(eqn)))
            for eqn in jaxpr.eqns
        )
        object.__setattr__(jaxpr, "_calls_host", found)
    return found


@functools.cache
def _row(primitive: str) -> tuple[frozenset[str], bool]:
    """The effects of a primitive's own, and whether it has programs in its params."""
    row = rules.default().prims.get(primitive)
    if row is None:
        return NONE, False  # what it is and has is not known
    return row.effects, any(p.domain in PROGRAMS for p in row.params)
