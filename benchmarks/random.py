"""Random numbers: bits, distributions, keys, and what is computed of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

import traceir
from benchmarks.workload import Function, Make, Workload, normal

MANY = 1_000_000
KEY = np.array([0, 42], np.uint32)
Drawn = Callable[[np.random.Generator], Any]


def drawn(name: str, *given: Any, **params: Any) -> Make:
    """A distribution of a key, of as many numbers as there are places."""
    return lambda world: lambda key: getattr(world.random, name)(key, *given, **params)


def of_logits(world: Any) -> Function:
    """The number of one of some logits, as often as there are rows."""
    return lambda key, logits: world.random.categorical(key, logits)


def chosen(world: Any) -> Function:
    """Elements that are drawn again and again."""
    return lambda key, x: world.random.choice(key, x, (MANY,))


def ordered(world: Any) -> Function:
    """The elements in another order."""
    return lambda key, x: world.random.permutation(key, x)


def split(world: Any) -> Function:
    """A thousand keys of one."""
    return lambda key: world.random.key_data(world.random.split(key, 1000))


def inside(world: Any) -> Function:
    """The share of points in a square that are in a circle."""
    xp = world.numpy

    def share(key: Any) -> Any:
        x, y = world.random.uniform(key, (2, MANY), "float32")
        return xp.mean((x * x + y * y < 1).astype("float32"))

    return share


def price(world: Any) -> Function:
    """The mean of what an option pays, of a million endings."""
    xp = world.numpy

    def mean(key: Any) -> Any:
        z = world.random.normal(key, (MANY,), "float32")
        return xp.mean(xp.maximum(100 * xp.exp(0.2 * z + 0.03) - 105, 0))

    return mean


def noisy(world: Any) -> Function:
    """A thousand samples, each with a key of its own."""

    def one(key: Any, x: Any) -> Any:
        return x + 0.1 * world.random.normal(key, x.shape, "float32")

    def every(key: Any, x: Any) -> Any:
        return world.vmap(one)(world.random.split(key, 1000), x)

    return every


def walks(world: Any) -> Function:
    """A thousand steps of a thousand walkers."""

    def step(carry: Any, _: Any) -> Any:
        key, x = carry
        key, own = world.random.split(key)
        return (key, x + world.random.normal(own, x.shape, "float32")), None

    def end(key: Any, x: Any) -> Any:
        return world.lax.scan(step, (key, x), None, length=1000)[0][1]

    return end


def workloads() -> Iterator[Workload]:
    """Each makes a million numbers, if its name says nothing else."""
    # Numbers of 64 bits are asked for by name.
    jax.config.update("jax_enable_x64", True)
    traceir.base.config.update("jax_enable_x64", True)

    def row(name: str, make: Make, draw: Drawn | None, *more: Any) -> Workload:
        generator = np.random.default_rng(0)
        other = None if draw is None else lambda *_: draw(generator)
        return Workload(
            name, make, (KEY, *more), in_numpy=False, other_numbers=other, near=0.999
        )

    for kind in ("uint32", "uint64"):
        bits = drawn("bits", (MANY,), kind)
        yield row(f"bits, {kind}", bits, _integers(kind))
    for dtype in ("float32", "float64"):
        given = (MANY,), dtype
        yield row(f"uniform, {dtype}", drawn("uniform", *given), _uniform(dtype))
        yield row(f"normal, {dtype}", drawn("normal", *given), _normal(dtype))
    roll = drawn("randint", (MANY,), 0, 1000, "int32")
    yield row("randint, int32", roll, lambda g: g.integers(0, 1000, MANY, "int32"))
    coin = drawn("bernoulli", np.float32(0.3), (MANY,))
    yield row("bernoulli", coin, lambda g: g.random(MANY, "float32") < 0.3)
    yield row("categorical, 10 of 10^5", of_logits, None, normal(100_000, 10))
    x = normal(MANY)
    yield row("permutation", ordered, lambda g: g.permutation(x), x)
    yield row("choice", chosen, lambda g: g.choice(x, MANY), x)
    yield row("split into 1000 keys", split, None)
    yield row("share in a circle", inside, _share)
    yield row("price of an option", price, _price)
    yield row("noise of 1000 keys", noisy, None, normal(1000, 1000))
    yield row("1000 walks of 1000 steps", walks, _walks, np.zeros(1000, "float32"))


def _integers(dtype: str) -> Drawn:
    most = np.iinfo(dtype).max
    return lambda g: g.integers(0, most, MANY, dtype, endpoint=True)


def _uniform(dtype: Any) -> Drawn:
    return lambda g: g.random(MANY, dtype)


def _normal(dtype: Any) -> Drawn:
    return lambda g: g.standard_normal(MANY, dtype)


def _share(g: np.random.Generator) -> Any:
    x, y = g.random((2, MANY), "float32")
    return np.mean(x * x + y * y < 1, dtype="float32")


def _price(g: np.random.Generator) -> Any:
    z = g.standard_normal(MANY, "float32")
    ends = 100 * np.exp(np.float32(0.2) * z + np.float32(0.03))
    return np.mean(np.maximum(ends - 105, 0))


def _walks(g: np.random.Generator) -> Any:
    x = np.zeros(1000, "float32")
    for _ in range(1000):
        x = x + g.standard_normal(1000, "float32")
    return x
