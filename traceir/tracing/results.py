"""Results of traced functions: their leaves, and what is no array.

Serves: jit.output, ref.returned
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import float0, is_float0
from traceir.ir.promotion import is_reference
from traceir.ir.structs import ShapeDtypeStruct
from traceir.pytrees import flatten
from traceir.pytrees.registry import register_pytree_node
from traceir.tracing.trace import Tracer
from traceir.tracing.trace import typeof as array_type

# Values that may be returned from a traced function.
_RETURNABLE = (Array, Tracer, np.ndarray, np.generic, bool, int, float, complex)


@dataclass(frozen=True, slots=True)
class Float0:
    """Stands in a result's structure for an array of float0, which is all shape."""

    shape: tuple[int, ...]


register_pytree_node(
    Float0, lambda node: ((), node.shape), lambda shape, _: np.zeros(shape, float0)
)


@dataclass(frozen=True, slots=True)
class Described:
    """Stands in a result's structure for a struct, which has no value."""

    struct: ShapeDtypeStruct


register_pytree_node(
    Described, lambda node: ((), node.struct), lambda struct, _: struct
)


def flatten_results(
    results: Any, described: bool = False
) -> tuple[list[Any], flatten.TreeDef]:
    """The leaves of a function's result; arrays of float0 are in the structure.

    So are structs, where they are `described`: for who asks for types alone.

    >>> flatten_results((1.0, np.zeros(2, float0)))[1].unflatten([2.0])[1].shape
    (2,)
    """
    leaves, tree = flatten.flatten(results)
    held = [_held(leaf, described) for leaf in leaves]
    if all(map(is_, held, leaves)):
        return leaves, tree
    return flatten.flatten(tree.unflatten(held))


def _held(leaf: Any, described: bool) -> Any:
    if is_float0(leaf):
        return Float0(leaf.shape)
    return Described(leaf) if described and isinstance(leaf, ShapeDtypeStruct) else leaf


def typeof(x: Any) -> Any:
    """The type of an array, a tracer, a number or a reference.

    Raises TypeError (jit.argument) for anything else.

    >>> import traceir
    >>> typeof(traceir.numpy.zeros((2, 3)))
    ShapedArray(float32[2,3])
    >>> typeof(1.5)
    ShapedArray(float32[], weak_type=True)
    """
    return x.aval if is_reference(x) else array_type(x)


def check_outputs(leaves: Sequence[Any], tree: flatten.TreeDef) -> None:
    """Raise TypeError (jit.output) for a result that is no array, ValueError
    (ref.returned) for a reference."""
    for index, leaf in enumerate(leaves):
        if not isinstance(leaf, _RETURNABLE):
            path = flatten.key_path(tree.paths()[index])
            at = f" at output component {path}" if path else ""
            if is_reference(leaf):
                raise rules.error("ref.returned", got=f"{leaf.aval!r}{at}")
            kind = getattr(type(leaf), "stands_for", type(leaf))
            raise rules.error("jit.output", got=f"a value of type {kind.__name__}{at}")


def check_described(tree: flatten.TreeDef) -> None:
    """Raise TypeError (jit.output) for results of which one is a struct."""
    if tree.node_type is Described:
        raise rules.error("jit.output", got="a value of type ShapeDtypeStruct")
    for child in tree.below:
        check_described(child)
