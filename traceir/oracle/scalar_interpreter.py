"""The interpreter of programs on exact numbers, and the judge. Serves: accuracy.*

Obvious and slow on purpose: each element of each result is its `value` formula, walked
with exact numbers. Kernels and backends are judged by it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.base.lazy_exports import LazyTable
from traceir.exact.reals import Ordered, Real
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Jaxpr, Params, sort_params
from traceir.oracle.abstract_syntax import as_term
from traceir.oracle.accuracy import Goal, any_order, member, same, settle
from traceir.oracle.derivations import APPLIED, RUN, Derivation
from traceir.oracle.relations import Arrays, Elements, Index, NamedParams, unsatisfied
from traceir.rules import Prim, Rules, Scope, default
from traceir.rules.applied import row_scope
from traceir.rules.formulas.helpers import box

Array = np.ndarray
Program = Jaxpr | ClosedJaxpr
# Turns of a loop that never ends would be a suite that never ends.
FUEL = 10_000
# Makes of a program of parts one of whole arrays.
PARTS: LazyTable[Callable[..., Any]] = LazyTable("traceir.oracle.device_programs")
# Primitive, params, operands -> results.
Guess = Callable[[str, Any, Arrays], list[Array]]


def run(
    jaxpr: Program,
    consts: Sequence[Any],
    args: Sequence[Any],
    rules: Rules | None = None,
    guess: Guess | None = None,
) -> list[Array]:
    """The results of a program; sums are exact before they are rounded.

    Results that only relations define are asked of `guess`, a function of primitive,
    params and operands. Raises ValueError where that is wrong, or nobody was given.

    >>> from traceir.text import parse
    >>> text = "{ lambda ; a:i32[2]. let b:i32[] = reduce_sum[axes=(0,)] a in (b,) }"
    >>> run(parse(text), (), [[3, 4]])
    [array(7, dtype=int32)]
    """
    interpreter = guessing(rules or default(), guess)
    return [r.copy() for r in _run(jaxpr, consts, args, interpreter)]


def guessing(rules: Rules, guess: Guess | None = None) -> RuleInterpreter:
    """An interpreter that asks `guess` for what only relations define."""
    return RuleInterpreter(rules, partial(_by_guess, guess))


def accepts(
    prim: str,
    params: NamedParams,
    arrays: Arrays,
    got: Arrays,
    rules: Rules | None = None,
    choices: Mapping[str, str] | None = None,
) -> bool:
    """True if `got` are right results of one primitive, by its accuracy set.

    `choices` are those that the implementation declares; what it does not declare is as
    the reference's.

    >>> x = np.float32([0.0, 1.0])
    >>> accepts("exp", {}, [x], [np.exp(x)]), accepts("exp", {}, [x], [x])
    (True, False)
    """
    return not faults(prim, params, arrays, got, rules, choices)


def faults(
    prim: str,
    params: NamedParams,
    arrays: Arrays,
    got: Arrays,
    rules: Rules | None = None,
    choices: Mapping[str, str] | None = None,
    exact: Mapping[int, Elements] | None = None,
) -> list[str]:
    """The mistakes in the results of one primitive, a line for each element.

    `exact` are operands that were not rounded before the primitive took them.
    """
    rules = rules or default()
    row = rules.prims[prim]
    params = {**row.defaults, **params}
    if row.steps is not None:
        return _region_faults(row, params, arrays, got, rules)
    arrays = [np.asarray(a) for a in arrays]
    pairs = list(zip(_infer(prim, params, arrays, rules), got, strict=True))
    wrong = [
        f"{prim}: {g.dtype}{list(g.shape)} instead of {a.str_short()}"
        for a, g in pairs
        if (g.shape, g.dtype) != (a.shape, a.dtype)
    ]
    if wrong:
        return wrong
    declared = {**declared_choices(rules), **(choices or {})}
    ordered = declared["choice.zero-extremum"] == "ordered"
    if row.post:
        return list(unsatisfied(row, params, arrays, got, rules))
    real = Ordered.of if ordered and row.accuracy == "extremum" else Real.of
    operands = [Elements.of(a, real) for a in arrays]
    for n, elements in (exact or {}).items():
        operands[n] = elements
    for part, (aval, result) in enumerate(pairs):
        found = _elements(row, params, operands, aval, rules, part)
        wrong += _outside(row, found, result, declared)
    return wrong


def goals(
    prim: str, params: NamedParams, arrays: Arrays, rules: Rules
) -> Iterator[list[Goal]]:
    """The elements of each result of a row with a `value`, by the usual choices."""
    row, usual = rules.prims[prim], declared_choices(rules)
    operands = [Elements.of(np.asarray(a)) for a in arrays]
    for part, aval in enumerate(_infer(prim, params, arrays, rules)):
        ulps = row.ulp.get(aval.dtype.name, 0)
        found = _elements(row, params, operands, aval, rules, part)
        yield [Goal(want, aval.dtype, ulps, usual) for _, want in found]


def _region_faults(
    row: Prim, params: NamedParams, arrays: Arrays, got: Arrays, rules: Rules
) -> list[str]:
    """The mistakes in the results of a region, which must have one answer."""
    arrays = [np.asarray(a) for a in arrays]
    return _differences(_steps(row, params, arrays, rules, _demand_one_answer), got)


def unrounded(prim: str, params: NamedParams, arrays: Arrays, rules: Rules) -> Elements:
    """The exact result of a primitive that has one."""
    (aval,) = _infer(prim, params, arrays, rules)
    operands = [Elements.of(a) for a in arrays]
    found = _elements(rules.prims[prim], params, operands, aval, rules)
    return Elements(aval, dict(found))


def _outside(
    row: Prim,
    elements: Iterable[tuple[Index, Any]],
    result: Array,
    choices: Mapping[str, str],
) -> Iterator[str]:
    """A line for each element that is not in the row's accuracy set."""
    dtype = result.dtype
    for index, want in elements:
        goal = Goal(want, dtype, row.ulp.get(dtype.name, 0), choices)
        if not member(row.accuracy, goal, result[index]):
            exact = settle(want, dtype)
            yield f"{row.name}{list(index)}: {result[index]}, exactly {exact}"


