"""Functions of complex numbers, and steps that drawn ones are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import traceir
import traceir.numpy as jnp
from traceir import lax

Function = Callable[..., Any]


def numbers(*shape: int, dtype: str = "complex64", seed: int = 0) -> np.ndarray:
    """Complex numbers around zero."""
    draw = np.random.default_rng(seed).normal
    return (draw(size=shape) + 1j * draw(size=shape)).astype(dtype)


X, Y, MATRIX, SCALAR = numbers(5), numbers(5, seed=1), numbers(4, 6), np.complex64(3j)


PLACES = np.array([0, 0, 3])


PROGRAMS: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "scalars": (lambda a: (a * 2 + 1j, a.real, abs(a)), (SCALAR,)),
    "as they came": (lambda a: (a, a, -a), (X,)),
    "nothing": (lambda a: a * a, (X[:0],)),
    "a constant": (lambda a: a * Y + SCALAR, (X,)),
    "parts": (lambda a: (lax.complex(a.imag, a.real), a.conj()), (X,)),
    "with real numbers": (lambda a, b: (a * b, b.astype("complex64")), (X, Y.real)),
    "to other dtypes": (lambda a: (a.astype(bool), jnp.real(a).astype("int32")), (X,)),
    "compared": (lambda a, b: (a == b, a != b, jnp.isfinite(a)), (X, Y)),
    "chosen": (lambda a, b: jnp.where(a.real > 0, a, b), (X, Y)),
    "in order": (lambda a, b: (lax.max(a, b), lax.min(a, b), jnp.sort(a)), (X, Y)),
    "moved": (
        lambda a: (a.T * 2, a.reshape(2, 12), a[::-1, ::2], a[1:, 2], a.reshape(-1)),
        (MATRIX,),
    ),
    "side by side": (
        lambda a, b: (
            jnp.concatenate([a, b * 2]),
            jnp.stack([a, b], -1),
            jnp.pad(a, 2),
        ),
        (X, Y),
    ),
    "found": (lambda a, i: (a[i], a.at[i].get(mode="fill")), (MATRIX, PLACES)),
    "put": (
        lambda a, b: (a.at[2].set(b), a.at[PLACES].add(b), a.at[PLACES].mul(b)),
        (X, SCALAR),
    ),
    "summed": (lambda a: (a.sum(), a.sum(0), a.mean(1), a.cumsum(1)), (MATRIX,)),
    "multiplied": (lambda a: (a.prod(), a.prod(0), lax.cumprod(a)), (MATRIX,)),
    "largest": (lambda a: (jnp.max(a), jnp.min(a, axis=1)), (MATRIX,)),
    "a small product": (lambda a: a @ a.T, (MATRIX,)),
    "a large product": (lambda a: a @ a.T, (numbers(70, 90),)),
    "a product with a real one": (lambda a, b: a @ b, (MATRIX, MATRIX.real.T.copy())),
    "powers": (lambda a, b: (a**3, a**-2, a**b, a**0.5), (X, Y)),
    "counted": (lambda a: lax.fori_loop(0, 5, lambda _, z: z * z * 0.1 + a, a), (X,)),
    "a counted scalar": (
        lambda a: lax.fori_loop(0, 5, lambda _, z: z * z * 0.1 + a, a),
        (SCALAR,),
    ),
    "put in a loop": (
        lambda a: lax.fori_loop(0, 5, lambda i, z: z.at[i].set(z[i - 1] * 2), a),
        (X,),
    ),
    "while": (
        lambda a: lax.while_loop(
            lambda s: abs(s[0]) < 9, lambda s: (s[0] * a, a), (a, a)
        ),
        (SCALAR,),
    ),
    "while for each": (
        traceir.vmap(
            lambda a: lax.while_loop(lambda z: abs(z) < 4, lambda z: z * z + z + 1, a)
        ),
        (X,),
    ),
    "scan": (lambda a: lax.scan(lambda s, t: (s * t, s + t), a[0], a), (X,)),
    "scan of rows": (
        lambda a: lax.scan(lambda s, t: (s + t, s * t), a[0], a),
        (MATRIX,),
    ),
    "cond": (
        lambda a, b: lax.cond(a[0].real > 0, lambda: a * b, lambda: a + 1j * b),
        (X, Y),
    ),
    "a library in a loop": (
        lambda a: lax.fori_loop(0, 3, lambda _, z: jnp.sort(z) * 2, a),
        (X,),
    ),
    "called twice": (
        lambda a: traceir.jit(lambda z: z * z)(a) + traceir.jit(lambda z: z * z)(a * 2),
        (X,),
    ),
    "a derivative": (traceir.grad(lambda a: (abs(a) ** 2).sum()), (X,)),
}


STEPS: dict[str, Function] = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / (b + 2),
    "conj": lambda a, b: a.conj() - b,
    "turned": lambda a, b: lax.complex(b.imag, a.real),
    "abs": lambda a, b: abs(a) * b,
    "reversed": lambda a, b: a[::-1] + b,
    "transposed": lambda a, b: (a.T @ b).T if a.ndim == 2 else a * b.sum(),
    "chosen": lambda a, b: jnp.where(a.real < b.real, a, b),
    "summed": lambda a, b: a + b.sum(0),
    "sin": lambda a, b: jnp.sin(a) + b,
    "looped": lambda a, b: lax.fori_loop(0, 3, lambda _, z: z * 0.5 + b, a),
}
