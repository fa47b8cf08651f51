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


def _importing() -> bool:
    """True while other threads import modules, unless this one does.

    Python keeps a lock for each module that is being imported, and a child that asks
    for the module waits for it for ever.
    """
    locks = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    held = [getattr(ref(), "owner", None) for ref in list(locks.values())]
    return threading.get_ident() not in held and any(held)


def _before() -> None:
    """Take all locks at a moment when no other thread imports, or after ten seconds."""
    late = time.monotonic() + 10
    _take_all()
    while _importing() and time.monotonic() < late:
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
