"""Primitives that move, read and order elements.

Takes arrays, shapes and indices, gives arrays of the same elements. Start reading at
`shapes.reshape`.

- `dynamic_slices`: slices at indices that are values
- `fourier`: Fourier transforms under their `jax.lax` names
- `gather_scatter`: gathers and scatters: windows at rows of indices
- `index_dtypes`: dtypes of indices: wide enough for the extents
- `shapes`: creation, reshaping and joining under their `jax.lax` names
- `sharding_constraints`: layouts over devices, of arrays and of results
- `sorting`: sorting and `top_k` under their `jax.lax` names
- `stop_gradient`: `stop_gradient`: values that derivatives do not follow
"""
