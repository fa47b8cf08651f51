"""Locks that a fork waits for, so that the child does not find them held for ever."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

Lock = TypeVar("Lock", bound=Any)


def kept_over_forks(lock: Lock) -> Lock:
    """The lock, which any thread that forks holds meanwhile.

    Threads do not survive a fork, the locks that they hold do. Where one lock is taken
    inside another, the inner one is registered first: a fork takes them in reverse.

    >>> import threading
    >>> lock = kept_over_forks(threading.Lock())
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=lock.acquire,
            after_in_parent=lock.release,
            after_in_child=lock.release,
        )
    return lock


def in_child(function: Callable[[], None]) -> Callable[[], None]:
    """A decorator: the function runs in each forked child, before anything else."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)
    return function
