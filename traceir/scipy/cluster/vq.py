"""The nearest of several vectors. Serves: face.shape"""

from __future__ import annotations

import traceir.numpy as jnp
from traceir import rules
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand

__all__ = ["vq"]


def vq(
    obs: Operand, code_book: Operand, check_finite: bool = True
) -> tuple[Array, Array]:
    """The place of the code that is nearest to each observation, and the distance.

    Shapes (m, n) and (k, n), or (m,) and (k,), to (m,) and (m,). Of codes that are
    equally near it is the first. `check_finite` checks nothing: compiled code cannot
    raise. Raises TypeError (face.shape) for other shapes.

    >>> import traceir.numpy as jnp
    >>> vq(jnp.array([[1.0, 1.0], [4.0, 0.0]]), jnp.array([[0.0, 0.0], [4.0, 3.0]]))
    (Array([0, 1], dtype=int32), Array([1.4142135, 3.       ], dtype=float32))
    """
    points, codes = jnp.asarray(obs), jnp.asarray(code_book)
    if points.ndim != codes.ndim or points.ndim not in (1, 2):
        got = f"observations of {points.shape}, codes of {codes.shape}"
        raise rules.error("face.shape", got=got)
    if points.ndim == 1:
        points, codes = points[:, None], codes[:, None]
    if points.shape[1] != codes.shape[1]:
        got = f"observations of {points.shape}, codes of {codes.shape}"
        raise rules.error("face.shape", got=got)
    distances = jnp.linalg.norm(points[:, None] - codes[None], axis=-1)
    return jnp.argmin(distances, axis=-1), jnp.min(distances, axis=-1)


_publish(globals())
