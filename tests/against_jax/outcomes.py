"""Outcomes of programs: leaves with types and values, or the classes of an error."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

# The classes that a caller may catch: the first of them in an error's line of descent
# has to be in that of the other library's error.
CATCHABLE = (
    *("TracerBoolConversionError", "TracerArrayConversionError"),
    *("TracerIntegerConversionError", "NonConcreteBooleanIndexError"),
    *("ConcretizationTypeError", "UnexpectedTracerError", "KeyReuseError"),
    *("TypeError", "ValueError", "IndexError", "OverflowError", "ZeroDivisionError"),
    *("KeyError", "AttributeError", "NotImplementedError", "FloatingPointError"),
)


@dataclass(frozen=True)
class Leaf:
    """An array, with its type; or any other object."""

    dtype: str  # empty for what is no array
    weak: bool
    shape: tuple[int, ...]
    value: Any


@dataclass(frozen=True)
class Outcome:
    """The leaves and their structure; or the classes of an error, nearest first."""

    leaves: tuple[Leaf, ...] = ()
    tree: str = ""
    error: tuple[str, ...] = ()
    message: str = ""

    @property
    def catchable(self) -> str:
        """The class under which the error is caught, or its own name."""
        own = self.error[0] if self.error else ""
        return next((name for name in self.error if name in CATCHABLE), own)

    def __str__(self) -> str:
        if self.error:
            return f"{self.error[0]}: {self.message}"
        shown = [_shown(leaf) for leaf in self.leaves]
        return f"{self.tree} {'; '.join(shown)}"


def _shown(leaf: Leaf) -> str:
    if not leaf.dtype:
        return f"{type(leaf.value).__name__} {leaf.value!r}"[:120]
    weak = "~" if leaf.weak else ""
    text = " ".join(str(leaf.value).split())
    return f"{weak}{leaf.dtype}{list(leaf.shape)} {text}"[:240]


def outcome(run: Callable[[], Any], library: Any) -> Outcome:
    """The outcome of `run`; an error becomes part of it."""
    try:
        result = run()
        leaves: list[Leaf] = []
        tree = _flatten(result, library, leaves)
        return Outcome(tuple(leaves), tree)
    except Exception as error:
        names = tuple(c.__name__ for c in type(error).__mro__)
        names = tuple(n for n in names if n not in ("object", "BaseException"))
        text = " ".join(f"{error}".split())
        return Outcome(error=names, message=text[:200])


def _flatten(value: Any, library: Any, leaves: list[Leaf]) -> str:
    """The structure as text; leaves are appended."""
    match value:
        case tuple() | list():
            fields = getattr(value, "_fields", ())
            name = "/".join(fields) or type(value).__name__
            inner = [_flatten(item, library, leaves) for item in value]
            return f"{name}({', '.join(inner)})"
        case dict():
            pairs = (
                f"{k!r}: {_flatten(v, library, leaves)}" for k, v in _sorted(value)
            )
            return f"dict({', '.join(pairs)})"
    leaves.append(_leaf(value, library))
    return "*"


def _sorted(value: dict[Any, Any]) -> Iterator[tuple[Any, Any]]:
    return iter(sorted(value.items(), key=lambda pair: str(pair[0])))


def _leaf(value: Any, library: Any) -> Leaf:
    if isinstance(value, library.Array | library.ShapeDtypeStruct):
        return _array(value, library)
    if isinstance(value, np.ndarray | np.generic):
        return Leaf(f"np.{value.dtype}", False, value.shape, np.asarray(value))
    if type(value).__name__ in dir(builtins):
        return Leaf("", False, (), value)
    try:
        return Leaf("", False, (), f"dtype {np.dtype(value)}")
    except TypeError:
        return Leaf("", False, (), type(value).__name__)


def _array(value: Any, library: Any) -> Leaf:
    if not hasattr(value, "__array__"):  # a type alone, of a program that is traced
        weak = bool(value.weak_type)
        return Leaf(str(value.dtype), weak, tuple(value.shape), None)
    shape = tuple(value.shape)
    if str(value.dtype).startswith("key<"):
        words = np.asarray(library.random.key_data(value))
        return Leaf(str(value.dtype), False, shape, words)
    return Leaf(str(value.dtype), bool(value.weak_type), shape, np.asarray(value))
