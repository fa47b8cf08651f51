"""NumPy's functions on traceable arrays: `import traceir.numpy as jnp`.

Promotion, weak types and the equations that are traced are those of `jax.numpy`.

>>> import traceir.numpy as jnp
>>> jnp.sum(jnp.arange(4.0) ** 2)
Array(14., dtype=float32)
"""

# Names are packed, so that the list of what there is stays short.
# isort: off
# fmt: off
from traceir.array import Array as ndarray
from traceir.numpy import fft, linalg
from traceir.numpy.applying import (
    apply_along_axis, apply_over_axes, fromfunction, vectorize,
)
from traceir.numpy.bits import (
    bitwise_count, bitwise_left_shift, bitwise_right_shift, left_shift, right_shift,
)
from traceir.numpy.circular import (
    acos, arccos, arcsin, arctan, arctan2, asin, atan, atan2, hypot, sinc, tan,
)
from traceir.numpy.closeness import (
    allclose, angle, array_equiv, conj, conjugate, imag, isclose, iscomplex,
    iscomplexobj, isreal, isrealobj, real,
)
from traceir.numpy.composites import (
    clip, divmod, floor_divide, mod, pow, power, remainder, round,
)
from traceir.numpy.contractions import dot, inner, matmul, outer, tensordot, vdot
from traceir.numpy.creation import (
    array, asarray, broadcast_to, empty, empty_like, eye, full, full_like, identity,
    ones, ones_like, zeros, zeros_like,
)
from traceir.numpy.crosses import cross, kron
from traceir.numpy.cumulative import (
    cumprod, cumsum, cumulative_prod, cumulative_sum, nancumprod, nancumsum,
)
from traceir.numpy.diagonals import diag, diagflat, diagonal, trace
from traceir.numpy.divisors import gcd, lcm
from traceir.numpy.dtypes import (
    astype, bfloat16, bool_, can_cast, dtype, e, finfo, float16, float32, float64,
    floating, iinfo, inf, int16, int32, int64, int8, integer, isdtype, issubdtype, nan,
    newaxis, pi, promote_types, result_type, uint16, uint32, uint64, uint8,
)
from traceir.numpy.editing import delete, insert
from traceir.numpy.einsum import einsum, einsum_path
from traceir.numpy.elementwise import (
    abs, absolute, add, ceil, cos, divide, exp, floor, log, log10, log1p, log2, maximum,
    minimum, multiply, negative, positive, reciprocal, sign, sin, sqrt, square,
    subtract, tanh, true_divide,
)
from traceir.numpy.files import (
    array_repr, array_str, copy, frombuffer, fromfile, fromiter, fromstring,
    get_printoptions, isscalar, iterable, load, printoptions, save, savez,
    set_printoptions,
)
from traceir.numpy.filters import convolve, correlate
from traceir.numpy.finding import (
    argwhere, compress, extract, flatnonzero, nonzero, where,
)
from traceir.numpy.grids import (
    diag_indices, diag_indices_from, indices, ix_, mask_indices, ravel_multi_index,
    tril_indices, tril_indices_from, triu_indices, triu_indices_from, unravel_index,
)
from traceir.numpy.histograms import (
    bincount, histogram, histogram2d, histogram_bin_edges, histogramdd,
)
from traceir.numpy.hyperbolic import (
    acosh, arccosh, arcsinh, arctanh, asinh, atanh, cbrt, cosh, exp2, expm1, logaddexp,
    logaddexp2, sinh,
)
from traceir.numpy.indexed import c_, index_exp, mgrid, ogrid, r_, s_
from traceir.numpy.joins import (
    atleast_1d, atleast_2d, atleast_3d, block, column_stack, dstack, hstack, vstack,
)
from traceir.numpy.kinds import (
    bool, character, complexfloating, double, euler_gamma, flexible, generic, inexact,
    int_, number, object_, signedinteger, single, uint, unsignedinteger,
)
from traceir.numpy.logic import (
    array_equal, bitwise_and, bitwise_invert, bitwise_not, bitwise_or, bitwise_xor,
    equal, greater, greater_equal, invert, isfinite, isinf, isnan, less, less_equal,
    logical_and, logical_not, logical_or, logical_xor, not_equal,
)
from traceir.numpy.missing import missing
from traceir.numpy.moments import (
    average, corrcoef, cov, nanargmax, nanargmin, nanstd, nanvar,
)
from traceir.numpy.nans import (
    count_nonzero, nanmax, nanmean, nanmin, nanprod, nansum, ptp,
)
from traceir.numpy.order import (
    append, concat, diff, flip, fliplr, flipud, roll, rollaxis, rot90,
)
from traceir.numpy.packing import packbits, unpackbits
from traceir.numpy.padding import pad
from traceir.numpy.parts import array_split, dsplit, hsplit, split, unstack, vsplit
from traceir.numpy.polynomials import (
    poly, polyadd, polyder, polydiv, polyfit, polyint, polymul, polysub, polyval,
)
from traceir.numpy.quantiles import (
    median, nanmedian, nanpercentile, nanquantile, percentile, quantile,
)
from traceir.numpy.ranges import arange, linspace, tri
from traceir.numpy.reductions import (
    all, amax, amin, any, argmax, argmin, max, min, prod, sum,
)
from traceir.numpy.rounding import (
    around, deg2rad, degrees, fabs, float_power, fmax, fmin, fmod, heaviside, isneginf,
    isposinf, modf, nan_to_num, nextafter, rad2deg, radians, rint, trunc,
)
from traceir.numpy.searching import digitize, interp, searchsorted
from traceir.numpy.selecting import piecewise, select
from traceir.numpy.setops import intersect1d, isin, setdiff1d, setxor1d, union1d
from traceir.numpy.sets import (
    unique, unique_all, unique_counts, unique_inverse, unique_values,
)
from traceir.numpy.shape import (
    concatenate, expand_dims, matrix_transpose, moveaxis, ndim, permute_dims, ravel,
    reshape, shape, size, squeeze, stack, swapaxes, transpose,
)
from traceir.numpy.signs import copysign, frexp, ldexp, signbit, spacing
from traceir.numpy.slopes import ediff1d, gradient, trapezoid, unwrap
from traceir.numpy.sorting import argpartition, argsort, lexsort, partition, sort
from traceir.numpy.spaces import geomspace, logspace
from traceir.numpy.standard import (
    __array_api_version__, __array_namespace_info__, from_dlpack,
)
from traceir.numpy.statistics import mean, std, var
from traceir.numpy.taking import (
    choose, fill_diagonal, place, put, put_along_axis, take, take_along_axis,
)
from traceir.numpy.tapers import bartlett, blackman, hamming, hanning, i0, kaiser
from traceir.numpy.tiling import (
    broadcast_arrays, broadcast_shapes, meshgrid, repeat, resize, tile,
)
from traceir.numpy.triangles import tril, triu, vander
from traceir.numpy.trimming import trim_zeros
from traceir.numpy.ufuncs import frompyfunc, ufunc
from traceir.numpy.vectors import matvec, vecdot, vecmat
# isort: on

