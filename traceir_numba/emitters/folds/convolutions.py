"""Convolutions: sums over slices, or one matrix product.

Windows are laid out side by side. If there are products of strided operands, large ones
are made by `strided` instead. Serves: conv_general_dilated, choice.dot-order
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn
from traceir_numba import cost_model
from traceir_numba.emitters.decompositions import DecompositionBuilder

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Labelled:
    """An array and the label of each dimension: `N`, `G`, `C`, `s0`, `k0` …"""

    atom: Atom
    labels: tuple[str, ...]

    def axis(self, label: str) -> int:
        """The dimension of a label."""
        return self.labels.index(label)

    def axes(self, labels: Sequence[str]) -> Shape:
        """The dimensions of labels."""
        return tuple(map(self.axis, labels))

    def extent(self, label: str) -> int:
        """The extent of the dimension of a label."""
        return self.atom.aval.shape[self.axis(label)]


class Convolution(DecompositionBuilder):
    """The program of one convolution."""

    def __init__(self, eqn: Eqn) -> None:
        super().__init__(eqn)
        self.dtype: np.dtype = eqn.outputs[0].aval.dtype
        self.nx, self.ny, self.no = eqn.param("dimension_numbers")
        self.groups = eqn.param("feature_group_count") * eqn.param("batch_group_count")
        self.strides: Shape = eqn.param("window_strides")
        self.apart: Shape = eqn.param("lhs_dilation")
        self.within: Shape = eqn.param("rhs_dilation")
        x, y = (self.converted(v) for v in self.operands)
        self.y = y
        self.taps = tuple(y.aval.shape[d] for d in self.ny[2:])
        self.few = y.aval.shape[self.ny[1]]
        self.size = tuple(eqn.outputs[0].aval.shape[d] for d in self.no[2:])
        self.x = self.padded(x)

    def padded(self, x: Atom) -> Atom:
        """The left operand apart and padded, as long as the windows reach."""
        config, shape = [(0, 0, 0)] * x.aval.ndim, list(x.aval.shape)
        for k, (low, high) in enumerate(self.eqn.param("padding")):
            d, inner = self.nx[2 + k], self.apart[k] - 1
            wide = shape[d] + max(0, shape[d] - 1) * inner
            # What no window reaches is not made.
            high = min(high, self.reach(k) - low - wide)
            high = max(high, -(low + wide))
            config[d] = low, high, inner
            shape[d] = low + high + wide
        if not any(map(any, config)):
            return x
        padding, fill = tuple(config), self.number(0)
        return self.bind("pad", x, fill, shape=tuple(shape), padding_config=padding)

    def reach(self, k: int) -> int:
        """The extent that the left operand must have in a dimension of space."""
        taps = (self.taps[k] - 1) * self.within[k] + 1 if self.taps[k] else 0
        return (self.size[k] - 1) * self.strides[k] + taps if self.size[k] else 0

    def cut(self, x: Atom, bounds: dict[int, tuple[int, int, int]]) -> Atom:
        """A part along some dimensions: how many, from where, how far apart."""
        shape = x.aval.shape
        starts, stops, steps, extents = [], [], [], []
        for d, n in enumerate(shape):
            count, start, step = bounds.get(d, (n, 0, 1))
            starts.append(start)
            stops.append(start + (count - 1) * step + 1 if count else start)
            steps.append(step)
            extents.append(count)
        if tuple(extents) == shape:
            return x
        return self.sliced(x, tuple(starts), tuple(stops), tuple(steps))

    def is_short(self) -> bool:
        """True if few products make a result, and few results are made of one place."""
        terms = self.few * prod(self.taps)
        features = self.y.aval.shape[self.ny[0]] // self.groups
        alone = self.groups == 1 or (self.of_features and self.few == features == 1)
        return (
            alone
            and 0 < terms <= cost_model.SLICED_CONVOLUTION_TERMS
            and features <= cost_model.SLICED_CONVOLUTION_FEATURES
        )

    @property
    def of_features(self) -> bool:
        """True if groups are those of features."""
        return bool(self.eqn.param("batch_group_count") == 1)

    def sums(self) -> Atom:
        """Products for each feature and place in the window, added up in order."""
        back = tuple(int(n) for n in np.argsort(self.no))
        into = tuple(self.nx[k] for k in back), tuple(self.kernel_axis(k) for k in back)
        found: Atom | None = None
        for c, *place in itertools.product(range(self.few), *map(range, self.taps)):
            x, y = self.slices(c, place)
            x, y = self.transposed(x, into[0]), self.transposed(y, into[1])
            term = self.bind("mul", x, y)
            found = term if found is None else self.bind("add", found, term)
        assert found is not None
        return found

    def kernel_axis(self, k: int) -> int:
        """The dimension of the right operand that stands for one of the result.

        It has one place where the result has the batch, or space.
        """
        return int(self.ny[1 - k] if k < 2 else self.ny[k])

    def slices(self, c: int, place: Sequence[int]) -> tuple[Atom, Atom]:
        """The factors of one feature and one place in the window."""
        left: dict[int, tuple[int, int, int]] = {}
        right = {self.ny[1]: (1, c, 1)}
        if self.groups == 1:
            left[self.nx[1]] = (1, c, 1)
        for d, k in enumerate(place):
            left[self.nx[2 + d]] = (self.size[d], k * self.within[d], self.strides[d])
            right[self.ny[2 + d]] = (1, k, 1)
        return self.cut(self.x, left), self.cut(self.y, right)

    # -- products of matrices -----------------------------------------------------

    def product(self) -> Atom:
        """All windows laid out, and one contraction with the right operand."""
        space = range(len(self.taps))
        s, k = [f"s{d}" for d in space], [f"k{d}" for d in space]
        split = "C" if self.of_features else "N"
        x = self.grouped(self.x, self.nx, ("N", "C", *s), split)
        y = self.grouped(self.y, self.ny, ("F", "C", *k), "F")
        for d in space:
            x = self.windows(x, d)
        last = self.no[1] == len(self.no) - 1
        first, second = (x, y) if last else (y, x)
        shared = ["G"] if self.groups > 1 else []
        if not last and x.extent("N") > 1:
            second, shared = x, [*shared, "N"]
            first = self.repeated(y, x.extent("N"))
        summed = ["C", *k]
        found = self.contracted(first, second, shared, summed)
        return self.ordered(found, s)

    def grouped(
        self, x: Atom, spec: Shape, names: Sequence[str], split: str
    ) -> Labelled:
        """An operand with its labels, the groups of one dimension as a dimension."""
        by_axis = dict(zip(spec, names, strict=True))
        labels = [by_axis[d] for d in range(len(spec))]
        if self.groups == 1:
            return Labelled(x, tuple(labels))
        at = labels.index(split)
        shape = x.aval.shape
        two = (self.groups, shape[at] // self.groups)
        x = self.reshaped(x, (*shape[:at], *two, *shape[at + 1 :]))
        return Labelled(x, (*labels[:at], "G", *labels[at:]))

    def windows(self, x: Labelled, d: int) -> Labelled:
        """A dimension of space as the windows and their places.

        There is a slice for each of these, or for each window, whichever are fewer.
        """
        s, k = f"s{d}", f"k{d}"
        axis, size, taps = x.axis(s), self.size[d], self.taps[d]
        if taps == 1:
            atom = self.cut(x.atom, {axis: (size, 0, self.strides[d])})
            shape = atom.aval.shape
            wide = (*shape[:axis], 1, *shape[axis:])
            labels = (*x.labels[:axis], k, *x.labels[axis:])
            return Labelled(self.reshaped(atom, wide), labels)
        if taps <= size:
            steps = [(size, n * self.within[d], self.strides[d]) for n in range(taps)]
            at, labels = self.place(x), x.labels
            labels = (*labels[:at], k, *labels[at:])
        else:
            steps = [(taps, n * self.strides[d], self.within[d]) for n in range(size)]
            at = axis
            labels = (*x.labels[:at], s, k, *x.labels[at + 1 :])
        parts = [self.cut(x.atom, {axis: step}) for step in steps]
        shape = parts[0].aval.shape
        wide = (*shape[:at], len(parts), *shape[at:])
        return Labelled(self.bind("stack", *parts, shape=wide, axis=at), labels)

    def place(self, x: Labelled) -> int:
        """The operand with its places in a window beside the features, which are
        summed, too.
        """
        c = x.axis("C")
        before = any(label.startswith("s") for label in x.labels[:c])
        if before:
            return c
        after = c + 1
        while x.labels[after].startswith("k"):
            after += 1
        return after

    def repeated(self, y: Labelled, count: int) -> Labelled:
        """The right operand once for each example."""
        shape = (count, *y.atom.aval.shape)
        dims = tuple(range(1, len(shape)))
        params: dict[str, Any] = {"shape": shape, "broadcast_dimensions": dims}
        atom = self.bind("broadcast_in_dim", y.atom, **params)
        return Labelled(atom, ("N", *y.labels))

    def contracted(
        self,
        x: Labelled,
        y: Labelled,
        shared: Sequence[str],
        summed: Sequence[str],
    ) -> Labelled:
        """The sum of products over some labels, for each of those that are shared."""
        order = [n for n in x.labels if n in summed]
        numbers = (
            (x.axes(order), y.axes(order)),
            (x.axes(shared), y.axes(shared)),
        )
        taken = {*shared, *summed}
        labels = (
            *shared,
            *(n for n in x.labels if n not in taken),
            *(n for n in y.labels if n not in taken),
        )
        shape = tuple((x if n in x.labels else y).extent(n) for n in labels)
        params: dict[str, Any] = {"shape": shape, "dimension_numbers": numbers}
        atom = self.bind("dot_general", x.atom, y.atom, **params)
        return Labelled(atom, labels)

    def ordered(self, x: Labelled, space: Sequence[str]) -> Atom:
        """The result's dimensions in their order; groups are the first of features."""
        by_axis = dict(zip(self.no, ("N", "F", *space), strict=True))
        labels = []
        for d in range(len(self.no)):
            if by_axis[d] == "F" and self.groups > 1:
                labels.append("G")
            labels.append(by_axis[d])
        atom = self.transposed(x.atom, x.axes(labels))
        return self.reshaped(atom, self.eqn.outputs[0].aval.shape)


def convolution(eqn: Eqn) -> ClosedJaxpr:
    """Sums over slices, or a product of matrices."""
    build = Convolution(eqn)
    if 0 in (*eqn.outputs[0].aval.shape, *build.taps, build.few):
        build.eqns.clear()
        return build.finish(build.bind("broadcast_in_dim", build.number(0)))
    if build.is_short():
        return build.finish(build.sums())
    return build.finish(build.product())
