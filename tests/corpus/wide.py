"""Programs with long lines and many equations."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program


@program(" ".join(f"f32[]{{{k}.5}}" for k in range(12)))
def many_inputs(jax: Library, *xs: Array) -> Array:
    """More inputs than a line holds."""
    total = xs[0]
    for x in xs[1:]:
        total = total + x
    return total


@program("f32[]{1.5}")
def many_results(jax: Library, x: Array) -> Array:
    """More results than a line holds."""
    return tuple(x * float(k) for k in range(20))


@program("f32[2]{0.5 -1.5}")
def many_operands(jax: Library, x: Array) -> Array:
    """A concatenation with more operands than a line holds."""
    parts = [x + float(k) for k in range(16)]
    return jax.numpy.concatenate(parts)


@program("f32[]{0.125}")
def forty_equations(jax: Library, x: Array) -> Array:
    """Names beyond `z`."""
    y = x
    for k in range(20):
        y = y * x + float(k % 3)
    return y


@program("f32[2,3,1,2]{1 2 3 4 5 6 7 8 9 10 11 12}")
def long_parameters(jax: Library, x: Array) -> Array:
    """Params that break the line within their brackets."""
    lax = jax.lax
    y = lax.slice(x, (0, 1, 0, 0), (2, 3, 1, 2), (1, 1, 1, 1))
    return lax.broadcast_in_dim(y, (2, 2, 3, 2), (0, 1, 2, 3))


@program("f32[100]{" + " ".join(["0.5"] * 100) + "}")
def exactly_at_the_margin(jax: Library, x: Array) -> Array:
    """An equation of about eighty columns, broken or not by one of them."""
    y = jax.lax.broadcast_in_dim(x, (1, 100), (1,))
    return jax.lax.reduce_sum(y, (0, 1))
