"""Fingerprints of Python values, which tell if a value has changed.

Serves: cache.strict.capture, cache.strict.static
"""

from __future__ import annotations

import functools
import sys
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from types import (
    FunctionType,
    GeneratorType,
    MemberDescriptorType,
    MethodType,
    SimpleNamespace,
)
from typing import Any

import numpy as np

from traceir.arrays.array import LIVING, Array
from traceir.base import cost_model
from traceir.base.lazy_exports import imported
from traceir.errors import shown
from traceir.pytrees.typed_equality import PLAIN, typed

SCALARS = (PLAIN - {type, FunctionType}) | {str, float, complex, type(None)}
# Whose instances are not looked into: their state is their own business.
CLOSED = sys.stdlib_module_names | {"numpy", "numba", "traceir", "traceir_numba"}


class _Missing:
    """The stand-in for a name that has no value."""

    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()


class IdentityFingerprint:
    """An object that is known by its identity; it is not kept alive if that can be."""

    __slots__ = ("_get",)

    def __init__(self, value: Any) -> None:
        self._get: Callable[[], Any]
        try:
            self._get = weakref.ref(value)
        except TypeError:
            self._get = lambda: value

    def __eq__(self, other: object) -> bool:
        if type(other) is not IdentityFingerprint:
            return NotImplemented
        mine = self._get()
        return mine is not None and mine is other._get()

    __hash__ = None  # type: ignore[assignment]


class FrozenArray:
    """An immutable array, by its elements."""

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array = array

    def __eq__(self, other: object) -> bool:
        if type(other) is not FrozenArray:
            return NotImplemented
        mine, theirs = self.array, other.array
        return mine is theirs or (
            mine.aval is theirs.aval and contents(mine) == contents(theirs)
        )

    __hash__ = None  # type: ignore[assignment]


def contents(array: Any) -> bytes:
    """The bytes of an array, or a digest of them if there are many."""
    plain = np.ascontiguousarray(array)
    if plain.nbytes <= cost_model.WHOLE_FINGERPRINT_BYTES:
        return plain.tobytes()
    from hashlib import blake2b  # not on the way of an import

    return blake2b(plain.view(np.uint8).data, digest_size=16).digest()


class Fingerprinter:
    """Takes fingerprints; `home` are the globals whose functions are looked into.

    Numbers, texts and arrays count by their bits; lists, tuples, dicts, deques and sets
    by their elements; functions by their code and what their cells hold; instances of
    classes outside the standard library, NumPy and this package by their attributes;
    with `states`, generators of random numbers and iterators by their states.
    Anything else counts by its identity, as does what raises when it is looked into.

    >>> box = [1, {"n": np.arange(2)}]
    >>> before = Fingerprinter({}).of(box)
    >>> box[1]["n"][0] = 7
    >>> Fingerprinter({}).of(box) == before
    False
    """

    def __init__(self, home: Mapping[str, Any], states: bool = True) -> None:
        self.home = home
        self.states = states
        # What this walk has met, by identity, with its number; kept alive meanwhile.
        self.met: dict[int, tuple[int, Any]] = {}

    def of(self, value: Any) -> Any:
        """The fingerprint of a value; of a function at home, that of its code and its
        attributes."""
        self.met.clear()
        if type(value) is FunctionType:
            home = value.__globals__ is self.home
            token = (
                (FunctionType, value.__code__) if home else IdentityFingerprint(value)
            )
            return token, *self._walk(own_data(value))
        return tuple(self._walk(value))

    def _walk(self, value: Any) -> Iterator[Any]:
        """The fingerprints of the values within a value, from outside in."""
        todo = [value]
        while todo:
            token, parts = self._one(todo.pop())
            yield token
            todo.extend(reversed(parts))

    def _one(self, value: Any) -> tuple[Any, Sequence[Any]]:
        """The fingerprint of a value, and the parts that it has besides."""
        kind = type(value)
        if kind in SCALARS or issubclass(kind, np.generic):
            return typed(value), ()
        if kind in LIVING:
            return FrozenArray(value), ()
        known = self.met.get(id(value))
        if known is not None:  # a cycle ends here, and nothing is walked twice
            return ("again", known[0]), ()
        self.met[id(value)] = len(self.met), value
        try:
            if kind is np.ndarray and not value.dtype.hasobject:
                return (kind, value.dtype, value.shape, contents(value)), ()
            state = state_of(value) if self.states else None
            if state is not None:
                return (kind, _comparable(state)), ()
            parts = self._parts(kind, value)
        except Exception:  # the object's own code does not let itself be looked into
            parts = None
        if parts is None:
            return IdentityFingerprint(value), own_data(value)
        return (kind, len(parts)), parts

    def _parts(self, kind: Any, value: Any) -> Sequence[Any] | None:
        """The parts of a value; None if it counts by its identity."""
        if kind is np.ndarray:
            return value.shape, value.ravel().tolist()
        if issubclass(kind, np.ndarray):
            mask = value.mask if issubclass(kind, np.ma.MaskedArray) else None
            own = attributes_of(value) if is_open(kind) else ()
            return value.view(np.ndarray), mask, *own
        if kind is MethodType:
            return value.__func__, value.__self__
        if issubclass(kind, functools.partial):
            return value.func, value.args, value.keywords
        if kind is FunctionType:
            return self._parts_of_function(value)
        progress = _progress(kind, value) if self.states else None
        if progress is not None:
            return (progress,)
        elements = _elements(kind, value)
        if kind is SimpleNamespace:
            return *(elements or ()), *attributes_of(value)
        if is_open(kind):
            return *(elements or ()), *attributes_of(value), *own_data(kind)
        return elements

    def _parts_of_function(self, function: FunctionType) -> Sequence[Any] | None:
        if function.__globals__ is not self.home:
            return None
        cells = [_content(cell) for cell in function.__closure__ or ()]
        defaults = function.__defaults__, function.__kwdefaults__
        return function.__code__, cells, defaults


