"""`jit` by its former name, which takes shardings by position."""

from typing import Any

from traceir.base.tracebacks import publish as _publish
from traceir.jit.api import jit

__all__ = ["pjit"]


def pjit(
    fun: Any, in_shardings: Any = None, out_shardings: Any = None, **options: Any
) -> Any:
    """As `traceir.jit`; raises as it does.

    >>> pjit(lambda x: x + 1, None, None)(2.0)
    Array(3., dtype=float32, weak_type=True)
    """
    return jit(fun, in_shardings=in_shardings, out_shardings=out_shardings, **options)


_publish(globals())
