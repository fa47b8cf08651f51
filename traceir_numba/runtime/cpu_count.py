"""The processors that this process may use, and the one that it is on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from os import PathLike

ROOT = "/sys/fs/cgroup"
OWN = "/proc/self/cgroup"

# `pathlib` brings as much as all else that an import of this package does.
Folder = PathLike[str] | str


def processors() -> int:
    """The processors that may run this process, at least one.

    >>> processors() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    quota = least_quota()
    # Half a processor's time that is left over still pays for a thread.
    return max(1, count if quota is None else min(count, -int(-quota // 1)))


def current_processor() -> int:
    """The number of the processor that runs this thread; -1 where no system tells.

    >>> current_processor() >= -1
    True
    """
    return _asked()()


@cache
def _asked() -> Callable[[], int]:
    # Loaded with the compiler, which imports of this module do not need.
    from ctypes import PyDLL

    try:
        found: Callable[[], int] = PyDLL(None).sched_getcpu
    except (AttributeError, OSError, TypeError):  # no Linux
        return lambda: -1
    return found


def least_quota(root: Folder = ROOT, own: Folder = OWN) -> float | None:
    """The processors whose time the control groups around us grant; None for all.

    A group's limit holds for all groups in it. Inside a container the path that the
    process knows of may not exist; then the root's limit is the container's.
    """
    found = []
    for folder in _folders(root, own):
        found += [q for q in (_of_version_2(folder), _of_version_1(folder)) if q]
    return min(found, default=None)


def _folders(root: Folder, own: Folder) -> Iterator[str]:
    """The folders of the groups that may limit the process, and of those around."""
    try:
        lines = _text(own).splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        names = [name for name in path.split("/") if name not in ("", ".")]
        for top in (controllers, "cpu") if controllers else ("",):
            for count in range(len(names), -1, -1):
                yield os.path.join(root, top, *names[:count])


def _text(*path: Folder) -> str:
    with open(os.path.join(*path), encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def _of_version_2(folder: str) -> float | None:
    try:
        quota, period = _text(folder, "cpu.max").split()
    except (OSError, ValueError):
        return None
    return None if quota == "max" else int(quota) / int(period)


def _of_version_1(folder: str) -> float | None:
    try:
        quota = int(_text(folder, "cpu.cfs_quota_us"))
        period = int(_text(folder, "cpu.cfs_period_us"))
    except (OSError, ValueError):
        return None
    return quota / period if quota > 0 and period > 0 else None
