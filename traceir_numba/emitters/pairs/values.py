"""Pairs as values: the structural primitives act on both numbers.

A complex number is its real and its imaginary part, a key two words, or two pairs of
these. In memory that a program is given, and in results, the two stand beside one
another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import is_key
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Literal, Var

# The dtypes of such values, by how a generated module makes them.
PAIRS = {
    "complex64": '"complex64"',
    "complex128": '"complex128"',
    "key<fry>": '[("words", np.uint32, (2,))]',
    "key<rbg>": '[("rbg", np.uint32, (4,))]',
    "key<urbg>": '[("urbg", np.uint32, (4,))]',
}
# What the reference's kernels do with complex numbers, as with a library's functions.
REFERENCE_CALLS = frozenset({"cumprod", "cummax", "cummin"}) | {
    f"scatter-{name}" for name in ("mul", "min", "max")
}


def part_of(dtype: np.dtype) -> np.dtype | None:
    """The dtype of the two numbers of a value; None where it is one number.

    >>> part_of(np.dtype("complex64")), part_of(np.dtype("int8"))
    (dtype('float32'), None)
    """
    if dtype.kind == "c":
        return np.dtype(f"f{dtype.itemsize // 2}")
    # Two words, or two pairs of them, each of which is a number.
    return np.dtype(f"u{dtype.itemsize // 2}") if is_key(dtype) else None


def is_reference_call(eqn: Eqn) -> bool:
    """True if the reference's kernel computes an equation, since it is of pairs."""
    name = eqn.primitive
    return name in REFERENCE_CALLS and part_of(eqn.outputs[0].aval.dtype) is not None


@dataclass(frozen=True, slots=True)
class Pair:
    """The two numbers of a value, in variables of their own."""

    first: Atom
    second: Atom


@dataclass(frozen=True, slots=True)
class PairedArray:
    """The two numbers of a value beside one another, along one dimension more."""

    var: Var


# What a rule gives for one result: a value of one number is an atom.
Value = Atom | Pair | PairedArray


class PairRewriter(Protocol):
    """The equations that rules make, in place of the one that they are for."""

    def pair(self, atom: Atom) -> tuple[Atom, Atom]:
        """The two numbers of an operand."""

    def whole(self, atom: Atom) -> Var:
        """An operand with both numbers in memory, beside one another."""

    def found_whole(self, atom: Atom) -> Var | None:
        """The same where it has that form anyway."""

    def bind(
        self,
        primitive: str,
        *inputs: Atom,
        shape: Sequence[int] | None = None,
        dtype: object = None,
        **params: Any,
    ) -> Var:
        """Apply a primitive of numbers.

        The shape is that of the largest operand, the dtype that of the last one, where
        nothing else is said.
        """

    def use(self, atom: Atom) -> Atom:
        """An operand of one number."""

    def number(self, value: float, like: Atom) -> Literal:
        """A constant of an operand's dtype."""

    def each(self, eqn: Eqn) -> list[Value]:
        """The same primitive of the first numbers, and of the second ones."""

    def run(self, program: ClosedJaxpr, eqn: Eqn) -> list[Value]:
        """Another program of the equation's operands."""

    def reference_call(self, eqn: Eqn) -> list[Value]:
        """The results of the reference's kernel for whole arrays."""


Rule = Callable[[PairRewriter, Eqn], Sequence[Value]]

RULES: dict[str, Rule] = {}

Made = TypeVar("Made", bound=Rule)


def rule(*names: str) -> Callable[[Made], Made]:
    """Register a function as the rule of primitives; each has one at most."""

    def decorate(made: Made) -> Made:
        for name in names:
            assert name not in RULES, name
            RULES[name] = made
        return made

    return decorate


@rule("reshape")
def reshape(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """Reshape both numbers of each value, without a copy."""
    whole = w.found_whole(eqn.inputs[0])
    if whole is None:
        return w.each(eqn)
    shape = (*eqn.outputs[0].aval.shape, 2)
    return [PairedArray(w.bind("reshape", whole, shape=shape))]
