"""Collectives as exchanges of memory, and the share of each device.

Sums take their terms in the order of the mesh, as those of devices that share their
memory do: the bits are the same. Serves: psum, pmax, pmin, all_gather, reduce_scatter,
ppermute, all_to_all, axis_index
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, sort_params
from traceir.ranks.groups import RankAxis, axes_of
from traceir.tracing.staging import stage
from traceir.tracing.trace import Value, bind, bind_all
from traceir_numba.cuda.arrays.arrays import DeviceArray
from traceir_numba.cuda.meshes import exchange
from traceir_numba.cuda.meshes.cut import Compile
from traceir_numba.cuda.meshes.exchange import PeerExchange
from traceir_numba.cuda.runtime import device

# A device's work, which stops where it needs memory of others.
Working = Generator[PeerExchange, Any, DeviceArray]
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MeshPlace:
    """A device by its place in the mesh, and the compiler of what it does by itself."""

    place: int
    compile: Compile

    def along(self, axis: RankAxis) -> int:
        """The place along an axis."""
        return next(g.index(self.place) for g in axis.groups if self.place in g)

    def computed(
        self, name: str, fun: Callable[[Value], Value], aval: ShapedArray, x: Any
    ) -> DeviceArray:
        """A small function of a value of some type, of memory that has such a value."""
        executable = _compiled(self.compile, name, fun, aval)
        found: DeviceArray = executable.run_there([DeviceArray(x, aval)])[0]
        return found


@cache
def _compiled(
    compile: Compile, name: str, fun: Callable[[Value], Value], aval: ShapedArray
) -> Any:
    def call(values: Sequence[Value]) -> Sequence[Value]:
        return [fun(*values)]

    jaxpr, constants, _ = stage(call, [aval], ["x"], name, "jit", "jax")
    return compile(ClosedJaxpr(jaxpr, constants), name)


@dataclass(frozen=True, slots=True)
class _Fold:
    """A fold over the first dimensions, by the name of a primitive."""

    primitive: str
    count: int

    def __call__(self, x: Value) -> Value:
        axes = tuple(range(self.count))
        return bind(self.primitive, x, axes=axes)


@dataclass(frozen=True, slots=True)
class _Arranged:
    """The elements in another order: reshaped, transposed, and reshaped again."""

    before: Shape
    permutation: Shape
    after: Shape

    def __call__(self, x: Value) -> Value:
        x = bind("reshape", x, new_sizes=self.before)
        x = bind_all("transpose", [x], sort_params({"permutation": self.permutation}))[
            0
        ]
        return bind("reshape", x, new_sizes=self.after)


def parts_first(
    here: MeshPlace, x: DeviceArray, dim: int, count: int
) -> tuple[Any, Shape]:
    """The parts of a dimension, one after the other, and the shape of each."""
    shape = x.shape
    extent = shape[dim] // count
    part = (*shape[:dim], extent, *shape[dim + 1 :])
    if prod(shape[:dim]) == 1 or not x.size:
        return x.memory, part
    split = (*shape[:dim], count, extent, *shape[dim + 1 :])
    order = (dim, *(d for d in range(len(split)) if d != dim))
    fun = _Arranged(split, order, (count, *part))
    return here.computed("parts", fun, x.aval, x.memory).memory, part


def joined_along(
    here: MeshPlace, memory: Any, count: int, aval: ShapedArray, dim: int
) -> DeviceArray:
    """Parts of some type, one after the other in memory, joined along a dimension."""
    part = aval.shape
    whole = (*part[:dim], count * part[dim], *part[dim + 1 :])
    if prod(part[:dim]) == 1 or not aval.size:
        return DeviceArray(memory, aval.update(shape=whole))
    order = (*range(1, dim + 1), 0, *range(dim + 1, len(part) + 1))
    stacked = aval.update(shape=(count, *part))
    fun = _Arranged((count, *part), order, whole)
    return here.computed("joined", fun, stacked, memory)


def is_local(eqn: Eqn) -> bool:
    """True of an equation that only asks for the number of the device."""
    return eqn.primitive == "axis_index"


def axis_index(eqn: Eqn, here: MeshPlace) -> DeviceArray:
    """The place of the device along an axis."""
    [axis] = axes_of(eqn)
    aval = eqn.outputs[0].aval
    number = np.array(here.along(axis), aval.dtype)
    return DeviceArray(device.upload(number), aval.update(vma=()))


def collective(eqn: Eqn, number: int, x: DeviceArray, here: MeshPlace) -> Working:
    """The result of a collective, of a device and the others along an axis."""
    [axis] = axes_of(eqn)
    params = dict(eqn.params)
    found = yield from COLLECTIVES[eqn.primitive](axis, params, number, x, here)
    return DeviceArray(found.memory, eqn.outputs[0].aval)


def _all_gather(
    axis: RankAxis, params: Any, number: int, x: DeviceArray, here: MeshPlace
) -> Working:
    memory = yield exchange.all_of(axis, number, x.memory, _length(x))
    dim, aval = params["all_gather_dimension"], x.aval
    if not params["tiled"]:
        aval = aval.update(shape=(*x.shape[:dim], 1, *x.shape[dim:]))
    return joined_along(here, memory, axis.size, aval, dim)


def _fold(primitive: str) -> Callable[..., Working]:
    """A fold over devices, and before it in each over some dimensions.

    Each device folds its share of the elements, and all take the shares of all.
    """

    def fold(
        axis: RankAxis, params: Any, number: int, x: DeviceArray, here: MeshPlace
    ) -> Working:
        own = [a for a in params["axes"] if isinstance(a, int)]
        rest = tuple(n for d, n in enumerate(x.shape) if d not in own)
        rows = prod(x.shape[d] for d in own)
        assert rows == 1 or not x.size  # a device has one example
        ends = [prod(rest) * k // axis.size for k in range(axis.size + 1)]
        per = _length(x) // max(x.size, 1)
        bounds = [end * per for end in ends]
        terms = yield exchange.shares_of(axis, number, x.memory, bounds)
        place = here.along(axis)
        count = ends[place + 1] - ends[place]
        share, fun = terms, _Fold(primitive, 1)
        if count:
            aval = x.aval.update(shape=(axis.size, count))
            share = here.computed("fold", fun, aval, terms).memory
        memory = yield exchange.joined_shares(axis, number, share, bounds)
        return DeviceArray(memory, x.aval.update(shape=rest))

    return fold


def _reduce_scatter(
    axis: RankAxis, params: Any, number: int, x: DeviceArray, here: MeshPlace
) -> Working:
    dim = params["scatter_dimension"]
    memory, part = parts_first(here, x, dim, axis.size)
    terms = yield exchange.shares_of(axis, number, memory, _ends(axis, _length(x)))
    aval = x.aval.update(shape=(axis.size, *part))
    return here.computed("fold", _Fold("reduce_sum", 1), aval, terms)


def _ppermute(
    axis: RankAxis, params: Any, number: int, x: DeviceArray, here: MeshPlace
) -> Working:
    sources = {target: source for source, target in params["perm"]}
    size = _length(x)
    memory = yield exchange.sent(axis, number, x.memory, size, sources)
    if here.along(axis) not in sources:
        zeros = np.zeros(max(size, 1), x.memory.dtype)
        memory = device.upload(zeros)
    return DeviceArray(memory, x.aval)


def _all_to_all(
    axis: RankAxis, params: Any, number: int, x: DeviceArray, here: MeshPlace
) -> Working:
    memory, part = parts_first(here, x, params["split_axis"], axis.size)
    taken = yield exchange.shares_of(axis, number, memory, _ends(axis, _length(x)))
    aval = x.aval.update(shape=part)
    return joined_along(here, taken, axis.size, aval, params["concat_axis"])


def _length(x: DeviceArray) -> int:
    """The elements of the memory of an array, which are none where it has none."""
    return int(x.memory.size) if x.size else 0


def _ends(axis: RankAxis, length: int) -> list[int]:
    return [length // axis.size * k for k in range(axis.size + 1)]


COLLECTIVES: dict[str, Callable[..., Working]] = {
    "all_gather": _all_gather,
    "psum": _fold("reduce_sum"),
    "pmax": _fold("reduce_max"),
    "pmin": _fold("reduce_min"),
    "reduce_scatter": _reduce_scatter,
    "ppermute": _ppermute,
    "all_to_all": _all_to_all,
}
