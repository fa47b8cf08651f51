"""The name that lowerings had before `mlir`."""

from collections.abc import Callable

import numpy as np

from traceir.as_jax.modules.interpreters.mlir import register_lowering

__all__ = ["canonicalize_dtype_handlers", "register_lowering"]

# Classes of arrays of other libraries, which NumPy makes arrays of.
canonicalize_dtype_handlers: dict[type, Callable[..., np.ndarray]]
canonicalize_dtype_handlers = {np.ndarray: np.asarray}
