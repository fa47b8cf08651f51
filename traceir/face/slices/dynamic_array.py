"""Arrays with extents that values decide, as a plain function sees them.

Serves: slice.length
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from traceir import rules
from traceir.base.source_info import Source, capture, user_frame_summary
from traceir.face.arrays.loop_steps import LoopSteps, TracedSequence
from traceir.face.arrays.values import cast
from traceir.face.callers import by_user
from traceir.face.functions import ufuncs
from traceir.face.functions.selection import Selection, Unsized
from traceir.face.python.numbers import require
from traceir.face.slices import reductions, vectors
from traceir.face.slices.assignment import assign
from traceir.face.slices.delayed_arrays import (
    DelayedArray,
    Read,
    applied,
    by_ufunc,
    check_equal,
    check_spread,
    flat,
    materialized,
    of_operand,
    of_view,
    padded,
    reshaped,
)
from traceir.face.slices.extents import Extent, known_extent
from traceir.face.slices.places import gathered
from traceir.face.slices.sliced_view import SlicedView
from traceir.tracing.concretization import demanded, origin
from traceir.tracing.trace import Tracer, current_trace, in_force


class DynamicArray(Unsized, TracedSequence):
    """A slice whose bounds are values, or what is computed from such slices.

    A slice is a view: it has the elements that its array has, and what is written to it
    is written there. Other elements are computed where they are used; they get memory
    of their own when something is written to them.
    """

    __slots__ = ("_elements", "_home", "_view")

    def __init__(self, found: SlicedView | DelayedArray) -> None:
        self._view = found if isinstance(found, SlicedView) else None
        self._elements = None if isinstance(found, SlicedView) else found
        self._home = current_trace()
        self.made = capture()

    @property  # type: ignore[misc]  # it has no setter
    def __class__(self) -> Any:
        """The class that a user's `isinstance` is told: that of arrays."""
        return np.ndarray if by_user() else DynamicArray

    # What it is -------------------------------------------------------------------

    @property
    def elements(self) -> DelayedArray:
        """The elements that it has now."""
        # One of both is there.
        return self._elements if self._view is None else of_view(self._view)  # type: ignore[return-value]

    @property
    def view(self) -> SlicedView:
        """The part of an array that it is."""
        if self._view is None:
            assert self._elements is not None
            with in_force(self._home):  # a loop around may write to it in each turn
                self._view, self._elements = materialized(self._elements), None
        return self._view

    @property
    def extents(self) -> tuple[Extent, ...]:
        """The extents."""
        held = self._view or self._elements
        assert held is not None
        return held.extents

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the elements."""
        found: np.dtype
        found = self._view.base.dtype if self._view else self._elements.dtype  # type: ignore[union-attr]
        return found

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.extents)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The extents as numbers, which may be traced."""
        return tuple(extent.length for extent in self.extents)

    @property
    def size(self) -> Any:
        """The number of elements."""
        return functools.reduce(lambda a, b: a * b, self.shape, 1)

    @property
    def real(self) -> DynamicArray:
        """The real parts."""
        return shown(reductions.FUNCTIONS[np.real](self.elements))  # type: ignore[no-any-return]

    @property
    def imag(self) -> DynamicArray:
        """The imaginary parts."""
        return shown(reductions.FUNCTIONS[np.imag](self.elements))  # type: ignore[no-any-return]

    @property
    def T(self) -> DynamicArray:
        """The view with its dimensions in reverse order."""
        view = self.view
        return DynamicArray(SlicedView(view.base, view.axes, view.dims[::-1]))

    def __repr__(self) -> str:
        kinds = ("n" if e.known is None else str(e.known) for e in self.extents)
        return f"an array of {self.dtype} with {'×'.join(kinds)} elements"

    def unknown(self, what: str, where: Source | None = None) -> BaseException:
        """The error of a request that needs extents that are known, or the demand of
        the arguments that they are computed from."""
        traced = [n for n in self.shape if isinstance(n, Tracer)]
        line = None if where is None else user_frame_summary(where)
        got = f"{what} of {self!r}, {origin(traced[0])}"
        error = rules.error("slice.length", got=got, where=line)
        return demanded(error, *traced)

    def sized(self, where: Source | None = None) -> Any:
        """The array of known extents that this is unless a slice is cut off, which the
        program checks; None if there is none."""
        if any(extent.usual is None for extent in self.extents):
            return None
        window = None if self._view is None else self._view.window()
        for extent in self.extents:
            if extent.known is None:
                got = f"a slice of {extent.usual} places that an end of its array cuts"
                require(extent.length != extent.usual, "slice.cut", got, where)
        if window is not None:
            return window
        found = self.elements
        usual = tuple(known_extent(e.usual or 0) for e in found.extents)
        view = materialized(DelayedArray(usual, found.dtype, found.at, found.views))
        return view.base

    def or_sized(self, what: str, where: Source | None = None) -> Any:
        """The array of known extents that this is. Raises TypeError (slice.length)."""
        found = self.sized(where)
        if found is None:
            raise self.unknown(what, where)
        return found

    # Python's and NumPy's protocols -----------------------------------------------

    def __len__(self) -> int:
        if self.extents[0].known is None:
            raise self.unknown("len()")
        return self.extents[0].known

    def steps(self) -> LoopSteps:
        """The steps of a loop over it."""
        return LoopSteps(0, self.extents[0].length, 1, lambda k: self._item(k))

    def _item(self, k: Any) -> Any:
        found = self.elements
        if self.ndim > 1:
            return self[k]
        return found.element((k,))

    def __iter__(self) -> Any:
        count = self.extents[0].known
        if count is None:
            raise self.unknown("iteration outside of a `for` loop")
        return (self[k] for k in range(count))

    def __getitem__(self, index: Any) -> Any:
        parts = index if isinstance(index, tuple) else (index,)
        if is_mask(parts[0]) and len(parts) == 1:
            return self._masked(parts[0])
        parts = tuple(np.nonzero(p)[0] if is_mask(p) else p for p in parts)
        if any(isinstance(part, DynamicArray) for part in parts):
            return self._gathered(parts)
        view = self.view.taken(index)
        if view.dims:
            return resolved(view)
        return of_view(view).element(())

    def _masked(self, mask: Any) -> Any:
        """The elements, or the rows, where a vector holds."""
        which, found = of_operand(held(mask)), self.elements
        if which.ndim != 1 or any(e.known is None for e in found.extents[1:]):
            raise self.unknown("a mask")
        check_equal("a mask", found.extents[0], which.extents[0])
        whole = materialized(found).base
        return Selection.pack(whole, padded(which, False))

    def _gathered(self, parts: tuple[Any, ...]) -> Any:
        """The elements at an array of places."""
        found = self.elements
        extents, places = gathered(found.extents, list(map(held, parts)))

        def at(indices: Any, read: Read) -> Any:
            return found.at(places(indices), read)

        return DynamicArray(DelayedArray(extents, found.dtype, at))

    def __setitem__(self, index: Any, value: Any) -> None:
        if is_mask(index):
            if np.ndim(value) or isinstance(value, Unsized):
                raise self.unknown("an update of some elements by as many")
            chosen = np.where(index, cast(value, self.dtype), self)
            write(self.view, chosen)
            return
        write(self.view.taken(index), value)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise self.unknown("__array__()")

    def __getattr__(self, name: str) -> Any:
        if name in reductions.METHODS:
            return functools.partial(getattr(np, name), self)
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.or_sized(f"the {name!r} attribute"), name)

    def astype(self, dtype: Any, **options: Any) -> DynamicArray:
        """The elements in another dtype, in memory of their own."""
        return DynamicArray(materialized(self.elements.cast(np.dtype(dtype))))

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        """The elements with other extents: of a vector, with new dimensions of 1; or of
        what has no memory yet."""
        wanted = shape[0] if isinstance(shape[0], (tuple, list)) else shape
        long = [k for k, n in enumerate(wanted) if isinstance(n, Tracer) or n != 1]
        if self.ndim == 1 and len(long) == 1:
            kept = self.extents[0].length
            if isinstance(wanted[long[0]], Tracer) or wanted[long[0]] != -1:
                require(np.not_equal(wanted[long[0]], kept), "slice.lengths", "reshape")
            return self[
                tuple(slice(None) if k in long else None for k in range(len(wanted)))
            ]
        if self._view is not None or order != "C":
            raise self.unknown("reshape(), of an array that has memory,")
        return DynamicArray(reshaped(self.elements, wanted))

    def flatten(self, order: str = "C") -> DynamicArray:
        """All elements as one row, in memory of their own."""
        return DynamicArray(materialized(flat(self.elements)))

    def ravel(self, order: str = "C") -> DynamicArray:
        """A vector itself."""
        if self.ndim > 1:
            raise self.unknown("ravel(), of several dimensions,")
        return self

    def tolist(self) -> Any:
        """Refused: a list has as many elements as are known."""
        raise self.unknown("tolist()")

    def copy(self, order: str = "C") -> DynamicArray:
        """The elements in memory of their own."""
        return DynamicArray(materialized(self.elements))

    def sort(self, axis: int = -1, **options: Any) -> None:
        """Put the elements in order, where they are."""
        write(self.view, np.sort(self, axis, **options))

    def fill(self, value: Any) -> None:
        """Make all elements one value."""
        write(self.view, value)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any
    ) -> Any:
        if ufunc is np.matmul and method == "__call__" and not options:
            return self.__array_function__(np.matmul, (), inputs, {})
        if method != "__call__":
            whole = [_sized(f"{ufunc.__name__}.{method}", v) for v in inputs]
            return getattr(ufunc, method)(*whole, **options)
        into = options.pop("out", (None,))[0]
        operands = [held(value) for value in inputs]
        function = by_ufunc(ufunc, options)
        found = applied(ufunc.__name__, function, operands)
        if into is None:
            several = isinstance(found, tuple)
            return tuple(map(DynamicArray, found)) if several else DynamicArray(found)
        ufuncs.check_cast(ufunc.__name__, found.dtype, into.dtype, "same_kind")
        if isinstance(into, DynamicArray):
            into.become(found)
        else:
            into[...] = DynamicArray(found)
        return into

    def become(self, found: DelayedArray) -> None:
        """Take other elements, in the dtype that it has, as `y += 1` does."""
        if self._view is None and current_trace() is self._home:
            extents = self.extents
            self._elements = check_spread(found, extents).cast(self.dtype)
        else:
            assign(self.view, found)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        found = reductions.FUNCTIONS.get(func) or vectors.FUNCTIONS.get(func)
        if found is not None:
            result = found(*map(held, args), **{k: held(v) for k, v in kwargs.items()})
            if result is not NotImplemented:
                return shown(result)
        name = f"{func.__name__}()"
        whole = [_sized(name, v) for v in args]
        return func(*whole, **{k: _sized(name, v) for k, v in kwargs.items()})


