"""Times of some functions on a device, beside copies, JAX and CuPy.

`python -m tools.gpu_check.measuring ELEMENTS` prints a line of JSON for each; it
runs in a process of its own, which is ended where a kernel does not.
Serves: every table
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from functools import partial
from math import prod
from statistics import median
from typing import Any

import numpy as np

from traceir import lax
from traceir_numba.api import jit
from traceir_numba.cuda.arrays.foreign import device_put
from traceir_numba.cuda.runtime import device

# Runs of which the median counts, and the seconds that one has at least: short calls
# follow one another, and the device is waited for in the end.
RUNS, LEAST = 9, 2e-3
Shape = tuple[int, ...]
Wait = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Work:
    """A function of a namespace, of control flow, and of an array.

    `shape` is that of the array for so many elements; `traffic` how often its bytes
    are read or written at least, `flops` what is computed.
    """

    name: str
    function: Callable[[Any, Any, Any], Any]
    shape: Callable[[int], Shape]
    traffic: float = 0
    flops: Callable[[Shape], float] | None = None
    dtypes: tuple[str, ...] = ("float32", "float64")
    others: tuple[str, ...] = ("jax", "cupy")


@dataclass(frozen=True, slots=True)
class Time:
    """Seconds, bytes and operations a second, and the seconds of the others."""

    name: str
    seconds: float
    bandwidth: float = 0
    flops: float = 0
    jax: float = 0
    cupy: float = 0


def _flat(n: int) -> Shape:
    return (n,)


def _rows(n: int) -> Shape:
    return (n >> 6, 64) if n < 1 << 16 else (n >> 12, 1 << 12)


def _few(n: int) -> Shape:
    return (min(n, 1000),)


def _square(most: int) -> Callable[[int], Shape]:
    return lambda n: (min(int(n**0.5) // 8 * 8, most),) * 2


def _selu(xp: Any, lax: Any, x: Any) -> Any:
    return 1.05 * xp.where(x > 0, x, 1.67 * xp.exp(x) - 1.67)


def _softmax(xp: Any, lax: Any, x: Any) -> Any:
    e = xp.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def _normalised(xp: Any, lax: Any, x: Any) -> Any:
    centred = x - x.mean(1, keepdims=True)
    return centred / xp.sqrt((centred * centred).mean(1, keepdims=True) + 1e-5)


def _steps(xp: Any, lax: Any, x: Any) -> Any:
    return lax.fori_loop(0, 100, lambda k, c: c + 0.1 * xp.sin(c), x)


def _until(xp: Any, lax: Any, x: Any) -> Any:
    return lax.while_loop(lambda c: (c * c).sum() > 1, lambda c: c * 0.9, x)


def _of_product(shape: Shape) -> float:
    return 2.0 * shape[0] ** 3


WORKS = (
    Work("x + 1", lambda xp, lax, x: x + 1, _flat, 2),
    Work("selu", _selu, _flat, 2),
    Work("sum of squares", lambda xp, lax, x: (x * x).sum(), _flat, 1),
    Work("sums of rows", lambda xp, lax, x: x.sum(1), _rows, 1),
    Work("sums of columns", lambda xp, lax, x: x.sum(0), _rows, 1),
    Work("softmax", _softmax, _rows, 2),
    Work("layer norm", _normalised, _rows, 2),
    Work("running sum", lambda xp, lax, x: x.cumsum(0), _flat, 2),
    Work("transposed", lambda xp, lax, x: x.T + 1, _rows, 2),
    Work("reversed", lambda xp, lax, x: x[::-1] + 1, _flat, 2),
    Work("product, large", lambda xp, lax, x: x @ x, _square(4096), 0, _of_product),
    Work("product, small", lambda xp, lax, x: x @ x, _square(256), 0, _of_product),
    Work("1000 elements", lambda xp, lax, x: x + 1, _few, dtypes=("float32",)),
    Work("loop, 100 steps", _steps, _few, dtypes=("float32",), others=("jax",)),
    Work("while", _until, _few, dtypes=("float32",), others=("jax",)),
)


def seconds(call: Callable[[], Any], wait: Wait) -> float:
    """The median time of a call, once it has been compiled."""
    wait(call())
    count = 1
    while True:
        took = _timed(call, wait, count)
        if took >= LEAST or count >= 1 << 10:
            break
        count *= 4
    return median(_timed(call, wait, count) for _ in range(RUNS)) / count


def _timed(call: Callable[[], Any], wait: Wait, count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        result = call()
    wait(result)
    return time.perf_counter() - start


def copied(n: int) -> Time:
    """The time that the device takes to copy so many numbers of 32 bits."""
    source, target = device.empty(n, "float32"), device.empty(n, "float32")
    took = seconds(lambda: device.copy(source, target), lambda _: device.synchronize())
    return Time("copy by the driver", took, 8 * n / took)


def times(n: int, pattern: str = "*") -> Iterator[Time]:
    """The copy's time, then that of each function, for arrays of so many elements."""
    yield copied(n)
    for work in WORKS:
        if fnmatch(work.name, pattern):
            for dtype in work.dtypes:
                yield timed(work, n, dtype)


def timed(work: Work, n: int, dtype: str) -> Time:
    """The times of one function."""
    shape = work.shape(n)
    x = np.linspace(-2, 2, prod(shape), dtype=dtype).reshape(shape)
    took = _by_us(work, x)
    return Time(
        f"{work.name}, {dtype}",
        took,
        x.nbytes * work.traffic / took,
        work.flops(shape) / took if work.flops else 0.0,
        **{name: _by_other(name, work, x) for name in work.others},
    )


def _by_us(work: Work, x: np.ndarray) -> float:
    function = jit(partial(work.function, np, lax), target="cuda")
    there = device_put(x)
    return seconds(lambda: function(there), lambda _: device.synchronize())


def _by_other(name: str, work: Work, x: np.ndarray) -> float:
    """The time of another library on the device; 0 where it is not there."""
    if device.is_simulated() or importlib.util.find_spec(name) is None:
        return 0.0
    return {"jax": _by_jax, "cupy": _by_cupy}[name](work, x)


def _by_jax(work: Work, x: np.ndarray) -> float:
    import jax

    if jax.default_backend() != "gpu":
        return 0.0
    jax.config.update("jax_enable_x64", True)
    function = jax.jit(partial(work.function, jax.numpy, jax.lax))
    there = jax.device_put(x)
    return seconds(lambda: function(there), lambda y: y.block_until_ready())


def _by_cupy(work: Work, x: np.ndarray) -> float:
    cupy: Any = importlib.import_module("cupy")
    there = cupy.asarray(x)
    call = partial(work.function, cupy, None, there)
    wait = cupy.cuda.Device().synchronize
    return seconds(call, lambda _: wait())


def main(elements: str, pattern: str = "*") -> None:
    """Print what is measured, a line each."""
    for one in times(int(elements), pattern):
        print(json.dumps(asdict(one)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
