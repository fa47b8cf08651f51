"""Bitcasts, and rounding to formats of fewer digits.

Serves: bitcast_convert_type.*, reduce_precision.*
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.dtypes import as_dtype, bits_of, finfo
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Var
from traceir_numba.device_functions import (
    TEMPLATES,
    DeviceFunction,
    device_function,
    short,
)
from traceir_numba.emitters.decompositions import DecompositionBuilder, constant
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


def word_of(bits: int) -> np.dtype:
    """The unsigned dtype of so many bits.

    >>> word_of(32), word_of(4)
    (dtype('uint32'), dtype(uint4))
    """
    return as_dtype(f"uint{bits}")


class Patterns(DecompositionBuilder):
    """A bitcast to another width, by shifts of unsigned numbers."""

    def __init__(self, eqn: Eqn) -> None:
        super().__init__(eqn)
        self.x = self.operands[0]
        self.target: np.dtype = eqn.outputs[0].aval.dtype
        self.shape = eqn.outputs[0].aval.shape

    def cast(self, x: Atom, dtype: np.dtype) -> Var:
        """The bits of numbers of the same width."""
        return self.bind("bitcast_convert_type", x, shape=x.aval.shape, dtype=dtype)

    def narrower(self) -> Atom:
        """The lowest bits first, along a new last dimension."""
        x, target = self.x, self.target
        whole, bits = bits_of(x.aval.dtype), bits_of(target)
        wide, narrow = word_of(whole), word_of(bits)
        word = self.cast(x, wide)
        parts = []
        for k in range(whole // bits):
            by = constant(bits * k, wide)
            own: dict[str, Any] = {"shape": x.aval.shape, "dtype": wide}
            moved = self.bind("shift_right_logical", word, by, **own) if k else word
            parts.append(self.cast(self.converted(moved, narrow), target))
        return self.bind("stack", *parts, axis=x.aval.ndim)

    def wider(self) -> Atom:
        """Each row of the last dimension put together, its first lowest."""
        x, target = self.x, self.target
        bits = bits_of(x.aval.dtype)
        wide = word_of(bits_of(target))
        words = self.converted(self.cast(x, word_of(bits)), wide)
        last = x.aval.ndim - 1
        found: Atom | None = None
        for k in range(x.aval.shape[last]):
            zeros = (0,) * len(self.shape)
            part = self.sliced(words, (*zeros, k), (*self.shape, k + 1))
            part = self.bind("squeeze", part, dtype=wide, dimensions=(last,))
            if found is None:
                found = part
                continue
            by = constant(bits * k, wide)
            part = self.bind("shift_left", part, by, dtype=wide)
            found = self.bind("or", found, part, dtype=wide)
        assert found is not None
        return self.cast(found, target)


def between_widths(eqn: Eqn) -> ClosedJaxpr | None:
    """The program of a bitcast that changes the width; None for one that does not."""
    source, target = eqn.inputs[0].aval.dtype, eqn.outputs[0].aval.dtype
    if bits_of(source) == bits_of(target):
        return None
    build = Patterns(eqn)
    wide = bits_of(source) > bits_of(target)
    return build.finish(build.narrower() if wide else build.wider())


register("bitcast_convert_type", Elementwise(bitcast, decompose=between_widths))


# -- fewer digits ---------------------------------------------------------------------


def shortened(e: ExpressionContext, x: str) -> str:
    """Rounding by the bits, in one function for each width; halves are their bits."""
    half = e.params.get("half")
    dtype = np.dtype(str(half or e.dtype))
    fraction = int(finfo(dtype).nmant)
    own = 8 * dtype.itemsize - 1 - fraction
    power, kept = (
        int(str(e.params["exponent_bits"])),
        int(str(e.params["mantissa_bits"])),
    )
    drop = max(0, fraction - kept)
    bias, fewer = (1 << own - 1) - 1, (1 << power - 1) - 1
    most = (1 << own) - 1 << fraction
    high = bias + fewer + 1 << fraction if power < own else most
    low = (bias - fewer + 1 if power < own else 0) << fraction
    tie = (1 << drop - 1) - 1 if drop else 0
    numbers = drop, int(drop > 0), tie, low, high
    if half:
        return e.call("shortened_u16", x, *(f"i32({n})" for n in (*numbers, most)))
    word = f"i{8 * dtype.itemsize}"
    return e.call(f"shortened_{short(e.dtype)}", x, *(f"{word}({n})" for n in numbers))


def _shortened(name: str, dtype: str) -> DeviceFunction:
    """The size is rounded as a number of bits, in which a carry is the exponent's."""
    found = np.dtype(dtype)
    if found.kind == "u":
        return _shortened_bits(name, dtype)
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
    return device_function(name, args, dtype, text, *calls)


def _shortened_bits(name: str, dtype: str) -> DeviceFunction:
    """The same of a half's bits; `most` are those of its infinity."""
    text = f"""
    def {name}(x, drop, odd, half, low, high, most):
        given = i32(x & 0x7FFF)
        sign = i32(x & 0x8000)
        size = i32(given + half + ((given >> drop) & odd))
        size = i32((size >> drop) << drop)
        size = most if size >= high else size
        size = i32(0) if size < low else size
        return x if given > most else u16(sign | size)
    """
    return device_function(name, (dtype, *["int32"] * 6), dtype, text)


TEMPLATES["shortened"] = _shortened
register("reduce_precision", Elementwise(shortened))
