"""Guards: generated code that recognizes a call seen before. Serves: cache.key.*

A guard tests the arguments one by one, takes their memory and runs the program; no key
is built. The calls that it accepts have the raw key of the call for which it was
written (tested).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from itertools import count, islice
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from traceir.arrays.array import Array
from traceir.base.fast_dataclass import dataclass
from traceir.base.generated_code import FunctionWriter
from traceir.errors import TraceirError
from traceir.jit.cache.signature import StaticSpec
from traceir.jit.cache.trace_cache import TraceCacheEntry
from traceir.jit.hot_path.raw_keys import RAW, as_input, to_numpy
from traceir.pytrees.treedef import TreeDef

# What a guard gives for a call that is another.
MISS = object()

Guard = Callable[..., Any]
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
        super().__init__(
            {
                "Array": Array,
                "ndarray": np.ndarray,
                "MISS": MISS,
                "TraceirError": TraceirError,
                "as_input": as_input,
                "context": runner.context,
                "entry": runner.entry,
                "run": runner.program,
                "wrap": to_numpy if runner.numpy_out else Array._wrap,
            }
        )

    def guard(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Guard:
        self.write(args, kwargs)
        return self.define("guard", "def guard(now, args, kwargs):", "guard")

    def write(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Write the guard of calls with arguments such as these."""
        static, entry = self.runner.static, self.runner.entry
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
        avals = iter(entry.call.avals)
        values = [
            leaf
            for origin in self.runner.origins
            for leaf in self.value(*traced[origin], avals)
        ]
        self.add("entry.hits += 1")
        self.results(f"run({', '.join(values)})", entry)

    # -- lines ----------------------------------------------------------------------

    def name(self) -> str:
        return f"x{next(self.numbers)}"

    def reject(self, condition: str) -> None:
        self.add(f"if {condition}: return MISS")

    def unpack(self, names: Sequence[str], sequence: str) -> None:
        if names:
            self.add(f"{', '.join(names)}, = {sequence}")

    def entry_of(self, mapping: str, key: str) -> str:
        name = self.name()
        self.add(f"{name} = {mapping}.get({self.constant(key)}, MISS)")
        self.reject(f"{name} is MISS")
        return name

    # -- arguments ------------------------------------------------------------------

    def static(self, name: str, value: Any) -> None:
        if isinstance(value, _BY_IDENTITY):
            self.reject(f"{name} is not {self.constant(value)}")
        elif type(value) in _BY_VALUE:
            kind, same = self.constant(type(value)), self.constant(value)
            self.reject(f"type({name}) is not {kind} or {name} != {same}")
        else:
            raise _Unknown

    def value(self, name: str, value: Any, avals: Iterator[Any]) -> list[str]:
        """Tests of a tree; gives its leaves as the program's inputs."""
        kind = type(value)
        if kind is Array:
            aval = self.constant(value.aval)
            self.reject(f"type({name}) is not Array or {name}.aval is not {aval}")
            wanted = next(avals)
            if value.aval.dtype is wanted.dtype:
                return [f"{name}._value"]
            return [self.converted(name, wanted)]
        if kind is np.ndarray:
            return [self.array(name, value, next(avals))]
        if value is None:
            self.reject(f"{name} is not None")
            return []
        if kind is tuple or kind is list:
            return self.sequence(name, value, avals)
        if kind is dict:
            return self.dict(name, value, avals)
        if kind not in RAW:
            raise _Unknown
        self.reject(f"type({name}) is not {self.constant(kind)}")
        return [self.converted(name, next(avals))]

    def converted(self, name: str, wanted: Any) -> str:
        """A leaf as an input; the raw keys' path tells whose value does not fit."""
        made = self.name()
        self.add(f"try: {made} = as_input({name}, {self.constant(wanted)})")
        self.add("except TraceirError: return MISS")
        return made

    def array(self, name: str, value: np.ndarray, wanted: Any) -> str:
        dtype, shape = self.constant(value.dtype), self.constant(value.shape)
        self.reject(f"type({name}) is not ndarray or {name}.dtype is not {dtype}")
        self.reject(f"{name}.shape != {shape}")
        converted = f"as_input({name}, {self.constant(wanted)})"
        if value.dtype is not wanted.dtype:
            return converted
        return f"{name} if {name}.flags.c_contiguous else {converted}"

    def sequence(self, name: str, value: Any, avals: Iterator[Any]) -> list[str]:
        kind = type(value).__name__
        self.reject(f"type({name}) is not {kind} or len({name}) != {len(value)}")
        names = [self.name() for _ in value]
        self.unpack(names, name)
        pairs = zip(names, value, strict=True)
        return [leaf for n, v in pairs for leaf in self.value(n, v, avals)]

    def dict(self, name: str, value: dict[Any, Any], avals: Iterator[Any]) -> list[str]:
        if any(type(key) is not str for key in value):  # 1 and True are equal
            raise _Unknown
        self.reject(f"type({name}) is not dict or len({name}) != {len(value)}")
        leaves: list[str] = []
        for key in sorted(value):
            leaves += self.value(self.entry_of(name, key), value[key], avals)
        return leaves

    # -- results --------------------------------------------------------------------

    def results(self, call: str, entry: TraceCacheEntry) -> None:
        avals, tree = entry.closed.out_avals, entry.out_tree
        names = [self.name() for _ in avals]
        if names:
            self.unpack(names, call)
        else:  # it may raise an exception
            self.add(call)
        wrapped = [
            f"wrap({name}, {self.constant(aval)})"
            for name, aval in zip(names, avals, strict=True)
        ]
        self.add(f"return {self.tree(tree, iter(wrapped))}")

    def tree(self, tree: TreeDef, leaves: Iterator[str]) -> str:
        """An expression that makes the results' structure of leaves."""
        if tree.kind is None:
            return next(leaves)
        if tree.node_type is type(None):
            return "None"
        if tree.node_type not in (tuple, list, dict):
            own = ", ".join(islice(leaves, tree.num_leaves))
            return f"{self.constant(tree)}.unflatten([{own}])"
        below = [self.tree(child, leaves) for child in tree.below]
        if tree.node_type is dict:
            pairs = zip(map(self.constant, tree.meta), below, strict=True)
            return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
        inner = ", ".join(below)
        if tree.node_type is list:
            return f"[{inner}]"
        return f"({inner},)" if below else "()"
