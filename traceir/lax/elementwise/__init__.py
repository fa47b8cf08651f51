"""Elementwise primitives under their `jax.lax` names.

Takes operands of one shape and dtype, gives an array of that shape. Start reading at
`arithmetic.add`.

- `arithmetic`: arithmetic, comparison and logic under their `jax.lax` names
- `bits`: bits of integers, and neighbours of floating numbers
- `complexes`: complex numbers and their parts under their `jax.lax` names
- `exponential`: exponentials, hyperbolic functions and cube roots
- `formats`: bitcasts and reduced precision under their `jax.lax` names
- `selection`: powers, rounding, conversion and selection
- `special`: gamma, Bessel and beta functions under their `jax.lax` names
- `trigonometric`: tangents, inverse trigonometric and error functions
"""

from traceir.base.moved_modules import attributes_of

# A module had this name.
__getattr__ = attributes_of("traceir.lax.elementwise.arithmetic")
