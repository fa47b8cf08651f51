"""Recordings of functions on values, and whose an operation is.

Serves: level.bind, level.depth, level.lift, level.strictest
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from traceir.ir.promotion import promote, python_aval
from traceir.oracle import scalar_interpreter
from traceir.oracle.scalar_interpreter import Guess
from traceir.oracle.transforms.builder import (
    Beyond,
    DerivedProgram,
    Params,
    regions_of,
)
from traceir.oracle.transforms.terms import Term
from traceir.pytrees import flatten
from traceir.rules import Rules
from traceir.rules.levels import Transform

Fun = Callable[..., Any]
Make = Callable[[DerivedProgram, Sequence[Atom]], Sequence[Atom]]


@dataclass(eq=False)
class Recording:
    """A function on variables: its program so far, and what it captured.

    `way` is the row of what is done to the function, `level` its number from outside,
    `given` the values that its inputs stand for, `name` that of its axis.
    """

    rules: Rules
    way: Transform
    level: int
    given: dict[Var, Term] = field(default_factory=dict)
    name: str | None = None
    builder: DerivedProgram = field(init=False)
    captured: dict[Term, Var] = field(default_factory=dict)
    found: dict[Var, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.builder = DerivedProgram(self.rules)

    def atom(self, value: Any) -> Atom:
        """A value as an operand: a variable of this program, or a literal."""
        if not isinstance(value, Term):
            return Literal(value, python_aval(value, False, self.rules))
        if value.home is self:
            assert value.var is not None
            return value.var
        if value not in self.captured:
            self.captured[value] = Var(value.aval)
            self.given[self.captured[value]] = value
        return self.captured[value]

    def maker(self, var: Var) -> Eqn | None:
        """The equation that a variable is a result of."""
        return next((e for e in self.builder.eqns if var in e.outputs), None)

    def knowledge(self, var: Var) -> str:
        """The knowledge of a variable: the least of all that it is made of."""
        levels, eqn = self.rules.levels, self.maker(var)
        known = levels.known_outside
        if eqn is not None:
            for atom in eqn.inputs:
                if isinstance(atom, Var):
                    known = levels.within(known, self.knowledge(atom))
        elif var in self.given:
            outer = self.given[var]
            if outer.home is not None and outer.var is not None:
                known = outer.home.knowledge(outer.var)
        return levels.within(known, self.way.knows)

    def value(self, var: Var) -> np.ndarray:
        """The elements of a variable that are known."""
        if var not in self.found:
            needed, eqns = {var}, []
            for eqn in reversed(self.builder.eqns):
                if not needed.isdisjoint(eqn.outputs):
                    eqns.append(eqn)
                    needed |= {a for a in eqn.inputs if isinstance(a, Var)}
            leaves = [v for v in self.given if v in needed]
            constants = self.builder.constants
            names = tuple(v for v, _ in constants)
            jaxpr = Jaxpr(names, tuple(leaves), tuple(reversed(eqns)), (var,))
            arrays = [self.given[v].concrete for v in leaves]
            consts = [c for _, c in constants]
            run = scalar_interpreter.run
            (self.found[var],) = run(jaxpr, consts, arrays, self.rules)
        return self.found[var]


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


class Recordings:
    """Functions of terms; raises Beyond where no rule speaks of one.

    `guess` gives results that rows know by relations alone.

    >>> from traceir.rules import default
    >>> functions = Recordings(default())
    >>> two = functions.term_of(np.float32(2))
    >>> functions.bind("mul", two, two).array
    array(4., dtype=float32)
    """

    def __init__(self, rules: Rules, guess: Guess | None = None) -> None:
        self.rules = rules
        self.guess = guess
        self.open: list[Recording] = []
        self.disabled = False
        self.evaluating = False
        self.devices = 1
        # The sizes of the axes that have names, and those of which types tell.
        self.sizes: dict[str, int] = {}
        self.checked: tuple[str, ...] = ()

    def term_of(self, array: Any, aval: ShapedArray | None = None) -> Term:
        """An array as a term, which is strongly typed unless a type is given."""
        array = np.asarray(array)
        aval = aval or ShapedArray(array.shape, array.dtype)
        # Nothing that is known varies (shard_map.vma).
        return Term(aval.update(vma=()), array, functions=self)

    def bind(self, primitive: str, /, *values: Any, **params: Any) -> Any:
        """A primitive applied, by the recording whose operation it is."""
        row = self.rules.prims.get(primitive)
        if row is None:
            raise Beyond(f"the function {primitive}")
        found = self.recorded(
            lambda builder, atoms: builder.apply(primitive, atoms, params),
            values,
            self.named_in(params),
        )
        return found[0] if row.single else tuple(found)

    def named_in(self, params: Params) -> int:
        """The level of the innermost recording whose axis params name, 0 for none."""
        axes = params.get("axes", params.get("axis_name", ()))
        names = axes if isinstance(axes, tuple) else (axes,)
        return max(
            (r.level for r in self.open if r.name and r.name in names), default=0
        )

    @contextmanager
    def named(
        self, name: str | None, size: int, checked: bool = False
    ) -> Iterator[None]:
        """Within this an axis has a name, and may be that of a mesh, and checked."""
        before = self.sizes, self.checked
        self.sizes = self.sizes if name is None else {**self.sizes, name: size}
        self.checked += (name,) if checked and name else ()
        try:
            yield
        finally:
            self.sizes, self.checked = before

    @contextmanager
    def evaluated(self) -> Iterator[None]:
        """Within this, what has no traced operand is evaluated."""
        self.evaluating, before = True, self.evaluating
        try:
            yield
        finally:
            self.evaluating = before

    def row(self, value: Any, k: int) -> Any:
        """One row of an array."""
        shape = value.aval.shape
        params = {
            "start_indices": (k, *(0 for _ in shape[1:])),
            "limit_indices": (k + 1, *shape[1:]),
            "strides": None,
        }
        part = self.bind("slice", value, **params)
        return self.bind("squeeze", part, dimensions=(0,))

    def arithmetic(self, primitive: str, *values: Any) -> Any:
        """An operator on values that meet in one dtype."""
        avals = [self.aval(v) for v in values]
        dtype, _ = promote(*avals, rules=self.rules)
        return self.bind(primitive, *(self.converted(v, dtype) for v in values))

    def converted(self, value: Any, dtype: Any) -> Any:
        """A value of a dtype; a number that has it stays one."""
        aval = self.aval(value)
        if aval.dtype == dtype:
            return value
        if not isinstance(value, Term):
            return dtype.type(value).item()
        params = {"new_dtype": dtype, "weak_type": aval.weak_type}
        return self.bind("convert_element_type", value, **params)

    def varied(self, value: Term, along: Iterable[Hashable]) -> Term:
        """A value whose type tells that it may vary along axes (shard_map.vma)."""
        missing = tuple(n for n in along if n not in value.aval.vma)
        return self.bind("pvary", value, axes=missing) if missing else value

    def as_term(self, value: Any) -> Term:
        """A value; a number as one of its weak type."""
        if isinstance(value, Term):
            return value
        if isinstance(value, np.ndarray):
            return self.term_of(value)
        aval = self.aval(value)
        return self.term_of(np.asarray(value, aval.dtype), aval)

    # Programs of functions ------------------------------------------------------------

    def aval(self, value: Any) -> ShapedArray:
        """The type of a value."""
        if isinstance(value, Term):
            return value.aval
        return python_aval(value, False, self.rules)

    def array(self, value: Any) -> np.ndarray:
        """The array of a value that is not recorded."""
        if not isinstance(value, Term):
            return np.asarray(value, self.aval(value).dtype)
        if value.home is not None:
            raise Beyond("an array that is not known")
        return value.concrete

    def handler(self, values: Sequence[Any], named: int = 0) -> Recording | None:
        """The recording whose an operation on values is; None where it is evaluated."""
        levels, homes = self.rules.levels, [v.home for v in values if type(v) is Term]
        for home in homes:
            if home is not None and not levels.is_open(home, tuple(self.open[::-1])):
                raise self.rules.error("level.lift")
        own = max((home.level for home in homes if home is not None), default=0)
        whole = max((r.level for r in self.open if r.way.handles == "all"), default=0)
        rule = levels.evaluating if self.evaluating else levels.handler
        number = rule(len(self.open), whole, own, named)
        return self.open[number - 1] if number else None

    @property
    def records(self) -> bool:
        """True within a recording of all operations."""
        return any(r.way.handles == "all" for r in self.open)

    def recorded(self, make: Make, values: Sequence[Any], named: int = 0) -> list[Term]:
        """The things made of values: in the recording that they are of, or at once."""
        recording = self.handler(values, named)
        if recording is not None:
            atoms = [recording.atom(v) for v in values]
            return [self.term(a, recording) for a in make(recording.builder, atoms)]
        builder = DerivedProgram(self.rules)
        inputs = [Var(self.aval(v)) for v in values]
        closed = builder.closed(inputs, make(builder, inputs))
        arrays = [self.array(v) for v in values]
        found = scalar_interpreter.run(
            closed, closed.consts, arrays, self.rules, self.guess
        )
        pairs = zip(closed.out_avals, found, strict=True)
        return [self.term_of(x, a) for a, x in pairs]

    def term(self, atom: Atom, recording: Recording) -> Term:
        """An atom of a recording as a value."""
        if isinstance(atom, Literal):
            return self.term_of(atom.array, atom.aval)
        return Term(atom.aval, None, atom, recording, self)

    def applied(self, closed: ClosedJaxpr, values: Sequence[Any]) -> list[Term]:
        """The results of a program."""
        named = self.named_within(closed)
        return self.recorded(lambda b, atoms: b.inlined(closed, atoms), values, named)

    def named_within(self, closed: ClosedJaxpr) -> int:
        """The level of the innermost recording whose axis a program names."""
        found = [self.named_in(dict(eqn.params)) for eqn in closed.eqns]
        found += [
            self.named_within(region)
            for eqn in closed.eqns
            for region in regions_of(eqn.params)
        ]
        return max(found, default=0)

    def trace(
        self,
        fun: Fun,
        avals: Sequence[ShapedArray],
        way: str = "jit",
        given: Sequence[Term] = (),
        name: str | None = None,
        kept: Sequence[Any] = (),
    ) -> FunctionProgram:
        """The program of a function for arguments of these types.

        `given` are the values that they stand for, if they are known. Those in `kept`
        that are not None are passed as they are.
        """
        levels = self.rules.levels
        recording = Recording(
            self.rules, levels.way(way), levels.level(len(self.open)), name=name
        )
        inputs = [Var(a) for a in avals]
        recording.given.update(zip(inputs, given))
        whole = [*kept] + [None] * (len(inputs) - len(kept))
        terms = [
            Term(v.aval, None, v, recording, self) if k is None else k
            for v, k in zip(inputs, whole, strict=True)
        ]
        self.open.append(recording)
        try:
            leaves, tree = flatten.flatten(fun(*terms))
            self.handler(leaves)
            outputs = [recording.atom(v) for v in leaves]
        finally:
            self.open.pop()
        captured = recording.captured
        closed = recording.builder.closed([*captured.values(), *inputs], outputs)
        return FunctionProgram(closed, list(captured), tree)
