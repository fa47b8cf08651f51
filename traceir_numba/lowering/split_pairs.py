"""Complex numbers and keys split into the numbers that they are.

Each value of two numbers becomes two values, so that whatever is done with numbers,
fusion and vectors included, is done with these. Arrays that come in are read where they
lie, each number at every second place; results are stored in the same way, by one nest.
Whole arrays in memory, such as the operands of a library's function, are put together
before it, and its results are taken apart after it.

The rules are in `traceir_numba.emitters.pairs.values`. A primitive without one moves
elements, and does to each of the numbers what it does to the values.

Kernels know no complex numbers and no keys: a program of such values becomes one of the
numbers that they are, the real and the imaginary part, or two words. The rest of the
backend sees programs of numbers, so fusion, vectors and threads are what they are for
those. A program without such values passes as it is.

An array that comes in, or goes out, has its two numbers side by side. It is read where
it lies: an access says which of the elements that lie together at a place it takes,
both constants, so that LLVM takes vectors apart by permutations. A result is a stack
that is mixed: both numbers join one nest, whatever they have been made of, and are
stored beside one another. What is carried by a loop, or kept between nests, has each
number in an array of its own. What a library does, it does with complex arrays: numbers
are put together before and taken apart after the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.decompositions import constant, params_of
from traceir_numba.emitters.kinds import (
    Concat,
    Decomposition,
    Elementwise,
    Gather,
    ReferenceCall,
    Region,
    Scatter,
    View,
)
from traceir_numba.emitters.pairs.values import RULES, Pair, PairedArray, Value, part_of
from traceir_numba.errors import unsupported
from traceir_numba.lowering.pair_types import (
    as_numbers,
    as_whole,
    atoms_of,
    has_pairs,
    is_plain,
    part_param,
    parts_of,
    region,
    renamed,
    same_form,
)

# What the parts of a value are called in generated source, after the value's own name.
SUFFIXES = {"c": ("_re", "_im"), "V": ("_0", "_1")}
# The result of a comparison is a truth, whatever is compared.
TRUTHS = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "is_finite"})


@dataclass(frozen=True, slots=True)
class PairLowering:
    """A program of numbers; `names` has, for a variable that stands for a part of one
    of the program's own, that one and what is added to its name."""

    closed: ClosedJaxpr
    names: dict[Var, tuple[Var, str]]


def lower_pairs(closed: ClosedJaxpr) -> PairLowering:
    """The same program without values of two numbers between inputs and results.

    Raises JaxprTypeError (backend.unsupported) for an equation that has no rule.
    """
    names: dict[Var, tuple[Var, str]] = {}
    if not has_pairs(closed.jaxpr):
        return PairLowering(closed, names)
    work = _Work(names)
    jaxpr = closed.jaxpr
    for var, value in zip(jaxpr.constvars, closed.consts, strict=True):
        work.constant(var, value)
    for var in jaxpr.invars:
        work.given(var)
    work.run_all(jaxpr.eqns)
    outvars = tuple(map(work.result, jaxpr.outvars))
    return PairLowering(work.program(jaxpr.invars, outvars, closed), names)


