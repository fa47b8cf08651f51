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


def _is_none(value: Any) -> bool:
    return value is None


def _is_flag(value: Any) -> bool:
    return type(value) is bool


def _is_int(value: Any) -> bool:
    return type(value) is int


def _is_ints(value: Any) -> bool:
    return type(value) is tuple and all(type(v) is int for v in value)


def _is_dtype(value: Any) -> bool:
    return isinstance(value, np.dtype)


def _is_name(value: Any) -> bool:
    return type(value) is str


def _is_axis_name(value: Any) -> bool:
    # A tuple is several names, a number is a dimension; what else is hashed is a name.
    return not isinstance(value, tuple | int | list | dict | set | None)


def _is_axis_names(value: Any) -> bool:
    return type(value) is tuple and all(_is_int(v) or _is_axis_name(v) for v in value)


def _is_pairs(value: Any) -> bool:
    return type(value) is tuple and all(_is_pair(v) and _is_ints(v) for v in value)


def _is_program(value: Any) -> bool:
    # `ir` stands to the right of the rules, so a program is known by what it has.
    return hasattr(value, "in_avals") and hasattr(value, "out_avals")


def _is_programs(value: Any) -> bool:
    return type(value) is tuple and all(map(_is_program, value))


def _is_flags(value: Any) -> bool:
    return type(value) is tuple and all(map(_is_flag, value))


def _is_function(value: Any) -> bool:
    return callable(value) and hasattr(value, "name")


def _is_tree(value: Any) -> bool:
    return hasattr(value, "num_leaves") and hasattr(value, "unflatten")


def _is_options(value: Any) -> bool:
    return type(value) is tuple and all(map(_is_pair, value))


def _is_avals(value: Any) -> bool:
    return type(value) is tuple and all(hasattr(v, "weak_type") for v in value)


def _is_dimension_numbers(value: Any) -> bool:
    return _is_pair(value) and all(_is_pair(v) and all(map(_is_ints, v)) for v in value)


def _is_convolution(value: Any) -> bool:
    return type(value) is tuple and len(value) == 3 and all(map(_is_ints, value))


def _is_padding(value: Any) -> bool:
    triples = type(value) is tuple and all(map(_is_ints, value))
    return triples and all(len(v) == 3 for v in value)


def _is_precision(value: Any) -> bool:
    if value is None:
        return True
    return _is_pair(value) and all(type(v) is str and v in PRECISIONS for v in value)


def _is_index_numbers(value: Any) -> bool:
    return type(value) is tuple and len(value) == 5 and all(map(_is_ints, value))


def _is_index_mode(value: Any) -> bool:
    return type(value) is str and value in INDEX_MODES


def _is_number(value: Any) -> bool:
    return type(value) in (bool, int, float, complex)


def _is_pair(value: Any) -> bool:
    return type(value) is tuple and len(value) == 2


def _or_none(domain: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or domain(value)


DOMAINS: Final[dict[str, Callable[[Any], bool]]] = {
    "none": _is_none,
    "flag": _is_flag,
    "int": _is_int,
    "name": _is_name,
    "axes": _is_ints,
    "shape": _is_ints,
    "indices": _is_ints,
    "maybe_indices": _or_none(_is_ints),
    "dtype": _is_dtype,
    "maybe_dtype": _or_none(_is_dtype),
    "dimension_numbers": _is_dimension_numbers,
    "convolution": _is_convolution,
    "padding": _is_padding,
    "precision": _is_precision,
    "gather_numbers": _is_index_numbers,
    "scatter_numbers": _is_index_numbers,
    "index_mode": _is_index_mode,
    "maybe_number": _or_none(_is_number),
    "axis_name": _is_axis_name,
    "axis_names": _is_axis_names,
    "pairs": _is_pairs,
    "jaxpr": _is_program,
    "jaxprs": _is_programs,
    "function": _is_function,
    "flags": _is_flags,
    "maybe_name": _or_none(_is_name),
    "text": _is_name,
    "tree": _is_tree,
    "options": _is_options,
    "avals": _is_avals,
}
# Those of params that hold programs.
PROGRAMS: Final = frozenset({"jaxpr", "jaxprs"})
