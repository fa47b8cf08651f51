"""Large convolutions: one product over strided windows.

A dimension of a window is the image's, with a stride of its own. So rows, terms and
columns of the product are lists of dimensions with their strides in each operand, and
no array of windows is made.
Serves: conv_general_dilated, choice.dot-order
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Var
from traceir_numba import cost_model
from traceir_numba.emitters.folds.convolutions import (
    Convolution,
    Labelled,
    Shape,
    convolution,
)
from traceir_numba.emitters.kinds import Decomposition, register

DTYPES = frozenset(
    f"{kind}{8 * size}" for kind in ("int", "uint", "float") for size in (1, 2, 4, 8)
) - {"float8", "float16"}


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand: the extent and the stride of each of its dimensions, by label."""

    atom: Atom
    levels: dict[str, tuple[int, int]]

    def extents(self, labels: Sequence[str]) -> Shape:
        """The extents of dimensions."""
        return tuple(self.levels[n][0] for n in labels)

    def stride(self, label: str) -> int:
        """The stride of neighbours; 0 along dimensions that the operand lacks."""
        return self.levels[label][1] if label in self.levels else 0

    def way(self, labels: Sequence[str]) -> list[int]:
        """Some dimensions as one."""
        return way([self.levels[n] for n in labels])


@dataclass(frozen=True, slots=True)
class Groups:
    """The labels of a product: of its stacks, rows, terms and columns."""

    stacks: list[str]
    rows: list[str]
    terms: list[str]
    columns: list[str]


class Strided(Convolution):
    """The program of one convolution by a strided product."""

    def __init__(self, eqn: Eqn) -> None:
        super().__init__(eqn)
        self.constants: list[tuple[Var, np.ndarray]] = []

    def is_wide(self) -> bool:
        """True if windows are worth a call, and are no arrays already."""
        terms = self.few * prod(self.taps)
        size = self.eqn.outputs[0].aval.size * terms
        windows = prod(self.taps) > 1 and prod(self.size) > 1
        return (
            windows
            and size >= cost_model.IMPLICIT_CONVOLUTION_WORK
            and self.dtype.name in DTYPES
        )

    def result(self) -> Atom:
        """One product, with windows as its rows or its columns."""
        s = [f"s{d}" for d in range(len(self.taps))]
        k = [f"k{d}" for d in range(len(self.taps))]
        split = "C" if self.of_features else "N"
        x = self.operand(self.x, self.nx, ("N", "C", *s), split)
        y = self.operand(self.y, self.ny, ("F", "C", *k), "F")
        # Terms are in the order in which they lie.
        terms = [n.replace("s", "k") for n in x.levels if n not in ("N", "G")]
        for d, (one, other) in enumerate(zip(s, k, strict=True)):
            stride = x.stride(one)
            x.levels[other] = self.taps[d], stride * self.within[d]
            x.levels[one] = self.size[d], stride * self.strides[d]
        by_axis = dict(zip(self.no, ("N", "F", *s), strict=True))
        order = [by_axis[d] for d in range(len(self.no))]
        at = order.index("F")
        before, after = order[:at], order[at + 1 :]
        stacks = ["G"] if self.groups > 1 else []
        if before in ([], ["N"]) and after and _are_neighbours(x.levels[after[-1]]):
            groups = Groups([*before, *stacks], ["F"], terms, after)
            found = self.called(y, x, groups)
        else:
            groups = Groups(stacks, [*before, *after], terms, ["F"])
            found = self.called(x, y, groups)
        return self.ordered(found, s)

    def operand(
        self, x: Atom, spec: Shape, names: Sequence[str], split: str
    ) -> Operand:
        """An operand's dimensions as they lie; groups are a part of one of them."""
        levels = {}
        for d, n in sorted(zip(spec, names, strict=True)):
            extent, stride = x.aval.shape[d], prod(x.aval.shape[d + 1 :])
            if n == split and self.groups > 1:
                extent //= self.groups
                levels["G"] = self.groups, extent * stride
            levels[n] = extent, stride
        return Operand(x, levels)

    def called(self, x: Operand, y: Operand, groups: Groups) -> Labelled:
        """The product of two operands."""
        stacks, rows, terms, columns = (
            groups.stacks,
            groups.rows,
            groups.terms,
            groups.columns,
        )
        where = self.constant(
            [*x.way(rows), *x.way(terms), *y.way(terms), *y.way(columns)]
        )
        own = [x if n in x.levels else y for n in stacks]
        outer = [o.levels[n][0] for o, n in zip(own, stacks, strict=True)]
        shape = (*outer, *x.extents(rows), *y.extents(columns))
        lengths = x.extents(rows), x.extents(terms), y.extents(columns)
        sizes = [*[1, 1, *outer][-2:], *map(prod, lengths)]
        for one in (x, y):
            sizes += [0, 0, *map(one.stride, stacks)][-2:]
        inputs = x.atom, y.atom, where
        atom = self.bind("dot_general", *inputs, shape=shape, sizes=tuple(sizes))
        return Labelled(atom, (*stacks, *rows, *columns))

    def constant(self, numbers: Sequence[int]) -> Var:
        """An array that the program has."""
        array = np.array(numbers, np.int64)
        var = Var(ShapedArray(array.shape, array.dtype))
        self.constants.append((var, array))
        return var

    def finish(self, *results: Atom) -> ClosedJaxpr:
        """The program that gives `results`."""
        closed = super().finish(*results)
        names = tuple(var for var, _ in self.constants)
        arrays = tuple(array for _, array in self.constants)
        return ClosedJaxpr(replace(closed.jaxpr, constvars=names), arrays)


def way(levels: Sequence[tuple[int, int]]) -> list[int]:
    """Extents and strides as `place` takes them, dimensions that lie as one joined.

    Their number, then of each, the last one first, the extent and the stride.

    >>> way([(3, 40), (5, 8), (8, 1)]), way([(3, 50), (8, 1)]), way([(1, 7)])
    ([1, 120, 1], [2, 8, 1, 3, 50], [1, 1, 0])
    """
    found: list[tuple[int, int]] = []
    for extent, stride in levels:
        if extent == 1:
            continue
        if found and found[-1][1] == extent * stride:
            extent *= found.pop()[0]
        found.append((extent, stride))
    found = found or [(1, 0)]
    return [len(found), *(number for level in found[::-1] for number in level)]


def _are_neighbours(level: tuple[int, int]) -> bool:
    extent, stride = level
    return extent >= cost_model.CONTIGUOUS_COLUMNS and stride == 1


def strided(eqn: Eqn) -> ClosedJaxpr | None:
    """A product of windows where they lie, if the convolution is worth it."""
    build = Strided(eqn)
    if not build.is_wide() or build.is_short():
        return None
    return build.finish(build.result())


register("conv_general_dilated", Decomposition(convolution, strided))
