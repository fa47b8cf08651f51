"""Functions that SciPy has, on traceable arrays, as `jax.scipy` has them.

Its modules are imported when they are first asked for.

>>> import traceir, traceir.numpy as jnp
>>> traceir.scipy.linalg.det(jnp.array([[1, 2], [3, 4]]))
Array(-2., dtype=float32)
>>> traceir.scipy.special.expit(0.0)
Array(0.5, dtype=float32, weak_type=True)
"""

from traceir.base import lazy_exports as _lazy

__all__ = ["fft", "linalg", "ndimage", "signal", "special", "stats"]


def __getattr__(name: str) -> object:
    if name in __all__:
        return _lazy.load(globals(), __name__, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
