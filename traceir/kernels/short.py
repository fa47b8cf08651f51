"""What kernels come down to for operands of known types: the same, bit by bit, by less.

Between a call and NumPy's function a kernel decides by its params and its operands.
Where both are known before, so is what it decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import methodcaller
from typing import Any

import numpy as np

from traceir.avals import ShapedArray
from traceir.kernels.contract import MATMUL
from traceir.kernels.pointwise import REALS
from traceir.kernels.registry import Kernel

Types = Sequence[ShapedArray]
Rule = Callable[[Types, Mapping[str, Any]], Kernel | None]
DOT = (((0,), (0,)), ((), ()))
# The ranks of operands whose product is NumPy's, by what is summed.
PRODUCTS = {MATMUL: {(2, 2), (2, 1)}, DOT: {(1, 1)}}


def short(primitive: str, types: Types, params: Mapping[str, Any]) -> Kernel | None:
    """The function that a kernel calls in the end; None where it does more.

    >>> short("integer_pow", [ShapedArray((2,), "float32")], {"y": 2})
    <ufunc 'square'>
    """
    rule = SHORT.get(primitive)
    return None if rule is None else rule(types, params)


def _dot(types: Types, params: Mapping[str, Any]) -> Kernel | None:
    x, y = types
    asked = params.get("preferred_element_type")
    ranks = PRODUCTS.get(params["dimension_numbers"], set())
    same = asked is None or asked == x.dtype == y.dtype
    return np.matmul if same and (x.ndim, y.ndim) in ranks else None


def _power(types: Types, params: Mapping[str, Any]) -> Kernel | None:
    return np.square if params["y"] == 2 else None


def _reshape(types: Types, params: Mapping[str, Any]) -> Kernel | None:
    return methodcaller("reshape", params["new_sizes"])


def _transpose(types: Types, params: Mapping[str, Any]) -> Kernel | None:
    return methodcaller("transpose", params["permutation"])


def _real(function: Kernel) -> Rule:
    return lambda types, params: function


SHORT: dict[str, Rule] = {
    "dot_general": _dot,
    "integer_pow": _power,
    "reshape": _reshape,
    "transpose": _transpose,
    **{name: _real(function) for name, function in REALS.items()},
}
