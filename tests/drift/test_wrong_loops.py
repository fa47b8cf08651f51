"""Loops and branches that are wrong on purpose, and the case that tells each one.

Cites staged.*, slice.*, python.*
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from traceir.base import cost_model
from traceir.conform import judge, load_cases
from traceir.conform.systems.implementations import Reference
from traceir.face import calls
from traceir.face.arrays.array import NumpyTracer
from traceir.face.checks import bounds, status
from traceir.face.control_flow import choices, loops, runtime, state
from traceir.face.control_flow.aliases import Rebinding
from traceir.face.control_flow.choices import Side
from traceir.face.control_flow.for_loops import ForLoop
from traceir.face.control_flow.passes import BodyPass
from traceir.face.control_flow.rewriting import jumps
from traceir.face.control_flow.rewriting.liveness import Liveness
from traceir.face.python import math_functions, numbers, operators
from traceir.face.slices import delayed_arrays, dynamic_array, reductions

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


def changed_once(patch: Patch) -> None:
    """Recorded code changes Python's data while the function is traced."""
    patch.setattr(runtime, "changed", lambda value: value)


def not_left(patch: Patch) -> None:
    """A loop that Python runs goes on where a traced value ends it."""
    right = choices.truth_of

    def truth(value: Any) -> Any:
        found = right(value)
        return found if isinstance(found, bool) else False

    patch.setattr(loops, "truth_of", truth)


def value_of_the_first(patch: Patch) -> None:
    """Values without a common type are the value of the first side."""
    right = state.joined

    def joined(a: Any, b: Any) -> Any:
        try:
            return right(a, b)
        except state.Unrecordable:
            return a

    patch.setattr(state, "joined", joined)


def copies(patch: Patch) -> None:
    """An array after a loop or a choice is a copy of what it was before."""
    patch.setattr(NumpyTracer, "may_alias", lambda self, *args: None)


def exchanged_once(patch: Patch) -> None:
    """A choice in a loop tells nothing of whose memory an array has."""
    patch.setattr(Side, "tell_aliases", lambda self, *args: {})


def alone_on_a_side(patch: Patch) -> None:
    """Two names of an array that one side has made are two arrays."""
    patch.setattr(Side, "_share", lambda self, *args: False)


def read_as_before(patch: Patch) -> None:
    """A loop reads what an array was before it by another name."""
    right = Rebinding.__init__

    def make(self: Rebinding, entry: Any, last: Any, frame: Any, passes: Any) -> None:
        right(self, entry, last, {}, ())

    patch.setattr(Rebinding, "__init__", make)


def never_handled(patch: Patch) -> None:
    """A handler inside of a function never sees what is raised later."""
    patch.setattr(bounds, "refuse_handled", lambda kind: None)
    patch.setattr(status, "refuse_handled", lambda kind: None)


def python_for_ever(patch: Patch) -> None:
    """Python runs loops over known numbers of any length."""
    patch.setattr(cost_model, "KNOWN_STEPS", 1 << 40)


def unrolled(patch: Patch) -> None:
    """Python runs longer loops."""
    patch.setattr(cost_model, "UNROLLED_STEPS", 8)


def too_deep(patch: Patch) -> None:
    """A function that calls itself is Python's own error."""
    patch.setattr(calls, "_endless", lambda error: error)


def unchecked(module: ModuleType) -> Callable[[Patch], None]:
    """Operations without a result give some number, or some elements."""

    def wrong(patch: Patch) -> None:
        patch.setattr(module, "require", lambda *args: None)

    wrong.__name__ = f"unchecked_{module.__name__.rpartition('.')[2]}"
    return wrong


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
    (changed_once, "refused/dictionary-while"),
    (not_left, "refused/data-of-pythons-left-early"),
    (value_of_the_first, "refused/number-or-word"),
    (copies, "refused/inner-loop-that-names"),
    (exchanged_once, "staged/exchanged-in-some-turns"),
    (alone_on_a_side, "staged/two-names-for-an-array-of-one-side"),
    (read_as_before, "refused/read-by-another-name"),
    (never_handled, "refused/handled-later"),
    (python_for_ever, "recorded/counted-while"),
    (unrolled, "recorded/short-loop"),
    (too_deep, "refused/calls-itself"),
    (unchecked(operators), "numbers/remainder"),
    (unchecked(math_functions), "numbers/root"),
    (unchecked(numbers), "numbers/whole-number"),
    (unchecked(delayed_arrays), "slices/slices-that-are-combined"),
    (unchecked(reductions), "slices/greatest-of-a-slice"),
    (unchecked(dynamic_array), "slices/slice-of-a-known-extent"),
]


@pytest.mark.parametrize(
    ("wrong", "name"), WRONG, ids=lambda x: getattr(x, "__name__", x)
)
def test_what_is_wrong_is_told_by_a_case(
    wrong: Callable[[Patch], None], name: str, monkeypatch: Patch
) -> None:
    wrong(monkeypatch)
    assert judge(Reference(), CASES[name]).kind in ("fail", "crashed")
