"""Implementations that are wrong on purpose, and the case that tells each one.

Cites the rows of the primitives, program.*
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from small_eval import Small
from soak import SOAK

from traceir.conform import judge, load_cases
from traceir.errors import TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn

CASES = {case.name: case for case in load_cases()}
Avals = Sequence[ShapedArray]


# Values -------------------------------------------------------------------------------


def _saturate(x: Any, y: Any) -> Any:
    if x.dtype.kind == "f":
        return x + y
    low, high = np.iinfo(x.dtype).min, np.iinfo(x.dtype).max
    return np.clip(x.astype(object) + y, low, high).astype(x.dtype)


def _widen(x: Any, y: Any) -> Any:
    return x + y if x.dtype.kind == "f" else x.astype(np.int64) + y


def _floor_div(x: Any, y: Any) -> Any:
    return x / y if x.dtype.kind == "f" else x // y


def _rounded_div(x: Any, y: Any) -> Any:
    return x / y if x.dtype.kind == "f" else np.rint(x / y).astype(x.dtype)


def _ignore_nan(x: Any, *, axes: Any) -> Any:
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    return np.fmax.reduce(x, axes, initial=lowest)


def _last_maximum(x: Any, *, axes: Any, index_dtype: Any) -> Any:
    axis = axes[0]
    last = x.shape[axis] - 1 - np.argmax(np.flip(x, axis), axis)
    return last.astype(index_dtype)


def _wrap_floats(x: Any, *, new_dtype: Any, **_: Any) -> Any:
    if x.dtype.kind == "f" and new_dtype.kind in "iu":
        return x.astype(np.int64).astype(new_dtype)
    return x.astype(new_dtype)


def _first_is_true(which: Any, *cases: Any) -> Any:
    return np.where(which, cases[0], cases[-1])


def _wrapping_choice(which: Any, *cases: Any) -> Any:
    return np.choose(which.astype(int) % len(cases), cases)


def _axes_from_the_end(x: Any, *, axes: Any, **_: Any) -> Any:
    return np.sum(x, tuple(x.ndim - 1 - a for a in axes), dtype=x.dtype)


def _axes_in_turn(x: Any, *, axes: Any, **_: Any) -> Any:
    for axis in axes:  # each axis gone, those behind it have other numbers
        x = np.sum(x, min(axis, x.ndim - 1), dtype=x.dtype)
    return x


def _half_precision(x: Any, *, axes: Any, **_: Any) -> Any:
    if x.dtype.kind != "f":
        return np.sum(x, axes, dtype=x.dtype)
    return np.sum(x.astype(np.float16), axes, dtype=np.float16).astype(x.dtype)


def _widening_sum(x: Any, *, axes: Any, **_: Any) -> Any:
    return np.sum(x, axes)


def _keeps_dimensions(x: Any, *, axes: Any) -> Any:
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    return np.max(x, axes, keepdims=True, initial=lowest)


def _bounds_after(lower: Any, x: Any, upper: Any) -> Any:
    return np.maximum(np.minimum(x, upper), lower)


def _no_batch(x: Any, y: Any, *, dimension_numbers: Any, **_: Any) -> Any:
    contract, _batch = dimension_numbers
    return np.tensordot(x, y, contract)


def _last_axes(x: Any, *, shape: Any, **_: Any) -> Any:
    return np.resize(x, shape)


def _by_columns(x: Any, *, new_sizes: Any, **_: Any) -> Any:
    return np.reshape(x, new_sizes, order="F")


def _inverse(x: Any, *, permutation: Any) -> Any:
    return np.transpose(x, np.argsort(permutation))


WRONG_VALUES: dict[str, tuple[str, Callable[..., Any], str]] = {
    "integers saturate": ("add", _saturate, "add/wraps"),
    "integers widen": ("add", _widen, "add/wraps"),
    "division floors": ("div", _floor_div, "div/truncates"),
    "division rounds": ("div", _rounded_div, "div/truncates"),
    "the divisor's sign": ("rem", np.mod, "rem/sign-of-the-dividend"),
    "NaN is dropped": ("max", np.fmax, "max/floats"),
    "NaN is dropped by the maximum": ("reduce_max", _ignore_nan, "reduce_max/values"),
    "the last maximum": ("argmax", _last_maximum, "argmax/first-of-equals"),
    "floats wrap": (
        "convert_element_type",
        _wrap_floats,
        "convert/float-to-integer-saturates",
    ),
    "floor truncates": ("floor", np.trunc, "floor/values"),
    "halves to even": (
        "round",
        lambda x, rounding_method: np.rint(x),
        "round/away-from-zero",
    ),
    "true takes the first": ("select_n", _first_is_true, "select_n/bool"),
    "the selector wraps": ("select_n", _wrapping_choice, "select_n/numbers"),
    "axes from the end": ("reduce_sum", _axes_from_the_end, "reduce_sum/middle"),
    "axes in turn": ("reduce_sum", _axes_in_turn, "reduce_sum/first-two-of-three"),
    "sums in half precision": (
        "reduce_sum",
        _half_precision,
        "reduce_sum/in-full-precision",
    ),
    "sums widen": ("reduce_sum", _widening_sum, "reduce_sum/wraps"),
    "reductions keep dimensions": (
        "reduce_max",
        _keeps_dimensions,
        "reduce_max/values",
    ),
    "the lower bound last": ("clamp", _bounds_after, "clamp/arrays"),
    "no batch": ("dot_general", _no_batch, "dot_general/batched"),
    "broadcasting at the wrong end": (
        "broadcast_in_dim",
        _last_axes,
        "broadcast_in_dim/transposing",
    ),
    "reshaping by columns": ("reshape", _by_columns, "reshape/row-major"),
    "the inverse permutation": ("transpose", _inverse, "transpose/three-dimensions"),
    "zero minus the operand": ("neg", lambda x: 0 - x, "neg/floats"),
    "the logarithm of a sum": ("log1p", lambda x, **_: np.log(1 + x), "log1p/values"),
}


def with_kernel(primitive: str, kernel: Callable[..., Any]) -> Small:
    """The small implementation with one kernel replaced."""
    made: Small = type("Wrong", (Small,), {"kernels": {primitive: kernel}})()
    return made


@pytest.mark.parametrize("what", WRONG_VALUES)
def test_wrong_values_are_told_by_a_case(what: str) -> None:
    primitive, kernel, name = WRONG_VALUES[what]
    assert judge(with_kernel(primitive, kernel), CASES[name]).kind == "fail"


# Types --------------------------------------------------------------------------------


class Strong(Small):
    """Every type is strong."""

    def typed(self, eqn: Eqn, avals: Avals) -> Avals:
        return [a.update(weak_type=False) for a in super().typed(eqn, avals)]


class WeakIfAny(Small):
    """One weak operand makes the result weak."""

    def typed(self, eqn: Eqn, avals: Avals) -> Avals:
        weak = any(a.weak_type for a in avals)
        return [a.update(weak_type=weak) for a in super().typed(eqn, avals)]


class WideIntegers(Small):
    """Arithmetic of 32-bit integers gives 64-bit ones."""

    def typed(self, eqn: Eqn, avals: Avals) -> Avals:
        (found,) = super().typed(eqn, avals)
        wide = found.dtype == "int32" and eqn.primitive in ("add", "sub", "mul")
        return [found.update(dtype="int64") if wide else found]


class LikeTheOperand(Small):
    """A result has the first operand's dtype."""

    def typed(self, eqn: Eqn, avals: Avals) -> Avals:
        found = super().typed(eqn, avals)
        return [a.update(dtype=avals[0].dtype) for a in found] if avals else found


