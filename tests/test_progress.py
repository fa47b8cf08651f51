"""Progress of long work: on terminals and in notebooks alone, and then with counts.

Cites: cache.flag.progress
"""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from forked import ends_well

import traceir
import traceir.numpy as jnp
from traceir.base import cost_model, progress
from traceir.ir.unroll_report import longest_line
from traceir.jit import backends


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        """True, as of a terminal."""
        return True


class OutStream(io.StringIO):
    """A stream as notebooks have it, which is no terminal."""


OutStream.__module__ = "ipykernel.iostream"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything takes long."""
    monkeypatch.setattr(progress, "AFTER", 0.0)
    monkeypatch.setattr(progress, "PAUSE", 0.001)
    monkeypatch.setenv("TERM", "xterm")


def shows(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def until(condition: Callable[[], bool]) -> None:
    """Wait for another thread, for a minute at most."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.mark.parametrize("kind", [Terminal, OutStream])
def test_a_long_trace_is_told(
    kind: type[io.StringIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = shows(kind(), monkeypatch)

    def slow(x: Any) -> Any:
        x = jnp.sin(jnp.sin(x))
        until(lambda: "2 equations, at line" in stream.getvalue())
        return x

    traceir.make_jaxpr(slow)(1.0)
    line = slow.__code__.co_firstlineno + 1
    place = f"2 equations, at line {line} of test_progress.py"
    shown = stream.getvalue().split("\r")
    assert any(t.startswith("tracing slow (0.") and place in t for t in shown)
    assert "tracing slow took" in shown[-1] and place in shown[-1]
    assert shown[-1].endswith("\n")


@pytest.mark.parametrize("off", ["flag", "file", "dumb"])
def test_nothing_is_told_where_nobody_looks(
    off: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = shows(io.StringIO() if off == "file" else Terminal(), monkeypatch)
    if off == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    with traceir.progress(off != "flag"), progress.progress("waiting", str):
        assert not progress._watches
    assert stream.getvalue() == ""


def test_a_compilation_is_told_with_its_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = shows(Terminal(), monkeypatch)

    def double(x: Any) -> Any:
        return x * 2

    closed = traceir.make_jaxpr(double)(1.0)

    class Backend:
        """A backend that takes its time."""

        @staticmethod
        def compile(closed: Any, name: str) -> Any:
            """Wait in a stage until it is told."""
            progress.at_phase("emit")
            until(lambda: "s, emit): 1 equation" in stream.getvalue())
            return closed

    monkeypatch.setattr(backends, "resolve", lambda name: Backend)
    backends.compile_program(closed, "slow", True)
    assert "\rcompiling double (" in stream.getvalue()
    assert "\rcompiling double took " in stream.getvalue()


def test_the_innermost_work_is_told_and_an_error_wipes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = shows(Terminal(), monkeypatch)
    with (
        pytest.raises(ZeroDivisionError),
        progress.progress("outer", lambda: "1"),
        progress.progress("inner", lambda: "2"),
    ):
        until(lambda: "inner (0.0 s): 2" in stream.getvalue())
        raise ZeroDivisionError
    *_, blank, last = stream.getvalue().split("\r")
    assert (blank.strip(), last) == ("", "")
    assert "took" not in stream.getvalue() and not progress._watches


def test_one_thread_is_told_of_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = shows(Terminal(), monkeypatch)

    def other() -> None:
        with progress.progress("other", lambda: "2"):
            progress.at_phase("of the other")

    with progress.progress("own", lambda: "1"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        until(lambda: "own (0." in stream.getvalue())
    assert "other" not in stream.getvalue()


def test_counts_that_change_meanwhile_are_left_out() -> None:
    def changed() -> str:
        raise RuntimeError("deque mutated during iteration")

    assert progress._told(changed) == "..."


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_of_a_fork_ends_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    shows(Terminal(), monkeypatch)
    work = progress.progress("forking", lambda: "1")
    work.__enter__()
    assert ends_well(lambda: work.__exit__(None, None, None))
    work.__exit__(None, None, None)
    assert not progress._watches


def test_the_line_that_python_unrolled_is_named() -> None:
    def steps(x: Any) -> Any:
        for _ in range(cost_model.REPORTED_EQUATIONS):
            x = jnp.sin(x)
        return jnp.cos(x)

    with traceir.unrolled_loops("allow"):
        told = longest_line(traceir.make_jaxpr(steps)(1.0))
    line = steps.__code__.co_firstlineno + 2
    assert told == (
        f"1,001 equations; line {line} of test_progress.py, unrolled, has 1,000"
    )
