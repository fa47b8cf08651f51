"""Functions that kernels call: source made from templates.

A function is named for its dtypes, as `div_i32`. A generated module contains those
that its kernels use, so it stays whole; the compiler makes them part of the kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from textwrap import dedent

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import short_dtype
from traceir_numba import cost_model, vecmath


@dataclass(frozen=True, slots=True)
class DeviceFunction:
    """A function on scalars and pointers (`float32*`).

    `needs` are those that it calls, `constants` names of `vecmath.VALUES`; `reads` are
    both where `text` is for readers, since the machine code is made otherwise, perhaps
    of a template of `llvm` text.
    """

    name: str
    args: tuple[str, ...]
    result: str | None
    text: str
    needs: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    llvm: str = ""


Template = Callable[..., DeviceFunction]
TEMPLATES: dict[str, Template] = {}


def template(make: Template) -> Template:
    """Register a maker of functions under its own name."""
    TEMPLATES[make.__name__] = make
    return make


@cache
def function(name: str) -> DeviceFunction:
    """The function of that name, such as `div_i32` or `i32_of_f64`.

    >>> print(function("floor_f32").text)
    def floor_f32(x):
        return f32(np.floor(x))
    """
    found = vecmath.FUNCTIONS.get(name)
    if found is not None:
        it = found
        return DeviceFunction(name, it.args, it.result, it.text, it.needs, it.constants)
    parts = name.split("_")
    if "of" in parts:
        target, _, operand = parts
        return TEMPLATES["convert"](name, DTYPES[target], DTYPES[operand])
    dtypes = [DTYPES[p] for p in parts if p in DTYPES]
    base = "_".join(p for p in parts if p not in DTYPES)
    return TEMPLATES[base](name, *dtypes)


def closure(names: Iterable[str], read: bool = False) -> list[DeviceFunction]:
    """Functions and all that they call, callees first; as texts are `read`, or run."""
    found: dict[str, DeviceFunction] = {}

    def visit(name: str) -> None:
        if name not in found:
            f = function(name)
            for needed in (*f.needs, *(f.reads if read else ())):
                if needed not in vecmath.VALUES:
                    visit(needed)
            found[name] = f

    for name in names:
        visit(name)
    return list(found.values())


INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
NUMBERS = ("bool", "float32", "float64", *INTEGERS)
DTYPES = {short_dtype(np.dtype(name)): name for name in NUMBERS}


def short(dtype: str) -> str:
    """The name of a dtype in generated source: `f32`.

    >>> short("float32"), short("bool")
    ('f32', 'bool_')
    """
    # `bool` itself must stay Python's: a reader's tools know it.
    return "bool_" if dtype == "bool" else short_dtype(np.dtype(dtype))


def limits(dtype: str) -> tuple[int, int]:
    """The least and the greatest integer of a dtype."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def device_function(
    name: str, args: tuple[str, ...], result: str | None, text: str, *needs: str
) -> DeviceFunction:
    """A function whose text may be indented, with those that it calls."""
    return DeviceFunction(name, args, result, dedent(text).strip(), needs)


def scalar(name: str, dtype: str, args: int, text: str, *needs: str) -> DeviceFunction:
    """A function of so many operands of one dtype, which is that of the result."""
    return device_function(name, (dtype,) * args, dtype, text, *needs)


# -- integers -----------------------------------------------------------------------


# Floating numbers in which a quotient of integers is exact once it is truncated: a
# quotient that is not whole differs from whole numbers by more than its rounding.
QUOTIENTS = {8: "f32", 16: "f32", 32: "f64"}


