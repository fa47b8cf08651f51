"""Functions whose batches' programs are compared with JAX's.

`PYTHONPATH=tests python -m transforms.batch_texts`, with JAX, writes what that prints
to `records/batch-texts.toml.xz`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from recorded import Record

DATA = Record("batch-texts.toml.xz")

# A function, the shapes of its arguments, what else `vmap` is given.
CASES = """
jnp.sin | 3,4 |
jnp.sin | 3,4,2 | in_axes=1
jnp.sin | 3,2,4 | in_axes=1, out_axes=-1
lambda x: x + 1 | 3 |
lambda x: x * 2.5 - x | 2,3 | in_axes=1
lambda x, y: x + y | 3; 2 | in_axes=(0, None)
lambda x, y: x + y | 3; 3,2 |
lambda x, y: lax.add(x, y) | 3,2; 2 | in_axes=(0, None)
lambda x, y: lax.add(x, y) | 3,2; 2,3 | in_axes=(0, 1)
lambda x, y: lax.add(x, y) | 2,4,3; 2,3,4 | in_axes=(2, 1)
lambda x, y: lax.add(x, y) | 1,3,2; 4,3,2 | in_axes=(1, 1)
lambda x, y: lax.mul(x, y) | 2,4,3; 3 | in_axes=(2, 0)
lambda x, y: jnp.maximum(x, y) | ; 3,2 | in_axes=(None, 0)
lambda x: x**2 | 3 |
lambda x: x**2.5 | 3 |
lambda x: x > 0 | 3,2 | in_axes=1
lambda x: x.astype(int) | 3 |
lambda x: 1.0 | 3 |
lambda x: jnp.ones(2) | 3 |
lambda x, y: y | 3; 2 | in_axes=(0, None)
lambda x, y: y * 2 | 3; 2 | in_axes=(0, None), out_axes=None
lambda x: x + jnp.arange(3.0) | 3 |
lambda x: jnp.where(x > 0, x, 0.0) | 3,4 |
lambda p, x: jnp.where(p > 1, x, 0.0) | 4; 3,4 | in_axes=(None, 0)
lambda p, x: jnp.where(p > 1, x, -x) | 3; 3,4 |
lambda p, x, y: lax.select_n(p > 0, x, y) | 3; 4,3; 4 | in_axes=(0, 1, None)
lambda p, x, y: lax.select_n(p > 0, x, y) | 4; 4,3; 4,3 | in_axes=(None, 1, 1)
lambda p, x, y: lax.select_n(p > 0, x, y) | ; 4,3; 3,4 | in_axes=(None, 1, 0)
lambda p, x, y: lax.select_n(p > 0, x, y) | 3; ; | in_axes=(0, None, None)
lambda a, x, b: lax.clamp(a, x, b) | ; 4,3; | in_axes=(None, 1, None)
lambda a, x, b: lax.clamp(a, x, b) | ; 4; 3,4 | in_axes=(None, None, 0)
lambda a, x, b: lax.clamp(a, x, b) | 3; 3,4; | in_axes=(0, 0, None)
lambda x: x.sum() | 3,2 |
lambda x: x.sum(0) | 2,4,3 | in_axes=2
lambda x: x.max(1) | 2,3,4 | in_axes=1
lambda x: x.mean((0, 1)) | 3,2,4 |
lambda x: jnp.argmax(x, 0) | 2,4,3 | in_axes=2
lambda x: jnp.argmin(x) | 2,3,4 | in_axes=1
lambda x: jnp.all(x > 0) | 3,2 |
lambda x: x.std() | 3,4 |
lambda x, y: x @ y | 3,4; 3,4 |
lambda x, y: x @ y | 3,2,4; 4 | in_axes=(0, None)
lambda x, y: x @ y | 2,4; 3,4 | in_axes=(None, 0)
lambda x, y: x @ y | 5,2; 2,4,3 | in_axes=(None, 2)
lambda x, y: x @ y | 5,3,2; 2,3,4 | in_axes=(1, 1)
jnp.matmul | 3,2,4,5; 3,2,5,6 |
jnp.matmul | 3,2,4,5; 2,5,6 | in_axes=(0, None)
jnp.matmul | 2,4,5; 2,5,3,6 | in_axes=(None, 2)
lambda x: jnp.broadcast_to(x, (4, 2)) | 2,3 | in_axes=1
lambda x: x.reshape(8) | 2,3,4 | in_axes=1
lambda x: x.T | 2,4,3 | in_axes=2
lambda x: jnp.squeeze(x, 0) | 1,3,4 | in_axes=1
lambda x: x[1:3] | 8,3 | in_axes=1
lambda x: x[1:8:2] | 3,8 |
lambda x: x[1, -1] | 2,4,3 | in_axes=2
lambda x: x[:, None] | 2,3 | in_axes=1
lambda x: lax.rev(x, (0,)) | 4,3 | in_axes=1
lambda x, y: jnp.concatenate([x, y]) | 3,2; 2 | in_axes=(0, None)
lambda x, y: jnp.concatenate([x, y]) | 3,2; 2,3 | in_axes=(0, 1)
lambda x, y: jnp.stack([x, y]) | 3,2; 3,2 |
lambda x, y: jnp.stack([x, y], 1) | 3,3; 3,3 | in_axes=(0, 1)
lambda x, y: jnp.stack([x, y]) | 3,2; 2 | in_axes=(0, None)
lambda x: lax.acos(lax.asin(lax.atan(x))) | 3,2 | in_axes=1
lambda x: lax.acosh(lax.asinh(lax.atanh(x))) | 3,2 | in_axes=1
lambda x: lax.cosh(lax.sinh(lax.tan(x))) | 3,2 | in_axes=1
lambda x: lax.cbrt(lax.rsqrt(lax.exp2(lax.expm1(x)))) | 3,2 | in_axes=1
lambda x: lax.erf(lax.erfc(lax.erf_inv(lax.logistic(x)))) | 3,2 | in_axes=1
lambda x: lax.is_finite(lax.ceil(lax.round(x))) | 3,2 | in_axes=1
lambda x: jnp.log(jnp.log1p(jnp.tanh(jnp.abs(jnp.sign(jnp.floor(x)))))) | 3 |
lambda x, y: lax.atan2(x, y) | 3,2; 2,3 | in_axes=(1, 0)
lambda x, y: lax.nextafter(x, y) | 3,2; 2,3 | in_axes=(0, 1)
lambda x, y: (x == y, x != y, x < y, x <= y, x >= y) | 3; 3 |
lambda x, y: x % y | 3; | in_axes=(0, None)
lambda x, y: lax.rem(x, y) | 3; 3 |
lambda x: jnp.minimum(x, x.min()) | 3,4 |
lambda x: lax.population_count(x.astype(int)) | 3 |
lambda x: lax.clz(lax.bitwise_not(x.astype(int))) | 3 |
lambda x: lax.shift_left(x.astype(int), 3) | 3 |
lambda x: lax.shift_right_logical(x.astype(int), 1) | 3 |
lambda x: lax.shift_right_arithmetic(x.astype(int), x.astype(int)) | 3 |
lambda x, y: lax.bitwise_xor(x > 0, lax.bitwise_or(y > 0, x < 1)) | 3; 3 |
lambda x: lax.bitwise_and(x.astype(int), 6) | 3 |
lambda x: lax.cumsum(x, 0) | 3,2 |
lambda x: lax.cumsum(x, 1, reverse=True) | 3,4,2 | in_axes=2
lambda x: lax.cumprod(x, 0) | 3,2 | in_axes=1
lambda x: lax.cummax(x, 1) | 3,4,2 | in_axes=1
lambda x: lax.cummin(x, 0, reverse=True) | 3,4,2 |
lambda x: lax.cumlogsumexp(x, 0) | 3,4 | in_axes=1
lambda x: jnp.cumsum(x) | 2,4,3 |
lambda x: jnp.cumprod(x, 1) | 2,4,3 | in_axes=2
lambda x: jnp.prod(x, 0) | 2,4,3 | in_axes=2
lambda x: jnp.any(x > 0, 0) | 2,4,3 | in_axes=1
lambda x: lax.pad(x, 0.0, ((1, 2, 1),)) | 4,3 | in_axes=1
lambda x: lax.pad(x, 0.0, ((1, -2, 1), (0, 0, 0))) | 4,2,3 | in_axes=1
lambda x, y: lax.pad(x, y, ((1, 2, 1),)) | 4,3; 3 | in_axes=(1, 0)
lambda x, y: lax.pad(x, y, ((1, 2, 1),)) | 4; 3 | in_axes=(None, 0)
lambda x: lax.split(x, (1, 3)) | 4,3 | in_axes=1
lambda x: [*x] | 2,3 | in_axes=1
lambda x: lax.stop_gradient(x) | 3 |
lambda x: lax.scan(lambda c, a: (c + a, c), x[0], x) | 3,4 |
lambda x: lax.scan(lambda c, a: (c + a, c), 0.0, x) | 3,4 | in_axes=1
lambda x: lax.fori_loop(0, 3, lambda i, c: c * x, 1.0) | 3 |
lambda x: lax.while_loop(lambda c: c < 3, lambda c: c + 1, x) | 3 |
lambda x: lax.cond(x > 0, lambda a: a, lambda a: -a, x) | 3 |
lambda x: jit(lambda y: (y.sum(0), jnp.sin(y), 1.0))(x) | 2,3,4 | in_axes=1
lambda x, y: jit(lambda a, b: (jnp.sin(a) * b, b))(x, y) | 3; | in_axes=(0, None)
vmap(vmap(lambda x, y: x * y, (0, None)), (None, 0)) | 4,2; 4,3 |
lambda x: vmap(lambda y: x @ y, in_axes=1)(jnp.ones((3, 2))) | 4,3 |
lambda x: jnp.exp(x - x.max()) / jnp.exp(x - x.max()).sum() | 3,4 |
grad(lambda x: jnp.sin(x) * x) | 3 |
grad(lambda w, x: ((x @ w) ** 2).sum()) | 3,2; 5,4,3 | in_axes=(None, 0)
grad(jit(lambda x: jnp.sin(x) * x)) | 3 |
lambda x: lax.psum(x, "i") | 4,3 | axis_name="i"
lambda x: lax.psum(x, "i") | 3,4 | in_axes=1, axis_name="i"
lambda x: lax.psum(2.0, "i") | 4,3 | axis_name="i"
lambda x: lax.psum(jnp.ones(2), "i") | 4,3 | axis_name="i"
lambda x: lax.psum({"a": x, "b": 1}, "i") | 4,3 | axis_name="i"
lambda x: lax.psum(x > 0, "i") | 4 | axis_name="i"
lambda x: lax.pmean(x, "i") | 4,3 | axis_name="i"
lambda x: lax.pmax(x, "i") | 4,3 | axis_name="i"
lambda x: lax.pmin(2.0, "i") | 4,3 | axis_name="i"
vmap(lambda y: lax.psum(y, ("i", "j")), axis_name="j") | 4,3 | axis_name="i"
lambda x: vmap(lambda y: lax.psum(y, "i"), axis_name="j")(x) | 4,3 | axis_name="i"
lambda x: jit(lambda y: lax.psum(y, "i"))(x) | 4,3 | axis_name="i"
lambda x: lax.all_gather(x, "i", axis=1) | 4,3 | axis_name="i"
lambda x: lax.all_gather(x, "i", tiled=True) | 4,3,2 | axis_name="i"
lambda x: lax.psum_scatter(x, "i") | 4,4,3 | axis_name="i"
lambda x: lax.psum_scatter(x, "i", tiled=True) | 4,8,3 | axis_name="i"
lambda x: lax.all_to_all(x, "i", 0, 1) | 4,4,3 | axis_name="i"
lambda x: lax.all_to_all(x, "i", 1, 0) | 4,3,4 | axis_name="i"
lambda x: lax.all_to_all(x, "i", 0, 0) | 4,4,3 | axis_name="i"
lambda x: lax.all_to_all(x, "i", 0, 1, tiled=True) | 4,8,3 | axis_name="i"
lambda x: x * lax.axis_index("i") | 4,3 | axis_name="i"
lambda x: lax.axis_size("i") | 4,3 | axis_name="i"
grad(lambda x: lax.psum(x * x, "i") * x) | 4 | axis_name="i"
grad(lambda x: lax.pmean(x * x, "i") * x) | 4 | axis_name="i"
grad(lambda x: (lax.all_gather(x * x, "i") * jnp.arange(4.0)).sum()) | 4 | axis_name="i"
grad(lambda x: jnp.cumsum(x * x)[1]) | 3,4 |
grad(lambda x: jnp.prod(x)) | 3,4 |
grad(lambda x: lax.cummax(x)[1]) | 3,4 |
grad(lambda x: lax.psum_scatter(x * x, "i", tiled=True).sum()) | 4,8 | axis_name="i"
vmap(lambda y: lax.pmin(y, ("i", "j")), axis_name="j") | 4,3 | axis_name="i"
"""


def cases() -> Iterator[tuple[str, str, str, str]]:
    """Each case's line and its parts."""
    for line in CASES.strip().splitlines():
        function, shapes, options = (part.strip() for part in line.split("|"))
        yield line.strip(), function, shapes, options


