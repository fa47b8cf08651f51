"""Types, programs and params to try formulas on: a few of every domain."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import HostFunction
from traceir.oracle.scalar_interpreter import Elements
from traceir.pytrees.flatten import structure
from traceir.reference.kernels.random import keys_of
from traceir.rules.formulas.domains import INDEX_MODES

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
    "mesh": ((("x", 2, "Auto"),), (("x", 3, "Auto"), ("y", 2, "Manual"))),
    "name_set": (("x",), ("x", "y")),
    "specs": (((("x",),),), (((), ("x",)), ())),
    "function": (HostFunction("f"),),
    "flags": ((True, False), ()),
    "avals": (AVALS[:2], ()),
    "maybe_name": (None, "expand_dims"),
    "text": ("{}",),
    "tree": (structure((0,)),),
    "options": ((), (("precision", 3),)),
}

ONE = np.eye(2, dtype="float32")
WHOLE = ONE.astype("complex64")
FIRST = np.zeros(2, "int32")
WORDS = np.array([[1, 2]], "uint32")
ONE_KEY = keys_of(WORDS)
MADE = {"x": ONE_KEY, "shape": (2,), "partitionable": True}
# What fits together, of primitives whose formulas need it: operands, results, params.
FITTING: dict[str, dict[str, Any]] = {
    "conv_general_dilated": {
        "x": np.ones((1, 1, 3), "float32"),
        "y": np.ones((1, 1, 2), "float32"),
        "dimension_numbers": ((0, 1, 2),) * 3,
        "batch_group_count": 1,
        "feature_group_count": 1,
        "lhs_dilation": (1,),
        "rhs_dilation": (1,),
        "padding": ((0, 0),),
        "window_strides": (1,),
        "preferred_element_type": None,
    },
    "cholesky": {"x": ONE, "lower": ONE},
    "eig": {
        "x": ONE,
        "values": np.ones(2, "complex64"),
        "first": WHOLE,
        "second": WHOLE,
        "compute_left_eigenvectors": True,
        "compute_right_eigenvectors": True,
        "enable_eigvec_derivs": False,
    },
    "lu": {"x": ONE, "factors": ONE, "exchanges": FIRST, "permutation": FIRST},
    "lu_pivots_to_permutation": {"x": FIRST, "permutation_size": 2},
    "schur": {
        "x": ONE,
        "form": ONE,
        "vectors": ONE,
        "compute_schur_vectors": True,
        "sort_eig_vals": False,
    },
    "hessenberg": {"x": ONE, "packed": ONE, "scales": ONE[0, :1]},
    "svd": {"x": ONE, "values": ONE[0], "left": ONE, "right": ONE},
    "qr": {"x": ONE, "q": ONE, "r": ONE},
    "eigh": {"x": ONE, "vectors": ONE, "values": ONE[0]},
    "random_wrap": {"x": WORDS, "impl": "fry"},
    "random_unwrap": {"x": ONE_KEY},
    "random_clone": {"x": ONE_KEY},
    "random_split": MADE,
    "random_bits": {**MADE, "bit_width": 32},
    "random_fold_in": {"x": ONE_KEY, "y": WORDS[0, 1:]},
    "random_gamma": {
        "x": ONE_KEY,
        "a": ONE[:1],
        "drawn": ONE[:1],
        "log_space": False,
        "partitionable": True,
    },
    "triangular_solve": {"a": ONE, "y": ONE, "x": ONE},
    "shard_map": {
        "xs": (Elements.of(np.ones((), "float32")),),
        "in_specs": ((),),
        "mesh": (("x", 2, "Auto"),),
        "newly_manual_axes": ("x",),
        "out_specs": ((("x",),),),
    },
}


def fitting(prim: str) -> dict[str, Any]:
    """Operands, results and params that fit together, where samples do not."""
    given = FITTING.get(prim, {})
    arrays = {n: Elements.of(v) for n, v in given.items() if isinstance(v, np.ndarray)}
    units = {"u": Fraction(1, 1 << 24), "tiny": Fraction(1, 1 << 126)}
    return {**given, **arrays, **units} if given else {}
