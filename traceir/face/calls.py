"""The call of a plain function while it is traced.

Serves: update.argument, update.overlap, update.readonly, update.layout
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir.errors import TraceirError
from traceir.face.arrays.array import NumpyTracer
from traceir.face.arrays.layouts import LayoutQuery
from traceir.face.containers import Containers
from traceir.face.functions.selection import Selection
from traceir.face.namespace import NamespaceView, StagedView
from traceir.jit.cache.writeback import Updated, Written
from traceir.pytrees import flatten


def call(
    fun: Callable[..., Any],
    args: Any,
    kwargs: Any,
    leaves: Sequence[NumpyTracer],
    containers: Containers | None = None,
) -> Any:
    """The results of a function; with them its writes to its arguments."""
    view = NamespaceView()
    seen = {name: view.of(value) for name, value in kwargs.items()}
    asked = [LayoutQuery() for _ in leaves]
    for leaf, origin in zip(leaves, asked, strict=True):
        leaf.begin(origin)
    try:
        results = view.function(fun)(*map(view.of, args), **seen)
    except ValueError as error:  # of NumPy's, which asked a tracer for its elements
        if isinstance(error.__cause__, TraceirError):
            raise error.__cause__ from None
        raise
    finally:
        view.end()
    for result in flatten.leaves(results):
        if isinstance(result, Selection):
            raise result.unknown("a result", result.made)
    if containers is not None:
        results = containers.updated(results, leaves)
    written = tuple(k for k, leaf in enumerate(leaves) if leaf.version)
    placed = tuple(k for k, origin in enumerate(asked) if origin.matters)
    if not written and not placed and not isinstance(results, Updated):
        return results
    values = tuple(leaves[k].now() for k in written)
    return Written(results, values, written, placed)


def staged(fun: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The results of a function whose loops and choices are recorded."""
    view = StagedView()
    try:
        return view.function(fun)(*args, **kwargs)
    finally:
        view.end()
