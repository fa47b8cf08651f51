"""The check of a whole program by the values of all its variables.

Sets do not compose, so an implementation is asked for the program once more, in a form
that returns every variable: each equation is judged by the values that the
implementation itself gave its operands. Serves: accuracy.program
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from traceir.conform.casefiles.values import same_bits
from traceir.conform.judging.answers import arrays_of, listed
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var, sort_params
from traceir.ir.typecheck import infer
from traceir.oracle import scalar_interpreter
from traceir.oracle.relations import Elements
from traceir.reference.interpreter import evaluate_eqn
from traceir.rules import Rules, Scope
from traceir.rules.applied import row_scope

Arrays = Sequence[np.ndarray]
# What `choice.contraction` may round once: a product and the sum that takes it.
PRODUCT, SUMS = "mul", ("add", "sub")


@dataclass(frozen=True)
class _Known:
    """A variable or literal, and the value that the reference has for it."""

    atom: Atom
    array: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, which formulas ask for."""
        return self.array.shape

    def __getitem__(self, index: Any) -> Any:
        return self.array[index]


class _NextTurn(tuple[_Known, ...]):
    """The operands of the next turn of a region."""


class _FlatProgram:
    """The equations of a program with those of inner programs in their place.

    Of a region there are those that run: the branch that is taken, each step of a loop.
    The reference's values tell which ones.
    """

    def __init__(self, program: ClosedJaxpr, args: Arrays, rules: Rules) -> None:
        self.rules = rules
        self.eqns: list[Eqn] = []
        self.constvars: list[Var] = []
        self.consts: list[np.ndarray] = []
        inputs = map(_Known, program.jaxpr.invars, args)
        self.results = [known.atom for known in self.run(program, tuple(inputs))]

    def run(self, program: ClosedJaxpr, inputs: Sequence[_Known]) -> tuple[_Known, ...]:
        """The results of a program whose equations are added to the others."""
        env: dict[Var, _Known] = dict(zip(program.jaxpr.invars, inputs, strict=True))
        for var, const in zip(program.jaxpr.constvars, program.consts, strict=True):
            env[var] = self.constant(const)

        def read(atom: Atom) -> _Known:
            return _Known(atom, atom.array) if isinstance(atom, Literal) else env[atom]

        for eqn in program.eqns:
            operands = tuple(map(read, eqn.inputs))
            row = self.rules.prims[eqn.primitive]
            apply = self.equation if row.steps is None or row.host else self.region
            found = apply(eqn, operands)
            env.update(zip(eqn.outputs, found, strict=True))
        return tuple(map(read, program.jaxpr.outvars))

    def constant(self, value: np.ndarray) -> _Known:
        """One more constant."""
        aval = ShapedArray(value.shape, value.dtype)
        self.constvars.append(Var(aval))
        self.consts.append(value)
        return _Known(self.constvars[-1], value)

    def equation(self, eqn: Eqn, operands: Sequence[_Known]) -> list[_Known]:
        """One more equation."""
        outputs = tuple(Var(v.aval) for v in eqn.outputs)
        inputs = tuple(known.atom for known in operands)
        self.eqns.append(Eqn(eqn.primitive, inputs, outputs, eqn.params))
        arrays = [known.array for known in operands]
        found = evaluate_eqn(eqn.primitive, eqn.params, arrays)
        return list(map(_Known, outputs, map(np.asarray, found)))

    def apply(self, primitive: str, *operands: _Known, **params: Any) -> _Known:
        """One more equation, of one result."""
        given = sort_params(params)
        avals = tuple(known.atom.aval for known in operands)
        (aval,) = infer(primitive, avals, given, self.rules)
        (found,) = self.equation(Eqn(primitive, (), (Var(aval),), given), operands)
        return found

    def region(self, eqn: Eqn, operands: Sequence[_Known]) -> Sequence[_Known]:
        """The equations that a region runs, by the steps of its row."""
        row = self.rules.prims[eqn.primitive]
        assert row.steps is not None
        calls = {"run": self.run, "fold": self.fold, "again": _NextTurn}
        calls |= {"lanes": self.lanes}
        while True:
            scope = row_scope(row, tuple(operands), eqn.params, self.rules)
            found: Sequence[_Known] = row.steps(Scope(calls, row.each, scope))
            if not isinstance(found, _NextTurn):
                return found
            operands = found

    def fold(
        self,
        program: ClosedJaxpr,
        consts: Sequence[_Known],
        carry: Sequence[_Known],
        rows: Sequence[_Known],
        order: Sequence[int],
    ) -> tuple[_Known, ...]:
        """The steps of a scan: rows are taken apart, and results put together."""
        carried = len(carry)
        kept: dict[int, Sequence[_Known]] = {}
        for k in order:
            taken = (self.row(x, k) for x in rows)
            found = self.run(program, (*consts, *carry, *taken))
            carry, kept[k] = found[:carried], found[carried:]
        if not kept:
            empty = (np.empty((0, *a.shape), a.dtype) for a in program.out_avals)
            return (*carry, *list(map(self.constant, empty))[carried:])
        columns = zip(*(kept[k] for k in sorted(kept)), strict=True)
        return (*carry, *(self.apply("stack", *column, axis=0) for column in columns))

    def lanes(
        self, which: _Known, new: Sequence[_Known], old: Sequence[_Known]
    ) -> tuple[_Known, ...]:
        """The carry of the lanes that go on, beside that of those which have ended."""
        if not which.shape:
            return tuple(new)
        dims = tuple(range(len(which.shape)))
        found = []
        for one, other in zip(new, old, strict=True):
            wide = self.apply(
                "broadcast_in_dim",
                which,
                shape=one.shape,
                broadcast_dimensions=dims,
                sharding=None,
            )
            found.append(self.apply("select_n", wide, other, one))
        return tuple(found)

    def row(self, x: _Known, k: int) -> _Known:
        """One row of an array."""
        shape = x.array.shape
        start, stop = (k, *(0 for _ in shape[1:])), (k + 1, *shape[1:])
        part = self.apply(
            "slice", x, start_indices=start, limit_indices=stop, strides=None
        )
        return self.apply("squeeze", part, dimensions=(0,))


