"""`stencil`: functions of an element's neighbours, as loops.

Serves: compat.option
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.base.tracebacks import entry_points
from traceir.jit.cache.known_arguments import CompiledFunction
from traceir_numba.compat.written_loops import Function, written
from traceir_numba.numba_options import check_options


class _Relative:
    """An array whose places are counted from an element."""

    def __init__(self, array: Any, place: Sequence[Any]) -> None:
        self._array = array
        self._place = tuple(place)

    def __getitem__(self, offsets: Any) -> Any:
        parts = offsets if isinstance(offsets, tuple) else (offsets,)
        places = zip(self._place, parts, strict=True)
        return self._array[tuple(place + part for place, part in places)]


@entry_points()
class StencilFunction(CompiledFunction):
    """A function of the neighbours of an element, for all elements of an array but
    those near the ends."""

    def __init__(
        self, function: Function, cval: Any, neighborhood: Any, standard: Sequence[str]
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._cval = cval
        self._standard = tuple(standard)
        self._reach = neighborhood
        self._names = list(inspect.signature(function).parameters)
        self._loops: dict[int, Any] = {}

    def __call__(self, *args: Any, out: Any = None) -> Any:
        first = args[0]
        reach = self._reach or _offsets(self.py_func, self._names, first.ndim)
        bounds = tuple((min(low, 0), max(high, 0)) for low, high in reach)
        loop = self._loops.get(first.ndim)
        if loop is None:
            loop = self._loops[first.ndim] = self._around(first.ndim, bounds)
        if out is not None:
            out[...] = loop(*args, out.copy(), None)
            return out
        return loop(*args, None, self._dtype(args))

    def _dtype(self, args: Sequence[Any]) -> Any:
        """The dtype of a result, by a function whose arrays are one number each."""
        names = [f"x{k}" for k in range(len(args))]
        given = [
            f"Same({n})" if np.ndim(a) else n for n, a in zip(names, args, strict=True)
        ]
        numbers = [a.dtype.type(1) if np.ndim(a) else a for a in args]
        head = f"def one({', '.join(names)}):"
        source = f"{head}\n    return kernel({', '.join(given)})\n"
        seen = {"kernel": self.py_func, "Same": _Same}
        return written("one", source, seen, self.py_func).eval_shape(*numbers).dtype

    def _around(self, ndim: int, bounds: Any) -> Any:
        places = [f"i{k}" for k in range(ndim)]
        names = ", ".join(self._names)
        own = ", ".join(
            f"Relative({name}, ({', '.join(places)},))"
            if name not in self._standard
            else name
            for name in self._names
        )
        lines = [
            f"def around({names}, out, dtype):",
            "    if out is None:",
            f"        out = np.full({self._names[0]}.shape, cval, dtype)",
        ]
        for k, (low, high) in enumerate(bounds):
            ends = f"{-low}, out.shape[{k}] - {high}"
            lines.append(f"{'    ' * (k + 1)}for i{k} in range({ends}):")
        body = f"out[{', '.join(places)}] = kernel({own})"
        lines += [f"{'    ' * (ndim + 1)}{body}", "    return out", ""]
        names_seen = {
            "kernel": self.py_func,
            "Relative": _relative,
            "cval": self._cval,
        }
        return written("around", "\n".join(lines), names_seen, self.py_func)


def _relative(value: Any, place: Sequence[Any]) -> Any:
    return _Relative(value, place) if np.ndim(value) else value


class _Same:
    """An array that has one value everywhere."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __getitem__(self, offsets: Any) -> Any:
        return self._value


def _offsets(
    function: Function, names: Sequence[str], ndim: int
) -> list[tuple[int, int]]:
    """The least and the greatest offset of each dimension in a function's source.

    Raises TypeError (compat.option) for one that is no number.
    """
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    found = [[0] * ndim]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
            continue
        if node.value.id in names:
            found.append(list(_constants(node.slice)))
    columns = zip(*found, strict=True)
    return [(min(column), max(column)) for column in columns]


def _constants(node: ast.expr) -> Iterator[int]:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    for part in parts:
        try:
            yield int(ast.literal_eval(part))
        except ValueError:
            got = f"a stencil at {ast.unparse(node)}, without neighborhood="
            raise rules.error("compat.option", got=got) from None


def stencil(func_or_mode: Any = "constant", **options: Any) -> Any:
    """Numba's `stencil`: a function of the elements around one, by their offsets.

    Elements near the ends are `cval`. Raises TypeError (compat.option).

    >>> @stencil
    ... def middle(a):
    ...     return (a[-1] + a[0] + a[1]) / 3
    >>> middle(np.array([3.0, 6.0, 9.0, 0.0]))
    array([0., 6., 5., 0.])
    """
    cval = options.pop("cval", 0)
    neighborhood = options.pop("neighborhood", None)
    standard = options.pop("standard_indexing", ())
    check_options(options)
    if func_or_mode != "constant" and not callable(func_or_mode):
        raise rules.error("compat.option", got=f"the mode {func_or_mode!r}")

    def decorate(function: Function) -> StencilFunction:
        return StencilFunction(function, cval, neighborhood, standard)

    return decorate(func_or_mode) if callable(func_or_mode) else decorate
