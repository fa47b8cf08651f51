"""Params that are texts, trees, types or options.

Serves: text.opaque, text.syntax
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any

import numpy as np

from traceir.ir.avals import ShapedArray
from traceir.pytrees.flatten import structure
from traceir.pytrees.treedef import TreeDef

# A text stands bare up to the next param; what looks quoted is quoted.
_QUOTED = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\"""")
_STARS = re.compile(rf"({_QUOTED.pattern})|\*")
_TYPE = re.compile(r"ShapedArray\((\w+)\[([\d,]*)\](, weak_type=True)?\)")


def _text(value: Any, exact: bool) -> str:
    return repr(value) if exact or value[:1] in ("'", '"') else str(value)


def _repr(value: Any, exact: bool) -> str:
    return repr(value)


# Params that are numbers of dimensions, each list of them under a name: the name of
# the whole, and those of the lists.
RECORDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "convolution": ("ConvDimensionNumbers", ("lhs_spec", "rhs_spec", "out_spec")),
    "gather_numbers": (
        "GatherDimensionNumbers",
        (
            "offset_dims",
            "collapsed_slice_dims",
            "start_index_map",
            "operand_batching_dims",
            "start_indices_batching_dims",
        ),
    ),
    "scatter_numbers": (
        "ScatterDimensionNumbers",
        (
            "update_window_dims",
            "inserted_window_dims",
            "scatter_dims_to_operand_dims",
            "operand_batching_dims",
            "scatter_indices_batching_dims",
        ),
    ),
}
# The names of the lists, by that of the whole.
FIELDS = dict(RECORDS.values())


def _record(domain: str, value: Any, exact: bool) -> str:
    name, fields = RECORDS[domain]
    parts = (f"{field}={part!r}" for field, part in zip(fields, value, strict=True))
    return f"{name}({', '.join(parts)})"


# How a param of such a domain is written; `exact` is for the full text.
WRITERS: Mapping[str, Callable[[Any, bool], str]] = {
    "text": _text,
    "tree": _repr,
    "avals": _repr,
    "options": _repr,
    "axis_names": _repr,
    **{domain: partial(_record, domain) for domain in RECORDS},
}


def writable(value: Hashable) -> bool:
    """True if text can stand for a tree or a type.

    >>> writable(structure((1, [2]))), writable(ShapedArray((2,), "float32"))
    (True, True)
    """
    if isinstance(value, TreeDef):
        return read_tree(repr(value)) is value
    return isinstance(value, ShapedArray)


def read_text(text: str) -> str:
    """The text that a param is, quoted or not.

    >>> read_text("x={x}"), read_text("'x={x}'")
    ('x={x}', 'x={x}')
    """
    return str(ast.literal_eval(text)) if _QUOTED.fullmatch(text) else text


def read_tree(text: str) -> TreeDef | None:
    """The structure that a text stands for, None for one of a registered class.

    >>> read_tree("PyTreeDef(((*,), {'x': *}))")
    PyTreeDef(((*,), {'x': *}))
    """
    inner = text.removeprefix("PyTreeDef(").removesuffix(")")
    leaves = _STARS.sub(lambda found: found[1] or "0", inner)
    try:
        return structure(ast.literal_eval(leaves))
    except (ValueError, SyntaxError, TypeError):
        return None


def read_type(text: str, dtypes: Mapping[str, np.dtype]) -> ShapedArray | None:
    """The abstract value that a text stands for, None if there is none.

    >>> read_type("ShapedArray(float32[2,3])", {"float32": np.dtype("float32")})
    ShapedArray(float32[2,3])
    """
    found = _TYPE.fullmatch(text)
    if found is None or found[1] not in dtypes:
        return None
    shape = tuple(int(n) for n in found[2].split(",") if n)
    return ShapedArray(shape, dtypes[found[1]], found[3] is not None)
