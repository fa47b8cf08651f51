"""Random numbers, made of keys, as `jax.random` has them: `traceir.random.normal`.

The names are those of `__init__.pyi`; a module is imported with its first use.

>>> import traceir
>>> key = traceir.random.key(123)
>>> traceir.random.normal(key, (2,))
Array([1.6359469, 0.8408094], dtype=float32)
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
