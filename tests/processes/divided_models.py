"""Models, products and sums that are divided over devices in the usual ways."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from processes.entered import drawn, neighbours, parts, placed, program, square


def _layers(*sizes: int) -> list[np.ndarray]:
    return [drawn(n, m, seed=n + m) / np.float32(n**0.5) for n, m in pairwise(sizes)]


def _descended(jax: Any, loss: Any, params: Any, *data: Any) -> Any:
    """Three values of a loss under gradient descent, and the parameters after it."""

    @jax.jit
    def step(params: Any, *data: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(params, *data)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, slopes)

    values = []
    for _ in range(3):
        value, params = step(params, *data)
        values.append(value)
    return values, params


@program
def fully_divided_training(jax: Any) -> Any:
    """Rows and parameters are divided; each layer is gathered where it is used."""
    P, lax, jnp = jax.sharding.PartitionSpec, jax.lax, jax.numpy

    def predicted(layers: Any, x: Any) -> Any:
        for w in layers:
            x = jnp.tanh(x @ lax.all_gather(w, "x", tiled=True))
        return x

    def loss(layers: Any, x: Any, y: Any) -> Any:
        return lax.pmean(jnp.mean((predicted(layers, x) - y) ** 2), "x")

    whole = parts(jax, loss, (P("x"), P("x"), P("x")), P())
    data = drawn(32, 8), drawn(32, 8, seed=1)
    return _descended(jax, whole, _layers(8, 16, 8), *data)


@program
def training_on_a_square(jax: Any) -> Any:
    """Rows are divided along one axis, the neurons of a layer along the other."""
    P, lax, jnp = jax.sharding.PartitionSpec, jax.lax, jax.numpy

    def loss(layers: Any, x: Any, y: Any) -> Any:
        into, out = layers
        hidden = jnp.tanh(x @ into)
        found = lax.psum(hidden @ out, "y")
        return lax.pmean(jnp.mean((found - y) ** 2), "x")

    mesh = square(jax)
    specs = [P(None, "y"), P("y")], P("x"), P("x")
    whole = parts(jax, loss, specs, P(), mesh=mesh)
    into, out = _layers(6, 16, 2)
    layers = [placed(jax, mesh, into, None, "y"), placed(jax, mesh, out, "y", None)]
    data = placed(jax, mesh, drawn(32, 6), "x", None), drawn(32, 2, seed=1)
    return _descended(jax, whole, layers, *data)


@program
def training_by_maps(jax: Any) -> Any:
    """`pmap`: each device has its examples, and all have the same parameters."""
    jnp, lax = jax.numpy, jax.lax

    def loss(layers: Any, x: Any, y: Any) -> Any:
        for w in layers:
            x = jnp.tanh(x @ w)
        return jnp.mean((x - y) ** 2)

    def step(layers: Any, x: Any, y: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(layers, x, y)
        value, slopes = lax.pmean((value, slopes), "i")
        return value, jax.tree.map(lambda w, g: w - 0.1 * g, layers, slopes)

    mapped = jax.pmap(step, "i", in_axes=(None, 0, 0), out_axes=None)
    data = _own(jax, drawn(32, 6)), _own(jax, drawn(32, 2, seed=1))
    layers, values = _layers(6, 16, 2), []
    for _ in range(3):
        value, layers = mapped(layers, *data)
        values.append(value)
    return values, layers


def _own(jax: Any, value: np.ndarray) -> np.ndarray:
    """The examples of this process's devices, those of each device in a row."""
    count, first = jax.local_device_count(), jax.local_devices()[0].id
    rows = value.reshape(jax.device_count(), -1, *value.shape[1:])
    return rows[first : first + count]


@program
def smoothing_with_neighbours(jax: Any) -> Any:
    """`pmap`: a convolution along parts, whose ends are their neighbours'."""
    jnp, lax = jax.numpy, jax.lax
    onward = neighbours(jax)
    back = [(b, a) for a, b in onward]

    def smoothed(part: Any) -> Any:
        before = lax.ppermute(part[-1:], "i", onward)
        after = lax.ppermute(part[:1], "i", back)
        longer = jnp.concatenate([before, part, after])
        return jnp.convolve(longer, jnp.array([0.25, 0.5, 0.25]), "valid")

    mapped = jax.pmap(smoothed, axis_name="i")
    found = _own(jax, drawn(64))
    for _ in range(3):
        found = mapped(found)
    mesh = jax.make_mesh((jax.device_count(),), ("x",))
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    return jax.make_array_from_process_local_data(rows, np.asarray(found).reshape(-1))


