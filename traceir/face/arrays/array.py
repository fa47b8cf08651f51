"""`NumpyTracer`: an array of a traced NumPy function.

Serves: face.box, face.view, update.outer

A root has its value: an array that is known while tracing, or the variable of a
program. A view has its base and the step from there; it reads the base's value, and
what is written to it is written to the base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from traceir import rules
from traceir.base import source_info
from traceir.face.arrays.array_state import (
    MayAlias,
    check_wide,
    constant_operand,
    new_version,
    note_alias,
    number_class,
    unread,
)
from traceir.face.arrays.layouts import Layout, LayoutQuery, overlapping, placed
from traceir.face.arrays.traced_index import TracedIndex
from traceir.face.arrays.views import IndexView, ViewStep, steps_between
from traceir.face.callers import by_user
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, Literal
from traceir.tracing.staging import StagedTracer, StagingTrace
from traceir.tracing.trace import Trace, Tracer, current_trace, in_force

# What makes a mark for a number in a text, while one is made for later.
MARKS: ContextVar[Any] = ContextVar("traceir_marks", default=None)


class NumpyTracer(StagedTracer):
    """An array in the trace of a function that is written with NumPy.

    `number` tells a NumPy scalar from an array without dimensions: nothing can be
    written to a scalar. `layout` is how the array lies in memory, or how to find out;
    None for C-contiguous. `origins` are the arguments on whose layout that depends.
    """

    __slots__ = (
        "_atom",
        "_home",
        "_known",
        "_base",
        "_step",
        "_seen",
        "version",
        "number",
        "layout",
        "_origins",
        *("_aliases", "is_another"),
    )
    _atom: Atom | None

    def __repr__(self) -> str:
        return self._text(repr, super().__repr__)

    def __str__(self) -> str:
        return self._text(str, super().__repr__)

    def __format__(self, spec: str) -> str:
        inner = super().__format__
        return self._text(lambda v: format(v, spec), lambda: inner(spec))

    def _text(self, form: Callable[[Any], str], otherwise: Callable[[], str]) -> str:
        marks = MARKS.get()
        if marks is None or self.aval.shape or self.concrete is not None:
            return otherwise()
        return marks.mark(self, form)  # type: ignore[no-any-return]  # a layer above

    def __init__(
        self, var: Atom, trace: StagingTrace, where: source_info.Source | None
    ) -> None:
        check_wide(var.aval.dtype)
        self._known: np.ndarray | None = None
        self._home = trace
        self._base: NumpyTracer | None = None
        self._step: ViewStep | None = None
        self._seen = self.version = 0
        self.number = not var.aval.shape
        self.layout: Layout = None
        self._origins: frozenset[LayoutQuery] = frozenset()
        self._aliases: list[MayAlias] = []
        self.is_another = False  # always one of its aliases
        super().__init__(var, trace, where)

    @property  # type: ignore[misc]  # it has no setter
    def __class__(self) -> Any:
        """The class that a user's `isinstance` is told: of what this stands for."""
        return self.stands_for if by_user() else NumpyTracer

    @property
    def stands_for(self) -> type:
        """NumPy's class of arrays, or that of a number of NumPy's, or of Python's."""
        return number_class(self.aval) if self.number else np.ndarray

    # Reading ----------------------------------------------------------------------

    @property  # type: ignore[override]  # that of a region, while it writes to the array
    def _trace(self) -> StagingTrace:
        """The trace that reads and writes the array now: of a view, its base's, or the
        one inside of that in which its places were computed."""
        base = self._base
        if base is None:
            return self._home
        trace = base._trace
        inner = self._home.level > trace.level and isinstance(self._step, TracedIndex)
        return self._home if inner else trace

    @_trace.setter
    def _trace(self, trace: StagingTrace) -> None:
        self._home = trace

    @property
    def root(self) -> NumpyTracer:
        """The array that has the memory: the last of the bases."""
        found = self
        while found._base is not None:
            found = found._base
        return found

    @property
    def memory(self) -> np.ndarray:
        """An array that lies in memory as this one does; it may have no elements."""
        if self._known is not None:
            return self._known
        if not isinstance(self.layout, np.ndarray):
            strides = None if self.layout is None else self.layout()
            self.layout = placed(self.aval.shape, self.aval.dtype, strides)
        return self.layout

    @property
    def origins(self) -> frozenset[LayoutQuery]:
        """The arguments on whose layout depends how this array lies in memory."""
        return self.root._origins

    @property
    def concrete(self) -> np.ndarray | None:
        """The elements, if they are known while tracing: the memory itself."""
        return self._known if self.root._known is not None else None

    @property
    def _var(self) -> Atom:
        root = self.root
        for alias in root._aliases:
            alias.read()
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
                return self._trace.atom(constant_operand(self._known))
            if self._base is None or self._step is None:
                assert self._atom is not None
                return self._atom
            return self._trace.atom(self._step.read(self._base.now()))

    def now(self) -> NumpyTracer:
        """An array of its own with the same elements, which never changes."""
        made = NumpyTracer(self._var, self._trace, self._source)
        made.number = self.number
        return made

    @property
    def knowledge(self) -> str:
        """Knowledge of the elements: of all, where the memory itself is known."""
        known = rules.default().levels.known_outside
        return super().knowledge if self.concrete is None else known

    def answer(self) -> Any:
        """The elements."""
        return super().answer() if self.concrete is None else self.concrete

    @property
    def strides(self) -> tuple[int, ...]:
        """The distances of neighbours in bytes, as NumPy has them."""
        self.tell()
        found: tuple[int, ...] = self.memory.strides
        return found

    @property
    def flags(self) -> Any:
        """NumPy's flags of the memory; `writeable` can be set."""
        self.tell()
        return self.memory.flags

    def tell(self) -> None:
        """The function learns how the array lies in memory."""
        for origin in self.origins:
            origin.told = True

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(super().__array__(dtype))

    # Writing ----------------------------------------------------------------------

    @property
    def is_home(self) -> bool:
        """True if the trace in force is the array's own or a region of it, not that of
        an inner function."""
        trace, home = current_trace(), self.root._home
        while trace is not home:
            if trace is None or not trace.writes_outside:
                return False
            trace = trace.parent
        return True

    def check_home(self) -> None:
        """Raise UnexpectedTracerError (update.outer) inside an inner function; a region
        takes the array over."""
        trace, root = current_trace(), self.root
        if trace is root._home:
            return
        if self.is_home:
            trace.claim(root)  # type: ignore[union-attr]  # it is a region
        else:
            trace = current_trace()
            inner = f"the trace of {trace.name}" if trace else "no trace"
            got = f"an array of {self._trace.name}, {self.aval.str_short()}, in {inner}"
            raise rules.error("update.outer", got=got)

    def touch(self) -> None:
        """Note that the elements in memory have changed: values read before are old."""
        self.root.version = new_version()

    def check_writable(self) -> None:
        """Raise ValueError for an array that NumPy does not write to (update.readonly),
        or in no certain order (update.shared: places of a view share an element).

        Raises TypeError (staged.memory) for one that may be one of several arrays.
        """
        if self._base is not None:
            self._base.check_writable()
        if self._known is None and not isinstance(self.layout, np.ndarray):
            return
        if not self.memory.flags.writeable:
            rule = "staged.memory" if self._aliases else "update.readonly"
            raise rules.error(rule, got=self.aval.str_short())
        if self.is_shared:
            raise rules.error("update.shared", got=self.aval.str_short())

    @property
    def is_shared(self) -> bool:
        """True if places of this view may have one element."""
        return self._base is not None and overlapping(self.memory)

    def replace(self, value: Tracer) -> None:
        """Make a value of the same type the array's, and write it to the bases."""
        self.check_home()
        self.check_writable()
        self._replace(value)

    def _replace(self, value: Tracer) -> None:
        if self._base is None or self._step is None:
            if self._known is not None:
                self.layout, self._known = self._known, None
            self._atom = self._trace.atom(value)
            self._seen = self.version = new_version()
            for alias in self._aliases:
                alias.write(value)
            return
        self._base._replace(self._step.write(self._base.now(), value))
        self._atom, self._seen = self._trace.atom(value), self.root.version

    def other_memories(self) -> Iterator[NumpyTracer]:
        """The arrays whose memory this one may have, besides its own."""
        for alias in self.root._aliases:
            yield alias.other.root
            yield from alias.other.other_memories()

    def may_alias(self, other: Any, flag: Any = None, group: Any = None) -> None:
        """Note that this array is another one if a traced flag says so: what is written
        to one is written to the other. Without a flag neither is to be written to as
        long as this one is in use."""
        note_alias(self, other, flag, group)

    def store(self, value: Any) -> None:
        """Make a value of the same shape and dtype all of the array's elements.

        Raises TypeError (update.scalar) for a NumPy scalar.
        """
        if self.number:
            raise rules.error("update.scalar", got=self.aval.str_short())
        self.replace(traced(value))

    # Making -----------------------------------------------------------------------

    def through(self, step: ViewStep) -> NumpyTracer:
        """The array that a step leads to; writes to it are writes to this array."""
        if self.is_shared:
            return self.viewed(step.of(self.memory))
        return self._through(step)

    def placed(self, step: TracedIndex) -> NumpyTracer:
        """The view at traced places, read at once: the places are looked at here."""
        made = self._through(step)
        trace = current_trace()
        assert isinstance(trace, StagingTrace)  # the array's own, or a region of it
        made._home = trace
        made._atom, made._seen = made._current(self.root), self.root.version
        return made

    def _through(self, step: ViewStep) -> NumpyTracer:
        value = self.concrete
        made: NumpyTracer
        if value is not None and not isinstance(step, TracedIndex):
            made = known(step.of(value), self._trace)
        else:
            made = unread(
                type(self), step.of(self.memory), self._trace, self.aval.dtype
            )
        made._base, made._step = self, step
        return made

    def viewed(self, memory: np.ndarray) -> NumpyTracer:
        """The view of this array that lies so; itself, if that is its own memory.

        It is one of an array before this one where places of this one share elements.
        Raises TypeError (face.strides) for a view of what lies between elements.
        """
        if memory is self.memory:
            return self
        home: NumpyTracer | None = self
        while home is not None:
            apart = home._base is None or not overlapping(home.memory)
            steps = steps_between(home.memory, memory) if apart else None
            if steps is not None:
                return home._along(steps, memory)
            home = None if isinstance(home._step, TracedIndex) else home._base
        got = f"{memory.shape} with strides {memory.strides} of {self.aval.str_short()}"
        raise rules.error("face.strides", got=got)

    def _along(self, steps: Sequence[ViewStep], memory: np.ndarray) -> NumpyTracer:
        """The view at the end of some steps; all is said by the memory that it has."""
        made = self._through(IndexView(())) if not steps else self
        for step in steps:
            made = made._through(step)
        if made._known is None:
            made.layout = memory
        else:
            made._known = memory
        return made


def traced(value: Any, number: bool | None = None) -> Any:
    """A value of the trace in force as an array that has its own elements.

    `number` says whether it is a NumPy scalar. A value of a trace around it becomes one
    of its own. Those of a transform inside stay that one's: nothing is written to them.
    """
    trace: Any = current_trace()
    own = isinstance(trace, StagingTrace) and trace.tracer is NumpyTracer
    if isinstance(value, NumpyTracer):
        made = value.now()
        outer = own and made._trace.level < trace.level
        if outer and made.concrete is None:
            made = NumpyTracer(trace.atom(made), trace, made._source)
    elif own:
        made = NumpyTracer(trace.atom(value), trace, source_info.capture())
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
    made = NumpyTracer(nothing, home, source_info.capture())
    made._atom = None
    made._known = value
    made.number = False
    return made
