"""Linear functions of tangents and of cotangents, at a point.

Serves: linearize.*, vjp.*, derive.linearize
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import entry_points
from traceir.dtypes import kind_of
from traceir.ir.avals import ShapedArray
from traceir.ir.name_stack import under
from traceir.jit.cache.cache_key import leaf_paths
from traceir.jit.staging import function_name
from traceir.pytrees import flatten
from traceir.tracing.trace import Value, typeof
from traceir.transforms.autodiff.arguments import as_array, path_in, result, tangent_of
from traceir.transforms.autodiff.cached_transforms import residuals_of
from traceir.transforms.autodiff.flat_functions import FlatFunction, cotangent_results
from traceir.transforms.autodiff.jvp_trace import is_inexact
from traceir.transforms.autodiff.linearize import Linearized
from traceir.transforms.autodiff.transpose import backward_pass
from traceir.transforms.rules.registry import Cotangent, Values, Zero


@dataclass(frozen=True, eq=False, slots=True)
class LinearizationPoint:
    """The record of a function that was linearized: names, structures, types."""

    name: str
    labels: tuple[str, ...]
    treedef: flatten.TreeDef
    avals: tuple[ShapedArray, ...]
    tree: flatten.TreeDef
    outs: tuple[ShapedArray, ...]

    def path(self, k: int) -> str:
        """The spelling of a leaf of the arguments."""
        return f"argument {leaf_paths(self.labels, self.treedef)[k]}"


def point_of(call: FlatFunction, outs: Values) -> LinearizationPoint:
    """The point of a call that was linearized; it keeps no value of the call."""
    arguments = call.arguments
    return LinearizationPoint(
        function_name(call.fun),
        arguments.labels,
        arguments.treedef,
        tuple(arguments.avals),
        call.tree,
        tuple(map(typeof, outs)),
    )


def copy_residuals(tape: Linearized) -> Linearized:
    """The tape as it is now: arrays of NumPy's that it reads may change."""
    arrays = [v for v in residuals_of(tape) if isinstance(v, np.ndarray)]
    copies = {id(v): as_array(v, str) for v in arrays}
    return _with(tape, lambda v: copies.get(id(v), v)) if copies else tape


class _AtPoint:
    """A tape of a function at a point."""

    def __init__(self, point: LinearizationPoint, tape: Linearized) -> None:
        self._point = point
        self._tape = tape

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._point.name}>"


@entry_points("__call__")
class LinearFunction(_AtPoint):
    """The derivative of a function at a point, as a function of tangents."""

    def __call__(self, *tangents: Any) -> Any:
        """The tangents of the results."""
        point = self._point
        leaves, treedef = flatten.flatten(tangents)
        if treedef != point.treedef:
            got = flatten.mismatch("tangents", treedef, "primals", point.treedef)
            raise rules.error("linearize.tree", got=f"{point.name}: {got}")
        given = [
            tangent_of(t, aval, partial(point.path, k))
            for k, (t, aval) in enumerate(zip(leaves, point.avals, strict=True))
        ]
        pairs = zip(self._tape.push(given), point.outs, strict=True)
        return point.tree.unflatten([result(t, aval) for t, aval in pairs])


@entry_points("__call__")
class VJPFunction(_AtPoint):
    """The transpose of a function's derivative at a point."""

    def __call__(self, *cotangents: Any) -> Any:
        """The cotangents of the primals."""
        point = self._point
        if len(cotangents) != 1:
            got = f"{len(cotangents)} for {point.name}"
            raise rules.error("vjp.cotangents", got=got)
        leaves, treedef = flatten.flatten(cotangents[0])
        if treedef != point.tree:
            got = flatten.mismatch("the cotangent", treedef, "the result", point.tree)
            raise rules.error("vjp.tree", got=f"{point.name}: {got}")
        given = [
            _cotangent(ct, aval, partial(path_in, point.tree, k, "the result"))
            for k, (ct, aval) in enumerate(zip(leaves, point.outs, strict=True))
        ]
        with under("transpose", True):
            found = backward_pass(self._tape, given)
        return point.treedef.unflatten(cotangent_results(found, point.avals))


def _cotangent(value: Any, aval: ShapedArray, path: Callable[[], str]) -> Cotangent:
    """A cotangent that was given for a result of this type; of none if it has none."""
    if not is_inexact(aval) and _fits(value, aval):
        return Zero(aval)
    try:
        return tangent_of(value, aval, path)
    except rules.TraceirError as error:
        if not error.rule.startswith("jvp."):
            raise
        wanted = "" if is_inexact(aval) else " and a cotangent of float0"
        got = f"{_short(value)} for {path()}, which has type {aval.str_short()}{wanted}"
        raise rules.error("vjp.cotangent", got=got) from None


def _fits(value: Any, aval: ShapedArray) -> bool:
    """True if it is an array of the shape: one of integers carries nothing back."""
    number = isinstance(value, bool | int | float | complex)
    return (number or hasattr(value, "dtype")) and np.shape(value) == aval.shape


def _short(value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    if dtype is not None and kind_of(dtype) == "V":
        return "float0"
    return typeof(value).str_short()


# --- as trees: the residuals are the children, the tape with gaps is the metadata


@dataclass(frozen=True, slots=True)
class ResidualSlot:
    """A gap in a tape, for the residual of this number."""

    number: int


@dataclass(frozen=True, eq=False, slots=True)
class TapeFunction:
    """A linear function without its residuals; the same only as itself."""

    point: LinearizationPoint
    tape: Linearized


def _flatten(
    function: LinearFunction | VJPFunction,
) -> tuple[list[Value], TapeFunction]:
    tape = function._tape
    residuals = residuals_of(tape)
    gaps = {id(value): ResidualSlot(k) for k, value in enumerate(residuals)}
    return residuals, TapeFunction(
        function._point, _with(tape, lambda v: gaps.get(id(v), v))
    )


def _filled(bare: TapeFunction, residuals: Values) -> Linearized:
    return _with(
        bare.tape, lambda v: residuals[v.number] if type(v) is ResidualSlot else v
    )


def _with(tape: Linearized, change: Callable[[Value], Value]) -> Linearized:
    eqns = [replace(e, inputs=tuple(map(change, e.inputs))) for e in tape.tape]
    return Linearized(eqns, tape.inputs, list(map(change, tape.outputs)))


flatten.register_pytree_node(
    LinearFunction,
    _flatten,
    lambda bare, found: LinearFunction(bare.point, _filled(bare, found)),
)
flatten.register_pytree_node(
    VJPFunction,
    _flatten,
    lambda bare, found: VJPFunction(bare.point, _filled(bare, found)),
)
