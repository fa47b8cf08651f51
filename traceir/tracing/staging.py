"""The trace that records a function as a program. Serves: level.*"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import LIVING, Array
from traceir.base import source_info
from traceir.base.config import local as _local
from traceir.ir.avals import ShapedArray
from traceir.ir.dependence import behind, is_behind
from traceir.ir.effects import effects_of
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Params, Var
from traceir.ir.params import NONE
from traceir.ir.promotion import canonical_dtype
from traceir.ir.typecheck import infer
from traceir.ir.unroll_report import refuse_unrolled
from traceir.tracing.named_primitives import primitive_of
from traceir.tracing.trace import (
    OPENING,
    Trace,
    Tracer,
    Value,
    as_numpy,
    bind_all,
    current_trace,
    living,
    typeof,
)
from traceir.tracing.tracer_leaks import check_ended


class StagedTracer(Tracer):
    """A value of a program that is being recorded: a type without a value."""

    __slots__ = ("_var",)
    _trace: StagingTrace

    def __init__(
        self, var: Atom, trace: StagingTrace, where: source_info.Source | None
    ) -> None:
        self.aval = var.aval
        self._var = var
        self._trace = trace
        self._source = where

    def arguments(self) -> list[str]:
        """The inputs of the program that the value is computed from."""
        return [path for _, path in self._trace.depends_on(self._var)]

    def could_be_static(self) -> bool:
        """True if no input that it is computed from is an array with dimensions."""
        return not any(v.aval.shape for v, _ in self._trace.depends_on(self._var))

    def is_of_parts(self) -> bool:
        """True if it is computed by a function of parts."""
        return is_behind(self._trace.eqns, self._var, "shard_map")

    def demandable(self) -> frozenset[Var]:
        """The arguments to know for the value to be known: numbers of Python's alone,
        of plain functions; none if that would not tell it."""
        return self._trace.demands_of(self._var)


# The modules of faces that have tracers of their own, and their own way to call a
# function that is traced; imported when they are first needed.
FACES: dict[str, str] = {"numpy": "traceir.face"}


@functools.cache
def face_module(face: str) -> Any:
    """The module of a face, or None for the one that is all in this package."""
    return importlib.import_module(FACES[face]) if face in FACES else None


def tracer_of(face: str) -> type[StagedTracer]:
    """The class of the tracers in the traces of a face."""
    module = face_module(face)
    return StagedTracer if module is None else module.TRACER


def line() -> source_info.Source | None:
    """The line of an equation: that of the one it is made from, or the user's own."""
    local = _local
    return local.source or source_info.capture(2, local.staging_frame)


