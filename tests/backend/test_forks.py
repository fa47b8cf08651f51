"""Children forked while other threads trace and compile do the same work again."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from forked import ends_well

import traceir
import traceir.numpy as jnp
from traceir.base.caches import cached_property

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")

X = np.arange(5, dtype=np.float32)


def sines(number: int) -> Callable[[Any], Any]:
    """A program that no other number has, and that takes a moment to compile."""

    def f(x: Any) -> Any:
        for k in range(5):
            x = jnp.sin(x) * (number + k + 0.5)
        return x

    return f


def test_a_child_compiles_what_others_were_compiling() -> None:
    numbers = count(100)
    last = threading.Event()
    begun: list[Any] = [traceir.jit(sines(99), backend="numba")]

    def compile_many() -> None:
        while not last.is_set():
            begun.append(traceir.jit(sines(next(numbers)), backend="numba"))
            begun[-1](X)

    thread = threading.Thread(target=compile_many)
    thread.start()
    try:
        for k in range(6):
            time.sleep(0.03 + 0.01 * k)
            new = traceir.jit(sines(k), backend="numba")
            assert ends_well(lambda: begun[-1](X))
            assert ends_well(partial(new, X))
    finally:
        last.set()
        thread.join()


def test_a_child_traces_what_others_were_tracing() -> None:
    tracing, go_on = threading.Event(), threading.Event()
    main = threading.get_ident()

    def f(x: Any) -> Any:
        if threading.get_ident() != main:
            tracing.set()
            go_on.wait()
        return x + 1

    jitted = traceir.jit(f, backend="reference")
    thread = threading.Thread(target=jitted, args=(X,))
    thread.start()
    try:
        assert tracing.wait(60)
        assert ends_well(lambda: jitted(X))
    finally:
        go_on.set()
        thread.join()
    assert jitted.cache_info().misses == 1


def test_a_child_forked_while_tracing_ends_the_trace() -> None:
    def f(x: Any) -> Any:
        assert ends_well(lambda: traceir.jit(jnp.cos, backend="reference")(X))
        return x + 1

    assert traceir.jit(f, backend="reference")(X).shape == (5,)


def test_a_child_imports_what_others_were_importing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "imported_slowly.py").write_text(
        "import sys, time\nsys.begun.set()\ntime.sleep(0.3)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    begun = threading.Event()
    monkeypatch.setattr(sys, "begun", begun, raising=False)
    load = partial(import_module, "imported_slowly")
    thread = threading.Thread(target=load)
    thread.start()
    assert begun.wait(60)
    try:
        assert ends_well(load, 20)
    finally:
        thread.join()


def test_a_module_may_fork_while_it_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import forked\nended = forked.ends_well(lambda: None)\n"
    (tmp_path / "imported_forking.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    assert import_module("imported_forking").ended


def test_a_child_calls_llvm_while_others_called_it() -> None:
    held, calling = llvm.ffi.lib._lock, threading.Event()

    def call() -> None:
        with held:
            calling.set()
            time.sleep(0.3)

    thread = threading.Thread(target=call)
    thread.start()
    assert calling.wait(60)
    try:
        assert ends_well(llvm.get_process_triple, 20)
    finally:
        thread.join()


def test_a_child_computes_an_attribute_that_others_were_computing() -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Slow:
        @cached_property
        def found(self) -> int:
            if threading.current_thread() is thread:
                begun.set()
                go_on.wait()
            return 1

    thread = threading.Thread(target=lambda: Slow().found)
    thread.start()
    try:
        assert begun.wait(60)
        assert ends_well(lambda: Slow().found, 20)
    finally:
        go_on.set()
        thread.join()
