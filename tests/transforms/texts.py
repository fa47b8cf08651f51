"""Functions whose derivatives' programs are compared with JAX's, and how.

`PYTHONPATH=tests python -m transforms.texts`, with JAX, writes what `make_jaxpr` prints
there to `records/derivative-texts.toml.xz`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from recorded import Record

DATA = Record("derivative-texts.toml.xz")

ELEMENTS = """
jnp.sin; jnp.cos; jnp.exp; jnp.log; jnp.tanh; jnp.sqrt; jnp.log1p; jnp.abs; jnp.floor
lax.square; lambda x: x * x; lambda x: x**2; lambda x: x**3; lambda x: 1 / x
lambda x: x / 2; lambda x: jnp.sin(x) / x; lambda x: x - jnp.sin(x); lambda x: 2 - x
lambda x: jnp.maximum(x, 0.0); lambda x: jnp.maximum(x, jnp.sin(x)); lambda x: x**2.5
lambda x: 2.0**x; lambda x: x**x; lambda x: jnp.where(x > 0, x, 2 * x)
lambda x: x * jnp.sin(x) + x; lambda x: jnp.clip(x, 0, 1); lambda x: 3.0; lambda x: x
lambda x: x.astype(jnp.float16).astype(jnp.float32); lambda x: x % 3.0
lambda x: lax.stop_gradient(x) * x; lambda x: jnp.sign(x) * x
lambda x: jnp.round(x) * x; lambda x: x**3 - 2 * x**2 + x - 7
lambda x: grad(lambda y: x * y * y)(x); lambda x: jnp.sin(jnp.sin(x) * x) * x
lax.acos; lax.acosh; lax.asin; lax.asinh; lax.atan; lax.atanh; lax.cbrt; lax.ceil
lax.cosh; lax.erf; lax.erfc; lax.erf_inv; lax.exp2; lax.expm1; lax.logistic; lax.rsqrt
lax.sinh; lax.tan; jnp.log2; jnp.log10; jnp.sinc; lambda x: lax.atan2(x, 2.0)
lambda x: lax.atan2(x, x); lambda x: jnp.hypot(x, 2.0); lambda x: jnp.deg2rad(x) * x
lambda x: lax.exp2(x) * lax.tan(x); lambda x: x * lax.round(x); jnp.nan_to_num
"""
NESTED = """
jit(lambda x: jnp.sin(x) * 2.0); lambda x: jit(lambda y: jnp.sin(y) * x)(x)
lambda x: jit(lambda y, z: (jnp.sin(y), jnp.floor(z)))(x, 2.0)[0]
lambda x: jit(lambda y, z: y * z)(x, 2.0)**2; jit(jnp.exp); jit(lambda x: x * x)
jit(lambda x: x); jit(lambda x: x + V.sum()); jit(lambda x: (x * V).sum())
lambda x: jit(lambda x: (jnp.sin(x), jnp.cos(x)))(x)[0]
jit(lambda x: jit(jnp.sin)(x) * x); lambda x: jit(lambda x, y: (x * y, x + y))(x, x)[1]
"""
VECTORS = """
lambda v: jnp.dot(A, v).sum(); lambda v: jnp.sum(A * v); lambda v: v[1]
lambda v: v[1:3].sum(); lambda v: jnp.concatenate([v, v * 2]).sum()
lambda v: jnp.stack([v, v * 2]).sum(); lambda v: jnp.where(v > 0, v, 0).sum()
lambda v: (v * jnp.arange(4)).sum(); lambda v: v.std(); lambda v: v.var()
lambda v: (jnp.exp(v) / jnp.sum(jnp.exp(v)))[0]; lambda v: jnp.log(jnp.sum(jnp.exp(v)))
lambda v: jnp.sqrt(jnp.sum(v**2)); lambda v: (v[:, None] * v[None, :]).sum()
lambda v: jnp.cumsum(v * v)[1]; lambda v: jnp.cumprod(v)[2]; lambda v: lax.cummax(v)[2]
lambda v: lax.cummin(v, reverse=True)[1]; lambda v: lax.cumlogsumexp(v)[2]; jnp.prod
lambda v: v[::-1][0]; lambda v: v[3:0:-2].sum(); lambda v: lax.rev(v, (0,))[1]
lambda v: lax.split(v, (1, 3))[1].sum(); lambda v: lax.pad(v, 0.0, ((1, 1, 1),)).sum()
lambda v: lax.pad(v, 0.0, ((-1, 1, 0),)).sum(); lambda v: jnp.ptp(v); lambda v: sum(v)
"""
MATRICES = """
lambda x: jnp.sum(x * x); lambda x: x.mean(); lambda x: jnp.dot(x, V).sum()
lambda x: (x.T * x.T).sum(); lambda x: jnp.sin(x.reshape(12)).sum(); lambda x: x.max()
lambda x: x.min(); lambda x: (x @ x.T).sum(); lambda x: jnp.tanh(A.T @ x).sum()
lambda x: jnp.cumsum(x, 1)[1].sum(); lambda x: x.prod(0).sum(); lambda x: x.prod()
lambda x: lax.cumprod(x, 1).sum(); lambda x: lax.cumlogsumexp(x, 1).sum()
"""
SCALED = """
lambda s: jnp.sum(A * s); lambda s: (s + A).sum(); lambda s: (A - s).sum()
lambda s: (s / A).sum(); lambda s: (A / s).sum()
"""
GROUPS = {"S": ELEMENTS + NESTED + SCALED, "V": VECTORS, "A": MATRICES}

# JAX hands a constant of an inner program through the results of the outer one; here a
# constant is read where it is needed.
OTHERWISE = {("grad of jit", "jit(lambda x: (x * V).sum())", "S")}

Mode = Callable[[Any, Any, Any], Any]
MODES: dict[str, Mode] = {
    "grad": lambda m, f, a: m.make_jaxpr(m.grad(f))(a),
    "jvp": lambda m, f, a: m.make_jaxpr(lambda x, t: m.jvp(f, (x,), (t,)))(a, a),
    "linearize": lambda m, f, a: m.make_jaxpr(lambda x, t: m.linearize(f, x)[1](t))(
        a, a
    ),
    "grad of jit": lambda m, f, a: m.make_jaxpr(m.grad(m.jit(f)))(a),
    "jvp of grad": lambda m, f, a: m.make_jaxpr(
        lambda x, t: m.jvp(m.grad(f), (x,), (t,))
    )(a, a),
    "hessian": lambda m, f, a: m.make_jaxpr(m.hessian(f))(a),
    "vmap of grad": lambda m, f, a: m.make_jaxpr(m.vmap(m.grad(f)))(np.stack([a, a])),
}
# Of the longer texts some are enough.
EVERY = {"grad": 1, "jvp": 1, "linearize": 2, "hessian": 6}


def names(module: Any, arrays: Any, lax: Any) -> dict[str, Any]:
    """The names of the functions' texts, from a module that is JAX or like it."""
    return {
        "jnp": arrays,
        "lax": lax,
        "jit": module.jit,
        "grad": module.grad,
        "S": 1.5,
        "V": arrays.asarray(np.arange(4, dtype="float32") + 1),
        "A": arrays.asarray(np.arange(12, dtype="float32").reshape(3, 4) + 1),
    }


