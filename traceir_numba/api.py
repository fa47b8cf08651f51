"""The drop-in decorator `jit`: NumPy in and out, float64 kept.

Serves: cache.key.face
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Unpack, overload

from traceir import rules
from traceir.jit.cache.options import Options
from traceir.jit.fallback import FallbackFunction, check_fallback
from traceir.jit.function import JitFunction, P, R
from traceir_numba.numba_options import NumbaOptions, check_options, divided

# The backend of each target.
TARGETS = {"cpu": "numba", "cuda": "cuda"}
_SIGNATURE = (
    "leave the signature out: each kind of arguments is compiled when it comes; "
    "`njit` of `traceir_numba.compat` takes signatures"
)


class DecoratorOptions(NumbaOptions, total=False):
    """The options of the decorator, and Numba's, for type checkers."""

    static_argnums: int | Sequence[int] | None
    static_argnames: str | Iterable[str] | None
    max_traces: int | None
    strict: bool
    write_arguments: bool
    fallback: str | None
    sanitize: bool
    boundscheck: bool | None
    control_flow: str | None
    target: str


@overload
def jit(
    fun: Callable[P, R], **options: Unpack[DecoratorOptions]
) -> JitFunction[P, R]: ...


@overload
def jit(
    fun: None = None, **options: Unpack[DecoratorOptions]
) -> Callable[[Callable[P, R]], JitFunction[P, R]]: ...


def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    max_traces: int | None = None,
    strict: bool = False,
    write_arguments: bool = True,
    fallback: str | None = None,
    sanitize: bool = False,
    boundscheck: bool | None = True,
    control_flow: str | None = None,
    target: str = "cpu",
    **numba: Any,
) -> Any:
    """Compile an array function with Numba; it takes and returns NumPy arrays.

    The function is written with NumPy, with `traceir.numpy`, or with both. It is traced
    once per kind of arguments; NumPy's functions, promotion and result dtypes mean what
    they mean to NumPy, and 64-bit types are kept. `f.source(*args)` is the generated
    source.

    An argument that is a Python number, or a tuple of numbers, is traced until its
    value is needed, as in `np.zeros(n)`; then the function is traced for that value,
    and for each other one (face.demand). Text, classes, functions and members of
    enumerations are always known.

    Options are those of `traceir.jit`, and:

    `write_arguments`: an argument that the function updates, as in `x[0] = 1`, has the
    new elements when the function returns. It must be a writable NumPy array that
    shares no memory with another argument (update.argument, update.readonly,
    update.overlap). With False, such a function is an error (update.refused).

    `boundscheck`: an index that the function computes, and that lies outside of its
    array, is an IndexError when the program has run (index.bounds), and nothing is
    written to the arguments. With False, as with `traceir.boundscheck(False)`, nobody
    looks: the nearest element is read, and such a write is left out. On a device nobody
    looks, unless the function asserts or raises something, which counts everywhere.

    Loops and choices are recorded where they go by traced values, at any length; with
    `control_flow="python"`, Python runs them while the function is traced.

    `fallback="numpy"` runs a function that cannot be traced as it is, with a warning,
    once for each line that calls it (face.fallback).

    `target="cuda"` compiles for a device: results stay there, as arrays of
    `traceir_numba.cuda.DeviceArray`, which the next call takes as they are. If all
    arrays on the device that it was given are CuPy's, PyTorch's, Numba's or JAX's,
    results are that library's.

    Options of Numba's that say how to compile, `nopython`, `parallel`, `fastmath`,
    `cache`, `nogil` and others, are taken, and change nothing: loops are vectorised and
    shared among threads where that pays, with the same results. With
    `error_model="numpy"`, a division of Python's numbers by zero gives NumPy's infinity
    or NaN; with "python", the default, it raises. Others that would change results are
    explained (compat.option).

    Without `fun`, returns a decorator. Raises what `traceir.jit` raises, and where a
    plain function does what cannot be traced, the rules face.*, index.*, update.*.

    >>> import numpy as np
    >>> @jit
    ... def smooth(x):
    ...     y = np.zeros_like(x)
    ...     y[1:-1] = (x[2:] + x[:-2]) / 2
    ...     return y
    >>> smooth(np.array([1.0, 5.0, 3.0, 9.0]))
    array([0., 2., 7., 0.])
    """
    backend = TARGETS.get(target)
    if backend is None:
        got = f"target={target!r}; there are {', '.join(TARGETS)}"
        hint = f"write {' or '.join(f'target={name!r}' for name in TARGETS)}"
        raise rules.error("jit.backend", got=got, hint=hint)
    options = Options(
        backend=backend,
        max_traces=max_traces,
        face="numpy",
        x64=True,
        numpy_out=True,
        strict=strict,
        write_arguments=write_arguments and target == "cpu",
        sanitize=sanitize,
        boundscheck=boundscheck is None or boundscheck,
        control_flow=control_flow,
    )
    check_fallback(fallback)
    check_options(numba, own=DecoratorOptions.__annotations__)
    if isinstance(fun, str | list | tuple):
        raise rules.error("jit.callable", got=repr(fun), hint=_SIGNATURE)
    made = JitFunction if fallback is None else FallbackFunction
    if target == "cuda":
        from traceir_numba.cuda.function import CudaFallbackFunction, CudaFunction

        made = CudaFunction if fallback is None else CudaFallbackFunction
    if fun is None:
        return lambda f: made(
            divided(f, numba), static_argnums, static_argnames, options
        )
    return made(divided(fun, numba), static_argnums, static_argnames, options)
