"""Random programs which mix what primitives there are, as plans that are followed.

All numbers are rows of one length near 1, and what depends on comparisons depends on
the bits of keys, which are exact: so results are near whatever the order of sums is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

import traceir
import traceir.numpy as jnp
from traceir import lax, random
from traceir.scipy import special

LENGTH = 4
# The key, then real rows, then complex ones.
State = tuple[Any, list[Any], list[Any]]
Step = tuple[str, int, int]


def near_one(x: Any) -> Any:
    """Numbers between 0.5 and 2.5."""
    return 1.5 + x / (1 + abs(x))


REAL: dict[str, Callable[[Any, Any], Any]] = {
    "lgamma": lambda x, y: special.gammaln(x) + y,
    "digamma": lambda x, y: special.digamma(x) * y,
    "igamma": special.gammainc,
    "igammac": lambda x, y: special.gammaincc(x, y) - x,
    "betainc": lambda x, y: special.betainc(x, y, x / 3),
    "zeta": lambda x, y: special.zeta(x + 1.5, y),
    "bessel": lambda x, y: special.i0e(x) + special.i1e(y),
    "sorted": lambda x, y: jnp.sort(x * y)[::-1],
    "padded": lambda x, y: jnp.pad(x, (1, 2))[1:-2] - y[::-1],
    "running": lambda x, y: jnp.cumsum(x) / jnp.cumprod(y),
    "windows": lambda x, y: lax.reduce_window(
        x, -jnp.inf, lax.max, (2,), (1,), [(1, 0)]
    ),
    "convolved": lambda x, y: jnp.convolve(x, y, mode="same"),
    "moved": lambda x, y: jnp.roll(x, 1).at[::2].multiply(y[1::2]),
    "scanned": lambda x, y: lax.scan(lambda c, r: (c * 0.5 + r, c - r), x[0], y)[1],
    "repeated": lambda x, y: lax.fori_loop(0, 3, lambda k, c: near_one(c * x + k), y),
    "solved": lambda x, y: jnp.linalg.solve(jnp.diag(x + 3) + jnp.outer(x, y) / 9, y),
    "products": lambda x, y: jnp.outer(x, y) @ jnp.tanh(y),
    "spectrum": lambda x, y: jnp.fft.irfft(jnp.fft.rfft(x) * 2, LENGTH) + y,
    "sizes": lambda x, y: abs(lax.complex(x, y) ** 2),
}
COMPLEX: dict[str, Callable[[Any, Any], Any]] = {
    "product": lambda z, w: z * w,
    "quotient": lambda z, w: z / (3 + w * w.conj()),
    "powers": lambda z, w: jnp.exp(z) * jnp.cos(w),
    "root": lambda z, w: jnp.sqrt(z * z.conj() + 1) - w,
    "transformed": lambda z, w: jnp.fft.fft(z) + w,
    "back": lambda z, w: jnp.fft.ifft(z * 1j)[::-1] - w,
    "taken": lambda z, w: jnp.take(z, jnp.array([3, 0, 0, 1])) * w[1],
    "placed": lambda z, w: z.at[jnp.array([0, 2, 0])].add(w[:3]),
    "total": lambda z, w: jnp.cumsum(z) - jnp.vdot(z, w),
    "scans": lambda z, w: lax.scan(lambda c, r: (c * 0.5j + r, c - r), z[0], w)[1],
    "matrix": lambda z, w: jnp.outer(z, w) @ w,
}


def _drawn(kind: str, key: Any, x: Any) -> Any:
    match kind:
        case "normal":
            return random.normal(key, (LENGTH,))
        case "gamma":
            return random.gamma(key, x)
        case "order":
            return x[random.permutation(key, LENGTH)]
        case "either":
            even = random.bits(key, ()) % 2 == 0
            return lax.cond(even, jnp.sin, lambda v: v - jnp.mean(v), x)
    return jnp.where(random.bernoulli(key, 0.5, (LENGTH,)), x, -x)


DRAWN = ("normal", "gamma", "order", "either", "signs")
WAYS = ("plain", "grad", "jit", "vmap", "jvp")


def _through(way: str, f: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """A function of two real rows under a transform."""
    match way:
        case "grad":
            return traceir.grad(lambda v: jnp.sum(jnp.tanh(f(v, y))))(x)
        case "jit":
            return traceir.jit(f)(x, y)
        case "vmap":
            both = traceir.vmap(f, in_axes=(0, None))(jnp.stack([x, y]), y)
            return both[0] - both[1]
        case "jvp":
            return traceir.jvp(f, (x, y), (jnp.ones_like(x), jnp.zeros_like(y)))[1]
    return f(x, y)


def _small(z: Any) -> Any:
    return z / (1 + abs(z))


# Those of which no derivative by the first operand is defined.
FIXED = frozenset({"betainc", "zeta"})


def _follow(step: Step, state: State) -> State:
    name, which, way = step
    key, rows, wholes = state
    x, y = rows[which % len(rows)], rows[-1]
    z, w = wholes[which % len(wholes)], wholes[-1]
    if name in DRAWN:
        key, own = random.split(key)
        return key, [*rows, near_one(_drawn(name, own, x))], wholes
    if name == "joined":
        return key, rows, [*wholes, _small(lax.complex(x - 1, y - 1))]
    if name == "parts":
        return key, [*rows, near_one(z.real - z.imag)], wholes
    if name in REAL:
        how = WAYS[way % len(WAYS)]
        how = "jit" if name in FIXED and how in ("grad", "jvp") else how
        return key, [*rows, near_one(_through(how, REAL[name], x, y))], wholes
    return key, rows, [*wholes, _small(COMPLEX[name](z, w))]


NAMES = sorted([*DRAWN, "joined", "parts", *REAL, *COMPLEX])
STEP = st.tuples(st.sampled_from(NAMES), st.integers(0, 5), st.integers(0, 4))


def plans(most: int = 6) -> st.SearchStrategy[list[Step]]:
    """A few steps, one after the other."""
    return st.lists(STEP, min_size=1, max_size=most)


def program(plan: list[Step]) -> Callable[[Any, Any], list[Any]]:
    """The function of a key and a real row that follows a plan: all that there is."""

    def f(key: Any, x: Any) -> list[Any]:
        state: State = key, [near_one(x)], [_small(lax.complex(x, x[::-1]))]
        for step in plan:
            state = _follow(step, state)
        key, rows, wholes = state
        return [random.key_data(key), *rows, *wholes]

    return f
