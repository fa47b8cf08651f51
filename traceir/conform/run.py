"""Judging an implementation: one verdict for each case. Serves: every table"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from traceir import oracle
from traceir.avals import ShapedArray
from traceir.conform.cases import Case
from traceir.conform.sessions import Call, Outcome, Session
from traceir.conform.values import Value, same_bits, show
from traceir.ir import ClosedJaxpr, Literal
from traceir.rules import Rules, default
from traceir.text.printer import to_text


class Unsupported(Exception):
    """Raised by an adapter for what its implementation does not do."""


class Implementation(Protocol):
    """What an implementation offers to be judged: three methods over parsed programs.

    A rejection is an exception with the violated rule's id as `rule`.
    """

    @property
    def name(self) -> str:
        """The name under which verdicts are reported."""

    @property
    def choices(self) -> Mapping[str, str]:
        """What it declares of the choices that the tables leave open, by their ids."""

    def type(self, program: ClosedJaxpr) -> Sequence[ShapedArray]:
        """The types of the results; raises for an ill-typed program."""

    def eval(
        self, program: ClosedJaxpr, args: Sequence[np.ndarray]
    ) -> Sequence[np.ndarray]:
        """The results for some arguments of the inputs' types."""

    def session(self, session: Session) -> Sequence[Outcome]:
        """What each call did, in order; settings have no outcome."""


@dataclass(frozen=True)
class Verdict:
    """`pass`, `fail`, `unsupported` or `crashed`, and why."""

    kind: str
    why: str = ""

    def __bool__(self) -> bool:
        return self.kind == "pass"


def judge(
    implementation: Implementation,
    case: Case,
    rules: Rules | None = None,
    exact: bool = False,
) -> Verdict:
    """The verdict of one case.

    A result counts as right when it has the case's bits or, unless `exact`, when the
    accuracy set of its primitive has it. `rules` are those by which a program is read.
    """
    rules = rules or default()
    try:
        why = _check_choices(implementation, rules)
        why = why or _check(implementation, case, rules, exact)
    except Unsupported as reason:
        return Verdict("unsupported", str(reason))
    except Exception as error:  # a crash of the implementation is a verdict
        return Verdict("crashed", f"{type(error).__name__}: {error}")
    return Verdict("fail", why) if why else Verdict("pass")


def _check_choices(implementation: Implementation, rules: Rules) -> str | None:
    for name, choice in implementation.choices.items():
        if name not in rules.choices:
            return f"declares {name}, which is no choice"
        if choice not in rules.choices[name].allowed:
            return f"declares {name} = {choice}, which is not allowed"
    return None


def _check(
    implementation: Implementation, case: Case, rules: Rules, exact: bool
) -> str | None:
    if case.session:
        return _check_session(implementation, case.session)
    try:
        program = case.program(rules)
        types = tuple(implementation.type(program))
    except Exception as error:
        rule = getattr(error, "rule", None)
        if not rule:
            raise
        return None if rule == case.reject else f"rejected by {rule}: {error}"
    if case.reject:
        return f"accepted, expected a rejection by {case.reject}"
    return (
        _check_types(case, types)
        or _check_text(case, program, rules)
        or _check_values(implementation, case, program, None if exact else rules)
    )


def _check_types(case: Case, types: tuple[ShapedArray, ...]) -> str | None:
    if case.types is None or types == case.types:
        return None
    return f"typed {list(types)}, expected {list(case.types)}"


def _check_text(case: Case, program: ClosedJaxpr, rules: Rules) -> str | None:
    for wanted, full in ((case.prints, False), (case.full, True)):
        if wanted is not None:
            text = to_text(program, full, rules)
            if text != wanted:
                return f"printed\n{text}\nexpected\n{wanted}"
    return None


def _check_values(
    implementation: Implementation,
    case: Case,
    program: ClosedJaxpr,
    rules: Rules | None,
) -> str | None:
    # Without rules there are no sets: the bits must be the case's.
    wanted = case.values("value")
    if not wanted:
        return None
    args = [v.array for v in case.values("call")]
    got = list(map(np.asarray, implementation.eval(program, args)))
    if len(got) != len(wanted):
        return f"{len(got)} results, expected {len(wanted)}"
    values = [Value(ShapedArray(a.shape, a.dtype), a) for a in got]
    if all(same_bits(a, want.array) for a, want in zip(got, wanted)):
        return None
    if rules and _in_sets(program, args, got, rules, implementation.choices):
        return None
    return f"{show(values)}, expected {show(wanted)}"


def _in_sets(
    program: ClosedJaxpr,
    args: list[np.ndarray],
    got: list[np.ndarray],
    rules: Rules,
    choices: Mapping[str, str],
) -> bool:
    """Whether the results are in the accuracy set of the program's one primitive."""
    if len(program.eqns) != 1 or program.jaxpr.constvars:
        return False
    (eqn,) = program.eqns
    if program.jaxpr.outvars != eqn.outputs:
        return False
    env = dict(zip(program.jaxpr.invars, args))
    inputs = [a.array if isinstance(a, Literal) else env[a] for a in eqn.inputs]
    params = dict(eqn.params)
    return oracle.accepts(eqn.primitive, params, inputs, got, rules, choices)


def _check_session(implementation: Implementation, session: Session) -> str | None:
    calls = [step for step in session.steps if isinstance(step, Call)]
    outcomes = implementation.session(session)
    for call, outcome in zip(calls, outcomes):
        if why := outcome.meets(call):
            return why
    if len(outcomes) < len(calls):
        return f"{len(outcomes)} outcomes for {len(calls)} calls"
    return None
