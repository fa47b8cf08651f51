"""Types, programs and params to try formulas on: a few of every domain."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from traceir.avals import ShapedArray
from traceir.ir import HostFunction
from traceir.pytree import structure
from traceir.rules.domains import INDEX_MODES

AVALS = (
    ShapedArray((), "float32", weak_type=True),
    ShapedArray((3,), "float32"),
    ShapedArray((2, 3), "int32"),
    ShapedArray((2, 1), "bool"),
)
PROGRAM = SimpleNamespace(in_avals=AVALS[:1], out_avals=AVALS[1:2])
SAMPLES: dict[str, tuple[Any, ...]] = {
    "none": (None,),
    "flag": (False, True),
    "int": (0, 1, -2),
    "name": ("f",),
    "axes": ((0,), (1, 0), (3,)),
    "shape": ((3,), (2, 3), (6,)),
    "indices": ((0,), (0, 1)),
    "maybe_indices": (None, (1, 2)),
    "dtype": (np.dtype("int32"), np.dtype("float32")),
    "maybe_dtype": (None, np.dtype("float32")),
    "dimension_numbers": ((((1,), (0,)), ((), ())), (((0,), (0,)), ((1,), (1,)))),
    "convolution": (((0, 1, 2), (0, 1, 2), (0, 1, 2)), ((0, 1), (1, 0), (1, 0))),
    "precision": (None, ("Precision.HIGH", "Precision.DEFAULT")),
    "gather_numbers": (((), (0,), (0,), (), ()), ((1,), (0,), (0,), (), ())),
    "scatter_numbers": (((), (0,), (0,), (), ()), ((1,), (0,), (0,), (), ())),
    "index_mode": INDEX_MODES,
    "maybe_number": (None, 2, float("inf")),
    "jaxpr": (PROGRAM,),
    "jaxprs": ((PROGRAM,), (PROGRAM, PROGRAM)),
    "padding": (((0, 1, 0),), ((-1, 2, 1), (0, 0, 0))),
    "axis_name": ("i",),
    "axis_names": (("i",), ("i", 0)),
    "pairs": (((0, 1), (1, 0)),),
    "function": (HostFunction("f"),),
    "flags": ((True, False), ()),
    "avals": (AVALS[:2], ()),
    "maybe_name": (None, "expand_dims"),
    "text": ("{}",),
    "tree": (structure((0,)),),
    "options": ((), (("precision", 3),)),
}
