"""Checks at run time, and the status of a program: which one failed first.

Serves: index.bounds, staged.raised

A status is a part of what a program computes. A choice has that of the side that was
run, a loop carries it; it changes where nothing has failed before. So what Python would
raise first is raised, and a loop ends that could run on after that for ever.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.base import source_info
from traceir.base.fast_dataclass import dataclass
from traceir.base.source_info import Source
from traceir.face.checks.bounds import PlaceCheck, may_fail, outside, tests
from traceir.face.checks.handlers import HANDLERS, refuse_handled
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, subjaxprs
from traceir.jit.runtime_checks import Failure, RuntimeChecks, Slot
from traceir.lax.checks.operands import convert
from traceir.rules.hints import hint_at
from traceir.tracing.staging import StagingTrace
from traceir.tracing.trace import bind_one, current_trace, in_force, typeof

# The type of the number of a check; 0 says that none has failed.
NUMBER = ShapedArray((), np.dtype("int32"))
Make = Callable[[Sequence[Any], Source | None], BaseException]


@dataclass(frozen=True, eq=False, slots=True)
class Condition:
    """A truth value that must not hold, and the exception if it does, with the values
    that this shows."""

    failed: Atom
    make: Make
    values: tuple[Atom, ...]
    source: Source | None


class Status:
    """The number of the check that has failed, and the values of its error by slots;
    those that it has not are made by `missing`."""

    def __init__(
        self, number: Any, slots: dict[Slot, Any], missing: Callable[[Slot], Any]
    ) -> None:
        self.number = number
        self.slots = slots
        self._missing = missing

    def slot(self, slot: Slot) -> Any:
        """The value in a slot."""
        if slot not in self.slots:
            self.slots[slot] = self._missing(slot)
        return self.slots[slot]

    def is_fine(self) -> Any:
        """True if nothing has failed."""
        return lax.eq(self.number, np.int32(0))


def nothing(slot: Slot) -> Any:
    """A value for a slot that no check has used."""
    return slot[0].dtype.type(0)


def fine() -> Status:
    """The status while nothing can have failed."""
    return Status(np.int32(0), {}, nothing)


def note(
    failed: Any,
    make: Make,
    values: Sequence[Any] = (),
    kind: type[BaseException] = Exception,
    source: Source | None = None,
) -> None:
    """Have the trace in force raise what `make` makes if a truth value holds, of the
    numbers that it shows; at a line, by default that which runs.

    Raises TypeError (staged.handler) for one of a `kind` that the function takes.
    """
    trace = current_trace()
    if isinstance(trace, StagingTrace) and trace.transform == "jit":
        refuse_handled(kind)
        atoms = tuple(trace.atom(v) for v in values)
        where = source or source_info.capture()
        trace.checks.append(Condition(trace.atom(failed), make, atoms, where))


def note_rule(
    failed: Any, rule: str, got: str = "", source: Source | None = None
) -> None:
    """Have the trace in force raise a rule's error if a truth value holds."""
    kind = type(rules.error(rule)) if HANDLERS.get() else Exception
    note(failed, functools.partial(_broken, rule, got), (), kind, source)


def _broken(
    rule: str, got: str, values: Sequence[Any], source: Source | None
) -> Exception:
    if source is None:
        return rules.error(rule, got=got)
    hint = hint_at(rules.default().clauses[rule], source)
    where = source_info.user_frame_summary(source)
    return rules.error(rule, got=got, hint=hint, where=where)


def status_of(trace: StagingTrace) -> Status | None:
    """The status of a trace as it is now; None if nothing can have failed."""
    pending, trace.checks = trace.checks, []
    if not pending:
        return trace.status  # type: ignore[no-any-return]  # a lower layer keeps it
    with in_force(trace):
        first = len(trace.eqns)
        _merge(trace, pending)
        trace.check_eqns.update(map(id, trace.eqns[first:]))
    return trace.status  # type: ignore[no-any-return]


def entered(trace: Any) -> Status:
    """The status of a trace whose checks have been merged; a region begins with that
    of the trace around it."""
    if trace.status is None:
        trace.status = trace.first_status() if trace.writes_outside else fine()
    return trace.status  # type: ignore[no-any-return]


def status_before() -> Status:
    """The status of the trace in force, before a region that has one."""
    trace: Any = current_trace()
    status_of(trace)
    return entered(trace)


def put_status(slots: Sequence[Slot], results: Iterator[Any]) -> None:
    """Give the trace in force the status after a region: its slots and its number."""
    trace: Any = current_trace()
    before, values = entered(trace), {slot: next(results) for slot in slots}
    trace.status = Status(next(results), {**before.slots, **values}, before.slot)


def guard(trace: Any) -> Status | None:
    """The status by which a loop in a trace has to stop that may run for ever once a
    check has failed; None if none can have."""
    found = status_of(trace)
    if found is not None or not trace.writes_outside:
        return found
    return trace.guard()  # type: ignore[no-any-return]  # it is a region


