"""Identifiers of generated source: those that it reserves for itself."""

from __future__ import annotations

import builtins
import keyword
import re

# Names that the generated code uses for its own ends.
_LOOPS = (
    "lo hi lane base width block start stop last step blocks tile better rows top row "
    "part parts point element rest thread count group groups owner line totals first "
    "before value share size"
)
_MODULE = (
    "np math cuda inf nan types void function kernel parallel in_order empty copy "
    "matmul"
)
# Functions beside the program's own, which it calls.
_HELPERS = "evaluated keep_number kept_number product row_of strided_product"
OWN = frozenset(f"{_LOOPS} {_MODULE}".split())
# What else a generated module has or calls: casts and dtypes, functions by dtype.
_TAKEN = re.compile(r"(\w*_)?[bfiu](8|16|32|64)p?|[A-Z_]+\d+|fma|empty_large")


def safe_name(name: str) -> str:
    """A name that Python and the generated code leave free."""
    return f"{name}_" if keyword.iskeyword(name) or name in OWN else name


def program_name(name: str) -> str:
    """A name for a function of the generated module, whose locals may have it, too.

    >>> program_name("step"), program_name("rk4"), program_name("f32")
    ('step', 'rk4', 'f32_')

    A function may have been given any name.

    >>> program_name("2 * x")
    '_2_x'
    """
    name = re.sub(r"\W+", "_", name).strip("_") or "program"
    name = name if name.isidentifier() else f"_{name}"
    known = f"{_MODULE} {_HELPERS}".split()
    taken = keyword.iskeyword(name) or name in known or hasattr(builtins, name)
    return f"{name}_" if taken or _TAKEN.fullmatch(name) else name
