"""What `make gpu-check` runs: the cases of the specification, then some times.

`python -m traceir_numba.cuda.check` needs Numba and a package for CUDA; `jax` and
`cupy` are compared with where they are installed. In the simulator sizes are small and
times mean nothing. Serves: every table
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from statistics import median
from typing import Any

import numpy as np

from traceir.conform import load_cases
from traceir.conform.adapters import load
from traceir_numba.api import jit
from traceir_numba.cuda import device
from traceir_numba.cuda.arrays import devices
from traceir_numba.cuda.foreign import device_put

# Elements of an array: on a device, in the simulator. Runs of which the median counts.
LARGE, SMALL, RUNS = 1 << 26, 1 << 9, 9
# So long all cases may take, in seconds.
PATIENCE = 300.0


@dataclass(frozen=True, slots=True)
class Workload:
    """A function, the shape that so many elements have, and bytes by element."""

    name: str
    function: Callable[[Any, Any], Any]
    shape: Callable[[int], tuple[int, ...]]
    traffic: float


def _flat(n: int) -> tuple[int, ...]:
    return (n,)


def _rows(n: int) -> tuple[int, ...]:
    return (n >> 6, 64) if n < 1 << 12 else (n >> 12, 1 << 12)


def _square(n: int) -> tuple[int, ...]:
    side = int(n**0.5) // 8 * 8
    return (min(side, 4096),) * 2


def _selu(xp: Any, x: Any) -> Any:
    return 1.05 * xp.where(x > 0, x, 1.67 * xp.exp(x) - 1.67)


def _softmax(xp: Any, x: Any) -> Any:
    e = xp.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def _normalised(xp: Any, x: Any) -> Any:
    centred = x - x.mean(1, keepdims=True)
    return centred / xp.sqrt((centred * centred).mean(1, keepdims=True) + 1e-5)


WORKLOADS = (
    Workload("copy", lambda xp, x: x + 1, _flat, 8),
    Workload("selu", _selu, _flat, 8),
    Workload("sum of squares", lambda xp, x: (x * x).sum(), _flat, 4),
    Workload("sums of columns", lambda xp, x: x.sum(0), _rows, 4),
    Workload("softmax", _softmax, _rows, 8),
    Workload("layer norm", _normalised, _rows, 8),
    Workload("product", lambda xp, x: x @ x, _square, 12),
)


def judged(pattern: str = "*") -> Counter[str]:
    """How many cases have each verdict; there was no time for those that are "late"."""
    adapter = load("traceir.conform.implementations:cuda")
    found: Counter[str] = Counter()
    end = time.perf_counter() + PATIENCE
    for case in load_cases():
        if not fnmatch(case.name, pattern) or "value" not in case.verbs:
            continue
        if time.perf_counter() > end:
            found["late"] += 1
            continue
        verdict = adapter.verdict(case)
        found[verdict.kind] += 1
        if verdict.kind not in ("pass", "unsupported"):
            print(f"{verdict.kind}: {case.name}: {verdict.why}")
    return found


def seconds(call: Callable[[], Any], wait: Callable[[Any], Any]) -> float:
    """The median time of a call, once it has been compiled."""
    wait(call())
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        wait(call())
        times.append(time.perf_counter() - start)
    return median(times)


def rows(n: int) -> Iterable[tuple[str, ...]]:
    """The table's rows: a name, a time, bytes a second, and ratios to others."""
    copied = 0.0
    for work in WORKLOADS:
        x = np.linspace(-2, 2, int(np.prod(work.shape(n))), dtype=np.float32)
        x = x.reshape(work.shape(n))
        took = _by_us(work, x)
        speed = x.size * work.traffic / took
        copied = copied or speed
        others = [f"{took / t:.2f}" if t else "-" for t in compared(work, x)]
        figures = (f"{took * 1e3:.3f}", f"{speed / 1e9:.1f}", f"{speed / copied:.2f}")
        yield (work.name, *figures, *others)


def compared(work: Workload, x: np.ndarray) -> Iterable[float]:
    """The times of JAX and of CuPy on a device; 0 for one that is not there."""
    for name, timed in (("jax", _by_jax), ("cupy", _by_cupy)):
        there = importlib.util.find_spec(name) and not device.is_simulated()
        yield timed(work, x) if there else 0.0


def _by_us(work: Workload, x: np.ndarray) -> float:
    function = jit(lambda a: work.function(np, a), target="cuda")
    there = device_put(x)
    return seconds(lambda: function(there), lambda _: device.synchronize())


def _by_jax(work: Workload, x: np.ndarray) -> float:
    import jax

    if jax.default_backend() != "gpu":
        return 0.0
    function = jax.jit(lambda a: work.function(jax.numpy, a))
    there = jax.device_put(x)
    return seconds(lambda: function(there), lambda y: y.block_until_ready())


def _by_cupy(work: Workload, x: np.ndarray) -> float:
    cupy: Any = importlib.import_module("cupy")
    there = cupy.asarray(x)
    wait = cupy.cuda.Device().synchronize
    return seconds(lambda: work.function(cupy, there), lambda _: wait())


def main(arguments: list[str]) -> int:
    """Print verdicts and the table; 1 where a case failed."""
    (first, *_) = devices()
    print(f"{first}: {first.name}, by {device.dialect().__name__}")
    found = judged(*arguments)
    print("cases: " + ", ".join(f"{count} {kind}" for kind, count in found.items()))
    head = ("", "ms", "GB/s", "of copy", "to JAX", "to CuPy")
    n = SMALL if device.is_simulated() else LARGE
    for row in (head, *rows(n)):
        print(f"{row[0]:16}" + "".join(f"{cell:>10}" for cell in row[1:]))
    return int(bool(found["fail"] + found["crashed"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
