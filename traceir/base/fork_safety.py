"""Locks that a forked child never finds held, those of imports among them."""

from __future__ import annotations

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
    """The modules that other threads import; none if this one imports, too.

    Python keeps a lock for each module that is being imported, and a child that asks
    for the module waits for it for ever.
    """
    locks = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    held = {name: getattr(ref(), "owner", None) for name, ref in list(locks.items())}
    if threading.get_ident() in held.values():
        return frozenset()
    return frozenset(name for name, owner in held.items() if owner)


def _before() -> None:
    """Take all locks at a moment when no other thread imports, or once none has got on
    for ten seconds."""
    known: frozenset[str] = frozenset()
    late = 0.0
    _take_all()
    while held := _imported_elsewhere():
        now = time.monotonic()
        if held != known:
            known, late = held, now + 10
        elif now > late:
            return
        _release(_taken)
        time.sleep(0.001)
        _take_all()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before,
        after_in_parent=lambda: _release(_taken),
        after_in_child=lambda: _release(_taken),
    )


def in_child(function: Callable[[], None]) -> Callable[[], None]:
    """A decorator: the function runs in each forked child, before anything else."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)
    return function