class StagingTrace(Trace):
    """One function being traced: its equations, and the values that it lifted."""

    __slots__ = (
        *("eqns", "inputs", "constants", "captures", "tracer", "demandable"),
        *("look_at", "checks", "status", "failures", "check_eqns", "draws"),
        *("room", "analysis", "refs"),
    )
    kind = "DynamicJaxprTrace"

    def __init__(self, name: str, transform: str, face: str | None = None) -> None:
        super().__init__(name, transform, face)
        self.tracer = tracer_of(self.face)
        self.eqns: list[Eqn] = []
        self.inputs: dict[Var, str] = {}
        self.constants: dict[int, tuple[Var, np.ndarray, object]] = {}
        self.captures: dict[int, tuple[Var, Tracer]] = {}
        # What a plain function may fail by when it runs: checks that have been noted,
        # what those before tell, what they raise, and their equations by identity.
        self.checks: list[Any] = []
        self.status: Any = None
        self.failures: list[Any] = []
        self.check_eqns: set[int] = set()
        # The order of a plain function's draws of random numbers, once it has any.
        self.draws: Any = None
        # The room of lists to which loops append without a bound, of a whole function.
        self.room: Any = None
        # What is known of its integers, once that has been asked for.
        self.analysis: Any = None
        # The states of references of traces around, by identity; None where functions
        # use no references.
        self.refs: dict[int, Any] | None = None
        # The inputs whose arguments may be known in another trace of the function.
        self.demandable: frozenset[Var] = frozenset()
        # The number of equations at which their lines are counted; 0 for never.
        self.look_at = 0

    def input(self, aval: ShapedArray, path: str) -> StagedTracer:
        """A tracer for one leaf of the arguments; `path` is how the user spells it."""
        var = Var(aval)
        self.inputs[var] = path
        return self.tracer(var, self, None)

    def atom(self, value: Value) -> Atom:
        """The operand that stands for `value` in this trace: lifted where needed.

        Raises UnexpectedTracerError (level.lift) for a tracer that is not of this
        trace or of one around it.
        """
        if isinstance(value, Tracer):
            return value._var if value._trace is self else self.lift(value)
        array = type(value) in LIVING or (isinstance(value, np.ndarray) and value.ndim)
        if not rules.default().levels.literals[bool(array)]:
            return self.constant(value)
        aval = typeof(value)
        number = value if type(value) is float else as_numpy(value, aval).item()
        return Literal(number, aval)

    def lift(self, tracer: Tracer) -> Atom:
        """A tracer of an outer trace becomes an operand of this one."""
        if tracer._trace not in self.opened:
            self.admit(tracer)
        literal = literal_of(tracer)
        if literal is not None:
            return literal
        found = self.captures.get(id(tracer))
        if found is None:
            found = self.captures[id(tracer)] = Var(tracer.aval), tracer
        return found[0]

    def array(self, value: Value, aval: ShapedArray) -> StagedTracer:
        """A concrete array as a constant, a number as a literal of the program."""
        if isinstance(value, np.ndarray):
            return self.tracer(self.constant(value), self, None)
        return self.tracer(Literal(value, aval), self, None)

    def constant(self, value: Array | np.ndarray) -> Var:
        """An array from outside becomes a constant of the program, once."""
        known = id(value if isinstance(value, np.ndarray) else value._value)
        found = self.constants.get(known)
        if found is None:
            aval = typeof(value)
            # A NumPy array may change later; the program has it as it was traced.
            frozen = as_numpy(value, aval)
            if type(value) not in LIVING:
                frozen = np.array(frozen, order="C")
            found = self.constants[known] = Var(aval), frozen, value
        return found[0]

    def bind(
        self, primitive: str, values: Sequence[Value], params: Params
    ) -> list[StagedTracer]:
        """Append one equation; returns its results."""
        atoms = tuple(map(self.atom, values))
        avals = infer(primitive, tuple(a.aval for a in atoms), params)
        outputs = tuple(map(Var, avals))
        where = line()
        effects = effects_of(primitive, params)
        named = primitive_of(primitive)
        own = named.params_type(params) if params else NONE
        names = _local.name_stack
        self.eqns.append(Eqn(named, atoms, outputs, own, effects, where, names))
        if len(self.eqns) == self.look_at:
            so_far = Jaxpr((), (), tuple(self.eqns), (), self.name)
            self.look_at = refuse_unrolled(so_far)
        tracer = self.tracer
        return [tracer(v, self, where) for v in outputs]

    def close(self, outputs: Sequence[Value]) -> Jaxpr:
        """The finished program; captured tracers come first among its inputs, then the
        arrays of references."""
        outvars = tuple(map(self.atom, outputs))
        constvars = tuple(var for var, _, _ in self.constants.values())
        captured = tuple(var for var, _ in self.captures.values())
        states = tuple(state.var for state in (self.refs or {}).values())
        inputs = captured + states + tuple(self.inputs)
        return Jaxpr(constvars, inputs, tuple(self.eqns), outvars, self.name)

    def known_range(self, var: Var) -> tuple[int, int] | None:
        """The least and the greatest number of a constant, or of an input."""
        for one, array, _ in self.constants.values():
            if one is var:
                return (int(array.min()), int(array.max())) if array.size else None
        return None

    def depends_on(self, var: Atom) -> list[tuple[Var, str]]:
        """The inputs that a variable is computed from, and how the user spells them."""
        found = behind(self.eqns, var)
        return [(v, path) for v, path in self.inputs.items() if v in found]

    @property
    def is_open(self) -> bool:
        """True if the trace is in force in this thread, or around the one that is."""
        trace = current_trace()
        while trace is not None and trace is not self:
            trace = trace.parent
        return trace is self

    def demands_of(self, var: Atom) -> frozenset[Var]:
        """The arguments that a variable is computed from, of this function and of those
        around it, if all of them are demandable and nothing else decides it."""
        if not self.is_open:
            return frozenset()
        found = behind(self.eqns, var)
        if any(e.effects and not found.isdisjoint(e.outputs) for e in self.eqns):
            return frozenset()
        wanted = [frozenset((v,)) & self.demandable for v in self.inputs if v in found]
        wanted += [t.demandable() for v, t in self.captures.values() if v in found]
        return frozenset().union(*wanted) if all(wanted) else frozenset()


