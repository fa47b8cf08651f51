"""The project's own implementations, as the runner sees them. Serves: every table"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

import traceir
from traceir.conform.casefiles.outcomes import Outcome
from traceir.conform.casefiles.sessions import Session
from traceir.conform.casefiles.untyped import typed, typed_by
from traceir.conform.casefiles.weak import weaken
from traceir.conform.judging.borrowed import PARTS
from traceir.conform.judging.run import Unsupported
from traceir.conform.judging.witness import Arrays
from traceir.conform.systems.higher import outcomes_of
from traceir.conform.systems.jitted import Jitted, TraceirSystem
from traceir.conform.systems.model import Model
from traceir.errors import TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, subjaxprs
from traceir.ir.typecheck import check
from traceir.jit.backends import resolve
from traceir.jit.function import JitFunction, Options
from traceir.oracle import printing, reading, scalar_interpreter
from traceir.oracle.derivations import applied_types, type_program
from traceir.reference import interpreter
from traceir.rules import Rules, default
from traceir.text.printer import to_text

# What a backend says of a program that it has no code for.
UNSUPPORTED = "backend.unsupported"
# What loops and choices of plain functions are recorded as.
CONSTRUCTS = frozenset({"cond", "scan", "while"})


def result_types(program: ClosedJaxpr, rules: Rules) -> Sequence[ShapedArray]:
    """The types of a program's results by the tables, weakness included.

    The program may come without types of results. Those of texts do not tell along
    which axes values vary. Raises the error of the first clause that the program
    violates.
    """
    program = typed(program, rules)
    inside_out(program, lambda inner: check(inner, rules))
    check(program, rules)
    weak = [aval.weak_type for aval in program.in_avals]
    return tuple(a.update(vma=()) for a in weaken(program, weak, rules).out_avals)


def inside_out(program: ClosedJaxpr, judge: Callable[[ClosedJaxpr], Any]) -> None:
    """Judge programs within first: who has a mistake there has no types to give."""
    for eqn in program.eqns:
        for inner in subjaxprs(eqn):
            inside_out(inner, judge)
            judge(inner)


def declared() -> Mapping[str, str]:
    """The reference's choices, where the tables leave a choice."""
    return scalar_interpreter.declared_choices(default())


def constructs(program: ClosedJaxpr) -> list[str]:
    """The loops and choices of a program, and of the programs in it, sorted."""
    found = [e.primitive for e in program.eqns if e.primitive in CONSTRUCTS]
    for eqn in program.eqns:
        for inner in subjaxprs(eqn):
            found += constructs(inner)
    return sorted(found)


def lacks_constants(program: ClosedJaxpr) -> bool:
    """True if a constant of a program, or of a program in it, has no value."""
    inner = (p for eqn in program.eqns for p in subjaxprs(eqn))
    missing = len(program.consts) != len(program.jaxpr.constvars)
    return missing or any(map(lacks_constants, inner))


class ByTables:
    """The base of this project's implementations: types and text by the tables."""

    rules: Rules
    # The backend of `traceir.jit` that runs plain functions.
    backend: str
    version = traceir.__version__
    shares = tuple(PARTS)

    def type(self, program: ClosedJaxpr) -> Sequence[ShapedArray]:
        """The types that the tables infer."""
        return result_types(program, self.rules)

    def admit(self, program: ClosedJaxpr, args: Arrays) -> None:
        """Raises TypeError (eval.constants, eval.arguments) for missing values."""
        if lacks_constants(program):
            raise self.rules.error("eval.constants")
        if [a.shape for a in args] != [a.shape for a in program.in_avals]:
            raise self.rules.error("eval.arguments")

    def text(self, program: ClosedJaxpr, full: bool) -> str:
        """The program as text, or as the text that leaves nothing out."""
        return to_text(program, full, self.rules)

    def plain(self, function: Callable[..., Any]) -> JitFunction[..., Any]:
        """A plain function under the decorator of the implementation."""
        options = Options(backend=self.backend, face="numpy", x64=True, numpy_out=True)
        return JitFunction(function, None, None, options)

    def recorded(self, function: JitFunction[..., Any], *args: Any) -> list[str]:
        """The loops and choices of what a plain function is traced to."""
        return constructs(function.trace(*args).jaxpr)


