"""Judging a program of several equations, by the values of all its variables.

Sets do not compose, so an implementation is asked for the program once more, in a form
that returns every variable: each equation is judged by the values that the
implementation itself gave its operands. Serves: accuracy.program
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from traceir import oracle
from traceir.conform.answers import arrays_of, listed
from traceir.conform.values import same_bits
from traceir.ir import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from traceir.rules import Rules

Arrays = Sequence[np.ndarray]
# What `choice.contraction` may round once: a product and the sum that takes it.
PRODUCT, SUMS = "mul", ("add", "sub")


class _Flat:
    """The equations of a program with those of inner programs in their place."""

    def __init__(self, program: ClosedJaxpr) -> None:
        self.eqns: list[Eqn] = []
        self.constvars: list[Var] = []
        self.consts: list[np.ndarray] = []
        inputs = program.jaxpr.invars
        self.results = self.inline(program, inputs)

    def inline(self, program: ClosedJaxpr, inputs: Sequence[Atom]) -> list[Atom]:
        env: dict[Var, Atom] = dict(zip(program.jaxpr.invars, inputs))
        for var, const in zip(program.jaxpr.constvars, program.consts, strict=True):
            env[var] = own = Var(var.aval)
            self.constvars.append(own)
            self.consts.append(const)

        def read(atom: Atom) -> Atom:
            return atom if isinstance(atom, Literal) else env[atom]

        for eqn in program.eqns:
            operands = tuple(map(read, eqn.inputs))
            inner = dict(eqn.params).get("jaxpr")
            if isinstance(inner, ClosedJaxpr):
                env.update(zip(eqn.outputs, self.inline(inner, operands), strict=True))
                continue
            outputs = tuple(Var(v.aval) for v in eqn.outputs)
            env.update(zip(eqn.outputs, outputs))
            self.eqns.append(Eqn(eqn.primitive, operands, outputs, eqn.params))
        return [read(atom) for atom in program.jaxpr.outvars]


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
    """What is wrong with the results `got` of a program, a line for each mistake.

    >>> from traceir.rules import default
    >>> from traceir.evaluate import eval_jaxpr
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
    flat = _Flat(program)
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
            oracle.faults,
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
) -> Iterator[tuple[int, oracle.Elements]]:
    """The operands that are products, by number, as they are before rounding."""
    for number, atom in enumerate(eqn.inputs):
        maker = makers.get(atom) if isinstance(atom, Var) else None
        if maker is not None and maker.primitive == PRODUCT:
            factors = list(map(read, maker.inputs))
            yield number, oracle.unrounded(PRODUCT, {}, factors, rules)
