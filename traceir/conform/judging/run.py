"""The judge: one verdict for each case. Serves: every table

Nothing that an implementation returns is trusted to be of the form that it should have.

From a case to a verdict: `casefiles` reads the language of cases; `systems.host` makes
a Python function of an untyped program, with `actions` that are no primitives and the
`objects` that a case defines. `systems.jitted` runs a session on any `System`,
`systems.model` by the tables alone. `answers` reads with suspicion what comes back, and
`witness` judges a program of several equations by the values of all its variables.
`processes` runs implementations in processes that are watched; `casefiles.profiles`
says which cases an implementation claims, `deviations` which differences are known.
Runs are kept in `spec/runs`.

Three kinds of tests hold the suite to what it says. `tests/drift` has implementations
that are wrong in one way each, and each must fail the case that is named for it.
`tests/mutation` changes the tables in every place, one at a time, and some case must
notice; those that may survive are listed with reasons. `tests/corpus` has programs from
which JAX's own text was written down; they are cases like any other, in
`spec/cases/jax`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from traceir.conform.casefiles.cases import Case
from traceir.conform.casefiles.outcomes import Outcome, expected_class
from traceir.conform.casefiles.plain_functions import (
    DECORATORS,
    RECORDED,
    PlainFunction,
)
from traceir.conform.casefiles.sessions import Call, Probe, Session
from traceir.conform.casefiles.values import TypedValue, same_bits, show
from traceir.conform.judging import answers, plain, witness
from traceir.conform.judging.witness import Arrays
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Literal, subjaxprs
from traceir.oracle import scalar_interpreter
from traceir.rules import Rules, default


class Unsupported(Exception):
    """Raised by an adapter for a feature that its implementation lacks."""


class Rejected(Exception):
    """Raised by an adapter whose implementation rejects without saying by which rule.

    It is right where the exception's class is the one that the rule's row names, or a
    class derived from it.

    >>> raise Rejected("TypeError", "shapes (2,) and (3,)")
    Traceback (most recent call last):
    traceir.conform.judging.run.Rejected: TypeError: shapes (2,) and (3,)
    """

    rule = None

    def __init__(self, class_: str | type[Exception], text: str = "") -> None:
        class_ = class_.__name__ if isinstance(class_, type) else class_
        super().__init__(f"{class_}: {text}" if text else class_)
        self.class_ = class_


class Implementation(Protocol):
    """An implementation to be judged: three methods over parsed programs.

    A rejection is an exception with the violated rule's id as `rule`, or `Rejected`.
    It may also have `version`, a text; `choices`, what it declares of the choices that
    the tables leave open, by their ids; `profiles`, the names of those that it claims;
    and `text(program, full)`, where it reads and prints programs as the tables say;
    `reads = False` where it prints alone; `plain(function)`, its decorator of plain
    functions, `recorded(function, *args)`, which loops and choices the program of a
    call has, and `decorators`, its counterparts of Numba's.
    """

    @property
    def name(self) -> str:
        """The name under which verdicts are reported."""

    def type(self, program: ClosedJaxpr) -> Sequence[ShapedArray]:
        """The types of the results; raises for an ill-typed program."""

    def eval(self, program: ClosedJaxpr, args: Arrays) -> Arrays:
        """The results for some arguments of the inputs' types."""

    def session(self, session: Session) -> Sequence[Outcome]:
        """The outcomes of calls and probes, in order; settings have none."""


@dataclass(frozen=True)
class Verdict:
    """`pass`, `fail`, `unsupported`, `deviation` or `crashed`, and why."""

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
        why = check_choices(_choices(implementation), rules)
        why = why or _check(implementation, case, rules, exact)
    except Unsupported as reason:
        return Verdict("unsupported", answers.describe(reason, named=False))
    except answers.Malformed as reason:
        return Verdict("fail", str(reason))
    except answers.Unattributed as found:
        return Verdict("pass", f"unattributed: {found}")
    except Exception as error:  # a crash of the implementation is a verdict
        return Verdict("crashed", answers.located(error))
    return Verdict("fail", why) if why else Verdict("pass")


