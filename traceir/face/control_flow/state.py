"""The state of a construct: the values of names as trees, and their types.

Serves: staged.carry, staged.join

A tree has leaves that a program computes, and parts that are no part of a program. The
type of a tree is a tree with abstract values for leaves; two sides of a choice, or the
turns of a loop, meet in one type (`joined`), to which each of their values is fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.base import config
from traceir.base.fast_dataclass import dataclass
from traceir.face.arrays.array import NumpyTracer
from traceir.ir.avals import ShapedArray
from traceir.ir.promotion import promote
from traceir.tracing.trace import Tracer, typeof

NUMBERS = (bool, int, float, complex)
BOOL = ShapedArray((), np.dtype(bool))


class Unrecordable(Exception):
    """Two values have no common type; nobody sees this raised."""


class MissingValue:
    """Stands for the value of a name that has none; `reason` says why, if it once had
    values without a common type, by which `truth` one was chosen."""

    __slots__ = ("reason", "truth")

    def __init__(self, reason: str = "", truth: Any = None) -> None:
        self.reason = reason
        self.truth = truth


UNBOUND = MissingValue()


class MaybeUnbound:
    """The value of a name that may have none: `flag` tells whether it has."""

    __slots__ = ("flag", "value")

    def __init__(self, value: Any, flag: Any) -> None:
        self.value = value
        self.flag = flag


class MaybeNone(MaybeUnbound):
    """A value that may be None: `flag` tells whether it is another."""

    __slots__ = ()


class Compound:
    """A value of Python's that is made of others, some of which may be traced."""

    __slots__ = ()

    def group(self) -> Group:
        """Its tree."""
        raise NotImplementedError

    @classmethod
    def _make(cls, parts: Iterable[Any]) -> Any:
        return cls(*parts)


# The trees of known values that meet those of compound ones, by their classes.
COMPOUND: dict[type, Callable[[Any], Group]] = {}

# The values that may be absent, and how a tree shows that one is.
_ABSENT: dict[type, Callable[[Any], bool]] = {
    MaybeUnbound: lambda value: type(value) is MissingValue and not value.reason,
    MaybeNone: lambda value: value is None,
}


@dataclass(frozen=True, slots=True)
class Leaf:
    """A number or an array that the program computes; in a type, its abstract value."""

    value: Any
    number: bool


@dataclass(frozen=True, slots=True)
class Group:
    """A tuple, or a value that may be missing with its flag before it."""

    kind: type
    parts: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """An array by its identity, which the program may write to; with its elements."""

    array: Any
    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Held) and other.array is self.array


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """A value that is no part of a program: every side and turn leaves it as it is."""

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fixed):
            return False
        a, b = self.value, other.value
        if a is b:
            return True
        return _is_constant(a) and type(a) is type(b) and bool(a == b)


Tree = Leaf | Group | Held | Fixed
_FLAG = Leaf(BOOL, True)


def _is_constant(value: Any) -> bool:
    """True for a kind of value that never changes (staged.join.others)."""
    name = "dtype" if isinstance(value, np.dtype) else type(value).__name__
    return name in rules.default().decisions["staged.join.others"].kinds


def snapshot(names: Sequence[str], frame: dict[str, Any]) -> dict[str, Any]:
    """The values of some names in a frame."""
    return {name: frame.get(name, UNBOUND) for name in names}


def is_array(value: Any) -> bool:
    """True if a value is an array that can be written to."""
    return type(value) is NumpyTracer and not value.number


def tree_of(value: Any) -> Tree:
    """The tree of a value, with the elements that its arrays have now."""
    kind = type(value)
    if kind in _ABSENT:
        return Group(kind, (tree_of(value.flag), tree_of(value.value)))
    if kind in NUMBERS or isinstance(value, np.generic):
        return Leaf(value, True)
    if is_array(value):
        return Held(value, value.now())
    if isinstance(value, Tracer):
        return Leaf(value.now(), not value.aval.shape)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return Held(value, np.asarray(value))
    if isinstance(value, tuple):
        return Group(kind, tuple(map(tree_of, value)))
    return value.group() if isinstance(value, Compound) else Fixed(value)


