"""Inlining, common subexpressions, constant folding.

Calls are inlined, equal equations become one, what nothing uses goes, scalars are
computed where the result is the same on any IEEE machine, exact algebra is applied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from traceir.reference.interpreter import evaluate_eqn
from traceir_numba.emitters.decompositions import as_reshape
from traceir_numba.emitters.host import entry_of, one_by_one
from traceir_numba.emitters.kinds import (
    Concat,
    Decomposition,
    Elementwise,
    EmitterKind,
    ForeignCall,
    HostCallback,
    Matmul,
    PrefixScan,
    Reduce,
    Region,
    Scatter,
)
from traceir_numba.emitters.regions import (
    LoopOp,
    SwitchOp,
    is_unrolled,
    row_of,
    stacked,
)
from traceir_numba.emitters.structure import (
    Producer,
    as_number,
    nested_update,
    transposed_update,
)
from traceir_numba.errors import unsupported
from traceir_numba.lowering.dce import dce_eqns
from traceir_numba.lowering.loop_invariants import Given, hoist_invariants
from traceir_numba.lowering.matmul import (
    fold_transposes,
    is_call,
    is_strided,
    product,
    swap_transposed_products,
)
from traceir_numba.runtime.own_params import OWN_PARAMS

Env = dict[Var, Atom]


def canonicalize(closed: ClosedJaxpr, device: bool = False) -> ClosedJaxpr:
    """The same program without calls or waste; constants may join its own.

    On a `device` some equations stay that processors do in other ways.

    Raises JaxprTypeError (backend.unsupported) for an equation that has no emitter.

    >>> from traceir.text.parser import parse
    >>> text = "{ lambda ; a:i32[]. let b:i32[] = mul a 1; c:i32[] = neg b in (c,) }"
    >>> print(canonicalize(parse(text)))
    { lambda ; a:i32[]. let b:i32[] = neg a in (b,) }
    """
    return _Canonicalizer(closed, device).finish()


class _Canonicalizer:
    def __init__(
        self,
        closed: ClosedJaxpr,
        device: bool,
        given: Given | None = None,
        fixed: int = 0,
    ) -> None:
        jaxpr = closed.jaxpr
        self.device = device
        self.jaxpr = jaxpr
        self.constvars = list(jaxpr.constvars)
        self.consts = [np.asarray(c) for c in closed.consts]
        self.eqns: list[Eqn] = []
        self.producers: dict[Var, Eqn] = {}
        self.seen: dict[object, tuple[Atom, ...]] = {}
        self.fixed: set[Atom] = {*jaxpr.invars[:fixed]}
        self.env: Env = {jaxpr.invars[k]: a for k, a in (given or {}).items()}
        own = {v: v for eqn in jaxpr.eqns for v in eqn.outputs}
        self.run(jaxpr, self.env, own)

    def finish(self) -> ClosedJaxpr:
        """The simplified program, without dead equations and unused constants."""
        outvars = tuple(_use(self.env, a) for a in self.jaxpr.outvars)
        eqns, used = dce_eqns(swap_transposed_products(self.eqns, outvars), outvars)
        kept = [k for k, v in enumerate(self.constvars) if v in used]
        constvars = tuple(self.constvars[k] for k in kept)
        jaxpr = replace(self.jaxpr, constvars=constvars, outvars=outvars)
        consts = tuple(self.consts[k] for k in kept)
        return ClosedJaxpr(replace(jaxpr, eqns=tuple(eqns)), consts)

    def run(self, jaxpr: Jaxpr, env: Env, given: Mapping[Var, Var]) -> None:
        """Add a program's equations; results that are `given` keep that variable."""
        for eqn in jaxpr.eqns:
            inputs = tuple(_use(env, a) for a in eqn.inputs)
            outputs = tuple(given.get(v) or Var(v.aval) for v in eqn.outputs)
            found = self.add(replace(eqn, inputs=inputs, outputs=outputs))
            env.update(zip(eqn.outputs, found, strict=True))

    def add(self, eqn: Eqn) -> tuple[Atom, ...]:
        """Add one equation in its simplest form; gives its results."""
        entry = entry_of(eqn)
        if entry is None or isinstance(entry, HostCallback):
            raise unsupported(eqn, f"`{eqn.primitive}`")
        if isinstance(entry, Decomposition):
            direct = None if self.device or not entry.strided else entry.strided(eqn)
            return self.inline(direct or entry.program(eqn), eqn)
        if isinstance(entry, ForeignCall) and (program := one_by_one(eqn)):
            return self.inline(program, eqn)
        if isinstance(entry, Concat | PrefixScan | Reduce) and entry.program:
            program = None if self.device else entry.program(eqn)
            if program is not None:
                return self.inline(program, eqn)
        if isinstance(entry, Scatter) and not eqn.outputs[0].aval.shape:
            return self.inline(entry.scalar(eqn), eqn)
        if isinstance(entry, Elementwise) and entry.decompose is not None:
            program = entry.decompose(eqn)
            if program is not None:
                return self.inline(program, eqn)
        if isinstance(entry, Region):
            return self.region(eqn, entry)
        if isinstance(entry, Matmul) and not is_strided(eqn):
            eqn = fold_transposes(eqn, self.producers)
            if not is_call(eqn):
                return self.inline(product(eqn, self.fixed), eqn)
        if isinstance(entry, Reduce) and _reduces_nothing(eqn, entry):
            return self.add(as_reshape(eqn))
        if eqn.primitive == "add":
            eqn = as_number(eqn, self.producer) or eqn
        short_cut = self.fold_constant(eqn, entry) or self.simplify_algebra(eqn)
        if short_cut is not None:
            return (short_cut,)
        key = eqn.primitive, eqn.inputs, eqn.params
        found = self.seen.get(key)
        if found is None:
            self.eqns.append(eqn)
            self.producers.update(dict.fromkeys(eqn.outputs, eqn))
            self.seen[key] = found = eqn.outputs
            if all(isinstance(a, Literal) or a in self.fixed for a in eqn.inputs):
                self.fixed.update(eqn.outputs)
        return found

    def region(self, eqn: Eqn, entry: Region) -> tuple[Atom, ...]:
        """Add control flow with its programs simplified."""
        flow = entry.read(eqn)
        if isinstance(flow, SwitchOp) and flow.is_known:
            return self.inline(flow.chosen(), replace(eqn, inputs=flow.xs))
        if isinstance(flow, LoopOp) and is_unrolled(eqn, flow):
            return self.turns(eqn, flow)
        hoisted = hoist_invariants(flow, self)
        outputs = tuple(eqn.outputs[k] for k in hoisted.left)
        self.eqns.append(entry.rewritten(eqn, hoisted.flow, outputs))
        return tuple(hoisted.known.get(k, v) for k, v in enumerate(eqn.outputs))

    def turns(self, eqn: Eqn, flow: LoopOp) -> tuple[Atom, ...]:
        """Add the turns of a loop one after the other."""
        carry, several = flow.carry, len(flow.carry)
        made: list[tuple[Atom, ...]] = [()] * flow.length
        order = range(flow.length)
        for turn in reversed(order) if flow.reverse else order:
            rows = [self.last(row_of(x, turn)) for x in flow.xs]
            found = self.inlined(flow.body, (*flow.consts, *carry, *rows), {})
            carry, made[turn] = found[:several], found[several:]
        outs = eqn.outputs[several:]
        columns = zip(*made, strict=True)
        return *carry, *(
            self.add(stacked(c, v))[0] for c, v in zip(columns, outs, strict=True)
        )

    def last(self, eqns: Sequence[Eqn]) -> Atom:
        """Add equations that follow one another; gives the result of the last one."""
        env: Env = {}
        for eqn in eqns:
            inputs = tuple(_use(env, a) for a in eqn.inputs)
            env[eqn.outputs[0]] = self.add(replace(eqn, inputs=inputs))[0]
        return env[eqns[-1].outputs[0]]

    def inner(self, closed: ClosedJaxpr, given: Given, fixed: int) -> ClosedJaxpr:
        """Simplify a program inside; `fixed` of its inputs never change."""
        return _Canonicalizer(closed, self.device, given, fixed).finish()

    def constant(self, var: Var, value: np.ndarray) -> Var:
        """A constant of a program inside as one of this program."""
        own = Var(var.aval)
        self.constvars.append(own)
        self.consts.append(value)
        return own

    def apply(self, eqn: Eqn, inputs: tuple[Atom, ...]) -> tuple[Atom, ...]:
        """Add an equation of a program inside, for other operands."""
        outputs = tuple(Var(v.aval) for v in eqn.outputs)
        return self.add(replace(eqn, inputs=inputs, outputs=outputs))

    def inline(self, program: ClosedJaxpr, eqn: Eqn) -> tuple[Atom, ...]:
        """Run a called program's equations here; return its results."""
        given = {
            inner: outer
            for inner, outer in zip(program.jaxpr.outvars, eqn.outputs, strict=True)
            if isinstance(inner, Var)
        }
        return self.inlined(program, eqn.inputs, given)

    def inlined(
        self, program: ClosedJaxpr, inputs: tuple[Atom, ...], given: Mapping[Var, Var]
    ) -> tuple[Atom, ...]:
        """Run a program's equations here on other inputs; results that are `given`
        keep that variable."""
        jaxpr = program.jaxpr
        env: Env = dict(zip(jaxpr.invars, inputs, strict=True))
        for var, value in zip(jaxpr.constvars, program.consts, strict=True):
            env[var] = self.constant(var, np.asarray(value))
        self.run(jaxpr, env, given)
        return tuple(_use(env, a) for a in jaxpr.outvars)

    def fold_constant(self, eqn: Eqn, entry: EmitterKind) -> Literal | None:
        """The value of a scalar equation on literals, where it cannot differ."""
        if (
            not (isinstance(entry, Elementwise) and entry.exact)
            or eqn.outputs[0].aval.ndim
        ):
            return None
        values = [a.array for a in eqn.inputs if isinstance(a, Literal)]
        if len(values) < len(eqn.inputs) or any(k in OWN_PARAMS for k, _ in eqn.params):
            return None
        (result,) = evaluate_eqn(eqn.primitive, eqn.params, values)
        return Literal(result[()], eqn.outputs[0].aval)

    def simplify_algebra(self, eqn: Eqn) -> Atom | None:
        """An operand that is the result, by a rule or because nothing changes."""
        rule = ALGEBRA.get(eqn.primitive)
        found = rule(self, eqn) if rule else None
        if found is None:
            return None
        aval, out = found.aval, eqn.outputs[0].aval
        same = aval.shape == out.shape and aval.dtype == out.dtype
        return found if same else None

    def producer(self, atom: Atom, primitive: str) -> Eqn | None:
        """The equation that gives an operand, if it applies that primitive."""
        eqn = self.producers.get(atom) if isinstance(atom, Var) else None
        return eqn if eqn is not None and eqn.primitive == primitive else None