def programs() -> Iterator[tuple[str, str, str]]:
    """Mode, function and argument of each text."""
    for mode in MODES:
        number = 0
        for argument, listed in GROUPS.items():
            for source in filter(None, re.split(r";\s|\n", listed)):
                if number % EVERY.get(mode, 4) == 0:
                    yield mode, source.strip(), argument
                number += 1


def text_of(module: Any, known: dict[str, Any], key: tuple[str, str, str]) -> str:
    """The program that a module makes of one of them, as text."""
    mode, source, argument = key
    return str(MODES[mode](module, eval(source, known), known[argument]))


def record() -> None:
    """Write JAX's texts; those are left out that no reader could take back in.

    There a `_` among the results of an inner program could be either of two values.
    Integers stand as such where JAX writes `np.int64(…)`.
    """
    import jax
    import jax.numpy

    from traceir.text import parse

    known = names(jax, jax.numpy, jax.lax)
    blocks = ["# What JAX 0.10.2 prints; see texts.py.\n"]
    for key in programs():
        text = re.sub(r"np\.int64\((-?\d+)\)", r"\1", text_of(jax, known, key))
        read = str(parse(text))
        if key in OTHERWISE or re.sub(r"\s", "", read) != re.sub(r"\s", "", text):
            print("left out:", *key[:2])
            continue
        head = "\n".join(f"{k} = {v!r}" for k, v in zip(("mode", "of", "at"), key))
        blocks.append(f"[[text]]\n{head}\ntext = '''\n{read}'''\n")
    DATA.write_text("\n".join(blocks))


if __name__ == "__main__":
    record()