def type_of(tree: Tree) -> Tree:
    """The type of a tree: its leaves' abstract values."""
    if isinstance(tree, Leaf):
        return Leaf(typeof(tree.value), tree.number)
    if isinstance(tree, Held):
        return Held(tree.array, typeof(tree.value))
    if isinstance(tree, Group):
        return Group(tree.kind, tuple(map(type_of, tree.parts)))
    return tree


def joined(a: Tree, b: Tree) -> Tree:
    """The type that holds the values of two types, as NumPy promotes them.

    Raises Unrecordable where there is none.
    """
    if a == b:
        return a
    for kind in _ABSENT:
        if _is_absent(a, kind) or _is_absent(b, kind):
            known = _loose(b if _is_absent(a, kind) else a)
            return known if _is_maybe(known, kind) else Group(kind, (_FLAG, known))
        if _is_maybe(a, kind) or _is_maybe(b, kind):
            both = joined(_parts(a, kind)[1], _parts(b, kind)[1])
            return Group(kind, (_FLAG, both))
    if isinstance(a, (Leaf, Held)) and isinstance(b, (Leaf, Held)):
        number = isinstance(a, Leaf) and a.number and isinstance(b, Leaf) and b.number
        return Leaf(_joined(a.value, b.value), number)
    if (
        isinstance(a, Group)
        and isinstance(b, Group)
        and a.kind is b.kind
        and rules.decides("staged.join.tuples", a=a.parts, b=b.parts)
    ):
        pairs = zip(a.parts, b.parts, strict=True)
        return Group(a.kind, tuple(joined(*pair) for pair in pairs))
    one, other = _compound(a), _compound(b)
    if one is not a or other is not b:
        return joined(
            a if one is a else type_of(one), b if other is b else type_of(other)
        )
    for tree in (a, b):
        # An array of unknown extent may be one of arguments that can be known.
        if isinstance(tree, Fixed) and hasattr(type(tree.value), "or_sized"):
            raise tree.value.unknown("a name that is handed on")
    raise Unrecordable(f"{said(a)} and {said(b)}")


def _compound(tree: Tree) -> Tree:
    """A known value as the tree that it has beside a traced one."""
    made = COMPOUND.get(type(tree.value)) if isinstance(tree, Fixed) else None
    return tree if made is None else made(tree.value)  # type: ignore[union-attr]


def _joined(a: ShapedArray, b: ShapedArray) -> ShapedArray:
    if a is b:
        return a
    if not rules.decides("staged.join.values", a=a, b=b):
        raise Unrecordable(f"{a.str_short()} and {b.str_short()}")
    dtype, weak = promote(a, b, face=config.local.context.face)
    return ShapedArray(a.shape, dtype, weak)


def said(tree: Tree) -> str:
    """A type in an error."""
    if isinstance(tree, (Leaf, Held)):
        found: str = tree.value.str_short()
        return found
    if isinstance(tree, Group):
        return f"({', '.join(map(said, tree.parts))})"
    value = tree.value
    if type(value) is MissingValue and value.reason:
        return value.reason
    return "None" if value is None else type(value).__name__


def _is_absent(tree: Tree, kind: type) -> bool:
    return isinstance(tree, Fixed) and _ABSENT[kind](tree.value)


def _is_maybe(tree: Tree, kind: type) -> bool:
    return isinstance(tree, Group) and tree.kind is kind


def _loose(tree: Tree) -> Tree:
    """A type in which no array is known by its identity."""
    if isinstance(tree, Held):
        return Leaf(tree.value, False)
    if isinstance(tree, Group):
        return Group(tree.kind, tuple(map(_loose, tree.parts)))
    return tree


