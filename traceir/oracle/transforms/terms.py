"""Values of functions, and what Python may ask of them.

Serves: level.answer, level.strictest
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Var
from traceir.oracle.transforms.builder import Beyond
from traceir.rules import Rules


class TermHome(Protocol):
    """The recording that a value is a variable of."""

    level: int

    def knowledge(self, var: Var) -> str:
        """The step of knowledge of a variable."""

    def value(self, var: Var) -> np.ndarray:
        """The elements of a variable that are known."""


class TermSystem(Protocol):
    """The functions that Python's operators on values call."""

    rules: Rules

    def row(self, value: Any, k: int) -> Any:
        """One row of an array."""

    def arithmetic(self, primitive: str, *values: Any) -> Any:
        """An operator on values that meet in one dtype."""


@dataclass(eq=False)
class Term:
    """A value of a function: an array, or a variable of a recording.

    `functions` applies what Python's operators ask for.
    """

    aval: ShapedArray
    array: np.ndarray | None = None
    var: Var | None = None
    home: TermHome | None = None
    functions: TermSystem | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents, which are always known."""
        return self.aval.shape

    @property
    def concrete(self) -> np.ndarray:
        """The array, which is computed for those of recordings."""
        if self.array is None:
            if self.home is None or self.var is None:
                raise Beyond("a value that nothing is known of")
            self.array = self.home.value(self.var)
        return self.array

    def answer(self, ask: str) -> np.ndarray:
        """The array, if so much is known that the question has an answer."""
        system = self._system()
        levels = system.rules.levels
        known = levels.known_outside
        if self.home is not None and self.var is not None:
            known = self.home.knowledge(self.var)
        if not levels.permits(known, ask):
            raise system.rules.error(ask, got=self.aval.str_short())
        return self.concrete

    def _system(self) -> TermSystem:
        if self.functions is None:
            raise Beyond("a value of no system")
        return self.functions

    # Questions ------------------------------------------------------------------------

    def __bool__(self) -> bool:
        return bool(self.answer("level.concretize.bool"))

    def __index__(self) -> int:
        return operator.index(self.answer("level.concretize.index"))

    def __float__(self) -> float:
        return float(self.answer("level.concretize.number"))

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        return np.array(self.answer("level.concretize.array"))

    def __format__(self, spec: str) -> str:
        return format(self.answer("level.concretize.format").item(), spec)

    def item(self) -> Any:
        """The element of an array of one."""
        return self.answer("level.concretize.item").item()

    @property
    def sharding(self) -> Any:
        """The place of the elements, which is of no program."""
        self.answer("level.attribute")
        raise Beyond("where an array is")

    def __len__(self) -> int:
        if not self.aval.shape:
            raise Beyond("the length of a scalar")
        return self.aval.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self._system().row(self, k) for k in range(len(self)))


def _operator(primitive: str, swapped: bool) -> Callable[[Term, Any], Any]:
    def method(self: Term, other: Any) -> Any:
        values = (other, self) if swapped else (self, other)
        return self._system().arithmetic(primitive, *values)

    return method


for _name in ("add", "sub", "mul"):
    setattr(Term, f"__{_name}__", _operator(_name, False))
    setattr(Term, f"__r{_name}__", _operator(_name, True))
