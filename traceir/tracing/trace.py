"""Traces and tracers: which trace an operation belongs to. Serves: level.*

A trace handles the operations that are applied while it is in force: `recording` has
the one that writes a program, `transforms` those that differentiate and batch.

`bind` gives an operation to the trace in force. Outside every trace an operation *is*
its evaluation: `bind` calls the NumPy kernels directly, without a hook.

Whose an operation is, what is known of a value and which level it shows is computed
from the rows of `levels.toml`, by the look-ups that `rules.levels` makes of them. A
transform handles an operation by binding others with its *parent* in force. That is all
there is to composition: no transform knows of another.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.arrays.array_interface import Methods
from traceir.arrays.asks import install
from traceir.base import source_info
from traceir.base.config import local as _local
from traceir.base.config import put_in_force
from traceir.base.tracebacks import entry_points
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Params, Var, sort_params
from traceir.rules.formulas.table_errors import problem
from traceir.tracing.concretization import demanded, misspelled, refusal, refused
from traceir.tracing.evaluation import EAGER as EAGER
from traceir.tracing.evaluation import Value as Value
from traceir.tracing.evaluation import as_numpy as as_numpy
from traceir.tracing.evaluation import evaluated
from traceir.tracing.evaluation import typeof as typeof
from traceir.tracing.knowledge import CHECKED, looking
from traceir.tracing.varying import varied_alike


class Unplanned(Exception):
    """A function does what is no operation on arrays; nobody sees this raised."""


@entry_points(
    *("__hash__", "__bool__", "__int__", "__float__"),
    *("__complex__", "__index__", "__array__"),
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

    def __init__(self, trace: Trace, aval: ShapedArray) -> None:
        self._trace, self.aval, self._source = trace, aval, None

    def __repr__(self) -> str:
        level = f"{self._trace.kind}(level={self._trace.level}/0)"
        return f"Traced<{self.aval!r}>with<{level}>"

    @property
    def knowledge(self) -> str:
        """Knowledge of the value: a step of `levels.toml`."""
        return self._trace.knows

    def answer(self) -> Value:
        """The value, which is asked for where the rows let it be known."""
        where = f"levels.toml: {self._trace.transform} knows {self.knowledge}"
        raise problem("table.answer", where, "a recorded value has no elements")

    def known(self, row: str, what: str = "") -> Value:
        """The value, as far as the rows let it be known; else the row's error."""
        if self.knows(row):
            return self.answer()
        raise refusal(self, row, what)

    def knows(self, row: str) -> bool:
        """True if `known` gives a value; without the price of its error."""
        return row in rules.default().levels.answered[self.knowledge]

    def now(self) -> Tracer:
        """The tracer of the value that it has now, whatever is written to it later."""
        return self

    def arguments(self) -> list[str]:
        """The arguments that the value is computed from, as the user spells them."""
        return []

    def could_be_static(self) -> bool:
        """True if none of those arguments is an array, which has no hash."""
        return True

    def is_of_parts(self) -> bool:
        """True if it is known that the devices of a mesh have parts of it."""
        return False

    def demandable(self) -> frozenset[Var]:
        """The inputs to know for the value to be known; none if that can't be."""
        return frozenset()

    def __hash__(self) -> int:
        if self.knows("level.hash"):
            return id(self)
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
        # NumPy goes on without the trace.
        return np.asarray(self.known("level.concretize.array", "__array__()"), dtype)

    def item(self, *args: int) -> Any:
        """The element as a Python number, where it is known (level.concretize.item)."""
        return self.known("level.concretize.item", "item()").item(*args)

    def tolist(self) -> Any:
        """The elements as Python numbers, where known (level.concretize.item)."""
        return self.known("level.concretize.item", "tolist()").tolist()

    def __format__(self, spec: str) -> str:
        if not spec:
            return repr(self)
        known = self.known("level.concretize.format", f"format {spec!r}")
        return format(known.item() if known.ndim == 0 else known, spec)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.knows("level.attribute"):
            return getattr(self.answer(), name)
        error = refused(self, "level.attribute", f"the {name!r} attribute")
        raise misspelled(error, name, dir(type(self)))


# Asked of each operand: looked at only by tables in which it has no answer.
_CHEAP = ("level.shape", "level.length", "level.iterate", "level.print")


@rules.compiled_from_rows
def _ask_by_rows(found: rules.Rules) -> None:
    answered = frozenset.intersection(*found.levels.answered.values())
    asks = {ask: ask not in answered for ask in _CHEAP}
    install(Tracer, asks, looking)


