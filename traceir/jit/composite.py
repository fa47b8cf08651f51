"""Composites: functions of primitives shown as one `jit` equation.

Serves: function.composite
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

from traceir import rules
from traceir.base import config
from traceir.jit.function import JitFunction, Options

F = TypeVar("F", bound=Callable[..., Any])


@overload
def composite(fun: F) -> F: ...
@overload
def composite(*, static_argnames: Sequence[str] = ()) -> Callable[[F], F]: ...
def composite(fun: F | None = None, *, static_argnames: Sequence[str] = ()) -> Any:
    """Make `fun` a composite: one named `jit` equation in a trace, plain code outside.

    Eager calls run the body on the NumPy kernels and compile nothing; backends inline
    the equation. Arguments in `static_argnames` are Python values.

    >>> import traceir
    >>> @composite
    ... def double(x):
    ...     return x + x
    >>> [eqn.primitive for eqn in traceir.make_jaxpr(double)(1.0).eqns]
    [jit]
    """
    if fun is None:
        return functools.partial(composite, static_argnames=static_argnames)
    staged = JitFunction(fun, None, static_argnames, Options(backend="reference"))
    body = fun

    @functools.wraps(body)
    def call(*args: Any, **kwargs: Any) -> Any:
        trace = config.local.trace
        if trace is None:
            context = config.local.context
            if context.debug_nans or context.debug_infs:
                # What is searched are results, and no values on the way to them.
                return (body if context.sanitize else staged)(*args, **kwargs)
            return body(*args, **kwargs)
        if trace.plain:
            return trace.composite(body, args, kwargs)
        return staged(*args, **kwargs)

    return call


def run_as(way: str, fun: F) -> F:
    """The function as a way of running has it: run anew in each call, or, where the
    way's row says that traces are kept, as the program that was made of it."""
    if not rules.default().levels.way(way).keeps:
        return fun
    # It is called as the function is.
    return JitFunction(fun, None, None, Options(inline=True))  # type: ignore[return-value]