@template
def div(name: str, dtype: str) -> DeviceFunction:
    """Integer quotient towards zero; x/0 is -1, the least number by -1 is itself.

    In floating numbers it vectorises; no machine has vectors of integer quotients.
    """
    t, bits = short(dtype), 8 * np.dtype(dtype).itemsize
    real = QUOTIENTS.get(bits)
    if np.dtype(dtype).kind == "u":
        quotient = f"{real}(x) / {real}(d)" if real else "x // d"
        text = f"""
        def {name}(x, y):
            d = y if y != {t}(0) else {t}(1)
            q = {t}({quotient})
            return {t}({limits(dtype)[1]}) if y == {t}(0) else q
        """
        return scalar(name, dtype, 2, text)
    whole = f"q = {t}({real}(x) / {real}(d))" if real else _WHOLE.format(t=t)
    text = f"""
    def {name}(x, y):
        d = {t}(1) if (y == {t}(0)) | (y == {t}(-1)) else y
        {whole}
        q = {t}(-i64(x)) if y == {t}(-1) else q
        return {t}(-1) if y == {t}(0) else q
    """
    return scalar(name, dtype, 2, text)


_WHOLE = """q = x // d
        q = q + 1 if (q * d != x) & ((x < {t}(0)) != (d < {t}(0))) else q"""


@template
def floor_div(name: str, dtype: str) -> DeviceFunction:
    """Integer quotient rounded down; the least number by -1 is itself, x/0 is -2, and
    -1 for 0.

    >>> print(function("floor_div_i64").text)
    def floor_div_i64(x, y):
        q = i64(-i64(x)) if y == i64(-1) else x // y
        return i64(-1 - i64(x != i64(0))) if y == i64(0) else q
    """
    t = short(dtype)
    text = f"""
    def {name}(x, y):
        q = {t}(-i64(x)) if y == {t}(-1) else x // y
        return {t}(-1 - i64(x != {t}(0))) if y == {t}(0) else q
    """
    return scalar(name, dtype, 2, text)


@template
def rem(name: str, dtype: str) -> DeviceFunction:
    """Integer remainder with the dividend's sign; that of x by 0 is x.

    >>> print(function("rem_u8").text)
    def rem_u8(x, y):
        return u8(x - y * div_u8(x, y))
    """
    t = short(dtype)
    text = f"""
    def {name}(x, y):
        return {t}(x - y * div_{t}(x, y))
    """
    return scalar(name, dtype, 2, text, f"div_{t}")


@template
def convert(name: str, dtype: str, operand: str) -> DeviceFunction:
    """Floating to integer: towards zero, saturating; NaN gives 0."""
    t, s = short(dtype), short(operand)
    low, high = limits(dtype)
    text = f"""
    def {name}(x):
        y = x if x > {s}({float(low)!r}) else {s}({float(low)!r})
        y = y if x == x else {s}(0.0)
        fits = y < {s}({float(high + 1)!r})
        z = y if fits else {s}(0.0)
        return {t}(z) if fits else {t}({high})
    """
    return device_function(name, (operand,), dtype, text)


# -- floating -----------------------------------------------------------------------


@template
def floor(name: str, dtype: str) -> DeviceFunction:
    """The greatest whole number that is not greater."""
    t = short(dtype)
    return scalar(name, dtype, 1, f"def {name}(x):\n    return {t}(np.floor(x))")


@template
def times(name: str, dtype: str) -> DeviceFunction:
    """A product that no sum takes before it is rounded, whatever compiles it."""
    return scalar(name, dtype, 2, f"def {name}(x, y):\n    return x * y")


@template
def fmod(name: str, dtype: str) -> DeviceFunction:
    """The exact remainder with the dividend's sign, by the C library."""
    t = short(dtype)
    return scalar(name, dtype, 2, f"def {name}(x, y):\n    return {t}(np.fmod(x, y))")


@template
def round_even(name: str, dtype: str) -> DeviceFunction:
    """The nearest whole number, halves to the even one."""
    t = short(dtype)
    return scalar(name, dtype, 1, f"def {name}(x):\n    return {t}(np.rint(x))")


