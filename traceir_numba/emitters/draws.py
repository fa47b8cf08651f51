"""Draws from NumPy's generators: calls of the functions that NumPy exports.

A generator is the address of its `bitgen_t`, as NumPy's C interface has it. Numbers
are drawn by NumPy's own functions, so the stream and its bits are NumPy's.

Serves: face.random
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import replace

from traceir_numba.device_functions import TEMPLATES, DeviceFunction, device_function
from traceir_numba.emitters.ziggurats import llvm_text

# NumPy's functions: how many real numbers they take besides the generator; each gives
# one. Those of integers take the least, how far it is to the greatest, and a mask.
REAL: Mapping[str, int] = {
    "random_standard_uniform": 0,
    "random_standard_normal": 0,
    "random_standard_exponential": 0,
    "random_normal": 2,
    "random_uniform": 2,
    "random_exponential": 1,
    "random_gamma": 2,
    "random_lognormal": 2,
    "random_laplace": 2,
}
INTEGER = "random_bounded_uint64"
EXPORTED: Mapping[str, tuple[tuple[str, ...], str]] = {
    **{name: (("float64",) * count, "float64") for name, count in REAL.items()},
    INTEGER: (("int64",) * 4, "int64"),
}
_TYPES = {"int64": "c_int64", "float64": "c_double"}


def reader_text(name: str) -> str:
    """One of NumPy's functions as a generated module has it."""
    args, result = EXPORTED[name]
    types = ", ".join(["c_int64", *(_TYPES[a] for a in args)])
    return (
        f"{name} = CDLL(np.random._generator.__file__).{name}\n"
        f"{name}.argtypes, {name}.restype = [{types}], {_TYPES[result]}"
    )


def _real(name: str) -> DeviceFunction:
    """A real number by the function of the same name."""
    exported = f"random_{name.removeprefix('draw_')}"
    args, _ = EXPORTED[exported]
    given = ", ".join(["generator", *("ab"[: len(args)])])
    text = f"def {name}({given}):\n    return {exported}({given})"
    return device_function(name, ("int64", *args), "float64", text)


def _uniform(name: str) -> DeviceFunction:
    """A real number between two."""
    text = f"""
    def {name}(generator, low, high):
        return random_uniform(generator, low, high - low)
    """
    return device_function(name, ("int64", "float64", "float64"), "float64", text)


def _of_word(name: str) -> DeviceFunction:
    """A normal or an exponential number: one word is enough for most."""
    made = _real(name)
    return replace(made, llvm=llvm_text(f"random_{name.removeprefix('draw_')}"))


def _scaled(name: str) -> DeviceFunction:
    """An exponential number of a scale."""
    text = f"""
    def {name}(generator, scale):
        return scale * draw_standard_exponential(generator)
    """
    args = ("int64", "float64")
    return device_function(name, args, "float64", text, "draw_standard_exponential")


def _normal(name: str) -> DeviceFunction:
    """A normal number of a mean and a deviation, where NumPy rounds twice."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return _real(name)
    text = f"""
    def {name}(generator, loc, scale):
        return loc + scale * draw_standard_normal(generator)
    """
    args = ("int64", "float64", "float64")
    return device_function(name, args, "float64", text, "draw_standard_normal")


def _standard_uniform(name: str) -> DeviceFunction:
    """A real number from 0 to 1, by the generator's own function: no call between."""
    return replace(_real(name), llvm=_NEXT_DOUBLE)


_NEXT_DOUBLE = """
define double @{symbol}(i64 %generator) nounwind alwaysinline {{
  %bits = inttoptr i64 %generator to ptr
  %state = load ptr, ptr %bits
  %place = getelementptr ptr, ptr %bits, i64 3
  %next = load ptr, ptr %place
  %x = call double %next(ptr %state)
  ret double %x
}}
"""


def _integers(name: str) -> DeviceFunction:
    """An integer of a range, by a product that says where in the range."""
    text = f"""
    def {name}(generator, low, high):
        return random_bounded_uint64(generator, low, high - 1 - low, 0, 0)
    """
    return device_function(name, ("int64",) * 3, "int64", text)


def _randint(name: str) -> DeviceFunction:
    """An integer of a range, by bits that are drawn until they are in it."""
    text = f"""
    def {name}(generator, low, high):
        most = high - 1 - low
        mask = most | (most >> 1)
        mask = mask | (mask >> 2)
        mask = mask | (mask >> 4)
        mask = mask | (mask >> 8)
        mask = mask | (mask >> 16)
        mask = mask | (mask >> 32)
        return random_bounded_uint64(generator, low, most, mask, 1)
    """
    return device_function(name, ("int64",) * 3, "int64", text)


