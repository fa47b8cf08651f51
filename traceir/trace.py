"""Traces and tracers: which trace an operation belongs to. Serves: level.*"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from traceir import rules, source
from traceir.array import Array
from traceir.avals import ShapedArray
from traceir.concretize import refusal
from traceir.config import local as _local
from traceir.evaluate import evaluate_eqn
from traceir.ir import Atom, Eqn, Jaxpr, Literal, Params, Var, sort_params
from traceir.methods import Methods
from traceir.promote import python_aval
from traceir.typing import infer

Value = Any  # Array | Tracer | np.ndarray | np.generic | bool | int | float


class Tracer(Methods):
    """Stands for an array while a function is traced: a type without a value.

    Operators and methods are those of `Array`; they record equations.
    """

    __slots__ = ("aval", "_var", "_trace", "_source", "__weakref__")
    __array_priority__ = 200
    is_traced = True

    def __init__(self, var: Atom, trace: Trace, where: source.Source | None) -> None:
        self.aval = var.aval
        self._var = var
        self._trace = trace
        self._source = where

    def __repr__(self) -> str:
        level = f"DynamicJaxprTrace(level={self._trace.level}/0)"
        return f"Traced<{self.aval!r}>with<{level}>"

    def __bool__(self) -> bool:
        raise refusal(self, "level.concretize.bool")

    def __int__(self) -> int:
        raise refusal(self, "level.concretize.number", "int()")

    def __float__(self) -> float:
        raise refusal(self, "level.concretize.number", "float()")

    def __complex__(self) -> complex:
        raise refusal(self, "level.concretize.number", "complex()")

    def __index__(self) -> int:
        raise refusal(self, "level.concretize.index", "__index__()")

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise refusal(self, "level.concretize.array", "__array__()")

    def item(self, *args: int) -> Any:
        """Raises ConcretizationTypeError (level.concretize.item)."""
        raise refusal(self, "level.concretize.item", "item()")

    def tolist(self) -> Any:
        """Raises ConcretizationTypeError (level.concretize.item)."""
        raise refusal(self, "level.concretize.item", "tolist()")

    def __format__(self, spec: str) -> str:
        if not spec:
            return repr(self)
        raise refusal(self, "level.concretize.format", f"format {spec!r}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise refusal(self, "level.attribute", f"the {name!r} attribute")


class Trace:
    """One function being traced: its level, its equations, what it lifted."""

    __slots__ = (
        "level",
        "parent",
        "name",
        "transform",
        "face",
        "alive",
        "eqns",
        "inputs",
        "paths",
        "constants",
        "captures",
        "nested",
        "__weakref__",
    )

    def __init__(self, name: str, transform: str, face: str) -> None:
        self.parent = _local.trace
        self.level = self.parent.level + 1 if self.parent else 1
        self.name = name
        self.transform = transform
        self.face = face
        self.alive = True
        self.eqns: list[Eqn] = []
        self.inputs: dict[Var, str] = {}
        self.constants: dict[int, tuple[Var, np.ndarray, object]] = {}
        self.captures: dict[int, tuple[Var, Tracer]] = {}
        # Traces of nested functions that lifted tracers of this one; see jit.cache.
        self.nested: dict[object, Any] = {}

    def input(self, aval: ShapedArray, path: str) -> Tracer:
        """A tracer for one leaf of the arguments; `path` is how the user spells it."""
        var = Var(aval)
        self.inputs[var] = path
        return Tracer(var, self, None)

    def atom(self, value: Value) -> Atom:
        """The operand that stands for `value` in this trace: lifted where needed.

        Raises UnexpectedTracerError (level.lift) for a tracer that is not of this
        trace or of one around it.
        """
        if type(value) is Tracer:
            return value._var if value._trace is self else self.lift(value)
        if type(value) is Array or (isinstance(value, np.ndarray) and value.ndim):
            return self.constant(value)
        aval = typeof(value)
        number = value if type(value) is float else as_numpy(value, aval).item()
        return Literal(number, aval)

    def lift(self, tracer: Tracer) -> Atom:
        """A tracer of an outer trace becomes an operand of this one."""
        check_open(tracer, self.parent)
        if type(tracer._var) is Literal:
            return tracer._var
        found = self.captures.get(id(tracer))
        if found is None:
            found = self.captures[id(tracer)] = Var(tracer.aval), tracer
        return found[0]

    def constant(self, value: Array | np.ndarray) -> Var:
        """An array from outside becomes a constant of the program, once."""
        found = self.constants.get(id(value))
        if found is None:
            aval = typeof(value)
            # A NumPy array may change later; the program has it as it was traced.
            frozen = as_numpy(value, aval)
            frozen = frozen if type(value) is Array else np.array(frozen, order="C")
            found = self.constants[id(value)] = Var(aval), frozen, value
        return found[0]

    def record(
        self, primitive: str, values: Sequence[Value], params: Params
    ) -> list[Tracer]:
        """Append one equation; returns its results."""
        atoms = tuple(map(self.atom, values))
        avals = infer(primitive, tuple(a.aval for a in atoms), params)
        outputs = tuple(map(Var, avals))
        where = source.capture()
        self.eqns.append(Eqn(primitive, atoms, outputs, params, frozenset(), where))
        return [Tracer(v, self, where) for v in outputs]

    def close(self, outputs: Sequence[Value]) -> Jaxpr:
        """The finished program; captured tracers come first among its inputs."""
        outvars = tuple(map(self.atom, outputs))
        constvars = tuple(var for var, _, _ in self.constants.values())
        captured = tuple(var for var, _ in self.captures.values())
        inputs = captured + tuple(self.inputs)
        return Jaxpr(constvars, inputs, tuple(self.eqns), outvars, self.name)

    def depends_on(self, var: Atom) -> list[str]:
        """The inputs that a variable is computed from, as the user spells them."""
        makers = {v: e for e in self.eqns for v in e.outputs}
        seen: set[Atom] = set()
        todo: list[Atom] = [var]
        while todo:
            atom = todo.pop()
            if isinstance(atom, Var) and atom not in seen:
                seen.add(atom)
                todo += makers[atom].inputs if atom in makers else ()
        return [path for v, path in self.inputs.items() if v in seen]


def current_trace() -> Trace | None:
    """The innermost trace in force in this thread, or None outside every trace."""
    trace: Trace | None = _local.trace
    return trace


@contextmanager
def tracing(name: str, transform: str, face: str) -> Iterator[Trace]:
    """A trace that is in force inside the `with` and dead after it."""
    trace = Trace(name, transform, face)
    _local.trace = trace
    try:
        yield trace
    finally:
        _local.trace = trace.parent
        trace.alive = False


def check_open(tracer: Tracer, innermost: Trace | None) -> None:
    """Raise UnexpectedTracerError (level.lift) unless the tracer's trace is open."""
    home, trace = tracer._trace, innermost
    while trace is not None:
        if trace is home:
            return
        trace = trace.parent
    made = f", made at {tracer._source}" if tracer._source else ""
    raise rules.error(
        "level.lift",
        got=f"a value of type {tracer.aval.str_short()} of the trace of "
        f"{home.name} for {home.transform}{made}",
    )