def _use(env: Env, atom: Atom) -> Atom:
    return env.get(atom, atom) if isinstance(atom, Var) else atom


def _reduces_nothing(eqn: Eqn, entry: Reduce) -> bool:
    """True if each result is one element as it is, as in the gradient of a bias.

    A whole array of one element stays: its kernel serves arrays of any length.
    """
    x, out = eqn.inputs[0].aval.shape, eqn.outputs[0].aval.shape
    return out not in ((), x) and prod(x) == prod(out) != 0 and not entry.positions


# -- algebra that is exact ------------------------------------------------------------

Rule = Callable[[_Canonicalizer, Eqn], Atom | None]
Find = Callable[[Eqn, Producer], Sequence[Eqn] | None]


def _is(atom: Atom, value: float) -> bool:
    """True if an operand is this number; 0.0 is not -0.0."""
    if not isinstance(atom, Literal):
        return False
    array = atom.array
    return bool(array == value) and not np.signbit(array)


def _operand(_: _Canonicalizer, eqn: Eqn) -> Atom | None:
    """The operand itself, where its type is the result's."""
    return eqn.inputs[0]


def _mul(_: _Canonicalizer, eqn: Eqn) -> Atom | None:
    x, y = eqn.inputs
    return x if _is(y, 1) else y if _is(x, 1) else None


