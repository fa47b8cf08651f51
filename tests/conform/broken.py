"""Adapters that break in one way each, for the tests of the runner."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from traceir.conform.casefiles.outcomes import Outcome
from traceir.conform.casefiles.sessions import Session
from traceir.conform.casefiles.values import TypedValue
from traceir.conform.systems.implementations import Reference
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr

Arrays = Sequence[np.ndarray]


def acting(act: Callable[[], Any]) -> type[Any]:
    """An adapter that does something before it answers rightly."""

    class Acting(Reference):
        def type(self, program: ClosedJaxpr) -> Sequence[ShapedArray]:
            act()
            return super().type(program)

        def session(self, session: Session) -> Sequence[Outcome]:
            act()
            return super().session(session)

    return Acting


def answering(
    results: Callable[[Arrays], Any], outcomes: Callable[[Any], Any] = list
) -> type[Any]:
    """An adapter that returns something made of the right answers."""

    class Answering(Reference):
        def eval(self, program: ClosedJaxpr, args: Arrays) -> Any:
            return results(super().eval(program, args))

        def session(self, session: Session) -> Any:
            return outcomes(super().session(session))

    return Answering


def raising(error: BaseException) -> Callable[[], None]:
    """Something that raises."""

    def act() -> None:
        raise error

    return act


class Unprintable(Exception):
    """An error whose text raises, and whose rule does."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    @property
    def rule(self) -> str:
        """The rule that it violates, which it does not tell."""
        raise RuntimeError("no rule")


class Numbered(Exception):
    """An error whose rule is no text."""

    rule = 5


def recurse() -> None:
    """Call itself without end."""
    recurse()


def segfault() -> None:
    """Read where nothing may be read."""
    ctypes.string_at(0)


def hang() -> None:
    """Wait, and do not let a signal of a kind end that."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)


def shout() -> None:
    """Print megabytes wherever one can print."""
    text = "not a verdict\n" * 100_000
    for stream in (sys.stdout, sys.stderr):
        stream.write(text)
        stream.flush()
    os.write(1, text.encode())


def last_words() -> None:
    """Say something and go."""
    print("out of disk", file=sys.stderr, flush=True)
    os._exit(3)


def close_streams() -> None:
    """Leave nothing to print to."""
    sys.stdout.close()
    sys.stderr.close()
    os.closerange(0, 3)


def close_and_wait() -> None:
    """Leave the runner without a word."""
    os.closerange(3, 256)
    time.sleep(600)


def lie() -> None:
    """Write to every pipe that is open."""
    for descriptor in range(3, 20):
        try:
            os.write(descriptor, b'{"case": "add/special", "kind": "pass"}\n')
        except OSError:
            continue


def leave_a_child() -> None:
    """End while a process that it started goes on, with the pipes in its hands."""
    if os.fork():
        os._exit(4)
    time.sleep(600)


Raises = acting(raising(ValueError("no")))
Exits = acting(raising(SystemExit(0)))
Interrupts = acting(raising(KeyboardInterrupt()))
Stops = acting(raising(GeneratorExit()))
Recurses = acting(recurse)
CannotSay = acting(raising(Unprintable()))
NumbersRules = acting(raising(Numbered()))
Hangs = acting(hang)
Quits = acting(lambda: os._exit(0))
SaysAndQuits = acting(last_words)
Segfaults = acting(segfault)
Kills = acting(lambda: os.kill(os.getpid(), signal.SIGKILL))
Shouts = acting(shout)
ClosesStreams = acting(close_streams)
ClosesAll = acting(lambda: os.closerange(3, 256))
ClosesAndWaits = acting(close_and_wait)
Lies = acting(lie)
LeavesAChild = acting(leave_a_child)


def every(change: Callable[[Any], Any]) -> Callable[[Sequence[Any]], list[Any]]:
    """Each of several answers changed."""
    return lambda found: [change(x) for x in found]


NaNs = answering(every(lambda x: np.full_like(x, np.nan)))
WrongDtype = answering(every(lambda x: np.float64(x)))
WrongShape = answering(every(lambda x: np.float32(x)[None]))
Twice = answering(lambda found: [*found, *found], lambda found: [*found, *found])
Nothing = answering(lambda found: None, lambda found: None)
Empty = answering(lambda found: (), lambda found: ())
Texts = answering(every(str), every(str))
Bare = answering(lambda found: found[0], lambda found: found[0])
Endless = answering(lambda found: (found[0] for _ in count()), lambda found: count())
Objects = answering(every(lambda x: object()), every(lambda x: object()))
Huge = answering(every(lambda x: np.zeros(10_000_000, np.float32)))
Numbers = answering(every(lambda x: 10**400))


class NoArray:
    """Something that refuses to become an array."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise BufferError("not now")


NotNow = answering(every(lambda x: NoArray()))


