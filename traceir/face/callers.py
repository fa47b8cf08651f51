"""A test of who calls: the user, or these packages and NumPy.

Serves: face.reach, index.bounds
"""

from __future__ import annotations

import abc
import sys
from types import ModuleType
from typing import Any

from traceir.base import source_info

# Classes such as `numbers.Number` ask an object for its class in this file.
_ABC = abc.ABCMeta.__instancecheck__.__code__.co_filename


def by_user() -> bool:
    """True if a user's function called the caller; those of `traceir.numpy`, which may
    do so, know what they do.
    """
    frame = sys._getframe(2)
    if frame.f_code.co_filename == _ABC and frame.f_back is not None:
        frame = frame.f_back
    return source_info.is_users_code(frame.f_code.co_filename)


def named(module: ModuleType, name: str) -> Any:
    """A name of a module of NumPy's; AttributeError, with the nearest name, if there is
    none."""
    try:
        return getattr(module, name)
    except AttributeError as error:
        if name.startswith("_"):
            raise
        import difflib  # not on the way of an import

        near = difflib.get_close_matches(name, dir(module), 1)
        text = f"{error}. Did you mean: {near[0]!r}?" if near else str(error)
        raise AttributeError(text) from None
