"""Layouts of a call's results on devices, found once for each raw key.

Serves: sharding.value
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir.arrays.array import LIVING, Placed
from traceir.arrays.propagation.programs import Layouts, propagate
from traceir.arrays.sharding import Sharding
from traceir.base.fast_dataclass import dataclass
from traceir.jit.cache.trace_cache import TraceCacheEntry
from traceir.pytrees import flatten
from traceir.pytrees.flatten import key_path


@dataclass(frozen=True, slots=True, eq=False)
class PlacingRunner:
    """A runner whose results lie as is said; no guard takes its place."""

    run: Callable[[Any, Any], Any]
    places: Sequence[Sharding | None]

    def __call__(self, args: Any, kwargs: Any) -> Any:
        """Run, and put the results there."""
        return laid_out(self.run(args, kwargs), self.places)


def laid_out(results: Any, places: Sequence[Sharding | None]) -> Any:
    """A tree whose arrays lie as is said."""
    if type(results) in LIVING:
        return results._at(places[0])
    leaves, tree = flatten.flatten(results)
    pairs = zip(leaves, places, strict=True)
    return tree.unflatten([v._at(p) if type(v) in LIVING else v for v, p in pairs])


def layouts_of(entry: TraceCacheEntry, leaves: Sequence[Any]) -> Layouts:
    """The layouts of an entry's results, for arguments that lie as these do."""
    captured: list[Sharding | None] = [None] * len(entry.captures)
    own = [leaf.sharding if type(leaf) is Placed else None for leaf in leaves]
    return propagate(entry.closed, [*captured, *own])


def placing(
    run: Callable[[Any, Any], Any], entry: TraceCacheEntry, leaves: Sequence[Any]
) -> Callable[[Any, Any], Any]:
    """The runner, whose results lie as those of a program of such arguments do."""
    places = layouts_of(entry, leaves).shardings
    if entry.writes or not any(places):
        return run
    return PlacingRunner(run, places)


def explained(entry: TraceCacheEntry, leaves: Sequence[Any]) -> str:
    """A line for each result: how it lies on devices; then, where that was given up."""
    found = layouts_of(entry, leaves)
    pairs = zip(entry.out_tree.paths(), found.shardings, strict=True)
    lines = [
        f"result{key_path(path)}: {'on the first device' if place is None else place}"
        for path, place in pairs
    ]
    return "\n".join([*lines, *[f"given up after {line}" for line in found.given_up]])
