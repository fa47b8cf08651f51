"""Objects of a user's that hold generators, as a traced function sees them.

Serves: face.random
"""

from __future__ import annotations

import copy
from typing import Any

from traceir.face.host_calls import is_generator, of_generator
from traceir.jit.prints import attribute, is_open

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


class Objects:
    """Copies of objects that have stand-ins for generators, one for each object."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any, dict[str, Any]]] = {}

    def of(self, value: Any) -> Any:
        """The copy of an object whose generators draw when the program runs."""
        found = self._made.get(id(value))
        if found is not None:
            return found[0]
        made = copy.copy(value)
        self._made[id(value)] = made, value, {}
        for name, held in vars(value).items():
            if is_generator(held):
                vars(made)[name] = of_generator(held)
            elif has_generator(held):
                vars(made)[name] = self.of(held)
        self._made[id(value)] = made, value, dict(vars(made))
        return made

    def end(self) -> None:
        """Give the objects the attributes that the function has set."""
        for made, value, before in self._made.values():
            for name, held in vars(made).items():
                if held is not before.get(name, self):
                    setattr(value, name, held)
