"""Bitcasts, and rounding to formats of fewer digits.

Serves: bitcast_convert_type.*, reduce_precision.*
"""

from __future__ import annotations

from textwrap import dedent

import numpy as np

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Literal, Var, sort_params
from traceir_numba.device_functions import TEMPLATES, DeviceFunction, short
from traceir_numba.emitters.decompositions import DecompositionBuilder
from traceir_numba.emitters.kinds import Elementwise, ExpressionContext, register

# -- patterns -------------------------------------------------------------------------


def bitcast(e: ExpressionContext, x: str) -> str:
    """The bits as a number of the same width."""
    source, target = np.dtype(e.operand), np.dtype(e.dtype)
    if source == target:
        return x
    if source.kind == "f":
        x = e.call(f"as_bits_{short(e.operand)}", x)
    if target.kind != "f":
        return e.cast(x)
    signed = f"i{8 * target.itemsize}"
    return e.call(f"as_float_{short(e.dtype)}", f"{signed}({x})")


class Patterns(DecompositionBuilder):
    """A bitcast to another width, by shifts of unsigned numbers."""

    def __init__(self, eqn: Eqn) -> None:
        super().__init__(eqn)
        self.x = self.operands[0]
        self.target: np.dtype = eqn.outputs[0].aval.dtype
        self.shape = eqn.outputs[0].aval.shape

    def of(
        self,
        primitive: str,
        dtype: np.dtype,
        shape: tuple[int, ...],
        /,
        *inputs: Atom,
        **params: object,
    ) -> Var:
        """Apply a primitive; the result has this dtype and shape."""
        out = Var(ShapedArray(shape, dtype))
        given = sort_params(params)
        self.eqns.append(Eqn(primitive, inputs, (out,), given, source=self.eqn.source))
        return out

    def cast(self, x: Atom, dtype: np.dtype) -> Var:
        """The bits of numbers of the same width."""
        name = "bitcast_convert_type"
        return self.of(name, dtype, x.aval.shape, x, new_dtype=dtype)

    def converted(self, x: Atom, dtype: np.dtype) -> Var:
        """Unsigned numbers of another width; upper bits are lost."""
        return self.of(
            "convert_element_type",
            dtype,
            x.aval.shape,
            x,
            new_dtype=dtype,
            weak_type=False,
            sharding=None,
        )

    def narrower(self) -> Atom:
        """The lowest bits first, along a new last dimension."""
        x, target = self.x, self.target
        wide = np.dtype(f"u{x.aval.dtype.itemsize}")
        narrow = np.dtype(f"u{target.itemsize}")
        word = self.cast(x, wide)
        parts = []
        for k in range(wide.itemsize // narrow.itemsize):
            by = self.amount(wide, 8 * narrow.itemsize * k)
            name = "shift_right_logical"
            moved = self.of(name, wide, x.aval.shape, word, by) if k else word
            parts.append(self.cast(self.converted(moved, narrow), target))
        return self.of("stack", target, self.shape, *parts, axis=x.aval.ndim)

    def wider(self) -> Atom:
        """Each row of the last dimension put together, its first lowest."""
        x, target = self.x, self.target
        narrow = np.dtype(f"u{x.aval.dtype.itemsize}")
        wide = np.dtype(f"u{target.itemsize}")
        words = self.converted(self.cast(x, narrow), wide)
        last = x.aval.ndim - 1
        found: Atom | None = None
        for k in range(x.aval.shape[last]):
            ends = [(0, n) for n in self.shape] + [(k, k + 1)]
            part = self.of(
                "slice",
                wide,
                (*self.shape, 1),
                words,
                start_indices=tuple(a for a, _ in ends),
                limit_indices=tuple(b for _, b in ends),
                strides=None,
            )
            part = self.of("squeeze", wide, self.shape, part, dimensions=(last,))
            if found is None:
                found = part
                continue
            by = self.amount(wide, 8 * narrow.itemsize * k)
            part = self.of("shift_left", wide, self.shape, part, by)
            found = self.of("or", wide, self.shape, found, part)
        assert found is not None
        return self.cast(found, target)

    def amount(self, dtype: np.dtype, bits: int) -> Literal:
        """The number of bits by which a word is shifted."""
        return Literal(dtype.type(bits), ShapedArray((), dtype))


def between_widths(eqn: Eqn) -> ClosedJaxpr | None:
    """The program of a bitcast that changes the width; None for one that does not."""
    source, target = eqn.inputs[0].aval.dtype, eqn.outputs[0].aval.dtype
    if source.itemsize == target.itemsize:
        return None
    build = Patterns(eqn)
    wide = source.itemsize > target.itemsize
    return build.finish(build.narrower() if wide else build.wider())


register("bitcast_convert_type", Elementwise(bitcast, decompose=between_widths))


# -- fewer digits ---------------------------------------------------------------------


def shortened(e: ExpressionContext, x: str) -> str:
    """Rounding by the bits, in one function for all formats."""
    dtype = np.dtype(e.dtype)
    fraction = int(np.finfo(dtype).nmant)
    own = 8 * dtype.itemsize - 1 - fraction
    power, kept = (
        int(str(e.params["exponent_bits"])),
        int(str(e.params["mantissa_bits"])),
    )
    drop = max(0, fraction - kept)
    bias, fewer = (1 << own - 1) - 1, (1 << power - 1) - 1
    high = (bias + fewer + 1 if power < own else (1 << own) - 1) << fraction
    low = (bias - fewer + 1 if power < own else 0) << fraction
    half = (1 << drop - 1) - 1 if drop else 0
    word = f"i{8 * dtype.itemsize}"
    given = (f"{word}({n})" for n in (drop, int(drop > 0), half, low, high))
    return e.call(f"shortened_{short(e.dtype)}", x, *given)


def _shortened(name: str, dtype: str) -> DeviceFunction:
    """The size is rounded as a number of bits, in which a carry is the exponent's."""
    found = np.dtype(dtype)
    bits = 8 * found.itemsize
    most = ((1 << bits - 1 - int(np.finfo(found).nmant)) - 1) << int(
        np.finfo(found).nmant
    )
    t, i = short(dtype), f"i{bits}"
    text = f"""
    def {name}(x, drop, odd, half, low, high):
        bits = as_bits_{t}(x)
        size = {i}(bits & {i}({(1 << bits - 1) - 1}))
        sign = {i}(bits ^ size)
        size = {i}(size + half + ((size >> drop) & odd))
        size = {i}((size >> drop) << drop)
        size = {i}({most}) if (size >= high) | (size < {i}(0)) else size
        size = {i}(0) if size < low else size
        return x + x if x != x else as_float_{t}({i}(sign | size))
    """
    args = dtype, *[f"int{bits}"] * 5
    calls = f"as_bits_{t}", f"as_float_{t}"
    return DeviceFunction(name, args, dtype, dedent(text).strip(), calls)


TEMPLATES["shortened"] = _shortened
register("reduce_precision", Elementwise(shortened))
