"""Caches that threads share: a value is made once, and `clear_caches` drops it.

`functools.cache` calls its function as often as threads ask before the first is done,
and each thread gets what it has made itself. Where that is one object by its meaning,
or dear to make, `once` stands in its place.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from traceir.forks import kept_over_forks

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper as Cached

T = TypeVar("T")

_clear: list[Callable[[], object]] = []


def once(function: Callable[..., T]) -> Cached[T]:
    """As `functools.cache`, but each value is made once, however many threads ask.

    The others wait, so the function may import modules only if importing these does
    not call it.

    >>> @once
    ... def number(text):
    ...     return object()
    >>> number("a") is number("a")
    True
    """
    made = functools.cache(function)
    # Reentrant: a collection inside may run a user's code.
    lock = kept_over_forks(threading.RLock())

    @functools.cache
    @functools.wraps(function)
    def call(*args: Any) -> T:
        with lock:
            return made(*args)

    def clear() -> None:
        made.cache_clear()
        forget()

    forget, call.cache_clear = call.cache_clear, clear  # type: ignore[method-assign]
    return call


def cleared(clear: Callable[[], object]) -> Callable[[], object]:
    """Have `clear_caches` call this function: it drops what can be made anew."""
    _clear.append(clear)
    return clear


def clear_all() -> None:
    """Drop whatever was `cleared`."""
    for clear in [*_clear]:
        clear()
