"""The memory of a process: functions that nobody has any more, and those in use.

Cites cache.event.die, cache.event.clear, cache.bound
"""

from __future__ import annotations

import functools
import gc
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from soak import SOAK

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.base import caches, config
from traceir.base.caches import ClockEviction, LRUCache
from traceir.jit.cache import trace_cache
from traceir.store.files import current
from traceir_numba import backend, cost_model
from traceir_numba.pipeline import kernel_cache
from traceir_numba.runtime import code_loader, elf
from traceir_numba.runtime.allocator import memory_info
from traceir_numba.store import units

jit = functools.partial(traceir.jit, backend="numba")
X = np.arange(10, dtype=np.float32)
FEW = 40


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test begins and ends without what others have compiled, and keeps little."""
    monkeypatch.setattr(kernel_cache._recent, "size", 8)
    monkeypatch.setattr(units._recent, "size", 8)
    traceir.clear_caches()
    gc.collect()
    yield
    traceir.clear_caches()


def one(k: float) -> Any:
    """A function of its own for each number, called so often that it is guarded."""
    f = jit(lambda x: x * np.float32(k) + 1)
    for _ in range(4):
        np.testing.assert_allclose(f(X), X * np.float32(k) + 1, rtol=1e-6)
    return f


def with_loop(k: float) -> Any:
    """One whose loop is a routine, which calls kernels of its own."""
    f = jit(lambda x: lax.fori_loop(0, 3, lambda _, y: jnp.sin(y) * np.float32(k), x))
    f(X)
    return f


def live() -> tuple[int, ...]:
    """The counts of object files, kernels, entries and files' owners."""
    store = current()
    assert store is not None
    return (
        code_loader.images(),
        len(kernel_cache._kernels),
        len(trace_cache._eviction),
        len(store.kept),
    )


@pytest.mark.parametrize("make", [one, with_loop])
def test_code_is_freed_with_its_function(make: Callable[[float], Any]) -> None:
    gc.disable()  # whatever dies, dies with its last user
    try:
        make(0.25)  # loads what all share
        traceir.clear_caches()
        before = live()
        functions = [make(k + 0.5) for k in range(FEW)]
        assert code_loader.images() >= before[0] + FEW
        assert len(trace_cache._eviction) >= before[2] + FEW
        functions.clear()
        # All but those that were used last.
        assert code_loader.images() <= before[0] + 3 * 8
        assert len(kernel_cache._kernels) <= before[1] + 8
        traceir.clear_caches()
        assert live() == before
    finally:
        gc.enable()


