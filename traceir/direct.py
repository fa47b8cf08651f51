"""Functions of arrays outside every trace, by the shortest way. Serves: level.bind

What a function does with arrays is decided by their types and by the context. Where it
is one equation, the equation's kernel is remembered for these types, and the next call
runs it at once: no operand is checked, promoted or typed anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir.array import Array
from traceir.avals import ShapedArray
from traceir.config import local
from traceir.dtypes import is_bfloat16
from traceir.errors import TraceirError
from traceir.evaluate import REGIONS, bound
from traceir.fresh import run_kernel
from traceir.nans import watched
from traceir.recording import stage

Function = Callable[..., Any]
Plan = tuple[Callable[..., Any], ShapedArray]
# Types of operands for which a function remembers its kernel.
MOST = 1024
_wrap = Array._wrap
# Numbers of less magnitude are in the range of every signed or floating dtype.
PLAIN = 128
NAN = float("nan")
UNKNOWN: Plan = (lambda: None, ShapedArray((), "bool"))


def unary(function: Function) -> Function:
    """The function of one array, remembering its kernels.

    >>> import traceir.numpy as jnp
    >>> unary(jnp.negative)(jnp.arange(3))
    Array([ 0, -1, -2], dtype=int32)
    """
    plans: dict[Any, Plan | None] = {}

    def call(x: Any) -> Any:
        if type(x) is Array and local.trace is None:
            key = x.aval, local.context
            plan = plans.get(key, UNKNOWN)
            if plan is UNKNOWN:
                _remember(plans, key, function, (x.aval,))
            elif plan is not None:
                return _wrap(run_kernel(plan[0], x._value), plan[1])
        return function(x)

    return call


def binary(function: Function) -> Function:
    """The function of two arrays, remembering its kernels.

    >>> import traceir.numpy as jnp
    >>> binary(jnp.add)(jnp.arange(3), jnp.arange(3))
    Array([0, 2, 4], dtype=int32)
    """
    plans: dict[Any, Plan | None] = {}

    def call(x: Any, y: Any) -> Any:
        if type(x) is Array and type(y) is Array and local.trace is None:
            key = x.aval, y.aval, local.context
            plan = plans.get(key, UNKNOWN)
            if plan is UNKNOWN:
                _remember(plans, key, function, (x.aval, y.aval))
            elif plan is not None:
                return _wrap(run_kernel(plan[0], x._value, y._value), plan[1])
        elif type(x) is Array and local.trace is None and -PLAIN < _plain(y) < PLAIN:
            number = _strong(x.aval, y)
            if number is not None:
                key = x.aval, number.aval, local.context
                plan = plans.get(key, UNKNOWN)
                if plan is UNKNOWN:
                    _remember(plans, key, function, (x.aval, number.aval))
                elif plan is not None:
                    found = run_kernel(plan[0], x._value, number._value)
                    return _wrap(found, plan[1])
        return function(x, y)

    return call


def _plain(y: Any) -> float:
    """A Python number; NaN for anything else."""
    kind = type(y)
    return y if kind is float or kind is int else NAN


def _strong(aval: ShapedArray, y: float) -> Array | None:
    """A number as the array of a dtype that it yields to; None where it does not."""
    dtype = aval.dtype
    if aval.weak_type or not (
        dtype.kind == "f" or (type(y) is int and dtype.kind == "i")
    ):
        return None
    return _wrap(np.array(y, dtype), ShapedArray((), dtype))


def _remember(
    plans: dict[Any, Plan | None],
    key: Any,
    function: Function,
    avals: Sequence[ShapedArray],
) -> None:
    # A first call is made by the long way: it may warn, or raise.
    if len(plans) >= MOST:
        plans.clear()
    plans[key] = None
    plans[key] = plan_of(function, avals)


def plan_of(function: Function, avals: Sequence[ShapedArray]) -> Plan | None:
    """The kernel of what a function does with these types, and its result's type.

    None where it is not one equation of these operands, and where results are watched
    or operands of different ranks reported.

    >>> import traceir.numpy as jnp
    >>> plan_of(jnp.sin, [ShapedArray((2,), "float32")])[1]
    ShapedArray(float32[2])
    """
    context = local.context
    odd = watched(context) or context.numpy_rank_promotion != "allow"
    if odd or any(is_bfloat16(a.dtype) for a in avals):
        return None
    try:
        jaxpr, constants, captured = stage(
            lambda xs: [function(*xs)],
            avals,
            ["x", "y"][: len(avals)],
            "",
            "jit",
            context.face,
        )
    except TraceirError:  # which the long way raises, too
        return None
    if len(jaxpr.eqns) != 1 or constants or captured:
        return None
    (eqn,) = jaxpr.eqns
    plain = eqn.inputs == jaxpr.invars and eqn.outputs == jaxpr.outvars
    if not plain or eqn.primitive in REGIONS or eqn.effects:
        return None
    return bound(eqn), eqn.outputs[0].aval
