"""The number of processors: affinity, and control groups of both versions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from traceir_numba.runtime import cpu_count, thread_pool


def group(root: Path, path: str, **files: str) -> None:
    """A control group with these files."""
    folder = root / path
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def quota(root: Path, lines: str) -> float | None:
    """The least quota for a process in these groups."""
    own = root / "own"
    own.write_text(lines)
    return cpu_count.least_quota(root, own)


@pytest.mark.parametrize(
    ("text", "want"),
    [("150000 100000", 1.5), ("max 100000", None), ("50000 100000", 0.5), ("", None)],
)
def test_version_2(tmp_path: Path, text: str, want: float | None) -> None:
    group(tmp_path, "a/b", cpu__max=text)
    assert quota(tmp_path, "0::/a/b\n") == want


def test_a_group_around_limits_those_inside(tmp_path: Path) -> None:
    group(tmp_path, "a", cpu__max="100000 100000")
    group(tmp_path, "a/b", cpu__max="300000 100000")
    assert quota(tmp_path, "0::/a/b\n") == 1
    group(tmp_path, ".", cpu__max="20000 100000")
    assert quota(tmp_path, "0::/a/b\n") == 0.2


def test_a_path_of_outside_leaves_the_limit_of_the_root(tmp_path: Path) -> None:
    group(tmp_path, ".", cpu__max="200000 100000")
    assert quota(tmp_path, "0::/elsewhere/entirely\n") == 2


@pytest.mark.parametrize(
    ("microseconds", "want"), [("250000", 2.5), ("-1", None), ("x", None)]
)
def test_version_1(tmp_path: Path, microseconds: str, want: float | None) -> None:
    files = {"cpu__cfs_quota_us": microseconds, "cpu__cfs_period_us": "100000"}
    group(tmp_path, "cpu,cpuacct/a", **files)
    lines = "5:memory:/m\n4:cpu,cpuacct:/a\n0::/\n"
    assert quota(tmp_path, lines) == want


def test_without_control_groups(tmp_path: Path) -> None:
    assert cpu_count.least_quota(tmp_path, tmp_path / "nothing") is None


@pytest.mark.parametrize(
    ("granted", "want"), [(None, 3), (0.5, 1), (1.5, 2), (2.0, 2), (64.0, 3)]
)
def test_the_least_counts(
    monkeypatch: pytest.MonkeyPatch, granted: float | None, want: int
) -> None:
    monkeypatch.setattr(cpu_count, "least_quota", lambda: granted)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2, 5}, raising=False)
    assert cpu_count.processors() == want


@pytest.mark.parametrize(("text", "want"), [("5", 5), (" 2 ", 2), ("", 3), (" ", 3)])
def test_the_environment_comes_first(
    monkeypatch: pytest.MonkeyPatch, text: str, want: int
) -> None:
    monkeypatch.setattr(thread_pool, "processors", lambda: 3)
    monkeypatch.setenv("TRACEIR_NUM_THREADS", text)
    assert thread_pool.number_of_threads() == want


@pytest.mark.parametrize("text", ["0", "-1", "x", "1.5"])
def test_what_is_no_number_of_threads_is_told(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(thread_pool, "processors", lambda: 3)
    monkeypatch.setenv("TRACEIR_NUM_THREADS", text)
    with pytest.warns(RuntimeWarning, match=f"TRACEIR_NUM_THREADS.*{text!r}"):
        assert thread_pool.number_of_threads() == 3
