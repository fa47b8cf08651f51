"""Traces and tracers: which trace an operation belongs to. Serves: level.*

A trace handles the operations that are applied while it is in force: `recording` has
the one that writes a program, `transforms` those that differentiate and batch. Each
handles an operation by applying others in the trace around it.

`bind` gives an operation to the trace in force. Outside every trace an operation *is*
its evaluation: `bind` calls the NumPy kernels directly, without a hook. So the
interpreter stands below this package.

Transforms look for operands that are their own tracers and handle an operation by
binding others with their *parent* in force. That is all there is to composition: no
transform knows of another.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import Array, Far
from traceir.arrays.array_interface import Methods
from traceir.base import source_info
from traceir.base.config import local as _local
from traceir.base.config import put_in_force
from traceir.base.tracebacks import entry_points
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Params, Var, sort_params
from traceir.ir.promotion import python_aval
from traceir.ir.typecheck import infer
from traceir.reference.interpreter import evaluate_eqn
from traceir.sanitize.nan_checks import check_results, watched
from traceir.sanitize.taint import look
from traceir.tracing.concretization import demanded, misspelled, refusal, refused

Value = Any  # Array | Tracer | np.ndarray | np.generic | bool | int | float


class Unplanned(Exception):
    """A function does what is no operation on arrays; nobody sees this raised."""


@entry_points(
    *(
        "__hash__",
        "__bool__",
        "__int__",
        "__float__",
        "__complex__",
        "__index__",
        "__array__",
    ),
)
class Tracer(Methods):
    """Stands for an array while a function is traced or transformed.

    Operators and methods are those of `Array`; the trace handles them. Python's
    questions to the value go to `known`.
    """

    __slots__ = ("aval", "_trace", "_source", "__weakref__")
    __array_priority__ = 200
    is_traced = True
    aval: ShapedArray
    _trace: Trace
    _source: source_info.Source | None

    def __repr__(self) -> str:
        level = f"{self._trace.kind}(level={self._trace.level}/0)"
        return f"Traced<{self.aval!r}>with<{level}>"

    def known(self, row: str, what: str = "") -> Value:
        """The value, as far as the trace lets it be known; else the row's error."""
        raise refusal(self, row, what)

    def knows(self, row: str) -> bool:
        """True if `known` gives a value; without the price of its error."""
        return False

    def now(self) -> Tracer:
        """The tracer of the value that it has now, whatever is written to it later."""
        return self

    def arguments(self) -> list[str]:
        """The arguments that the value is computed from, as the user spells them."""
        return []

    def could_be_static(self) -> bool:
        """True if none of those arguments is an array, which has no hash."""
        return True

    def demandable(self) -> frozenset[Var]:
        """The inputs to know for the value to be known; none if that can't be."""
        return frozenset()

    def __hash__(self) -> int:
        error = rules.error("level.hash", got=self.aval.str_short())
        raise demanded(error, self)

    def __bool__(self) -> bool:
        if self.aval.size != 1:
            raise rules.error("array.truth", got=self.aval.str_short())
        return bool(self.known("level.concretize.bool"))

    def __int__(self) -> int:
        return int(self._number("int()"))

    def __float__(self) -> float:
        return float(self._number("float()"))

    def __complex__(self) -> complex:
        return complex(self._number("complex()"))

    def _number(self, what: str) -> Any:
        if self.aval.shape:
            raise rules.error("array.scalar", got=f"{what} of {self.aval.str_short()}")
        return self.known("level.concretize.number", what)

    def __index__(self) -> int:
        if self.aval.shape:
            raise rules.error("array.index", got=self.aval.str_short())
        index: int = self.known("level.concretize.index", "__index__()").__index__()
        return index

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        # NumPy would go on without the trace: no trace lets it.
        raise refusal(self, "level.concretize.array", "__array__()")

    def item(self, *args: int) -> Any:
        """The element as a Python number; ConcretizationTypeError where it is not
        known (level.concretize.item)."""
        return self.known("level.concretize.item", "item()").item(*args)

    def tolist(self) -> Any:
        """The elements as Python numbers; ConcretizationTypeError where they are not
        known (level.concretize.item)."""
        return self.known("level.concretize.item", "tolist()").tolist()

    def __format__(self, spec: str) -> str:
        if not spec:
            return repr(self)
        known = self.known("level.concretize.format", f"format {spec!r}")
        return format(known.item() if known.ndim == 0 else known, spec)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        error = refused(self, "level.attribute", f"the {name!r} attribute")
        raise misspelled(error, name, dir(type(self)))