def _choices(implementation: Implementation) -> Mapping[str, str]:
    found: Mapping[str, str] = getattr(implementation, "choices", {})
    return found


def check_choices(choices: Any, rules: Rules) -> str | None:
    """The fault of declared choices, or None."""
    if not isinstance(choices, Mapping):
        return f"declares choices that are no mapping but {type(choices).__name__}"
    for name, choice in choices.items():
        if name not in rules.choices:
            return f"declares {name}, which is no choice"
        if choice not in rules.choices[name].allowed:
            return f"declares {name} = {choice}, which is not allowed"
    return None


def _check(
    implementation: Implementation, case: Case, rules: Rules, exact: bool
) -> str | None:
    if case.plain:
        return _check_plain(implementation, case.plain)
    if case.session:
        return _check_session(implementation, case.session)
    try:
        program = case.program(rules)
    except Exception as error:
        if not getattr(implementation, "reads", hasattr(implementation, "text")):
            raise Unsupported("reads no programs of its own") from None
        return _check_rejection(error, case)
    try:
        types = answers.types_of(implementation.type(program), program)
    except (answers.Malformed, Unsupported):
        raise
    except Exception as error:
        return _check_rejection(error, case)
    if case.reject:
        return _check_refusal(implementation, case, program)
    return (
        _check_types(case, types)
        or _check_text(implementation, case, program)
        or _check_values(implementation, case, program, None if exact else rules)
    )


def _check_plain(implementation: Implementation, function: PlainFunction) -> str | None:
    compiled = getattr(implementation, "plain", None)
    if compiled is None:
        raise Unsupported("no functions as Python has them")
    recorded = getattr(implementation, "recorded", None)
    decorators = getattr(implementation, "decorators", None)
    if recorded is None and any(call.asks for call in function.calls):
        raise Unsupported("does not tell what is recorded")
    if decorators is None and function.decorates:
        raise Unsupported("no decorators in place of Numba's")
    names = {RECORDED: recorded, DECORATORS: decorators}
    return plain.faults(function, compiled, names)


def _check_refusal(
    implementation: Implementation, case: Case, program: ClosedJaxpr
) -> str | None:
    """The reason why evaluation does not refuse a well-typed program, or None."""
    if "call" in case.verbs:
        try:
            implementation.eval(program, [v.array for v in case.values("call")])
        except Unsupported:
            raise
        except Exception as error:
            return _check_rejection(error, case)
    return f"accepted, expected a rejection by {case.reject}"


def _check_rejection(error: Exception, case: Case) -> str | None:
    """The reason why an exception is not the rejection expected, or None."""
    if isinstance(error, Rejected):
        if case.reject and expected_class(error.class_, case.reject):
            raise answers.Unattributed(error.class_)
        return f"rejected, {error}, {_wanted(case, attributed=False)}"
    rule = getattr(error, "rule", None)
    if not rule or not isinstance(rule, str):
        raise error
    if rule == case.reject:
        return None
    text = answers.describe(error, named=False)
    return f"rejected by {rule}, {_wanted(case)}: {text}"


def _wanted(case: Case, attributed: bool = True) -> str:
    row = default().clauses.get(case.reject or "")
    class_ = f" ({row.class_})" if row and not attributed else ""
    return f"expected {case.reject or 'no rejection'}{class_}"


def _check_types(case: Case, types: tuple[ShapedArray, ...]) -> str | None:
    if case.types is None or types == case.types:
        return None
    return f"typed {list(types)}, expected {list(case.types)}"


