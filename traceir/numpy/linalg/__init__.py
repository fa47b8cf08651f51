"""Linear algebra as `numpy.linalg` has it: `traceir.numpy.linalg`.

The Array API standard's extension `linalg` is among it. Matrices are the last two
dimensions, those before number a stack; integers become floating. Takes arrays, gives
arrays. Start reading at `factors.cholesky`.

- `checks`: operands of linear algebra, checked
- `determinants`: determinants
- `factors`: factorizations of matrices: `cholesky`, `qr`, `eigh`, `eig`, `svd`
- `least`: pseudo-inverses, least squares, ranks and condition numbers
- `norms`: norms of vectors and of matrices
- `products`: products of matrices, vectors and tensors
- `systems`: systems of linear equations, and inverses

>>> import traceir.numpy as jnp
>>> jnp.linalg.solve(jnp.array([[2, 0], [0, 4]]), jnp.array([2, 8]))
Array([1., 2.], dtype=float32)
"""

from numpy.linalg import LinAlgError

from traceir.eager import dispatch as _direct
from traceir.numpy.linalg.determinants import SlogdetResult, det, slogdet
from traceir.numpy.linalg.factors import (
    EighResult,
    EigResult,
    QRResult,
    SVDResult,
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    qr,
    svd,
    svdvals,
)
from traceir.numpy.linalg.least import cond, lstsq, matrix_rank, pinv
from traceir.numpy.linalg.norms import matrix_norm, norm, vector_norm
from traceir.numpy.linalg.products import (
    cross,
    diagonal,
    matmul,
    matrix_power,
    multi_dot,
    outer,
    tensordot,
    tensorinv,
    tensorsolve,
    trace,
)
from traceir.numpy.linalg.systems import inv, solve
from traceir.numpy.manipulation.shapes import matrix_transpose
from traceir.numpy.products.vecdot import vecdot

__all__ = [
    "EigResult",
    "EighResult",
    "LinAlgError",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

for _name in __all__:
    globals()[_name] = _direct.public(globals()[_name])
