"""Functions of `heapq` and `bisect`, written in Python and recorded.

Serves: staged.list, staged.effect

What C code does with a list is done once, while the function is traced, and is no part
of the program. A heap has the order of elements that Python's has.
"""

from __future__ import annotations

import bisect
import functools
import heapq
from collections.abc import Callable
from typing import Any

from traceir.face.arrays.loop_steps import TracedList
from traceir.face.control_flow.runtime import changed
from traceir.face.python.builtin_functions import FUNCTIONS as _BUILTINS
from traceir.face.python.written import staged
from traceir.tracing.trace import Tracer

_length = _BUILTINS["len"]


def _is_less(a: Any, b: Any) -> Any:
    """True if a number, or a tuple, is less than another one."""
    if not isinstance(a, tuple):
        return a < b
    less: Any = False
    same: Any = True
    for x, y in zip(a, b, strict=False):
        less = less | (same & (x < y))
        same = same & (x == y)
    return less


@staged
def _to_root(heap: Any, place: Any) -> None:
    """Move an element up until its parent is no greater."""
    item = heap[place]
    while place > 0:
        parent = (place - 1) // 2
        above = heap[parent]
        if not _is_less(item, above):
            break
        heap[place] = above
        place = parent
    heap[place] = item


@staged
def _to_leaf(heap: Any, place: Any) -> None:
    """Move an element down to a leaf, along the lesser children, and up from there."""
    count = _length(heap)
    item = heap[place]
    child = 2 * place + 1
    while child < count:
        right = child + 1
        if right < count and not _is_less(heap[child], heap[right]):
            child = right
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    _to_root(heap, place)


def _heappush(heap: Any, item: Any) -> None:
    heap.append(item)
    _to_root(heap, _length(heap) - 1)


@staged
def _heappop(heap: Any) -> Any:
    last = heap.pop()
    found = last
    if _length(heap) > 0:
        found = heap[0]
        heap[0] = last
        _to_leaf(heap, 0)
    return found


@staged
def _heapify(heap: Any) -> None:
    count = _length(heap)
    for k in range(count // 2):
        _to_leaf(heap, count // 2 - 1 - k)


def _heapreplace(heap: Any, item: Any) -> Any:
    found = heap[0]
    heap[0] = item
    _to_leaf(heap, 0)
    return found


@staged
def _heappushpop(heap: Any, item: Any) -> Any:
    if _length(heap) > 0 and _is_less(heap[0], item):
        first = heap[0]
        heap[0] = item
        _to_leaf(heap, 0)
        item = first
    return item


@staged
def _place(values: Any, item: Any, low: Any, high: Any, is_right: bool) -> Any:
    while low < high:
        middle = (low + high) // 2
        if is_right:
            is_before = not _is_less(item, values[middle])
        else:
            is_before = _is_less(values[middle], item)
        if is_before:
            low = middle + 1
        else:
            high = middle
    return low


def _bisect(is_right: bool) -> Callable[..., Any]:
    def found(values: Any, item: Any, lo: Any = 0, hi: Any = None) -> Any:
        high = _length(values) if hi is None else hi
        return _place(values, item, lo, high, is_right)

    return found


def _insort(is_right: bool) -> Callable[..., Any]:
    place = _bisect(is_right)

    def inserted(values: Any, item: Any, lo: Any = 0, hi: Any = None) -> None:
        values.insert(place(values, item, lo, hi), item)

    return inserted


def _recorded(original: Any, own: Callable[..., Any]) -> Any:
    """A function that is Python's of known elements, and else recorded."""

    @functools.wraps(original)
    def called(values: Any, *args: Any, **options: Any) -> Any:
        if isinstance(values, TracedList):
            return own(values, *args, **options)
        if type(values) is list and original not in _ASKING:
            changed(values)
        found = [*values, *args] if isinstance(values, (list, tuple)) else [values]
        parts = [p for v in found for p in (v if isinstance(v, tuple) else (v,))]
        is_traced = any(isinstance(part, Tracer) for part in (*parts, *args))
        return (own if is_traced else original)(values, *args, **options)

    return called


_ASKING = (bisect.bisect_left, bisect.bisect_right)
# By Python's functions, which may have several names.
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    original: _recorded(original, own)
    for original, own in {
        heapq.heappush: _heappush,
        heapq.heappop: _heappop,
        heapq.heapify: _heapify,
        heapq.heapreplace: _heapreplace,
        heapq.heappushpop: _heappushpop,
        bisect.bisect_left: _bisect(False),
        bisect.bisect_right: _bisect(True),
        bisect.insort_left: _insort(False),
        bisect.insort_right: _insort(True),
    }.items()
}
