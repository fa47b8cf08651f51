"""Atoms of programs: typed variables, and scalars written as they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.ir.avals import ShapedArray


class Var:
    """A typed name, defined once; two variables are equal when they are one object."""

    __slots__ = ("aval", "__weakref__")

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Var({self.aval.str_short()})"


class UntypedVar(Var):
    """A variable whose type is not told: in programs of which the types are asked."""

    __slots__ = ()

    def __init__(self) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"no `{name}`: the types of an equation's results are what is asked for;"
            " those of inputs, constants and literals are told"
        )

    def __repr__(self) -> str:
        return "UntypedVar()"


class Literal:
    """A scalar constant written in the program; equal by type and by bits."""

    __slots__ = ("value", "aval")

    def __init__(self, val: Any, aval: ShapedArray) -> None:
        self.value = val
        self.aval = aval

    @property
    def val(self) -> Any:
        """The value, as JAX names it."""
        return self.value

    @property
    def array(self) -> np.ndarray:
        """The value as a zero-dimensional array of the literal's dtype."""
        return np.asarray(self.value, self.aval.dtype)

    def key(self) -> tuple[object, ...]:
        """The key of a literal: equal ones have the same type and the value's bits."""
        return "literal", self.aval, self.array.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def __repr__(self) -> str:
        return f"Literal({self.value}:{self.aval.str_short()})"


Atom = Var | Literal
