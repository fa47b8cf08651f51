"""Layouts of a call's arguments and results on devices.

Serves: sharding.value
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir.arrays import laying
from traceir.arrays.array import LAID_OUT, LIVING, Array, Spread
from traceir.arrays.devices import SHARDING
from traceir.arrays.layout import format_of as format_of
from traceir.arrays.propagation.programs import Layouts, propagate
from traceir.arrays.sharding import (
    NamedSharding,
    PartitionSpec,
    Sharding,
    check_sharding,
    spread_shardings,
)
from traceir.base.fast_dataclass import dataclass
from traceir.jit.cache.trace_cache import TraceCacheEntry
from traceir.pytrees import flatten
from traceir.pytrees.flatten import key_path
from traceir.tracing.trace import typeof


def lying(leaf: Any, place: Any) -> Any:
    """An array that lies there, or a traced value that is to; NumPy's become ours."""
    if place is None:
        return leaf
    if type(leaf) is np.ndarray and leaf.ndim:
        aval = typeof(leaf)
        leaf = Array._wrap(np.array(leaf, aval.dtype, order="C"), aval)
    return laying.lying(leaf, place)


def put(wanted: Any, outs: Any) -> Any:
    """The results, each at the place that `out_shardings` asks for."""
    leaves, tree = flatten.flatten(outs)
    places = spread_shardings("out_shardings", wanted, tree)
    for leaf, place, path in zip(leaves, places, tree.paths(), strict=True):
        check_sharding(place, typeof(leaf).shape, f"the result{key_path(path)}")
    pairs = zip(leaves, places, strict=True)
    return tree.unflatten([lying(leaf, place) for leaf, place in pairs])


def laid_arguments(form: Any, leaves: Sequence[Any]) -> list[Any]:
    """The leaves of a call, lying as those that it was compiled for."""
    places = list(form.places or [None] * len(leaves))
    for k, leaf in enumerate(leaves):
        if places[k] is None and type(leaf) is Spread:  # whole, then
            mesh: Any = leaf.sharding
            places[k] = NamedSharding(mesh.mesh, PartitionSpec())
    return [lying(leaf, place) for leaf, place in zip(leaves, places, strict=True)]


def of_arguments(form: Any, entry: TraceCacheEntry) -> list[Sharding]:
    """The layouts of the leaves of the arguments of a call that is compiled ahead."""
    return _known(form.places or [None] * len(entry.call.avals))


def of_results(form: Any, entry: TraceCacheEntry) -> list[Sharding]:
    """The layouts of the leaves of its results."""
    tree, wanted = entry.out_tree, form.out_shardings
    places = form.places or [None] * len(entry.call.avals)
    if form.parts is not None:
        found = form.parts.results(form.places)
    else:
        found = layouts_of(entry, places).shardings
    if wanted is not None:
        asked = spread_shardings("out_shardings", wanted, tree)
        found = [b if a is None else a for a, b in zip(asked, found, strict=True)]
    return _known(found)


def _known(places: Sequence[Sharding | None]) -> list[Sharding]:
    """Layouts on devices; whole on the first one where nothing is asked."""
    return [SHARDING if place is None else place for place in places]


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


def layouts_of(entry: TraceCacheEntry, places: Sequence[Sharding | None]) -> Layouts:
    """The layouts of an entry's results, for arguments that lie so."""
    captured: list[Sharding | None] = [None] * len(entry.captures)
    return propagate(entry.closed, [*captured, *places])


def _places(leaves: Sequence[Any]) -> list[Sharding | None]:
    return [leaf.sharding if type(leaf) in LAID_OUT else None for leaf in leaves]


def placing(
    run: Callable[[Any, Any], Any], entry: TraceCacheEntry, leaves: Sequence[Any]
) -> Callable[[Any, Any], Any]:
    """The runner, whose results lie as those of a program of such arguments do."""
    places = layouts_of(entry, _places(leaves)).shardings
    if entry.writes or not any(places):
        return run
    return PlacingRunner(run, places)


def explained(entry: TraceCacheEntry, leaves: Sequence[Any]) -> str:
    """A line for each result: how it lies on devices; then, where that was given up."""
    found = layouts_of(entry, _places(leaves))
    pairs = zip(entry.out_tree.paths(), found.shardings, strict=True)
    lines = [
        f"result{key_path(path)}: {'on the first device' if place is None else place}"
        for path, place in pairs
    ]
    return "\n".join([*lines, *[f"given up after {line}" for line in found.given_up]])