def _check_text(
    implementation: Implementation, case: Case, program: ClosedJaxpr
) -> str | None:
    for wanted, full in ((case.prints, False), (case.full, True)):
        if wanted is None:
            continue
        printer = getattr(implementation, "text", None)
        if printer is None:
            raise Unsupported("prints no programs")
        text = printer(program, full)
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
    given = [a.copy() for a in args]
    found = answers.listed("eval", implementation.eval(program, given), len(wanted))
    got = answers.arrays_of(found)
    for k, (before, after) in enumerate(zip(args, given)):
        if not same_bits(before, after):
            return f"changed argument {k} in place"
    if len(got) != len(wanted):
        return f"{len(got)} results, expected {len(wanted)}"
    for k, (array, want) in enumerate(zip(got, wanted)):
        aval = ShapedArray(array.shape, array.dtype)
        if aval is not want.aval.update(weak_type=False):
            short = want.aval.str_short()
            return f"result {k} is {aval.str_short()}, expected {short}"
    as_recorded = all(same_bits(a, want.array) for a, want in zip(got, wanted))
    if rules is None:
        return None if as_recorded else _differs(got, wanted)
    usual = scalar_interpreter.declared_choices(rules)
    choices = {**usual, **_choices(implementation)}
    if as_recorded and not _is_chosen_stricter(program, choices, rules):
        return None
    return _outside(implementation, program, args, got, rules, choices, wanted)


def _is_chosen_stricter(
    program: ClosedJaxpr, choices: Mapping[str, str], rules: Rules
) -> bool:
    """True if the set of a primitive of the program depends on a choice by which less
    is allowed than by the reference's, whose bits cases have."""
    stricter = [
        c.id
        for c in rules.choices.values()
        if c.allowed.index(choices[c.id]) < c.allowed.index(c.reference)
    ]
    sets = {
        name
        for name, row in rules.accuracy.items()
        if any(choice in row.says for choice in stricter)
    }
    return bool(sets) and any(rules.prims[n].accuracy in sets for n in _used(program))


def _used(program: ClosedJaxpr) -> Iterator[str]:
    """The primitives of a program and of those in it."""
    for eqn in program.eqns:
        yield eqn.primitive
        for inner in subjaxprs(eqn):
            yield from _used(inner)


def _differs(got: Arrays, wanted: Sequence[TypedValue]) -> str:
    values = [TypedValue(ShapedArray(a.shape, a.dtype), a) for a in got]
    return f"{show(values)}, expected {show(wanted)}"


def _outside(
    implementation: Implementation,
    program: ClosedJaxpr,
    args: list[np.ndarray],
    got: list[np.ndarray],
    rules: Rules,
    choices: Mapping[str, str],
    wanted: Sequence[TypedValue],
) -> str | None:
    """The reason why results are not in the accuracy sets of the equations, or None."""
    if _is_one_equation(program):
        (eqn,) = program.eqns
        env = dict(zip(program.jaxpr.invars, args))
        inputs = [a.array if isinstance(a, Literal) else env[a] for a in eqn.inputs]
        params = dict(eqn.params)
        found = scalar_interpreter.faults(
            eqn.primitive, params, inputs, got, rules, choices
        )
        return _differs(got, wanted) if found else None
    found = witness.faults(implementation.eval, program, args, got, rules, choices)
    return f"{_differs(got, wanted)}: {found[0]}" if found else None


def _is_one_equation(program: ClosedJaxpr) -> bool:
    if len(program.eqns) != 1 or program.jaxpr.constvars:
        return False
    (eqn,) = program.eqns
    return program.jaxpr.outvars == eqn.outputs and not any(subjaxprs(eqn))


def _check_session(implementation: Implementation, session: Session) -> str | None:
    numbered = enumerate(session.steps, 1)
    steps = [(k, step) for k, step in numbered if isinstance(step, Call | Probe)]
    outcomes = answers.outcomes_of(implementation.session(session), len(steps))
    for (k, step), outcome in zip(steps, outcomes):
        if why := outcome.meets(step):
            return f"step {k}, {why}" if len(session.steps) > 1 else why
    if len(outcomes) != len(steps):
        return f"{len(outcomes)} outcomes for {len(steps)} calls"
    raises = (o for o in outcomes if o.event == "raises" and o.rule is None and o.cls)
    for outcome in raises:
        raise answers.Unattributed(str(outcome.cls))
    return None
