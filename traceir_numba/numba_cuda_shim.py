"""An import finder that keeps numba-cuda's from our modules.

The package numba-cuda puts a finder before all others, which sends every name with
"numba.cuda" in it to its own folder. So has `traceir_numba.cuda`, and that finder would
call itself for ever.

The finder of the package numba-cuda takes every name with `numba.cuda` in it for its
own, so ours goes before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

REDIRECTOR = "_numba_cuda_redirector"


class OwnFinder:
    """Finds the modules of `traceir_numba.cuda` where they are."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The place of a module of ours; None for others."""
        if f"{name}.".startswith("traceir_numba.cuda."):
            return PathFinder.find_spec(name, path, target)
        return None


def go_first(finders: list[Any]) -> None:
    """Put our finder before the other one, if that is among the finders.

    >>> finders = ["another"]
    >>> go_first(finders)
    >>> finders
    ['another']
    """
    if any(type(finder).__module__ == REDIRECTOR for finder in finders):
        finders.insert(0, OwnFinder)
