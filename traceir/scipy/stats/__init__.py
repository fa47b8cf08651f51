"""Distributions, as `jax.scipy.stats` has them.

A distribution is a module, with functions of arrays of places and of parameters. Start
reading at `norm.logpdf`.

- `bernoulli`, `binom`, `betabinom`, `nbinom`, `geom`: trials that succeed or fail
- `multinomial`, `dirichlet`, `multivariate_normal`: distributions of vectors
- `poisson`: the Poisson distribution: events where `mu` are expected
- `norm`, `truncnorm`, `gennorm`, `t`, `chi2`: the normal distribution and relatives
- `beta`, `gamma`, `expon`, `uniform`, `pareto`: distributions of one-sided range
- `cauchy`, `laplace`, `logistic`, `gumbel_l`, `gumbel_r`: those of the whole line
- `vonmises`, `wrapcauchy`: distributions on the circle
- `frames`: location and scale, common to all distributions
- `kernel_density`: densities estimated from samples: `gaussian_kde`
- `summaries`: ranks, modes and standard errors

>>> from traceir.scipy.stats import norm
>>> norm.cdf(0.0)
Array(0.5, dtype=float32)
"""

from traceir.lax.checks.attribute_hints import lazy_names as _lazy_names

__all__, __getattr__, __dir__ = _lazy_names(globals())
