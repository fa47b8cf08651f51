"""Kernels of linear algebra: LAPACK's and matrix products.

Takes stacks of matrices, gives stacks. Start reading at `factorizations.cholesky`.

- `contract`: the kernel of contractions, by NumPy's matrix product
- `factorizations`: factorizations by LAPACK, through SciPy, matrix by matrix
- `single_thread_blas`: a limit of one thread on BLAS for small matrices
- `stacks`: factorizations of stacks of small matrices, all at once
"""
