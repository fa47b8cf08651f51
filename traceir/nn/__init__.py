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

from traceir.lax.checks.attribute_hints import lazy_names as _lazy_names

__all__, __getattr__, __dir__ = _lazy_names(globals())
