"""Functions made around a user's, the same for the same one. Serves: cache.key.*"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, ref

Function = Callable[..., Any]
# From what gives the user's function to the function around it.
Wrapper = Callable[[Callable[[], Any]], Function]
_made: WeakKeyDictionary[Any, dict[Wrapper, Function]] = WeakKeyDictionary()


def wrapped(wrapper: Wrapper, function: Function) -> Function:
    """The function that `wrapper` makes around a user's; its traces are found again.

    It does not keep the user's function alive.
    """
    try:
        found = _made.setdefault(function, {})
    except TypeError:  # without a hash or weak references: traced each time
        return wrapper(lambda: function)
    if wrapper not in found:
        found[wrapper] = wrapper(ref(function))
    return found[wrapper]
