"""Special functions, as `jax.scipy.special` has them: real ones, elementwise.

The names are those of `__init__.pyi`; a module is imported with its first use.

>>> import traceir.numpy as jnp, traceir.scipy.special
>>> traceir.scipy.special.logsumexp(jnp.array([1000.0, 1000.0]))
Array(1000.6932, dtype=float32)
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
