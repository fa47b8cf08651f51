"""Programs of parts of devices, as programs of whole arrays.

Serves: shard_map.value
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Var
from traceir.oracle.scalar_interpreter import PARTS
from traceir.oracle.transforms.batches import batched
from traceir.oracle.transforms.builder import DerivedProgram
from traceir.oracle.transforms.pairs import taken
from traceir.rules import Rules

Sizes = Mapping[str, int]


def of_devices(
    closed: ClosedJaxpr,
    mesh: Sequence[tuple[str, int, str]],
    names: Sequence[str],
    in_specs: Sequence[Any],
    out_specs: Sequence[Any],
    rules: Rules,
) -> ClosedJaxpr:
    """The program of whole arrays that a program of parts is (shard_map.value).

    Parts stand along first dimensions, one for each axis that divides the array.
    """
    sizes = {name: size for name, size, _ in mesh if name in names}
    differ = [set[str]() for _ in out_specs]
    own = closed.out_avals
    program = closed
    for name in reversed(sizes):
        dims = [0 if any(name in axes for axes in s) else None for s in in_specs]
        program, found = batched(program, dims, sizes[name], rules, name)
        for axes, differs in zip(differ, found, strict=True):
            axes.update({name} if differs else ())
    builder = DerivedProgram(rules)
    wholes = [
        a.update(shape=_whole(a.shape, spec, sizes), vma=())
        for a, spec in zip(closed.in_avals, in_specs, strict=True)
    ]
    inputs = list(map(Var, wholes))
    parts = [_divided(builder, *row, sizes) for row in zip(inputs, in_specs)]
    rows = zip(builder.inlined(program, parts), own, out_specs, differ, strict=True)
    return builder.closed(inputs, [_joined(builder, *row, sizes) for row in rows])


def _whole(shape: Sequence[int], spec: Any, sizes: Sizes) -> tuple[int, ...]:
    axes = (*spec, *[()] * len(shape))
    return tuple(n * prod(sizes[a] for a in names) for n, names in zip(shape, axes))


def _divided(builder: DerivedProgram, value: Atom, spec: Any, sizes: Sizes) -> Atom:
    extents: list[int] = []
    places: dict[str, int] = {}
    own: list[int] = []
    for extent, axes in zip(value.aval.shape, (*spec, *[()] * value.aval.ndim)):
        places.update({a: len(extents) + k for k, a in enumerate(axes)})
        extents += [sizes[a] for a in axes]
        own.append(len(extents))
        extents.append(extent // prod(sizes[a] for a in axes))
    order = (*[places[a] for a in sizes if a in places], *own)
    parts = _reshaped(builder, value, extents)
    return builder.apply("transpose", [parts], {"permutation": order})[0]


def _joined(
    builder: DerivedProgram,
    value: Atom,
    part: ShapedArray,
    spec: Any,
    differ: set[str],
    sizes: Sizes,
) -> Atom:
    """Parts put together; the first device's along axes that the spec leaves out."""
    named = [a for a in sizes if any(a in axes for axes in spec)]
    first = tuple(slice(None) if a in named else 0 for a in sizes if a in differ)
    for k in reversed(range(len(first))):
        if first[k] == 0:
            value = taken(builder, value, k, 0)
    kept = [a for a in named if a in differ]
    dims = [named.index(a) for a in kept] + [len(named) + d for d in range(part.ndim)]
    shape = (*(sizes[a] for a in named), *part.shape)
    value = builder.stretched(value, shape, dims)
    order: list[int] = []
    for d, axes in zip(range(part.ndim), (*spec, *[()] * part.ndim)):
        order += [*map(named.index, axes), len(named) + d]
    value = builder.apply("transpose", [value], {"permutation": tuple(order)})[0]
    return _reshaped(builder, value, _whole(part.shape, spec, sizes))


def _reshaped(builder: DerivedProgram, value: Atom, shape: Sequence[int]) -> Atom:
    sizes = {"new_sizes": tuple(shape), "dimensions": None, "sharding": None}
    return builder.apply("reshape", [value], sizes)[0]


PARTS["parts"] = of_devices
