"""A limit of one thread on BLAS for small matrices. Serves: cholesky

OpenBLAS shares matrices of some hundred rows among its threads, which then wait in a
busy loop for more to do, on the processors that the next kernel wants.

The package threadpoolctl does the same for more libraries. It is not used here because
entering and leaving its limit takes longer than factorizing a small matrix, and because
two threads that leave theirs in another order than they entered may leave one thread
behind (measured in `docs/measurements.rst`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from importlib import import_module
from threading import RLock
from typing import Any, TypeVar, cast

import numpy as np

from traceir.base import cost_model
from traceir.base.fork_safety import in_child, kept_over_forks

K = TypeVar("K", bound=Callable[..., Any])
Count = tuple[Callable[[], int], Callable[[int], None]]

# Reentrant: a collection inside may run a user's code.
_lock = kept_over_forks(RLock())


class _Inside:
    """The count of calls that want one thread now, and of the threads before."""

    calls = 0
    before = 1


@in_child
def _begin_alone() -> None:
    """Other threads, which wanted one thread of the library, are not in a child."""
    count = count_of() if _Inside.calls else None
    _Inside.calls = 0
    if count is not None and _Inside.before > 1:
        count[1](_Inside.before)


@cache
def count_of() -> Count | None:
    """The thread count of SciPy's OpenBLAS, which can be changed; None for other
    libraries.
    """
    try:
        library = ctypes.CDLL(str(import_module("scipy.linalg._flapack").__file__))
        read = library.scipy_openblas_get_num_threads
        write = library.scipy_openblas_set_num_threads
    except (ImportError, OSError, AttributeError):
        return None
    write.restype = None
    return read, write


@contextmanager
def one_thread() -> Iterator[None]:
    """Within it the library keeps to the thread that calls it.

    >>> with one_thread():
    ...     count = count_of()
    ...     count is None or count[0]() == 1
    True
    """
    count = count_of()
    if count is None:
        yield
        return
    read, write = count
    with _lock:
        if not _Inside.calls:
            _Inside.before = read()
            if _Inside.before > 1:
                write(1)
        _Inside.calls += 1
    try:
        yield
    finally:
        with _lock:
            _Inside.calls -= 1
            if not _Inside.calls and _Inside.before > 1:
                write(_Inside.before)


def alone(function: K) -> K:
    """A kernel that keeps to one thread where its matrices are small.

    >>> alone(np.linalg.cholesky)(np.eye(2)).shape
    (2, 2)
    """

    @wraps(function)
    def kept(*arrays: np.ndarray, **params: Any) -> Any:
        if all(
            x.shape[-2] * x.shape[-1] <= cost_model.SINGLE_THREAD_ELEMENTS
            for x in arrays
        ):
            with one_thread():
                return function(*arrays, **params)
        return function(*arrays, **params)

    return cast(K, kept)
