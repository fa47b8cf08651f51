"""Primitives as they are compiled; and the name that lowerings had before `mlir`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from traceir.as_jax.modules.interpreters.mlir import register_lowering
from traceir.transforms.custom.custom_primitive import Primitive

__all__ = ["apply_primitive", "canonicalize_dtype_handlers", "register_lowering"]

# Classes of arrays of other libraries, which NumPy makes arrays of.
canonicalize_dtype_handlers: dict[type, Callable[..., np.ndarray]]
canonicalize_dtype_handlers = {np.ndarray: np.asarray}


def apply_primitive(primitive: Primitive, *args: Any, **params: Any) -> Any:
    """Results of a primitive's lowering, of arrays, for `def_impl`.

    Raises NotImplementedError (custom_primitive.rule) where it has none.

    >>> from traceir.as_jax.modules.interpreters.mlir import lower_fun
    >>> next_p = Primitive("next")
    >>> register_lowering(next_p, lower_fun(lambda x: x + 1, False))
    >>> apply_primitive(next_p, 2.0)
    3.0
    """
    if primitive.lowering is None:
        raise primitive.lacks("lowering")
    return primitive.lowering(*args, **params)
