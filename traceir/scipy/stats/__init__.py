"""Distributions, as `jax.scipy.stats` has them: `traceir.scipy.stats.norm.logpdf`.

A distribution is a module, with functions of arrays of places and of parameters.

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
