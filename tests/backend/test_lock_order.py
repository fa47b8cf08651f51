"""Locks are taken in one order everywhere, and forks wait for them in any."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = '''
import sys, threading

pairs, held = {}, threading.local()


class Recorded:
    """A lock that notes which others its thread has when it is taken."""

    def __init__(self, lock, name):
        self.lock, self.name = lock, name

    def acquire(self, *args, **kwargs):
        mine = held.__dict__.setdefault("locks", [])
        if self not in mine:
            for other in mine:
                pairs.setdefault((id(other), id(self)), (other.name, self.name))
        got = self.lock.acquire(*args, **kwargs)
        if got:
            mine.append(self)
        return got

    def release(self):
        mine = held.__dict__.setdefault("locks", [])
        if self in mine:
            mine.reverse()
            mine.remove(self)
            mine.reverse()
        self.lock.release()

    __enter__ = acquire

    def __exit__(self, *_):
        self.release()

    def __getattr__(self, name):
        return getattr(self.lock, name)


def recorded(make):
    def lock():
        frame = sys._getframe(1)
        own = frame.f_globals.get("__name__", "").startswith("traceir")
        name = f"{frame.f_globals.get('__name__')}:{frame.f_lineno}"
        if "function" in frame.f_locals:
            name += f" {frame.f_locals['function']}"
        kept.append(Recorded(make(), name))
        return kept[-1] if own else kept.pop().lock
    return lock


kept = []
threading.Lock, threading.RLock = recorded(threading.Lock), recorded(threading.RLock)

import gc
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import traceir as jax, traceir.numpy as jnp, traceir_numba
from traceir import lax

X = np.arange(16, dtype=np.float32).reshape(4, 4)


def step(y):
    return jnp.sin(jnp.cumsum(y @ y, 0)) + jnp.argmax(y)


def work(seed):
    for k in range(4):
        f = jax.jit(
            lambda x: lax.fori_loop(0, 3, lambda _, y: step(y * (seed % 2 + k)), x),
            backend="numba",
        )
        for _ in range(3):
            f(X), f(jnp.asarray(X))
        jax.grad(lambda x: jax.jit(jnp.sin)(x).sum())(X)
        jax.random.normal(jax.random.key(k), (3,))
        jnp.sort(X), jnp.asarray(X) + 1
        traceir_numba.jit(lambda x: np.sum(x * k))(X)
        if k == 2:
            jax.clear_caches()
            gc.collect()


with ThreadPoolExecutor(4) as pool:
    list(pool.map(work, range(8)))
assert len(pairs) >= 4, len(pairs)  # they are seen at all
wrong = {names for (a, b), names in pairs.items() if (b, a) in pairs}
for outer, inner in sorted(wrong):
    print(f"{outer}, then {inner}")
'''


FORKS = """
import os, threading, time
from traceir.base.fork_safety import kept_over_forks
a, b = kept_over_forks(threading.RLock()), kept_over_forks(threading.RLock())
stop = threading.Event()

def work(outer, inner):
    while not stop.is_set():
        with outer:
            time.sleep(0.002)
            with inner:
                pass
        time.sleep(0.001)

thread = threading.Thread(target=work, args=(a, b) if FIRST else (b, a))
thread.start()
for _ in range(20):
    pid = os.fork()
    if pid == 0:
        with a, b:
            os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
stop.set()
thread.join()
"""


@pytest.mark.parametrize("first", [False, True])
def test_a_fork_waits_for_locks_in_any_order(first: bool) -> None:
    program = FORKS.replace("FIRST", str(first))
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], check=True, timeout=120
    )


def test_no_two_locks_are_taken_in_both_orders(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "TRACEIR_CACHE_DIR": str(tmp_path)},
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
