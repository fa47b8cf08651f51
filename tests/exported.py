"""Functions that tests export, with their arguments, and what reads them back."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir import lax
from traceir.pytrees import flatten

Case = tuple[Any, tuple[Any, ...]]


def selu(x: Any, alpha: float = 1.67, scale: float = 1.05) -> Any:
    """An elementwise function."""
    return scale * jnp.where(x > 0, x, alpha * jnp.exp(x) - alpha)


def softmax(x: Any) -> Any:
    """Rows of several passes."""
    y = jnp.exp(x - x.max(-1, keepdims=True))
    return y / y.sum(-1, keepdims=True)


def loss(layers: Any, x: Any, target: Any) -> Any:
    """A network's error."""
    for w, b in layers:
        x = jnp.tanh(x @ w + b)
    return ((x - target) ** 2).mean()


def power(a: Any, x: Any) -> Any:
    """A loop of products, with a constant and a stack of results."""
    turn = jnp.asarray(np.linspace(-1, 1, 50 * 50).reshape(50, 50), x.dtype)

    def step(x: Any, k: Any) -> Any:
        x = a @ (turn @ x)
        x = x / jnp.abs(x).max()
        return x, (x.sum(), k)

    return lax.scan(step, x, jnp.arange(4))


def chosen(k: Any, x: Any) -> Any:
    """A choice, a loop of unknown length, and places that are found."""
    y = lax.cond(k > 2, lambda x: x * 2, lambda x: x[::-1], x)
    n, y = lax.while_loop(lambda s: s[0] < k, lambda s: (s[0] + 1, s[1] * 1.5), (0, y))
    return {"n": n, "y": y.at[jnp.asarray([1, 1, 3])].add(1), "same": (x, 1.0, [])}


def sums(x: Any) -> Any:
    """Sums of many terms, of both kinds."""
    return x.sum(), x.sum(0), (x > 0).any(1)


def products(x: Any, y: Any, z: Any, k: Any) -> Any:
    """Products of several blocks and tiles, one of long sums, and one of integers."""
    return x @ y, z.T @ z, k @ k


def mixed(z: Any, h: Any, m: Any) -> Any:
    """Complex numbers, numbers of 16 bits, booleans, and an argument nobody reads."""
    return jnp.exp(z) * 1j, (h * 2).astype(jnp.bfloat16).astype("float32"), ~m, z.real


def drawn(words: Any) -> Any:
    """Random numbers of a key's words."""
    return traceir.random.normal(traceir.random.wrap_key_data(words), (40,))


def relaxed(grid: Any, rate: Any) -> Any:
    """A loop of Python's over arrays of NumPy, which writes to an argument."""
    for _ in range(3):
        inner = (grid[0][2:] + grid[0][:-2]) / 2
        grid[0][1:-1] += rate * (inner - grid[0][1:-1])
    return np.abs(inner).max(), grid[1] + 1


def counted(x: Any, base: int, *, low: Any, high: Any) -> Any:
    """Whole numbers and truth values, by name, and a static argument."""
    inside = (x >= low) & (x < high)
    digits = {base**k: x // base**k % base for k in range(3)}
    return {"inside": inside, "count": inside.sum(), "digits": digits, "none": None}


def numbers(seed: int, *shape: int, dtype: str = "float32") -> np.ndarray:
    """Some random numbers."""
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def layers(*sizes: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weights and offsets of a network."""
    pairs = enumerate(pairwise(sizes))
    return [(numbers(k, a, b) / 8, numbers(k, b)) for k, (a, b) in pairs]


def cases() -> dict[str, Case]:
    """Functions by name, jitted as they are exported, and arguments."""

    def made(function: Callable[..., Any], *args: Any) -> Case:
        return traceir.jit(function, backend="numba"), args

    complex_ = numbers(5, 30, dtype="complex64") + 1j * numbers(6, 30)
    return {
        "selu": made(selu, numbers(0, 1000)),
        "softmax": made(softmax, numbers(1, 30, 70)),
        "mlp_grad": made(
            traceir.value_and_grad(loss),
            layers(64, 128, 10),
            numbers(2, 32, 64),
            numbers(3, 32, 10),
        ),
        "power": made(power, numbers(4, 50, 50), numbers(5, 50, 50)),
        "chosen": made(chosen, np.int32(4), numbers(6, 7)),
        "sums": made(sums, numbers(7, 300, 200)),
        "products": made(
            products,
            numbers(9, 9, 600),
            numbers(10, 600, 520),
            numbers(8, 20000, 8),
            np.arange(50 * 50, dtype="int32").reshape(50, 50),
        ),
        "mixed": made(
            mixed, complex_, numbers(9, 5, dtype="float16"), np.array([True, False])
        ),
        "drawn": made(drawn, np.array([1, 2], "uint32")),
    }


def plain_cases() -> dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    """Functions of NumPy by name, jitted, arguments, and those that have names."""
    grid = [numbers(11, 40, dtype="float64"), np.arange(3)]
    whole = np.arange(-20, 70, dtype="int16").reshape(9, 10)
    count = traceir_numba.jit(counted, static_argnames="base")
    return {
        "relaxed": (traceir_numba.jit(relaxed), (grid, np.float64(0.5)), {}),
        "counted": (count, (whole, 7), {"low": np.int16(3), "high": np.int16(50)}),
    }


def run(code: str, *paths: Path, given: Sequence[str] = ()) -> Any:
    """Run Python with nothing but the standard library and what is in these folders."""
    head = f"import sys; sys.path[:0] = {list(map(str, paths))}\n"
    return subprocess.run(
        [sys.executable, "-I", "-S", "-W", "error", "-c", head + code, *given],
        capture_output=True,
        text=True,
        check=False,
    )


def load(path: Path) -> ModuleType:
    """A module of a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bits(tree: Any) -> list[tuple[Any, ...]]:
    """The types and bytes of a tree's arrays."""
    arrays = map(np.asarray, flatten.leaves(tree))
    return [(a.shape, str(a.dtype), a.tobytes()) for a in arrays]
