"""Kernels that move, combine and order elements.

Takes arrays and static params, gives views where NumPy has them. Start reading at
`structure.reshape`.

- `cumulative`: kernels of prefix sums, products and extrema
- `indexing`: kernels of gathers and scatters, by NumPy's index arrays
- `reductions`: kernels that combine the elements along axes
- `sorting`: kernels that put elements in order
- `structure`: kernels that move elements: views where NumPy has them
- `windows`: kernels of window reductions and convolutions, over strided views
"""
