"""Particles in a periodic box: energy, forces and some steps."""

import jax
from jax_md import energy, minimize, simulate, space


def main() -> object:
    """The energy, the forces, and the positions after the steps."""
    displacement, shift = space.periodic(4.0)
    total = energy.soft_sphere_pair(displacement, sigma=1.0)
    positions = jax.random.uniform(jax.random.key(0), (8, 2), maxval=4.0)
    forces = -jax.grad(total)(positions)
    init, apply = minimize.fire_descent(total, shift)
    state = init(positions)
    apply = jax.jit(apply)
    for _ in range(5):
        state = apply(state)
    start, move = simulate.nve(total, shift, 1e-3)
    moving = start(jax.random.PRNGKey(0), positions, kT=0.1)
    moving = jax.lax.fori_loop(0, 10, lambda _, s: move(s), moving)
    return total(positions), forces, state.position, moving.position