def bind(primitive: str, *values: Value, **params: Any) -> Any:
    """Apply a primitive: recorded inside a trace, evaluated outside (level.bind).

    Values are arrays, tracers, NumPy arrays or Python scalars; the result is an
    Array or a Tracer, a tuple of them where the row's `out` is not one type.
    Raises the clause of the primitive's row that the operands violate.

    >>> import traceir
    >>> traceir.trace.bind("add", 1.0, 2.0)
    Array(3., dtype=float32, weak_type=True)
    """
    defaults, single = _call_form(primitive)
    full = sort_params({**defaults, **params})
    trace = _local.trace
    results = (evaluate if trace is None else trace.record)(primitive, values, full)
    return results[0] if single else tuple(results)


@functools.cache
def _call_form(primitive: str) -> tuple[dict[str, Any], bool]:
    """The params that need not be given, and whether there is always one result.

    An unknown primitive has neither; the typing refuses it.
    """
    row = rules.default().prims.get(primitive)
    return (row.defaults, row.single) if row else ({}, False)


def evaluate(primitive: str, values: Sequence[Value], params: Params) -> list[Array]:
    """Apply a primitive to concrete values by the NumPy kernels.

    Raises UnexpectedTracerError (level.lift) for a tracer, whose trace has ended.
    """
    for value in values:
        if type(value) is Tracer:
            check_open(value, None)
    avals = tuple(map(typeof, values))
    outs = infer(primitive, avals, params)
    arrays = [as_numpy(v, a) for v, a in zip(values, avals)]
    results = evaluate_eqn(primitive, params, arrays)
    return list(map(Array._wrap, results, outs))


def typeof(value: Value) -> ShapedArray:
    """The abstract value of an array, a tracer or a scalar.

    Raises TypeError (jit.argument) for anything else.

    >>> import numpy as np
    >>> typeof(np.zeros((2, 3), "float32"))
    ShapedArray(float32[2,3])
    >>> typeof(1.5)
    ShapedArray(float32[], weak_type=True)
    """
    aval = getattr(value, "aval", None)  # an Array, a Tracer, a ShapeDtypeStruct
    return aval if type(aval) is ShapedArray else python_aval(value)


def as_numpy(value: Value, aval: ShapedArray) -> np.ndarray:
    """A concrete value as an array of the abstract value's dtype."""
    if type(value) is Array:
        return value._value
    return np.asarray(value, aval.dtype)


def stage(
    call: Callable[[list[Tracer]], Sequence[Value]],
    avals: Sequence[ShapedArray],
    paths: Sequence[str],
    name: str,
    transform: str,
    face: str,
) -> tuple[Jaxpr, tuple[np.ndarray, ...], tuple[Tracer, ...]]:
    """Trace `call` on tracers of these types: its program, constants and captures."""
    with tracing(name, transform, face) as trace:
        tracers = [trace.input(a, p) for a, p in zip(avals, paths, strict=True)]
        jaxpr = trace.close(call(tracers))
    constants = tuple(array for _, array, _ in trace.constants.values())
    captured = tuple(tracer for _, tracer in trace.captures.values())
    return jaxpr, constants, captured
