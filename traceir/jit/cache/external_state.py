"""Checks that tracing a function changes nothing outside of it.

Serves: update.external, cache.strict.capture

Things that a function sets up once, such as a table that it keeps, are no change: where
the first trace has changed something the function is traced again, and it is an error
if that changes something, too. The second trace is watched line by line.

So no list of functions has to be complete for a draw that nobody saw: generators have
stand-ins (`face.host_calls`), clocks and the like are refused by their names
(`face.external`), and anything else is found here, by its effect.
"""

from __future__ import annotations

import dis
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from types import CellType, CodeType, FrameType, FunctionType
from typing import Any

import numpy as np

from traceir import rules
from traceir.base import cost_model
from traceir.base.source_info import Source, user_frame_summary
from traceir.errors import UnexpectedTracerError
from traceir.jit.cache.captured_state import Read, innermost, module_of, reads, stored
from traceir.jit.cache.fingerprints import (
    MISSING,
    Fingerprinter,
    described,
    is_open,
    own_data,
    state_of,
)
from traceir.tracing.concretization import ArgumentDemand

# Stands for a generator that is not looked at.
_QUIET = object()


def unchanging(
    record: Callable[[], Any],
    fun: Callable[..., Any],
    statics: Iterable[Read],
    rule: str,
) -> Any:
    """The result of `record`, a trace of `fun`. Raises the rule's error if every trace
    changes something that the function reads or sets, and undoes the changes.
    """
    statics = tuple(statics)
    first = _StateWatch(fun, statics)
    try:
        found = record()
    except (
        ArgumentDemand
    ):  # which has the function traced again, as if for the first time
        first.undo()
        raise
    changed = first.change()
    if changed is None:
        return found
    try:
        with _alone():
            again = _StateWatch(fun, statics)
            with again.line_by_line():
                found = record()
            change = again.change()
        if change is not None:
            raise rules.error(rule, got=change, where=again.where())
    except UnexpectedTracerError:  # the first trace has left a traced value
        first.undo()
        raise rules.error(rule, got=changed, where=first.where()) from None
    except Exception:
        first.undo()
        raise
    return found


def _generator(module: str, name: str) -> Any:
    """The generator of a module's functions, if the module has been imported."""
    return getattr(sys.modules.get(module), name, MISSING)


def _alone() -> Any:
    """Within a `with`, no other thread draws from the generator of `numpy.random`."""
    drawn = getattr(_generator("numpy.random.mtrand", "_rand"), "_bit_generator", None)
    return getattr(drawn, "lock", None) or nullcontext()


class _StateWatch:
    """The values that a function reads and sets, as they were."""

    def __init__(self, fun: Callable[..., Any], statics: tuple[Read, ...]) -> None:
        self.fun = fun
        self.statics = statics
        self.place: Source | None = None
        # The objects whose methods, written in C, this thread has called, if it looks.
        self.called: set[int] | None = None
        self.snapshot = _Snapshot(Fingerprinter(module_of(fun)))
        self.before = [
            (name, self.snapshot.fingerprint(value), described(value))
            for name, value in self._values()
        ]
        self.snapshot.names(fun)

    def _values(self) -> Iterator[Read]:
        """The values to watch: generators, statics, names read and set."""
        yield (
            "the generator of numpy.random",
            _generator("numpy.random.mtrand", "_rand"),
        )
        plain = _generator("random", "_inst")
        # Other threads draw from it, too: in the second trace what was called counts.
        quiet = self.called is not None and id(plain) not in self.called
        yield "the generator of random", _QUIET if quiet else plain
        yield from self.statics
        yield from reads(self.fun)
        for known, name in stored(self.fun):
            yield f"the global {name}", known.get(name, MISSING)

    def change(self) -> str | None:
        """The name of the value that has changed, or None."""
        fingerprints = self.snapshot.fingerprints
        pairs = zip(self._values(), self.before, strict=False)
        for (name, value), (_, was, text) in pairs:
            if value is not _QUIET and fingerprints.of(value) != was:
                now = described(value)
                if now != text:
                    return f"{name} was {text}, then {now}"
                return f"{name}, which is in another state than before"
        return None

    @contextmanager
    def line_by_line(self) -> Iterator[None]:
        """Within the `with`, look after each line of a user's for the first change."""
        last: dict[FrameType, Source] = {}

        def line(frame: FrameType, event: str, arg: Any) -> Any:
            before = last.get(frame)
            if self.place is None and before is not None and self.change() is not None:
                self.place = before
            last[frame] = Source(frame.f_code, frame.f_lasti)
            if event == "return":
                last.pop(frame, None)
            return line

        function = innermost(self.fun)
        file = function.__code__.co_filename if function else ""

        def entered(frame: FrameType, event: str, arg: Any) -> Any:
            return line if frame.f_code.co_filename == file else None

        called: set[int] = set()

        def profiled(frame: FrameType, event: str, arg: Any) -> None:
            if event == "c_call":
                called.add(id(getattr(arg, "__self__", None)))

        outer, alone = sys.gettrace(), sys.getprofile() is None
        sys.settrace(entered)
        if alone:
            self.called = called
            sys.setprofile(profiled)
        try:
            yield
        finally:
            if alone:
                sys.setprofile(None)
            sys.settrace(outer)

    def where(self) -> str | None:
        """The line that made the change; of a name, which is set at last, one that does
        so."""
        function = innermost(self.fun)
        if self.place is None and function is not None:
            self.place = Source(function.__code__, _storing(function.__code__))
        return self.place and user_frame_summary(self.place)

    def undo(self) -> None:
        """Restore all values."""
        for undo in self.snapshot.undo_steps:
            undo()


