"""Objects of a user's classes as a traced function sees them.

Serves: face.random
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from traceir.face.captured import captured
from traceir.face.host_calls import is_generator, of_generator
from traceir.jit.fingerprints import MISSING, attribute, attributes_of, is_open
from traceir.nodes import kind_of

# Objects within objects are looked at so deep.
_DEPTH = 3


def has_generator(value: Any, depth: int = _DEPTH) -> bool:
    """Whether an object of a user's class has a generator among its attributes.

    >>> has_generator(3)
    False
    """
    kind: Any = type(value)
    if not depth or not is_open(kind):
        return False
    attributes = attribute(value, "__dict__")
    return type(attributes) is dict and any(
        is_generator(v) or has_generator(v, depth - 1) for v in attributes.values()
    )


def has_methods(value: Any) -> bool:
    """Whether a value is an object of a user's class that is no node of a pytree."""
    kind: Any = type(value)
    return (
        is_open(kind)
        and kind_of(kind) is None
        and type(attribute(value, "__dict__")) is dict
    )


class Objects:
    """Copies of objects, one for each, with methods and generators as a traced function
    sees them; `seen` is a function as it is seen."""

    def __init__(self, seen: Callable[[FunctionType], Any]) -> None:
        self._seen = seen
        self._made: dict[int, tuple[Any, Any, dict[str, Any]]] = {}

    def of(self, value: Any) -> Any:
        """The copy of an object, or itself where none can be made."""
        found = self._made.get(id(value))
        if found is not None:
            return found[0]
        try:
            made = object.__new__(type(value))
        except TypeError:  # of a class that is made otherwise
            return value
        held: dict[str, Any] = vars(made)
        self._made[id(value)] = made, value, held
        for name, method in _methods(type(value)):
            held[name] = MethodType(self._seen(method), made)
        for name, part in attributes_of(value):
            if part is not MISSING:
                object.__setattr__(made, name, self._part(part))
        self._made[id(value)] = made, value, dict(held)
        return made

    def _part(self, value: Any) -> Any:
        if is_generator(value):
            return of_generator(value)
        if type(value) in (np.ndarray, np.memmap):
            return captured(value)
        return self.of(value) if has_generator(value) else value

    def end(self) -> None:
        """Give the objects the attributes that the function has set."""
        for made, value, before in self._made.values():
            for name, held in vars(made).items():
                if held is not before.get(name, self):
                    setattr(value, name, held)


def _methods(kind: type) -> Iterator[tuple[str, FunctionType]]:
    """The plain methods of a class and its bases, the nearest last."""
    for cls in reversed(kind.__mro__):
        for name, member in vars(cls).items() if is_open(cls) else ():
            if type(member) is FunctionType and not name.startswith("__"):
                yield name, member
