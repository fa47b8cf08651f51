"""The elements that a traced mask selects: an array of unknown length.

Serves: face.selection

The elements are computed at all places, and those that the mask does not take are left
out where they would count: in sums and other reductions, and where the selection is
written back through the same mask.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from traceir import numpy as jnp
from traceir import rules
from traceir.base.source_info import Source, capture, user_frame_summary
from traceir.errors import TraceirError
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.arrays.loop_steps import LoopSteps, TracedSequence
from traceir.face.arrays.values import cast
from traceir.face.callers import by_user
from traceir.face.checks.status import note_rule
from traceir.face.functions import ufuncs
from traceir.ir.jaxpr import Atom, Eqn, Literal, Var
from traceir.lax.checks.operands import convert, default_dtype
from traceir.tracing.concretization import demanded, origin
from traceir.tracing.staging import StagingTrace
from traceir.tracing.trace import Tracer, current_trace


class Unsized(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of which values decide how many elements it has."""

    __slots__ = ("made",)
    made: Source | None  # the user's line

    def unknown(self, what: str, where: Source | None = None) -> BaseException:
        """The error of a request that depends on the number of elements."""
        raise NotImplementedError

    def or_sized(self, what: str, where: Source | None = None) -> Any:
        """The array with known extents that this is in all but rare cases, which the
        program checks; raises the error of `unknown` if there is none."""
        raise self.unknown(what, where)

    def astype(self, dtype: Any, **options: Any) -> Unsized:
        """The elements in another dtype."""
        raise NotImplementedError

    def copy(self, order: str = "C") -> Unsized:
        """The elements in memory of their own."""
        raise NotImplementedError


