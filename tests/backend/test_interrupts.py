"""Ctrl-C in long calls: a real signal, the call ends soon, and the next one is right.

Cites: backend.compile
"""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import textwrap
import time
from typing import Any

import pytest
from soak import SOAK

from traceir_numba import cost_model
from traceir_numba.llvm import safepoints

# A program that says when it begins its long call, and what becomes of it.
HEAD = """
import resource, sys, threading, time
import numpy as np
import traceir, traceir.numpy as jnp, traceir_numba
from traceir import lax

def long(f):
    return traceir.jit(f, backend="numba")

def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

"""
TAIL = """
right = [np.asarray(x) for x in short()]
before = memory()
print("begins", flush=True)
try:
    call()
    print("ended by itself", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
late = time.monotonic() + 20  # threads end the pieces that they have
while memory() - before >= 10**8 and time.monotonic() < late:
    time.sleep(0.05)
assert memory() - before < 10**8, (before, memory())
for one, expected in zip(short(), right, strict=True):
    np.testing.assert_array_equal(one, expected)
print("right", flush=True)
"""
CALLS = {
    "a while loop": """
        f = long(lambda n: lax.while_loop(
            lambda c: c[0] < n, lambda c: (c[0] + 1, jnp.sin(c[1])), (0, 1.0)))
        call, short = lambda: f(2_000_000_000), lambda: f(10)
    """,
    "a loop of scalars": """
        n = 2_000_000_000
        f = long(lambda x: lax.fori_loop(0, n, lambda i, c: c * 0.5 + x, x))
        g = long(lambda x: lax.fori_loop(0, 10, lambda i, c: c * 0.5 + x, x))
        call, short = lambda: f(1.0), lambda: [g(1.0)]
    """,
    "loops in a loop": """
        def inner(c, x):
            return lax.while_loop(
                lambda q: q[0] < 1000, lambda q: (q[0] + 1, q[1] * 0.5 + x), (0, c)
            )[1]

        f = long(lambda x: lax.fori_loop(0, 10**8, lambda i, c: inner(c, x), x))
        g = long(lambda x: lax.fori_loop(0, 2, lambda i, c: inner(c, x), x))
        call, short = lambda: f(1.0), lambda: [g(1.0)]
    """,
    "a loop of arrays": """
        x = np.ones(1 << 20, np.float32)
        f = long(lambda x: lax.fori_loop(0, 10**6, lambda i, c: jnp.sin(c) + x, x))
        g = long(lambda x: lax.fori_loop(0, 2, lambda i, c: jnp.sin(c) + x, x))
        call, short = lambda: f(x), lambda: [g(x)]
    """,
    "a kernel in all threads": """
        from traceir.scipy.special import gammainc
        x = np.full(1 << 25, 2.5, np.float32)
        f = long(lambda x: gammainc(x, gammainc(x, x + 1) + x))
        call, short = lambda: f(x), lambda: [f(x[:1000])]
    """,
    "a kernel in one thread": """
        traceir_numba.set_threads(1)
        from traceir.scipy.special import gammainc
        x = np.full(1 << 25, 2.5, np.float32)
        f = long(lambda x: gammainc(x, gammainc(x, x + 1) + x))
        call, short = lambda: f(x), lambda: [f(x[:1000])]
    """,
    "a kernel that runs in order": """
        x, at = np.ones(1 << 24, np.float32), np.zeros(1 << 24, np.int32)
        f = long(lambda x, at: jnp.zeros(10).at[at].add(jnp.tanh(x * at)))
        def call():
            while True:  # a call may end first; what it leaves for the next is 64 MiB
                f(x, at)
        short = lambda: [f(x[:1000], at[:1000])]
    """,
    "turns of a loop": """
        from traceir_numba.compat import njit, prange

        @njit
        def sums(n):
            found = 0.0
            for i in prange(n):
                x = 0.0
                for j in range(n):
                    x = x * 0.5 + i * j
                found += x
            return found

        call, short = lambda: sums(2_000_000), lambda: [sums(1000)]
    """,
    "turns of a loop in one thread": """
        from traceir_numba.compat import njit, prange

        traceir_numba.set_threads(1)

        @njit
        def sums(n):
            found = 0.0
            for i in prange(n):
                found += np.sin(i * 0.5)
            return found

        call, short = lambda: sums(3_000_000_000), lambda: [sums(1000)]
    """,
    "a turn that another thread is long in": """
        from traceir_numba.compat import njit, prange

        @njit
        def last(n):
            found = 0.0
            for i in prange(200_000):
                m = n if i == 199_999 else 100
                x = 0.0
                for j in range(m):
                    x = x * 0.5 + i * j
                found += x
            return found

        call, short = lambda: last(10_000_000_000), lambda: [last(1000)]
    """,
    "a product": """
        x = np.ones((9000, 9000), np.float32)
        f = long(lambda x: x @ x)
        def call():
            while True:
                f(x)
        short = lambda: [f(x[:100, :100])]
    """,
}


