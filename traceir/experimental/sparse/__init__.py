"""Sparse arrays: values, and the indices that they stand at.

`bcoo.BCOO` has the values of an array by coordinates, `bcsr.BCSR` those of a matrix row
by row. All is made of the operations of arrays, so `jit`, `grad` and `vmap` take these
functions, too. Start reading at `bcoo.BCOO`.

- `bcoo`: sparse arrays by coordinates, in batches and with dense parts
- `bcsr`: sparse matrices by rows
- `coordinates`: values and indices, and functions of one example as of a batch
- `elements`: values of sparse arrays: found, summed, multiplied and put among zeros
- `linalg`: solutions of sparse systems, which SciPy's SuperLU finds on the host
- `layouts`: the same sparse array in another order, shape or layout
- `made`: sparse arrays of nothing, of ones and of random numbers
- `products`: products of sparse arrays
- `transforms`: functions of arrays that take sparse ones, and derivatives by values
"""

from traceir.experimental.sparse import linalg as linalg
from traceir.experimental.sparse.bcoo import BCOO, bcoo_fromdense
from traceir.experimental.sparse.bcsr import (
    BCSR,
    bcsr_dot_general,
    bcsr_extract,
    bcsr_fromdense,
    bcsr_sum_duplicates,
    bcsr_todense,
)
from traceir.experimental.sparse.elements import (
    bcoo_extract,
    bcoo_multiply_dense,
    bcoo_multiply_sparse,
    bcoo_reduce_sum,
    bcoo_sort_indices,
    bcoo_sum_duplicates,
    bcoo_todense,
    todense,
)
from traceir.experimental.sparse.layouts import (
    SparseEfficiencyError,
    SparseEfficiencyWarning,
    bcoo_broadcast_in_dim,
    bcoo_concatenate,
    bcoo_dynamic_slice,
    bcoo_reshape,
    bcoo_rev,
    bcoo_slice,
    bcoo_squeeze,
    bcoo_transpose,
    bcoo_update_layout,
)
from traceir.experimental.sparse.made import empty, eye, random_bcoo
from traceir.experimental.sparse.products import bcoo_dot_general
from traceir.experimental.sparse.transforms import (
    grad,
    jacfwd,
    jacobian,
    jacrev,
    sparsify,
    value_and_grad,
)

__all__ = [
    "BCOO",
    "BCSR",
    "SparseEfficiencyError",
    "SparseEfficiencyWarning",
    "bcoo_broadcast_in_dim",
    "bcoo_concatenate",
    "bcoo_dot_general",
    "bcoo_dynamic_slice",
    "bcoo_extract",
    "bcoo_fromdense",
    "bcoo_multiply_dense",
    "bcoo_multiply_sparse",
    "bcoo_reduce_sum",
    "bcoo_reshape",
    "bcoo_rev",
    "bcoo_slice",
    "bcoo_sort_indices",
    "bcoo_squeeze",
    "bcoo_sum_duplicates",
    "bcoo_todense",
    "bcoo_transpose",
    "bcoo_update_layout",
    "bcsr_dot_general",
    "bcsr_extract",
    "bcsr_fromdense",
    "bcsr_sum_duplicates",
    "bcsr_todense",
    "empty",
    "eye",
    "grad",
    "jacfwd",
    "jacobian",
    "jacrev",
    "random_bcoo",
    "sparsify",
    "todense",
    "value_and_grad",
]