class Selection(Unsized, TracedSequence):
    """`x[mask]` while the mask is traced.

    `full` has the elements at all places of `x`, `mask` tells which of them are in it.
    What needs them beside one another has them `packed`.
    """

    __slots__ = ("full", "mask")
    full: NumpyTracer
    mask: NumpyTracer
    # The elements and the mask as an array whose extent is a value, by a layer above.
    pack: ClassVar[Callable[[Any, Any], Any]]

    def packed(self) -> Any:
        """The elements beside one another, in an array of their own."""
        return Selection.pack(self.full, self.mask)

    def steps(self) -> LoopSteps:
        """The steps of a loop over it."""
        found: LoopSteps = self.packed().steps()
        return found

    def __init__(self, full: NumpyTracer, mask: Tracer) -> None:
        if mask.shape != full.shape[: mask.ndim]:
            got = f"{mask.shape} on {full.shape}"
            raise rules.error("index.mask-shape", got=got)
        self.full = full
        self.mask = traced(mask)
        self.made = capture()

    @property  # type: ignore[misc]  # it has no setter
    def __class__(self) -> Any:
        """The class that a user's `isinstance` is told: that of arrays."""
        return np.ndarray if by_user() else Selection

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the elements."""
        return self.full.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions: the mask's are one."""
        return self.full.ndim - self.mask.ndim + 1

    @property
    def count(self) -> Any:
        """The number of places that the mask takes, traced."""
        return traced(
            convert(jnp.sum(self.mask), default_dtype(int), True), number=True
        )

    @property
    def size(self) -> Any:
        """The number of elements, traced."""
        rest = self.full.shape[self.mask.ndim :]
        return self.count * int(np.prod(rest, dtype=int))

    def unknown(self, what: str, where: Source | None = None) -> BaseException:
        """The error of a request that depends on the number of elements."""
        got = f"{what} of {self!r}, {origin(self.mask)}"
        line = None if where is None else user_frame_summary(where)
        return demanded(rules.error("index.mask", got=got, where=line), self.mask)

    def __repr__(self) -> str:
        mask = self.mask.aval.str_short()
        return f"{self.full.aval.str_short()} where {mask}"

    def __len__(self) -> NoReturn:
        raise self.unknown("len()")

    def __iter__(self) -> NoReturn:
        raise self.unknown("iteration outside of a `for` loop")

    def __getitem__(self, index: Any) -> Any:
        again = isinstance(index, Selection) and index.dtype == bool
        if again and index.full.ndim == self.mask.ndim and self.same(index.mask):
            return Selection(self.full, traced(jnp.logical_and(self.mask, index.full)))
        return self.packed()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        mine = isinstance(index, Selection) and index.dtype == bool
        if not mine or not self.same(index.mask) or isinstance(value, Unsized):
            raise self.unknown("an update of a part")
        if np.ndim(value) or index.full.ndim != self.full.ndim:
            raise self.unknown("an update of some elements by as many")
        if self.full._home is not current_trace():
            raise self.unknown("an update in a loop or a choice")
        new = cast(value, self.dtype)
        self.full = traced(jnp.where(index.full, new, self.full))

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        raise self.unknown("__array__()")

    def __getattr__(self, name: str) -> Any:
        if name in REDUCTIONS:
            return lambda *args, **kwargs: self.reduce(name, *args, **kwargs)
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return getattr(self.packed(), name)
        except TraceirError:  # of an array whose extent is a value
            raise self.unknown(f"the {name!r} attribute") from None

    def astype(self, dtype: Any, **options: Any) -> Selection:
        """The elements in another dtype."""
        return Selection(traced(cast(self.full, np.dtype(dtype))), self.mask)

    def copy(self, order: str = "C") -> Selection:
        """The elements in memory of their own."""
        return Selection(self.full, self.mask)

    def same(self, other: Any) -> bool:
        """True if a mask, or another selection's, is this one's."""
        if not isinstance(other, NumpyTracer):
            return False
        mine, his = traced(self.mask), traced(other)  # of the trace in force
        if mine._trace is not his._trace:
            return False
        return equal_atoms(mine._trace, mine._var, his._var)

    # Computing --------------------------------------------------------------------

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any
    ) -> Any:
        if method != "__call__":
            raise self.unknown(f"{ufunc.__name__}.{method}")
        into = options.pop("out", (None,))[0]
        full = [self._operand(ufunc.__name__, value) for value in inputs]
        found = ufuncs.apply(ufunc, method, full, options)
        several = found if isinstance(found, tuple) else (found,)
        made = tuple(Selection(part, self.mask) for part in several)
        if isinstance(into, Selection):
            return into.update(ufunc.__name__, made[0])
        if into is not None:
            raise self.unknown(f"{ufunc.__name__} with out=")
        return made if isinstance(found, tuple) else made[0]

    def update(self, name: str, new: Selection) -> Selection:
        """Make other elements this selection's, as `y += 1` does; returns it.

        Raises TypeError (face.cast) where they are not of the dtype.
        """
        if not self.same(new.mask):
            raise rules.error("face.selection", got=f"{name} of {new!r} into {self!r}")
        ufuncs.check_cast(name, new.dtype, self.dtype, "same_kind")
        self.full = traced(cast(new.full, self.dtype))
        return self

    def _operand(self, name: str, value: Any) -> Any:
        if isinstance(value, Selection):
            if not self.same(value.mask):
                got = f"{name} of {self!r} and {value!r}"
                raise rules.error("face.selection", got=got)
            return value.full
        if np.ndim(value) and self.mask.ndim == self.full.ndim:
            got = f"{name} of {self!r} and an array of shape {np.shape(value)}"
            raise rules.error("face.selection", got=got)
        return value

    def __array_function__(
        self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        name = func.__name__
        if REDUCTIONS.get(name) is func and args[0] is self:
            return self.reduce(name, *args[1:], **kwargs)
        if func is np.size:
            return self.size
        try:
            return func(*map(_packed, args), **kwargs)
        except TraceirError:  # of an array whose extent is a value
            raise self.unknown(f"{name}()") from None

    def reduce(self, name: str, axis: Any = None, **options: Any) -> Any:
        """A reduction of the elements that the mask takes."""
        if self.ndim > 1 and axis is None:
            return self._reduced(name, self._spread(), None, options)
        given = (0,) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        axes = {normalize_axis_index(one, self.ndim) for one in given}
        rest = tuple(k + self.mask.ndim - 1 for k in sorted(axes) if k)
        if 0 not in axes:  # of each element, whether the mask takes it or not
            found = REDUCTIONS[name](self.full, axis=rest, **options)
            return Selection(traced(found), self.mask)
        places = (*range(self.mask.ndim), *rest)
        return self._reduced(name, self._spread(), places, options)

    def _spread(self) -> Any:
        rest = self.full.ndim - self.mask.ndim
        shaped = jnp.reshape(self.mask, self.mask.shape + (1,) * rest)
        return jnp.broadcast_to(shaped, self.full.shape)

    def _reduced(self, name: str, which: Any, axis: Any, options: Any) -> Any:
        return _REDUCED[name](self.full, which, axis, options)

    def write_to(self, array: NumpyTracer, index: Any) -> None:
        """`array[index] = selection`, for the mask of the selection."""
        if not self.same(index):
            raise rules.error("face.selection", got=f"an update by {self!r}")
        which = self._spread()
        if array.shape != which.shape:
            got = f"{self!r} for an array of shape {array.shape}"
            raise rules.error("update.shape", got=got)
        new = cast(self.full, array.dtype)
        array.replace(traced(jnp.where(which, new, array.now())))


def _packed(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(map(_packed, value))
    return value.packed() if isinstance(value, Selection) else value


def _by_where(func: Any, identity: str | None = None) -> Any:
    """A reduction of NumPy's that has an argument `where`."""

    def reduced(full: Any, which: Any, axis: Any, options: Any) -> Any:
        if identity is not None and "initial" not in options:
            got = f"{func.__name__} of no elements"
            note_rule(jnp.logical_not(jnp.any(which)), "slice.lengths", got)
            options = {"initial": _end(full.dtype, identity), **options}
        return func(full, axis=axis, where=which, **options)

    return reduced


def _end(dtype: np.dtype, which: str) -> Any:
    """The least or the greatest value of a dtype."""
    if dtype.kind == "b":
        return which == "max"
    if dtype.kind == "f":
        return dtype.type(np.inf if which == "max" else -np.inf)
    return getattr(np.iinfo(dtype), which)


def _counted(full: Any, which: Any, axis: Any, options: Any) -> Any:
    return np.sum(np.logical_and(full != 0, which), axis=axis, **options)


def _mean(full: Any, which: Any, axis: Any, options: Any) -> Any:
    total = np.sum(
        full * np.float64(1) if full.dtype.kind != "f" else full,
        axis=axis,
        where=which,
        **options,
    )
    return (total / np.sum(which, axis=axis)).astype(total.dtype)


def _variance(full: Any, which: Any, axis: Any, options: Any) -> Any:
    less = options.pop("ddof", 0)
    centre = _mean(full, which, axis, {"keepdims": True})
    squares = np.sum((full - centre) ** 2, axis=axis, where=which, **options)
    return (squares / (np.sum(which, axis=axis) - less)).astype(centre.dtype)


# The functions that leave out elements, by name.
_REDUCED: dict[str, Any] = {
    "sum": _by_where(np.sum),
    "prod": _by_where(np.prod),
    "mean": _mean,
    "var": _variance,
    "std": lambda *given: np.sqrt(_variance(*given)),
    "any": _by_where(np.any),
    "all": _by_where(np.all),
    "max": _by_where(np.max, "min"),
    "min": _by_where(np.min, "max"),
    "count_nonzero": _counted,
}
REDUCTIONS = {name: getattr(np, name) for name in _REDUCED}


def equal_atoms(trace: StagingTrace, one: Atom, other: Atom) -> bool:
    """True if two variables of a trace have one value: made alike, of the same."""
    if one is other:
        return True
    makers = {v: (e, k) for e in trace.eqns for k, v in enumerate(e.outputs)}
    return _alike(makers, one, other)


def _alike(makers: dict[Var, tuple[Eqn, int]], one: Atom, other: Atom) -> bool:
    todo = [(one, other)]
    seen: set[tuple[Atom, Atom]] = set()
    while todo:
        pair = todo.pop()
        if pair[0] is pair[1] or pair in seen:
            continue
        seen.add(pair)
        if any(isinstance(atom, Literal) for atom in pair):
            if pair[0] != pair[1]:
                return False
            continue
        # Neither is a literal here.
        made = [makers.get(atom) for atom in pair]  # type: ignore[arg-type]
        if made[0] is None or made[1] is None:
            return False
        (first, place), (second, beside) = made[0], made[1]
        same = first.primitive == second.primitive and place == beside
        if not same or first.params != second.params or first.effects:
            return False
        todo += zip(first.inputs, second.inputs, strict=True)
    return True