# How a number or text of a subclass is made one of the class itself.
_PLAINLY: dict[type, Callable[[Any], Any]] = {
    int: int.__int__,
    float: float.__float__,
    complex: complex.__complex__,
    str: str.__str__,
    bytes: bytes.__bytes__,
    bytearray: bytes,
}


def _elements(kind: type, value: Any) -> Sequence[Any] | None:
    """The elements of a container, in order; a subclass's number or text itself."""
    if issubclass(kind, tuple | list | deque):
        return tuple(value)
    if issubclass(kind, dict):
        return tuple(value.items())
    if issubclass(kind, set | frozenset):
        return sorted(value, key=lambda v: (type(v).__name__, hash(v), repr(v)))
    for plain, made in _PLAINLY.items():
        if issubclass(kind, plain):
            return (made(value),)
    return None


def _progress(kind: type, value: Any) -> Any:
    """The progress of an iterator, as values; None for another value."""
    if kind is GeneratorType:
        frame = value.gi_frame
        return frame and (frame.f_lasti, dict(frame.f_locals))
    if hasattr(kind, "__next__") and kind.__module__ in ("builtins", "itertools"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer versions of Python ask for a copy
            return value.__reduce__()
    return None


def state_of(value: Any) -> Any:
    """The state of a generator of random numbers, as it gives it; else None.

    >>> state_of(3) is None
    True
    """
    if isinstance(value, imported("random", "Random")):
        return value.getstate()
    if isinstance(value, imported("numpy.random", "RandomState")):
        return value.get_state(legacy=False)
    if isinstance(value, imported("numpy.random", "Generator")):
        value = value.bit_generator
    bits = imported("numpy.random", "BitGenerator")
    return value.state if isinstance(value, bits) else None


def _comparable(state: Any) -> Any:
    """A state, with its arrays as bytes."""
    if type(state) is dict:
        return tuple((key, _comparable(part)) for key, part in state.items())
    return state.tobytes() if isinstance(state, np.ndarray) else state


def attribute(value: Any, name: str) -> Any:
    """An attribute of a value; MISSING where there is none or asking for it fails.

    >>> attribute(np, "pi"), attribute(np, "tau")
    (3.141592653589793, nothing)
    """
    try:
        return getattr(value, name)
    except Exception:  # of a user's own code, which may raise anything
        return MISSING


def own_data(value: Any) -> Sequence[tuple[str, Any]]:
    """The data of a user's class, a function, or a wrapper of one, by name.

    >>> def counting() -> None:
    ...     pass
    >>> counting.calls = 3
    >>> own_data(counting)
    [('calls', 3)]
    """
    if issubclass(type(value), type):
        classes = [cls for cls in value.__mro__ if _is_users(cls)]
        held = [pair for cls in classes for pair in vars(cls).items()]
    else:
        known = attribute(value, "__dict__")
        wraps = type(known) is dict and "__wrapped__" in known
        if type(value) is not FunctionType and not wraps:
            return ()
        held = list(known.items())
    return [(name, v) for name, v in held if not name.startswith("__") and _is_data(v)]


def _is_users(cls: type) -> bool:
    return str(cls.__module__).partition(".")[0] not in CLOSED


def _is_data(value: Any) -> bool:
    """True if an attribute of a class or function is no method or descriptor."""
    return not callable(value) and not hasattr(type(value), "__get__")


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


@functools.lru_cache(maxsize=1024)
def is_open(kind: type) -> bool:
    """True if instances of a class are looked into."""
    if issubclass(kind, (type, Enum, BaseException)):
        return False
    return _is_users(kind)


def described(value: Any) -> str:
    """A value in an error; an instance without a `repr` of its own by its attributes.

    >>> described(list(range(9)))
    '[0, 1, 2, 3, 4, 5, ...]'
    """
    kind: Any = type(value)
    if kind.__repr__ is object.__repr__ and is_open(kind):
        try:
            inner = ", ".join(f"{name}={shown(v)}" for name, v in attributes_of(value))
        except Exception:  # its own code does not let itself be looked into
            return shown(value)
        return f"{kind.__name__}({inner})"
    return shown(value)


def attributes_of(value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of an instance, by name."""
    yield from list(getattr(value, "__dict__", {}).items())
    for cls in type(value).__mro__:
        for name, member in cls.__dict__.items():
            if isinstance(member, MemberDescriptorType):  # a slot
                try:
                    yield name, member.__get__(value)
                except AttributeError:
                    yield name, MISSING
