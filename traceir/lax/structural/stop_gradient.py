"""`stop_gradient`: values that derivatives do not follow. Serves: stop_gradient"""

from __future__ import annotations

from typing import TypeVar

from traceir.pytrees import flatten
from traceir.tracing.trace import bind

T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """`x`, an array or a tree of them, of which every derivative is zero.

    Raises TypeError (jit.argument) for a leaf that is no array.

    >>> import traceir
    >>> traceir.grad(lambda x: x * stop_gradient(x))(3.0)
    Array(3., dtype=float32, weak_type=True)
    """
    stopped: T = flatten.map_(lambda leaf: bind("stop_gradient", leaf), x)
    return stopped