def _add(_: _Canonicalizer, eqn: Eqn) -> Atom | None:
    # -0.0 + 0.0 is 0.0, so only integers have a zero that changes nothing.
    x, y = eqn.inputs
    if eqn.outputs[0].aval.dtype.kind not in "biu":
        return None
    return x if _is(y, 0) else y if _is(x, 0) else None


def _involution(work: _Canonicalizer, eqn: Eqn) -> Atom | None:
    inner = work.producer(eqn.inputs[0], eqn.primitive)
    return inner.inputs[0] if inner else None


def _idempotent(_: _Canonicalizer, eqn: Eqn) -> Atom | None:
    return eqn.inputs[0] if eqn.inputs[0] == eqn.inputs[1] else None


def _select_n(_: _Canonicalizer, eqn: Eqn) -> Atom | None:
    which, *cases = eqn.inputs
    if isinstance(which, Literal) and which.aval.dtype == bool:
        return cases[int(which.value)]
    return cases[0] if all(c == cases[0] for c in cases) else None


def _in_order(param: str) -> Rule:
    """The operand, where a param has its dimensions in order."""

    def rule(_: _Canonicalizer, eqn: Eqn) -> Atom | None:
        dimensions = eqn.param(param)
        return eqn.inputs[0] if dimensions == tuple(range(len(dimensions))) else None

    return rule


