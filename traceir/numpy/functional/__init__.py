"""Functions of functions: universal functions, `vectorize`.

Takes Python functions of scalars or vectors; gives functions of arrays. Start reading
at `vectorize.vectorize`.

- `ufunc_methods`: methods of NumPy's universal functions: `jnp.add.reduce`
- `ufuncs`: universal functions made of Python functions
- `vectorize`: functions applied along axes and over grids
"""
