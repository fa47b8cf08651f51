"""Reductions of windows, in terms of slices of a padded operand.

A short window is folded from its first element to its last, one dimension after the
other. A long one is put together of windows of 1, 2, 4 … elements, each of two halves.
Serves: choice.sum-order
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir.exact.numerics import limits
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Literal, Var
from traceir_numba import cost_model
from traceir_numba.emitters.decompositions import DecompositionBuilder, constant
from traceir_numba.emitters.kinds import Decomposition, register
from traceir_numba.emitters.split_pad import cut

Shape = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


TRUTH = np.dtype(bool)


class Windows:
    """The windows of one equation: the dimensions' numbers, one for each dimension."""

    def __init__(self, eqn: Eqn, x: Atom) -> None:
        rank = x.aval.ndim
        self.extents: Shape = eqn.param("window_dimensions")
        self.strides: Shape = eqn.param("window_strides")
        self.padding: Pairs = eqn.param("padding")
        self.apart: Shape = eqn.param("base_dilation") or (1,) * rank
        self.within: Shape = eqn.param("window_dilation") or (1,) * rank
        self.config = tuple(
            (low, high, by - 1)
            for (low, high), by in zip(self.padding, self.apart, strict=True)
        )

    @property
    def pads(self) -> bool:
        """True if there is anything around the operand's elements."""
        return any(map(any, self.config))

    def spans(self) -> Shape:
        """The spans of a window along each dimension."""
        pairs = zip(self.extents, self.within, strict=True)
        return tuple((n - 1) * by + 1 for n, by in pairs)


def padded(
    build: DecompositionBuilder, x: Atom, fill: Literal, windows: Windows
) -> Var | Atom:
    """The operand with its padding, at least as long as nothing."""
    if not windows.pads:
        return x
    config, shape = [], []
    for n, (low, high, inner) in zip(x.aval.shape, windows.config, strict=True):
        wide = n + max(0, n - 1) * inner
        high = max(high, -(low + wide))
        config.append((low, high, inner))
        shape.append(low + wide + high)
    dtype, params = x.aval.dtype, {"padding_config": tuple(config)}
    return build.bind("pad", x, fill, shape=tuple(shape), dtype=dtype, **params)


def least(dtype: np.dtype) -> Literal:
    """The least number of a dtype."""
    return constant(_ends(dtype)[0], dtype)


def greatest(dtype: np.dtype) -> Literal:
    """The greatest number of a dtype."""
    return constant(_ends(dtype)[1], dtype)


def _ends(dtype: np.dtype) -> tuple[object, object]:
    low, high = limits(dtype)
    return (-np.inf, np.inf) if not isinstance(low, int) else (low, high)


def zero(dtype: np.dtype) -> Literal:
    """The zero from which a sum starts."""
    return constant(0, dtype)


# -- folds ----------------------------------------------------------------------------


def fold(primitive: str, combine: str, fill: object) -> None:
    """The fold of windows by a primitive, from its neutral element."""
    assert callable(fill)

    def program(eqn: Eqn) -> ClosedJaxpr:
        build = DecompositionBuilder(eqn)
        x: Atom = build.operands[0]
        windows = Windows(eqn, x)
        x = padded(build, x, fill(x.aval.dtype), windows)
        for axis in range(x.aval.ndim):
            x = folded(build, combine, x, axis, windows)
        return build.finish(x)

    register(primitive, Decomposition(program))