def garbled(**changes: Any) -> type[Any]:
    """An adapter whose outcomes have other fields."""
    return answering(list, every(lambda outcome: replace(outcome, **changes)))


ONE = TypedValue(ShapedArray((), "float32"), np.float32(1))
NoEvent = garbled(event=5)
OddEvent = garbled(event="dances")
NoRule = garbled(rule=5)
NoValues = garbled(values=[ONE])
NoValue = garbled(values=(1.0,))
NoType = garbled(values=(TypedValue("f32", np.float32(1)),))
NoElements = garbled(values=(TypedValue(ONE.aval, None),))
OtherType = garbled(values=(TypedValue(ONE.aval, np.float64(1)),))


class InPlace(Reference):
    """Uses its arguments as room for its results."""

    def eval(self, program: ClosedJaxpr, args: Arrays) -> Arrays:
        found = super().eval(program, args)
        for array in args:
            array[...] = 0
        return found


class Fickle(Reference):
    """Is wrong when it is asked for results, and gives nothing when for variables."""

    def eval(self, program: ClosedJaxpr, args: Arrays) -> Any:
        found = super().eval(program, args)
        wanted = len(program.eqns) > len(program.jaxpr.outvars)
        return [np.full_like(x, np.nan) for x in found] if wanted else None


class Hasty(Fickle):
    """Is wrong in both."""

    def eval(self, program: ClosedJaxpr, args: Arrays) -> Any:
        return super().eval(program, args) or [np.float64(1)]


class Slow(Reference):
    """Answers after a while."""

    def type(self, program: ClosedJaxpr) -> Sequence[ShapedArray]:
        time.sleep(0.2)
        return super().type(program)


class SlowWithMarks(Slow):
    """Answers after a while, and tells outside that it was asked."""

    def type(self, program: ClosedJaxpr) -> Sequence[ShapedArray]:
        with open(os.environ["BROKEN_MARK"], "a") as marks:
            marks.write("asked\n")
        return super().type(program)


# What is declared ---------------------------------------------------------------------


class BadChoice(Reference):
    """Chooses what may not be chosen."""

    def __init__(self) -> None:
        super().__init__(choices={"choice.sum-order": "backwards"})


class Ordered(Reference):
    """Declares more than it does: that -0 is less than +0."""

    def __init__(self) -> None:
        super().__init__(choices={"choice.zero-extremum": "ordered"})


class NoChoice(Reference):
    """Chooses what is no choice."""

    def __init__(self) -> None:
        super().__init__(choices={"choice.colour": "red"})


class OddChoices(Reference):
    """Declares its choices in a way of its own."""

    def __init__(self) -> None:
        choices: Any = 5
        super().__init__(choices=choices)


class CoreOnly(Reference):
    """Claims programs alone."""

    profiles = ("core",)


class OddProfile(Reference):
    """Claims what is no profile."""

    profiles = ("cores",)


class Script(Reference):
    """Has a name that would be a part of a page, and says such things."""

    def __init__(self) -> None:
        super().__init__(name="<script>alert(1)</script>\x1b[31m")

    def eval(self, program: ClosedJaxpr, args: Arrays) -> Arrays:
        raise ValueError("</pre><img src=x>\x1b[2J &amp;\ud800")


class TypesOnly:
    """Has one of three methods."""

    shares = ("typing",)

    def type(self, program: ClosedJaxpr) -> Sequence[ShapedArray]:
        """The types of the tables."""
        return Reference().type(program)


# What cannot be loaded ----------------------------------------------------------------


class Failing:
    """Cannot be made."""

    def __init__(self) -> None:
        raise OSError("no device")


class Leaving:
    """Leaves Python while it is made."""

    def __init__(self) -> None:
        sys.exit("bye")


class Dying:
    """Ends its process while it is made."""

    def __init__(self) -> None:
        last_words()


class NeverReady:
    """Is not made in time."""

    def __init__(self) -> None:
        time.sleep(600)


class DyingLater(Reference):
    """Can be loaded once only, and dies in its first case."""

    def __init__(self) -> None:
        super().__init__()
        path = os.environ["BROKEN_MARK"]
        if os.path.exists(path):
            raise OSError("loaded before")
        open(path, "w").close()

    def type(self, program: ClosedJaxpr) -> Sequence[ShapedArray]:
        """Never returns."""
        os._exit(1)


class Silent:
    """Has no method at all."""


class Declaring(Reference):
    """Raises when it is asked what it declares."""

    @property
    def version(self) -> str:
        """Not known."""
        raise LookupError("no version")


NUMBER = 3
MAPPING: Mapping[str, int] = {}
ready = Reference()


def made() -> Reference:
    """A factory."""
    return Reference()


def endless() -> Iterator[int]:
    """A factory of something else."""
    return count()
