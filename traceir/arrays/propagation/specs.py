"""The axes that divide each dimension, joined where operands meet.

Serves: sharding.value
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TypeAlias

from traceir.arrays.meshes import Mesh, Shape
from traceir.arrays.sharding import NamedSharding, PartitionSpec

Axes: TypeAlias = tuple[str, ...]
Spec: TypeAlias = tuple[Axes, ...]  # an entry for each dimension


class GivenUp(Exception):
    """The layout of a result would be a guess; the message says why."""


def whole(ndim: int) -> Spec:
    """The spec of an array that nothing divides."""
    return ((),) * ndim


def spec_of(sharding: NamedSharding, ndim: int) -> Spec:
    """The axes of each dimension.

    >>> from traceir.sharding import P, make_mesh
    >>> spec_of(NamedSharding(make_mesh((1,), ("x",)), P(None, "x")), 3)
    ((), ('x',), ())
    """
    return tuple(sharding.spec.axes(d) for d in range(ndim))


def sharding_of(mesh: Mesh, spec: Spec) -> NamedSharding:
    """The sharding that a spec is over a mesh; its last undivided dimensions go
    without saying.
    """
    entries = [axes[0] if len(axes) == 1 else axes or None for axes in spec]
    while entries and entries[-1] is None:
        entries.pop()
    return NamedSharding(mesh, PartitionSpec(*entries))


def joined(specs: Sequence[Spec]) -> Spec:
    """The spec of operands of one shape: a dimension that one divides is divided.

    Raises GivenUp where two differ, or an axis would divide two dimensions.

    >>> joined([(("x",), ()), ((), ("y",))])
    (('x',), ('y',))
    """
    found: list[Axes] = []
    for entries in zip(*specs, strict=True):
        named = {axes for axes in entries if axes}
        if len(named) > 1:
            raise GivenUp(f"{' and '.join(map(shown, specs))} disagree")
        found.append(named.pop() if named else ())
    flat = [axis for axes in found for axis in axes]
    if len(set(flat)) < len(flat):
        raise GivenUp(f"{' and '.join(map(shown, specs))} disagree")
    return tuple(found)


def first_come(entries: Sequence[Axes]) -> Spec:
    """The entries, less axes that divide an earlier dimension."""
    used: set[str] = set()
    found: list[Axes] = []
    for axes in entries:
        found.append(() if used.intersection(axes) else axes)
        used.update(found[-1])
    return tuple(found)


def dividing(spec: Spec, shape: Shape, sizes: Mapping[str, int]) -> Spec:
    """The spec, less entries that do not divide their dimension evenly."""
    return tuple(
        () if extent % prod(sizes[a] for a in axes) else axes
        for axes, extent in zip(spec, shape, strict=True)
    )


def shown(spec: Spec) -> str:
    """A spec as a message has it.

    >>> shown((("x",), (), ("y", "z")))
    "P('x', None, ('y', 'z'))"
    """
    entries = [axes[0] if len(axes) == 1 else axes or None for axes in spec]
    return repr(PartitionSpec(*entries))