def _new(_: _Canonicalizer, eqn: Eqn) -> Atom | None:
    """The value that is written, if it is as large as the array."""
    return eqn.inputs[1] if eqn.inputs[1].aval == eqn.inputs[0].aval else None


def _reduce(_: _Canonicalizer, eqn: Eqn) -> Atom | None:
    return None if eqn.param("axes") else eqn.inputs[0]


def _shorter(first: Rule, find: Find) -> Rule:
    """A rule that gives other equations where the `first` one gives nothing."""

    def rule(work: _Canonicalizer, eqn: Eqn) -> Atom | None:
        found = None if (known := first(work, eqn)) else find(eqn, work.producer)
        return work.last(found) if found else known

    return rule


def _reshape(work: _Canonicalizer, eqn: Eqn) -> Atom:
    """Of what has been reshaped to elements of the same type, a reshape of that."""
    inner = work.producer(eqn.inputs[0], "reshape")
    if inner is None or inner.inputs[0].aval.dtype != eqn.outputs[0].aval.dtype:
        return eqn.inputs[0]
    return work.add(replace(eqn, inputs=inner.inputs))[0]


ALGEBRA: dict[str, Rule] = {
    "mul": _mul,
    "div": lambda _, eqn: eqn.inputs[0] if _is(eqn.inputs[1], 1) else None,
    "add": _add,
    "sub": lambda _, eqn: eqn.inputs[0] if _is(eqn.inputs[1], 0) else None,
    "neg": _involution,
    "not": _involution,
    "max": _idempotent,
    "min": _idempotent,
    "and": _idempotent,
    "or": _idempotent,
    "select_n": _select_n,
    "convert_element_type": _operand,
    "broadcast_in_dim": _in_order("broadcast_dimensions"),
    "reshape": _reshape,
    "squeeze": _operand,
    # Equal shapes leave room for no other start, and for no stride that is felt.
    "slice": _operand,
    "transpose": _shorter(_in_order("permutation"), transposed_update),
    "dynamic_update_slice": _shorter(_new, nested_update),
    "concatenate": lambda _, eqn: None if eqn.inputs[1:] else eqn.inputs[0],
    **dict.fromkeys(("reduce_sum", "reduce_prod", "reduce_max", "reduce_min"), _reduce),
    **dict.fromkeys(("reduce_and", "reduce_or", "reduce_xor"), _reduce),
}