@pytest.fixture
def loaded_by_llvm(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Code is loaded by LLVM, as where this system's format is not known."""
    monkeypatch.setattr(elf, "is_loaded_here", lambda: False)
    yield
    traceir.clear_caches()
    gc.collect()


@pytest.mark.usefixtures("loaded_by_llvm")
def test_engines_are_freed_but_for_the_one_that_is_filled() -> None:
    functions = [one(k + 0.125) for k in range(3 * cost_model.ENGINE_OBJECTS)]
    loads = [x for x in code_loader._free.values() if isinstance(x, functools.partial)]
    engines = list({id(load.args[0]): load.args[0] for load in loads}.values())
    assert len(engines) >= 3
    loads.clear()
    functions.clear()
    traceir.clear_caches()
    closed = [engine for engine in engines if engine.engine.closed]
    assert len(closed) >= 2 and not any(engine.used for engine in closed)


def test_a_function_that_is_made_anew_is_not_compiled_anew() -> None:
    one(7.5)
    before = backend.compile_count()
    for _ in range(5):
        one(7.5)
    assert backend.compile_count() == before


def test_clearing_frees_what_no_call_uses() -> None:
    others = len(trace_cache._eviction)  # such as what a test that failed still holds
    f = one(3.5)
    before = code_loader.images()
    assert len(trace_cache._eviction) > others
    traceir.clear_caches()
    assert code_loader.images() < before
    assert f.cache_info().currsize == 0 and len(trace_cache._eviction) == others
    np.testing.assert_allclose(f(X), X * np.float32(3.5) + 1)


def test_clear_cache_frees_the_code_of_one_function() -> None:
    f, g = one(3.5), one(4.5)
    kernel_cache._recent.clear()
    units._recent.clear()
    before = code_loader.images()
    f.clear_cache()
    assert code_loader.images() == before - 1
    g(X)


def test_code_stays_under_a_call_in_another_thread() -> None:
    """A call holds what it runs, whatever is cleared meanwhile."""
    x = np.linspace(0, 1, 200_000, dtype=np.float32)
    expected = np.asarray(jit(lambda x: lax.fori_loop(0, 20, _step, x))(x))
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            f = jit(lambda x: lax.fori_loop(0, 20, _step, x))
            np.testing.assert_array_equal(np.asarray(f(x)), expected)

    with ThreadPoolExecutor(3) as pool:
        results = [pool.submit(work) for _ in range(3)]
        try:
            for _ in range(10):
                traceir.clear_caches()
                one(1.5)
        finally:
            stop.set()
        for result in results:
            result.result(60)


def _step(_: Any, x: Any) -> Any:
    return jnp.sin(x) * 1.01


# -- the bound on traces ---------------------------------------------------------------


@pytest.fixture
def few() -> Iterator[int]:
    """A process that keeps few traces."""
    before = config.jax_trace_cache_size
    config.update("trace_cache_size", 10)
    yield 10
    config.update("trace_cache_size", before)


def reference(x: Any, n: int = 1) -> Any:
    return x + n


def test_a_function_keeps_so_many_traces(few: int) -> None:
    f = traceir.jit(lambda x, n: x * n, static_argnums=1, backend="reference")
    for n in range(3 * few):
        assert f(2, n) == 2 * n
    assert f.cache_info().currsize == len(trace_cache._eviction) == few
    # Raw keys, guards and the last runner have gone with the entries.
    (runners,) = f._cache.fast.values()
    assert len(runners) <= few + 2


def test_the_bound_is_of_all_functions(few: int) -> None:
    functions = [
        traceir.jit(lambda x, k=k: x + k, backend="reference") for k in range(2 * few)
    ]
    for k, f in enumerate(functions):
        assert f(1) == 1 + k
    assert sum(f.cache_info().currsize for f in functions) == few
    assert functions[0](1) == 1 and functions[0].cache_info().currsize == 1


def test_what_is_used_stays(few: int) -> None:
    traced = []

    def body(x: Any) -> Any:
        traced.append(1)
        return x + 1

    f = traceir.jit(body, backend="reference")
    for n in range(5 * few):
        assert f(np.ones(3, np.float32))[0] == 2
        traceir.jit(lambda x, n=n: x + n, backend="reference")(1)
    assert len(traced) == 1
    others = [traceir.jit(lambda x, k=k: x + k) for k in range(3 * few)]
    for other in others:
        other(1)
    assert f.cache_info().currsize == 0
    assert f(np.ones(3, np.float32))[0] == 2 and len(traced) == 2


def test_a_dropped_trace_leaves_its_guard_and_donors(few: int) -> None:
    f = traceir.jit(lambda x: x + 1, donate_argnums=0, backend="numba")
    g = jit(lambda x: x + 1)
    for n in range(1, 3 * few):
        for _ in range(4):
            assert f(jnp.ones(n)).shape == g(np.ones(n, np.float32)).shape == (n,)
    assert len(trace_cache._eviction) == few
    assert f.cache_info().currsize + g.cache_info().currsize <= few


def test_threads_that_trace_more_than_is_kept(few: int) -> None:
    f = traceir.jit(lambda x, n: x * n, static_argnums=1, backend="reference")

    def work(first: int) -> bool:
        return all(f(2, n) == 2 * n for n in range(first, first + 60))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(0, 80, 10)))
    assert f.cache_info().currsize <= few


@pytest.mark.parametrize("value", [0, -1, 2.0, "3", True, None])
def test_the_bound_is_a_number(value: Any) -> None:
    kind = ValueError if type(value) is int else TypeError
    with pytest.raises(kind, match="trace_cache_size"):
        config.update("trace_cache_size", value)