__all__ = [
    "__array_api_version__", "__array_namespace_info__", "abs", "absolute", "acos",
    "acosh", "add", "all", "allclose", "amax", "amin", "angle", "any", "append",
    "apply_along_axis", "apply_over_axes", "arange", "arccos", "arccosh", "arcsin",
    "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin", "argpartition",
    "argsort", "argwhere", "around", "array", "array_equal", "array_equiv",
    "array_repr", "array_split", "array_str", "asarray", "asin", "asinh", "astype",
    "atan", "atan2", "atanh", "atleast_1d", "atleast_2d", "atleast_3d", "average",
    "bartlett", "bfloat16", "bincount", "bitwise_and", "bitwise_count",
    "bitwise_invert", "bitwise_left_shift", "bitwise_not", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "blackman", "block", "bool", "bool_",
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "c_", "can_cast", "cbrt",
    "ceil", "character", "choose", "clip", "column_stack", "complexfloating",
    "compress", "concat", "concatenate", "conj", "conjugate", "convolve", "copy",
    "copysign", "corrcoef", "correlate", "cos", "cosh", "count_nonzero", "cov", "cross",
    "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "deg2rad", "degrees",
    "delete", "diag", "diag_indices", "diag_indices_from", "diagflat", "diagonal",
    "diff", "digitize", "divide", "divmod", "dot", "double", "dsplit", "dstack",
    "dtype", "e", "ediff1d", "einsum", "einsum_path", "empty", "empty_like", "equal",
    "euler_gamma", "exp", "exp2", "expand_dims", "expm1", "extract", "eye", "fabs",
    "fft", "fill_diagonal", "finfo", "flatnonzero", "flexible", "flip", "fliplr",
    "flipud", "float16", "float32", "float64", "float_power", "floating", "floor",
    "floor_divide", "fmax", "fmin", "fmod", "frexp", "from_dlpack", "frombuffer",
    "fromfile", "fromfunction", "fromiter", "frompyfunc", "fromstring", "full",
    "full_like", "gcd", "generic", "geomspace", "get_printoptions", "gradient",
    "greater", "greater_equal", "hamming", "hanning", "heaviside", "histogram",
    "histogram2d", "histogram_bin_edges", "histogramdd", "hsplit", "hstack", "hypot",
    "i0", "identity", "iinfo", "imag", "index_exp", "indices", "inexact", "inf",
    "inner", "insert", "int16", "int32", "int64", "int8", "int_", "integer", "interp",
    "intersect1d", "invert", "isclose", "iscomplex", "iscomplexobj", "isdtype",
    "isfinite", "isin", "isinf", "isnan", "isneginf", "isposinf", "isreal", "isrealobj",
    "isscalar", "issubdtype", "iterable", "ix_", "kaiser", "kron", "lcm", "ldexp",
    "left_shift", "less", "less_equal", "lexsort", "linalg", "linspace", "load", "log",
    "log10", "log1p", "log2", "logaddexp", "logaddexp2", "logical_and", "logical_not",
    "logical_or", "logical_xor", "logspace", "mask_indices", "matmul",
    "matrix_transpose", "matvec", "max", "maximum", "mean", "median", "meshgrid",
    "mgrid", "min", "minimum", "mod", "modf", "moveaxis", "multiply", "nan",
    "nan_to_num", "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax",
    "nanmean", "nanmedian", "nanmin", "nanpercentile", "nanprod", "nanquantile",
    "nanstd", "nansum", "nanvar", "ndarray", "ndim", "negative", "newaxis", "nextafter",
    "nonzero", "not_equal", "number", "object_", "ogrid", "ones", "ones_like", "outer",
    "packbits", "pad", "partition", "percentile", "permute_dims", "pi", "piecewise",
    "place", "poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul",
    "polysub", "polyval", "positive", "pow", "power", "printoptions", "prod",
    "promote_types", "ptp", "put", "put_along_axis", "quantile", "r_", "rad2deg",
    "radians", "ravel", "ravel_multi_index", "real", "reciprocal", "remainder",
    "repeat", "reshape", "resize", "result_type", "right_shift", "rint", "roll",
    "rollaxis", "rot90", "round", "s_", "save", "savez", "searchsorted", "select",
    "set_printoptions", "setdiff1d", "setxor1d", "shape", "sign", "signbit",
    "signedinteger", "sin", "sinc", "single", "sinh", "size", "sort", "spacing",
    "split", "sqrt", "square", "squeeze", "stack", "std", "subtract", "sum", "swapaxes",
    "take", "take_along_axis", "tan", "tanh", "tensordot", "tile", "trace", "transpose",
    "trapezoid", "tri", "tril", "tril_indices", "tril_indices_from", "trim_zeros",
    "triu", "triu_indices", "triu_indices_from", "true_divide", "trunc", "ufunc",
    "uint", "uint16", "uint32", "uint64", "uint8", "union1d", "unique", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "unpackbits", "unravel_index",
    "unsignedinteger", "unstack", "unwrap", "vander", "var", "vdot", "vecdot", "vecmat",
    "vectorize", "vsplit", "vstack", "where", "zeros", "zeros_like",
]
# fmt: on


def __getattr__(name: str) -> object:
    raise missing(name, __all__)
