"""Functions with batching rules of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traceir.lax.control.scans import map as lax_map
from traceir.pytrees import flatten
from traceir.transforms.custom.custom_vmap import custom_vmap

__all__ = ["custom_vmap", "sequential_vmap"]


def sequential_vmap(f: Callable[..., Any]) -> custom_vmap:
    """A function that is applied to the examples of a batch one after the other.

    >>> import traceir, traceir.numpy as jnp
    >>> rows = traceir.vmap(sequential_vmap(jnp.sin))
    >>> traceir.make_jaxpr(rows)(jnp.ones(3)).eqns[0].primitive
    scan
    """
    found = custom_vmap(f)

    @found.def_vmap
    def rule(axis_size: int, in_batched: list[Any], *args: Any) -> Any:
        """The results of a loop over the examples."""
        leaves, tree = flatten.flatten(args)
        marks = flatten.flatten(in_batched)[0]
        moving = [v for v, mark in zip(leaves, marks, strict=True) if mark]

        def one(examples: list[Any]) -> Any:
            """The result of one example."""
            given = iter(examples)
            own = [
                next(given) if mark else v
                for v, mark in zip(leaves, marks, strict=True)
            ]
            return f(*tree.unflatten(own))

        outs = lax_map(one, moving)
        return outs, flatten.map_(lambda _: True, outs)

    return found