def constants_of(closed: ClosedJaxpr) -> list[Value]:
    """The constants of a program as read-only arrays; traced ones as they are."""
    consts: Sequence[Any] = closed.consts  # of a program by `make_jaxpr`
    pairs = zip(closed.jaxpr.constvars, consts, strict=True)
    return [
        c if isinstance(c, Tracer) else Array._wrap(np.asarray(c, v.aval.dtype), v.aval)
        for v, c in pairs
    ]


def concrete(literal: Literal) -> Array:
    """The array of a literal's type and value."""
    return Array._wrap(np.array(literal.array), literal.aval)


def array_of(literal: Literal) -> Value:
    """A literal as an array of the trace in force; of one that records, itself."""
    trace = current_trace()
    while trace is not None and not isinstance(trace, StagingTrace):
        trace = trace.parent
    return trace.tracer(literal, trace, None) if trace else concrete(literal)


def literal_of(value: Value) -> Literal | None:
    """The literal that a traced value is; None for one that is computed or given."""
    var = value._var if isinstance(value, StagedTracer) else None
    return var if isinstance(var, Literal) else None


def apply(closed: ClosedJaxpr, values: Sequence[Value]) -> list[Value]:
    """Apply a program's equations to values, in the trace in force.

    Each equation stands at the line of the one that it comes from, and in its names.
    """
    jaxpr = closed.jaxpr
    known: dict[Atom, Value]
    known = dict(zip(jaxpr.constvars, constants_of(closed), strict=True))
    known.update(zip(jaxpr.invars, values, strict=True))
    x64 = _local.context.x64

    def read(atom: Atom) -> Value:
        """The value of a variable or a literal."""
        if not isinstance(atom, Literal):
            return known[atom]
        dtype = atom.aval.dtype
        if not x64 and canonical_dtype(dtype, x64) != dtype:
            return concrete(atom)  # as a number it would be one of 32 bits
        if not (atom.aval.weak_type or dtype.kind == "b"):
            return atom.array[()]
        # A Python number is weak, but of the default dtype of its kind alone.
        value = atom.value
        number = value if type(value) is float else atom.array.item()
        return number if typeof(number) is atom.aval else concrete(atom)

    def as_array(atom: Atom) -> Value:
        """The value, as whoever wrote a rule is given it: no number."""
        return array_of(atom) if isinstance(atom, Literal) else known[atom]

    outer, names = _local.source, _local.name_stack
    try:
        for eqn in jaxpr.eqns:
            _local.source = outer or eqn.source
            _local.name_stack = names + eqn.name_stack
            given = as_array if eqn.primitive in OPENING else read
            operands = list(map(given, eqn.inputs))
            known.update(
                zip(eqn.outputs, bind_all(eqn.primitive, operands, eqn.params))
            )
    finally:
        _local.source, _local.name_stack = outer, names
    return list(map(read, jaxpr.outvars))


@contextmanager
def tracing(
    name: str, transform: str, face: str | None, frame: FrameType
) -> Iterator[StagingTrace]:
    """A recording trace that is in force inside the `with` and dead after it.

    Its equations stand at lines below that frame, or at none, and in names that are
    opened inside: a program may be kept for other callers. `ir.jaxpr.located` gives
    them the lines of those.
    """
    trace = StagingTrace(name, transform, face)
    outer = _local.source, _local.staging_frame, _local.name_stack
    _local.source, _local.staging_frame, _local.name_stack = None, frame, ()
    try:
        with living(trace):
            yield trace
    finally:
        _local.source, _local.staging_frame, _local.name_stack = outer


def stage(
    call: Callable[[list[StagedTracer]], Sequence[Value]],
    avals: Sequence[ShapedArray],
    paths: Sequence[str],
    name: str,
    transform: str,
    face: str,
    axes: Mapping[Hashable, Any] | None = None,
    users: bool = False,
) -> tuple[Jaxpr, tuple[np.ndarray, ...], tuple[Tracer, ...]]:
    """Trace `call` on tracers of these types: its program, constants and captures.

    `axes` are the named axes that it may use, by default those of the trace around it.
    Of a function that is the `users` it is looked at whether it holds a value.
    """
    with tracing(name, transform, face, sys._getframe()) as trace:
        trace.axes = trace.axes if axes is None else axes
        tracers = [trace.input(a, p) for a, p in zip(avals, paths, strict=True)]
        jaxpr = trace.close(call(tracers))
    del tracers
    if users:
        check_ended(trace)
    constants = tuple(array for _, array, _ in trace.constants.values())
    captured = tuple(tracer for _, tracer in trace.captures.values())
    return jaxpr, constants, captured