def is_mask(part: Any) -> bool:
    """True for an array of truth values in an index, a list of them too."""
    dtype = getattr(part, "dtype", None)
    return dtype is not None and dtype.kind == "b" and np.ndim(part) > 0


def held(value: Any) -> Any:
    """An operand, of dynamic arrays, in a list too, their elements now."""
    if type(value) in (list, tuple):
        return type(value)(map(held, value))
    if type(value) is Selection:
        value = value.packed()
    return value.elements if type(value) is DynamicArray else value


def shown(value: Any) -> Any:
    """A result as the function sees it."""
    if type(value) is tuple:
        return tuple(map(shown, value))
    if isinstance(value, DelayedArray):
        return DynamicArray(value)
    return resolved(value) if isinstance(value, SlicedView) else value


def resolved(view: SlicedView) -> Any:
    """A view as an array of the trace, where its extents are known."""
    if all(extent.known is not None for extent in view.extents):
        window = view.window()
        if window is not None:
            return window
    return DynamicArray(view)


def _sized(name: str, value: Any) -> Any:
    if type(value) is DynamicArray:
        return value.or_sized(name)
    if isinstance(value, (list, tuple)):
        return type(value)(_sized(name, part) for part in value)
    return value


def write(view: SlicedView, value: Any) -> None:
    """Write an array or a number to a part of an array."""
    if type(value) is Selection:
        value = value.packed()
    if type(value) is DynamicArray:
        same = value._view is not None and value._view.same(view)
        if same:  # `x[i:j] += 1` has written it
            return
        value = value.elements
    assign(view, value)
