"""The dtypes in which NumPy's functions compute, by name. Serves: face.function"""

from __future__ import annotations

import numpy as np

# Functions whose array arguments, by these names, meet in one dtype as NumPy has it.
MEETING: dict[str, tuple[str, ...]] = {
    "append": ("arr", "values"),
    "cross": ("a", "b"),
    "matmul": ("x1", "x2"),
    "vecdot": ("x1", "x2"),
    "array_equal": ("a1", "a2"),
    "column_stack": ("tup",),
    "concatenate": ("arrays",),
    "convolve": ("a", "v"),
    "correlate": ("a", "v"),
    "diff": ("a", "prepend", "append"),
    "dot": ("a", "b"),
    "dstack": ("tup",),
    "histogram": ("a", "bins"),
    "histogram_bin_edges": ("a", "bins"),
    "hstack": ("tup",),
    "inner": ("a", "b"),
    "intersect1d": ("ar1", "ar2"),
    "kron": ("a", "b"),
    "outer": ("a", "b"),
    "stack": ("arrays",),
    "tensordot": ("a", "b"),
    "union1d": ("ar1", "ar2"),
    "vdot": ("a", "b"),
    "vstack": ("tup",),
    "where": ("x", "y"),
    "select": ("choicelist", "default"),
    **dict.fromkeys(
        ("quantile", "nanquantile", "percentile", "nanpercentile"), ("a", "q")
    ),
}
# Functions that write to their first argument.
WRITING = frozenset(
    (np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask)
)
# Functions of real numbers: integers are float64, and of float16 and float32 remain.
REAL = frozenset(
    (
        *("average", "corrcoef", "cov", "gradient", "interp", "linspace", "mean"),
        *("histogram", "histogram_bin_edges", "median", "nanmean", "nanmedian"),
        *("nanpercentile", "nanquantile", "nanstd", "nanvar", "percentile", "polyfit"),
        *("i0", "poly", "quantile", "sinc", "std", "trapezoid", "unwrap", "var"),
    )
)
# Functions that compute in float64, or complex128, whatever they are given.
WIDE = frozenset({"corrcoef", "cov", "polyint", "histogram2d", "histogramdd"})
# Functions that multiply by whole numbers, which NumPy has in 64 bits.
COUNTED = frozenset({"polyder", "vander"})
# Functions of polynomials, whose whole coefficients are in 64 bits.
POLYNOMIALS = frozenset({"polyder"})
# Functions that leave leading zeros out, which values decide, and what does not.
TRIMMING = {
    "polymul": "`np.convolve` multiplies polynomials, and keeps leading zeros",
    "roots": "with `strip_zeros=False`, that of `traceir.numpy` keeps what leads",
    "polydiv": "that of `traceir.numpy` keeps leading zeros",
}
# Functions whose result is real where its values happen to be: here it is complex.
REAL_BY_VALUE = {
    "eig": "`eigh` is for symmetric matrices",
    "eigvals": "`eigvalsh` is for symmetric matrices",
    "poly": "take `.real` of the result",
}
# Functions that give places.
PLACES = frozenset(
    ("argpartition", "digitize", "ravel_multi_index", "searchsorted", "unravel_index")
)
# Functions whose result is an array where it has no dimensions, too: no scalar.
ARRAYS = frozenset({"block", "cov", "i0", "isin", "pad", "resize", "roll"})
# Functions of linear algebra that need no floating numbers.
WHOLE = frozenset(
    (
        *("cross", "diagonal", "matmul", "matrix_power", "matrix_transpose", "outer"),
        *("multi_dot", "tensordot", "trace", "vecdot"),
    )
)
# Ways to choose one of the elements as a quantile.
DISCRETE = frozenset(
    ("closest_observation", "higher", "inverted_cdf", "lower", "nearest")
)
# Functions that add up, one by one, in the dtype of a sum.
CUMULATIVE = frozenset({"cumsum", "cumprod", "nancumsum", "nancumprod"})
# Arguments that are lists and no arrays.
LISTS = frozenset(
    (
        *("arrays", "axis", "axes", "choicelist", "condlist", "destination"),
        *("funclist", "indices_or_sections", "mode", "new_shape", "newshape"),
        *("operands", "pad_width", "repeats", "reps", "shape", "shift", "size"),
        *("source", "subscripts", "varargs", "xi"),
    )
)
# Operators, and the universal functions that they are.
BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "divmod": "divmod",
    "pow": "power",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
COMPARISON = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
