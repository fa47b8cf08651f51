"""Integers of a trace as sums of others, and their ranges.

Serves: slice.length

Two integers are told apart, or told to be one number from each other, by the equations
that make them: `i + 3` and `i`, however often they are computed, in whichever region.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from traceir.face.arrays.array import NumpyTracer
from traceir.ir.jaxpr import Atom, Eqn, Literal, Var
from traceir.tracing.staging import StagingTrace
from traceir.tracing.trace import Trace, Tracer

# Primitives that leave an integer the number that it is.
_SAME = frozenset(("convert_element_type", "squeeze", "reshape", "broadcast_in_dim"))


class LinearForm(NamedTuple):
    """A sum of multiples of unknown integers, and a number."""

    terms: frozenset[tuple[Hashable, int]]
    number: int

    def plus(self, other: LinearForm, times: int = 1) -> LinearForm:
        """This and a multiple of another one."""
        terms = dict(self.terms)
        for key, count in other.terms:
            terms[key] = terms.get(key, 0) + times * count
        left = frozenset((key, count) for key, count in terms.items() if count)
        return LinearForm(left, self.number + times * other.number)


ZERO = LinearForm(frozenset(), 0)


class LinearForms:
    """The sums that integers are, by the equations of the trace in force and of those
    around it."""

    def __init__(self) -> None:
        self._makers: dict[Trace, dict[Atom, tuple[Eqn, int]]] = {}
        self._found: dict[Atom, LinearForm] = {}

    def of(self, value: Any) -> LinearForm:
        """The sum that an integer is."""
        if not isinstance(value, Tracer):
            return LinearForm(frozenset(), int(value))
        trace = value._trace
        if not isinstance(value, NumpyTracer):
            return LinearForm(frozenset(((value, 1),)), 0)
        return self._form(trace, value._var)

    def difference(self, one: Any, other: Any) -> int | None:
        """The number that one integer is more than another one, if it is known."""
        found = self.of(one).plus(self.of(other), -1)
        return None if found.terms else found.number

    def _form(self, trace: Any, atom: Atom) -> LinearForm:
        if isinstance(atom, Literal):
            if atom.aval.dtype.kind not in "iub":
                return _unknown(atom)
            return LinearForm(frozenset(), int(atom.value))
        found = self._found.get(atom)
        if found is None:
            found = self._found[atom] = self._made(trace, atom)
        return found

    def _made(self, trace: Any, atom: Var) -> LinearForm:
        made = self._maker(trace, atom)
        if made is None:
            outer = self._captured(trace, atom)
            return _unknown(atom) if outer is None else self.of_outer(outer)
        eqn, place = made
        if atom.aval.dtype.kind not in "iu" or not _is_number(atom):
            return _unknown(atom)
        inputs = eqn.inputs
        if eqn.primitive in _SAME and inputs[0].aval.dtype.kind in "iu":
            return self._form(trace, inputs[0])
        if eqn.primitive in ("add", "sub"):
            left, right = (self._form(trace, a) for a in inputs)
            return left.plus(right, 1 if eqn.primitive == "add" else -1)
        if eqn.primitive == "neg":
            return ZERO.plus(self._form(trace, inputs[0]), -1)
        forms = tuple(self._form(trace, a) for a in inputs)
        if eqn.primitive == "mul":
            for one, other in (forms, forms[::-1]):
                if not other.terms:
                    return ZERO.plus(one, other.number)
        key = eqn.primitive, place, eqn.params, forms
        try:
            hash(key)
        except TypeError:
            return _unknown(atom)
        return _unknown(atom if eqn.effects else key)

    def of_outer(self, tracer: Tracer) -> LinearForm:
        """The sum of a value of a trace around that in force."""
        if isinstance(tracer, NumpyTracer):
            return self._form(tracer._trace, tracer._var)
        return _unknown(tracer)

    def _maker(self, trace: StagingTrace, atom: Var) -> tuple[Eqn, int] | None:
        found = self._makers.get(trace)
        if found is None:
            found = {v: (e, k) for e in trace.eqns for k, v in enumerate(e.outputs)}
            self._makers[trace] = found
        return found.get(atom)

    def _captured(self, trace: StagingTrace, atom: Var) -> Tracer | None:
        for var, tracer in trace.captures.values():
            if var is atom:
                return tracer
        return None


def _unknown(key: Hashable) -> LinearForm:
    return LinearForm(frozenset(((key, 1),)), 0)


def _is_number(atom: Atom) -> bool:
    """True if an atom has one element."""
    return all(n == 1 for n in atom.aval.shape)
