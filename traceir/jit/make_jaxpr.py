"""Tracing without running: `make_jaxpr` and `eval_shape`. Serves: level.make_jaxpr"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar
from weakref import ref

from traceir.base.config import local as _local
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.jit.cache.trace_cache import TraceCacheEntry
from traceir.jit.function import JitFunction, Options
from traceir.jit.stages import CallForm, Traced
from traceir.tracing.staging import stage
from traceir.tracing.trace import current_trace

T = TypeVar("T")


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: Sequence[tuple[Hashable, int]] | None = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """A function that returns the program of `fun` for given arguments.

    One trace serves this, `jit` and `eval_shape`. With `return_shape`, the result is a
    pair of the program and the tree of ShapeDtypeStruct that `fun` would return.
    `axis_env` has names of axes, with their sizes, for operations over named axes.

    >>> import traceir, traceir.numpy as jnp
    >>> traceir.make_jaxpr(jnp.sin)(1.0)
    { lambda ; a:f32[]. let b:f32[] = sin a in (b,) }
    """
    staged = _Stager(_hashable(fun), static_argnums, None, Options(backend="reference"))

    def made(*args: Any, **kwargs: Any) -> Any:
        entry = _within(
            dict(axis_env or ()), lambda: staged.entry(args, kwargs, "make_jaxpr")
        )
        held = [*entry.captures, *(ref[...] for ref in entry.refs)]
        closed = _with_captures(entry.closed, held)
        if return_shape:
            return closed, Traced(entry, "reference", False, False, CallForm()).out_info
        return closed

    return made


def _within(axes: dict[Hashable, int], call: Callable[[], T]) -> T:
    """The result of a call where these axes have names, too."""
    if not axes:
        return call()
    around = current_trace()
    found: list[T] = []

    def outer(_: object) -> list[Any]:
        found.append(call())
        return []

    named = {**(around.axes if around else {}), **axes}
    face = _local.context.face
    stage(outer, (), (), "axis_env", "make_jaxpr", face, named)
    return found[0]


def _with_captures(closed: ClosedJaxpr, captures: Sequence[Any]) -> ClosedJaxpr:
    """The program with the tracers around it, its first inputs, as constants."""
    if not captures:
        return closed
    jaxpr, count = closed.jaxpr, len(captures)
    jaxpr = replace(
        jaxpr,
        constvars=(*jaxpr.constvars, *jaxpr.invars[:count]),
        invars=jaxpr.invars[count:],
    )
    return ClosedJaxpr(jaxpr, (*closed.consts, *captures), closed.backend)


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The shapes and dtypes that `fun` would return, as a tree of ShapeDtypeStruct.

    >>> import traceir, traceir.numpy as jnp
    >>> traceir.eval_shape(jnp.sum, traceir.ShapeDtypeStruct((3, 4), "float32"))
    ShapeDtypeStruct(shape=(), dtype=float32)
    """
    staged = _Stager(_hashable(fun), None, None, Options(backend="reference"))
    entry = staged.entry(args, kwargs, "eval_shape")
    return Traced(entry, "reference", False, False, CallForm()).out_info


def _hashable(fun: Callable[..., Any]) -> Callable[..., Any]:
    """The function; where traces cannot be kept with it, a new one that calls it."""
    try:
        hash(fun), ref(fun)
    except TypeError:
        return partial(fun) if callable(fun) else fun
    return fun


class _Stager(JitFunction[..., Any]):
    """A jitted function that is asked for its traces alone."""

    __slots__ = ()

    def entry(self, args: Any, kwargs: Any, transform: str) -> TraceCacheEntry:
        """The entry of a call, traced under the name of this transform."""
        return self._entry(self._prepare(args, kwargs), transform)[0]
