"""A regression whose posterior is sampled by NUTS, and one step of SVI."""

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS, SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal


def model(x: object, y: object = None) -> None:
    """A line with noise."""
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    noise = numpyro.sample("noise", dist.HalfNormal(1.0))
    numpyro.sample("y", dist.Normal(slope * x, noise), obs=y)


def main() -> object:
    """The means of the samples, and the loss of a fit."""
    x = jnp.linspace(-1.0, 1.0, 20)
    y = 0.7 * x + 0.1 * jax.random.normal(jax.random.key(0), (20,))
    kernel = MCMC(NUTS(model), num_warmup=100, num_samples=200, progress_bar=False)
    kernel.run(jax.random.PRNGKey(1), x, y)
    slope = kernel.get_samples()["slope"].mean()
    fit = SVI(model, AutoNormal(model), numpyro.optim.Adam(0.05), Trace_ELBO())
    found = fit.run(jax.random.PRNGKey(2), 50, x, y, progress_bar=False)
    return jnp.round(slope, 1), found.losses[-1]
