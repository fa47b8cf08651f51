"""Special functions, as `jax.scipy.special` has them: elementwise.

The names are those of `__init__.pyi`; a module is imported with its first use. Takes
real arrays, gives real arrays. Start reading at `gammas.gamma`.

- `bessels`: Bessel functions of the first kind
- `betas`: the beta function and its relatives
- `faddeeva`: error functions of complex numbers, and scaled ones
- `fits`: polynomials of special functions, written by `tests/ulp/chebyshev.py`
- `gammas`: the gamma function and its relatives
- `harmonics`: spherical harmonics
- `hypergeometric`: hypergeometric functions
- `integrals`: integrals of exponentials, sines and cosines
- `logs`: products with logarithms, entropies, logistic functions
- `logsums`: sums and differences of exponentials, softmax
- `normal`: the error functions and the normal distribution
- `owen`: Owen's T function
- `polynomials`: evaluation of fitted polynomials and of power series
- `powers`: exponential integrals of all orders
- `zetas`: zeta functions, Bernoulli's numbers and Spence's function

>>> import traceir.numpy as jnp, traceir.scipy.special
>>> traceir.scipy.special.logsumexp(jnp.array([1000.0, 1000.0]))
Array(1000.6932, dtype=float32)
"""

from traceir.lax.checks.attribute_hints import lazy_names as _lazy_names

__all__, __getattr__, __dir__ = _lazy_names(globals())
