"""Functions with the NumPy face, run for the model by the project's code.

The tables do not define `numpy.sum`, only what it may refuse and the primitives that it
is made of. So the oracle calls the function itself: with traced operands for what it
refuses inside a trace, then with concrete ones for the result. Serves: face.*, index.*
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traceir.tracing.staging import StagedTracer, stage
from traceir.tracing.trace import typeof

Leaf = Callable[[Any], Any]


def changed(value: Any, leaf: Leaf) -> Any:
    """The value with each part replaced, in tuples, lists, dicts and slices.

    >>> changed((1, slice(2, None), [3]), str)
    ('1', slice('2', 'None', 'None'), ['3'])
    """
    match value:
        case tuple():
            return tuple(changed(v, leaf) for v in value)
        case list():
            return [changed(v, leaf) for v in value]
        case dict():
            return {k: changed(v, leaf) for k, v in value.items()}
        case slice(start=start, stop=stop, step=step):
            return slice(*(changed(v, leaf) for v in (start, stop, step)))
    return leaf(value)


def parts(value: Any, kind: type) -> list[Any]:
    """The parts of that type, in the order in which `changed` meets them."""
    found: list[Any] = []

    def leaf(part: Any) -> Any:
        if isinstance(part, kind):
            found.append(part)
        return part

    changed(value, leaf)
    return found


def refuse(
    function: Callable[..., Any],
    args: Any,
    params: Any,
    traced: type,
    transform: str,
    face: str,
) -> None:
    """Raise the function's error for traced arguments of that type."""
    avals = [typeof(a) for a in parts((args, params), traced)]

    def call(tracers: list[StagedTracer]) -> list[Any]:
        left = iter(tracers)
        given, named = changed(
            (args, params), lambda a: next(left) if isinstance(a, traced) else a
        )
        function(*given, **named)
        return []

    stage(call, avals, [""] * len(avals), "case", transform, face)
