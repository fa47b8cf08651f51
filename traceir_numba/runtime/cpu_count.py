"""The number of processors that this process may use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ROOT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")


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


def least_quota(root: Path = ROOT, own: Path = OWN) -> float | None:
    """The processors whose time the control groups around us grant; None for all.

    A group's limit holds for all groups in it. Inside a container the path that the
    process knows of may not exist; then the root's limit is the container's.
    """
    found = []
    for folder in _folders(root, own):
        found += [q for q in (_of_version_2(folder), _of_version_1(folder)) if q]
    return min(found, default=None)


def _folders(root: Path, own: Path) -> Iterator[Path]:
    """The folders of the groups that may limit the process, and of those around."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        tops = (root / controllers, root / "cpu") if controllers else (root,)
        relative = PurePosixPath(path.lstrip("/"))
        for top in tops:
            yield top / relative
            yield from (top / parent for parent in relative.parents)


def _of_version_2(folder: Path) -> float | None:
    try:
        quota, period = (folder / "cpu.max").read_text().split()
    except (OSError, ValueError):
        return None
    return None if quota == "max" else int(quota) / int(period)


def _of_version_1(folder: Path) -> float | None:
    try:
        quota = int((folder / "cpu.cfs_quota_us").read_text())
        period = int((folder / "cpu.cfs_period_us").read_text())
    except (OSError, ValueError):
        return None
    return quota / period if quota > 0 and period > 0 else None
