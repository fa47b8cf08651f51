"""Kernels that work element by element.

Takes arrays of one shape, gives an array of that shape. Start reading at
`pointwise.select_n`.

- `bits`: kernels that shift and count the bits of integers
- `complexes`: kernels of complex numbers that are not NumPy's own
- `composite_shortcuts`: composites that are one NumPy call for known types
- `convert`: the kernel of dtype conversion
- `formats`: kernels of bitcasts and of reduced precision
- `pointwise`: kernels of arithmetic, real functions, comparison and logic
- `ufunc_shortcuts`: kernels that are one NumPy ufunc call for known types
- `widening`: kernels of the dtypes of ml_dtypes: computed in wider ones
"""
