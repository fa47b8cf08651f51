"""Knowledge of values, and ways of running functions, by the rows. Serves: level.*"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traceir import rules
from traceir.base.config import local
from traceir.tracing.concretization import refusal

# Stands beside the names of axes where some are those of a `shard_map` whose types tell
# what varies: it has these names, and the key of a call differs by it.
CHECKED = object()
# Beside the names of axes: those of meshes along which functions of parts divide the
# examples of a batch around, so that nothing is shared along them.
DIVIDED = object()


def looking(ask: str, answer: Callable[..., Any]) -> Callable[..., Any]:
    """A method that answers where the rows let it."""

    def method(self: Any, *args: Any) -> Any:
        if not self.knows(ask):
            raise refusal(self, ask)
        return answer(self, *args)

    return method


def passed_on(value: Any, transform: str) -> str:
    """Knowledge of a value that is an argument of a function that runs so."""
    levels = rules.default().levels
    outer = getattr(value, "knowledge", levels.known_outside)
    return levels.composed[outer, levels.way(transform).knows]


def way_of(transform: str) -> rules.Transform:
    """The way in which a function runs now that is asked for to run in this one."""
    return rules.default().levels.run(transform, local.context.disable_jit)
