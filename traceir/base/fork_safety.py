"""Locks that a forked child never finds held, those of imports among them."""

from __future__ import annotations

import _imp
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

Lock = TypeVar("Lock", bound=Any)


# All that forks wait for, and those that the thread that forks now has taken.
_locks: list[Any] = []
_taken: list[Any] = []


def kept_over_forks(lock: Lock) -> Lock:
    """The lock, which any thread that forks holds meanwhile.

    Threads do not survive a fork, the locks that they hold do.

    >>> import threading
    >>> lock = kept_over_forks(threading.Lock())
    """
    _locks.append(lock)
    return lock


def _take_all() -> None:
    """Take all locks; while one is waited for none is held, so no order matters."""
    first: list[Any] = []
    while True:
        taken: list[Any] = []
        for lock in [*first, *(one for one in _locks if one not in first)]:
            if not lock.acquire(blocking=lock in first):
                break
            taken.append(lock)
        else:
            _taken[:] = taken
            return
        first = [lock]
        _release(taken)


def _release(taken: list[Any]) -> None:
    while taken:
        taken.pop().release()


def _imported_elsewhere() -> frozenset[str]:
    """The modules that other threads import, or are about to; none if this one imports,
    too.

    Python keeps a lock for each module that is being imported, and a child that asks
    for the module waits for it for ever.
    """
    known = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    locks = {name: ref() for name, ref in list(known.items())}
    if any(getattr(x, "owner", None) == threading.get_ident() for x in locks.values()):
        return frozenset()
    return frozenset(name for name, lock in locks.items() if lock is not None)


def _before() -> None:
    """Take all locks at a moment when no other thread imports, or once none has got on
    for ten seconds. Python's own lock keeps others from beginning to."""
    known: frozenset[str] = frozenset()
    late = 0.0
    while True:
        _take_all()
        _imp.acquire_lock()
        now, held = time.monotonic(), _imported_elsewhere()
        if held != known:
            known, late = held, now + 10
        if not held or now > late:
            return
        _after()
        time.sleep(0.001)


def _after() -> None:
    # These first: where a signal's handler has raised before, Python's is not held.
    _release(_taken)
    _imp.release_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)


def in_child(function: Callable[[], None]) -> Callable[[], None]:
    """A decorator: the function runs in each forked child, before anything else."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)
    return function
