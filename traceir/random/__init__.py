"""Random numbers, made of keys, as `jax.random` has them: `traceir.random.normal`.

The names are those of `__init__.pyi`; a module is imported with its first use. Takes a
key and a shape, gives an array. Start reading at `real.uniform`.

- `balls`: generalized normal numbers, and vectors in a ball
- `binomials`: binomial and multinomial counts
- `bounded`: distributions between two bounds
- `counts`: the Poisson distribution
- `gammas`: the gamma distribution, and those that are made of it
- `integers`: random integers between bounds
- `inverses`: distributions by the inverse of their cumulative function
- `keys`: keys of random numbers: made, split and folded into
- `normals`: distributions made of normal numbers
- `picks`: random choices among entries, and random orders
- `real`: uniform and normal numbers
- `requests`: the shape and the dtype that a caller asks for, checked
- `squares`: chi-square, t and F distributions
- `trials`: random truth values, signs, and the first success
- `words`: random bits

>>> import traceir
>>> key = traceir.random.key(123)
>>> traceir.random.normal(key, (2,))
Array([1.6359469, 0.8408094], dtype=float32)
"""

from traceir.lax.checks.attribute_hints import lazy_names as _lazy_names

__all__, __getattr__, __dir__ = _lazy_names(globals())