class Trace:
    """A handler of operations while it is in force: its level and where it belongs.

    `parent` is the trace around it, `name` the function's and `transform` the row of
    the way in which it is run. `place` is its number among the traces in force when it
    begins, `whole` that of the innermost that handles all operations there; `sole` if
    it handles whatever is applied. `knows` is what is known of its values. `opened` has
    the traces around it whose values it uses, `nested` those of inner functions that
    lifted its tracers (see `jit.cache`), `axes` the names of axes, and their sizes.
    """

    __slots__ = (
        *("level", "place", "whole", "sole", "decide", "knows", "opened"),
        *("parent", "name", "transform", "face", "alive", "nested", "axes"),
        "__weakref__",
    )
    kind = "Trace"
    # Whether functions do in it what they do outside every trace: composites are no
    # equations of their own, and whoever would warn raises `Unplanned`.
    plain = False
    # Whether a jitted function is called as it is in it.
    inlines = False
    # Whether it may write to arrays of the trace around it: a region of that.
    writes_outside = False

    def __init__(self, name: str, transform: str, face: str | None = None) -> None:
        parent: Trace | None = _local.trace
        levels = rules.default().levels
        row = levels.way(transform)
        self.parent = parent
        self.level: int = levels.level(parent.level if parent else 0)
        self.place: int = parent.place + 1 if parent else 1
        self.whole: int = parent.whole if parent else 0
        if row.handles == "all":
            self.whole = self.place
        self.decide = levels.handler
        self.sole = levels.decided(self.place, self.whole) == self.place
        self.knows = levels.composed[levels.known_outside, row.knows]
        self.opened: set[Trace] = set()
        self.name = name
        self.transform = transform
        self.face = _local.context.face if face is None else face
        self.alive = True
        self.nested: dict[object, Any] = {}
        self.axes: Mapping[Hashable, Any] = parent.axes if parent else {}

    @property
    def main(self) -> Trace:
        """The trace itself, which one attribute of a tracer's trace tells by."""
        return self

    def bind(
        self, primitive: str, values: Sequence[Value], params: Params
    ) -> Sequence[Value]:
        """Apply a primitive in this trace; returns its results."""
        raise NotImplementedError

    def handler(
        self, primitive: str, values: Sequence[Value], params: Params
    ) -> Trace | None:
        """The trace that handles an operation here, None for none (level.bind)."""
        own = named = 0
        for value in values:
            if isinstance(value, Tracer):
                home = value._trace
                if home is not self and home not in self.opened:
                    self.admit(value)
                own = max(own, home.place)
        if self.axes:
            asked = (t.place for t in around(self) if t.is_asked(primitive, params))
            named = next(asked, 0)
        number = self.decide(self.place, self.whole, own, named)
        trace: Trace | None = self
        while trace is not None and trace.place > number:
            trace = trace.parent
        return trace

    def admit(self, tracer: Tracer) -> None:
        """Note that values of a tracer's trace may be used in this one (level.lift)."""
        check_open(tracer, self)
        self.opened.add(tracer._trace)

    def is_asked(self, primitive: str, params: Params) -> bool:
        """True if an operation names the axis of this trace."""
        return False

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


def around(innermost: Trace | None) -> Iterator[Trace]:
    """The traces in force, from the innermost outwards."""
    while innermost is not None:
        yield innermost
        innermost = innermost.parent


def check_open(tracer: Tracer, innermost: Trace | None) -> None:
    """Raise UnexpectedTracerError (level.lift) unless the tracer's trace is open."""
    home = tracer._trace
    seen = innermost is not None and home in (innermost, *innermost.opened)
    if seen or rules.default().levels.is_open(home, (*around(innermost),)):
        return
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
    trace: Trace | None = _local.trace
    if trace is None:
        return evaluate(primitive, values, params)
    if len(values) > 1 and trace.axes and CHECKED in trace.axes:
        values = varied_alike(primitive, values, bind_all)
    handler = trace if trace.sole else trace.handler(primitive, values, params)
    if handler is trace:
        return trace.bind(primitive, values, params)
    with in_force(handler):
        return bind_all(primitive, values, params)


@functools.cache
def call_form(primitive: str) -> tuple[dict[str, Any], bool]:
    """The params that need not be given, and whether there is always one result.

    An unknown primitive has neither; the typing refuses it.
    """
    row = rules.default().prims.get(primitive)
    return (row.defaults, row.single) if row else ({}, False)


def evaluate(primitive: str, values: Sequence[Value], params: Params) -> list[Array]:
    """Apply a primitive to concrete values.

    Raises UnexpectedTracerError (level.lift) for a tracer, whose trace has ended.
    """
    for value in values:
        if isinstance(value, Tracer):
            check_open(value, None)
    return evaluated(primitive, values, params)
