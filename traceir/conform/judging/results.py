"""The judge of results: the bits of a case, or others that its sets have.

Serves: accuracy.*, choice.*
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from traceir.conform.casefiles.cases import Case
from traceir.conform.casefiles.values import TypedValue, same_bits, show
from traceir.conform.judging import answers, questions, witness
from traceir.conform.judging.borrowed import watched
from traceir.conform.judging.implementation import (
    Implementation,
    declared_choices,
    shared_parts,
)
from traceir.conform.judging.witness import Arrays
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Literal, subjaxprs
from traceir.oracle import scalar_interpreter
from traceir.rules import Rules


def faults(
    implementation: Implementation,
    case: Case,
    program: ClosedJaxpr,
    rules: Rules | None,
) -> str | None:
    """The reason why the results are wrong, or None.

    Without rules there are no sets: the bits must be the case's.
    """
    wanted = case.values("value")
    if not wanted:
        return None
    args = [v.array for v in case.values("call")]
    given = [a.copy() for a in args]
    got = _evaluated(implementation, program, given, len(wanted))
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
    if why := _beside(implementation, program, args, got):
        return why
    as_recorded = all(same_bits(a, want.array) for a, want in zip(got, wanted))
    if rules is None:
        return None if as_recorded else _differs(got, wanted)
    usual = scalar_interpreter.declared_choices(rules)
    choices = {**usual, **declared_choices(implementation)}
    if as_recorded and not _is_chosen_stricter(program, choices, rules):
        return None
    return _outside(implementation, program, args, got, rules, choices, wanted)


def _evaluated(
    implementation: Implementation, program: ClosedJaxpr, args: Arrays, results: int
) -> list[np.ndarray]:
    with watched("evaluation", shared_parts(implementation)):
        found = answers.listed("eval", implementation.eval(program, args), results)
        return answers.arrays_of(found)


def _beside(
    implementation: Implementation,
    program: ClosedJaxpr,
    args: Sequence[np.ndarray],
    got: Sequence[np.ndarray],
) -> str | None:
    """The reason why results are but copies of arguments, or None."""
    own = "evaluation" not in shared_parts(implementation)
    if not (own and all(any(_alike(g, a) for a in args) for g in got)):
        return None
    unread = questions.other(got[0]) if got else np.zeros(3, np.int16)
    aval = ShapedArray(unread.shape, unread.dtype)
    among = questions.beside(program, (aval, aval))
    given = [a.copy() for a in (unread, *args, unread)]
    found = _evaluated(implementation, among, given, len(got))
    if len(found) == len(got) and all(map(_alike, found, got)):
        return None
    shown = questions.shown(among)
    return f"another result with two more inputs that nobody reads: {shown}"


def _alike(a: np.ndarray, b: np.ndarray) -> bool:
    return (a.shape, a.dtype) == (b.shape, b.dtype) and same_bits(a, b)


def _is_chosen_stricter(
    program: ClosedJaxpr, choices: Mapping[str, str], rules: Rules
) -> bool:
    """True if the set of a primitive of the program depends on a choice by which less
    is allowed than by the reference's, whose bits cases have."""
    sets = {
        name
        for c in rules.choices.values()
        if c.allowed.index(choices[c.id]) < c.allowed.index(c.reference)
        for name in c.sets
    }
    return bool(sets) and any(rules.prims[n].accuracy in sets for n in used(program))


def used(program: ClosedJaxpr) -> Iterator[str]:
    """The primitives of a program and of those in it."""
    for eqn in program.eqns:
        yield eqn.primitive
        for inner in subjaxprs(eqn):
            yield from used(inner)


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
    if is_one_equation(program):
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


def is_one_equation(program: ClosedJaxpr) -> bool:
    """True if a program is one equation, which its accuracy set judges."""
    if len(program.eqns) != 1 or program.jaxpr.constvars:
        return False
    (eqn,) = program.eqns
    return program.jaxpr.outvars == eqn.outputs and not any(subjaxprs(eqn))
