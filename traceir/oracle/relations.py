"""The relations that rows demand of results, such as `q @ r = a`.

Serves: accuracy.relation
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from traceir.dtypes import is_key, kind_of
from traceir.exact.complexes import Complex
from traceir.exact.numerics import half_unit, least_normal
from traceir.exact.reals import Real
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import sort_params
from traceir.rules import Prim, Relation, Rules, Scope
from traceir.rules.applied import row_scope
from traceir.rules.formulas.helpers import box

Array = np.ndarray
Arrays = Sequence[Array]
NamedParams = Mapping[str, Any]
Index = tuple[int, ...]


class Elements:
    """An operand in a formula: its type, and exact elements by index."""

    __slots__ = ("shape", "dtype", "weak_type", "_elements")

    def __init__(self, aval: ShapedArray | Array, elements: Mapping[Index, Any]):
        self.shape = aval.shape
        self.dtype = aval.dtype
        self.weak_type = False
        self._elements = elements

    @staticmethod
    def of(array: Array, real: Callable[[Any], Real] = Real.of) -> Elements:
        """Those of an array, the floating ones as such reals."""
        values = array.reshape(-1).tolist()
        if kind_of(array.dtype) == "f":
            values = list(map(real, values))
        elif array.dtype.kind == "c":
            values = [Complex(real(v.real), real(v.imag)) for v in values]
        elif is_key(array.dtype):
            values = [tuple(map(int, words)) for (words,) in values]
        return Elements(array, dict(zip(box(array.shape), values)))

    def __getitem__(self, index: Index) -> Any:
        return self._elements[index]


def unsatisfied(
    row: Prim, params: NamedParams, arrays: Arrays, got: Arrays, rules: Rules
) -> Iterator[str]:
    """A line for each index at which a relation of the row does not hold."""
    operands = [Elements.of(a) for a in arrays]
    results = dict(zip(row.results, map(Elements.of, got)))
    dtype = next(a.dtype for a in arrays if kind_of(a.dtype) in "fc")
    unit = {"u": _unit(dtype), "tiny": least_normal(dtype)}
    scope = row_scope(row, tuple(operands), sort_params(params), rules)
    for relation in row.post:
        for index in box(relation.over(Scope(results, outer=scope))):
            known = Scope({"i": index, **results, **unit}, row.each, scope)
            if not _holds(relation, known):
                yield f"{row.name}{list(index)}: {relation.says}"


def _unit(dtype: np.dtype) -> Fraction:
    """The relative error of one operation; a complex one has several steps."""
    return half_unit(dtype) * (4 if dtype.kind == "c" else 1)


def _holds(relation: Relation, scope: Scope) -> bool:
    """True if a relation holds: it does not if wrong results leave it no value."""
    try:
        return bool(relation.holds(scope))
    except (LookupError, ArithmeticError):
        return False
