"""Functions of keys, and of what becomes of an array of them."""

from __future__ import annotations

from typing import Any

import traceir
import traceir.numpy as jnp
from traceir import lax, random

KEYS = random.split(random.key(3), 5)


def is_key(x: Any) -> bool:
    """True if an array is one of keys."""
    return str(x.dtype) == "key<fry>"


# What becomes of an array of five keys; `i` is a number that is known when it runs.
MOVES = {
    "as they are": lambda keys, i: keys,
    "one of them": lambda keys, i: keys[2],
    "one that is computed": lambda keys, i: keys[i],
    "a slice that is computed": lambda keys, i: lax.dynamic_slice(keys, (i,), (2,)),
    "some of them": lambda keys, i: keys[jnp.array([4, 0, 0]) - i],
    "backwards": lambda keys, i: keys[::-1],
    "in another shape": lambda keys, i: keys[:4].reshape(2, 2).T,
    "beside one another": lambda keys, i: jnp.concatenate([keys[1:], keys[:1]]),
    "stacked": lambda keys, i: jnp.stack([keys, keys[::-1]]),
    "broadcast": lambda keys, i: jnp.broadcast_to(keys, (2, 5)),
    "chosen": lambda keys, i: lax.select(i > 0, keys[:2], keys[2:4]),
    "chosen one by one": lambda keys, i: jnp.where(jnp.arange(5) > i, keys, keys[::-1]),
    "words": lambda keys, i: random.key_data(keys)[:, i],
    "of words": lambda keys, i: random.wrap_key_data(random.key_data(keys) + 1),
    "clones": lambda keys, i: random.clone(keys),
    "of a seed": lambda keys, i: random.key(i),
    "split": lambda keys, i: random.split(keys[i], (2, 3)),
    "folded": lambda keys, i: random.fold_in(keys[0], i),
    "put in a place": lambda keys, i: keys.at[i].set(keys[0]),
}


def of_choice(keys: Any, i: Any) -> Any:
    """Keys come out of a choice, and are used in one."""
    key = lax.cond(i > 0, lambda k: k[0], lambda k: random.fold_in(k[1], 2), keys)
    return lax.switch(i, [random.bits, lambda k: random.bits(random.split(k)[1])], key)


def of_turns(keys: Any, i: Any) -> Any:
    """A key is split in each turn, as long as its bits say."""

    def turn(carry: Any) -> Any:
        key, total, n = carry
        key, own = random.split(key)
        return key, total ^ random.bits(own, (3,)), n + 1

    start = keys[i], jnp.zeros(3, "uint32"), 0
    return lax.while_loop(lambda c: (c[1][0] % 8 != 5) & (c[2] < 50), turn, start)


def of_scan(keys: Any, i: Any) -> Any:
    """Keys are rows, a carry, and what is left."""

    def step(key: Any, own: Any) -> Any:
        number = random.bits(own, (2,))[i]
        return random.fold_in(key, number), (random.bits(key), random.split(own))

    return lax.scan(step, keys[0], keys)


def of_map(keys: Any, i: Any) -> Any:
    """Every key by itself."""
    return traceir.vmap(lambda k: random.bits(random.fold_in(k, i), (2, 3)))(keys)


def of_two_axes(keys: Any, i: Any) -> Any:
    """Batches of batches."""
    grid = traceir.vmap(lambda k: random.split(k, 3))(keys)
    return traceir.vmap(traceir.vmap(lambda k: random.bits(k, (2,), "uint8")))(grid)


def of_function(keys: Any, i: Any) -> Any:
    """A function inside, and a constant that it closes over."""
    inner = traceir.jit(lambda k: (random.split(k), random.bits(KEYS[3], (2,))))
    return inner(keys[i])


PROGRAMS = [of_choice, of_turns, of_scan, of_map, of_two_axes, of_function]


def _chosen(key: Any, n: Any, i: Any) -> Any:
    return lax.cond(i > 0, lambda k, n: (k, n + 1), lambda k, n: (k, n), key, n)


def _counted(key: Any, n: Any, i: Any) -> Any:
    return lax.fori_loop(0, i, lambda _, c: (c[0], c[1] + 2), (key, n))


def _made(key: Any, n: Any, i: Any) -> Any:
    fold = lax.cond(i > 1, random.fold_in, lambda k, n: k, key, n)
    return fold, n


# Regions that a key goes through, beside a number: neighbours are one routine.
REGIONS = {"a choice": _chosen, "turns": _counted, "a choice that makes one": _made}
