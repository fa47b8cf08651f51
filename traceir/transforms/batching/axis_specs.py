"""Specifications of mapped axes, and their sizes. Serves: vmap.*"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import index
from typing import Any

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.jit.cache.signature import form_of
from traceir.pytrees import flatten
from traceir.tracing.trace import Value, typeof
from traceir.transforms.autodiff.arguments import as_array
from traceir.transforms.rules.registry import Dim


@dataclass(frozen=True, slots=True)
class MappedLeaf:
    """A leaf of the arguments, its mapped dimension, and how the user spells it."""

    value: Value
    dim: Dim
    path: str

    def __str__(self) -> str:
        return (
            f"axis {self.dim} of argument {self.path}, {typeof(self.value).str_short()}"
        )


def check_axes(what: str, axes: Any, top: bool = False) -> None:
    """Raise TypeError (vmap.axes-type) unless axes are ints, None, or trees of them.

    At the `top`, arguments are told apart by their position.
    """
    if axes is None or type(axes) is int:
        return
    leaves = flatten.leaves(axes, is_leaf=_is_none)
    if not all(a is None or type(a) is int for a in leaves):
        raise rules.error("vmap.axes-type", got=f"{what}={axes!r}")
    if top and not isinstance(axes, tuple):
        got = f"{what}={axes!r}, which is neither an int nor a tuple"
        raise rules.error("vmap.axes-type", got=got)


def _is_none(tree: Any) -> bool:
    return tree is None


def spread(what: str, axes: Any, tree: flatten.TreeDef, root: str = "") -> list[Dim]:
    """The axis of each leaf of a tree, of which the tree of axes is a prefix.

    Raises ValueError (vmap.in-axes, vmap.out-axes) where it is none.

    >>> spread("out_axes", (0, None), flatten.structure((1, {"a": 2, "b": 3})))
    [0, None, None]
    """
    if axes is None or type(axes) is int:
        return [axes] * tree.num_leaves
    try:
        return flatten.spread(axes, tree, _is_none)
    except ValueError as error:
        rule = "vmap.in-axes" if what == "in_axes" else "vmap.out-axes"
        at = f" of {root}" if root else ""
        raise rules.error(rule, got=f"{what}={axes!r}{at}: {error}") from None


def mapped_leaves(
    fun: Callable[..., Any],
    in_axes: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> tuple[list[MappedLeaf], flatten.TreeDef]:
    """The leaves of a call with the dimensions along which they are mapped.

    Raises TypeError (jit.argument), ValueError (vmap.in-axes, vmap.rank).
    """
    values, tree = flatten.flatten((args, dict(kwargs)))
    first, named = tree.below
    if type(in_axes) is tuple and len(in_axes) != len(args):
        got = f"{len(in_axes)} axes for {len(args)} positional arguments"
        raise rules.error("vmap.in-axes", got=got)
    axes = spread("in_axes", in_axes, first) + [0] * named.num_leaves
    paths = argument_paths(fun, first, named)
    rows = zip(values, axes, paths, strict=True)
    return [_leaf(value, axis, path) for value, axis, path in rows], tree


def _leaf(value: Value, axis: Dim, path: str) -> MappedLeaf:
    if axis is None:
        return MappedLeaf(value, None, path)
    value = as_array(value, lambda: f"argument {path}")
    rank = typeof(value).ndim
    if not -rank <= axis < rank:
        got = f"axis {axis} of argument {path}, {typeof(value).str_short()}"
        raise rules.error("vmap.rank", got=got)
    return MappedLeaf(value, axis % rank, path)


def argument_paths(
    fun: Callable[..., Any], args: flatten.TreeDef, kwargs: flatten.TreeDef
) -> list[str]:
    """The user's spelling of each leaf of the arguments."""
    names = form_of(fun).names
    found = []
    for k, child in enumerate(args.below):
        root = names[k] if k < len(names) else f"args[{k}]"
        found += [flatten.key_path(path, root) for path in child.paths()]
    return found + [flatten.key_path(path, "kwargs") for path in kwargs.paths()]


def common_size(leaves: Sequence[MappedLeaf], axis_size: int | None) -> int:
    """The size of the mapped axis.

    Raises ValueError (vmap.none) where nothing gives one, (vmap.sizes) where two
    differ, TypeError (vmap.axes-type) for an `axis_size` that is no int.
    """
    first: dict[int, MappedLeaf] = {}
    for leaf in leaves:
        if leaf.dim is not None:
            first.setdefault(typeof(leaf.value).shape[leaf.dim], leaf)
    sizes = set(first)
    if axis_size is not None:
        try:
            sizes.add(index(axis_size))
        except TypeError:
            raise rules.error("vmap.axes-type", got=f"{axis_size=}") from None
    if not sizes:
        raise rules.error("vmap.none", got=f"{len(leaves)} leaves of arguments")
    if len(sizes) > 1:
        given = [] if axis_size is None else [f"{axis_size} is the axis_size"]
        listed = [f"{n} is {leaf}" for n, leaf in first.items()]
        raise rules.error("vmap.sizes", got="; ".join(given + listed))
    return sizes.pop()
