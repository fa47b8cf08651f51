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

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from traceir.conform.casefiles.cases import Case, attempt
from traceir.conform.casefiles.outcomes import Outcome, expected_class, no_such_rule
from traceir.conform.casefiles.plain_functions import (
    DECORATORS,
    RECORDED,
    PlainFunction,
)
from traceir.conform.casefiles.sessions import Call, Probe, Session
from traceir.conform.casefiles.values import type_text
from traceir.conform.judging import answers, plain, questions, results
from traceir.conform.judging.borrowed import Borrowed, watched
from traceir.conform.judging.implementation import (
    Implementation as Implementation,
)
from traceir.conform.judging.implementation import Rejected as Rejected
from traceir.conform.judging.implementation import Unsupported as Unsupported
from traceir.conform.judging.implementation import (
    declared_choices,
    shared_parts,
    told_messages,
)
from traceir.conform.judging.messages import attributed
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.rules import Rules, default

# Verbs of cases about text.
ABOUT_TEXT = ("prints", "full")


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
        why = check_choices(declared_choices(implementation), rules)
        why = why or _check(implementation, case, rules, exact)
    except Unsupported as reason:
        why = answers.describe(reason, named=False)
        return Verdict("unsupported", _naming(why, case, rules))
    except (answers.Malformed, Borrowed) as reason:
        return Verdict("fail", str(reason))
    except answers.Unattributed as found:
        return Verdict("pass", f"unattributed: {found}")
    except Exception as error:  # a crash of the implementation is a verdict
        return Verdict("crashed", answers.located(error))
    return Verdict("fail", why) if why else Verdict("pass")


def _naming(why: str, case: Case, rules: Rules) -> str:
    """The reason with the primitives of a case's program, if it names none of them.

    What is about other things than programs, such as text or a profile, has none.
    """
    program = None if case.plain or case.session else attempt(case, rules)
    if not isinstance(program, ClosedJaxpr) or {*ABOUT_TEXT} & case.verbs.keys():
        return why
    names = sorted({*results.used(program)})
    if not names or any(re.search(rf"\b{re.escape(n)}\b", why) for n in names):
        return why
    return f"{why} (in a program of {', '.join(names)})"


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
        program = case.program(rules, getattr(implementation, "parse", None))
    except Unsupported:
        raise
    except Exception as error:
        if not getattr(implementation, "reads", hasattr(implementation, "text")):
            raise Unsupported("reads no programs of its own") from None
        return _check_rejection(implementation, error, case)
    try:
        types = _typed(implementation, questions.program(program, case.reject))
    except (answers.Malformed, Borrowed, Unsupported):
        raise
    except Exception as error:
        return _check_rejection(implementation, error, case) or _check_mended(
            implementation, case, program
        )
    if case.reject:
        return _check_refusal(implementation, case, program)
    why = (
        _check_types(case, types)
        or _check_types_beside(implementation, program, types)
        or _check_text(implementation, case, program)
    )
    try:
        return why or results.faults(
            implementation, case, program, None if exact else rules
        )
    except (answers.Malformed, Borrowed, Unsupported):
        raise
    except Exception as error:
        return _check_rejection(implementation, error, case)


def _typed(
    implementation: Implementation, program: ClosedJaxpr
) -> tuple[ShapedArray, ...]:
    with watched("typing", shared_parts(implementation)):
        return answers.types_of(implementation.type(program), program)


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
    with watched("tracing", shared_parts(implementation)):
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
            return _check_rejection(implementation, error, case)
    return f"accepted, expected a rejection by {case.reject}"


def _check_rejection(
    implementation: Implementation, error: Exception, case: Case
) -> str | None:
    """The reason why an exception is not the rejection expected, or None."""
    if isinstance(error, Rejected):
        wanted = f"rejected, {error}, {_wanted(case, attributed=False)}"
        if not (case.reject and expected_class(error.class_, case.reject)):
            return wanted
        why = _spoken(implementation, error.text, error.class_, case.reject)
        return f"{wanted}; {why}" if why else None
    rule = getattr(error, "rule", None)
    if not rule or not isinstance(rule, str):
        raise error
    if rule == case.reject:
        return None
    text = answers.describe(error, named=False)
    return f"rejected by {rule}{no_such_rule(rule)}, {_wanted(case)}: {text}"


