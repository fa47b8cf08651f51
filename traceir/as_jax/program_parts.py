"""Pieces of which libraries build programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

import numpy as np

from traceir import rules
from traceir.dtypes import as_dtype, float0, is_inexact
from traceir.errors import JaxprTypeError
from traceir.ir.avals import ShapedArray
from traceir.ir.effects import effects_of
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Var, programs_in
from traceir.ir.params import NamedPrimitive
from traceir.ir.typecheck import check
from traceir.tracing.trace import Tracer

Effects: TypeAlias = AbstractSet[Any]
no_effects: Effects = frozenset()

__all__ = [
    "Effects",
    "JaxprTypeError",
    "check_jaxpr",
    "concrete_or_error",
    "gensym",
    "jaxprs_in_params",
    "new_jaxpr_eqn",
    "no_effects",
    "primal_dtype_to_tangent_dtype",
    "subjaxprs",
]


def new_jaxpr_eqn(
    invars: Sequence[Atom],
    outvars: Sequence[Var],
    primitive: NamedPrimitive,
    params: Mapping[str, Any],
    effects: Effects,
    source_info: Any = None,
    ctx: Any = None,
) -> Eqn:
    """An equation of a primitive, of the tables or a user's, with the effects it has.

    Params that are left out are as the primitive's row says, as where it is bound.

    >>> import traceir
    >>> new_var, x = gensym(), ShapedArray((), "float32")
    >>> a, b = new_var(x), new_var(x)
    >>> eqn = new_jaxpr_eqn([a], [b], traceir.lax.sin_p, {}, no_effects)
    >>> Jaxpr((), (a,), (eqn,), (b,))
    { lambda ; a:f32[]. let b:f32[] = sin a in (b,) }
    """
    if primitive not in rules.default().prims:
        raise rules.error("program.primitive", got=str(primitive))
    own = primitive.eqn_params([a.aval for a in invars], params)
    does = effects_of(primitive, own)
    return Eqn(primitive, tuple(invars), tuple(outvars), own, does)


def gensym() -> Callable[[ShapedArray], Var]:
    """A function that makes a new variable of a type at each call.

    >>> gensym()(ShapedArray((3,), "float32"))
    Var(f32[3])
    """
    return Var


def jaxprs_in_params(params: Mapping[str, Any]) -> Iterator[Jaxpr]:
    """The programs among the params of an equation.

    >>> import traceir
    >>> nested = traceir.make_jaxpr(traceir.jit(lambda x: -x))(1.0)
    >>> list(jaxprs_in_params(nested.eqns[0].params))
    [{ lambda ; a:f32[]. let b:f32[] = neg a in (b,) }]
    """
    return (closed.jaxpr for closed in programs_in(tuple(params.items())))


def subjaxprs(jaxpr: Jaxpr) -> Iterator[Jaxpr]:
    """The programs in the params of a program's equations, not those within them.

    >>> import traceir
    >>> nested = traceir.make_jaxpr(traceir.jit(lambda x: x + 1))(1.0)
    >>> len(list(subjaxprs(nested.jaxpr)))
    1
    """
    return (found for eqn in jaxpr.eqns for found in jaxprs_in_params(dict(eqn.params)))


def check_jaxpr(jaxpr: Jaxpr | ClosedJaxpr) -> None:
    """Check a program against the tables: see `traceir.ir.typecheck.check`.

    >>> import traceir
    >>> check_jaxpr(traceir.make_jaxpr(lambda x: x + 1)(1.0))
    """
    check(jaxpr)


def concrete_or_error(
    force: Callable[[Any], Any] | None, val: Any, context: str = ""
) -> Any:
    """A value that is known, as what `force` makes of it; None leaves it as it is.

    Raises the error of what a trace does not know (level.concretize.array).

    >>> concrete_or_error(int, 3.0)
    3
    """
    if force is not None:
        return force(val)
    return np.asarray(val) if isinstance(val, Tracer) else val


def primal_dtype_to_tangent_dtype(primal_dtype: Any) -> np.dtype:
    """The dtype of tangents: float0 of those that have none.

    >>> primal_dtype_to_tangent_dtype("float32")
    dtype('float32')
    """
    dtype = as_dtype(primal_dtype)
    return dtype if is_inexact(dtype) else float0
