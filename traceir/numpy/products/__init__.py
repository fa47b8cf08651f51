"""Products of vectors, matrices and tensors.

Takes arrays of any dtypes, promotes them, binds `dot_general`. Start reading at
`dot.matmul`.

- `convolve`: convolution and correlation of vectors
- `cross_kron`: cross products and Kronecker products
- `dot`: products of vectors and matrices
- `einsum`: Einstein sums: `einsum` and `einsum_path`
- `vecdot`: products of stacks of vectors and matrices
"""