class KeepsDimensions(Small):
    """A reduced dimension is left with the extent 1."""

    def typed(self, eqn: Eqn, avals: Avals) -> Avals:
        (found,) = super().typed(eqn, avals)
        axes: Any = dict(eqn.params).get("axes")
        if axes is None:
            return [found]
        kept = [1 if k in axes else n for k, n in enumerate(avals[0].shape)]
        return [found.update(shape=tuple(kept))]


class Unruled(Small):
    """Accepts what violates one rule."""

    rule = ""

    def check(self, program: ClosedJaxpr) -> None:
        try:
            super().check(program)
        except TraceirError as error:
            if error.rule != self.rule:
                raise

    def typed(self, eqn: Eqn, avals: Avals) -> Avals:
        return [v.aval for v in eqn.outputs]


class StretchesRanks(Unruled):
    """Missing dimensions count as 1, as NumPy has it."""

    rule = "pointwise2.broadcast"


class Promotes(Unruled):
    """Operands of several dtypes are promoted."""

    rule = "pointwise2.dtype"


class CountsFromTheEnd(Unruled):
    """A negative axis counts from the end."""

    rule = "reduction.axes-range"


class BelievesTheText(Unruled):
    """The types of results are what the text says."""

    rule = "program.result-type"


class Rebinds(Unruled):
    """A variable may be written twice."""

    rule = "program.defined-once"


WRONG_TYPES: list[tuple[type[Small], str]] = [
    (Strong, "pointwise2/weak-with-weak"),
    (WeakIfAny, "pointwise2/weak-with-strong"),
    (WideIntegers, "add/wraps"),
    (LikeTheOperand, "compare/weak"),
    (KeepsDimensions, "reduce_sum/middle"),
    (StretchesRanks, "pointwise2/ranks"),
    (Promotes, "pointwise2/kind"),
    (CountsFromTheEnd, "reduce_sum/negative"),
    (BelievesTheText, "program/result-dtype"),
    (Rebinds, "program/defined-once"),
]


@pytest.mark.parametrize(
    "wrong, name", WRONG_TYPES, ids=lambda x: getattr(x, "__name__", x)
)
def test_wrong_types_are_told_by_a_case(wrong: type[Small], name: str) -> None:
    assert judge(wrong(), CASES[name]).kind == "fail"


def test_the_small_implementation_is_right() -> None:
    cases = [c for c in CASES.values() if not c.session and not c.plain]
    cases = [c for c in cases if not c.name.startswith("jax/")]
    told = {name for _, _, name in WRONG_VALUES.values()} | {n for _, n in WRONG_TYPES}
    # Of the others every fourth one shows as much of what is alike.
    cases = [c for k, c in enumerate(cases) if SOAK or c.name in told or k % 4 == 0]
    verdicts = {c.name: judge(Small(), c) for c in cases}
    assert {n: v for n, v in verdicts.items() if v.kind != "pass"} == {}
    assert len(WRONG_VALUES) + len(WRONG_TYPES) >= 12