def escaped(tree: Tree, trace: Any) -> Tree:
    """A type in which no array of a trace is known by its identity."""
    if isinstance(tree, Held):
        own = is_array(tree.array) and tree.array.root._home is trace
        return Leaf(tree.value, False) if own else tree
    if isinstance(tree, Group):
        return Group(tree.kind, tuple(escaped(part, trace) for part in tree.parts))
    return tree


def _parts(tree: Tree, kind: type) -> tuple[Any, Any]:
    """The flag of what may be absent, and the rest."""
    if isinstance(tree, Group) and tree.kind is kind:
        return tree.parts[0], tree.parts[1]
    return Leaf(True, True), tree


def fitted(tree: Tree, kind: Tree) -> Iterator[tuple[Any, ShapedArray]]:
    """The leaves of a value of a type that holds it, each with its own type.

    For a value that is absent there are zeros.
    """
    if isinstance(kind, Leaf):
        value = tree.value if isinstance(tree, (Leaf, Held)) else zero(kind.value)
        yield value, kind.value
    elif isinstance(kind, Group) and kind.kind in _ABSENT:
        absent = _is_absent(tree, kind.kind)
        flag, rest = (Leaf(False, True), tree) if absent else _parts(tree, kind.kind)
        yield flag.value, BOOL
        yield from fitted(rest, kind.parts[1])
    elif isinstance(kind, Group):
        tree = _compound(tree)
        parts = tree.parts if isinstance(tree, Group) else [tree] * len(kind.parts)
        for part, inner in zip(parts, kind.parts, strict=True):
            yield from fitted(part, inner)


def built(kind: Tree, leaves: Iterator[Any]) -> Any:
    """The value of a type with these leaves."""
    if isinstance(kind, Leaf):
        return next(leaves)
    if isinstance(kind, Held):
        return kind.array
    if isinstance(kind, Fixed):
        return kind.value
    parts = [built(part, leaves) for part in kind.parts]
    if kind.kind in _ABSENT:
        return kind.kind(parts[1], parts[0])
    return kind.kind._make(parts) if hasattr(kind.kind, "_make") else kind.kind(parts)


def leaves_of(kind: Tree) -> Iterator[Leaf]:
    """The leaves of a type."""
    if isinstance(kind, Leaf):
        yield kind
    elif isinstance(kind, Group):
        for part in kind.parts:
            yield from leaves_of(part)


def array_pairs(tree: Tree, kind: Tree, made: Any) -> Iterator[tuple[Any, Any]]:
    """The arrays of a tree that are known by their identity, each with the array that
    has its place in the value `made` of a type."""
    if isinstance(kind, Leaf):
        if isinstance(tree, Held) and is_array(tree.array) and is_array(made):
            yield tree.array, made
    elif isinstance(kind, Group) and kind.kind in _ABSENT:
        if not _is_absent(tree, kind.kind):
            inner = _parts(tree, kind.kind)[1]
            yield from array_pairs(inner, kind.parts[1], made.value)
    elif (
        isinstance(kind, Group)
        and isinstance(tree, Group)
        and issubclass(kind.kind, tuple)
    ):
        for part, inner, one in zip(tree.parts, kind.parts, made, strict=True):
            yield from array_pairs(part, inner, one)


def arrays_of(tree: Tree) -> Iterator[NumpyTracer]:
    """The arrays in a tree that are known by their identity."""
    if isinstance(tree, Held) and is_array(tree.array):
        yield tree.array
    elif isinstance(tree, Group):
        for part in tree.parts:
            yield from arrays_of(part)


def arrays_in(values: Iterable[Any]) -> Iterator[NumpyTracer]:
    """The arrays among some values, and in their tuples, lists and dicts."""
    for value in values:
        if is_array(value):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from arrays_in(value)
        elif type(value) is dict:
            yield from arrays_in(value.values())
        elif isinstance(value, MaybeUnbound):
            yield from arrays_in([value.value])


def zero(aval: ShapedArray) -> Any:
    """A value of a type, for where nobody looks."""
    number = aval.dtype.type(0)
    if aval.shape:
        return np.zeros(aval.shape, aval.dtype)
    return number.item() if aval.weak_type else number
