"""Loops and branches that are wrong on purpose, and the case that tells each one.

Cites staged.construct, staged.jump, staged.carry, staged.arrays, staged.unbound
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import pytest

from traceir.conform import judge, load_cases
from traceir.conform.systems.implementations import Reference
from traceir.face.control_flow import runtime, state
from traceir.face.control_flow.aliases import Rebinding
from traceir.face.control_flow.choices import Side
from traceir.face.control_flow.for_loops import ForLoop
from traceir.face.control_flow.passes import BodyPass
from traceir.face.control_flow.rewriting import jumps
from traceir.face.control_flow.rewriting.liveness import Liveness

CASES = {case.name: case for case in load_cases()}
Patch = pytest.MonkeyPatch


def first_type(patch: Patch) -> None:
    """Two values meet in the type of the first one."""
    patch.setattr(state, "_joined", lambda a, b: a)


def _handing_on(patch: Patch, less: Callable[[ast.stmt], set[str]]) -> None:
    right = Liveness.handed_on
    patch.setattr(
        Liveness, "handed_on", lambda self, node: right(self, node) - less(node)
    )


def only_what_is_read(patch: Patch) -> None:
    """A loop carries the names that its body reads."""

    def unread(node: ast.stmt) -> set[str]:
        names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
        read = {n.id for n in names if isinstance(n.ctx, ast.Load)}
        return {n.id for n in names} - read if isinstance(node, ast.For) else set()

    _handing_on(patch, unread)


def target_is_lost(patch: Patch) -> None:
    """The target of a loop is what it was before, when the loop is over."""

    def target(node: ast.stmt) -> set[str]:
        if not isinstance(node, ast.For):
            return set()
        return {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}

    _handing_on(patch, target)


def lost_write(patch: Patch) -> None:
    """The writes of one side of a choice to an array are lost."""
    right = Side.finish

    def finish(self: Side, *args: Any, **kwargs: Any) -> None:
        right(self, *args, **kwargs)
        self.memory.clear()

    patch.setattr(Side, "finish", finish)


def lost_owners(patch: Patch) -> None:
    """Arrays that a loop exchanges are not given their elements."""
    patch.setattr(Rebinding, "_tells_owners", lambda self: False)


def jumps_to_the_next_line(patch: Patch) -> None:
    """The statements that follow a jump run all the same."""
    patch.setattr(jumps, "_none_of", lambda flags: ast.Constant(True))


def never_left(patch: Patch) -> None:
    """A loop over a range goes on when it has been left."""
    right = BodyPass.decide
    patch.setattr(BodyPass, "decide", lambda self, holds, stops: right(self, holds, ()))


def zero_for_nothing(patch: Patch) -> None:
    """A name without a value is zero."""
    right = runtime.copied

    def copied(value: Any, name: str) -> Any:
        unbound = type(value) is state.MaybeUnbound
        return value.value if unbound else right(value, name)

    patch.setattr(runtime, "copied", copied)


def raised_while_traced(patch: Patch) -> None:
    """A name without a value is an error of a side that does not run."""
    patch.setattr(runtime, "raised", lambda make: make())


def one_turn_more(patch: Patch) -> None:
    """A range includes its end."""
    right = ForLoop._record

    def record(self: Any, *args: Any) -> Any:
        steps = self._steps
        object.__setattr__(steps, "stop", steps.stop + 1)
        return right(self, *args)

    patch.setattr(ForLoop, "_record", record)


WRONG: list[tuple[Callable[[Patch], None], str]] = [
    (first_type, "staged/types-that-meet"),
    (only_what_is_read, "staged/set-and-not-read"),
    (target_is_lost, "staged/steps-of-a-range"),
    (lost_write, "staged/written-on-one-side"),
    (lost_owners, "staged/exchanged"),
    (jumps_to_the_next_line, "staged/returned-from-inside"),
    (never_left, "staged/after-a-jump"),
    (zero_for_nothing, "staged/bound-where-it-ran"),
    (raised_while_traced, "staged/unbound-on-a-side-that-does-not-run"),
    (one_turn_more, "staged/no-turn"),
]


@pytest.mark.parametrize(
    ("wrong", "name"), WRONG, ids=lambda x: getattr(x, "__name__", x)
)
def test_what_is_wrong_is_told_by_a_case(
    wrong: Callable[[Patch], None], name: str, monkeypatch: Patch
) -> None:
    wrong(monkeypatch)
    assert judge(Reference(), CASES[name]).kind in ("fail", "crashed")
