"""Functions with loops and choices, and their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from compiling import grid

import traceir
import traceir.numpy as jnp
from traceir import lax

Function = Callable[..., Any]


MATRIX, VECTOR = grid(4, 3), grid(3, seed=1)


N = np.int32(5)


def scalars(n: Any) -> Any:
    return lax.fori_loop(0, n, lambda i, x: x * 0.5 + i, 1.0)


def never(x: Any) -> Any:
    return lax.while_loop(lambda s: s[0] < 0, lambda s: (s[0] + 1, s[1] * 2.0), (0, x))


def no_rows(x: Any) -> Any:
    return lax.scan(lambda c, _: (c + 1.0, c), x, None, length=0)


def prefix(xs: Any) -> Any:
    return lax.scan(lambda c, x: (c + x, (c, x[0])), jnp.zeros(xs.shape[1:]), xs)


def suffix(xs: Any) -> Any:
    return lax.scan(lambda c, x: (c + x, c), jnp.zeros(xs.shape[1:]), xs, reverse=True)


def swapped(x: Any, y: Any) -> Any:
    return lax.fori_loop(0, 5, lambda _, s: (s[1], s[0]), (x, y))


def written(x: Any, y: Any) -> Any:
    """Two arrays that change places, of which one is written to before."""

    def step(i: Any, s: Any) -> Any:
        return s[1].at[i].set(s[0][i + 1] * 2.0), s[0]

    return lax.fori_loop(0, 4, step, (x, y))


def written_and_kept(x: Any, y: Any) -> Any:
    """The same of an array that goes on as it was, too."""

    def step(i: Any, s: Any) -> Any:
        return s[1].at[i].set(s[0][i + 1] * 2.0), s[0], s[1]

    return lax.fori_loop(0, 4, step, (x, y, x))


def written_for_two(x: Any, y: Any) -> Any:
    """Two arrays that are made of one, of which a third one takes what is first."""

    def step(i: Any, s: Any) -> Any:
        return s[2].at[i].set(s[0][i + 1]), s[2].at[i + 1].add(s[1][i]), s[0]

    return lax.fori_loop(0, 4, step, (x, y, x))


def delayed(x: Any, y: Any) -> Any:
    """A value that reaches the last carry after two steps."""
    return lax.fori_loop(0, 5, lambda _, s: (s[1] * 2.0, s[0], s[1]), (x, y, x))


def twice(x: Any) -> Any:
    """One value that is carried in two places, and in one of them delayed."""
    return lax.fori_loop(
        0, 5, lambda _, s: (s[0] * 0.5, s[0] * 0.5, s[1], s[2]), (x, x, x, x)
    )


def seen_twice(x: Any, y: Any) -> Any:
    """An inner loop gives the memory of a carry, which then changes."""

    def step(_: Any, s: Any) -> Any:
        a, b = s
        b = lax.fori_loop(0, 2, lambda _, v: a, b)
        return a * 0.5, b

    return lax.fori_loop(0, 3, step, (x, y))


def row_seen_twice(x: Any, y: Any) -> Any:
    """An inner loop gives a row of a carry, which then changes."""

    def step(_: Any, s: Any) -> Any:
        a, b = s
        b = lax.scan(lambda _, row: (row, None), b, a)[0]
        return a * 0.5, b

    return lax.fori_loop(0, 3, step, (x, y))


def truths(x: Any) -> Any:
    def step(s: Any) -> Any:
        found, k, odd = s
        return found | (x > k), k + 1, ~odd

    return lax.while_loop(
        lambda s: ~jnp.all(s[0]) & (s[1] < 9), step, (x > 5, np.int32(-3), True)
    )


def chosen(k: Any, x: Any) -> Any:
    return lax.switch(k, [lambda v: v, lambda v: -v, lambda v: v[::1] * 2.0], x)


def nested(n: Any, x: Any) -> Any:
    def step(s: Any) -> Any:
        k, v = s
        v = lax.cond(
            k % 2 == 0,
            lambda u: lax.fori_loop(0, k, lambda i, w: w + i, u),
            lambda u: lax.scan(lambda c, r: (c + r, c), u, jnp.stack([u, u]))[0],
            v,
        )
        return k + 1, v

    return lax.while_loop(lambda s: s[0] < n, step, (0, x))


def counts(xs: Any) -> Any:
    """Integers of several widths, which wrap."""

    def step(c: Any, x: Any) -> Any:
        a, b = c
        return (a * 3 + x, b - x.astype("uint8")), a

    start = jnp.int16(1000), jnp.uint8(3)
    return lax.scan(step, start, xs)


def products(w: Any, h: Any, xs: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        h = jnp.dot(w, h) + jnp.dot(x, w.T)
        return h % 5, h

    return lax.scan(step, h, xs)


def least(n: Any, places: Any, x: Any) -> Any:
    """The turn at which a looked-up element is least, up to an end that is given."""

    def step(i: Any, best: Any) -> Any:
        value = x[places[i]]
        return jnp.where(value < best[1], i, best[0]), jnp.minimum(value, best[1])

    return lax.fori_loop(0, n, step, (n * 0, jnp.inf))


def paths(start: Any, following: Any) -> Any:
    """The lengths of chains that begin at several places."""

    def length(at: Any) -> Any:
        return lax.while_loop(
            lambda s: following[s[0]] >= 0,
            lambda s: (following[s[0]], s[1] + 1),
            (at, 0),
        )

    return traceir.vmap(length)(start)


FUNCTIONS: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "scalars": (scalars, (N,)),
    "never": (never, (VECTOR,)),
    "no rows": (no_rows, (VECTOR,)),
    "prefix": (prefix, (MATRIX,)),
    "suffix": (suffix, (MATRIX,)),
    "swapped": (swapped, (VECTOR, -VECTOR)),
    "written": (written, (VECTOR, -VECTOR)),
    "written and kept": (written_and_kept, (VECTOR, -VECTOR)),
    "written for two": (written_for_two, (VECTOR, -VECTOR)),
    "delayed": (delayed, (VECTOR, -VECTOR)),
    "twice": (twice, (VECTOR,)),
    "seen twice": (seen_twice, (VECTOR, -VECTOR)),
    "row seen twice": (row_seen_twice, (MATRIX, -VECTOR)),
    "truths": (truths, (VECTOR,)),
    "first": (chosen, (np.int32(0), VECTOR)),
    "last": (chosen, (np.int32(7), VECTOR)),
    "nested": (nested, (N, VECTOR)),
    "least": (least, (N, np.arange(5)[::-1].astype("int32"), grid(5))),
    "least of few": (least, (np.int8(3), np.arange(5, dtype="int8"), grid(5))),
    "paths": (paths, (np.arange(4, dtype="int32"), np.array([2, -1, 3, 1], "int32"))),
    "counts": (counts, (np.arange(9, dtype=np.int16),)),
    "products": (
        products,
        tuple(np.arange(n, dtype=np.int32).reshape(s) % 5 for n, s in (
            (9, (3, 3)), (3, (3,)), (12, (4, 3)),
        )),
    ),
}  # fmt: skip