@dataclass(slots=True)
class _Work:
    """Rewrites the equations of one program."""

    names: dict[Var, tuple[Var, str]]
    eqns: list[Eqn] = field(default_factory=list)
    constvars: list[Var] = field(default_factory=list)
    consts: list[np.ndarray] = field(default_factory=list)
    env: dict[Var, Atom] = field(default_factory=dict)  # of values of one number
    wholes: dict[Var, Var] = field(default_factory=dict)
    pairs: dict[Var, tuple[Atom, Atom]] = field(default_factory=dict)
    eqn: Eqn | None = None  # the one that is being rewritten

    # -- what comes in and goes out -----------------------------------------------

    def given(self, var: Var) -> None:
        """Let a variable be an array that lies in memory."""
        if part_of(var.aval.dtype):
            self.wholes[var] = self.seen_as(var, as_whole(var.aval))

    def constant(self, var: Var, value: Any) -> None:
        """Let a variable be a constant of the program."""
        own = var
        if part_of(var.aval.dtype):
            own = self.wholes[var] = Var(as_whole(var.aval))
            self.names[own] = var, ""
        self.constvars.append(own)
        self.consts.append(as_numbers(value))

    def program(
        self, invars: Sequence[Var], outvars: Sequence[Atom], old: ClosedJaxpr
    ) -> ClosedJaxpr:
        """The program of the equations made so far."""
        name = old.jaxpr.debug_name
        made = Jaxpr(
            tuple(self.constvars), tuple(invars), tuple(self.eqns), tuple(outvars), name
        )
        return ClosedJaxpr(made, tuple(self.consts), old.backend)

    def seen_as(self, var: Var, aval: ShapedArray) -> Var:
        """The same memory as an array of another type."""
        return self.bind("reshape", var, shape=aval.shape, dtype=aval.dtype)

    def result(self, atom: Atom) -> Atom:
        """The result of a program: numbers that are seen as values of two."""
        if not part_of(atom.aval.dtype):
            return self.use(atom)
        whole = self.whole(atom)
        for eqn in self.eqns:  # an argument is returned as it is
            if eqn.outputs[:1] == (whole,) and part_of(eqn.inputs[0].aval.dtype):
                return eqn.inputs[0]
        out = self.seen_as(whole, atom.aval)
        if isinstance(atom, Var):
            self.names.setdefault(whole, (atom, ""))
        return out

    def use(self, atom: Atom) -> Atom:
        """An operand of one number."""
        return self.env.get(atom, atom) if isinstance(atom, Var) else atom

    # -- values of two numbers ----------------------------------------------------

    def pair(self, atom: Atom) -> tuple[Atom, Atom]:
        """The two numbers of an operand."""
        if isinstance(atom, Literal):
            return parts_of(atom)
        found = self.pairs.get(atom)
        if found is None:
            whole = self.wholes[atom]
            found = self.pairs[atom] = self.part(whole, 0), self.part(whole, 1)
            self.name(atom, found)
        return found

    def part(self, whole: Var, number: int) -> Var:
        """One of the numbers that lie beside one another."""
        shape = whole.aval.shape[:-1]
        first, last = (*(0 for _ in shape), number), (*shape, number + 1)
        params = {"start_indices": first, "limit_indices": last}
        cut = self.bind("slice", whole, shape=(*shape, 1), **params)
        return self.bind("squeeze", cut, shape=shape, dimensions=(len(shape),))

    def whole(self, atom: Atom) -> Var:
        """An operand with both numbers in memory, beside one another."""
        found = self.found_whole(atom)
        if found is None:
            aval = as_whole(atom.aval)
            parts = [self.spread(x, atom.aval.shape) for x in self.pair(atom)]
            params = {"axis": atom.aval.ndim, "mixed": True}
            found = self.bind("stack", *parts, shape=aval.shape, **params)
            if isinstance(atom, Var):
                self.wholes[atom] = found
        return found

    def found_whole(self, atom: Atom) -> Var | None:
        """The same where it has that form anyway."""
        return self.wholes.get(atom) if isinstance(atom, Var) else None

    def spread(self, atom: Atom, shape: tuple[int, ...]) -> Atom:
        """A number that may be one for all, in a shape."""
        if atom.aval.shape == shape:
            return atom
        params = {"broadcast_dimensions": tuple(range(atom.aval.ndim))}
        return self.bind("broadcast_in_dim", atom, shape=shape, **params)

    def name(self, var: Var, parts: Sequence[Atom]) -> None:
        """Let the parts of a value have its name."""
        suffixes = SUFFIXES[var.aval.dtype.kind]
        for part, suffix in zip(parts, suffixes, strict=True):
            if isinstance(part, Var):
                self.names.setdefault(part, (var, suffix))

    def define(self, var: Var, value: Value) -> None:
        """Let a variable stand for a rule's result."""
        match value:
            case Pair(first, second):
                shape = var.aval.shape
                found = self.spread(first, shape), self.spread(second, shape)
                self.pairs[var] = found
                self.name(var, found)
            case PairedArray(whole):
                self.wholes[var] = whole
                self.names.setdefault(whole, (var, ""))
            case _:
                self.env[var] = self.spread(value, var.aval.shape)
                if isinstance(value, Var):
                    self.names.setdefault(value, (var, ""))

    # -- equations ----------------------------------------------------------------

    def bind(
        self,
        primitive: str,
        *inputs: Atom,
        shape: Sequence[int] | None = None,
        dtype: object = None,
        **params: Any,
    ) -> Var:
        """Apply a primitive of numbers."""
        if shape is None:
            shape = np.broadcast_shapes(*(a.aval.shape for a in inputs))
        if dtype is None:
            dtype = bool if primitive in TRUTHS else inputs[-1].aval.dtype
        out = Var(ShapedArray(shape, dtype))
        full = params_of(primitive, out.aval, params)
        source = self.eqn.source if self.eqn else None
        self.eqns.append(Eqn(primitive, inputs, (out,), full, source=source))
        return out

    def number(self, value: float, like: Atom) -> Literal:
        """A constant of an operand's dtype."""
        return constant(value, like.aval.dtype)

    def run_all(self, eqns: Sequence[Eqn]) -> None:
        """Rewrite equations, one after the other."""
        for eqn in eqns:
            before, self.eqn = self.eqn, eqn
            if is_plain(eqn):
                self.eqns.append(replace(eqn, inputs=tuple(map(self.use, eqn.inputs))))
            else:
                values = self.values(eqn)
                for var, value in zip(eqn.outputs, values, strict=True):
                    self.define(var, value)
            self.eqn = before

    def values(self, eqn: Eqn) -> Sequence[Value]:
        """The values of an equation's results, if they are of two numbers."""
        rule = RULES.get(eqn.primitive)
        if rule is not None:
            return rule(self, eqn)
        entry = EMITTERS.get(eqn.primitive)
        match entry:
            case Decomposition(program):
                return self.run(program(eqn), eqn)
            case Elementwise(decompose=otherwise) if otherwise is not None:
                found = otherwise(eqn)
                if found is not None:
                    return self.run(found, eqn)
            case Region():
                return region(self, eqn, entry)
            case ReferenceCall():
                return self.reference_call(eqn)
            case View() | Concat() | Gather() | Scatter(combine=None):
                return self.each(eqn)
        what = ", ".join(a.aval.str_short() for a in eqn.inputs)
        raise unsupported(eqn, f"`{eqn.primitive}` of {what}")

    def each(self, eqn: Eqn) -> list[Value]:
        """The same primitive of the first numbers, and of the second ones."""
        found = []
        (out,) = eqn.outputs
        part = part_of(out.aval.dtype)
        for number in (0, 1):
            inputs = tuple(
                self.pair(a)[number] if part_of(a.aval.dtype) else self.use(a)
                for a in eqn.inputs
            )
            var = Var(out.aval.update(dtype=part or out.aval.dtype))
            params = tuple((name, part_param(v)) for name, v in eqn.params)
            self.eqns.append(replace(eqn, inputs=inputs, outputs=(var,), params=params))
            found.append(var)
        return [Pair(*found)]

    def reference_call(self, eqn: Eqn) -> list[Value]:
        """The results of the reference's kernel for whole arrays."""
        inputs = tuple(self.result(a) for a in eqn.inputs)
        outputs = tuple(Var(v.aval) for v in eqn.outputs)
        self.eqns.append(replace(eqn, inputs=inputs, outputs=outputs))
        return [
            PairedArray(self.seen_as(v, as_whole(v.aval)))
            if part_of(v.aval.dtype)
            else v
            for v in outputs
        ]

    # -- programs inside ----------------------------------------------------------

    def run(self, program: ClosedJaxpr, eqn: Eqn) -> list[Value]:
        """Another program of the equation's operands."""
        operands = [self.value_of(a) for a in eqn.inputs]
        jaxpr, names = renamed(program.jaxpr)
        self.names.update(names)
        for var, value in zip(jaxpr.constvars, program.consts, strict=True):
            self.constant(var, value)
        for var, given in zip(jaxpr.invars, operands, strict=True):
            self.define(var, given)
        self.run_all([replace(e, source=e.source or eqn.source) for e in jaxpr.eqns])
        return [self.value_of(a) for a in jaxpr.outvars]

    def value_of(self, atom: Atom) -> Value:
        """The value of an operand."""
        if not part_of(atom.aval.dtype):
            return self.use(atom)
        if isinstance(atom, Var) and atom in self.wholes and atom not in self.pairs:
            return PairedArray(self.wholes[atom])
        return Pair(*self.pair(atom))

    def apart(self, atom: Atom) -> Value:
        """The value of an operand, its numbers in variables of their own."""
        if not part_of(atom.aval.dtype):
            return self.use(atom)
        return Pair(*(self.spread(x, atom.aval.shape) for x in self.pair(atom)))

    def inner(
        self, closed: ClosedJaxpr, given: Sequence[Value], results: Sequence[Value]
    ) -> ClosedJaxpr:
        """A program inside, for operands and results of these forms."""
        jaxpr = closed.jaxpr
        work = _Work(self.names)
        for var, value in zip(jaxpr.constvars, closed.consts, strict=True):
            work.constant(var, value)
        invars: list[Var] = []
        for var, form in zip(jaxpr.invars, given, strict=True):
            own = same_form(form, var)
            work.define(var, own)
            invars += [a for a in atoms_of([own]) if isinstance(a, Var)]
        work.run_all(jaxpr.eqns)
        outvars: list[Atom] = []
        for atom, form in zip(jaxpr.outvars, results, strict=True):
            if isinstance(form, PairedArray):
                outvars.append(work.whole(atom))
            else:
                outvars += atoms_of([work.apart(atom)])
        return work.program(invars, outvars, closed)
