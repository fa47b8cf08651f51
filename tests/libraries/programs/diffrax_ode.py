"""An oscillator solved with adaptive steps, and the gradient by its parameter."""

import diffrax
import jax
import jax.numpy as jnp


def main() -> object:
    """The end, and its gradient."""

    @jax.jit
    def end(k: object) -> object:
        term = diffrax.ODETerm(lambda t, y, args: jnp.array([y[1], -args * y[0]]))
        solution = diffrax.diffeqsolve(
            term,
            diffrax.Tsit5(),
            0.0,
            2.0,
            0.1,
            jnp.array([1.0, 0.0]),
            args=k,
            stepsize_controller=diffrax.PIDController(rtol=1e-4, atol=1e-6),
        )
        return solution.ys[-1, 0]

    return end(2.0), jax.grad(end)(2.0)
