"""Types of values that devices may have of their own. Serves: shard_map.vma"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from traceir.tracing.knowledge import CHECKED
from traceir.tracing.trace import bind_one, current_trace, typeof


def varied(value: Any, along: Iterable[Hashable]) -> Any:
    """A value whose type tells that it may vary along axes of a mesh."""
    vma = typeof(value).vma
    missing = tuple(dict.fromkeys(name for name in along if name not in vma))
    return bind_one("pvary", value, axes=missing) if missing else value


def told(names: Iterable[Hashable]) -> list[Hashable]:
    """Those of the axes of which types tell what varies along them."""
    trace = current_trace()
    every = trace.axes.get(CHECKED, ()) if trace else ()
    return [name for name in every if name in names]
