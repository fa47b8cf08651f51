"""Params that text spells as programs, and equations as None. Serves: text.params"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache

import numpy as np

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Params, UntypedVar, Var
from traceir.ir.params import EqnParams
from traceir.rules import Prim, Rules


def shown(eqn: Eqn, row: Prim | None) -> dict[str, ClosedJaxpr]:
    """The params of an equation that are written as programs, by the row's `applies`.

    >>> from traceir.rules import default
    >>> shown(Eqn("add", (), ()), default().prims["add"])
    {}
    """
    names = {p.name: p.applies for p in row.params if p.applies} if row else {}
    if not names or not eqn.inputs or isinstance(eqn.inputs[0], UntypedVar):
        return {}
    dtype = eqn.inputs[0].aval.dtype
    given = eqn.stored()
    return {
        name: application(primitive, dtype)
        for name, primitive in names.items()
        if given.get(name) is None
    }


def written(eqn: Eqn, full: bool, rules: Rules) -> tuple[Prim | None, Params]:
    """The row and the params of an equation that text has: of a user's primitive no
    row, and the params that it was given. Full text has what is stored.

    >>> from traceir.rules import default
    >>> written(Eqn("neg", (), ()), False, default())[0].name
    'neg'
    """
    params = eqn.params
    own = params.read() if isinstance(params, EqnParams) and not full else params
    return None if own is not params else rules.prims.get(eqn.primitive), tuple(own)


@lru_cache(maxsize=256)
def application(primitive: str, dtype: np.dtype) -> ClosedJaxpr:
    """The program that applies a primitive to two scalars.

    >>> print(application("add", np.dtype("float32")))
    { lambda ; a:f32[] b:f32[]. let c:f32[] = add a b in (c,) }
    """
    x, y, z = (Var(ShapedArray((), dtype)) for _ in range(3))
    return ClosedJaxpr(Jaxpr((), (x, y), (Eqn(primitive, (x, y), (z,)),), (z,)), ())


def read_application(value: Hashable, primitive: str) -> Hashable:
    """None for a program that applies the primitive to its two operands, as written.

    Other values stay, and are for checking to refuse (program.domain).
    """
    if not isinstance(value, ClosedJaxpr) or len(value.eqns) != 1:
        return value
    jaxpr, [eqn] = value.jaxpr, value.eqns
    same = eqn.inputs == jaxpr.invars and eqn.outputs == jaxpr.outvars
    return None if eqn.primitive == primitive and same else value
