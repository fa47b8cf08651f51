"""The decorator `jit`, which chooses the kind of function by its options.

Serves: jit.*
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypedDict, Unpack, overload

from traceir import rules
from traceir.arrays.devices import SingleDeviceSharding
from traceir.errors import shown
from traceir.jit.donation import DonatingFunction
from traceir.jit.function import JitFunction, Options, P, R
from traceir.jit.sharded import ShardedFunction


class JitOptions(TypedDict, total=False):
    """The options of `jit`, for type checkers."""

    static_argnums: int | Sequence[int] | None
    static_argnames: str | Iterable[str] | None
    keep_unused: bool
    inline: bool
    backend: str | None
    max_traces: int | None
    strict: bool
    sanitize: bool
    in_shardings: Any
    out_shardings: Any
    donate_argnums: int | Sequence[int] | None
    donate_argnames: str | Iterable[str] | None
    control_flow: str | None
    device: Any
    compiler_options: Any


@overload
def jit(fun: Callable[P, R], **options: Unpack[JitOptions]) -> JitFunction[P, R]: ...


@overload
def jit(
    fun: None = None, **options: Unpack[JitOptions]
) -> Callable[[Callable[P, R]], JitFunction[P, R]]: ...


def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    inline: bool = False,
    backend: str | None = None,
    max_traces: int | None = None,
    strict: bool = False,
    sanitize: bool = False,
    in_shardings: Any = None,
    out_shardings: Any = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    control_flow: str | None = None,
    device: Any = None,
    compiler_options: Any = None,
) -> Any:
    """Trace a function once per kind of arguments and run compiled code after that.

    `fun` takes and returns arrays, scalars and trees of them, and should be pure.
    Arguments named in `static_argnums` or `static_argnames` are Python values that the
    trace may branch on; each new value is a new trace. `backend` is "numba" where
    llvmlite is importable, else "reference". `max_traces` bounds the number of traces.

    Values that the function reads besides its arguments are read when it is traced, and
    static objects are kept as they are. With `strict`, globals, closures, defaults and
    static arguments are fingerprinted with each trace and looked at in each call:
    StaleCaptureError (cache.strict.capture, cache.strict.static) when one has changed.

    With `sanitize`, as within ``with traceir.sanitize():``, the program is evaluated
    equation by equation, and a fault that comes to count is an error at its line: an
    IndexError for a place outside (sanitize.index), else a FloatingPointError
    (sanitize.overflow and others).

    `in_shardings` and `out_shardings` say how arguments and results lie on devices, as
    trees that are prefixes of theirs: this is checked, and results lie so (sharding.*).

    Results may take the memory of arguments in `donate_argnums` and `donate_argnames`;
    those arrays are deleted (array.deleted), unless something else holds their memory.
    With shardings, and in calls of functions that are compiled ahead, none are.

    With `control_flow="staged"`, loops and choices of the function, and of those that
    it calls, are recorded where they go by traced values, as in plain NumPy functions;
    with "python", also within ``with traceir.control_flow("staged"):``, Python runs
    them.

    Results lie on `device`, if that is given. `compiler_options` are taken if there are
    none: those of other compilers mean nothing here.

    Without `fun`, returns a decorator.

    Raises TypeError (jit.callable, cache.function.hashable) and ValueError
    (jit.static_argnums, jit.static_argnames, jit.backend, jit.donate,
    jit.control-flow, jit.device, jit.compiler-options).

    >>> import traceir, traceir.numpy as jnp
    >>> @traceir.jit
    ... def f(x):
    ...     return jnp.sum(x * x)
    >>> f(jnp.arange(4.0))
    Array(14., dtype=float32)
    """
    asked = (backend, keep_unused, inline, max_traces)
    options = Options(
        *asked, strict=strict, sanitize=sanitize, control_flow=control_flow
    )
    check_options(compiler_options, device, (backend, in_shardings, out_shardings))
    if device is not None:
        out_shardings = SingleDeviceSharding(device)
    made: Callable[..., Any] = JitFunction
    if in_shardings is not None or out_shardings is not None:
        made = functools.partial(
            ShardedFunction, shardings=(in_shardings, out_shardings)
        )
    elif donate_argnums is not None or donate_argnames is not None:
        donated = (donate_argnums, donate_argnames)
        made = functools.partial(DonatingFunction, donated=donated)
    if fun is None:
        return lambda f: made(f, static_argnums, static_argnames, options)
    return made(fun, static_argnums, static_argnames, options)


def check_options(compiler_options: Any, device: Any, others: Sequence[Any]) -> None:
    """Raise ValueError (jit.compiler-options, jit.device) for options that are refused,
    a device beside `others` among them."""
    if compiler_options:
        raise rules.error("jit.compiler-options", got=shown(compiler_options))
    if device is not None and any(option is not None for option in others):
        raise rules.error("jit.device", got=f"device={device!r} and one of these")
