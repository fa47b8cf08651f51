"""Communicators, and how long one process waits for another. Serves: process.waited

Every call of MPI goes through `Transport.wait`. MPI has no way to take a collective
back, so a process that has waited too long says so and ends the whole run.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from traceir import rules
from traceir.base import source_info
from traceir.ranks.groups import RankAxis
from traceir.ranks.topology import STATE

# How often the watch looks, as a part of the time for which is waited.
LOOKS = 20
# Seconds between two processes that give up, so that one of them tells.
APART = 0.25


class Transport:
    """The way to the other processes: `mpi` is the module `MPI` of mpi4py.

    Programs have communicators of their own, so collectives of two programs that are
    called in another order wait for each other, and never take each other's data.
    """

    def __init__(self, mpi: Any, seconds: float) -> None:
        self.mpi = mpi
        self.seconds = seconds
        self.rank: int = mpi.COMM_WORLD.Get_rank()
        self.control = mpi.COMM_WORLD.Dup()
        self._programs: dict[str, dict[RankAxis, Any]] = {"": {}}
        self._agreed: set[str] = set()
        self._scope = threading.local()
        # Until when is waited, in what, and in which thread.
        self._waiting: tuple[float, str, int] | None = None
        self._ended = threading.Event()
        watch = threading.Thread(target=self._watch, name="traceir-watch", daemon=True)
        watch.start()

    def wait(self, what: str, call: Callable[..., Any], *args: Any) -> Any:
        """The result of a call of MPI that waits for other processes."""
        self._waiting = time.monotonic() + self.seconds, what, threading.get_ident()
        try:
            return call(*args)
        finally:
            self._waiting = None

    @property
    def program(self) -> str:
        """The program that this thread runs; none outside of programs."""
        return getattr(self._scope, "program", "")

    def is_new(self, collective: str) -> bool:
        """True once for each collective outside of programs."""
        if collective in self._agreed:
            return False
        self._agreed.add(collective)
        return True

    def communicator(self, axis: RankAxis) -> Any:
        """The communicator of this process's group, for the program that runs."""
        known = self._programs[self.program]
        if axis not in known:
            known[axis] = self._split(axis)
        return known[axis]

    def _split(self, axis: RankAxis) -> Any:
        at = axis.number, axis.place
        return self.wait(f"the processes along {axis!r}", self.control.Split, *at)

    def prepare(self, program: str, axes: Sequence[RankAxis]) -> None:
        """Make the communicators of a program, which all processes do at once."""
        self._programs[program] = {axis: self._split(axis) for axis in axes}

    def knows(self, program: str) -> bool:
        """True if a program has been called before."""
        return program in self._programs

    @contextmanager
    def calling(self, program: str) -> Iterator[None]:
        """Inside the `with`, collectives are those of a program."""
        outer = self.program
        self._scope.program = program
        try:
            yield
        finally:
            self._scope.program = outer

    def close(self) -> None:
        """Leave the other processes."""
        self._ended.set()
        for known in self._programs.values():
            for comm in known.values():
                comm.Free()
        self.control.Free()

    def abort(self) -> NoReturn:
        """End all processes of the run."""
        sys.stdout.flush()
        sys.stderr.flush()
        self.mpi.COMM_WORLD.Abort(1)
        raise SystemExit(1)  # not reached: MPI has ended the process

    def _watch(self) -> None:
        while not self._ended.wait(min(self.seconds / LOOKS, 1.0)):
            waiting = self._waiting
            if waiting is not None and time.monotonic() > waiting[0]:
                time.sleep(APART * min(self.rank, LOOKS))
                if self._waiting is waiting:
                    self._give_up(*waiting[1:])

    def _give_up(self, what: str, thread: int) -> NoReturn:
        got = f"process {self.rank} has waited {self.seconds:g} s in {what}"
        frame = sys._current_frames().get(thread)
        while frame and not source_info.is_users_code(frame.f_code.co_filename):
            frame = frame.f_back
        place = source_info.Source(frame.f_code, frame.f_lasti) if frame else None
        where = str(place) if place else ""
        error = rules.error("process.waited", got=got, where=where)
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        self.abort()


def transport() -> Transport:
    """The way to the other processes; RuntimeError (process.start) if there is none."""
    found: Transport | None = STATE.transport
    if found is None:
        raise rules.error("process.start", got="a collective of processes before it")
    return found
