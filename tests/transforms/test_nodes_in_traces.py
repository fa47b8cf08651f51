"""Nodes of results are made in the trace of the caller, whose state they may keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.as_jax.modules.extend.core import get_opaque_trace_state


@traceir.tree_util.register_pytree_node_class
class Node:
    """A node that remembers the trace in which it was made."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.made_in = get_opaque_trace_state()

    def tree_flatten(self) -> tuple[tuple[Any], None]:
        """The value, and no metadata."""
        return (self.value,), None

    @classmethod
    def tree_unflatten(cls, meta: None, children: tuple[Any]) -> Node:
        """The node, made anew."""
        return cls(*children)


def twice(node: Node) -> Node:
    """A node of twice the value."""
    return Node(2 * node.value)


def beside(node: Node) -> tuple[Any, Node]:
    """A number, and a node beside it."""
    return 2 * node.value, Node(node.value)


def both(node: Node) -> tuple[Node, Node]:
    """Two nodes."""
    return twice(node), Node(node.value)


def of_three() -> Node:
    """A node with a vector."""
    return Node(jnp.ones(3))


CALLS: dict[str, Callable[[Node], Any]] = {
    "grad": lambda n: traceir.grad(beside, has_aux=True)(n),
    "value_and_grad": lambda n: traceir.value_and_grad(beside, has_aux=True)(n),
    "jvp": lambda n: traceir.jvp(both, (n,), (n,), has_aux=True),
    "vjp": lambda n: traceir.vjp(both, n, has_aux=True)[::2],
    "backward": lambda n: traceir.vjp(twice, n)[1](n),
    "linearize": lambda n: traceir.linearize(both, n, has_aux=True)[::2],
    "jacfwd": lambda n: traceir.jacfwd(both, has_aux=True)(n),
    "jacrev": lambda n: traceir.jacrev(both, has_aux=True)(n),
    "vmap": lambda n: traceir.vmap(twice)(of_three()),
    "checkpoint": lambda n: traceir.checkpoint(twice)(n),
    "jit": lambda n: traceir.jit(twice)(n),
    "scan": lambda n: lax.scan(lambda c, m: (c, m), n, of_three()),
    "cond": lambda n: lax.cond(n.value > 0, twice, lambda m: m, n),
    "while": lambda n: lax.while_loop(lambda m: m.value < 3, twice, n),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_node_is_made_where_the_call_stands(name: str) -> None:
    @traceir.jit
    def fun(node: Node) -> Any:
        result = CALLS[name](node)
        here = get_opaque_trace_state()
        nodes = traceir.tree.leaves(result, is_leaf=lambda x: isinstance(x, Node))
        nodes = [node for node in nodes if isinstance(node, Node)]
        assert nodes and all(node.made_in == here for node in nodes)
        return result

    fun(Node(1.0))
