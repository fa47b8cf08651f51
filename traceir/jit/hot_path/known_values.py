"""Runners of calls that differ in the values of known arguments alone.

Serves: cache.key.known
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.jit.cache.signature import Bound
from traceir.jit.cache.static_keys import typed
from traceir.jit.hot_path.guard_codegen import Runner
from traceir.jit.hot_path.raw_keys import RAW


@dataclass(eq=False, slots=True)
class RunnersByValue:
    """The runners under one raw key, by the values of the arguments at `origins`."""

    origins: tuple[int | str, ...]
    runners: dict[Any, Runner]
    # Never enough for a guard: each of the runners has its own count.
    hits: int = -1

    def key(self, args: Any, kwargs: Any) -> Any:
        """The values of a call's known arguments."""
        values = [args[o] if type(o) is int else kwargs[o] for o in self.origins]
        return tuple(map(typed, values))

    def chosen(self, args: Any, kwargs: Any) -> Runner | None:
        """The runner of a call, or None for values that are new."""
        return self.runners.get(self.key(args, kwargs))


def admit(bound: Bound) -> None:
    """Have raw keys of calls with members of enumerations such as these."""
    for _, value in bound.known:
        if isinstance(value, Enum):
            RAW.setdefault(type(value), type)


def by_value(
    before: Any, bound: Bound, args: Any, kwargs: Any, runner: Runner
) -> Runner | RunnersByValue:
    """A runner as it is remembered under a raw key: among those of other values, where
    its entry is for certain values."""
    origins = bound.known_origins
    if not origins:
        return runner
    same = isinstance(before, RunnersByValue) and before.origins == origins
    found: RunnersByValue = before if same else RunnersByValue(origins, {})
    found.runners[found.key(args, kwargs)] = runner
    return found