def _legacy_gauss(name: str) -> DeviceFunction:
    """A number of the polar method, which makes two: one is kept for the next call."""
    text = f"""
    def {name}(generator):
        if kept_number(generator, 5) != 0.0:
            keep_number(generator, 5, 0.0)
            return kept_number(generator, 6)
        x = 0.0
        y = 0.0
        square = 0.0
        while square >= 1.0 or square == 0.0:
            x = 2.0 * random_standard_uniform(generator) - 1.0
            y = 2.0 * random_standard_uniform(generator) - 1.0
            square = x * x + y * y
        factor = math.sqrt(-2.0 * math.log(square) / square)
        keep_number(generator, 5, 1.0)
        keep_number(generator, 6, factor * x)
        return factor * y
    """
    made = device_function(name, ("int64",), "float64", text)
    return replace(made, llvm=_LEGACY_GAUSS)


_LEGACY_GAUSS = """
declare double @traceir_log(double)
declare double @llvm.sqrt.f64(double)
define double @{symbol}(i64 %generator) nounwind {{
  %bits = inttoptr i64 %generator to ptr
  %flag = getelementptr double, ptr %bits, i64 5
  %kept = getelementptr double, ptr %bits, i64 6
  %has = load double, ptr %flag
  %any = fcmp une double %has, 0.0
  br i1 %any, label %take, label %draw
take:
  store double 0.0, ptr %flag
  %old = load double, ptr %kept
  ret double %old
draw:
  %state = load ptr, ptr %bits
  %place = getelementptr ptr, ptr %bits, i64 3
  %next = load ptr, ptr %place
  br label %again
again:
  %a = call double %next(ptr %state)
  %b = call double %next(ptr %state)
  %aa = fmul double %a, 2.0
  %bb = fmul double %b, 2.0
  %x = fsub double %aa, 1.0
  %y = fsub double %bb, 1.0
  %xx = fmul double %x, %x
  %yy = fmul double %y, %y
  %r = fadd double %xx, %yy
  %far = fcmp oge double %r, 1.0
  %none = fcmp oeq double %r, 0.0
  %out = or i1 %far, %none
  br i1 %out, label %again, label %found
found:
  %log = call double @traceir_log(double %r)
  %twice = fmul double %log, -2.0
  %q = fdiv double %twice, %r
  %f = call double @llvm.sqrt.f64(double %q)
  %first = fmul double %f, %x
  %second = fmul double %f, %y
  store double 1.0, ptr %flag
  store double %first, ptr %kept
  ret double %second
}}
"""


def _legacy_normal(name: str) -> DeviceFunction:
    """A number of a normal distribution, as `RandomState` has it."""
    text = f"""
    def {name}(generator, loc, scale):
        return loc + scale * draw_legacy_gauss(generator)
    """
    args = ("int64", "float64", "float64")
    return device_function(name, args, "float64", text, "draw_legacy_gauss")


# What a reader's module has in place of loads and stores behind a generator.
KEPT = '''\
@intrinsic
def kept_number(types, generator, place):
    """A number that lies behind a generator's interface."""

    def generate(context, builder, signature, args):
        start = builder.inttoptr(args[0], ir.DoubleType().as_pointer())
        return builder.load(builder.gep(start, [args[1]]))

    return f64(generator, place), generate'''
KEEP = '''\
@intrinsic
def keep_number(types, generator, place, value):
    """Put a number behind a generator's interface."""

    def generate(context, builder, signature, args):
        start = builder.inttoptr(args[0], ir.DoubleType().as_pointer())
        builder.store(args[2], builder.gep(start, [args[1]]))
        return context.get_dummy_value()

    return void(generator, place, value), generate'''
TEMPLATES.update(
    {f"draw_{name.removeprefix('random_')}": _real for name in REAL},
    draw_standard_uniform=_standard_uniform,
    draw_standard_normal=_of_word,
    draw_standard_exponential=_of_word,
    draw_normal=_normal,
    draw_exponential=_scaled,
    draw_uniform=_uniform,
    draw_integers=_integers,
    draw_randint=_randint,
    draw_legacy_gauss=_legacy_gauss,
    draw_legacy_normal=_legacy_normal,
)