def _storing(code: CodeType) -> int:
    """The first instruction that sets a global name or an attribute."""
    found = [
        i.offset
        for i in dis.get_instructions(code)
        if i.opname in ("STORE_GLOBAL", "STORE_ATTR")
    ]
    return found[0] if found else 0


class _Snapshot:
    """Fingerprints of values, and how to undo changes of these."""

    def __init__(self, fingerprints: Fingerprinter) -> None:
        self.fingerprints = fingerprints
        self.undo_steps: list[Callable[[], None]] = []

    def fingerprint(self, value: Any) -> Any:
        """The fingerprint of a value."""
        found = self.fingerprints.of(value)
        for part in [value, *(v for _, v in self.fingerprints.met.values())]:
            with suppress(Exception):  # of its own code, which may raise anything
                self._keep(part)
        return found

    def _keep(self, value: Any) -> None:
        """Keep the elements or the state of one mutable value."""
        kind: Any = type(value)
        if kind in (list, deque):
            items = list(value)
            self.undo_steps.append(partial(_refill, value, "extend", items))
        elif kind in (dict, set):
            copied = kind(value)
            self.undo_steps.append(partial(_refill, value, "update", copied))
        elif (
            kind is np.ndarray
            and value.nbytes <= cost_model.RESTORED_BYTES
            and value.flags.writeable
        ):
            elements = value.copy()
            self.undo_steps.append(lambda: np.copyto(value, elements))
        elif hasattr(value, "bit_generator") or hasattr(kind, "setstate"):
            self._keep_state(value)
        elif isinstance(value, type):
            for name, held in own_data(value):
                self.undo_steps.append(partial(setattr, value, name, held))
        elif kind is FunctionType or is_open(kind) or own_data(value):
            vars_ = value.__dict__
            attributes = dict(vars_)
            self.undo_steps.append(partial(_refill, vars_, "update", attributes))

    def _keep_state(self, value: Any) -> None:
        state = state_of(value)
        if hasattr(value, "bit_generator"):
            self.undo_steps.append(lambda: setattr(value.bit_generator, "state", state))
        elif state is not None:
            self.undo_steps.append(lambda: value.setstate(state))

    def names(self, fun: Callable[..., Any]) -> None:
        """Keep the values of the names that a function sets."""
        for known, name in stored(fun):
            value = known.get(name, MISSING)
            self.undo_steps.append(partial(_rename, known, name, value))
        function = innermost(fun)
        for cell in (function.__closure__ or ()) if function else ():
            self.undo_steps.append(_restoring(cell))


def _refill(value: Any, method: str, items: Any) -> None:
    value.clear()
    getattr(value, method)(items)


def _rename(known: Any, name: str, value: Any) -> None:
    if value is MISSING:
        known.pop(name, None)
    else:
        known[name] = value


def _restoring(cell: CellType) -> Callable[[], None]:
    try:
        value = cell.cell_contents
    except ValueError:
        return lambda: None
    return lambda: setattr(cell, "cell_contents", value)
