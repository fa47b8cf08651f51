"""The Mandelbrot set: complex numbers that are squared until they run away."""

import numpy as np

import traceir as jax
import traceir.numpy as jnp
from traceir import lax

STEPS = 100
FAR = 1000.0


def problem(size=400):
    """The numbers of a part of the plane, as the pixels of a picture."""
    x = np.linspace(-2.1, 0.7, size * 7 // 6)
    y = np.linspace(-1.2, 1.2, size)
    return ((x + 1j * y[:, None]).astype("complex64"),)


@jax.jit
def solve(c):
    """After how many steps each orbit is far away; 0 where it stays."""

    def step(k, state):
        z, count = state
        z = jnp.where(jnp.abs(z) < FAR, z * z + c, z)
        gone = (jnp.abs(z) >= FAR) & (count == 0)
        # What a step has gone too far counts as a part of it: no rings in the picture.
        late = k + 1 - jnp.log2(jnp.log(jnp.maximum(jnp.abs(z), FAR)) / jnp.log(FAR))
        return z, jnp.where(gone, late, count)

    start = jnp.zeros_like(c), jnp.zeros(c.shape)
    return lax.fori_loop(0, STEPS, step, start)[1]


def draw(figure, arguments, results):
    """The set in black, the rest by how soon it leaves."""
    count = np.asarray(results)
    shown = np.ma.log(np.ma.masked_equal(count, 0))
    axis = figure.subplots()
    axis.set_facecolor("black")
    axis.imshow(shown, cmap="twilight_shifted", extent=(-2.1, 0.7, -1.2, 1.2))
    axis.set(xlabel="real part", ylabel="imaginary part")