@dataclass(frozen=True)
class Oracle(ByTables):
    """The tables, interpreted: elements one by one, keys and levels row by row."""

    rules: Rules = field(default_factory=default)
    name: str = "oracle"
    choices: Mapping[str, str] = field(default_factory=dict)
    backend: str = "oracle"
    shares = ("evaluation", "tracing")

    def type(self, program: ClosedJaxpr) -> Sequence[ShapedArray]:
        """The types by the inference rules, which share no code with the checker."""

        def applied(eqn: Eqn) -> Sequence[ShapedArray]:
            try:
                return applied_types(eqn.primitive, eqn.params, eqn.inputs, self.rules)
            except Exception:  # it has no type, which the judgement below says
                return ()

        found = typed_by(program, applied)
        inside_out(found, lambda inner: type_program(inner, self.rules))
        return type_program(found, self.rules)

    def parse(self, text: str) -> ClosedJaxpr:
        """The program of a text, by the grammar; raises JaxprSyntaxError."""
        return reading.read(text, self.rules)

    def text(self, program: ClosedJaxpr, full: bool) -> str:
        """The text of a program, by the rows about text."""
        return printing.write(program, full, self.rules)

    def eval(self, program: ClosedJaxpr, args: Arrays) -> Arrays:
        """The results that the `value` formulas define.

        Of relations, results that satisfy them.
        """
        self.admit(program, args)
        guess = interpreter.evaluate_eqn
        return scalar_interpreter.run(program, program.consts, args, self.rules, guess)

    def session(self, session: Session) -> Sequence[Outcome]:
        """The outcomes by the rows of the key and the levels, one for each call.

        Functions are transformed by the rules; where these do not suffice by the
        reference, and then run by the tables.
        """
        if session.is_higher:
            return outcomes_of(session, self.rules)
        return Model(session, self.rules).run()


@dataclass(frozen=True)
class Reference(ByTables):
    """The NumPy evaluator and `traceir.jit`."""

    rules: Rules = field(default_factory=default)
    name: str = "reference"
    choices: Mapping[str, str] = field(default_factory=declared)
    backend: str = "reference"

    def eval(self, program: ClosedJaxpr, args: Arrays) -> Arrays:
        """The results of the evaluator's kernels."""
        return interpreter.eval_jaxpr(program, program.consts, *args)

    def session(self, session: Session) -> Sequence[Outcome]:
        """The outcomes of `traceir.jit`, one for each call."""
        return Jitted(session, TraceirSystem("reference")).run()


@dataclass(frozen=True)
class CompiledImplementation(ByTables):
    """A backend of `traceir.jit`: programs that it compiles, sessions that it runs."""

    backend: str
    rules: Rules = field(default_factory=default)

    @property
    def name(self) -> str:
        """The backend's name."""
        return self.backend

    @property
    def choices(self) -> Mapping[str, str]:
        """The reference's choices, where the backend declares nothing else."""
        return {**declared(), **getattr(resolve(self.backend), "CHOICES", {})}

    @property
    def decorators(self) -> Any:
        """The counterparts of Numba's decorators, None if there are none."""
        name = getattr(resolve(self.backend), "DECORATORS", None)
        return import_module(name) if name else None

    def eval(self, program: ClosedJaxpr, args: Arrays) -> Arrays:
        """The results of the compiled program."""
        self.admit(program, args)
        try:
            compiled = resolve(self.backend).compile(program, "case")
        except TraceirError as error:
            if error.rule != UNSUPPORTED:
                raise
            raise Unsupported(UNSUPPORTED) from None
        results: tuple[np.ndarray, ...] = compiled.run(*args)
        return results

    def session(self, session: Session) -> Sequence[Outcome]:
        """The outcomes of `traceir.jit`, one for each call."""
        outcomes = Jitted(session, TraceirSystem(self.backend)).run()
        if any(outcome.rule == UNSUPPORTED for outcome in outcomes):
            raise Unsupported(UNSUPPORTED)
        return outcomes


def numba() -> CompiledImplementation:
    """The backend of the CPU; raises ValueError (jit.backend) without llvmlite."""
    resolve("numba")
    return CompiledImplementation("numba")


def cuda() -> CompiledImplementation:
    """Kernels on a CUDA device, or in the simulator.

    Raises ValueError (jit.backend) without Numba, RuntimeError (backend.device) without
    a device.
    """
    resolve("cuda").check()
    return CompiledImplementation("cuda")
