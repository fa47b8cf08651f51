"""Scalar expressions over the bits of integers and floating numbers.

Serves: prim.* rows
"""

from __future__ import annotations

from textwrap import dedent

import numpy as np

from traceir_numba.device_functions import (
    TEMPLATES,
    DeviceFunction,
    Template,
    scalar,
    short,
)
from traceir_numba.emitters.kinds import ExpressionContext, called, emitter

called("ceil", "population_count", "clz")
called("shift_left", "shift_right_logical", "shift_right_arithmetic")


@emitter("is_finite")
def is_finite(e: ExpressionContext, x: str) -> str:
    """Neither an infinity nor NaN, of which no comparison holds."""
    return f"abs({x}) < {short(e.operand)}(inf)"


@emitter("nextafter")
def nextafter(e: ExpressionContext, x: str, y: str) -> str:
    """One step among the bits."""
    half = e.params.get("half")
    if half:
        return e.call(f"{half}_after", x, y)
    return e.call(f"nextafter_{short(e.dtype)}", x, y)


@emitter("xor")
def exclusive(e: ExpressionContext, x: str, y: str) -> str:
    """Of truths or of bits."""
    return f"{x} != {y}" if e.kind == "b" else e.wrap(f"{x} ^ {y}")


# -- functions that kernels call ------------------------------------------------------


def written(args: int, text: str, *needs: str) -> Template:
    """Functions of so many numbers of one dtype, of `bits`, whose text is a format.

    There, and in the names of functions that it calls, `t` is the dtype, and `i` and
    `u` are the integers of its width.
    """

    def make(name: str, dtype: str) -> DeviceFunction:
        bits = 8 * np.dtype(dtype).itemsize
        words = {"name": name, "t": short(dtype), "i": f"i{bits}", "u": f"u{bits}"}
        numbers = {"bits": bits, "most": bits - 1, "biased": bits + 1022}
        full, *calls = (x.format(**words, **numbers) for x in (dedent(text), *needs))
        return scalar(name, dtype, args, full, *calls)

    return make


def clz(name: str, dtype: str) -> DeviceFunction:
    """By the exponent of the number; one of 64 bits may be rounded up to another."""
    narrow = np.dtype(dtype).itemsize < 8
    return (_CLZ_BY_EXPONENT if narrow else _CLZ_BY_COUNTING)(name, dtype)


_CLZ_BY_EXPONENT = written(
    1,
    """
    def {name}(x):
        exponent = as_bits_f64(f64({u}(x))) >> 52
        return {t}({biased} - exponent) if x != {t}(0) else {t}({bits})
    """,
    "as_bits_f64",
)
# Bits up to the highest that is set are set, too, and then counted.
_CLZ_BY_COUNTING = written(
    1,
    """
    def {name}(x):
        n = {u}(x)
        n = n | (n >> {u}(1))
        n = n | (n >> {u}(2))
        n = n | (n >> {u}(4))
        n = n | (n >> {u}(8))
        n = n | (n >> {u}(16))
        n = n | (n >> {u}(32))
        return {t}({bits} - population_count_{u}({u}(n)))
    """,
    "population_count_{u}",
)
TEMPLATES["clz"] = clz
TEMPLATES["ceil"] = written(1, "def {name}(x):\n    return {t}(np.ceil(x))")
# Numbers of one sign are ordered as their bits are.
TEMPLATES["nextafter"] = written(
    2,
    """
    def {name}(x, y):
        bits = as_bits_{t}(x)
        further = (x < y) == (x > {t}(0.0))
        near = as_float_{t}({i}(bits + 1) if further else {i}(bits - 1))
        least = as_float_{t}({i}(1))
        near = near if x != {t}(0.0) else (least if y > {t}(0.0) else -least)
        near = y if x == y else near
        return x + y if (x != x) | (y != y) else near
    """,
    "as_bits_{t}",
    "as_float_{t}",
)
# Sums of two, four and eight bits side by side, then of all bytes at once.
TEMPLATES["population_count"] = written(
    1,
    """
    def {name}(x):
        n = u64({u}(x))
        n = n - ((n >> u64(1)) & u64(0x5555555555555555))
        pairs = u64(0x3333333333333333)
        n = (n & pairs) + ((n >> u64(2)) & pairs)
        n = (n + (n >> u64(4))) & u64(0x0F0F0F0F0F0F0F0F)
        return {t}((n * u64(0x0101010101010101)) >> u64(56))
    """,
)
# By more bits than there are, all are lost. A negative shift is a large one of the
# unsigned dtype. The mask tells the compiler that shifts are short, and so may stay
# within the dtype.
for _name, _sign in {"shift_left": "<<", "shift_right_logical": ">>"}.items():
    TEMPLATES[_name] = written(
        2,
        f"""
        def {{name}}(x, y):
            fits = {{u}}(y) < {{u}}({{bits}})
            moved = {{t}}({{u}}(x) {_sign} ({{u}}(y) & {{u}}({{most}})))
            return moved if fits else {{t}}(0)
        """,
    )
# Copies of the highest bit come from above, whether it is a sign or not.
TEMPLATES["shift_right_arithmetic"] = written(
    2,
    """
    def {name}(x, y):
        by = {u}(y) if {u}(y) < {u}({bits}) else {u}({most})
        return {t}({i}(x) >> {i}(by & {u}({most})))
    """,
)
