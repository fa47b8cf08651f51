"""Prices of options by Black and Scholes, and their Greeks as derivatives."""

import numpy as np

import traceir as jax
import traceir.numpy as jnp
from traceir.scipy.stats import norm

STRIKE = 100.0


def problem(count=200_000):
    """Spot prices, volatilities, interest rates and years to go, one of each a row."""
    random = np.random.default_rng(0)
    spot = np.linspace(50, 150, count)
    volatility = random.uniform(0.1, 0.4, count)
    rate = random.uniform(0.01, 0.05, count)
    years = random.uniform(0.2, 2.0, count)
    return tuple(x.astype("float32") for x in (spot, volatility, rate, years))


def price(spot, volatility, rate, years):
    """The worth of the right to buy at the strike price."""
    spread = volatility * jnp.sqrt(years)
    d1 = (jnp.log(spot / STRIKE) + (rate + volatility**2 / 2) * years) / spread
    later = STRIKE * jnp.exp(-rate * years)
    return spot * norm.cdf(d1) - later * norm.cdf(d1 - spread)


def greeks(spot, volatility, rate, years):
    """The price of one option and its derivatives."""
    arguments = spot, volatility, rate, years
    value, slopes = jax.value_and_grad(price, argnums=(0, 1, 2, 3))(*arguments)
    delta, vega, rho, theta = slopes
    gamma = jax.grad(jax.grad(price))(*arguments)
    return {
        "price": value,
        "delta": delta,
        "gamma": gamma,
        "vega": vega,
        "rho": rho,
        "theta": -theta,
    }


# Written for one option, made for arrays of them.
solve = jax.jit(jax.vmap(greeks))


def draw(figure, arguments, results):
    """Each Greek over the spot price, for three volatilities."""
    spot = np.linspace(50, 150, 201, dtype="float32")
    years, rate = np.full_like(spot, 0.5), np.full_like(spot, 0.03)
    axes = figure.subplots(2, 3, sharex=True)
    for volatility in (0.1, 0.2, 0.4):
        found = solve(spot, np.full_like(spot, volatility), rate, years)
        for axis, (name, values) in zip(axes.flat, sorted(found.items())):
            axis.plot(spot, values, label=f"volatility {volatility}")
            axis.set_title(name)
    axes[1, 1].set_xlabel("spot price; strike 100, half a year, 3 %")
    axes[0, 0].legend(fontsize=7)
