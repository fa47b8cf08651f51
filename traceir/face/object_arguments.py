"""Objects of a user's classes among the arguments of a call.

Serves: face.objects

Such an object is `self` of a method. Numbers with a fraction, arrays, and containers
and objects of them are traced, and what the function sets is set when the program has
run. Other attributes are known: integers, texts, functions. Each value of these has a
trace of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from traceir.face.generator_arguments import GeneratorArgument
from traceir.jit.cache.fingerprints import attribute, is_open
from traceir.jit.cache.static_keys import typed
from traceir.pytrees.key_path import GetAttrKey
from traceir.pytrees.node_types import NODES, Kind, kind_of
from traceir.tracing.trace import Tracer

# Stands for an object among its own attributes.
_ITSELF = object()
_TRACED = (float, complex, np.ndarray, np.generic, Tracer, GeneratorArgument)


def has_methods(value: Any) -> bool:
    """True if a value is an object of a user's class that is no node of a pytree."""
    kind: Any = type(value)
    return (
        is_open(kind)
        and kind_of(kind) is None
        and type(attribute(value, "__dict__")) is dict
    )


class ObjectArgument:
    """An object in the arguments of a call: a node, of which a trace has a copy. Its
    attributes are the object's; `taken` gives parts as a program takes them."""

    __slots__ = ("_value", "_taken")

    def __init__(self, value: Any, taken: Callable[[Any], Any]) -> None:
        object.__setattr__(self, "_value", value)
        object.__setattr__(self, "_taken", taken)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._value, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._value, name, value)


class _ObjectForm:
    """The class of an object, the names of its attributes in their order, and those
    that are known."""

    __slots__ = ("kind", "names", "known", "_key")

    def __init__(self, kind: type, names: tuple[str, ...], known: dict[str, Any]):
        self.kind, self.names, self.known = kind, names, known
        self._key: Hashable = (kind, names, _key(known))

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return type(other) is _ObjectForm and self._key == other._key


def _is_traced(value: Any, seen: tuple[int, ...]) -> bool:
    """True if an attribute is a part of the program's arguments."""
    if type(value) in (list, tuple, dict):
        parts = value.values() if type(value) is dict else value
        return all(type(v) in (int, bool) or _is_traced(v, seen) for v in parts)
    if isinstance(value, type):
        return False
    return isinstance(value, _TRACED) or (has_methods(value) and id(value) not in seen)


def _key(value: Any) -> Hashable:
    """A key of a known attribute; of a container by what is in it.

    Raises ValueError (cache.static.hashable).
    """
    kind = type(value)
    if kind is dict:
        return dict, tuple((typed(name), _key(part)) for name, part in value.items())
    if kind in (list, tuple):
        return kind, tuple(map(_key, value))
    return (set, frozenset(map(_key, value))) if kind is set else typed(value)


def _split(node: ObjectArgument) -> tuple[list[Any], _ObjectForm]:
    value, taken = node._value, node._taken
    attributes = dict(vars(value))
    known, children = {}, []
    for name, part in attributes.items():
        if _is_traced(part, (id(value),)):
            children.append(taken(part))
        else:
            known[name] = _ITSELF if part is value else part
    return children, _ObjectForm(type(value), tuple(attributes), known)


def _joined(_type: type, form: _ObjectForm, children: list[Any]) -> Any:
    """An object with these attributes."""
    made: Any = object.__new__(form.kind)
    rest = iter(children)
    for name in form.names:
        part = form.known[name] if name in form.known else next(rest)
        object.__setattr__(made, name, made if part is _ITSELF else part)
    return made


def _steps(_type: type, form: _ObjectForm, _count: int) -> list[GetAttrKey]:
    return [GetAttrKey(name) for name in form.names if name not in form.known]


def _shown(_type: type, form: _ObjectForm, parts: list[str]) -> str:
    return f"{form.kind.__name__}({', '.join(parts)})"


NODES[ObjectArgument] = Kind(_split, _joined, _steps, _shown)
