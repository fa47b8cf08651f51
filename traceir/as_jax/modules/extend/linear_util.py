"""Functions with what is told of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from typing import Any

from traceir.as_jax.wrapped_functions import WrappedFun, wrap_init

__all__ = [
    "WrappedFun",
    "merge_linear_aux",
    "transformation",
    "transformation_with_aux",
    "wrap_init",
]


Generated = Generator[Any, Any, None]


def transformation(
    gen: Callable[..., Generated],
) -> Callable[..., WrappedFun]:
    """A function of functions, made of a generator: it yields the arguments, positional
    and named, is sent the result, and yields another.

    >>> @transformation
    ... def doubled(x):
    ...     result = yield (x,), {}
    ...     yield 2 * result
    >>> doubled(wrap_init(abs)).call_wrapped(-3)
    6
    """

    def transformed(fun: WrappedFun, *gen_args: Any) -> WrappedFun:
        return WrappedFun(lambda *xs, **ks: _run(gen, gen_args, fun, xs, ks), {})

    return transformed


def transformation_with_aux(
    gen: Callable[..., Generated],
) -> Callable[..., tuple[WrappedFun, Callable[[], Any]]]:
    """As `transformation`, whose generator yields a pair: the result, and what the
    function that is returned beside the other gives.

    >>> @transformation_with_aux
    ... def told(x):
    ...     result = yield (x,), {}
    ...     yield result, "seen"
    >>> fun, aux = told(wrap_init(abs))
    >>> fun.call_wrapped(-3), aux()
    (3, 'seen')
    """

    def transformed(
        fun: WrappedFun, *gen_args: Any
    ) -> tuple[WrappedFun, Callable[[], Any]]:
        kept: list[Any] = []

        def call(*args: Any, **kwargs: Any) -> Any:
            result, aux = _run(gen, gen_args, fun, args, kwargs)
            kept[:] = [aux]
            return result

        return WrappedFun(call, {}), functools.partial(_last, kept, fun)

    return transformed


def _last(kept: list[Any], fun: WrappedFun) -> Any:
    """The other thing that a generator has yielded."""
    if not kept:
        raise RuntimeError(f"{fun.__name__} has not been called")
    return kept[0]


def merge_linear_aux(
    aux1: Callable[[], Any], aux2: Callable[[], Any]
) -> tuple[bool, Any]:
    """The result of the first of two functions, and True; where what it tells of has
    not been called, that of the second, and False.

    Raises RuntimeError if neither has been called.
    """
    try:
        return True, aux1()
    except RuntimeError:
        return False, aux2()


def _run(
    gen: Callable[..., Generated],
    gen_args: Any,
    fun: WrappedFun,
    args: Any,
    kwargs: Any,
) -> Any:
    """One call of a function that a generator has transformed."""
    steps = gen(*gen_args, *args, **kwargs)
    own, named = next(steps)
    result = steps.send(fun.call_wrapped(*own, **named))
    steps.close()
    return result