def judge(
    jaxpr: Program,
    consts: Sequence[Any],
    args: Sequence[Any],
    got: Arrays,
    rules: Rules | None = None,
) -> list[str]:
    """The mistakes in the results of a whole program, a line for each element.

    Such a program must have one right answer on these arguments: every equation is
    exact or rounded by itself, and sums, products and contractions are exact in any
    order, as they are on a grid of small dyadic numbers. Raises ValueError naming the
    equation where that is not so. Zeros may have either sign.
    """
    rules = rules or default()
    interpreter = RuleInterpreter(rules, _demand_one_answer)
    return _differences(_run(jaxpr, consts, args, interpreter), got)


def _differences(wanted: Arrays, got: Arrays) -> list[str]:
    """A line for each element that is not the only right one; zeros have any sign."""
    wrong = []
    for number, (want, have) in enumerate(zip(wanted, got, strict=True)):
        if (want.shape, want.dtype) != (have.shape, have.dtype):
            wrong.append(f"result {number}: {have.dtype}{list(have.shape)}")
            continue
        for index in box(want.shape):
            a, b = want[index], have[index]
            if not (same(a, b) or a == b):
                wrong.append(f"result {number}{list(index)}: {b} instead of {a}")
    return wrong


def declared_choices(rules: Rules) -> Mapping[str, str]:
    """The reference's choices, by their ids."""
    return {choice.id: choice.reference for choice in rules.choices.values()}


def _by_guess(guess: Guess | None, row: Prim, goal: Goal | Application) -> Any:
    """The guess of an application's results; one element may be any."""
    if isinstance(goal, Goal):
        return None
    if guess is None:
        raise ValueError(f"{row.name} is known by relations alone")
    return guess(row.name, sort_params(goal.params), goal.arrays)


def _demand_one_answer(row: Prim, goal: Goal | Application) -> Any:
    if not isinstance(goal, Goal):
        raise ValueError(f"{row.name} has more than one right result")
    if not any_order(row.accuracy, goal):
        got = settle(goal.want, goal.dtype)
        raise ValueError(f"{row.name} has more than one right result here, near {got}")


@dataclass(frozen=True, slots=True)
class Application:
    """A primitive applied to operands, whose results satisfy relations."""

    params: NamedParams
    arrays: Arrays


# Of an element that was computed, or of results that only others can compute.
Check = Callable[[Prim, Goal | Application], Any]


def _run(
    jaxpr: Program,
    consts: Sequence[Any],
    args: Sequence[Any],
    interpreter: RuleInterpreter,
) -> list[Array]:
    inner = jaxpr.jaxpr if isinstance(jaxpr, ClosedJaxpr) else jaxpr
    variables = (*inner.constvars, *inner.invars)
    values = [
        np.asarray(value, var.aval.dtype)
        for var, value in zip(variables, (*consts, *args), strict=True)
    ]
    count = len(inner.constvars)
    program = ClosedJaxpr(inner, tuple(values[:count]))
    return interpreter.run(program, tuple(values[count:]))


