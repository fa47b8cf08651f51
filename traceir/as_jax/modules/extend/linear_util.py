"""Functions with what is told of them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

__all__ = ["WrappedFun", "transformation", "transformation_with_aux", "wrap_init"]


class WrappedFun:
    """A function with keyword arguments that it is always given."""

    def __init__(self, fun: Callable[..., Any], params: dict[str, Any]) -> None:
        self.f = fun
        self.params = params

    def call_wrapped(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self.f(*args, **self.params, **kwargs)

    @property
    def __name__(self) -> str:
        return getattr(self.f, "__name__", "<unnamed function>")


def wrap_init(
    f: Callable[..., Any],
    params: dict[str, Any] | None = None,
    *,
    debug_info: Any = None,
) -> WrappedFun:
    """A function as functions of `api_util` take it.

    >>> wrap_init(abs).call_wrapped(-1)
    1
    """
    return WrappedFun(f, params or {})


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

        return WrappedFun(call, {}), lambda: kept[0]

    return transformed


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
