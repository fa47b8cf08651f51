"""Checks that branches agree with one another, and bodies with their carry.

Serves: control.branch-tree, control.branch-types, control.carry-tree,
control.carry-types
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from traceir import rules
from traceir.ir.avals import ShapedArray
from traceir.lax.checks.operands import convert, joined
from traceir.lax.control.bodies import (
    FlatTree,
    TracedBody,
    called,
    first_parameter,
)
from traceir.lax.control.wrappers import told
from traceir.pytrees import flatten
from traceir.pytrees.flatten import TreeDef, short
from traceir.tracing.manual_axes import varied

SHOWN = 3


def same_type(a: ShapedArray, b: ShapedArray) -> bool:
    """True if shape and dtype agree; weakness does not matter."""
    return a.shape == b.shape and a.dtype == b.dtype


def check_branches(
    asker: str, names: Sequence[str], funs: Sequence[Callable[..., Any]], bodies: Any
) -> None:
    """Raise TypeError (control.branch-tree, control.branch-types) unless they agree."""
    first: TracedBody = bodies[0]
    for name, fun, body in zip(names[1:], funs[1:], bodies[1:], strict=True):
        left, right = f"{names[0]} {called(funs[0])}", f"{name} {called(fun)}"
        for path, a, b in flatten.differences(first.tree, body.tree):
            at = f" at {flatten.key_path(path)}" if path else ""
            got = f"{asker}: {left} returns {short(a)}{at}, {right} {short(b)}"
            raise rules.error("control.branch-tree", got=got)
        wrong = [
            f"{left} returns {a.str_short()}{f' at {path}' if path else ''}, "
            f"{right} {b.str_short()}"
            for path, a, b in _leaves(first.tree, first.out_avals, body.out_avals)
            if not same_type(a, b)
        ]
        if wrong:
            got = f"{asker}: {'; '.join(wrong[:SHOWN])}"
            raise rules.error("control.branch-types", got=got)


def _leaves(
    tree: TreeDef, a: Sequence[ShapedArray], b: Sequence[ShapedArray]
) -> Iterator[tuple[str, ShapedArray, ShapedArray]]:
    yield from zip(map(flatten.key_path, tree.paths()), a, b, strict=True)


def check_carry(
    asker: str,
    fun: Callable[..., Any],
    carry: FlatTree,
    tree: TreeDef,
    avals: Sequence[ShapedArray],
) -> None:
    """Raise TypeError (control.carry-tree, control.carry-types) unless the carry comes
    back as it went in."""
    body = told(fun, asker)
    root = first_parameter(fun, "carry")
    for path, a, b in flatten.differences(carry.tree, tree):
        name = body.spell(flatten.key_path(path, root))
        got = f"{body.asker} of {body.name}: {name} is {short(a)}, comes back as "
        raise rules.error("control.carry-tree", got=got + short(b))
    wrong = [
        f"{body.spell(root + path)} is {a.str_short()}, comes back as {b.str_short()}"
        for path, a, b in _leaves(tree, carry.avals, avals)
        if not same_type(a, b)
    ]
    if wrong:
        got = f"{body.asker} of {body.name}: {'; '.join(wrong[:SHOWN])}"
        raise rules.error("control.carry-types", got=got)


def check_alone(
    asker: str, fun: Callable[..., Any], along: Sequence[Hashable], body: TracedBody
) -> None:
    """Raise ValueError (shard_map.loop) if devices along an axis, which leave a loop at
    different times, wait for one another in it."""
    if along:
        from traceir.transforms.batching.batching_rules import waits_for

        for axis in along:
            if name := waits_for(body.closed, axis):
                shown = name.removesuffix("_invariant")
                got = f"{shown} over {axis!r} in {told(fun, asker).name}"
                raise rules.error("shard_map.loop", got=got)


def promoted(
    carry: FlatTree, avals: Sequence[ShapedArray], along: Sequence[Hashable] = ()
) -> FlatTree | None:
    """The carry with weak leaves in the dtype that the body makes of them.

    A leaf may vary along the axes of a mesh that the body's result may, and `along`
    others. None where nothing changes, or where the numbers of leaves differ.
    """
    if len(avals) != len(carry.leaves):
        return None
    leaves = list(carry.leaves)
    for k, (value, a, b) in enumerate(zip(carry.leaves, carry.avals, avals)):
        if a.weak_type and not same_type(a, b):
            dtype, _ = joined((value, _Typed(b)))
            leaves[k] = convert(value, dtype)
        leaves[k] = varied(leaves[k], (*b.vma, *along))
    changed = any(x is not y for x, y in zip(leaves, carry.leaves))
    return FlatTree(leaves, carry.tree, carry.label) if changed else None


class _Typed:
    """Stands for a value of a type."""

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval
