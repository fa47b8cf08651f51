"""Programs of whole arrays, whose shardings say where they are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
from processes.entered import drawn, placed, program, ring, sides, square


@program
def operations_on_rows(jax: Any) -> Any:
    """Operations outside of functions, on arrays that are divided."""
    jnp = jax.numpy
    mesh = square(jax)
    a = placed(jax, mesh, drawn(8, 12), "x", "y")
    b = placed(jax, mesh, drawn(8, 12, seed=1), ("x", "y"), None)
    c = placed(jax, mesh, drawn(12, seed=2), "y")
    return [
        *(a + b, a * 2 + c, -a, a.T, a[2], a[:, 1:3], a.reshape(2, 4, 12)),
        *(jnp.sum(a), a.sum(0), a.max(1), a.mean(1, keepdims=True), b.argmax(0)),
        *(jnp.cumsum(a, 0), jnp.sort(b, 1), jnp.concatenate([a, b]), a @ b.T),
        *(
            jnp.where(a > 0, a, b),
            jnp.linalg.norm(b),
            jax.nn.softmax(a),
            a.at[0].set(1),
        ),
        *(jnp.einsum("ij,ij->i", a, b), a.astype("int32"), jnp.stack([c, c])),
    ]


@program
def functions_with_shardings(jax: Any) -> Any:
    """`jit` that says how arguments and results lie, loops and nested functions."""
    jnp, lax = jax.numpy, jax.lax
    P, sharding = jax.sharding.PartitionSpec, jax.sharding.NamedSharding
    mesh = ring(jax)
    rows, columns = sharding(mesh, P("x")), sharding(mesh, P(None, "x"))

    def powers(a: Any, b: Any) -> Any:
        c = lax.with_sharding_constraint(a @ b, columns)
        d = lax.fori_loop(0, 3, lambda k, x: x @ b + k, a)
        return c, d, lax.cond(jnp.sum(a) > 0, lambda: c * 2, lambda: c), c.sum()

    both = jax.jit(
        powers, in_shardings=(rows, None), out_shardings=(columns, rows, None, None)
    )
    inner = jax.jit(lambda a: both(a, a)[0] + jax.vmap(jnp.dot)(a, a)[:, None])
    return both(drawn(8, 8), drawn(8, 8, seed=1)), inner(placed(jax, mesh, drawn(8, 8)))


@program
def loops_over_rows(jax: Any) -> Any:
    """Loops and choices that carry arrays which are divided."""
    jnp, lax = jax.numpy, jax.lax
    x = placed(jax, ring(jax), drawn(16, 4), "x", None)

    def looped(x: Any) -> Any:
        def step(w: Any, _: Any) -> Any:
            slope = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
            return w - 0.1 * slope, jnp.tanh(x @ w)

        w, made = lax.scan(step, jnp.ones(4), None, length=3)
        grown = lax.while_loop(lambda c: c.max() < 99, lambda c: jnp.abs(c) * 2, x)
        chosen = lax.cond(x[0, 0] > 0, lambda: x * 2, lambda: x + w)
        return w, made, grown, chosen, lax.fori_loop(0, 3, lambda k, c: c * 2 + k, x)

    return jax.jit(looped)(x)


@program
def layouts_on_a_turned_square(jax: Any) -> Any:
    """An array that lies in all ways over a mesh whose first axis is the faster one."""
    jnp, kinds = jax.numpy, jax.sharding
    P = kinds.PartitionSpec
    mesh = kinds.Mesh(np.array(jax.devices()).reshape(sides(jax)).T, ("a", "b"))
    corners = kinds.NamedSharding(mesh, P("b", "a"))
    total = jax.jit(
        jax.shard_map(
            lambda part: jax.lax.psum(part, ("b", "a")),
            mesh=mesh,
            in_specs=P("a", "b"),
            out_specs=P(),
        )
    )
    found = []
    for spec in (
        *(("a", "b"), ("b", "a"), (("a", "b"),), (("b", "a"),)),
        *((None, ("b", "a")), ("b",), (None, "a")),
    ):
        x = placed(jax, mesh, drawn(8, 16), *spec)
        found += [x, x.T, x.reshape(2, 4, 16), jax.device_put(x, corners), total(x)]
        found += [x[jnp.array([1, 0, 5])], x.at[3].set(0)]
    return found


@program
def compiled_ahead(jax: Any) -> Any:
    """Functions that are compiled before they are called, for arrays and for types."""
    jnp, P, sharding = jax.numpy, jax.sharding.PartitionSpec, jax.sharding.NamedSharding
    mesh = ring(jax)
    rows, everywhere = sharding(mesh, P("x", None)), sharding(mesh, P())
    x, w = placed(jax, mesh, drawn(8, 6), "x", None), drawn(6, 3, seed=1)
    described = jax.ShapeDtypeStruct((8, 6), "float32", sharding=rows)

    def powers(x: Any, w: Any, power: int, *, shift: Any) -> Any:
        return {"y": jnp.tanh(x @ w) ** power + shift, "sum": jnp.sum(x) * shift}

    f = jax.jit(powers, static_argnums=2)
    first = f.lower(x, w, 2, shift=2.0).compile()(x, w, shift=2.0)
    second = f.lower(described, w, 3, shift=w[0]).compile()(x, w, shift=w[0])
    g = jax.jit(jnp.cos, in_shardings=rows, out_shardings=everywhere)
    third = g.lower(described).compile()(x)
    total = jax.shard_map(
        lambda a: jax.lax.psum(a.sum(), "x"), mesh=mesh, in_specs=P("x"), out_specs=P()
    )
    slopes = jax.jit(jax.grad(lambda a: total(a * a)))
    return (
        first,
        second,
        third,
        slopes.lower(x).compile()(x),
        slopes.lower(drawn(8, 6)).compile()(drawn(8, 6)),
    )
