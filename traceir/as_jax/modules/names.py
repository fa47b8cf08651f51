"""Names of JAX's first level that few programs ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from traceir.arrays.devices import CpuDevice as Device

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
    """A function whose calls are in a scope of a name, by default its own.

    >>> import traceir
    >>> traceir.make_jaxpr(named_call(lambda x: x + 1, name="step"))(1.0)
    { lambda ; a:f32[]. let b:f32[] = add a 1.0:f32[] in (b,) }
    """
    found: Callable[..., Any] = named_scope(name or fun.__name__)(fun)
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
