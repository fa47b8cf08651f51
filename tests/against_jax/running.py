"""One program on both libraries, in one process: eagerly and under ``jit``."""

from __future__ import annotations

import contextlib
import re
import signal
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from against_jax.compare import Difference, compare
from against_jax.outcomes import Outcome, outcome
from against_jax.programs import HEAD, Program

# What makes JAX compile in a third of the time; results are asked for again without it
# before a difference is told.
FAST = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}
SECONDS = 60
# Errors of a program that cannot be traced: only an eager run says what it means.
UNTRACEABLE = (
    "ConcretizationTypeError",
    "TracerArrayConversionError",
    "NonConcreteBooleanIndexError",
    "TracerIntegerConversionError",
)


@dataclass(frozen=True)
class Found:
    """A difference, in which mode, and the outcomes on both sides."""

    mode: str
    difference: Difference
    ours: Outcome
    theirs: Outcome


@dataclass
class Libraries:
    """Both libraries with the names that programs use."""

    ours: Any
    theirs: Any

    @classmethod
    def imported(cls) -> Libraries:
        """Import both."""
        names: dict[str, Any] = {}
        exec("import jax, traceir", names)
        return cls(names["traceir"], names["jax"])


def translated(text: str) -> str:
    """The text of a program for JAX as one for this project."""
    head, line, rest = text.partition("jax.config")
    head = re.sub(r"^import jax$", "import traceir as jax", head, flags=re.M)
    head = re.sub(r"^(import|from) jax\b", r"\1 traceir", head, flags=re.M)
    return head + line + rest


class Runner:
    """Runs programs; keeps the names that the heads of programs import."""

    def __init__(self) -> None:
        self.libraries = Libraries.imported()
        self.names: dict[str, dict[str, Any]] = {"ours": {}, "theirs": {}}
        head = HEAD.format(wide=False)
        exec(translated(head), self.names["ours"])
        exec(head, self.names["theirs"])

    def differences(
        self, program: Program, thorough: bool = False, backend: str = "jit"
    ) -> list[Found]:
        """All the ways in which a program differs; few runs where there are none."""
        with warnings.catch_warnings(), _limit(SECONDS):
            warnings.simplefilter("ignore")
            self._set(program.wide)
            return self._differences(program, thorough, backend)

    def _differences(
        self, program: Program, thorough: bool, backend: str
    ) -> list[Found]:
        eager = self.run(program, "ours")
        if backend == "types":
            theirs = self.run(program, "theirs", "types")
            traced = not theirs.error or theirs.catchable not in UNTRACEABLE
            if traced and not compare(eager, theirs):
                return []
            backend = "jit"
        jitted = self.run(program, "ours", backend)
        if thorough:
            # The reference implementation compiles nothing: it must say the same.
            found = _found("backend", jitted, self.run(program, "ours", "reference"))
            return [*found, *self._asked_twice(program, eager, jitted)]
        theirs = self.run(program, "theirs", "jit", compiler_options=FAST)
        traced = not theirs.error or theirs.catchable not in UNTRACEABLE
        if traced and not (compare(jitted, theirs) or compare(eager, theirs)):
            return []
        return self._asked_twice(program, eager, jitted)

    def _asked_twice(
        self, program: Program, eager: Outcome, jitted: Outcome
    ) -> list[Found]:
        """The differences that remain when JAX is run in both modes, with its usual
        options.
        """
        found = _found("jit", jitted, self.run(program, "theirs", "jit"))
        return [*found, *_found("eager", eager, self.run(program, "theirs"))]

    def again(self, program: Program, mode: str) -> Difference | None:
        """The difference of a program in one mode, for the minimiser."""
        with warnings.catch_warnings(), _limit(SECONDS):
            warnings.simplefilter("ignore")
            self._set(program.wide)
            if mode == "eager":
                return compare(self.run(program, "ours"), self.run(program, "theirs"))
            ours = self.run(program, "ours", "jit")
            if mode == "backend":
                return compare(ours, self.run(program, "ours", "reference"))
            options = {"compiler_options": FAST}
            return compare(ours, self.run(program, "theirs", "jit", **options))

    def run(
        self, program: Program, side: str, mode: str = "eager", **options: Any
    ) -> Outcome:
        """The outcome of a program on one side."""
        library = getattr(self.libraries, side)
        names = dict(self.names[side])

        def result() -> Any:
            exec(program.body, names)
            function, arguments = names["f"], names["args"]
            if mode == "types":
                function = library.jit(function).eval_shape
            elif mode == "reference":
                function = library.jit(function, backend="reference")
            elif mode == "jit":
                function = library.jit(function, **options)
            return function(*arguments)

        return outcome(result, library)

    def _set(self, wide: bool) -> None:
        for library in (self.libraries.ours, self.libraries.theirs):
            library.config.update("jax_enable_x64", wide)

    def forget(self) -> None:
        """Give back what both libraries keep of programs that have run."""
        self.libraries.ours.clear_caches()
        self.libraries.theirs.clear_caches()


def _found(mode: str, ours: Outcome, theirs: Outcome) -> list[Found]:
    difference = compare(ours, theirs)
    return [Found(mode, difference, ours, theirs)] if difference else []


class Late(BaseException):
    """A program takes longer than it may."""


@contextlib.contextmanager
def _limit(seconds: int) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise Late(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
