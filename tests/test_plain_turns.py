"""Turns of loops shared by threads: which ones are, the same bits, the first failure.

Cites staged.turns, staged.turns.proved, staged.turns.fold, staged.turns.ordered
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forked import ends_well
from turns_programs import ORDERED, SHARED, Case, quarters

import traceir.numpy as jnp
import traceir_numba
from traceir import lax
from traceir_numba import cost_model
from traceir_numba.compat import prange


def name(case: Any) -> str:
    return str(case[0].__name__ if callable(case[0]) else name(case[0]))


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Turns are shared however few they are, in parts of few turns."""
    monkeypatch.setattr(cost_model, "SHARED_TURNS_TIME", 0)
    monkeypatch.setattr(cost_model, "TURN_PART_WORK", 0)
    monkeypatch.setattr(cost_model, "TURN_PARTS", 7)
    before = traceir_numba.threads()
    yield
    traceir_numba.set_threads(before)


def said(jitted: Any, args: tuple[Any, ...]) -> str:
    """The words of `explain` on a function's loops."""
    return str(jitted.explain(*args, what="speed"))


def left(function: Any, args: tuple[Any, ...]) -> list[Any]:
    """The results of a call, and its arguments after it."""
    given = deepcopy(args)
    found = function(*given)
    found = found if isinstance(found, tuple) else (found,)
    return [*map(np.asarray, found), *map(np.asarray, given)]


def compared(case: Case, threads: int) -> Any:
    """A function under the decorator, which has done what Python does."""
    function, args = case
    traceir_numba.set_threads(threads)
    jitted = traceir_numba.jit(function)
    for mine, theirs in zip(left(jitted, args), left(function, args), strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)
    return jitted


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("case", SHARED, ids=name)
def test_shared_turns_do_what_python_does(case: Case) -> None:
    jitted = compared(case, 3)
    assert "shared by 3 threads" in said(jitted, case[1])
    assert "def shared_" in jitted.source(*case[1])


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("case", ORDERED, ids=name)
def test_turns_that_wait_come_in_order(case: tuple[Case, str]) -> None:
    (function, args), why = case
    found = said(compared((function, args), 3), args)
    assert "shared by" not in found and why in found
    assert not why or "in order, line" in found or "in order, it" in found


def inexact(x: Any) -> Any:
    """A sum whose bits tell the order."""
    s, t = 0.1, 0.0
    for i in prange(len(x)):
        s += x[i]
        for j in range(3):
            t += x[i] * j
    return s, t


def test_bits_are_the_same_for_any_number_of_threads() -> None:
    x = np.random.default_rng(0).normal(size=30_000)
    jitted, found = traceir_numba.jit(inexact), []
    before = traceir_numba.threads()
    for threads in (1, 2, 3, 8):
        traceir_numba.set_threads(threads)
        found.append(jitted(x))
    traceir_numba.set_threads(before)
    assert len(set(found)) == 1
    np.testing.assert_allclose(found[0], inexact(x), 1e-12, 1e-10)
    assert found[0] != inexact(x)  # it is a sum of parts, or there are none


def test_a_plain_range_keeps_the_order_of_a_sum() -> None:
    def total(x: Any) -> Any:
        s = 0.1
        for i in range(len(x)):
            s += x[i]
        return s

    x = np.random.default_rng(0).normal(size=30_000)
    assert traceir_numba.jit(total)(x) == total(x)


def failing(x: Any, ok: Any) -> Any:
    """Some turns fail, each in its own way."""
    for i in prange(len(x)):
        x[i] = x[i] + 1
        assert ok[i] != 0, f"turn {i}"
        if ok[i] < 0:
            raise LookupError("turn", i)
    return x


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("threads", [1, 3])
def test_the_failure_of_the_first_turn_counts(threads: int) -> None:
    traceir_numba.set_threads(threads)
    x, ok = np.arange(60.0), np.ones(60)
    ok[[17, 44, 58]] = 0, -1, 0
    jitted = traceir_numba.jit(failing)
    with pytest.raises(AssertionError, match="turn 17"):
        jitted(x, ok)
    ok[9] = -3
    with pytest.raises(LookupError, match="9"):
        jitted(x, ok)
    np.testing.assert_array_equal(x, np.arange(60.0))
    assert "shared by" in said(jitted, (x, ok))


@pytest.mark.usefixtures("always")
def test_a_place_outside_in_a_turn_is_told() -> None:
    def reach(x: Any, at: Any) -> Any:
        out = np.zeros(len(at))
        for i in prange(len(at)):
            out[i] = x[at[i]]
        return out

    at = np.arange(50)
    at[[20, 30]] = 77, 99
    traceir_numba.set_threads(3)
    with pytest.raises(IndexError, match="77"):
        traceir_numba.jit(reach)(np.arange(50.0), at)


def test_few_turns_stay_in_one_function() -> None:
    def few(x: Any) -> Any:
        for i in prange(10):
            x[i] += i
        return x

    assert "def shared_" not in traceir_numba.jit(few).source(quarters(10))


def squares(n: Any) -> Any:
    s = 0
    for i in prange(n):
        s += i * i
    return s


@pytest.mark.usefixtures("always")
def test_turns_are_shared_in_several_threads_of_python_and_in_a_forked_child() -> None:
    traceir_numba.set_threads(3)
    jitted = traceir_numba.jit(squares)
    wanted = [squares(n) for n in range(200)]
    with ThreadPoolExecutor(4) as several:
        assert [*several.map(jitted, range(200))] == wanted

    def again() -> None:
        assert [jitted(n) for n in range(200)] == wanted

    assert ends_well(again)


@pytest.mark.usefixtures("always")
def test_threads_without_memory_of_their_own_are_told() -> None:
    size = 1 << 24  # numbers of 8 bytes: the system has to grant them

    def rows(x: Any) -> Any:
        out = np.zeros(len(x))
        for i in prange(len(x)):
            row = np.empty(size)
            for j in range(size):
                row[j] = x[i] + j
            out[i] = row[3]
        return out

    traceir_numba.set_threads(2)
    jitted, x = traceir_numba.jit(rows), np.arange(9.0)
    assert "shared by" in said(jitted, (x,))

    np.testing.assert_array_equal(jitted(x), x + 3)
    with open("/proc/self/statm") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    less = held + 4 * size, before[1]  # for half of an array more
    resource.setrlimit(resource.RLIMIT_AS, less)
    try:
        with pytest.raises(MemoryError, match="threads of a loop"):
            jitted(x)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    np.testing.assert_array_equal(jitted(x), x + 3)


@pytest.mark.usefixtures("always")
def test_an_exported_program_has_one_thread(tmp_path: Path) -> None:
    def thirds(x: Any) -> Any:
        return lax.fori_loop(0, 64, lambda i, c: c.at[i].set(x[i] * 3), jnp.zeros(64))

    x = np.arange(64, dtype=np.float32)
    traceir_numba.export(thirds, x, path=tmp_path / "thirds.py")
    spec = spec_from_file_location("thirds", tmp_path / "thirds.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    np.testing.assert_array_equal(module.thirds(x), x * 3)


def test_a_number_with_a_point_is_no_counter() -> None:
    def counted(n: int) -> Any:
        total = 0.5
        for _ in range(n):
            total = total + 1.0
        return total

    assert traceir_numba.jit(counted)(1000) == counted(1000)
