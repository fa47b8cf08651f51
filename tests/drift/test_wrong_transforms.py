"""Transforms and loops that are wrong on purpose, and the case that tells each one.

Cites derive.*, accuracy.batched, control.*
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from small_transforms import Examples, Fun, Recorded, SmallTransforms, plain

from traceir.conform import judge, load_cases

CASES = {case.name: case for case in load_cases()}


class RunsBothBranches(SmallTransforms):
    """A condition does what both branches do, and takes the results of one."""

    def cond(self, pred: Any, true: Fun, false: Fun, *operands: Any) -> Any:
        both = false(*operands), true(*operands)
        return both[bool(plain(pred))]


class TestsAfterTheBody(SmallTransforms):
    """A loop runs once before it asks."""

    __test__ = False

    def while_loop(self, test: Fun, body: Fun, carry: Any) -> Any:
        return super().while_loop(test, body, body(carry))


class DropsTheLastCarry(SmallTransforms):
    """A scan returns the carry that its last step was given."""

    def scan(self, body: Fun, carry: Any, rows: Any) -> Any:
        before, _ = super().scan(body, carry, rows[:-1])
        return before, super().scan(body, carry, rows)[1]


class ReadsBackwards(SmallTransforms):
    """A scan takes the last row first."""

    def rows(self, rows: Any) -> Sequence[Any]:
        return super().rows(rows)[::-1]


class KeepsBackwards(SmallTransforms):
    """A scan puts the results of its first step last."""

    def scanned(self, carry: Any, kept: Sequence[Any]) -> Any:
        return super().scanned(carry, kept[::-1])


class IgnoresBatchedPredicates(SmallTransforms):
    """A condition takes the first example's branch for all."""

    def cond(self, pred: Any, true: Fun, false: Fun, *operands: Any) -> Any:
        first = plain(pred).reshape(-1)[0]
        return super().cond(first, true, false, *operands)


class MixesUpBatchedBranches(SmallTransforms):
    """A choice by examples takes the other branch."""

    def cond(self, pred: Any, true: Fun, false: Fun, *operands: Any) -> Any:
        if isinstance(pred, Examples):
            return super().cond(pred, false, true, *operands)
        return super().cond(pred, true, false, *operands)


class ForgetsFanOut(SmallTransforms):
    """The last cotangent that arrives at a value is the only one."""

    def accumulate(self, cotangents: Any, node: Recorded, ct: Any) -> None:
        cotangents[node] = ct


class ConfusesPerturbations(SmallTransforms):
    """All tangents are of one level."""

    def level(self, transform: str) -> int:
        return 1 if transform == "jvp" else super().level(transform)


class CountsOneTooMany(SmallTransforms):
    """A counted loop includes its upper bound."""

    def fori_loop(self, lower: Any, upper: Any, body: Fun, carry: Any) -> Any:
        return super().fori_loop(lower, plain(upper) + 1, body, carry)


class CountsFromZero(SmallTransforms):
    """A counted loop begins at 0, whatever its lower bound."""

    def fori_loop(self, lower: Any, upper: Any, body: Fun, carry: Any) -> Any:
        return super().fori_loop(0, plain(upper) - plain(lower), body, carry)


class SumsOverTheInnermost(SmallTransforms):
    """A collective takes the innermost axis for the one that it names."""

    def psum(self, x: Any, axis_name: str) -> Any:
        return super().psum(x, self.named[-1][0])


class SharesSums(SmallTransforms):
    """A collective leaves each example what it has."""

    def psum(self, x: Any, axis_name: str) -> Any:
        return x


WRONG = {
    RunsBothBranches: "effect/of-the-branch-that-is-taken",
    TestsAfterTheBody: "control/while-loop",
    DropsTheLastCarry: "control/scan-of-a-number-that-becomes-floating",
    ReadsBackwards: "control/scan-of-a-number-that-becomes-floating",
    KeepsBackwards: "control/scan-of-a-number-that-becomes-floating",
    IgnoresBatchedPredicates: "control/cond-of-each-example",
    MixesUpBatchedBranches: "control/cond-of-each-example",
    ForgetsFanOut: "transform/second-derivative",
    ConfusesPerturbations: "transform/perturbation-confusion-forward",
    CountsOneTooMany: "control/fori-loop",
    CountsFromZero: "control/fori-loop",
    SumsOverTheInnermost: "psum/over-one-axis-of-two",
    SharesSums: "psum/over-one-axis-of-two",
}


@pytest.mark.parametrize("name", sorted({*WRONG.values()}))
def test_the_small_system_is_right(name: str) -> None:
    verdict = judge(SmallTransforms(), CASES[name])
    assert verdict.kind == "pass", verdict.why


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_a_wrong_system_is_told_by_a_case(wrong: type[SmallTransforms]) -> None:
    verdict = judge(wrong(), CASES[WRONG[wrong]])
    assert verdict.kind == "fail", verdict
