"""The drop-in decorator: NumPy in and out, float64 kept. Serves: cache.key.face"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from traceir.jit.function import JitFunction, Options


def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    max_traces: int | None = None,
    strict: bool = False,
) -> Any:
    """Compile an array function with Numba; it takes and returns NumPy arrays.

    64-bit types are kept and operators promote as NumPy's do. The function is written
    with `traceir.numpy` and traced once per kind of arguments; `f.source(*args)` is the
    generated source. Options are those of `traceir.jit`. Without `fun`, returns a
    decorator.

    Raises what `traceir.jit` raises.

    >>> import numpy as np, traceir.numpy as jnp
    >>> @jit
    ... def rms(x):
    ...     return jnp.sqrt(jnp.mean(x * x))
    >>> rms(np.array([3.0, 4.0]))
    np.float64(3.5355339059327378)
    """
    options = Options(
        backend="numba",
        max_traces=max_traces,
        face="numpy",
        x64=True,
        numpy_out=True,
        strict=strict,
    )
    if fun is None:
        return lambda f: JitFunction(f, static_argnums, static_argnames, options)
    return JitFunction(fun, static_argnums, static_argnames, options)
