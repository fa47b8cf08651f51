"""Generators, seeds and the function of words behind them."""

from __future__ import annotations

from collections.abc import Sequence

import traceir.numpy as jnp
from traceir.arrays.array import Array
from traceir.base.tracebacks import entry_point
from traceir.dtypes import KEYS, KeyDType
from traceir.lax.checks.attribute_hints import missing
from traceir.lax.checks.operands import Operand
from traceir.random.keys import seeded
from traceir.tracing.named_primitives import builtin
from traceir.tracing.trace import bind

__all__ = [
    "random_seed",
    "rbg_prng_impl",
    "seed_with_impl",
    "threefry2x32_p",
    "threefry_2x32",
    "threefry_prng_impl",
    "unsafe_rbg_prng_impl",
]

threefry_prng_impl, rbg_prng_impl, unsafe_rbg_prng_impl = (
    KEYS[tag] for tag in ("fry", "rbg", "urbg")
)
threefry2x32_p = builtin("threefry2x32")


@entry_point
def __getattr__(name: str) -> object:
    raise missing(name, __all__, "traceir.extend.random")


@entry_point
def random_seed(seeds: Operand, impl: KeyDType) -> Array:
    """The keys of seeds, integers in an array of any shape, for a generator.

    Raises TypeError (random_seed.integer), ValueError (random.impl).

    >>> random_seed(jnp.array([1, 2]), rbg_prng_impl)
    Array((2,), dtype=key<rbg>) overlaying:
    [[0 1 0 1]
     [0 2 0 2]]
    """
    return seeded("random_seed", seeds, impl)


@entry_point
def seed_with_impl(impl: KeyDType, seed: Operand) -> Array:
    """As `random_seed`, with the generator first.

    >>> seed_with_impl(threefry_prng_impl, 123)
    Array((), dtype=key<fry>) overlaying:
    [  0 123]
    """
    return random_seed(seed, impl)


@entry_point
def threefry_2x32(keypair: Operand | Sequence[Operand], count: Operand) -> Array:
    """The words that Threefry makes of words, by two words that are the key.

    The first half of `count`, in row-major order, is hashed with its second; an odd
    one has a zero more. Raises TypeError (threefry2x32.dtype).

    >>> import numpy as np
    >>> threefry_2x32(np.array([1, 2], "uint32"), np.arange(3, dtype="uint32"))
    Array([4128513521, 2271449651, 2345921600], dtype=uint32)
    """
    first, second = keypair
    words = jnp.asarray(count).ravel()
    odd = words.size % 2
    halves = jnp.split(jnp.pad(words, (0, odd)), 2)
    hashed = jnp.concatenate(list(bind("threefry2x32", first, second, *halves)))
    return hashed[: words.size].reshape(jnp.shape(count))
