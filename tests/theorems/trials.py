"""Trials: for each theorem a line for every fault that a program shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any, TypeVar

import numpy as np

import traceir
from theorems.passes import passes
from theorems.small import arguments
from theorems.traced import keys, tracing
from theorems.transformed import (
    batching,
    composition,
    derivative,
    partial_evaluation,
    transposition,
)
from traceir.conform.systems.implementations import result_types
from traceir.errors import TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.jit.cache.cache_key import KeyTable
from traceir.oracle import scalar_interpreter
from traceir.oracle.abstract_syntax import as_term
from traceir.oracle.derivations import TYPED, Derivation, Stuck
from traceir.oracle.scalar_interpreter import RuleInterpreter
from traceir.reference.interpreter import eval_jaxpr, evaluate_eqn
from traceir.rules import Rules, default
from traceir.transforms.control.partial_eval import PartialEval, partial_eval_program

Arrays = Sequence[np.ndarray]
Run = Callable[[ClosedJaxpr, Arrays], Arrays]
Split = Callable[[ClosedJaxpr, Sequence[bool]], PartialEval]
Choice = TypeVar("Choice")
Check = Callable[[ClosedJaxpr], Sequence[ShapedArray]]


def reference(program: ClosedJaxpr, args: Arrays) -> Arrays:
    """The results of the reference's kernels."""
    return eval_jaxpr(program, program.consts, *args)


def checker(program: ClosedJaxpr) -> Sequence[ShapedArray]:
    """The types by the reference's checker, weakness included."""
    return result_types(program, default())


@dataclass(frozen=True)
class Subject:
    """The rules and an implementation; a miniature has one part that is wrong."""

    rules: Rules = field(default_factory=default)
    check: Check = checker
    run: Run = reference
    split: Split = partial_eval_program
    jvp: Callable[..., Any] = traceir.jvp
    # Passes of the backend, its own if there are none; whether machine code is made.
    passes: Sequence[Any] = ()
    compiles: bool = False
    # What draws the choices that are tried; all are without it.
    random: Random | None = None
    # The program that was typed last, with what was found.
    last: list[Any] = field(default_factory=list)

    @cached_property
    def derivation(self) -> Derivation:
        """The rules, applied."""
        return Derivation(self.rules)

    @cached_property
    def interpreter(self) -> RuleInterpreter:
        """The interpreter by the rules; the reference gives what relations define."""
        return scalar_interpreter.guessing(self.rules, evaluate_eqn)

    def chosen(self, choices: Iterable[Choice], others: int = 1) -> list[Choice]:
        """The choices that a trial takes: all, or the first and some drawn ones."""
        found = list(choices)
        if self.random is not None and others + 1 < len(found):
            return [found[0], *self.random.sample(found[1:], others)]
        return found

    @cached_property
    def key_table(self) -> KeyTable:
        """The reference's table of keys by the rules."""
        return KeyTable(self.rules)


def typed(program: ClosedJaxpr, subject: Subject) -> tuple[Any, str]:
    """The types by the rules and "", or None and the rule that rejects."""
    if not (subject.last and subject.last[0] is program):
        subject.last[:] = program, *_typed(program, subject)
    return subject.last[1], subject.last[2]


def _typed(program: ClosedJaxpr, subject: Subject) -> tuple[Any, str]:
    try:
        found = subject.derivation.derive(TYPED, as_term(program))
    except TraceirError as error:
        return None, error.rule
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
        return None, "a formula has no value"
    return found, ""


def determinism(program: ClosedJaxpr, subject: Subject) -> Iterator[str]:
    """No judgement about a program, nor about a part of it, has two rules."""
    try:
        typed(program, subject)
    except Stuck as error:
        yield str(error)


def agreement(program: ClosedJaxpr, subject: Subject) -> Iterator[str]:
    """The checker types a program as the rules do, or rejects it by the same clause."""
    found, rule = typed(program, subject)
    wanted = rule or tuple(found[1])
    try:
        got: Any = tuple(subject.check(program))
    except TraceirError as error:
        got = error.rule
    if got != wanted:
        yield f"the checker says {got}, the rules {wanted}"


def soundness(program: ClosedJaxpr, subject: Subject) -> Iterator[str]:
    """A well-typed program is not stuck, and gives arrays of its types."""
    found, rule = typed(program, subject)
    if rule:
        return
    args = arguments(program.in_avals)
    yield from _runs(found[1], lambda: subject.interpreter.run(program, tuple(args)))
    yield from _runs(found[1], lambda: subject.run(program, args))


def _runs(avals: Sequence[ShapedArray], run: Callable[[], Arrays]) -> Iterator[str]:
    try:
        found = run()
    except Exception as error:  # whatever it is, the program is stuck
        yield f"stuck: {type(error).__name__}: {error}"
        return
    wanted = [(a.shape, a.dtype) for a in avals]
    got = [(a.shape, a.dtype) for a in found]
    if got != wanted:
        yield f"gives {got}, not {wanted}"


Trial = Callable[[ClosedJaxpr, Subject], Iterator[str]]
TRIALS: dict[str, Trial] = {
    "theorem.determinism": determinism,
    "theorem.checker": agreement,
    "theorem.soundness": soundness,
    "theorem.trace": tracing,
    "theorem.keys": keys,
    "theorem.jvp": derivative,
    "theorem.vmap": batching,
    "theorem.transpose": transposition,
    "theorem.partial-evaluation": partial_evaluation,
    "theorem.composition": composition,
    "theorem.passes": passes,
}


def tried(theorem: str, program: ClosedJaxpr, subject: Subject) -> Iterator[str]:
    """The faults of a theorem's trial on a program; whatever it raises is one."""
    try:
        yield from TRIALS[theorem](program, subject)
    except Exception as error:
        yield f"{type(error).__name__}: {error}"
