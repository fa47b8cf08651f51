"""`vectorize`, `guvectorize` and `stencil`, as loops that are recorded.

Serves: compat.option, compat.missing, compat.signature

Each writes a loop in Python around the user's function, which the drop-in decorator
compiles as if the user had written it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.base.tracebacks import entry_points
from traceir_numba import api
from traceir_numba.compat.signatures import (
    NumbaType,
    Signature,
    chosen,
    numbers_signature,
)
from traceir_numba.numba_options import check_options

Function = Callable[..., Any]


def _written(name: str, source: str, names: Mapping[str, Any], like: Function) -> Any:
    """A function from its source, which has these names; it belongs to the module of
    the user's function."""
    file = f"<{name} of {like.__module__}.{like.__qualname__} at {id(like):x}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    module = {**names, "np": np, "__name__": like.__module__}
    exec(compile(source, file, "exec"), module)
    found = module[name]
    found.__name__ = found.__qualname__ = like.__name__
    return api.jit(found)


def _result_dtypes(function: Function, scalars: Sequence[Any]) -> list[Any]:
    """The dtypes of a function's results for numbers of these kinds."""
    found = api.jit(function).eval_shape(*scalars)
    parts = found if isinstance(found, tuple) else (found,)
    return [part.dtype for part in parts]


@entry_points()
class VectorizedFunction:
    """A function of numbers that is called for each element of arrays."""

    def __init__(self, function: Function, signatures: Sequence[Signature]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.signatures = tuple(signatures)
        count = len(inspect.signature(function).parameters)
        names = [f"x{k}" for k in range(count)]
        given = ", ".join(f"{name}[i]" for name in names)
        source = (
            f"def elementwise({', '.join(names)}, out):\n"
            f"    for i in range(out.shape[0]):\n"
            f"        out[i] = scalar({given})\n"
            f"    return out\n"
        )
        self._loop = _written("elementwise", source, {"scalar": function}, function)

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
            (result,) = _result_dtypes(self.py_func, scalars)
        together = np.broadcast_arrays(*arrays)
        shape = together[0].shape
        flat = [np.ravel(a) for a in together]
        size = flat[0].shape[0]
        found = self._loop(*flat, np.empty(size, result)).reshape(shape)
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
    signatures = [numbers_signature(one) for one in _listed(given)]
    return lambda function: VectorizedFunction(function, signatures)


def _listed(given: Any) -> Sequence[Any]:
    return given if isinstance(given, (list, tuple)) else [given]


@entry_points()
class GeneralizedFunction:
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
        # Operands that are written: all where there are no results.
        self._written = [
            not self.gives or k in writable or name in writable
            for k, name in enumerate(names[: len(self.takes)])
        ]
        given = ", ".join(f"{name}[i]" for name in names)
        source = (
            f"def rows({', '.join(names)}):\n"
            f"    for i in range({names[0]}.shape[0]):\n"
            f"        row({given})\n"
        )
        self._loop = _written("rows", source, {"row": function}, function)

    def __call__(self, *args: Any) -> Any:
        count = len(self.takes)
        given = [np.asarray(a) for a in args[:count]]
        outs = args[count:]
        kinds = self._kinds([*given, *map(np.asarray, outs)])
        sizes: dict[str, int] = {}
        outer = []
        for array, dims in zip(
            (*given, *outs), (*self.takes, *self.gives), strict=False
        ):
            lead = array.ndim - len(dims)
            sizes |= dict(zip(dims, array.shape[lead:], strict=True))
            outer.append(array.shape[:lead])
        shape = np.broadcast_shapes(*outer)
        size = int(np.prod(shape, dtype=int))
        rows = []
        for array, dims, kind in zip(given, self.takes, kinds, strict=False):
            inner = tuple(sizes[d] for d in dims)
            whole = np.broadcast_to(array.astype(kind.dtype, copy=False), shape + inner)
            core = inner if dims or not kind.ndim else (1,)
            rows.append(np.ascontiguousarray(whole).reshape(size, *core))
        results = [tuple(sizes[d] for d in dims) for dims in self.gives]
        rows += [
            np.zeros((size, *(inner or (1,))), kind.dtype)
            for inner, kind in zip(results, kinds[count:], strict=True)
        ]
        writes = [
            k for k, array in enumerate(given) if self._written[k] and array is args[k]
        ]
        for k in writes:
            if not rows[k].flags.writeable:
                rows[k] = rows[k].copy()
        self._loop(*rows)
        for k in writes:  # as NumPy has it, what was converted is not written
            if rows[k].dtype == given[k].dtype and given[k].size == rows[k].size:
                given[k][...] = rows[k].reshape(given[k].shape)
        found = []
        for k, (row, inner) in enumerate(zip(rows[count:], results, strict=True)):
            whole = row.reshape(shape + inner)
            if k < len(outs):
                outs[k][...] = whole
            found.append(
                outs[k] if k < len(outs) else whole if whole.ndim else whole[()]
            )
        return found[0] if len(found) == 1 else tuple(found)

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
    signatures = [numbers_signature(one) for one in _listed(ftylist)]
    return lambda function: GeneralizedFunction(
        function, signatures, signature_, writable_args
    )


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
class StencilFunction:
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
            loop = self._loops[first.ndim] = self._written(first.ndim, bounds)
        if out is not None:
            out[...] = loop(*args, np.array(out))
            return out
        return loop(*args, np.full(first.shape, self._cval, self._dtype(args)))

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
        return _written("one", source, seen, self.py_func).eval_shape(*numbers).dtype

    def _written(self, ndim: int, bounds: Any) -> Any:
        places = [f"i{k}" for k in range(ndim)]
        names = ", ".join(self._names)
        own = ", ".join(
            f"Relative({name}, ({', '.join(places)},))"
            if name not in self._standard
            else name
            for name in self._names
        )
        lines = [f"def around({names}, out):"]
        for k, (low, high) in enumerate(bounds):
            ends = f"{-low}, out.shape[{k}] - {high}"
            lines.append(f"{'    ' * (k + 1)}for i{k} in range({ends}):")
        body = f"out[{', '.join(places)}] = kernel({own})"
        lines += [f"{'    ' * (ndim + 1)}{body}", "    return out", ""]
        names_seen = {"kernel": self.py_func, "Relative": _relative}
        return _written("around", "\n".join(lines), names_seen, self.py_func)


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