class Trace:
    """A handler of operations while it is in force: its level and where it belongs.

    `parent` is the trace around it, `name` the function's and `transform` what is done
    to the function; both are for errors. `nested` keeps the traces of inner functions
    that lifted tracers of this one (see `jit.cache`). `axes` are the names that stand
    for an axis in it, and their sizes.
    """

    __slots__ = (
        "level",
        "parent",
        "name",
        "transform",
        "face",
        "alive",
        "nested",
        "axes",
        "__weakref__",
    )
    kind = "Trace"
    # Whether functions do in it what they do outside every trace: composites are no
    # equations of their own, and whoever would warn raises `Unplanned`.
    plain = False
    # Whether it may write to arrays of the trace around it: a region of that.
    writes_outside = False

    def __init__(self, name: str, transform: str, face: str | None = None) -> None:
        self.parent: Trace | None = _local.trace
        self.level: int = self.parent.level + 1 if self.parent else 1
        self.name = name
        self.transform = transform
        self.face = _local.context.face if face is None else face
        self.alive = True
        self.nested: dict[object, Any] = {}
        self.axes: Mapping[Hashable, int] = self.parent.axes if self.parent else {}

    def bind(
        self, primitive: str, values: Sequence[Value], params: Params
    ) -> Sequence[Value]:
        """Apply a primitive in this trace; returns its results."""
        raise NotImplementedError

    def takes_functions(self, values: Sequence[Value]) -> bool:
        """True if it handles a function with derivative rules that is called on these
        values as it is, not by its program: calls its rule, or passes it on.
        """
        return False

    def claim(self, array: Any) -> None:
        """Take over an array of the trace around it, to write to it."""
        raise NotImplementedError

    def array(self, value: Value, aval: ShapedArray) -> Value:
        """A concrete array or number as an array of this trace: of the one around it,
        unless the trace records."""
        if self.parent is None:
            return Array._wrap(np.array(value, aval.dtype, order="C"), aval)
        return self.parent.array(value, aval)


def current_trace() -> Trace | None:
    """The innermost trace in force in this thread, or None outside every trace."""
    trace: Trace | None = _local.trace
    return trace


@contextmanager
def in_force(trace: Trace | None) -> Iterator[None]:
    """Inside the `with`, this trace handles operations; None evaluates them."""
    outer = put_in_force(trace)
    try:
        yield
    finally:
        put_in_force(outer)


@contextmanager
def living(trace: Trace) -> Iterator[None]:
    """A new trace is in force inside the `with`, and dead after it."""
    try:
        with in_force(trace):
            yield
    finally:
        trace.alive = False
        trace.nested.clear()  # a value that is still held must not keep it


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
    >>> traceir.tracing.trace.bind("add", 1.0, 2.0)
    Array(3., dtype=float32, weak_type=True)
    """
    defaults, single = call_form(primitive)
    full = sort_params({**defaults, **params})
    results = bind_all(primitive, values, full)
    return results[0] if single else tuple(results)


# `bind` of a primitive that has one result.
bind_one: Callable[..., Array] = bind

# Primitives whose program may still be a Python function: what applies them.
OPENING: dict[str, Callable[[Sequence[Value], Params], Sequence[Value]]] = {}


def bind_all(
    primitive: str, values: Sequence[Value], params: Params
) -> Sequence[Value]:
    """`bind` with params as an equation has them; always a sequence of results."""
    if primitive in OPENING:
        return OPENING[primitive](values, params)
    return handle(primitive, values, params)


def handle(primitive: str, values: Sequence[Value], params: Params) -> Sequence[Value]:
    """Apply a primitive, its programs made, in the trace in force."""
    trace = _local.trace
    return (evaluate if trace is None else trace.bind)(primitive, values, params)


@functools.cache
def call_form(primitive: str) -> tuple[dict[str, Any], bool]:
    """The params that need not be given, and whether there is always one result.

    An unknown primitive has neither; the typing refuses it.
    """
    row = rules.default().prims.get(primitive)
    return (row.defaults, row.single) if row else ({}, False)


# How a primitive with programs in its params is evaluated outside every trace, where
# that is not by its NumPy kernel: from its params to a function of arrays.
EAGER: dict[str, Callable[[Params], Callable[..., Sequence[np.ndarray]]]] = {}


def evaluate(primitive: str, values: Sequence[Value], params: Params) -> list[Array]:
    """Apply a primitive to concrete values: by `EAGER`, else by the NumPy kernels.

    Raises UnexpectedTracerError (level.lift) for a tracer, whose trace has ended.
    """
    for value in values:
        if isinstance(value, Tracer):
            check_open(value, None)
    avals = tuple(map(typeof, values))
    outs = infer(primitive, avals, params)
    arrays = [as_numpy(v, a) for v, a in zip(values, avals)]
    if _local.context.sanitize:
        results: Sequence[np.ndarray] = look(primitive, params, arrays)
    elif primitive in EAGER:
        results = EAGER[primitive](params)(*arrays)
    else:
        results = evaluate_eqn(primitive, params, arrays)
    if watched(_local.context):
        check_results(primitive, params, arrays, results, _local.context)
        if _local.context.debug_key_reuse:
            from traceir.sanitize.key_reuse import (
                check_keys,  # not on the way of an import
            )

            check_keys(primitive, params, arrays, results)
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
    if type(value) is Array or type(value) is Far:
        return value._value
    return np.asarray(value, aval.dtype)
