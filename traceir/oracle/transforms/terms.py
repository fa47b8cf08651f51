"""Values, and functions on them, which record what is done to them.

Serves: derive.*, batch.*
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Literal, Var
from traceir.ir.promotion import python_aval
from traceir.oracle import scalar_interpreter
from traceir.oracle.scalar_interpreter import Guess
from traceir.oracle.transforms.builder import Beyond, DerivedProgram
from traceir.pytrees import flatten
from traceir.rules import Rules

Fun = Callable[..., Any]


@dataclass(eq=False)
class Term:
    """A value of a function: an array, or a variable of a recording."""

    aval: ShapedArray
    array: np.ndarray | None = None
    var: Var | None = None
    home: Recording | None = None

    def __bool__(self) -> bool:
        raise Beyond("a question to a value")

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise Beyond("a question to a value")


@dataclass(eq=False)
class Recording:
    """A function on variables: its program so far, and what it captured."""

    builder: DerivedProgram
    captured: dict[Term, Var] = field(default_factory=dict)

    def atom(self, value: Any, rules: Rules) -> Atom:
        """A value as an operand: a variable of this program, or a literal."""
        if not isinstance(value, Term):
            aval = python_aval(value, False, rules)
            return Literal(value, aval)
        if value.home is self:
            assert value.var is not None
            return value.var
        return self.captured.setdefault(value, Var(value.aval))


@dataclass(eq=False)
class FunctionProgram:
    """The program of a function, whose first inputs are what it captured."""

    closed: ClosedJaxpr
    captured: Sequence[Term]
    tree: Any

    @property
    def count(self) -> int:
        """The number of inputs that are no captured values."""
        return len(self.closed.in_avals) - len(self.captured)

    def closing_over(self, values: Sequence[Term]) -> ClosedJaxpr:
        """The same program with these captured values, among which are its own."""
        jaxpr = self.closed.jaxpr
        own = dict(zip(self.captured, jaxpr.invars))
        inputs = [own.get(v) or Var(v.aval) for v in values]
        invars = (*inputs, *jaxpr.invars[len(self.captured) :])
        return ClosedJaxpr(replace(jaxpr, invars=invars), self.closed.consts)

    def mask(self) -> list[bool]:
        """Of which inputs there are tangents: of the arguments."""
        return [False] * len(self.captured) + [True] * self.count


class Terms:
    """Functions of terms; raises Beyond where no rule speaks of one.

    `guess` gives results that rows know by relations alone.

    >>> from traceir.rules import default
    >>> functions = Terms(default())
    >>> two = functions.term_of(np.float32(2))
    >>> functions.bind("mul", two, two).array
    array(4., dtype=float32)
    """

    def __init__(self, rules: Rules, guess: Guess | None = None) -> None:
        self.rules = rules
        self.guess = guess
        self.open: list[Recording] = []
        # The sizes of the axes that have names.
        self.sizes: dict[str, int] = {}

    def term_of(self, array: Any) -> Term:
        """An array as a term, which is strongly typed."""
        array = np.asarray(array)
        return Term(ShapedArray(array.shape, array.dtype), array)

    def bind(self, primitive: str, /, *values: Any, **params: Any) -> Any:
        """A primitive applied: in the recording around, else at once."""
        row = self.rules.prims.get(primitive)
        if row is None:
            raise Beyond(f"the function {primitive}")
        found = self.recorded(
            lambda builder, atoms: builder.apply(primitive, atoms, params), values
        )
        return found[0] if row.single else tuple(found)

    @contextmanager
    def named(self, name: str | None, size: int) -> Iterator[None]:
        """Within this an axis has a name."""
        before = self.sizes
        self.sizes = before if name is None else {**before, name: size}
        try:
            yield
        finally:
            self.sizes = before

    def arithmetic(self, primitive: str, *values: Any) -> Any:
        """An operator on values of one dtype, and on numbers beside them."""
        dtypes = {v.aval.dtype for v in values if isinstance(v, Term)}
        if len(dtypes) > 1:
            raise Beyond("operands of several dtypes")
        return self.bind(primitive, *values)

    def as_term(self, value: Any) -> Term:
        """A value; a number as one of its weak type."""
        if isinstance(value, Term):
            return value
        aval = self.aval(value)
        return Term(aval, np.asarray(value, aval.dtype))

    def known(self, value: Any) -> Any:
        """The number that a value is, if that does not wait for an argument."""
        if isinstance(value, Term) and value.array is None:
            raise Beyond("a number that is not known")
        return self.array(value).item()

    # Programs of functions -----------------------------------------------------------

    def aval(self, value: Any) -> ShapedArray:
        """The type of a value."""
        if isinstance(value, Term):
            return value.aval
        return python_aval(value, False, self.rules)

    def array(self, value: Any) -> np.ndarray:
        """The array of a value that is not recorded."""
        if not isinstance(value, Term):
            return np.asarray(value, self.aval(value).dtype)
        assert value.array is not None
        return value.array

    def recorded(
        self,
        make: Callable[[DerivedProgram, Sequence[Atom]], Sequence[Atom]],
        values: Sequence[Any],
    ) -> list[Term]:
        """The things made of values: in the recording around, or at once."""
        if self.open:
            recording = self.open[-1]
            atoms = [recording.atom(v, self.rules) for v in values]
            return [self.term(a, recording) for a in make(recording.builder, atoms)]
        builder = DerivedProgram(self.rules)
        inputs = [Var(self.aval(v)) for v in values]
        closed = builder.closed(inputs, make(builder, inputs))
        arrays = [self.array(v) for v in values]
        found = scalar_interpreter.run(
            closed, closed.consts, arrays, self.rules, self.guess
        )
        return [Term(a, x) for a, x in zip(closed.out_avals, found, strict=True)]

    def term(self, atom: Atom, recording: Recording) -> Term:
        """An atom of a recording as a value."""
        if isinstance(atom, Literal):
            return Term(atom.aval, atom.array)
        return Term(atom.aval, None, atom, recording)

    def applied(self, closed: ClosedJaxpr, values: Sequence[Any]) -> list[Term]:
        """The results of a program."""
        return self.recorded(lambda b, atoms: b.inlined(closed, atoms), values)

    def trace(self, fun: Fun, avals: Sequence[ShapedArray]) -> FunctionProgram:
        """The program of a function for arguments of these types."""
        recording = Recording(DerivedProgram(self.rules))
        inputs = [Var(a) for a in avals]
        self.open.append(recording)
        try:
            found = fun(*(Term(v.aval, None, v, recording) for v in inputs))
            leaves, tree = flatten.flatten(found)
            outputs = [recording.atom(v, self.rules) for v in leaves]
        finally:
            self.open.pop()
        captured = recording.captured
        closed = recording.builder.closed([*captured.values(), *inputs], outputs)
        return FunctionProgram(closed, list(captured), tree)
