"""The table of NumPy functions whose results share memory. Serves: face.view

The table says it of every function and method: what is not in it gives new memory.
`tests/test_memory.py` asks NumPy about each, on operands that lie in all ways.
"""

from __future__ import annotations

from collections.abc import Mapping

from traceir.base.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Sharing:
    """`of`: the argument whose memory, or a part of it, is the result.

    It is so where `when` holds, a formula over the arguments and these functions:
    `viewable(a, shape, order)`, there are strides for that shape; `runs(a, order)`, the
    elements lie one behind the other in that order; `lies(a, order)`, so they do where
    an order is asked for; `is_same(a, dtype)`; `picks(operands)`, subscripts that add
    up nothing, of one operand.
    """

    of: str
    when: str = "True"


SHARED: Mapping[str, Sharing] = {
    "numpy.array_split": Sharing("ary"),
    "numpy.atleast_1d": Sharing("arys"),
    "numpy.atleast_2d": Sharing("arys"),
    "numpy.atleast_3d": Sharing("arys"),
    "numpy.broadcast_arrays": Sharing("args"),
    "numpy.broadcast_to": Sharing("array"),
    "numpy.diag": Sharing("v", "len(v.shape) == 2"),
    "numpy.diagonal": Sharing("a"),
    "numpy.diff": Sharing("a", "n == 0"),
    "numpy.dsplit": Sharing("ary"),
    "numpy.einsum": Sharing(
        "operands", "out is None and len(kwargs) == 0 and picks(operands)"
    ),
    "numpy.expand_dims": Sharing("a"),
    "numpy.fft.fftn": Sharing("a", "len(a.shape) == 0"),
    "numpy.fft.ifftn": Sharing("a", "len(a.shape) == 0"),
    "numpy.flip": Sharing("m"),
    "numpy.fliplr": Sharing("m"),
    "numpy.flipud": Sharing("m"),
    "numpy.hsplit": Sharing("ary"),
    "numpy.imag": Sharing("val", "val.dtype.kind == 'c'"),
    "numpy.ix_": Sharing("args", "all(a.dtype.kind != 'b' for a in args)"),
    "numpy.linalg.diagonal": Sharing("x"),
    "numpy.linalg.matrix_power": Sharing("a", "n == 1"),
    "numpy.linalg.matrix_transpose": Sharing("x"),
    "numpy.matrix_transpose": Sharing("x"),
    "numpy.meshgrid": Sharing(
        "xi", "not copy and all(viewable(a, -1, 'C') for a in xi)"
    ),
    "numpy.moveaxis": Sharing("a"),
    "numpy.permute_dims": Sharing("a"),
    "numpy.polyder": Sharing("p", "m == 0"),
    "numpy.polyint": Sharing("p", "m == 0"),
    "numpy.ravel": Sharing("a", "runs(a, order)"),
    "numpy.real": Sharing("val"),
    "numpy.real_if_close": Sharing("a", "a.dtype.kind != 'c'"),
    "numpy.reshape": Sharing("a", "copy != 1 and viewable(a, shape, order)"),
    "numpy.rollaxis": Sharing("a"),
    "numpy.rot90": Sharing("m"),
    "numpy.split": Sharing("ary"),
    "numpy.squeeze": Sharing("a"),
    "numpy.swapaxes": Sharing("a"),
    "numpy.transpose": Sharing("a"),
    "numpy.unstack": Sharing("x"),
    "numpy.vsplit": Sharing("ary"),
    "numpy.lib.stride_tricks.as_strided": Sharing("x"),
    "numpy.lib.stride_tricks.sliding_window_view": Sharing("x"),
    # What gives the operand itself.
    "numpy.array": Sharing(
        "object", "copy != 1 and is_same(object, dtype) and lies(object, order)"
    ),
    "numpy.asarray": Sharing("a", "copy != 1 and is_same(a, dtype) and lies(a, order)"),
    "numpy.ascontiguousarray": Sharing("a", "is_same(a, dtype) and lies(a, 'C')"),
    "numpy.asfortranarray": Sharing("a", "is_same(a, dtype) and lies(a, 'F')"),
    "numpy.astype": Sharing("x", "not copy and is_same(x, dtype)"),
    "numpy.nan_to_num": Sharing("x", "not copy"),
    "ndarray.astype": Sharing(
        "self", "not copy and is_same(self, dtype) and lies(self, order)"
    ),
    "ndarray.conjugate": Sharing("self", "self.dtype.kind != 'c'"),
}
# Functions that are others of NumPy's by another name, or methods that are functions.
SAME: Mapping[str, str] = {
    "numpy.asanyarray": "numpy.asarray",
    "ndarray.conj": "ndarray.conjugate",
    "ndarray.T": "numpy.transpose",
    "ndarray.mT": "numpy.matrix_transpose",
    "ndarray.diagonal": "numpy.diagonal",
    "ndarray.ravel": "numpy.ravel",
    "ndarray.real": "numpy.real",
    "ndarray.imag": "numpy.imag",
    "ndarray.reshape": "numpy.reshape",
    "ndarray.squeeze": "numpy.squeeze",
    "ndarray.swapaxes": "numpy.swapaxes",
    "ndarray.transpose": "numpy.transpose",
}
# Functions whose results are C-contiguous however the operands lie. What is in neither
# table gives memory that lies as NumPy says when it is asked.
ORDERED = frozenset(
    (
        *("argmax", "argmin", "argsort", "cross", "diagflat", "dot", "inner", "interp"),
        *("kron", "matmul", "outer", "repeat", "searchsorted", "take", "tensordot"),
        *("tril", "triu", "vander", "vecdot", "cholesky", "inv", "solve", "pinv", "qr"),
        *("svd", "lstsq", "eigh", "multi_dot", "percentile", "quantile", "resize"),
        *("tensorinv", "tensorsolve"),
    )
)
# Functions whose results of one dimension do not lie densely.
APART = frozenset({"unravel_index"})
