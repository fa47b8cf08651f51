"""`vectorize`: functions of numbers, as loops over elements.

Serves: compat.option, compat.missing, compat.signature
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.base.tracebacks import entry_points
from traceir.jit.cache.known_arguments import CompiledFunction
from traceir_numba.compat.signatures import Signature, chosen, numbers_signature
from traceir_numba.compat.written_loops import Function, listed, result_dtypes, written
from traceir_numba.numba_options import check_options


@entry_points()
class VectorizedFunction(CompiledFunction):
    """A function of numbers that is called for each element of arrays."""

    def __init__(self, function: Function, signatures: Sequence[Signature]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.signatures = tuple(signatures)
        count = len(inspect.signature(function).parameters)
        names = [f"x{k}" for k in range(count)]
        given = ", ".join(f"{name}[i]" for name in names)
        source = (
            f"def elementwise({', '.join(names)}, dtype):\n"
            f"    out = np.empty({names[0]}.shape[0], dtype)\n"
            f"    for i in range(out.shape[0]):\n"
            f"        out[i] = scalar({given})\n"
            f"    return out\n"
        )
        self._loop = written("elementwise", source, {"scalar": function}, function)

    def __call__(self, *args: Any, out: Any = None) -> Any:
        arrays = [np.asarray(a) if not hasattr(a, "dtype") else a for a in args]
        result: Any = None
        if self.signatures:
            scalars = [a.dtype.type(0) for a in arrays]
            own = chosen(self.signatures, scalars)
            pairs = zip(own.args, arrays, strict=True)
            arrays = [a.astype(t.dtype) for t, a in pairs]
            result = own.result and own.result.dtype
        if result is None:
            scalars = [a.dtype.type(1) for a in arrays]
            (result,) = result_dtypes(self.py_func, scalars)
        together = np.broadcast_arrays(*arrays)
        shape = together[0].shape
        flat = [np.ravel(a) for a in together]
        found = self._loop(*flat, np.dtype(result)).reshape(shape)
        if out is None:
            return found if shape else found[()]
        out[...] = found
        return out

    def __getattr__(self, name: str) -> Any:
        if name in ("reduce", "accumulate", "outer", "at", "reduceat"):
            raise rules.error("compat.missing", got=f"the method {name} of vectorize")
        raise AttributeError(name)


def vectorize(ftylist_or_function: Any = (), **options: Any) -> Any:
    """Numba's `vectorize`: a function of numbers, for arrays that broadcast.

    Raises TypeError (compat.option, compat.signature).

    >>> @vectorize(["float64(float64, float64)"])
    ... def larger(x, y):
    ...     return x if x > y else y
    >>> larger(np.array([1.0, 5.0]), 3)
    array([3., 5.])
    """
    check_options(options)
    given = ftylist_or_function
    if inspect.isfunction(given):
        return VectorizedFunction(given, ())
    signatures = [numbers_signature(one) for one in listed(given)]
    return lambda function: VectorizedFunction(function, signatures)
