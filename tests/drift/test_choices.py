"""Choices of implementations: each value that is allowed, and what tells it.

Cites choice.*, accuracy.int-wrap, accuracy.nan, accuracy.overflow
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from traceir.conform import judge, load_cases
from traceir.conform.systems.implementations import Reference
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.oracle import scalar_interpreter
from traceir.rules import default

CASES = {case.name: case for case in load_cases()}
Floats = Callable[[np.ndarray], Any]


@dataclass(frozen=True)
class Changed(Reference):
    """The reference with its floating results changed."""

    change: Floats = np.copy

    def eval(
        self, program: ClosedJaxpr, args: Sequence[np.ndarray]
    ) -> Sequence[np.ndarray]:
        results = map(np.asarray, super().eval(program, args))
        return [
            np.asarray(self.change(a), a.dtype) if a.dtype.kind == "f" else a
            for a in results
        ]


def put(when: Callable[[np.ndarray], Any], then: Any) -> Floats:
    """Another element in place of those of a kind."""
    return lambda a: np.where(when(a), then, a)


def flushed(a: np.ndarray) -> Any:
    """Zeros in place of subnormal numbers."""
    return np.where(abs(a) < np.finfo(a.dtype).tiny, np.copysign(0, a), a)


def other_zeros(a: np.ndarray) -> Any:
    """Zeros of the other sign."""
    return np.where(a == 0, -a, a)


def another_order(a: np.ndarray) -> Any:
    """The other neighbour of a sum that is no number of its dtype."""
    return np.where(a == 2**24, 2**24 + 4, 2**24)


def another_rounding(a: np.ndarray) -> Any:
    """The next greater numbers, but for zeros."""
    return np.where(a == 0, a, np.nextafter(a, np.inf, dtype=a.dtype))


def another_nan(a: np.ndarray) -> Any:
    """A NaN with a sign and a payload."""
    return np.where(np.isnan(a), np.uint32(0xFFC12345).view(np.float32), a)


@dataclass(frozen=True)
class Fusing(Reference):
    """Rounds the product and the sum of the last two equations once."""

    def eval(
        self, program: ClosedJaxpr, args: Sequence[np.ndarray]
    ) -> Sequence[np.ndarray]:
        x, y, z = (a.astype(np.float64) for a in args)
        *before, _ = super().eval(program, args)
        return [*before, np.asarray(x * y + z, np.float32)]


def changed(change: Floats) -> Callable[[Mapping[str, str]], Reference]:
    """The reference with changed results, for what is declared."""
    return lambda choices: Changed(choices=choices, change=change)


@dataclass(frozen=True)
class Shown:
    """A case that an implementation passes if it declares what it chose."""

    made: Callable[[Mapping[str, str]], Reference]
    case: str
    # What it may not declare instead.
    against: tuple[str, ...] = ()


ZEROS, SUM, DOT, FACTOR = (
    "max/zeros-of-both-signs",
    "reduce_sum/rounds-in-any-order",
    "dot_general/rounds-in-any-order",
    "cholesky/rounds-in-any-order",
)
SHOWN: Mapping[tuple[str, str], Shown] = {
    ("choice.contraction", "fused"): Shown(
        lambda choices: Fusing(choices=choices), "mul/not-contracted", ("none",)
    ),
    ("choice.contraction", "none"): Shown(changed(np.copy), "mul/not-contracted"),
    ("choice.subnormal", "flush"): Shown(changed(flushed), "mul/subnormal", ("keep",)),
    ("choice.subnormal", "keep"): Shown(changed(np.copy), "mul/subnormal"),
    ("choice.zero-extremum", "either"): Shown(
        changed(other_zeros), ZEROS, ("ordered",)
    ),
    ("choice.zero-extremum", "ordered"): Shown(changed(np.abs), ZEROS),
    ("choice.nan-payload", "any"): Shown(changed(another_nan), "add/special"),
    # One result does not tell whether another run would give the same.
    ("choice.sum-order", "free"): Shown(changed(another_order), SUM),
    ("choice.sum-order", "fixed"): Shown(changed(np.copy), SUM),
    ("choice.dot-order", "library"): Shown(changed(another_order), DOT),
    ("choice.dot-order", "fixed"): Shown(changed(np.copy), DOT),
    ("choice.factor-order", "library"): Shown(changed(another_rounding), FACTOR),
    ("choice.factor-order", "fixed"): Shown(changed(np.copy), FACTOR),
}


def test_every_value_of_every_choice_is_shown() -> None:
    choices = default().choices.values()
    assert {*SHOWN} == {(c.id, value) for c in choices for value in c.allowed}


def test_a_choice_names_the_sets_that_have_less_by_a_stricter_one() -> None:
    rules = default()
    for choice in rules.choices.values():
        named = f"`{choice.id}`"
        speaking = {one.name for one in rules.accuracy.values() if named in one.says}
        stricter = choice.allowed.index(choice.reference)
        assert {*choice.sets} == (speaking if stricter else set()), choice.id


def test_what_is_not_declared_is_as_the_reference_has_it() -> None:
    zeros = [np.array([0.0, -0.0], np.float32), np.array([-0.0, 0.0], np.float32)]
    got = [np.array([-0.0, -0.0], np.float32)]
    for partial in ({}, {"choice.subnormal": "keep"}):
        assert scalar_interpreter.accepts("max", {}, zeros, got, None, partial)


@pytest.mark.parametrize("choice, value", SHOWN)
def test_a_choice_is_right_where_it_is_declared(choice: str, value: str) -> None:
    shown = SHOWN[choice, value]
    case = CASES[shown.case]
    assert choice in case.cites
    assert judge(shown.made({choice: value}), case)
    for other in shown.against:
        assert judge(shown.made({choice: other}), case).kind == "fail"


@pytest.mark.parametrize(
    "choice", ["choice.sum-order", "choice.dot-order", "choice.factor-order"]
)
def test_any_order_is_near(choice: str) -> None:
    (shown,) = {s.case: s for (c, _), s in SHOWN.items() if c == choice}.values()
    assert judge(changed(lambda a: a + 64)({}), CASES[shown.case]).kind == "fail"


@pytest.mark.parametrize("prim, want", [("max", 0.0), ("min", -0.0)])
@pytest.mark.parametrize("pair", [(0.0, -0.0), (-0.0, 0.0)])
def test_ordered_zeros(prim: str, want: float, pair: tuple[float, float]) -> None:
    ordered = {"choice.zero-extremum": "ordered"}
    operands = [np.array([x], np.float32) for x in pair]
    for got in (0.0, -0.0):
        right = bool(np.signbit(got) == np.signbit(want))
        results = [np.array([got], np.float32)]
        assert (
            scalar_interpreter.accepts(prim, {}, operands, results, None, ordered)
            is right
        )
        line, axes = np.array([pair], np.float32), {"axes": (1,)}
        found = scalar_interpreter.accepts(
            f"reduce_{prim}", axes, [line], results, None, ordered
        )
        assert found is right


# Rules for every set ------------------------------------------------------------------


def test_wrapping_is_what_the_case_about_it_demands() -> None:
    assert "accuracy.int-wrap" in CASES["add/wraps"].cites


def citing(rule: str) -> list[str]:
    """The cases about one rule."""
    return [name for name, case in CASES.items() if rule in case.cites]


@pytest.mark.parametrize("name", citing("accuracy.nan"))
def test_any_nan_will_do_but_no_number(name: str) -> None:
    assert judge(changed(another_nan)({}), CASES[name])
    values = CASES[name].values("value")
    if any(np.isnan(v.array).any() for v in values if v.array.dtype.kind == "f"):
        assert not judge(changed(put(np.isnan, 7))({}), CASES[name])


@pytest.mark.parametrize("name", citing("accuracy.overflow"))
def test_a_sum_that_may_overflow_may_be_infinite(name: str) -> None:
    everything = changed(put(np.isfinite, np.inf))({})
    assert judge(everything, CASES[name])
    nothing = changed(np.ones_like)({})
    assert not judge(nothing, CASES[name])
