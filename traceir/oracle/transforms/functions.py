"""Functions on values that record what is done to them; their transforms.

Serves: derive.*, batch.*
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from traceir.dtypes import kind_of
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Literal, Var
from traceir.ir.promotion import python_aval
from traceir.oracle import scalar_interpreter
from traceir.oracle.scalar_interpreter import Guess
from traceir.oracle.transforms.backward import transposed
from traceir.oracle.transforms.batches import batched, moved
from traceir.oracle.transforms.builder import Beyond, DerivedProgram
from traceir.oracle.transforms.forward import jvp_results, tangents
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

    def mask(self) -> list[bool]:
        """Of which inputs there are tangents: of the arguments."""
        return [False] * len(self.captured) + [True] * self.count


class TermFunctions:
    """Transforms of functions of terms; raises Beyond where no rule speaks of one.

    `guess` gives results that rows know by relations alone.

    >>> from traceir.rules import default
    >>> functions = TermFunctions(default())
    >>> two = functions.term_of(np.float32(2))
    >>> functions.grad(lambda x: functions.bind("mul", x, x))(two).array
    array(4., dtype=float32)
    """

    def __init__(self, rules: Rules, guess: Guess | None = None) -> None:
        self.rules = rules
        self.guess = guess
        self.open: list[Recording] = []

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

    # Transforms ----------------------------------------------------------------------

    def smooth(self, values: Sequence[Any]) -> list[ShapedArray]:
        """The types of what a function is differentiated by; all have tangents."""
        avals = [self.aval(v) for v in values]
        if any(kind_of(a.dtype) not in "fc" for a in avals):
            raise Beyond("tangents that hold nothing")
        return avals

    def of_types(self, rule: str, value: Any, traced: FunctionProgram) -> list[Any]:
        """The cotangents of results, which have their shapes and dtypes."""
        given = flatten.leaves(value)
        if len(given) != len(traced.closed.out_avals):
            raise Beyond("cotangents of another structure")
        pairs = zip(map(self.aval, given), traced.closed.out_avals)
        if any((a.shape, a.dtype) != (b.shape, b.dtype) for a, b in pairs):
            raise self.rules.error(rule)
        return given

    def jvp(self, fun: Fun, primals: Sequence[Any], moves: Sequence[Any]) -> Any:
        """The results and their tangents (derive.jvp)."""
        if not (isinstance(primals, tuple) and isinstance(moves, tuple)):
            raise Beyond("arguments that are no tuples")
        traced = self.trace(fun, self.smooth(primals))
        if [self.aval(t) for t in moves] != list(map(self.aval, primals)):
            raise Beyond("tangents of other types")
        count = len(traced.captured)
        self.smooth([Term(a) for a in traced.closed.out_avals])

        def make(builder: DerivedProgram, atoms: Sequence[Atom]) -> Sequence[Atom]:
            cut = count + len(primals)
            given = [None] * count + [*atoms[cut:]]
            outs, found = jvp_results(builder, traced.closed, atoms[:cut], given)
            zeros = [builder.zero_for(t, a.aval) for t, a in zip(found, outs)]
            return [*outs, *zeros]

        found = self.recorded(make, [*traced.captured, *primals, *moves])
        half = len(found) // 2
        return traced.tree.unflatten(found[:half]), traced.tree.unflatten(found[half:])

    def linearize(self, fun: Fun, *primals: Any) -> Any:
        """The results, and the function of tangents (derive.linearize)."""
        traced = self.trace(fun, self.smooth(primals))
        out = self.applied(traced.closed, [*traced.captured, *primals])
        linear = tangents(traced.closed, traced.mask(), self.rules)

        def call(*moves: Any) -> Any:
            found = self.applied(linear, [*traced.captured, *primals, *moves])
            return traced.tree.unflatten(found)

        self.smooth(out)
        return traced.tree.unflatten(out), call

    def vjp(self, fun: Fun, *primals: Any) -> Any:
        """The results, and the function of their cotangents (derive.transpose)."""
        traced = self.trace(fun, self.smooth(primals))
        out = self.applied(traced.closed, [*traced.captured, *primals])
        self.smooth(out)
        linear = tangents(traced.closed, traced.mask(), self.rules)
        mask = [False] * len(traced.closed.in_avals) + [True] * traced.count
        back = transposed(linear, mask, self.rules)

        def call(cotangent: Any) -> Any:
            given = self.of_types("vjp.cotangent", cotangent, traced)
            return tuple(self.applied(back, [*traced.captured, *primals, *given]))

        return traced.tree.unflatten(out), call

    def linear_transpose(self, fun: Fun, *primals: Any) -> Any:
        """The transpose of a function that is linear."""
        traced = self.trace(fun, self.smooth(primals))
        back = transposed(traced.closed, traced.mask(), self.rules)

        def call(cotangent: Any) -> Any:
            given = self.of_types("linear_transpose.cotangent", cotangent, traced)
            return tuple(self.applied(back, [*traced.captured, *given]))

        return call

    def grad(self, fun: Fun, argnums: Any = 0) -> Fun:
        """The cotangents at the cotangent 1."""
        both = self.value_and_grad(fun, argnums)
        return lambda *args: both(*args)[1]

    def value_and_grad(self, fun: Fun, argnums: Any = 0) -> Fun:
        """The result, and the cotangents at 1 of the arguments that are named."""

        def call(*args: Any) -> Any:
            numbers = argnums if isinstance(argnums, tuple) else (argnums,)
            if not all(type(n) is int and -len(args) <= n < len(args) for n in numbers):
                raise Beyond("numbers of no arguments")
            numbers = tuple(n % len(args) for n in numbers)
            if len(set(numbers)) < len(numbers):
                raise Beyond("a number twice")

            def of_these(*moving: Any) -> Any:
                given = dict(zip(numbers, moving, strict=True))
                return fun(*(given.get(k, a) for k, a in enumerate(args)))

            out, back = self.vjp(of_these, *(args[n] for n in numbers))
            if (
                not isinstance(out, Term)
                or out.aval.shape
                or kind_of(out.aval.dtype) != "f"
            ):
                raise Beyond("the gradient of what is no scalar")
            one = Term(out.aval, np.ones((), out.aval.dtype))
            found = back(one)
            return out, found if isinstance(argnums, tuple) else found[0]

        return call

    def vmap(self, fun: Fun, in_axes: Any = 0, out_axes: Any = 0) -> Fun:
        """The function of many examples."""
        if not isinstance(out_axes, int):
            raise Beyond("places of several results")

        def call(*args: Any) -> Any:
            axes = (
                in_axes if isinstance(in_axes, tuple | list) else (in_axes,) * len(args)
            )
            if not all(isinstance(a, Term) for a in args) or len(axes) != len(args):
                raise Beyond("arguments that are no arrays")
            ranks = [a.aval.ndim for a in args]
            if not all(d is None or -n <= d < n for d, n in zip(axes, ranks)):
                raise Beyond("places that no argument has")
            dims = [None if d is None else d % n for d, n in zip(axes, ranks)]
            sizes = {a.aval.shape[d] for a, d in zip(args, dims) if d is not None}
            if len(sizes) != 1:
                raise Beyond("no size of a batch")
            (size,) = sizes
            traced = self.trace(fun, [_example(a.aval, d) for a, d in zip(args, dims)])
            none = [None] * len(traced.captured)
            closed, differ = batched(traced.closed, [*none, *dims], size, self.rules)

            def make(builder: DerivedProgram, atoms: Sequence[Atom]) -> Sequence[Atom]:
                found = builder.inlined(closed, atoms)
                return [
                    _placed(builder, a, d, size, out_axes)
                    for a, d in zip(found, differ)
                ]

            found = self.recorded(make, [*traced.captured, *args])
            return traced.tree.unflatten(found)

        return call


def _example(aval: ShapedArray, dim: int | None) -> ShapedArray:
    if dim is None:
        return aval
    return aval.update(shape=(*aval.shape[:dim], *aval.shape[dim + 1 :]))


def _placed(
    builder: DerivedProgram, value: Atom, differs: bool, size: int, target: int
) -> Atom:
    """A result with its batched dimension where it is asked for."""
    rank = value.aval.ndim + (not differs)
    if not -rank <= target < rank:
        raise Beyond("a place that no result has")
    if not differs:
        value = builder.stretched(value, (size, *value.aval.shape))
    return moved(builder, value, 0, target % value.aval.ndim)
