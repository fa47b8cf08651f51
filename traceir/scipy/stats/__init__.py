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

from traceir.base import lazy_exports as _lazy
from traceir.eager import dispatch as _direct

_places = _lazy.places(__file__)
__all__ = sorted(_places)


def __getattr__(name: str) -> object:
    if name in _places:
        return _lazy.load(globals(), _places[name], name, _direct.public)
    from traceir.lax.checks.attribute_hints import missing

    raise missing(name, __all__, __name__)


def __dir__() -> list[str]:
    return __all__
