"""Functions of trees as functions of leaves."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from traceir.as_jax.modules.extend.linear_util import WrappedFun
from traceir.jit.cache.signature import resolve_static
from traceir.pytrees import flatten

__all__ = ["debug_info", "flatten_fun", "flatten_fun_nokwargs"]
__all__ += ["infer_argnums_and_argnames", "safe_map", "safe_zip"]


def debug_info(traced_for: str, fun: Any, args: Any, kwargs: Any, **_: Any) -> str:
    """The name of a function and what it is traced for, in one text.

    >>> debug_info("scan", abs, (), {})
    'abs for scan'
    """
    return f"{getattr(fun, '__name__', fun)} for {traced_for}"


def flatten_fun(
    fun: WrappedFun, in_tree: flatten.TreeDef
) -> tuple[WrappedFun, Callable[[], flatten.TreeDef]]:
    """A function of the leaves of `(args, kwargs)` that returns leaves, and what gives
    the structure of its results once it has been called.

    >>> from traceir.as_jax.modules.extend.linear_util import wrap_init
    >>> leaves, tree = flatten.flatten(((1, 2), {}))
    >>> flat, out_tree = flatten_fun(wrap_init(lambda x, y: [x, y]), tree)
    >>> flat.call_wrapped(*leaves), out_tree()
    ([1, 2], PyTreeDef([*, *]))
    """
    return _flat(fun, lambda leaves: in_tree.unflatten(leaves))


def flatten_fun_nokwargs(
    fun: WrappedFun, in_tree: flatten.TreeDef
) -> tuple[WrappedFun, Callable[[], flatten.TreeDef]]:
    """As `flatten_fun`, of the leaves of the positional arguments."""
    return _flat(fun, lambda leaves: (in_tree.unflatten(leaves), {}))


def _flat(
    fun: WrappedFun, arguments: Callable[[Any], Any]
) -> tuple[WrappedFun, Callable[[], flatten.TreeDef]]:
    """The function of leaves, and what gives the structure of its results."""
    found: list[flatten.TreeDef] = []

    def call(*leaves: Any) -> list[Any]:
        args, kwargs = arguments(leaves)
        results, tree = flatten.flatten(fun.call_wrapped(*args, **kwargs))
        found[:] = [tree]
        return results

    return WrappedFun(call, {}), lambda: found[0]


def safe_map(function: Callable[..., Any], *lists: Iterable[Any]) -> list[Any]:
    """`list(map(function, *lists))`; ValueError unless all have one length.

    >>> safe_map(max, [1, 5], [3, 2])
    [3, 5]
    """
    return [function(*parts) for parts in safe_zip(*lists)]


def safe_zip(*lists: Iterable[Any]) -> list[tuple[Any, ...]]:
    """`list(zip(*lists))`; ValueError unless all have one length.

    >>> safe_zip([1, 2], "ab")
    [(1, 'a'), (2, 'b')]
    """
    return list(zip(*lists, strict=True))


def infer_argnums_and_argnames(
    signature: inspect.Signature,
    argnums: int | Iterable[int] | None,
    argnames: str | Iterable[str] | None,
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The places and the names of parameters of which one or the other is given.

    >>> infer_argnums_and_argnames(inspect.signature(lambda x, n: x), 1, None)
    ((1,), ('n',))
    """
    places = (argnums,) if isinstance(argnums, int) else tuple(argnums or ())
    names = (argnames,) if isinstance(argnames, str) else tuple(argnames or ())
    found = resolve_static(signature, places or None, names or None)
    every = list(signature.parameters)
    at = sorted(found.positions)
    return tuple(at), tuple(dict.fromkeys([every[k] for k in at] + list(names)))
