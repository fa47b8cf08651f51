"""Names of JAX's first level that few programs ask for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from traceir.arrays.devices import CpuDevice as Device
from traceir.jit.api import jit

__all__ = [
    "Device",
    "host_count",
    "host_id",
    "named_call",
    "named_scope",
    "process_count",
    "process_index",
    "process_indices",
]


@contextmanager
def named_scope(name: str) -> Iterator[None]:
    """Name a part of a function: a context manager, or a decorator.

    Names are for profiles of other implementations; here equations have lines, and
    nothing that is computed depends on a name. TypeError for a name that is no text.

    >>> with named_scope("attention"):
    ...     1 + 1
    2
    """
    if not isinstance(name, str):
        raise TypeError(f"a scope's name is a text, got {name!r}")
    yield


def named_call(
    fun: Callable[..., Any], *, name: str | None = None
) -> Callable[..., Any]:
    """A function as one `jit` equation of a name, wherever it is traced.

    >>> import traceir
    >>> f = named_call(lambda x: x + 1, name="step")
    >>> traceir.make_jaxpr(f)(1.0).eqns[0].param("name")
    'step'
    """

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        return fun(*args, **kwargs)

    if name is not None:
        call.__name__ = name
    found: Callable[..., Any] = jit(call)
    return found


def process_index(backend: str | None = None) -> int:
    """The number of this process among those that work together: there is one.

    >>> process_index(), process_count(), process_indices()
    (0, 1, [0])
    """
    return 0


def process_count(backend: str | None = None) -> int:
    """The number of processes that work together."""
    return 1


def process_indices(backend: str | None = None) -> list[int]:
    """The numbers of the processes that work together."""
    return [0]


host_id, host_count = process_index, process_count
