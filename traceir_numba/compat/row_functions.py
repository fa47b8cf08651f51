"""`guvectorize`: functions of rows, as loops over rows.

Serves: compat.option, compat.signature
"""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.base.source_info import warn
from traceir.base.tracebacks import entry_points
from traceir.errors import ConcretizationTypeError, TraceirError
from traceir.jit.cache.known_arguments import CompiledFunction
from traceir.tracing.trace import Tracer
from traceir_numba import api
from traceir_numba.compat.signatures import NumbaType, Signature, numbers_signature
from traceir_numba.compat.written_loops import Function, listed, written
from traceir_numba.numba_options import check_options


@entry_points()
class GeneralizedFunction(CompiledFunction):
    """A function of arrays that is called for each of the rows around its own
    dimensions, and writes its results to its last arguments."""

    def __init__(
        self,
        function: Function,
        signatures: Sequence[Signature],
        layout: str,
        writable: Sequence[str | int] = (),
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.signatures = tuple(signatures)
        takes, _, gives = layout.replace(" ", "").partition("->")
        self.takes = list(map(_dims, _groups(takes)))
        self.gives = list(map(_dims, _groups(gives)))
        names = list(inspect.signature(function).parameters)
        if len(names) != len(self.takes) + len(self.gives):
            raise rules.error("compat.option", got=f"the layout {layout!r}")
        operands, results = names[: len(self.takes)], names[len(self.takes) :]
        # Operands that are written: all where there are no results.
        self._written = [
            not results or k in writable or name in writable
            for k, name in enumerate(operands)
        ]
        given = ", ".join(f"{name}[i]" for name in names)
        made = "".join(
            f"    {name} = np.zeros(*kinds[{k}])\n" for k, name in enumerate(results)
        )
        source = (
            f"def rows({', '.join(operands)}, kinds):\n"
            f"{made}"
            f"    for i in range({names[0]}.shape[0]):\n"
            f"        row({given})\n"
            f"    return ({''.join(f'{name}, ' for name in results)})\n"
        )
        self._loop = written("rows", source, {"row": function}, function)
        self._row: Any = None

    def __call__(self, *args: Any) -> Any:
        count = len(self.takes)
        given = [a if hasattr(a, "dtype") else np.asarray(a) for a in args[:count]]
        outs = args[count:]
        kinds = self._kinds([*given, *outs])
        sizes: dict[str, int] = {}
        outer = []
        for array, dims in zip(
            (*given, *outs), (*self.takes, *self.gives), strict=False
        ):
            lead = array.ndim - len(dims)
            sizes |= dict(zip(dims, array.shape[lead:], strict=True))
            outer.append(array.shape[:lead])
        shape = np.broadcast_shapes(*outer)
        size = math.prod(shape)
        rows = []
        for k, (array, dims) in enumerate(zip(given, self.takes, strict=True)):
            inner = tuple(sizes[d] for d in dims)
            whole = np.broadcast_to(array.astype(kinds[k].dtype), shape + inner)
            core = inner if dims or not kinds[k].ndim else (1,)
            rows.append(whole.copy().reshape(size, *core))
        results = [tuple(sizes[d] for d in dims) for dims in self.gives]
        wanted = [
            ((size, *(inner or (1,))), kind.dtype)
            for inner, kind in zip(results, kinds[count:], strict=True)
        ]
        try:
            made = self._loop(*rows, tuple(wanted))
        except TraceirError as error:  # rows whose arrays differ in length
            differ = isinstance(error, ConcretizationTypeError)
            differ = differ or error.rule == "slice.length"
            if not differ or any(isinstance(a, Tracer) for a in args):
                raise
            made = self._one_by_one(rows, wanted, error)
        for k, array in enumerate(given):  # as NumPy has it, no conversion is written
            same = rows[k].dtype == array.dtype and rows[k].size == array.size
            if self._written[k] and array is args[k] and same:
                array[...] = rows[k].reshape(array.shape)
        found = []
        for k, (row, inner) in enumerate(zip(made, results, strict=True)):
            whole = row.reshape(shape + inner)
            if k < len(outs):
                outs[k][...] = whole
            found.append(
                outs[k] if k < len(outs) else whole if whole.ndim else whole[()]
            )
        return found[0] if len(found) == 1 else tuple(found)

    def _one_by_one(
        self, rows: Sequence[Any], kinds: Sequence[Any], error: TraceirError
    ) -> Sequence[Any]:
        """Call the compiled function for each row, and warn of that once."""
        if self._row is None:
            self._row = api.jit(self.py_func)
            warn(
                f"{self.py_func.__name__} is called for each row anew, as no loop over "
                f"rows can be compiled. Got: {error.got} [{error.rule}]"
            )
        made = [np.zeros(*kind) for kind in kinds]
        for row in zip(*rows, *made, strict=True):
            self._row(*row)
        return made

    def _kinds(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """The types of all arguments, those of results that are not given included."""
        if self.signatures:
            return self._signature(arrays[: len(self.takes)]).args
        if len(arrays) < len(self.takes) + len(self.gives):
            got = "a call without its results, and no signature"
            raise rules.error("compat.signature", got=got)
        dims = (*self.takes, *self.gives)
        return [NumbaType(a.dtype, len(d)) for a, d in zip(arrays, dims, strict=True)]

    def _signature(self, arrays: Sequence[Any]) -> Signature:
        for own in self.signatures:
            kinds = zip(own.args, arrays, strict=False)
            if all(a.dtype == t.dtype for t, a in kinds):
                return own
        for own in self.signatures:
            kinds = zip(own.args, arrays, strict=False)
            if all(np.can_cast(a.dtype, t.dtype) for t, a in kinds):  # type: ignore[arg-type]
                return own
        shown = ", ".join(str(a.dtype) for a in arrays)
        raise rules.error("compat.signature", got=f"({shown}) for {self.signatures}")


def _groups(text: str) -> list[str]:
    return re.findall(r"\(([\w,]*)\)", text)


def _dims(group: str) -> tuple[str, ...]:
    return tuple(d for d in group.strip("()").split(",") if d)


def guvectorize(
    ftylist: Any,
    signature_: Any = None,
    *,
    writable_args: Sequence[str | int] = (),
    **options: Any,
) -> Any:
    """Numba's `guvectorize`: a function of rows that writes to its last arguments.

    A layout without results has the operands written. Without signatures a call is
    given its results. Raises TypeError (compat.option, compat.signature).

    >>> @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    ... def summed(x, out):
    ...     total = 0.0
    ...     for i in range(x.shape[0]):
    ...         total += x[i]
    ...         out[i] = total
    >>> summed(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[1., 3.],
           [3., 7.]])
    """
    check_options(options)
    if isinstance(ftylist, str) and signature_ is None:
        ftylist, signature_ = [], ftylist
    if not isinstance(signature_, str):
        raise rules.error("compat.option", got=f"the layout {signature_!r}")
    signatures = [numbers_signature(one) for one in listed(ftylist)]
    return lambda function: GeneralizedFunction(
        function, signatures, signature_, writable_args
    )