@template
def round_away(name: str, dtype: str) -> DeviceFunction:
    """The nearest whole number, halves away from zero."""
    t = short(dtype)
    text = f"""
    def {name}(x):
        whole = {t}(np.trunc(x))
        up = whole + {t}(math.copysign({t}(1.0), x))
        return up if abs(x - whole) >= {t}(0.5) else whole
    """
    return scalar(name, dtype, 1, text)


# -- loops --------------------------------------------------------------------------


@template
def smaller(name: str) -> DeviceFunction:
    """The smaller of two sizes."""
    text = f"def {name}(x, y):\n    return x if x < y else y"
    return scalar(name, "int64", 2, text)


@template
def nearest(name: str) -> DeviceFunction:
    """The nearest place from 0 to the last."""
    text = f"""
    def {name}(k, last):
        least = k if k > 0 else 0
        return least if least < last else last
    """
    return scalar(name, "int64", 2, text)


@template
def is_place(name: str) -> DeviceFunction:
    """The test that an index is from 0 to the last."""
    text = f"def {name}(k, last):\n    return (k >= 0) & (k <= last)"
    return DeviceFunction(name, ("int64", "int64"), "bool", text, ())


@template
def lanes_for(name: str) -> DeviceFunction:
    """The number of accumulators for a line of n elements."""
    long, most = cost_model.ROW_ACCUMULATORS, cost_model.SHORT_ROW
    short, least = cost_model.SHORT_ROW_ACCUMULATORS, cost_model.SEQUENTIAL_ROW
    text = f"""
    def {name}(n):
        few = n if n > 1 else 1
        return {long} if n > {most} else ({short} if n > {least} else few)
    """
    return scalar(name, "int64", 1, text)


def width_of(n: int) -> int:
    """The number that `lanes_for` gives.

    >>> width_of(3), width_of(100), width_of(1000)
    (3, 32, 128)
    """
    if n > cost_model.SHORT_ROW:
        return cost_model.ROW_ACCUMULATORS
    few = n <= cost_model.SEQUENTIAL_ROW
    return max(1, n) if few else cost_model.SHORT_ROW_ACCUMULATORS


@template
def block_rows(name: str) -> DeviceFunction:
    """The rows of a block of columns; each row has `between` lines."""
    block, above = cost_model.REDUCTION_BLOCK, cost_model.COLUMN_BLOCK_ROWS - 1
    text = f"""
    def {name}(between, columns):
        size = between * columns
        rows = {block} // (size if size > 1 else 1)
        least = ({above} + between) // (between if between > 1 else 1)
        most = rows if rows > least else least
        return most if most > 1 else 1
    """
    return scalar(name, "int64", 2, text)


@template
def lanes(name: str, dtype: str) -> DeviceFunction:
    """Accumulators, on the stack when compiled by the backend."""
    numpy = "bool_" if dtype == "bool" else dtype
    text = f"def {name}():\n    return np.empty({cost_model.COLUMN_TILE}, np.{numpy})"
    return DeviceFunction(name, (), dtype + "*", text)


@template
def fill(name: str, dtype: str) -> DeviceFunction:
    """Set the first n accumulators."""
    text = f"""
    def {name}(acc, n, value):
        for lane in range(n):
            acc[lane] = value
    """
    return device_function(name, (dtype + "*", "int64", dtype), None, text)


@template
def copy(name: str, dtype: str) -> DeviceFunction:
    """Copy n elements."""
    text = f"""
    def {name}(source, target, n):
        for k in range(n):
            target[k] = source[k]
    """
    args = dtype + "*", dtype + "*", "int64"
    return device_function(name, args, None, text)


@template
def exchange(name: str, dtype: str) -> DeviceFunction:
    """Exchange n elements."""
    text = f"""
    def {name}(one, other, n):
        for k in range(n):
            kept = one[k]
            one[k] = other[k]
            other[k] = kept
    """
    args = dtype + "*", dtype + "*", "int64"
    return device_function(name, args, None, text)