@program
def pipeline_of_stages(jax: Any) -> Any:
    """Layers lie with different devices, and groups of rows go through them."""
    P, lax, jnp = jax.sharding.PartitionSpec, jax.lax, jax.numpy
    count, onward, groups = jax.device_count(), neighbours(jax), 4

    def staged(layers: Any, x: Any) -> Any:
        place = lax.axis_index("x")

        def step(k: Any, carry: Any) -> Any:
            held, made = carry
            entering = x[jnp.minimum(k, groups - 1)]
            held = jnp.where(place == 0, entering, held)
            held, _ = lax.scan(lambda h, w: (jnp.tanh(h @ w), None), held, layers)
            at = k - (count - 1)
            written = made.at[jnp.maximum(at, 0)].set(held)
            made = jnp.where(at >= 0, written, made)
            return lax.ppermute(held, "x", onward), made

        nothing = jnp.zeros_like(x[0]), jnp.zeros_like(x)
        _, made = lax.fori_loop(0, groups + count - 1, step, nothing)
        return lax.psum(jnp.where(place == count - 1, made, 0), "x")

    whole = parts(jax, staged, (P("x"), P()), P(), check_vma=False)
    layers, x = drawn(8, 6, 6, seed=1) / 2, drawn(groups, 5, 6)
    slopes = jax.jit(jax.grad(lambda w: jnp.sum(whole(w, x) ** 2)))
    return whole(layers, x), slopes(layers)


@program
def product_round_a_ring(jax: Any) -> Any:
    """Blocks of one matrix go round while products with those that came are added."""
    P, lax = jax.sharding.PartitionSpec, jax.lax
    count, onward = jax.device_count(), neighbours(jax)

    def product(a: Any, b: Any) -> Any:
        place, rows = lax.axis_index("x"), b.shape[0]

        def term(k: Any, block: Any) -> Any:
            at = (place - k) % count * rows
            return lax.dynamic_slice_in_dim(a, at, rows, 1) @ block

        def step(k: Any, carry: Any) -> Any:
            total, block = carry
            block = lax.ppermute(block, "x", onward)
            return total + term(k, block), block

        return lax.fori_loop(1, count, step, (term(0, b), b))[0]

    whole = parts(jax, product, (P("x"), P("x")), P("x"))
    return whole(drawn(8, 16), drawn(16, 6, seed=1))


@program
def reduction_in_two_rounds(jax: Any) -> Any:
    """A sum by blocks: first each device completes one, then these go round."""
    P, lax, jnp = jax.sharding.PartitionSpec, jax.lax, jax.numpy
    count, onward = jax.device_count(), neighbours(jax)

    def reduced(part: Any) -> Any:
        place, own = lax.axis_index("x"), part.sum(0).reshape(count, -1)

        def added(k: Any, held: Any) -> Any:
            return lax.ppermute(held, "x", onward) + own[(place - k - 1) % count]

        def passed(k: Any, carry: Any) -> Any:
            whole, held = carry
            held = lax.ppermute(held, "x", onward)
            return whole.at[(place - k) % count].set(held), held

        held = lax.fori_loop(0, count - 1, added, own[place])
        whole = jnp.zeros_like(own).at[(place + 1) % count].set(held)
        return lax.fori_loop(0, count - 1, passed, (whole, held))[0].reshape(-1)

    whole = parts(jax, reduced, P("x"), P(), check_vma=False)
    return whole(drawn(8, 16)), whole(drawn(64, 1024))


@program
def averages_on_a_square(jax: Any) -> Any:
    """`shard_map` in a loop of `scan`, under `vmap`, and with a gradient of it."""
    P, lax, jnp = jax.sharding.PartitionSpec, jax.lax, jax.numpy

    def centred(a: Any) -> Any:
        return a - lax.pmean(a.mean(), ("x", "y"))

    mesh = square(jax)
    whole = parts(jax, centred, P("x", "y"), P("x", "y"), mesh=mesh)
    a = drawn(4, 8)

    def step(c: Any, _: Any) -> Any:
        c = whole(jnp.sin(c))
        return c, c.max()

    looped = jax.jit(lambda a: lax.scan(step, a, None, length=4))(a)
    many = jax.jit(jax.vmap(whole))(drawn(3, 4, 8, seed=1))
    slopes = jax.jit(jax.grad(lambda a: jnp.sum(whole(a) ** 3)))(a)
    return looped, many, slopes