def program(module: Any, numpy: Any, function: str, shapes: str, options: str) -> str:
    """The text of a case by a module that is JAX, or like it."""
    names = {name: getattr(module, name) for name in ("lax", "jit", "vmap", "grad")}
    scope = {**names, "jnp": numpy}
    given = eval(f"dict({options})", {})
    batched = module.vmap(eval(function, scope), **given)
    listed = [s.strip().split(",") for s in shapes.split(";")]
    extents = [tuple(int(n) for n in shape if n) for shape in listed]
    zeros = [np.zeros(shape, "float32") for shape in extents]
    return plain(str(module.make_jaxpr(batched)(*zeros)))


def plain(text: str) -> str:
    """A program on one line; JAX has some numbers as NumPy writes them."""
    text = re.sub(r"np\.int64\((-?\d+)\)", r"\1", text)
    text = re.sub(r"\s+", " ", text)
    return text.replace("[ ", "[").replace(" ]", "]")


def main() -> None:
    """Write what JAX prints."""
    import jax
    import jax.numpy

    lines = ["# What JAX 0.10.2 prints, on one line; see batch_texts.py.\n"]
    for line, *parts in cases():
        text = program(jax, jax.numpy, *parts)
        lines.append(f"\n[[text]]\nof = '{line}'\nis = '''{text}'''\n")
    DATA.write_text("".join(lines))


if __name__ == "__main__":
    sys.exit(main())
