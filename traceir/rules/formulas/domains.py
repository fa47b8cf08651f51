"""Domains from which params of equations are drawn. Serves: program.domain"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

# How exact a product asks to be, for each operand; text has them as JAX prints them.
PRECISIONS: Final = ("Precision.DEFAULT", "Precision.HIGH", "Precision.HIGHEST")

# What becomes of a place outside an array; text has them as JAX prints them.
INDEX_MODES: Final = (
    "GatherScatterMode.CLIP",
    "GatherScatterMode.FILL_OR_DROP",
    "GatherScatterMode.PROMISE_IN_BOUNDS",
)


# Who decides layouts along an axis of a mesh.
AXIS_KINDS: Final = ("Auto", "Explicit", "Manual")

Domain = Callable[[Any], bool]


def _or_none(domain: Domain) -> Domain:
    return lambda value: value is None or domain(value)


def _tuple(domain: Domain, count: int | None = None) -> Domain:
    """Tuples of elements of a domain: so many, or any number."""

    def holds(value: Any) -> bool:
        if not isinstance(value, tuple) or count not in (None, len(value)):
            return False
        return all(map(domain, value))

    return holds


def _is_flag(value: Any) -> bool:
    return type(value) is bool


def _is_int(value: Any) -> bool:
    return type(value) is int


def _is_dtype(value: Any) -> bool:
    return isinstance(value, np.dtype)


def _is_name(value: Any) -> bool:
    return type(value) is str


def _is_axis_name(value: Any) -> bool:
    # A tuple is several names, a number is a dimension; what else is hashed is a name.
    return not isinstance(value, tuple | int | list | dict | set | None)


def _is_axis(value: Any) -> bool:
    """True of the name of an axis of a mesh, its size, and who decides along it."""
    if not isinstance(value, tuple) or len(value) != 3:
        return False
    name, size, kind = value
    return _is_axis_name(name) and _is_int(size) and kind in AXIS_KINDS


def _is_program(value: Any) -> bool:
    # `ir` stands to the right of the rules, so a program is known by what it has.
    return hasattr(value, "in_avals") and hasattr(value, "out_avals")


_INTS = _tuple(_is_int)
_NUMBERS = _tuple(_INTS, 5)

DOMAINS: Final[dict[str, Domain]] = {
    "none": lambda value: value is None,
    "flag": _is_flag,
    "int": _is_int,
    "name": _is_name,
    "axes": _INTS,
    "shape": _INTS,
    "indices": _INTS,
    "maybe_indices": _or_none(_INTS),
    "dtype": _is_dtype,
    "maybe_dtype": _or_none(_is_dtype),
    "dimension_numbers": _tuple(_tuple(_INTS, 2), 2),
    "convolution": _tuple(_INTS, 3),
    "padding": _tuple(_tuple(_is_int, 3)),
    "precision": _or_none(_tuple(lambda v: type(v) is str and v in PRECISIONS, 2)),
    "gather_numbers": _NUMBERS,
    "scatter_numbers": _NUMBERS,
    "index_mode": lambda value: type(value) is str and value in INDEX_MODES,
    "maybe_number": _or_none(lambda v: type(v) in (bool, int, float, complex)),
    "axis_name": _is_axis_name,
    "axis_names": _tuple(lambda v: _is_int(v) or _is_axis_name(v)),
    "pairs": _tuple(_tuple(_is_int, 2)),
    "jaxpr": _is_program,
    "jaxprs": _tuple(_is_program),
    "function": lambda value: callable(value) and hasattr(value, "name"),
    "flags": _tuple(_is_flag),
    "maybe_name": _or_none(lambda value: isinstance(value, str)),
    "text": _is_name,
    "tree": lambda value: hasattr(value, "num_leaves") and hasattr(value, "unflatten"),
    "options": _tuple(_tuple(lambda _: True, 2)),
    "avals": _tuple(lambda v: hasattr(v, "weak_type")),
    "mesh": _tuple(_is_axis),
    "name_set": _tuple(_is_axis_name),
    "specs": _tuple(_tuple(_tuple(_is_axis_name))),
}
# Those of params that hold programs.
PROGRAMS: Final = frozenset({"jaxpr", "jaxprs"})
