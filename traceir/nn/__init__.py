"""Functions of neural networks, as `jax.nn` has them: `traceir.nn.relu`.

The names are those of `__init__.pyi`; a module is imported with its first use. Takes
arrays, gives arrays. Start reading at `relus.relu`.

- `attention`: attention: means of values, weighted by scores of keys
- `codes`: one-hot vectors
- `initializers`: initial values of weights, as `jax.nn.initializers` has them
- `norms`: softmax, and standardization to mean 0 and variance 1
- `relus`: piecewise activations, such as `relu`
- `smooth`: smooth activations, such as `sigmoid` and `gelu`

>>> import traceir, traceir.numpy as jnp
>>> traceir.nn.relu(jnp.array([-1.0, 2.0]))
Array([0., 2.], dtype=float32)
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
