"""Types of nodes as libraries read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from traceir.pytrees.node_types import NODES


class NodeFunctions(NamedTuple):
    """The functions of a type: a node to its children and metadata, and back."""

    to_iter: Callable[[Any], tuple[Iterable[Any], Any]]
    from_iter: Callable[[Any, list[Any]], Any]


class NodeRegistry(Mapping[type, NodeFunctions]):
    """The functions of each type of nodes, those that are registered later, too.

    >>> children, metadata = REGISTRY[dict].to_iter({"a": 1})
    >>> REGISTRY[dict].from_iter(metadata, children)
    {'a': 1}
    """

    def __getitem__(self, kind: type) -> NodeFunctions:
        found = NODES[kind]
        return NodeFunctions(found.split, partial(found.join, kind))

    def __iter__(self) -> Iterator[type]:
        return iter(NODES)

    def __len__(self) -> int:
        return len(NODES)


REGISTRY = NodeRegistry()
