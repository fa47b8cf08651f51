"""Arrays that a region has taken over, and arrays that may be another one.

Serves: staged.memory
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator
from typing import Any, NamedTuple

import numpy as np

from traceir import lax, rules
from traceir.base import source_info
from traceir.dtypes import is_narrow
from traceir.face.arrays.layouts import Layout
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, Literal
from traceir.tracing.staging import StagingTrace
from traceir.tracing.trace import bind, current_trace, in_force

_PYTHON: dict[str, type] = {"b": bool, "i": int, "f": float, "c": complex}
_versions = itertools.count(1)


def new_version() -> int:
    """A number for what an array's elements are now, which no other state has had."""
    return next(_versions)


class ArrayState(NamedTuple):
    """The state of an array while a region has it."""

    array: Any
    home: StagingTrace
    atom: Atom | None
    known: np.ndarray | None
    layout: Layout
    version: int
    taken: int

    @property
    def is_written(self) -> bool:
        """True if the region has written to the array."""
        return bool(self.array.version != self.taken)

    def restore(self) -> None:
        """Give the array back to the trace that had it."""
        array = self.array
        array._home, array._atom, array._known = self.home, self.atom, self.known
        array.layout, array.version = self.layout, self.version
        array._seen = self.version


def take_over(array: Any, trace: StagingTrace, atom: Atom) -> ArrayState:
    """Make an array one of a region, with this value; gives what it was before."""
    before = array._home, array._atom, array._known, array.layout, array.version
    if array._known is not None:
        array.layout, array._known = array._known, None
    array._home, array._atom = trace, atom
    array._seen = array.version = new_version()
    return ArrayState(array, *before, array.version)


def _around(trace: Any) -> Iterator[StagingTrace]:
    """A trace and those around it."""
    while trace is not None:
        yield trace
        trace = trace.parent


def version_here(array: Any) -> int:
    """The version that an array has in the trace in force, which regions in it may have
    taken over."""
    found, home = array.version, array._home
    outer = list(_around(current_trace()))
    while home not in outer and id(array) in getattr(home, "memory", ()):
        found, home = home.memory[id(array)].version, home.memory[id(array)].home
    return int(found)


class MayAlias:
    """Another array whose memory one has if a traced flag says so.

    Arrays with aliases of one `group` have no memory in common.
    """

    __slots__ = ("_array", "_other", "_flag", "_seen", "group")

    def __init__(self, array: Any, other: Any, flag: Any, group: Any) -> None:
        self.group = group
        self._array = array
        self._other = other
        self._flag = flag
        self._seen = other.root.version

    @property
    def other(self) -> Any:
        """The other array."""
        return self._other

    @property
    def flag(self) -> Any:
        """The truth that it is the other array's memory; None if that can't be told."""
        return self._flag

    def write(self, value: Any) -> None:
        """Write new elements of the array to the other one."""
        new = lax.select(self._spread(), value, self._other.now())
        self._other.replace(new)
        self._seen = self._other.root.version

    def read(self) -> None:
        """Have the array have what was written to the other one.

        Raises TypeError (staged.memory) where it can't be told.
        """
        home = self._array._home
        if current_trace() is not home and self._other.root._home in _around(home):
            with in_force(home):  # as it was before a region takes over one of both
                self.read()
        is_home = self._other.is_home
        if self._flag is not None and is_home:
            for alias in self._other.root._aliases:
                alias.read()
        if self._seen in (self._other.root.version, version_here(self._other.root)):
            return
        self._seen = self._other.root.version
        if self._flag is None or not is_home:
            raise rules.error("staged.memory", got=self._array.aval.str_short())
        self._array.check_home()
        now = lax.select(self._spread(), self._other.now(), self._array.now())
        self._array._atom = self._array._trace.atom(now)
        self._array.touch()
        self._array._seen = self._array.version

    def _spread(self) -> Any:
        return lax.broadcast(self._flag, self._array.shape)


def note_alias(array: Any, other: Any, flag: Any, group: Any) -> None:
    """Note that an array may be another one: see `NumpyTracer.may_alias`."""
    if other.root is array:
        return
    if other.aval != array.aval.update(weak_type=other.aval.weak_type):
        flag = None
    array._aliases.append(MayAlias(array, other, flag, group))
    if flag is None:
        array.memory.flags.writeable = False


def owners(
    array: Any, region: StagingTrace, inputs: Container[int] = ()
) -> list[tuple[Any, Any]]:
    """The arrays from outside of a region, and of its `inputs`, whose memory one that
    it made may have, each with the flag that it is: None where that can't be told. The
    region has ended, and is in force again."""
    found: list[tuple[Any, Any]] = []
    for alias in array.root._aliases:
        known = alias.flag is not None and array.root is array
        outside = alias.other.root._home is not region
        if outside or id(alias.other) in inputs:
            told = known and (not outside or alias.other._trace.alive)
            found.append((alias.other, alias.flag if told else None))
            continue
        for other, flag in owners(alias.other, region, inputs):
            both = known and flag is not None and alias.other.root is alias.other
            found.append((other, lax.bitwise_and(alias.flag, flag) if both else None))
    return found


def is_one_of(array: Any, region: StagingTrace, inputs: Container[int] = ()) -> bool:
    """True if an array is always one from outside of a region, or one of its inputs."""
    if array.root._home is not region or id(array) in inputs:
        return True
    others = [alias.other for alias in array.root._aliases]
    return array.is_another and all(is_one_of(o, region, inputs) for o in others)


def are_apart(a: Any, b: Any) -> bool:
    """True if two arrays have no memory in common, as far as their aliases tell."""
    both = a.root, b.root
    if both[0] is both[1]:
        return False
    groups = [{id(one.group) for one in r._aliases if one.group} for r in both]
    memories = [{id(r), *map(id, r.other_memories())} for r in both]
    return bool(groups[0] & groups[1]) or not memories[0] & memories[1]


def unread(kind: Any, memory: np.ndarray, trace: StagingTrace, dtype: np.dtype) -> Any:
    """A view, as a tracer of this kind, whose elements have not been read yet; `dtype`
    is that of its base."""
    own = dtype if memory.dtype.kind == "V" else memory.dtype
    aval = ShapedArray(memory.shape, own)
    made = kind(Literal(np.int8(0), aval), trace, source_info.capture())
    made._atom = None
    made.layout = memory
    made.number = False
    return made


def constant_operand(value: np.ndarray) -> Any:
    """A known array as an operand: one number, spread, where all elements are equal."""
    if not value.ndim:
        return value[()]
    first = value[(0,) * value.ndim] if value.size else value.dtype.type(0)
    if value.size and value.tobytes() != first.tobytes() * value.size:
        return np.array(value, order="C")
    return bind("broadcast_in_dim", first, shape=value.shape, broadcast_dimensions=())


def number_class(aval: ShapedArray) -> type:
    """The class of the numbers of a type: NumPy's, or Python's of a weak one."""
    found: type = aval.dtype.type
    return _PYTHON[aval.dtype.kind] if aval.weak_type else found


def check_wide(dtype: np.dtype) -> None:
    """Raise TypeError (jit.dtype) for a narrow dtype: NumPy's functions differ on it.

    >>> check_wide(np.dtype("int8"))
    """
    if is_narrow(dtype):
        got = f"{dtype.name} in a NumPy function"
        hint = "convert it before, as in `x.astype('float32')`; `traceir.jit` takes it"
        raise rules.error("jit.dtype", got=got, hint=hint)