def _merge(trace: StagingTrace, pending: Sequence[Any]) -> None:
    """Make the status of a trace that which it is after these checks."""
    places = may_fail(trace, [c for c in pending if isinstance(c, PlaceCheck)])
    kept = [c for c in pending if isinstance(c, Condition) or c in places]
    found: list[tuple[int, Any, dict[Slot, Any]]] = []
    # Places are looked at together only where Python meets nothing else between them.
    for kind, run in itertools.groupby(kept, type):
        for check, failed, values in (_read if kind is Condition else tests)(
            trace, [*run]
        ):
            slots = _slots(values)
            found.append((_number(trace, check, tuple(slots)), failed, slots))
    if not found:
        return
    before = entered(trace)
    own, failed, shown = found.pop()
    number: Any = np.int32(own)
    for own, this, values in reversed(found):
        failed = lax.bitwise_or(this, failed)
        number = _select(this, np.int32(own), number)
        for slot, value in values.items():
            shown[slot] = _select(this, value, shown[slot]) if slot in shown else value
    if not isinstance(before.number, np.generic):
        failed = lax.bitwise_and(failed, before.is_fine())
    number = _select(failed, number, before.number)
    shown = {s: _select(failed, v, before.slot(s)) for s, v in shown.items()}
    trace.status = Status(number, {**before.slots, **shown}, before.slot)


def _number(trace: StagingTrace, check: Any, slots: tuple[Slot, ...]) -> int:
    """The number of a check in the program."""
    if isinstance(check, PlaceCheck):
        make: Make = functools.partial(outside, check.extent, check.axis)
    else:
        make = check.make
    failures = failures_of(trace)
    raises = isinstance(check, Condition)
    failures.append(Failure(make, slots, check.source, raises))
    return len(failures)


def failures_of(trace: StagingTrace) -> list[Failure]:
    """The failures that the whole program may raise."""
    while trace.writes_outside:
        trace = trace.parent  # type: ignore[assignment]  # one that records
    return trace.failures


def _select(truth: Any, yes: Any, no: Any) -> Any:
    return bind_one("select_n", truth, no, yes)


def _read(
    trace: StagingTrace, checks: Sequence[Condition]
) -> Iterator[tuple[Condition, Any, Sequence[Any]]]:
    """Conditions with their truth values, and the values that they show."""
    for check in checks:
        values = [trace.tracer(v, trace, None) for v in check.values]
        yield check, trace.tracer(check.failed, trace, check.source), values


def _slots(values: Sequence[Any]) -> dict[Slot, Any]:
    """Values by the slots that they take."""
    found: dict[Slot, Any] = {}
    for value in values:
        aval = ShapedArray((), typeof(value).dtype)
        number = sum(taken is aval for taken, _ in found)
        found[aval, number] = convert(value, aval.dtype)
    return found


class CheckedProgram:
    """The checks of a trace, when its function has been traced: more results."""

    def __init__(self, trace: StagingTrace) -> None:
        self._trace = trace
        self._status = status = status_of(trace)
        self._outputs: tuple[Atom, ...] = ()
        if status is not None:
            found = (*status.slots.values(), status.number)
            self._outputs = tuple(map(trace.atom, found))

    def split(
        self, jaxpr: Jaxpr, constants: Sequence[np.ndarray]
    ) -> tuple[Jaxpr, RuntimeChecks | None]:
        """The program without the checks, and the one with them."""
        if self._status is None:
            return jaxpr, None
        parts, name = (jaxpr.constvars, jaxpr.invars), jaxpr.debug_name
        outvars = (*jaxpr.outvars, *self._outputs)
        closed = ClosedJaxpr(Jaxpr(*parts, jaxpr.eqns, outvars, name), tuple(constants))
        failures, slots = tuple(self._trace.failures), tuple(self._status.slots)
        plain = Jaxpr(*parts, self._without(jaxpr), jaxpr.outvars, name)
        return plain, RuntimeChecks(closed, failures, slots)

    def _without(self, jaxpr: Jaxpr) -> tuple[Eqn, ...]:
        """The equations that are no part of a check."""
        read = set(jaxpr.outvars)
        kept = []
        for eqn in reversed(jaxpr.eqns):
            if id(eqn) not in self._trace.check_eqns or not read.isdisjoint(
                eqn.outputs
            ):
                kept.append(eqn)
                read.update(eqn.inputs)
        return tuple(reversed(kept))


def called(
    trace: StagingTrace,
    closed: ClosedJaxpr,
    checks: RuntimeChecks | None,
    run: Callable[[Sequence[Any]], Sequence[Any]],
    operands: Sequence[Any],
) -> Sequence[Any]:
    """The results of a program that is called in a trace: what fails in it fails there.

    One that might never end is not run where something has failed before.
    """
    stop = guard(trace) if _may_run_on(closed) else None
    if stop is None:
        found = run(operands)
    else:
        zeros = [np.zeros(aval.shape, aval.dtype) for aval in closed.out_avals]
        found = lax.cond(stop.is_fine(), lambda: list(run(operands)), lambda: zeros)
    if checks is None:
        return found
    _take_over(trace, checks, found)
    return found[: -checks.extra]


def _may_run_on(closed: ClosedJaxpr) -> bool:
    """True if a program has a loop without a number of turns."""
    return any(
        eqn.primitive == "while" or any(map(_may_run_on, subjaxprs(eqn)))
        for eqn in closed.eqns
    )


def _take_over(
    trace: StagingTrace, checks: RuntimeChecks, results: Sequence[Any]
) -> None:
    """Have a trace raise what a program that is called in it raises, by its results."""
    *values, number = results[-checks.extra :]
    status_of(trace)
    failures = failures_of(trace)
    base = np.int32(len(failures))
    failures += checks.failures
    with in_force(trace):
        failed = lax.ne(number, np.int32(0))
        before = entered(trace)
        failed = lax.bitwise_and(failed, before.is_fine())
        number = _select(failed, lax.add(number, base), before.number)
        slots = dict(before.slots)
        for slot, value in zip(checks.slots, values, strict=True):
            slots[slot] = _select(failed, value, before.slot(slot))
        trace.status = Status(number, slots, before.slot)