def after_signal(program: str) -> list[str]:
    """The output of a program that gets a signal during its long call."""
    process = subprocess.Popen(
        [sys.executable, "-c", HEAD + textwrap.dedent(program) + TAIL],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TRACEIR_NUM_THREADS": "2"},
        # A shell starts what it runs in the background with the signal ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    with process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "begins\n", process.stderr.read()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        lines = process.stdout.read().split("\n")
        assert process.wait(60) == 0, process.stderr.read()
    return lines[:-1]


# One of each kind; what else there is takes the same ways.
FEW: tuple[str, ...] = ("a while loop", "a loop of arrays", "a kernel in all threads")
FEW += ("a kernel that runs in order", "turns of a loop")


@pytest.mark.parametrize("name", CALLS if SOAK else FEW)
def test_a_long_call_is_interrupted(name: str) -> None:
    assert after_signal(CALLS[name]) == ["interrupted", "right"]


COMPILING = (
    HEAD
    + """
import gc
from traceir_numba.llvm import optimize

def interrupted(*_):
    raise KeyboardInterrupt

passes, optimize.run_passes = optimize.run_passes, interrupted
found = []
try:
    long(lambda x: jnp.sin(x) * 2.25)(np.ones(3))
except KeyboardInterrupt as error:
    found = [error]
    found.append(found)  # what holds the module and its context is garbage as a whole
del found
gc.collect()
optimize.run_passes = passes
print(float(long(lambda x: x * 2.25)(1.0)))
"""
)


def test_compiling_is_interrupted() -> None:
    environment = {**os.environ, "TRACEIR_CACHE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", COMPILING],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "2.25\n"), done.stderr


def test_calls_of_other_threads_go_on() -> None:
    program = """
        n = 2_000_000_000
        f = long(lambda x: lax.fori_loop(0, n, lambda i, c: c * 0.5 + x, x))
        g = long(lambda x: lax.fori_loop(0, n // 10, lambda i, c: c * 0.5 + x, x))
        h = long(lambda x: lax.fori_loop(0, 10, lambda i, c: c * 0.5 + x, x))
        found = []
        other = threading.Thread(target=lambda: found.append(float(g(1.0))))

        def call():
            other.start()
            f(1.0)

        def short():
            if other.ident is not None:
                other.join()
                assert found == [2.0]
            return [h(1.0)]
    """
    assert after_signal(program) == ["interrupted", "right"]


def test_loops_have_safepoints_where_they_are_long() -> None:
    text = """
def f(A):
    for i in range(10):
        A[i] = i
    for j in range(99, -1, -1):
        while True:
            if A[j] == 0:
                break
"""
    (tree,) = ast.parse(text).body
    assert isinstance(tree, ast.FunctionDef)
    safepoints.with_safepoints(tree, [0, cost_model.SAFEPOINT_WORK // 40, 7])
    found = ast.unparse(tree)
    assert "for i in range(10):\n        A[i] = i\n" in found
    assert "for j_first in range(99, -1, -40):" in found
    assert "j_last = j_first + -40 if j_first + -40 > -1 else -1\n" in found
    assert "for j in range(j_first, j_last, -1):" in found
    rounds = cost_model.SAFEPOINT_WORK // 7
    assert f"for part in range({rounds}):" in found
    assert "has_ended_0 = True\n" in found
    assert "budget_left = budget_left - rounds_done * 7" in found
    assert found.count("asked_at = safepoint(asked_at)") == 2


def test_loops_that_end_soon_count_for_the_loop_around() -> None:
    text = """
def f(A, n):
    for i in range(n):
        for j in range(i, n, 2):
            A[j] = i
        while True:
            A[n] = A[i]
    for k in range(0, n, 1):
        A[k] = 0
"""
    (tree,) = ast.parse(text).body
    assert isinstance(tree, ast.FunctionDef)
    work = cost_model.SAFEPOINT_WORK
    safepoints.with_safepoints(tree, [work, -6, -5, -4])
    found = ast.unparse(tree)
    assert "budget_left = budget_left - (n - i) * 3\n        for j in range" in found
    assert "A[n] = A[i]\n            budget_left = budget_left - 5\n" in found
    assert found.count("asked_at = safepoint(asked_at)") == 1
    assert found.endswith("    for k in range(0, n, 1):\n        A[k] = 0")


@pytest.mark.parametrize("short", [1, 7, 100, 12_345])
@pytest.mark.parametrize(
    ("inner", "cost"),
    [
        ("for i in range(0, n, 1):\n            spend()", 10),
        ("for i in range(0, n, 3):\n            spend()", 10),
        ("for i in range(0, 100, 1):\n            spend()", 10),
        ("for i in range(99, -1, -2):\n            spend()", 10),
        ("while True:\n            spend()\n            if done(n): break", 10),
    ],
)
def test_the_clock_is_looked_at_once_in_a_budget(
    inner: str, cost: int, short: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = 10_000
    monkeypatch.setattr(cost_model, "SAFEPOINT_WORK", work)
    text = f"def f(n):\n    for turn in range(300):\n        {inner}\n"
    (tree,) = ast.parse(text).body
    assert isinstance(tree, ast.FunctionDef)
    safepoints.with_safepoints(tree, [cost, cost])
    spent, looks = 0, 0

    def spend() -> None:
        nonlocal spent
        spent += 1

    def done(n: int) -> bool:
        return spent % n == 0

    def safepoint(last: int) -> int:
        nonlocal looks
        looks += 1
        return last

    names: dict[str, Any] = {"spend": spend, "done": done, "safepoint": safepoint}
    exec(ast.unparse(tree), names)
    names["f"](short)
    total = (spent + 300) * cost
    assert total // (3 * work) <= looks <= total // work + 1
