"""Agreement of processes that work together: there is one."""

from __future__ import annotations

from typing import Any

__all__ = ["broadcast_one_to_all", "process_allgather", "sync_global_devices"]


def sync_global_devices(name: str) -> None:
    """Wait for all processes: this one is all of them.

    >>> sync_global_devices("saved")
    """


def broadcast_one_to_all(tree: Any, is_source: bool | None = None) -> Any:
    """The values of the first process, which is this one.

    >>> broadcast_one_to_all({"a": 1})
    {'a': 1}
    """
    return tree


def process_allgather(tree: Any, tiled: bool = False) -> Any:
    """The values of all processes: of this one.

    With `tiled`, or for one process, they are as they are.

    >>> process_allgather([1.5])
    [1.5]
    """
    return tree