def _spoken(
    implementation: Implementation, text: str, class_: str, rule: str
) -> str | None:
    """The reason why a text is about another rule; raises Unattributed."""
    try:
        return attributed(told_messages(implementation), text, rule)
    except answers.Unattributed:
        raise answers.Unattributed(class_) from None


def _wanted(case: Case, attributed: bool = True) -> str:
    row = default().clauses.get(case.reject or "")
    class_ = f" ({row.class_})" if row and not attributed else ""
    return f"expected {case.reject or 'no rejection'}{class_}"


def _check_mended(
    implementation: Implementation, case: Case, program: ClosedJaxpr
) -> str | None:
    """The reason why wrong types are not what a program is refused for, or None."""
    if case.reject != questions.WRITTEN:
        return None
    try:
        _typed(implementation, questions.mended(program))
    except (answers.Malformed, Borrowed, Unsupported):
        raise
    except Exception as error:
        return f"rejected with right types, too: {answers.describe(error)}"
    return None


def _check_types(case: Case, types: tuple[ShapedArray, ...]) -> str | None:
    if case.types is None or types == case.types:
        return None
    return f"typed {_types(types)}, expected {_types(case.types)}"


def _types(types: Sequence[ShapedArray]) -> str:
    return f"({', '.join(map(type_text, types))})"


def _check_types_beside(
    implementation: Implementation,
    program: ClosedJaxpr,
    types: tuple[ShapedArray, ...],
) -> str | None:
    """The reason why right types are but those of inputs, or None."""
    if "typing" in shared_parts(implementation) or not {*types} <= {*program.in_avals}:
        return None
    among = questions.beside(program, questions.unread([*types, *program.in_avals]))
    found = _typed(implementation, questions.program(among, None))
    if found == types:
        return None
    shown = questions.shown(among)
    return f"typed {_types(found)} with two more inputs that nobody reads: {shown}"


def _check_text(
    implementation: Implementation, case: Case, program: ClosedJaxpr
) -> str | None:
    for wanted, full in ((case.prints, False), (case.full, True)):
        if wanted is None:
            continue
        printer = getattr(implementation, "text", None)
        if printer is None:
            raise Unsupported("prints no programs")
        with watched("text", shared_parts(implementation)):
            text = printer(program, full)
        if text != wanted:
            return f"printed\n{text}\nexpected\n{wanted}"
    return None


def _check_session(implementation: Implementation, session: Session) -> str | None:
    numbered = enumerate(session.steps, 1)
    steps = [(k, step) for k, step in numbered if isinstance(step, Call | Probe)]
    with watched("tracing", shared_parts(implementation)):
        found = implementation.session(questions.session(session))
        outcomes = answers.outcomes_of(found, len(steps))
    for (k, step), outcome in zip(steps, outcomes):
        if why := outcome.meets(step):
            return f"step {k}, {why}" if len(session.steps) > 1 else why
    if len(outcomes) != len(steps):
        return f"{len(outcomes)} outcomes for {len(steps)} calls"
    return _check_messages(implementation, steps, outcomes)


def _check_messages(
    implementation: Implementation,
    steps: Sequence[tuple[int, Call | Probe]],
    outcomes: Sequence[Outcome],
) -> str | None:
    """The reason why a rejection is about another rule; raises Unattributed."""
    blurred: answers.Unattributed | None = None
    for (k, step), outcome in zip(steps, outcomes):
        if not isinstance(step, Call) or not step.rule:
            continue
        if outcome.rule is not None or not outcome.cls:
            continue
        try:
            why = _spoken(implementation, outcome.text, outcome.cls, step.rule)
        except answers.Unattributed as found:
            blurred = found
        else:
            if why:
                return f"step {k}, {outcome.cls}: {outcome.text}; {why}"
    if blurred:
        raise blurred
    return None
