"""Zeros that rules of users are told of, in place of arrays of zeros.

Serves: custom_jvp.types, custom_vjp.types
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.dtypes import float0
from traceir.ir.avals import ShapedArray
from traceir.pytrees import flatten
from traceir.tracing.trace import Value, typeof
from traceir.transforms.autodiff.arguments import as_array
from traceir.transforms.autodiff.jvp_trace import is_inexact
from traceir.transforms.rules.derivative_templates import zeros
from traceir.transforms.rules.registry import Tangent, Zero


class SymbolicZero:
    """A tangent or cotangent that is zero everywhere, as a rule of a user gets it.

    It has the type of an array and no elements; a rule may return it.

    >>> zero = SymbolicZero(ShapedArray((2,), "float32"))
    >>> zero, zero.shape, zero.dtype
    (SymbolicZero, (2,), dtype('float32'))
    """

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype; float0 for that of an integer or a boolean."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.aval.size

    @property
    def weak_type(self) -> bool:
        """True if the type is weak."""
        return self.aval.weak_type

    def __repr__(self) -> str:
        return "SymbolicZero"

    @staticmethod
    def from_primal_value(value: Value) -> SymbolicZero:
        """The zero tangent of a value."""
        return SymbolicZero(tangent_aval(typeof(value)))


class CustomVJPPrimal:
    """An argument of a forward rule: its value, and whether it is differentiated."""

    __slots__ = ("value", "perturbed")

    def __init__(self, value: Value, perturbed: bool) -> None:
        self.value = value
        self.perturbed = perturbed

    def __repr__(self) -> str:
        return f"CustomVJPPrimal(value={self.value!r}, perturbed={self.perturbed})"


def tangent_aval(aval: ShapedArray) -> ShapedArray:
    """The type of the tangents of a type: of float0 where there are none."""
    return aval if is_inexact(aval) else ShapedArray(aval.shape, float0)


def told(tangent: Tangent, aval: ShapedArray, symbolic: bool) -> Any:
    """A tangent as a rule takes it: an array, of dtype float0 where there is none, or a
    `SymbolicZero` where the rule has asked for these."""
    if symbolic and (isinstance(tangent, Zero) or not is_inexact(aval)):
        return SymbolicZero(tangent_aval(aval))
    if not is_inexact(aval):
        return np.zeros(aval.shape, float0)
    # Users ask arrays for their shape, and numbers have none.
    return as_array(zeros(aval) if isinstance(tangent, Zero) else tangent, str)


def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:
    """Zero tangents for a tree of values: arrays, or symbolic ones.

    >>> zero_from_primal((1.0, 2)), zero_from_primal(1.0, symbolic_zeros=True)
    ((Array(0., dtype=float32, weak_type=True), array((b'',),
      dtype=[('float0', 'V')])), SymbolicZero)
    """

    def one(value: Any) -> Any:
        aval = typeof(value)
        return told(Zero(aval), aval, symbolic_zeros)

    return flatten.map_(one, val)


def custom_vjp_primal_tree_values(tree: Any) -> Any:
    """The values of the arguments of a forward rule that has asked for symbolic zeros.

    >>> custom_vjp_primal_tree_values([CustomVJPPrimal(1.0, True)])
    [1.0]
    """
    return flatten.map_(lambda primal: primal.value, tree)
