"""Evaluation of an operation on concrete values. Serves: level.bind"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir.arrays.array import LAID_OUT, LIVING, Array
from traceir.arrays.placement import PLACED
from traceir.base.config import local as _local
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Params
from traceir.ir.promotion import no_array, python_aval
from traceir.ir.typecheck import infer
from traceir.reference.interpreter import evaluate_eqn
from traceir.sanitize.nan_checks import check_results, watched

Value = Any  # Array | Tracer | np.ndarray | np.generic | bool | int | float

# How a primitive with programs in its params is evaluated outside every trace, where
# that is not by its NumPy kernel: from its params to a function of arrays.
EAGER: dict[str, Callable[[Params], Callable[..., Sequence[np.ndarray]]]] = {}


# Applies a primitive to such arrays; who starts processes, or finds GPUs, enters it.
SPANNING: list[Callable[[str, Sequence[Value], Params], list[Array]]] = []


def evaluated(primitive: str, values: Sequence[Value], params: Params) -> list[Array]:
    """Apply a primitive to concrete values: by `EAGER`, else by the NumPy kernels."""
    if SPANNING and not LAID_OUT.isdisjoint(map(type, values)):
        return SPANNING[0](primitive, values, params)
    return computed_here(primitive, values, params)


def computed_here(
    primitive: str, values: Sequence[Value], params: Params
) -> list[Array]:
    """The same, of values that are all in this process."""
    avals = tuple(map(typeof, values))
    outs = infer(primitive, avals, params)
    arrays = [as_numpy(v, a) for v, a in zip(values, avals)]
    if _local.context.sanitize:
        from traceir.sanitize.taint import look  # not on the way of an import

        results: Sequence[np.ndarray] = look(primitive, params, arrays)
    elif primitive in EAGER:
        results = EAGER[primitive](params)(*arrays)
    else:
        results = evaluate_eqn(primitive, params, arrays)
    if watched(_local.context):
        check_results(primitive, params, arrays, results, _local.context)
        if _local.context.debug_key_reuse:
            from traceir.sanitize.key_reuse import (
                check_keys,  # not on the way of an import
            )

            check_keys(primitive, params, arrays, results)
    made = list(map(Array._wrap, results, outs))
    if PLACED and not LAID_OUT.isdisjoint(map(type, values)):
        from traceir.arrays.propagation.equations import (
            lying,
        )  # few arrays lie elsewhere

        return lying(made, primitive, values, avals, params)
    return made


def typeof(x: Value) -> ShapedArray:
    """The abstract value of an array, a tracer or a scalar.

    Raises TypeError (jit.argument) for anything else.

    >>> import numpy as np
    >>> typeof(np.zeros((2, 3), "float32"))
    ShapedArray(float32[2,3])
    >>> typeof(1.5)
    ShapedArray(float32[], weak_type=True)
    """
    aval = getattr(x, "aval", None)  # an Array, a Tracer, a ShapeDtypeStruct
    return aval if type(aval) is ShapedArray else python_aval(x)


def as_numpy(value: Value, aval: ShapedArray) -> np.ndarray:
    """A concrete value as an array of the abstract value's dtype."""
    if type(value) is Array or type(value) in LIVING:
        own: np.ndarray = value._value
        return own
    try:
        return np.asarray(value, aval.dtype)
    except TypeError:  # a struct, which has no elements
        raise no_array(value) from None