class RuleInterpreter:
    """Runs programs by the inference rules: what they need of rows is here.

    Applications that come again are not computed again.
    """

    def __init__(self, rules: Rules, check: Check) -> None:
        self.rules = rules
        self.check = check
        self.known: dict[Hashable, tuple[Array, ...]] = {}
        calls = {"elements": self.elements, "related": self.related}
        self.derivation = Derivation(rules, {**calls, "steps": self.steps})

    def run(self, program: ClosedJaxpr, args: Sequence[Array]) -> list[Array]:
        """The results of a program, by `judgement.run-program`."""
        (found,) = self.derivation.derive(RUN, as_term(program), tuple(args))
        return list(found)

    def elements(
        self, prim: str, params: Params, arrays: tuple[Array, ...]
    ) -> tuple[Array, ...]:
        """The results of a row with a `value`, element by element."""
        key = prim, params, *((a.shape, a.dtype, a.tobytes()) for a in arrays)
        if key not in self.known:
            self.known[key] = self._elements(prim, params, arrays)
        return self.known[key]

    def _elements(
        self, prim: str, params: Params, arrays: tuple[Array, ...]
    ) -> tuple[Array, ...]:
        row, results = self.rules.prims[prim], []
        operands = [Elements.of(a) for a in arrays]
        types = tuple(ShapedArray(a.shape, a.dtype) for a in arrays)
        avals = self.derivation.derive(APPLIED, prim, params, types)[0]
        for part, aval in enumerate(avals):
            result = np.empty(aval.shape, aval.dtype)
            named = dict(params)
            for index, want in _elements(row, named, operands, aval, self.rules, part):
                self.check(row, Goal(want, aval.dtype, 0, {}))
                result[index] = settle(want, aval.dtype)
            results.append(result)
        return tuple(results)

    def related(
        self, prim: str, params: Params, arrays: tuple[Array, ...]
    ) -> tuple[Array, ...]:
        """Results that satisfy the relations of a row."""
        row, named = self.rules.prims[prim], dict(params)
        found: list[Array] = self.check(row, Application(named, arrays))
        if wrong := list(unsatisfied(row, named, arrays, found, self.rules)):
            raise ValueError(wrong[0])
        return tuple(found)

    def steps(
        self, prim: str, params: Params, arrays: tuple[Array, ...]
    ) -> tuple[Array, ...]:
        """The results of a region, which runs the programs in its params."""
        row = self.rules.prims[prim]
        return tuple(_steps(row, dict(params), arrays, self.rules, self.check))


def _infer(
    prim: str, params: NamedParams, arrays: Arrays, rules: Rules
) -> Sequence[ShapedArray]:
    avals = tuple(ShapedArray(a.shape, a.dtype) for a in arrays)
    given = prim, sort_params(params), avals
    found: Sequence[ShapedArray] = Derivation(rules).derive(APPLIED, *given)[0]
    return found


def _elements(
    row: Prim,
    params: NamedParams,
    operands: Sequence[Elements],
    aval: ShapedArray,
    rules: Rules,
    part: int = 0,
) -> Iterator[tuple[Index, Any]]:
    """Each index of a result and its exact element; `part` numbers the results."""
    assert row.value is not None
    scope = row_scope(row, tuple(operands), sort_params(params), rules)
    for index in box(aval.shape):
        yield index, row.value(Scope({"i": index, "part": part}, row.each, scope))


def _steps(
    row: Prim, params: NamedParams, arrays: Arrays, rules: Rules, check: Check
) -> list[Array]:
    """The results of a region, which runs the programs in its params."""
    assert row.steps is not None

    runner = RuleInterpreter(rules, check)

    def run(program: ClosedJaxpr, args: Arrays) -> tuple[Array, ...]:
        return tuple(runner.run(program, args))

    def fold(
        program: ClosedJaxpr,
        consts: Arrays,
        carry: Arrays,
        rows: Arrays,
        order: Sequence[int],
    ) -> tuple[Array, ...]:
        """Run a body in order, and stack its rows."""
        carried = len(carry)
        ys = [
            np.empty((len(order), *a.shape), a.dtype)
            for a in program.out_avals[carried:]
        ]
        for k in order:
            found = run(program, (*consts, *carry, *(x[k, ...] for x in rows)))
            carry = found[:carried]
            for y, row in zip(ys, found[carried:], strict=True):
                y[k] = row
        return (*carry, *ys)

    def host(function: Callable[..., Any], args: Arrays) -> tuple[Array, ...]:
        return tuple(function(*args))

    def refuse(rule: str) -> None:
        raise rules.error(rule, got=row.name)

    def on_devices(program: ClosedJaxpr, args: Arrays, *given: Any) -> Any:
        return run(PARTS["parts"](program, *given, rules), args)

    calls: dict[str, Any] = {"run": run, "fold": fold, "again": _LoopAgain}
    calls |= {"lanes": lanes, "on_devices": on_devices, "host": host, "refuse": refuse}
    for _ in range(FUEL):
        scope = row_scope(row, tuple(arrays), sort_params(params), rules)
        found = row.steps(Scope(calls, row.each, scope))
        if not isinstance(found, _LoopAgain):
            return list(found)
        arrays = found.operands
    raise ValueError(f"{row.name} has not ended after {FUEL} turns")


def lanes(which: Array, new: Arrays, old: Arrays) -> tuple[Array, ...]:
    """The new arrays in the lanes where `which` holds, the old ones in the others."""
    return tuple(
        np.where(which.reshape(which.shape + (1,) * (n.ndim - which.ndim)), n, o)
        for n, o in zip(new, old, strict=True)
    )


class _LoopAgain:
    """The same region is to run with other operands: the next turn of a loop."""

    def __init__(self, operands: Arrays) -> None:
        self.operands = operands
