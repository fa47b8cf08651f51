"""Implementations that are wrong on purpose, and the case that tells each one.

Cites accuracy.int-wrap, accuracy.nan, accuracy.overflow and the rows of the primitives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from traceir.conform import judge, load_cases
from traceir.conform.implementations import Reference
from traceir.ir import ClosedJaxpr
from traceir.kernels import KERNELS

CASES = {case.name: case for case in load_cases()}


def _saturate(x: Any, y: Any) -> Any:
    if x.dtype.kind == "f":
        return x + y
    low, high = np.iinfo(x.dtype).min, np.iinfo(x.dtype).max
    return np.clip(x.astype(object) + y, low, high).astype(x.dtype)


def _floor_div(x: Any, y: Any) -> Any:
    return x / y if x.dtype.kind == "f" else x // y


def _sign_of_divisor(x: Any, y: Any) -> Any:
    return np.mod(x, y)


def _ignore_nan(x: Any, y: Any) -> Any:
    return np.fmax(x, y)


def _last_maximum(x: Any, *, axes: Any, index_dtype: Any) -> Any:
    axis = axes[0]
    last = x.shape[axis] - 1 - np.argmax(np.flip(x, axis), axis)
    return last.astype(index_dtype)


def _wrap_floats(x: Any, *, new_dtype: Any, **_: Any) -> Any:
    if x.dtype.kind == "f" and new_dtype.kind in "iu":
        return x.astype(np.int64).astype(new_dtype)
    return x.astype(new_dtype)


def _truncate(x: Any) -> Any:
    return np.trunc(x)


def _second_is_true(which: Any, *cases: Any) -> Any:
    return np.where(which, cases[0], cases[-1])


def _other_axes(x: Any, *, axes: Any, **_: Any) -> Any:
    return np.sum(x, tuple(x.ndim - 1 - a for a in axes), dtype=x.dtype)


def _bounds_after(lower: Any, x: Any, upper: Any) -> Any:
    return np.maximum(np.minimum(x, upper), lower)


def _no_batch(x: Any, y: Any, *, dimension_numbers: Any, **_: Any) -> Any:
    contract, _batch = dimension_numbers
    return np.tensordot(x, y, contract)


def _repeat(x: Any, *, shape: Any, **_: Any) -> Any:
    return np.resize(x, shape)


def _naive(x: Any, **_: Any) -> Any:
    return np.log(1 + x)


WRONG: list[tuple[str, Callable[..., Any], str]] = [
    ("add", _saturate, "add/wraps"),
    ("div", _floor_div, "div/truncates"),
    ("rem", _sign_of_divisor, "rem/sign-of-the-dividend"),
    ("max", _ignore_nan, "max/floats"),
    ("argmax", _last_maximum, "argmax/first-of-equals"),
    ("convert_element_type", _wrap_floats, "convert/float-to-integer-saturates"),
    ("floor", _truncate, "floor/values"),
    ("select_n", _second_is_true, "select_n/bool"),
    ("reduce_sum", _other_axes, "reduce_sum/middle"),
    ("clamp", _bounds_after, "clamp/arrays"),
    ("dot_general", _no_batch, "dot_general/batched"),
    ("broadcast_in_dim", _repeat, "broadcast_in_dim/transposing"),
    ("log1p", _naive, "log1p/values"),
]


@pytest.mark.parametrize("primitive, kernel, name", WRONG)
def test_a_wrong_kernel_is_told_by_a_case(
    monkeypatch: pytest.MonkeyPatch,
    primitive: str,
    kernel: Callable[..., Any],
    name: str,
) -> None:
    assert judge(Reference(), CASES[name])
    monkeypatch.setitem(KERNELS, primitive, kernel)
    assert judge(Reference(), CASES[name]).kind == "fail"


def test_wrapping_is_what_the_case_about_it_demands() -> None:
    assert "accuracy.int-wrap" in CASES["add/wraps"].cites


@dataclass(frozen=True)
class Changed(Reference):
    """The reference with one element in place of every other one of a kind."""

    when: Callable[[Any], Any] = np.isnan
    then: Any = np.nan

    def eval(
        self, program: ClosedJaxpr, args: Sequence[np.ndarray]
    ) -> Sequence[np.ndarray]:
        results = super().eval(program, args)
        return [
            np.where(self.when(a), self.then, a).astype(a.dtype)
            if a.dtype.kind == "f"
            else a
            for a in results
        ]


def citing(rule: str) -> list[str]:
    """The cases about one rule."""
    return [name for name, case in CASES.items() if rule in case.cites]


@pytest.mark.parametrize("name", citing("accuracy.nan"))
def test_any_nan_will_do_but_no_number(name: str) -> None:
    payload = np.uint32(0xFFC12345).view(np.float32)
    assert judge(Changed(then=payload), CASES[name])
    values = CASES[name].values("value")
    if any(np.isnan(v.array).any() for v in values if v.array.dtype.kind == "f"):
        assert not judge(Changed(then=np.float32(7)), CASES[name])


@pytest.mark.parametrize("name", citing("accuracy.overflow"))
def test_a_sum_that_may_overflow_may_be_infinite(name: str) -> None:
    everything = Changed(when=np.isfinite, then=np.inf)
    assert judge(everything, CASES[name])
    nothing = Changed(when=np.ones_like, then=1.0)
    assert not judge(nothing, CASES[name])