def folded(
    build: DecompositionBuilder, combine: str, x: Atom, axis: int, windows: Windows
) -> Atom:
    """The windows along one dimension."""
    extent, stride = windows.extents[axis], windows.strides[axis]
    by, n = windows.within[axis], x.aval.shape[axis]
    size = max(0, (n - windows.spans()[axis]) // stride + 1)
    last = max(0, size - 1) * stride + 1 if size else 0
    halves = extent.bit_length() + extent.bit_count()
    if extent <= cost_model.UNROLLED_WINDOW or halves >= -(-extent // stride):
        starts = (k * by for k in range(extent))
        parts = [cut(build, x, axis, s, s + last, stride) for s in starts]
        return joined(build, combine, parts)
    # Windows of a power of two at each place, as far as they are needed.
    parts, at, power = [], 0, x
    found = [(1, x)]
    while found[-1][0] * 2 <= extent:
        width, power = found[-1]
        rest = power.aval.shape[axis] - width * by
        pair = [cut(build, power, axis, s, s + rest) for s in (0, width * by)]
        found.append((2 * width, joined(build, combine, pair)))
    for width, power in reversed(found):
        if extent & width:
            parts.append(cut(build, power, axis, at * by, at * by + last, stride))
            at += width
    return joined(build, combine, parts)


def joined(build: DecompositionBuilder, combine: str, parts: Sequence[Atom]) -> Atom:
    """Arrays of one shape combined, from the first to the last."""
    first, *rest = parts
    for part in rest:
        first = build.bind(combine, first, part, shape=first.aval.shape)
    return first


fold("reduce_window_sum", "add", zero)
fold("reduce_window_max", "max", least)
fold("reduce_window_min", "min", greatest)


# -- choices --------------------------------------------------------------------------


class WindowSelection(DecompositionBuilder):
    """The elements that windows choose, tap by tap."""

    def __init__(self, eqn: Eqn) -> None:
        super().__init__(eqn)
        self.first, self.x = self.operands
        self.windows = Windows(eqn, self.x)
        self.better = "gt" if eqn.param("select_prim") == "ge" else "lt"
        self.dtype = self.x.aval.dtype
        fill = least if self.better == "gt" else greatest
        self.wide = padded(self, self.x, fill(self.dtype), self.windows)
        self.size = tuple(
            max(0, (n - span) // by + 1)
            for n, span, by in zip(
                self.wide.aval.shape,
                self.windows.spans(),
                self.windows.strides,
                strict=True,
            )
        )
        self.inside = self._inside()

    def _inside(self) -> Atom | None:
        """The places of the padded operand that have its elements, as a mask; None for
        all.
        """
        if not self.windows.pads:
            return None
        ones = self.over(constant(True, TRUTH), self.x.aval.shape)
        return padded(self, ones, constant(False, TRUTH), self.windows)

    def tap(self, x: Atom, place: Shape) -> Var:
        """The elements of all windows that have this place in them."""
        strides, within = self.windows.strides, self.windows.within
        starts = tuple(k * by for k, by in zip(place, within, strict=True))
        stops = tuple(
            s + (n - 1) * by + 1 if n else s
            for s, n, by in zip(starts, self.size, strides, strict=True)
        )
        return self.sliced(x, starts, stops, strides)

    def over(self, value: Literal, shape: Shape | None = None) -> Var:
        """A constant for each window, or in a shape."""
        shape = self.size if shape is None else shape
        return self.bind("broadcast_in_dim", value, shape=shape, dtype=value.aval.dtype)

    def places(self) -> list[Shape]:
        """The places in a window, the last dimension fastest."""
        return list(itertools.product(*map(range, self.windows.extents)))

    def logic(self, primitive: str, *inputs: Atom) -> Var:
        """A truth for each window."""
        return self.bind(primitive, *inputs, shape=self.size, dtype=TRUTH)

    def picked(self, which: Atom, no: Atom, yes: Atom) -> Atom:
        """One of two for each window."""
        dtype = yes.aval.dtype
        return self.bind("select_n", which, no, yes, shape=self.size, dtype=dtype)

    def takes(
        self, value: Atom, best: Atom | None, any_: Atom | None, at: Shape
    ) -> Atom:
        """A mask: True where the element at a place is better than the best before."""
        inside = None if self.inside is None else self.tap(self.inside, at)
        if best is None:
            return inside or self.over(constant(True, TRUTH))
        found = self.logic(self.better, value, best)
        if self.dtype.kind not in "biu":
            nan = self.logic("ne", value, value)
            number = self.logic("eq", best, best)
            found = self.logic("or", found, self.logic("and", nan, number))
        if inside is not None and any_ is not None:
            found = self.logic("or", found, self.logic("not", any_))
            found = self.logic("and", found, inside)
        return found

    def chosen(self, candidates: Sequence[Atom], none: Atom) -> Atom:
        """The candidate at the place of each window's extreme."""
        best: Atom | None = None
        any_: Atom | None = None
        found = none
        for at, candidate in zip(self.places(), candidates, strict=True):
            value: Atom = self.tap(self.wide, at)
            which = self.takes(value, best, any_, at)
            found = self.picked(which, found, candidate)
            best = value if best is None else self.picked(which, best, value)
            if self.inside is not None:
                any_ = which if any_ is None else self.logic("or", any_, which)
        return found


def gather(eqn: Eqn) -> ClosedJaxpr:
    """The elements at which each window has its extreme."""
    build = WindowSelection(eqn)
    none = zero(build.dtype)
    u = padded(build, build.first, none, build.windows)
    candidates = [build.tap(u, at) for at in build.places()]
    return build.finish(build.chosen(candidates, build.over(none)))


def scatter(eqn: Eqn) -> ClosedJaxpr:
    """The sum of the windows' values that choose each place in a window."""
    build = WindowSelection(eqn)
    number = np.dtype("int32")
    places = build.places()
    numbers: list[Atom] = [build.over(constant(k, number)) for k in range(len(places))]
    which = build.chosen(numbers, build.over(constant(-1, number)))
    none = build.over(zero(build.dtype))
    parts: list[Atom] = []
    for k, at in enumerate(places):
        here = build.logic("eq", which, numbers[k])
        given = build.picked(here, none, build.first)
        parts.append(_scattered_back(build, given, at))
    return build.finish(joined(build, "add", parts))


def _scattered_back(build: WindowSelection, given: Atom, at: Shape) -> Atom:
    """The contributions of windows to their elements at a place, in the operand's
    shape.
    """
    windows, config, shape = build.windows, [], []
    for d, n in enumerate(build.x.aval.shape):
        stride, by = windows.strides[d], windows.apart[d]
        size = given.aval.shape[d]
        low = at[d] * windows.within[d] - windows.padding[d][0]
        reach = (size - 1) * stride + 1 if size else 0
        wide = (n - 1) * by + 1 if n else 0
        config.append((low, wide - low - reach, stride - 1))
        shape.append(wide)
    params: dict[str, Any] = {"shape": tuple(shape), "padding_config": tuple(config)}
    out = build.bind("pad", given, zero(build.dtype), dtype=build.dtype, **params)
    if all(by == 1 for by in windows.apart):
        return out
    return build.sliced(out, (0,) * len(shape), tuple(shape), windows.apart)


register("select_and_gather_add", Decomposition(gather))
register("select_and_scatter_add", Decomposition(scatter))
