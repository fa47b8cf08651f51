"""Guards: generated code that recognizes a call seen before. Serves: cache.key.*

A guard tests the arguments one by one, takes their memory and runs the program; no key
is built. The calls that it accepts have the raw key of the call for which it was
written (tested). Nodes come apart and together by lines of their own: no function is
called for a dict, a named tuple or a dataclass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from itertools import count
from keyword import iskeyword
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from traceir.arrays.array import Array
from traceir.base.fast_dataclass import dataclass
from traceir.base.generated_code import FunctionWriter
from traceir.errors import TraceirError
from traceir.jit.cache.signature import StaticSpec
from traceir.jit.cache.trace_cache import TraceCacheEntry
from traceir.jit.hot_path.raw_keys import RAW, as_input
from traceir.pytrees.node_types import NAMEDTUPLE, NODES, Kind, kind_of
from traceir.pytrees.treedef import TreeDef
from traceir.pytrees.typed_equality import typed

# What a guard gives for a call that is another.
MISS = object()

Guard = Callable[..., Any]
# What a test meets in a call that is another, or whose values do not fit; the raw keys'
# path tells which.
_UNLIKE = (AttributeError, KeyError, TypeError, ValueError, TraceirError)
# Static values that are told by identity, and those by type and equality.
_BY_IDENTITY = (FunctionType, BuiltinFunctionType, type, type(None), Enum)
_BY_VALUE = (bool, int, str)


class _Unknown(Exception):
    """A value of a kind that the raw keys serve better."""


@dataclass(eq=False, slots=True)
class Runner:
    """The entry under a raw key: runs such calls, and has a guard once it is asked.

    `run` takes positional arguments and a dict of keyword arguments.
    """

    run: Callable[[Any, Any], Any]
    entry: TraceCacheEntry
    context: Any
    static: StaticSpec
    origins: tuple[int | str, ...]
    program: Callable[..., Any]
    numpy_out: bool
    # Leaves that are donated, and what takes the memory of one.
    donated: tuple[int, ...] = ()
    take: Callable[[Any, Any], Any] | None = None
    hits: int = 0  # in a row
    _guard: Guard | None = None
    _guard_tried: bool = False

    def guard(self, args: Any, kwargs: Any) -> Guard | None:
        """A guard for calls like this one, or None where raw keys serve as well.

        It takes a context, positional arguments and a dict of keyword arguments, and
        returns the results, or `MISS`.
        """
        if not self._guard_tried:
            self._guard_tried = True
            with suppress(_Unknown):
                self._guard = _GuardWriter(self).guard(args, kwargs)
        return self._guard


class _GuardWriter(FunctionWriter):
    """The lines of a guard, and the objects that they name."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.numbers = count()
        # In what order a dict was made is known to plain functions.
        self.ordered = runner.entry.call.face == "numpy"
        # The names of all leaves that are arrays, and of those that are donated.
        self.arrays: list[str] = []
        self.given: list[tuple[str, Any]] = []
        super().__init__(
            {
                "Array": Array,
                "ndarray": np.ndarray,
                "MISS": MISS,
                "NODES": NODES,
                "UNLIKE": _UNLIKE,
                "as_input": as_input,
                "context": runner.context,
                "entry": runner.entry,
                "new": object.__new__,
                "run": runner.program,
                "take": runner.take,
                "typed": typed,
            }
        )

    def guard(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Guard:
        self.write(args, kwargs)
        return self.define("guard", "def guard(now, args, kwargs):", "guard")

    def write(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Write the guard of calls with arguments such as these."""
        entry = self.runner.entry
        values = self.arguments(args, kwargs)
        tests = [f"    {line}" for line in self.lines]
        self.lines = ["try:", *tests, "except UNLIKE: return MISS"]
        self.add("entry.hits += 1")
        for name, aval in self.given:
            self.add(f"{name} = take({name}, {self.constant(aval)})")
        self.results(f"run({', '.join(values)})", entry)

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[str]:
        """Tests of all arguments; gives the program's inputs."""
        static = self.runner.static
        self.reject(f"now is not context or len(args) != {len(args)}")
        self.reject(f"len(kwargs) != {len(kwargs)}")
        names = [self.name() for _ in args]
        self.unpack(names, "args")
        traced: dict[int | str, tuple[str, Any]] = {}
        for k, (name, value) in enumerate(zip(names, args, strict=True)):
            if k in static.positions:
                self.static(name, value)
            else:
                traced[k] = name, value
        for key, value in kwargs.items():
            name = self.entry_of("kwargs", key)
            if key in static.names:
                self.static(name, value)
            else:
                traced[key] = name, value
        avals = iter(enumerate(self.runner.entry.call.avals))
        found = [
            leaf
            for origin in self.runner.origins
            for leaf in self.value(*traced[origin], avals)
        ]
        if self.given:  # each is passed once
            passed = ", ".join(self.arrays)
            self.reject(f"len({{*map(id, [{passed}])}}) != {len(self.arrays)}")
        return found

    # -- lines ----------------------------------------------------------------------

    def name(self) -> str:
        return f"x{next(self.numbers)}"

    def reject(self, condition: str) -> None:
        self.add(f"if {condition}: return MISS")

    def unpack(self, names: Sequence[str], sequence: str) -> None:
        """Names for the elements; as many as there are, or the call is another."""
        self.add(f"[{', '.join(names)}] = {sequence}")

    def entry_of(self, mapping: str, key: str) -> str:
        name = self.name()
        self.add(f"{name} = {mapping}[{self.constant(key)}]")
        return name

    # -- arguments ------------------------------------------------------------------

    def static(self, name: str, value: Any) -> None:
        if not isinstance(value, _BY_IDENTITY) and type(value) not in _BY_VALUE:
            raise _Unknown
        self.same(name, value)

    def same(self, name: str, value: Any) -> None:
        """Tests that a value has the key of another, as `typed` makes it."""
        kind = type(value)
        if isinstance(value, _BY_IDENTITY):
            self.reject(f"{name} is not {self.constant(value)}")
        elif kind in _BY_VALUE:
            other = self.constant(value)
            self.reject(f"type({name}) is not {kind.__name__} or {name} != {other}")
        elif kind is tuple:
            self.reject(f"type({name}) is not tuple")
            names = [self.name() for _ in value]
            self.unpack(names, name)
            for one, item in zip(names, value, strict=True):
                self.same(one, item)
        else:
            key = typed(value)
            made, known, number = self.name(), self.constant(key), hash(key)
            self.add(f"{made} = typed({name})")
            self.reject(f"{made} != {known} or hash({made}) != {number}")

    def value(self, name: str, value: Any, avals: Iterator[Any]) -> list[str]:
        """Tests of a tree; gives its leaves as the program's inputs."""
        kind = type(value)
        if kind is Array:
            aval = self.constant(value.aval)
            self.reject(f"type({name}) is not Array or {name}.aval is not {aval}")
            return [self.own(name, value, *next(avals))]
        if kind is np.ndarray:
            return [self.array(name, value, *next(avals))]
        if value is None:
            self.reject(f"{name} is not None")
            return []
        if kind is tuple or kind is list:
            self.reject(f"type({name}) is not {kind.__name__}")
            return self.below(name, value, avals)
        if kind is dict:
            return self.dict(name, value, avals)
        if (node := kind_of(kind)) is not None:
            return self.node(name, value, node, avals)
        if kind not in RAW:
            raise _Unknown
        self.reject(f"type({name}) is not {self.constant(kind)}")
        return [self.converted(name, *next(avals))]

    def own(self, name: str, value: Array, k: int, wanted: Any) -> str:
        """An array of ours."""
        self.arrays.append(name)
        same = value.aval.dtype is wanted.dtype
        if k not in self.runner.donated:
            return f"{name}._value" if same else self.converted(name, k, wanted)
        if not same:
            raise _Unknown
        self.given.append((name, wanted))
        return name

    def converted(self, name: str, k: int, wanted: Any) -> str:
        """A leaf as an input; the raw keys' path tells whose value does not fit."""
        if k in self.runner.donated:
            raise _Unknown
        made = self.name()
        self.add(f"{made} = as_input({name}, {self.constant(wanted)})")
        return made

    def array(self, name: str, value: np.ndarray, k: int, wanted: Any) -> str:
        if k in self.runner.donated:  # nobody gives up NumPy's
            raise _Unknown
        dtype, shape = self.constant(value.dtype), self.constant(value.shape)
        self.reject(f"type({name}) is not ndarray or {name}.dtype is not {dtype}")
        self.reject(f"{name}.shape != {shape}")
        converted = f"as_input({name}, {self.constant(wanted)})"
        if value.dtype is not wanted.dtype:
            return converted
        return f"{name} if {name}.flags.c_contiguous else {converted}"

    def below(
        self, name: str, children: Sequence[Any], avals: Iterator[Any]
    ) -> list[str]:
        """Tests of the children that a name iterates over."""
        names = [self.name() for _ in children]
        self.unpack(names, name)
        pairs = zip(names, children, strict=True)
        return [leaf for n, v in pairs for leaf in self.value(n, v, avals)]

    def dict(self, name: str, value: dict[Any, Any], avals: Iterator[Any]) -> list[str]:
        if any(type(key) is not str for key in value):  # 1 and True are equal
            raise _Unknown
        self.reject(f"type({name}) is not dict or len({name}) != {len(value)}")
        if self.ordered:
            self.reject(f"[*{name}] != {self.constant([*value])}")
        leaves: list[str] = []
        for key in sorted(value):
            leaves += self.value(self.entry_of(name, key), value[key], avals)
        return leaves

    def node(
        self, name: str, value: Any, kind: Kind, avals: Iterator[Any]
    ) -> list[str]:
        """Tests of a named tuple, or of a node of a registered class."""
        own = self.constant(type(value))
        self.reject(f"type({name}) is not {own}")
        if kind is NAMEDTUPLE:  # its class may be registered later
            self.reject(f"{own} in NODES")
            return self.below(name, value, avals)
        if self.ordered and isinstance(value, dict):
            self.reject(f"[*{name}] != {self.constant([*value])}")
        children, meta = kind.split(value)
        if kind.attributes is None:
            parts, told = self.name(), self.name()
            self.add(f"{parts}, {told} = {self.constant(kind.split)}({name})")
            self.same(told, meta)
            return self.below(parts, [*children], avals)
        data, labels = kind.attributes
        for label, item in zip(labels, meta, strict=True):
            self.same(self.attribute(name, label), item)
        pairs = zip(data, children, strict=True)
        return [
            leaf
            for label, child in pairs
            for leaf in self.value(self.attribute(name, label), child, avals)
        ]

    def attribute(self, name: str, label: str) -> str:
        found = self.name()
        self.add(f"{found} = {name}.{_identifier(label)}")
        return found

    # -- results --------------------------------------------------------------------

    def results(self, call: str, entry: TraceCacheEntry) -> None:
        avals, tree = entry.closed.out_avals, entry.out_tree
        names = [self.name() for _ in avals]
        self.add(f"[{', '.join(names)}] = {call}" if names else call)
        wrapped = map(self.wrapped, names, avals)
        self.add(f"return {self.tree(tree, iter([*wrapped]))}")

    def wrapped(self, name: str, aval: Any) -> str:
        """A result as the caller gets it."""
        if self.runner.numpy_out:
            return name if aval.shape else f"{name}[()]"
        # As `Array._wrap`, without a call.
        made = self.name()
        self.add(f"{name}.setflags(False); {made} = new(Array)")
        self.add(f"{made}._value = {name}; {made}.aval = {self.constant(aval)}")
        return made

    def tree(self, tree: TreeDef, leaves: Iterator[str]) -> str:
        """An expression that makes the results' structure of leaves."""
        kind, own = tree.kind, tree.node_type
        if kind is None or own is None:
            return next(leaves)
        if own is type(None):
            return "None"
        below = [self.tree(child, leaves) for child in tree.below]
        inner = ", ".join(below)
        if own is list:
            return f"[{inner}]"
        if own is tuple:
            return f"({inner},)" if below else "()"
        if own is dict:
            pairs = zip(map(self.constant, tree.meta), below, strict=True)
            return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
        type_ = self.constant(own)
        if kind is NAMEDTUPLE:
            return f"{type_}({inner})"
        if kind.attributes is None:
            made, meta = self.constant(kind.join), self.constant(tree.meta)
            return f"{made}({type_}, {meta}, [{inner}])"
        data, labels = kind.attributes
        values = [*below, *map(self.constant, tree.meta)]
        named = zip(map(_identifier, (*data, *labels)), values, strict=True)
        return f"{type_}({', '.join(f'{label}={value}' for label, value in named)})"


def _identifier(label: str) -> str:
    if not (label.isascii() and label.isidentifier()) or iskeyword(label):
        raise _Unknown
    return label
