"""Reductions, contractions, windows and collectives.

Takes arrays and the axes to combine, gives arrays without these. Start reading at
`reductions.reduce_sum`.

- `collectives`: collectives: over all examples of a named axis
- `convolution`: convolutions under their `jax.lax` names
- `cumulative`: prefix sums, products and extrema, and their derivatives
- `extents`: shapes of results, by the shapes of operands, and shapes as arrays
- `generic_reduce`: `reduce`: reductions by any function of two elements
- `reductions`: reductions and contractions under their `jax.lax` names
- `windows`: reductions of windows under their `jax.lax` names
"""

from traceir.base.moved_modules import attributes_of

# A module had this name.
__getattr__ = attributes_of("traceir.lax.reductions.reductions")