def test_the_environment_sets_the_bound(few: int) -> None:
    caches.limits_from_environment({"TRACEIR_TRACE_CACHE_SIZE": "77"})
    assert config.jax_trace_cache_size == 77
    for text in ("0", "many", "-3"):
        with pytest.raises(ValueError, match="TRACEIR_TRACE_CACHE_SIZE"):
            caches.limits_from_environment({"TRACEIR_TRACE_CACHE_SIZE": text})


class _Used:
    hits = 0


def test_the_hand_of_the_clock(few: int) -> None:
    clock: ClockEviction[_Used] = ClockEviction("trace_cache_size")
    gone: list[_Used] = []
    things = [_Used() for _ in range(few)]
    for thing in things:
        clock.add(thing, gone.append)
    things[0].hits = 1
    more = [_Used() for _ in range(few - 1)]
    for thing in more:
        clock.add(thing, gone.append)
    assert gone == things[1:] and len(clock) == few
    del thing
    more.clear()  # what nobody has leaves by itself
    assert len(clock) == 1


def test_recent_values_are_let_go_one_by_one() -> None:
    recent: LRUCache[str] = LRUCache(2)
    for name in ("a", "b", "a", "c"):
        assert recent.use(name, name) == name
    assert recent.values() == ["a", "c"]
    caches.clear_all()
    assert recent.values() == []


# -- what is cleared besides -----------------------------------------------------------


def test_plans_of_eager_operations_are_cleared() -> None:
    from traceir.eager.dispatch import _all

    x = jnp.ones(13)
    for _ in range(3):
        x + x
        jnp.sin(x)
        x[1:]
    assert any(plans.known for plans in _all)
    traceir.clear_caches()
    assert not any(plans.known or plans.seen for plans in _all)
    assert (x + x)[0] == 2


# -- the process as a whole ------------------------------------------------------------


def resident() -> int:
    """The bytes of memory that this process has, where the system tells."""
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) << 10
    return 0


_static = jit(lambda x, n: x * n + jnp.sin(x), static_argnums=1)
_shaped = jit(lambda x: x * 2 + jnp.sin(x))
GROWTHS: dict[str, Callable[[int], Any]] = {
    "functions": lambda k: one(k + 0.75),
    "statics": lambda k: _static(X, k),
    "shapes": lambda k: _shaped(np.ones(k + 1, np.float32)),
}


# What comes first fills what is bounded; then nothing grows.
FIRST, ALL = (1000, 5000) if SOAK else (30, 70)


@pytest.mark.parametrize("what", GROWTHS)
def test_nothing_grows_after_the_bound(what: str, few: int) -> None:
    """Live objects are counted; in the soak of thousands memory is, too."""
    work = GROWTHS[what]
    for k in range(FIRST):
        work(k)
    gc.collect()
    before, memory = live(), resident()
    for k in range(FIRST, ALL):
        work(k)
    gc.collect()
    assert all(now <= then + 2 for now, then in zip(live(), before, strict=True))
    if SOAK:
        # Of each compilation llvmlite keeps 1,472 bytes, the callbacks of its passes;
        # as much is lost between them. In one context for all LLVM would keep 1,800
        # more, its constants and types.
        assert (resident() - memory) / (ALL - FIRST) < 4096


# Bytes for each function that lives, and of its machine code: docs/howto/memory.rst.
A_FUNCTION, ITS_CODE = 100_000, 16_000


def test_functions_that_live_take_what_is_stated() -> None:
    many = 5000 if SOAK else FEW
    one(0.125)
    gc.collect()
    before, memory = memory_info(), resident()
    functions = [one(k + 0.625) for k in range(many)]
    kept = min(many, config.jax_trace_cache_size)
    now = memory_info()
    assert kept <= now.objects - before.objects <= many
    assert now.code - before.code < ITS_CODE * kept
    if SOAK:
        assert resident() - memory < A_FUNCTION * kept
    functions.clear()
    gc.collect()
    assert memory_info().objects <= before.objects + 3 * 8
    assert memory_info().code < now.code
