"""A Markov chain of Metropolis', many of them at once, in a curved valley."""

import numpy as np

import traceir as jax
import traceir.numpy as jnp
from traceir import lax, random

STEPS = 1000
SPREAD = 0.8


def problem(chains=100):
    """A key for each chain, and where it begins."""
    first, second = random.split(random.key(0))
    return random.split(first, chains), random.normal(second, (chains, 2))


def log_density(place):
    """The logarithm of a density that is high along a parabola, up to a constant."""
    x, y = place
    return -0.5 * (x / 1.5) ** 2 - 0.5 * ((y - x**2) / 0.7) ** 2


def chain(key, start):
    """The places of one chain, and whether each step was taken."""

    def step(place, key):
        there, luck = random.split(key)
        proposed = place + SPREAD * random.normal(there, (2,))
        gain = log_density(proposed) - log_density(place)
        taken = jnp.log(random.uniform(luck)) < gain
        place = jnp.where(taken, proposed, place)
        return place, (place, taken)

    return lax.scan(step, start, random.split(key, STEPS))[1]


# Written for one chain, made for arrays of keys and places.
solve = jax.jit(jax.vmap(chain))


def draw(figure, arguments, results):
    """One chain's way; the places of all chains beside the density."""
    places, taken = map(np.asarray, results)
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    left.plot(*places[0, :300].T, linewidth=0.7, marker=".", markersize=3)
    left.set_title(f"300 steps of a chain; {taken.mean():.0%} taken")
    x, y = np.meshgrid(np.linspace(-4, 4, 200), np.linspace(-3, 11, 200))
    edges = np.linspace(-4, 4, 81), np.linspace(-3, 11, 81)
    settled = places[:, 200:].reshape(-1, 2)
    right.hist2d(*settled.T, bins=edges, cmap="Blues", density=True)
    right.contour(x, y, np.exp(log_density((x, y))), colors="black", linewidths=0.6)
    right.set_title("all chains, and the density")
