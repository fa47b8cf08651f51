"""Caches shared by threads: filled once, bounded, cleared together.

`functools.cache` calls its function as often as threads ask before the first is done,
and each thread gets what it has made itself. If that is one object by its meaning, or
expensive to make, `once` stands in its place.
"""

from __future__ import annotations

import functools
import gc
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar, overload

from traceir.base.fork_safety import in_child, kept_over_forks

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
    >>> number("a") is number("a"), number.__wrapped__("a") is number("a")
    (True, False)
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
    call.__wrapped__ = function
    return call


class cached_property(Generic[T]):  # the name that the library has for it
    """An attribute that is computed when it is first read.

    As `functools.cached_property`, which in Python 3.11 holds a lock meanwhile: a child
    that is forked then would wait for it for ever. Threads may compute it at once; all
    get what the first one has made.

    >>> class Text(str):
    ...     @cached_property
    ...     def words(self):
    ...         return self.split()
    >>> text = Text("a b")
    >>> text.words, text.words is text.words
    (['a', 'b'], True)
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function = function
        self._name = function.__name__
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> Any:
        if instance is None:
            return self
        return vars(instance).setdefault(self._name, self._function(instance))


def cleared(clear: Callable[[], object]) -> Callable[[], object]:
    """Have `clear_caches` call this function, which drops what can be made anew."""
    _clear.append(clear)
    return clear


def clear_all() -> None:
    """Drop whatever was `cleared`."""
    for clear in [*_clear]:
        clear()


# Who wants no collections now, and whether there were any before the first of them.
_paused = {"by": 0, "were": False}
_pause_lock = kept_over_forks(threading.RLock())


@contextmanager
def uncollected() -> Iterator[None]:
    """No collections of garbage inside, in any thread.

    Where much is made that stays, modules or a program, a collection visits all of it
    and frees nothing: a third of the time of a long compilation.

    >>> with uncollected():
    ...     gc.isenabled()
    False
    """
    with _pause_lock:
        if not _paused["by"]:
            _paused["were"] = gc.isenabled()
            gc.disable()
        _paused["by"] += 1
    try:
        yield
    finally:
        with _pause_lock:
            _paused["by"] = max(0, _paused["by"] - 1)
            _end_pause()


def _end_pause() -> None:
    if not _paused["by"] and _paused["were"]:
        gc.enable()


@in_child
def _collect_in_child() -> None:
    # It does not have the threads that are inside.
    if _paused["by"]:
        _paused["by"] = 0
        _end_pause()


class LRUCache(Generic[T]):
    """An LRU cache that keeps the values used last alive, even if nothing else holds
    them.

    >>> recent = LRUCache(2)
    >>> for name in "abac":
    ...     _ = recent.use(name, name.upper())
    >>> recent.values()
    ['A', 'C']
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._held: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = kept_over_forks(threading.RLock())
        cleared(self.clear)

    def use(self, key: Hashable, value: T) -> T:
        """The value, which is the one that was used last from now on."""
        dropped: list[object] = []  # so that they die when the lock is free
        with self._lock:
            dropped.append(self._held.pop(key, None))
            self._held[key] = value
            while len(self._held) > self.size:
                dropped.append(self._held.popitem(last=False))
        return value

    def values(self) -> list[T]:
        """The values in the cache, the one used last at the end."""
        with self._lock:
            return list(self._held.values())

    def clear(self) -> None:
        """Hold nothing."""
        with self._lock:
            held, self._held = self._held, OrderedDict()
        held.clear()


# --- the process's numbers -----------------------------------------------

# Numbers that `config.update` sets, and variables such as TRACEIR_TRACE_CACHE_SIZE.
LIMITS: dict[str, int] = {
    "trace_cache_size": 4096,
    "num_cpu_devices": 1,
    "num_cuda_devices": 1,
}
# Those that somebody has set.
LIMITS_SET: set[str] = set()


def set_limit(name: str, value: object) -> None:
    """Set a limit; TypeError or ValueError unless it is a whole number above 0."""
    if type(value) is not int:
        raise TypeError(f"the flag {name} is a whole number, got {value!r}")
    if value < 1:
        raise ValueError(f"the flag {name} is 1 at least, got {value!r}")
    LIMITS[name] = value
    LIMITS_SET.add(name)


def limits_from_environment(environment: Mapping[str, str]) -> None:
    """Set the limits that variables give; ValueError unless they are above 0.

    Those of JAX's name, as JAX_NUM_CPU_DEVICES, count where ours are not set.
    """
    for name in LIMITS:
        own, foreign = f"TRACEIR_{name.upper()}", f"JAX_{name.upper()}"
        variable = own if environment.get(own) else foreign
        text = environment.get(variable, "").strip()
        if text and not (text.isdecimal() and int(text)):
            raise ValueError(f"{variable} must be 1 at least, got {text!r}")
        if text:
            set_limit(name, int(text))


limits_from_environment(os.environ)


class Counted(Protocol):
    """An object that counts its uses."""

    hits: int


C = TypeVar("C", bound=Counted)


class ClockEviction(Generic[C]):
    """The choice of entries to evict, among those of many caches, when there are too
    many.

    The CLOCK algorithm, which is LRU nearly: a hand goes around, and what was used
    since it came by last stays. So a use costs no more than to count it. Things are
    held weakly.
    """

    def __init__(self, limit: str) -> None:
        self.limit = limit
        # How often each was used when the hand came by, and what drops it.
        self._seen: OrderedDict[weakref.ref[C], tuple[int, Callable[[C], None]]]
        self._seen = OrderedDict()
        self._lock = kept_over_forks(threading.RLock())

    def add(self, thing: C, drop: Callable[[C], None]) -> None:
        """Enter a thing; superfluous ones are dropped, outside every lock."""
        old: list[tuple[C, Callable[[C], None]]] = []
        with self._lock:
            while len(self._seen) >= LIMITS[self.limit]:
                old += self._turn()
            self._seen[weakref.ref(thing, self._forget)] = thing.hits, drop
        for one, its_drop in old:
            its_drop(one)

    def _turn(self) -> list[tuple[C, Callable[[C], None]]]:
        """Move the hand by one: the thing there, if it goes."""
        reference, (hits, drop) = self._seen.popitem(last=False)
        thing = reference()
        if thing is None:
            return []
        if thing.hits == hits:
            return [(thing, drop)]
        self._seen[reference] = thing.hits, drop
        return []

    def _forget(self, reference: weakref.ref[C]) -> None:
        # Without the lock: things die at any moment, also while a fork has it.
        self._seen.pop(reference, None)

    def __len__(self) -> int:
        return len(self._seen)
