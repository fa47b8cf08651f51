"""Wrappers of a user's function, one object for each function.

Serves: cache.key.*
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary, ref

from traceir.base.fast_dataclass import dataclass
from traceir.jit.cache.signature import form_of
from traceir.jit.staging import function_name

Function = Callable[..., Any]
# From what gives the user's function to the function around it.
Wrapper = Callable[[Callable[[], Any]], Function]


@dataclass(frozen=True, slots=True)
class BodyLabel:
    """The names that errors use for a body: what was asked for, the user's function,
    and the parts of the body's arguments that are arguments of that function.
    """

    asker: str
    name: str
    parts: tuple[tuple[str, str], ...] = ()

    def spell(self, path: str) -> str:
        """A path into the body's arguments as the user spells it.

        >>> BodyLabel("fori_loop", "step", (("carry[1]", "x"),)).spell("carry[1]['w']")
        "x['w']"
        """
        for part, name in self.parts:
            if path.startswith(part):
                return name + path[len(part) :]
        return path


def told(function: Function, asker: str) -> BodyLabel:
    """The names that errors use for a body, which `wrapped` may have made for another
    asker.
    """
    found: BodyLabel | None = getattr(function, "told", None)
    return found or BodyLabel(asker, function_name(function))


_made: WeakKeyDictionary[Any, dict[Wrapper, Function]] = WeakKeyDictionary()


def wrapped(
    wrapper: Wrapper, function: Function, asker: str, parts: Sequence[str]
) -> Function:
    """The function that `wrapper` makes around a user's; its traces are found again.

    It does not keep the user's function alive. `parts` are what it passes on of its own
    arguments, in order.
    """
    try:
        found = _made.setdefault(function, {})
    except TypeError:  # without a hash or weak references: traced each time
        return _telling(wrapper(lambda: function), function, asker, parts)
    if wrapper not in found:
        made = wrapper(ref(function))
        return found.setdefault(wrapper, _telling(made, function, asker, parts))
    return found[wrapper]


def _telling(
    made: Any, function: Function, asker: str, parts: Sequence[str]
) -> Function:
    pairs = tuple(zip(parts, form_of(function).names))
    made.told = BodyLabel(asker, function_name(function), pairs)
    function_made: Function = made
    return function_made
