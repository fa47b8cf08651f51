"""Programs over all devices, which may be those of one process or of several."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from processes import divided_models as divided_models  # whose programs are entered
from processes import whole_arrays as whole_arrays
from processes.entered import DEVICES as DEVICES
from processes.entered import PROGRAMS as PROGRAMS
from processes.entered import drawn, neighbours, placed, program, ring, square

# -- training --------------------------------------------------------------------------


def _mlp(jax: Any) -> tuple[Any, Any]:
    jnp = jax.numpy

    def predicted(params: Any, x: Any) -> Any:
        *hidden, (w, b) = params
        for v, c in hidden:
            x = jnp.tanh(x @ v + c)
        return x @ w + b

    def loss(params: Any, x: Any, y: Any) -> Any:
        return jnp.mean((predicted(params, x) - y) ** 2)

    sizes = (6, 16, 16, 1)
    params = [
        (drawn(n, m, seed=n + m) / n**0.5, np.zeros(m, "float32"))
        for n, m in pairwise(sizes)
    ]
    return params, loss


@program
def data_parallel_training(jax: Any) -> Any:
    """Rows are divided, parameters are everywhere, gradients are averaged."""
    P = jax.sharding.PartitionSpec
    params, loss = _mlp(jax)
    mesh = ring(jax)

    def gradients(params: Any, x: Any, y: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(params, x, y)
        return jax.lax.pmean((value, slopes), "x")

    parts = jax.shard_map(
        gradients,
        mesh=mesh,
        in_specs=(P(), P("x"), P("x")),
        out_specs=(P(), P()),
        check_vma=False,
    )

    @jax.jit
    def step(params: Any, x: Any, y: Any) -> Any:
        value, slopes = parts(params, x, y)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, slopes)

    x = placed(jax, mesh, drawn(64, 6), "x", None)
    y = placed(jax, mesh, drawn(64, 1, seed=1), "x", None)
    values = []
    for _ in range(5):
        value, params = step(params, x, y)
        values.append(value)
    return values, params


@program
def training_by_shardings(jax: Any) -> Any:
    """The same without a word on devices: the data say where it is computed."""
    params, loss = _mlp(jax)
    mesh = ring(jax)
    step = jax.jit(jax.value_and_grad(loss))
    x = placed(jax, mesh, drawn(64, 6), "x", None)
    y = placed(jax, mesh, drawn(64, 1, seed=1), "x", None)
    for _ in range(3):
        value, slopes = step(params, x, y)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, slopes)
    return value, params


@program
def derivative_of_parts(jax: Any) -> Any:
    """The gradient of a function that is itself one of parts."""
    P = jax.sharding.PartitionSpec
    mesh = ring(jax)

    def total(part: Any, w: Any) -> Any:
        return jax.lax.psum((jax.numpy.sin(part) @ w).sum(), "x")

    whole = jax.shard_map(
        total, mesh=mesh, in_specs=(P("x"), P()), out_specs=P(), check_vma=False
    )
    x = placed(jax, mesh, drawn(8, 5), "x", None)
    return jax.jit(jax.grad(whole, argnums=(0, 1)))(x, drawn(5, 3, seed=2))


# -- products --------------------------------------------------------------------------


@program
def product_by_gathering(jax: Any) -> Any:
    """Rows of one matrix, columns of the other, which are gathered."""
    P = jax.sharding.PartitionSpec

    def product(a: Any, b: Any) -> Any:
        return a @ jax.lax.all_gather(b, "x", axis=1, tiled=True)

    parts = jax.shard_map(
        product,
        mesh=ring(jax),
        in_specs=(P("x", None), P(None, "x")),
        out_specs=P("x", None),
    )
    return jax.jit(parts)(drawn(8, 12), drawn(12, 16, seed=1))


@program
def product_by_scattering(jax: Any) -> Any:
    """Terms are divided, and the sum is dealt out."""
    P = jax.sharding.PartitionSpec

    def product(a: Any, b: Any) -> Any:
        return jax.lax.psum_scatter(a @ b, "x", scatter_dimension=0, tiled=True)

    parts = jax.shard_map(
        product,
        mesh=ring(jax),
        in_specs=(P(None, "x"), P("x", None)),
        out_specs=P("x", None),
    )
    small = jax.jit(parts)(drawn(8, 16), drawn(16, 16, seed=1))
    return small, jax.jit(parts)(drawn(64, 16), drawn(16, 256, seed=1))


@program
def product_on_a_square(jax: Any) -> Any:
    """Blocks of both, by shardings alone."""
    mesh = square(jax)
    a = placed(jax, mesh, drawn(8, 12), "x", "y")
    b = placed(jax, mesh, drawn(12, 16, seed=1), "y", None)
    c = placed(jax, mesh, drawn(8, 12, seed=2), "x", None)
    d = placed(jax, mesh, drawn(12, 16, seed=3), None, "y")
    multiplied = jax.jit(lambda a, b: jax.nn.relu(a @ b) + 1)
    return multiplied(a, b), multiplied(c, d), c @ d


@program
def sums_on_a_square(jax: Any) -> Any:
    """Sums over one axis, over the other, and over both."""
    P, lax = jax.sharding.PartitionSpec, jax.lax

    def sums(a: Any) -> Any:
        rows, columns = lax.psum(a, "x"), lax.pmean(a, "y")
        return rows, columns, lax.psum(a.sum(), ("x", "y")), lax.pmax(a, ("y", "x"))

    specs = P(None, "y"), P("x"), P(), P()
    parts = jax.shard_map(sums, mesh=square(jax), in_specs=P("x", "y"), out_specs=specs)
    a = drawn(4, 6)
    return parts(a), jax.jit(parts)(a), jax.jit(parts)(drawn(64, 512))


# -- rings and pipelines ---------------------------------------------------------------


@program
def ring_reduction(jax: Any) -> Any:
    """A sum that goes round a ring: each device adds, and passes on."""
    P, lax = jax.sharding.PartitionSpec, jax.lax

    def reduced(part: Any) -> Any:
        round_ = neighbours(jax)

        def step(_: Any, carry: Any) -> Any:
            total, block = carry
            block = lax.ppermute(block, "x", round_)
            return total + block, block

        total, _ = lax.fori_loop(0, jax.device_count() - 1, step, (part, part))
        return total

    parts = jax.shard_map(
        reduced, mesh=ring(jax), in_specs=P("x"), out_specs=P("x"), check_vma=False
    )
    return jax.jit(parts)(drawn(8, 3)), jax.jit(parts)(drawn(64, 1000))


@program
def gathering_pipeline(jax: Any) -> Any:
    """Layers that lie with different devices, gathered one by one for all rows."""
    P, lax, jnp = jax.sharding.PartitionSpec, jax.lax, jax.numpy

    def applied(x: Any, layers: Any) -> Any:
        def layer(x: Any, w: Any) -> Any:
            whole = lax.all_gather(w, "x", axis=0, tiled=True)
            return jnp.tanh(x @ whole), jnp.sum(x)

        x, sums = lax.scan(layer, x, layers)
        return x, lax.psum(sums, "x")

    parts = jax.shard_map(
        applied,
        mesh=ring(jax),
        in_specs=(P("x"), P(None, "x")),
        out_specs=(P("x"), P()),
        check_vma=False,
    )
    return jax.jit(parts)(drawn(8, 8), drawn(3, 8, 8, seed=1) / 3)


@program
def everybody_to_everybody(jax: Any) -> Any:
    """Rows become columns, by blocks, in three ways."""
    P, lax = jax.sharding.PartitionSpec, jax.lax
    mesh = ring(jax)

    def tiled(a: Any) -> Any:
        return lax.all_to_all(a, "x", 1, 0, tiled=True)

    def stacked(a: Any) -> Any:
        return lax.all_to_all(a.reshape(jax.device_count(), -1), "x", 0, 0)

    turned = jax.shard_map(tiled, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))
    dealt = jax.shard_map(stacked, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    a = drawn(8, 16)
    there = placed(jax, mesh, a, "x", None)
    spec = jax.sharding.NamedSharding(mesh, P(None, "x"))
    return jax.jit(turned)(a), jax.jit(dealt)(a), turned(a), jax.device_put(there, spec)


@program
def places_and_gathers(jax: Any) -> Any:
    """Places, the parts of others, gathers along a new dimension, and extremes."""
    P, lax, jnp = jax.sharding.PartitionSpec, jax.lax, jax.numpy

    def told(a: Any) -> Any:
        number = lax.axis_index("x")
        after = lax.ppermute(a, "x", neighbours(jax)[:-1:2])
        every = lax.all_gather(a, "x", axis=1)
        least = lax.pmin(jnp.where(number == 2, jnp.nan, a), "x")
        return a * number, after, every, least, lax.psum(1, "x") + number[None]

    specs = P("x"), P("x"), P("x"), P(), P("x")
    parts = jax.shard_map(
        told, mesh=ring(jax), in_specs=P("x"), out_specs=specs, check_vma=False
    )
    a = drawn(8, 3)
    kinds = [a, a.astype("float16"), (a * 9).astype("int8"), a > 0]
    return (
        [jax.jit(parts)(x) for x in kinds[:3]],
        parts(a),
        jax.jit(
            jax.shard_map(
                lambda m: lax.psum(m, "x"),
                mesh=ring(jax),
                in_specs=P("x"),
                out_specs=P(),
            )
        )(kinds[3]),
    )


@program
def sums_of_every_type(jax: Any) -> Any:
    """Sums of numbers of all widths, few and many."""
    P, lax = jax.sharding.PartitionSpec, jax.lax
    count = jax.device_count()
    total = jax.jit(
        jax.shard_map(
            lambda a: (lax.psum(a, "x"), lax.psum(a.sum(), "x")),
            mesh=ring(jax),
            in_specs=P("x"),
            out_specs=(P(), P()),
        )
    )
    found = []
    for shape in (count,), (count, 3), (count, 20_001):
        for kind in "float32", "float16", "bfloat16", "complex64", "int8", "uint32":
            found.append(total(jax.numpy.asarray(drawn(*shape) * 50).astype(kind)))
    return found


@program
def maps_of_examples(jax: Any) -> Any:
    """`pmap`: every process has the examples of its own devices."""
    count, first = jax.local_device_count(), jax.local_devices()[0].id
    own = slice(first, first + count)
    share = jax.pmap(lambda x: x / jax.lax.psum(x, "i"), axis_name="i")
    found = share(drawn(jax.device_count(), 5)[own])
    again = jax.pmap(lambda x, y: jax.lax.pmean(x * y, "i"), "i", in_axes=(0, None))
    means = again(drawn(jax.device_count(), 5)[own], np.float32(2))
    P, sharding = jax.sharding.PartitionSpec, jax.sharding.NamedSharding
    rows = sharding(ring(jax), P("x"))
    return [
        jax.make_array_from_process_local_data(rows, np.asarray(x))
        for x in (found, means)
    ]
