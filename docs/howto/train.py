"""Data-parallel training over the processes of MPI: `mpirun -n 4 python train.py`."""

import numpy as np

import traceir as jax
import traceir.numpy as jnp
from traceir.sharding import NamedSharding, P


def loss(w, x, y):
    return jnp.mean((jnp.tanh(x @ w[0]) + w[1] - y) ** 2)


def averaged(w, x, y):
    return jax.value_and_grad(lambda w: jax.lax.pmean(loss(w, x, y), "rows"))(w)


def main():
    jax.distributed.initialize()
    mesh = jax.make_mesh((jax.device_count(),), ("rows",))
    specs = P(), P("rows"), P("rows")
    parts = jax.shard_map(averaged, mesh=mesh, in_specs=specs, out_specs=P())

    @jax.jit
    def step(w, x, y):
        value, slopes = parts(w, x, y)
        return value, jax.tree.map(lambda w, s: w - 0.1 * s, w, slopes)

    # Each process makes its own share of the data.
    random = np.random.default_rng(jax.process_index())
    share = random.normal(size=(1000, 8)).astype("float32")
    rows = NamedSharding(mesh, P("rows"))
    x = jax.make_array_from_process_local_data(rows, share)
    y = jax.make_array_from_process_local_data(rows, np.sin(share.sum(1)))
    w = jnp.zeros(8), jnp.zeros(())
    for _ in range(100):
        value, w = step(w, x, y)
    if jax.process_index() == 0:
        print("loss", round(float(value), 4))
    jax.distributed.shutdown()


if __name__ == "__main__":
    main()
