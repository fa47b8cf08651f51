"""Streams: one for each device, and what one of them waits for in another.

A device does what it is given in the order of its stream; devices do their work at the
same time. In the simulator each stream is a queue while a program of several devices
runs, and the device whose turn it is is drawn: only what waits is in any order.
Serves: device.simulated
"""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from traceir_numba.cuda.simulator.order import drawn

# What a device is given: False while it waits, anything else once it is done.
Work = Callable[[], object]


class _PresentDevice(threading.local):
    """The device that a thread gives work to, and its queues where there are any."""

    number = 0
    queues: StreamQueues | None = None


_here = _PresentDevice()


def current() -> int:
    """The number of the simulated device that this thread gives work to."""
    return _here.number


@contextmanager
def using(number: int) -> Iterator[None]:
    """Inside the `with`, this thread gives its work to a simulated device."""
    before, _here.number = _here.number, number
    try:
        yield
    finally:
        _here.number = before


def give(work: Callable[[], object]) -> None:
    """Have the device do something: at once, unless its stream is a queue."""
    queues = _here.queues
    if queues is None:
        work()
    else:
        queues.add(_here.number, work)


def finish() -> None:
    """Wait until the device has done what it was given."""
    if _here.queues is not None:
        _here.queues.run(_here.number)


class SimulatedEvent:
    """A place in a stream, which others can wait for."""

    __slots__ = ("reached",)

    def __init__(self) -> None:
        self.reached = False

    def reach(self) -> bool:
        """The stream is there."""
        self.reached = True
        return True


class StreamQueues:
    """The streams of simulated devices: a queue of work for each."""

    def __init__(self, choice: random.Random) -> None:
        self._choice = choice
        self._queues: dict[int, deque[Work]] = {}

    def add(self, number: int, work: Work) -> None:
        """Put work at the end of a device's stream."""
        self._queues.setdefault(number, deque()).append(work)

    def record(self) -> SimulatedEvent:
        """The event that the present device reaches after what it was given."""
        event = SimulatedEvent()
        self.add(_here.number, event.reach)
        return event

    def wait(self, event: SimulatedEvent) -> None:
        """Let the present device go on only after an event."""
        self.add(_here.number, lambda: event.reached)

    def run(self, until: int | None = None) -> None:
        """Let devices work in turns that are drawn, until one, or all, are done."""
        waiting: set[int] = set()
        while True:
            busy = [k for k, queue in self._queues.items() if queue]
            if not busy or until not in (None, *busy):
                return
            ready = sorted(set(busy) - waiting)
            if not ready:
                raise RuntimeError("streams of devices wait for one another")
            number = self._choice.choice(ready)
            with using(number):
                waits = self._queues[number][0]() is False
            if waits:
                waiting.add(number)
            else:
                self._queues[number].popleft()
                waiting.clear()


@contextmanager
def queued() -> Iterator[StreamQueues]:
    """Inside the `with`, streams of simulated devices are queues; then all is done."""
    queues = StreamQueues(drawn())
    before, _here.queues = _here.queues, queues
    try:
        yield queues
        queues.run()
    finally:
        _here.queues = before


class DriverStreams:
    """The streams of real devices: each has the one that CUDA gives its context."""

    def __init__(self, dialect: Any) -> None:
        self._dialect = dialect

    def record(self) -> Any:
        """The event that the present device reaches after what it was given."""
        event = self._dialect.event(timing=False)
        event.record(self._dialect.default_stream())
        return event

    def wait(self, event: Any) -> None:
        """Let the present device go on only after an event."""
        event.wait(self._dialect.default_stream())
