"""`NumpyTracer`: an array of a traced NumPy function, which can be written to.

Serves: face.box, face.view, update.outer

A root has its value: an array that is known while tracing, or the variable of a
program. A view has its base and the step from there; it reads the base's value, and
what is written to it is written to the base.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import rules, source
from traceir.avals import ShapedArray
from traceir.face.views import Step
from traceir.ir import Atom, Literal
from traceir.recording import StagedTracer, StagingTrace
from traceir.trace import Trace, Tracer, bind, current_trace, in_force


class NumpyTracer(StagedTracer):
    """An array in the trace of a function that is written with NumPy.

    `number` tells a NumPy scalar from an array without dimensions: nothing can be
    written to a scalar. `strides` are those of an array that is not C-contiguous,
    counted in elements.
    """

    __slots__ = (
        *("_atom", "_known", "_base", "_step", "_seen", "version"),
        *("number", "strides"),
    )
    _atom: Atom | None

    def __init__(
        self, var: Atom, trace: StagingTrace, where: source.Source | None
    ) -> None:
        self._known: np.ndarray | None = None
        self._base: NumpyTracer | None = None
        self._step: Step | None = None
        self._seen = self.version = 0
        self.number = not var.aval.shape
        self.strides: tuple[int, ...] | None = None
        super().__init__(var, trace, where)

    # Reading ----------------------------------------------------------------------

    @property
    def root(self) -> NumpyTracer:
        """The array that has the memory: the last of the bases."""
        found = self
        while found._base is not None:
            found = found._base
        return found

    @property
    def concrete(self) -> np.ndarray | None:
        """The elements, if they are known while tracing: the memory itself."""
        return self._known if self.root._known is not None else None

    @property
    def _var(self) -> Atom:
        root = self.root
        if self._atom is None or self._seen != root.version:
            self._atom = self._current(root)
            self._seen = root.version
        return self._atom

    @_var.setter
    def _var(self, atom: Atom) -> None:
        self._atom = atom

    def _current(self, root: NumpyTracer) -> Atom:
        """The variable of the value that the array has now."""
        with in_force(self._trace):
            if root._known is not None and self._known is not None:
                return self._trace.atom(_constant(self._known, self.aval))
            if self._base is None or self._step is None:
                assert self._atom is not None
                return self._atom
            return self._trace.atom(self._step.read(self._base.now()))

    def now(self) -> NumpyTracer:
        """An array of its own with the same elements, to which nobody writes."""
        made = NumpyTracer(self._var, self._trace, self._source)
        made.number = self.number
        return made

    def known(self, row: str, what: str = "") -> Any:
        """The elements, if they are known; else the row's error."""
        value = self.concrete
        return super().known(row, what) if value is None else value

    def knows(self, row: str) -> bool:
        """Whether the elements are known."""
        return self.concrete is not None

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        value = self.concrete
        return super().__array__(dtype) if value is None else np.array(value, dtype)

    # Writing ----------------------------------------------------------------------

    def check_home(self) -> None:
        """Raise UnexpectedTracerError (update.outer) inside an inner function."""
        if current_trace() is not self._trace:
            trace = current_trace()
            inner = f"the trace of {trace.name}" if trace else "no trace"
            got = f"an array of {self._trace.name}, {self.aval.str_short()}, in {inner}"
            raise rules.error("update.outer", got=got)

    def touch(self) -> None:
        """The elements in memory have changed: what was read of them is old."""
        self.root.version += 1

    def replace(self, value: Tracer) -> None:
        """Make a value of the same type the array's, and write it to the bases."""
        self.check_home()
        if self._base is None or self._step is None:
            self._known = None
            self._atom = self._trace.atom(value)
            self._seen = self.version = self.version + 1
            return
        self._base.replace(self._step.write(self._base.now(), value))
        self._atom, self._seen = self._trace.atom(value), self.root.version

    def store(self, value: Any) -> None:
        """Make a value of the same shape and dtype all of the array's elements.

        Raises TypeError (update.scalar) for a NumPy scalar.
        """
        if self.number:
            raise rules.error("update.scalar", got=self.aval.str_short())
        self.replace(traced(value))

    # Making -----------------------------------------------------------------------

    def through(self, step: Step) -> NumpyTracer:
        """The array that a step leads to; what is written to it is written here."""
        value = self.concrete
        if value is not None:
            made: NumpyTracer = known(step.of(value), self._trace)
        else:
            made = traced(step.read(self.now()))
            made.strides = step.strides(self)
        made._base, made._step = self, step
        made._seen = self.root.version
        made.number = False
        return made


def traced(value: Any, number: bool | None = None) -> Any:
    """A value of the trace in force as an array that has its own elements.

    `number` says whether it is a NumPy scalar. What a transform inside that trace makes
    stays its own: nothing is written to it.
    """
    trace = current_trace()
    if isinstance(value, NumpyTracer):
        made = value.now()
    elif isinstance(trace, StagingTrace):
        made = NumpyTracer(trace.atom(value), trace, source.capture())
    else:
        return value
    if number is not None:
        made.number = number
    return made


def known(value: np.ndarray, trace: Trace | None = None) -> Any:
    """An array whose elements are known while tracing: `value` is its memory.

    To a transform inside the trace it is a NumPy array.
    """
    home = current_trace() if trace is None else trace
    if not isinstance(home, StagingTrace):
        return value
    aval = ShapedArray(value.shape, value.dtype)
    # Nobody asks for this variable: one with the elements is made when it is needed.
    nothing = Literal(value.dtype.type(0), aval)
    made = NumpyTracer(nothing, home, source.capture())
    made._atom = None
    made._known = value
    made.number = False
    return made


def _constant(value: np.ndarray, aval: ShapedArray) -> Any:
    """A known array as an operand: one number, spread, where all elements are equal."""
    if not value.ndim:
        return value[()]
    first = value[(0,) * value.ndim] if value.size else value.dtype.type(0)
    if value.size and value.tobytes() != first.tobytes() * value.size:
        return np.array(value, order="C")
    return bind("broadcast_in_dim", first, shape=value.shape, broadcast_dimensions=())


def unwrapped(value: Any) -> Any:
    """Arrays as NumPy's own, in nested tuples, lists and dicts, where all are known.

    Raises KeyError for one that is traced.
    """
    kind = type(value)
    if isinstance(value, Tracer):
        found = value.concrete if isinstance(value, NumpyTracer) else None
        if found is None:
            raise KeyError
        return found if not getattr(value, "number", False) else found[()]
    if kind is tuple or kind is list:
        return kind(map(unwrapped, value))
    if kind is dict:
        return {key: unwrapped(part) for key, part in value.items()}
    if kind is slice:
        return slice(*map(unwrapped, (value.start, value.stop, value.step)))
    return value


def wrapped(value: Any) -> Any:
    """NumPy's results as arrays of the trace; scalars stay what they are."""
    if isinstance(value, np.ndarray) and type(value) is np.ndarray:
        return known(value) if value.dtype.kind in "biufc" else value
    if type(value) in (tuple, list):
        return type(value)(map(wrapped, value))
    return value


def in_numpy_trace() -> bool:
    """Whether the trace in force is one of a function that is written with NumPy."""
    trace = current_trace()
    return isinstance(trace, StagingTrace) and trace.tracer is NumpyTracer