def _form(var: Var) -> tuple[tuple[int, ...], np.dtype]:
    return var.aval.shape, var.aval.dtype


def faults(
    evaluate: Callable[[ClosedJaxpr, Arrays], Arrays],
    program: ClosedJaxpr,
    args: Arrays,
    got: Arrays,
    rules: Rules,
    choices: Mapping[str, str],
) -> list[str]:
    """The mistakes in the results `got` of a program, a line for each.

    >>> from traceir.rules import default
    >>> from traceir.reference.interpreter import eval_jaxpr
    >>> from traceir.text import parse
    >>> run = lambda program, args: eval_jaxpr(program, program.consts, *args)
    >>> program = parse(
    ...     "{ lambda ; a:f32[]. let b:f32[] = sin a; c:f32[] = exp b in (c,) }"
    ... )
    >>> one = [np.asarray(np.float32(1))]
    >>> faults(run, program, one, run(program, one), default(), {})
    []
    >>> faults(run, program, one, one, default(), {})
    ['result 0 is not that of the program which returns all variables']
    """
    flat = _FlatProgram(program, args, rules)
    returned = tuple(dict.fromkeys(v for eqn in flat.eqns for v in eqn.outputs))
    jaxpr = Jaxpr(
        tuple(flat.constvars), program.jaxpr.invars, tuple(flat.eqns), returned
    )
    found = evaluate(ClosedJaxpr(jaxpr, tuple(flat.consts)), [a.copy() for a in args])
    arrays = arrays_of(listed("eval", found, len(returned)))
    if [(a.shape, a.dtype) for a in arrays] != [_form(v) for v in returned]:
        return ["other results where all variables are asked for"]
    env = dict(zip(returned, arrays))
    env.update(zip(program.jaxpr.invars, args, strict=True))
    env.update(zip(flat.constvars, flat.consts))

    def read(atom: Atom) -> np.ndarray:
        return atom.array if isinstance(atom, Literal) else env[atom]

    wrong = [
        f"result {k} is not that of the program which returns all variables"
        for k, (atom, array) in enumerate(zip(flat.results, got, strict=True))
        if not same_bits(read(atom), array)
    ]
    makers = {v: eqn for eqn in flat.eqns for v in eqn.outputs}
    for eqn in flat.eqns:
        operands, results = list(map(read, eqn.inputs)), list(map(read, eqn.outputs))
        judge = partial(
            scalar_interpreter.faults,
            eqn.primitive,
            dict(eqn.params),
            operands,
            results,
            rules,
            choices,
        )
        here = judge()
        if here and eqn.primitive in SUMS and _fuses(choices):
            products = _products(eqn, makers, read, rules)
            here = here if all(judge({n: p}) for n, p in products) else []
        wrong += here
    return wrong


def _fuses(choices: Mapping[str, str]) -> bool:
    return choices.get("choice.contraction") == "fused"


def _products(
    eqn: Eqn,
    makers: Mapping[Var, Eqn],
    read: Callable[[Atom], np.ndarray],
    rules: Rules,
) -> Iterator[tuple[int, Elements]]:
    """The operands that are products, by number, as they are before rounding."""
    for number, atom in enumerate(eqn.inputs):
        maker = makers.get(atom) if isinstance(atom, Var) else None
        if maker is not None and maker.primitive == PRODUCT:
            factors = list(map(read, maker.inputs))
            yield number, scalar_interpreter.unrounded(PRODUCT, {}, factors, rules)
