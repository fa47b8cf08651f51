"""Functions that kernels call on a device, as source.

They are those of the CPU's kernels, which are plain arithmetic, so that a function has
one text and one accuracy. For a text that calls what a device lacks, there is another
one here.

A product has a text of its own, too: the device's compiler would make one operation of
a product and a sum of two equations.
"""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import dedent

from traceir_numba import vecmath
from traceir_numba.device_functions import closure, function

# 2**23 and 2**52: greater numbers are whole. Added and subtracted, they round to even.
WHOLE = {"f32": 8388608.0, "f64": 4503599627370496.0}


# By the function's name without its dtype: a text, and what it calls. NVVM makes one
# instruction of a product and a sum, but none of two sums.
TEXTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "round_even": (
        """
        def {name}(x):
            size = abs(x)
            big = {t}({whole})
            whole = (size + big) - big if size < big else size
            return {t}(math.copysign(whole, x))
        """,
        (),
    ),
    "round_away": (
        """
        def {name}(x):
            size = abs(x)
            whole = floor_{t}(size)
            up = whole + {t}(1.0) if size - whole >= {t}(0.5) else whole
            return {t}(math.copysign(up, x)) if size < {t}({whole}) else x
        """,
        ("floor",),
    ),
    "floor": (
        """
        def {name}(x):
            whole = round_even_{t}(x)
            less = whole - {t}(1.0) if whole > x else whole
            return less if abs(x) < {t}({whole}) else x
        """,
        ("round_even",),
    ),
    "ceil": (
        """
        def {name}(x):
            whole = round_even_{t}(x)
            more = whole + {t}(1.0) if whole < x else whole
            more = {t}(math.copysign(more, x))
            return more if abs(x) < {t}({whole}) else x
        """,
        ("round_even",),
    ),
    "fmod": ("def {name}(x, y):\n    return {t}(math.fmod(x, y))", ()),
    "times": (
        """
        def {name}(x, y):
            \"\"\"x * y, rounded before a sum takes it.\"\"\"
            return cuda.fma(x, y, {t}(-0.0))
        """,
        (),
    ),
}

# What the real functions call of NumPy, and what they call on a device.
IN_REAL = {"np.rint(": "round_even_f64", "np.floor(": "floor_f64"}

FMA = '''\
@function
def fma(x, y, z):
    """x * y + z, rounded once."""
    return cuda.fma(x, y, z)'''


def own(name: str) -> tuple[str, tuple[str, ...]] | None:
    """A device's own text of a function, and its callees; None for most."""
    base, _, t = name.rpartition("_")
    if base not in TEXTS or t not in WHOLE:
        return None
    text, needs = TEXTS[base]
    called = tuple(f"{needed}_{t}" for needed in needs)
    return dedent(text).strip().format(name=name, t=t, whole=WHOLE[t]), called


def source(names: Iterable[str]) -> str:
    """The text of some functions and all that they call, callees first.

    >>> print(source(["floor_f32"]))
    @function
    def round_even_f32(x):
        size = abs(x)
        big = f32(8388608.0)
        whole = (size + big) - big if size < big else size
        return f32(math.copysign(whole, x))
    <BLANKLINE>
    <BLANKLINE>
    @function
    def floor_f32(x):
        whole = round_even_f32(x)
        less = whole - f32(1.0) if whole > x else whole
        return less if abs(x) < f32(8388608.0) else x
    """
    names = list(names)
    real = [f.name for f in closure(names) if f.name in vecmath.FUNCTIONS]
    parts: dict[str, str] = {}
    if real:
        text = _real(real)
        for called, name in IN_REAL.items():
            if called in text:
                _visit(name, parts)
                text = text.replace(called, f"{name}(")
        parts["vecmath"] = text
    for name in names:
        _visit(name, parts)
    return "\n\n\n".join(parts.values())


def _visit(name: str, parts: dict[str, str]) -> None:
    if name in parts or name in vecmath.FUNCTIONS:
        return
    found = own(name)
    text, needs = found or (function(name).text, function(name).needs)
    for needed in needs:
        _visit(needed, parts)
    parts[name] = f"@function\n{text}"


def _real(names: Iterable[str]) -> str:
    """Real functions; an instruction that they use is a device's."""
    text = vecmath.source(names)
    before, found, rest = text.partition("@intrinsic\ndef fma")
    if not found:
        return text
    _, _, after = rest.partition("generate\n")
    # A comment of what is left out stands above it.
    *lines, last = before.rstrip("\n").split("\n")
    kept = "\n".join(lines if last.startswith("#") else [*lines, last])
    return "\n\n\n".join(t.strip("\n") for t in (kept, FMA, after) if t.strip("\n"))
