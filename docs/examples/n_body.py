"""Bodies that attract one another; forces are gradients of the potential."""

import numpy as np

import traceir as jax
import traceir.numpy as jnp
from traceir import lax

STEPS = 200
DT = 0.02
SOFT = 1e-3  # keeps forces finite where bodies meet


def problem(count=200):
    """A heavy body, and light ones around it on orbits that are nearly circles."""
    random = np.random.default_rng(3)
    radius = np.linspace(0.8, 3.0, count - 1)
    angle = random.uniform(0, 2 * np.pi, count - 1)
    outward = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    along = np.stack([-np.sin(angle), np.cos(angle)], axis=1)
    places = np.zeros((count, 2), "float32")
    speeds = np.zeros((count, 2), "float32")
    places[1:] = radius[:, None] * outward
    speeds[1:] = along / np.sqrt(radius)[:, None]
    masses = np.full(count, 0.1 / count, "float32")
    masses[0] = 1.0
    return places, speeds, masses


def potential(places, masses):
    """The energy of all pairs."""
    apart = places[:, None] - places
    distance = jnp.sqrt(jnp.sum(apart**2, axis=2) + SOFT)
    pairs = masses[:, None] * masses / distance
    return -0.5 * (jnp.sum(pairs) - jnp.sum(masses**2) / jnp.sqrt(SOFT))


@jax.jit
def solve(places, speeds, masses):
    """The places after each step of the leapfrog, and the energies."""

    def push(places, speeds):
        return speeds - 0.5 * DT * jax.grad(potential)(places, masses) / masses[:, None]

    def step(state, _):
        places, speeds = state
        speeds = push(places, speeds)
        places = places + DT * speeds
        speeds = push(places, speeds)
        kinetic = 0.5 * jnp.sum(masses[:, None] * speeds**2)
        return (places, speeds), (places, kinetic + potential(places, masses))

    return lax.scan(step, (places, speeds), length=STEPS)[1]


def draw(figure, arguments, results):
    """Paths of some of the bodies; the energy, which should stay as it is."""
    paths, energies = map(np.asarray, results)
    left, right = figure.subplots(1, 2, width_ratios=[2, 1])
    for body in range(1, paths.shape[1], max(1, paths.shape[1] // 25)):
        left.plot(*paths[:, body].T, linewidth=1)
        left.plot(*paths[-1, body], "o", color="black", markersize=3)
    left.plot(*paths[-1, 0], "o", color="orange", markersize=10)
    left.set(aspect="equal", title="paths of 25 bodies")
    right.plot(energies / energies[0] - 1)
    right.set(xlabel="step", title="change of the energy")
