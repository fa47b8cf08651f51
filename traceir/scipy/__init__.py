"""Functions that SciPy has, on traceable arrays, as `jax.scipy` has them.

Its modules are imported when they are first asked for. Takes arrays, gives arrays.
Start reading at `special.gammas.gamma`.

- `linalg`: linear algebra as `scipy.linalg` has it, on matrices and stacks
- `signal`: convolutions, correlations, trends and spectra, as in `scipy.signal`
- `special`: special functions, as `jax.scipy.special` has them: elementwise
- `stats`: distributions, as `jax.scipy.stats` has them
- `cluster`: groups of vectors, as `jax.scipy.cluster` has them
- `sparse`: systems of equations whose matrix need not be written out
- `spatial`: geometry, as `jax.scipy.spatial` has it
- `fft`: cosine transforms as `scipy.fft` has them
- `integrate`: integrals of samples, as `jax.scipy.integrate` has them
- `interpolate`: interpolation on grids, as `jax.scipy.interpolate` has it
- `ndimage`: interpolation in arrays, as `jax.scipy.ndimage` has it
- `optimize`: minima of functions, named as in `jax.scipy.optimize`

>>> import traceir, traceir.numpy as jnp
>>> traceir.scipy.linalg.det(jnp.array([[1, 2], [3, 4]]))
Array(-2., dtype=float32)
>>> traceir.scipy.special.expit(0.0)
Array(0.5, dtype=float32, weak_type=True)
"""

from traceir.base import lazy_exports as _lazy

__all__ = ["cluster", "fft", "integrate", "interpolate", "linalg", "ndimage"]
__all__ += ["optimize", "signal", "sparse", "spatial", "special", "stats"]


def __getattr__(name: str) -> object:
    if name in __all__:
        return _lazy.load(globals(), __name__, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
