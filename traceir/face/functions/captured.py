"""NumPy arrays that a traced function reads from outside. Serves: face.box

Such an array stays NumPy's own, in its own memory, where what is known while tracing is
written. The arrays that the function computes from it are arrays of the trace, as if it
had made them itself: so a place in a table may be traced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir import rules
from traceir.face.arrays.array import NumpyTracer, known
from traceir.face.arrays.unwrapping import in_numpy_trace, unwrapped, wrapped
from traceir.face.callers import by_user
from traceir.face.checks.bounds import check_index
from traceir.face.functions.selection import Unsized
from traceir.face.functions.tables import WRITING
from traceir.face.functions.writing import index_of, is_mask
from traceir.ir.promotion import PLAIN_ARRAYS
from traceir.tracing.trace import current_trace

# Methods that write to the array, or hand out its memory.
_OWN = frozenset(
    (
        *("byteswap", "fill", "partition", "put", "resize", "setfield", "setflags"),
        *("sort", "reshape", "ravel", "transpose", "swapaxes", "squeeze", "diagonal"),
        *("view", "getfield", "dump", "dumps", "tofile", "to_device"),
    )
)


class CapturedArray(np.ndarray):
    """An array from outside of the trace: a view of it, of the same memory."""

    _reads: tuple[object, int, Any] | None = None

    def __getitem__(self, index: Any) -> Any:
        """Elements, at places that may be traced; views stay captured."""
        parts = index if isinstance(index, tuple) else (index,)
        if any(isinstance(part, Unsized) for part in parts):
            return self.seen()[index]
        try:
            found = super().__getitem__(unwrapped(index))
        except KeyError:
            table = self.seen()
            if type(table) is np.ndarray:  # in a transform inside the trace
                return jnp.asarray(table)[index]
            place = index_of(index)
            if by_user() and not is_mask(place):
                check_index(self.shape, place)
            return table[place]
        own = type(found) is CapturedArray and not np.may_share_memory(found, self)
        return wrapped(found.view(np.ndarray)) if own else found

    def __setitem__(self, index: Any, value: Any) -> None:
        index, value = _plain((index, value), self)
        check_outside_regions()
        _WriteCount.count += 1
        super().__setitem__(index, value)

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        out = kwargs.get("out", ())
        target = inputs[0] if method == "at" else out[0] if out else None
        return _called(getattr(ufunc, method), inputs, kwargs, target)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        out = kwargs.get("out")
        target = args[0] if func in WRITING and args else out
        return _called(func, args, kwargs, target)

    def seen(self) -> Any:
        """The array as one of the trace, which is not written to."""
        trace, writes = current_trace(), _WriteCount.count
        if self._reads is None or self._reads[:2] != (trace, writes):
            memory = self.view(np.ndarray)
            memory.flags.writeable = False
            found = known(memory) if in_numpy_trace() else memory
            self._reads = trace, writes, found
        return self._reads[2]


class _WriteCount:
    """A count of writes to captured arrays: what was read of them before is old."""

    count = 0


PLAIN_ARRAYS.add(CapturedArray)


def check_outside_regions() -> None:
    """Raise TypeError (staged.effect) inside of what is recorded, which is to write to
    an array from outside of the function."""
    trace = current_trace()
    if trace is not None and trace.writes_outside:
        raise rules.error("staged.effect", got="an array from outside")


def captured(value: np.ndarray) -> Any:
    """An array from outside as a traced function sees it; itself if it has no numbers.

    >>> type(captured(np.zeros(3))).__name__, type(captured(np.array("a"))).__name__
    ('CapturedArray', 'ndarray')
    """
    return value.view(CapturedArray) if value.dtype.kind in "biufc" else value


def uncaptured(value: Any) -> Any:
    """NumPy's own array in the place of a captured one, in tuples, lists and dicts."""
    return _mapped(value, lambda array: array.view(np.ndarray))


def _called(func: Any, args: Any, kwargs: Any, target: Any) -> Any:
    """A function of captured arrays: where it writes to one, in that one's memory."""
    if not isinstance(target, CapturedArray):
        as_seen = CapturedArray.seen
        return func(*_mapped(tuple(args), as_seen), **_mapped(dict(kwargs), as_seen))
    args, kwargs = _plain((tuple(args), dict(kwargs)), target)
    check_outside_regions()
    _WriteCount.count += 1
    func(*args, **kwargs)
    return target


def _mapped(value: Any, seen: Callable[[CapturedArray], Any]) -> Any:
    kind = type(value)
    if kind is CapturedArray:
        return seen(value)
    if kind is tuple or kind is list:
        return kind(_mapped(part, seen) for part in value)
    if kind is dict:
        return {key: _mapped(part, seen) for key, part in value.items()}
    return value


def _plain(value: Any, target: CapturedArray) -> Any:
    """The value known while tracing; raises TypeError (update.external) for others."""
    try:
        return unwrapped(uncaptured(value))
    except KeyError:
        got = f"{target.dtype}{list(target.shape)}, an array from outside"
        raise rules.error("update.external", got=got) from None


def _method(name: str) -> Callable[..., Any]:
    def method(self: CapturedArray, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.seen(), name)(*args, **kwargs)

    method.__name__ = name
    return method


for _name, _function in vars(np.ndarray).items():
    _public = callable(_function) and not _name.startswith("_")
    if _public and _name not in _OWN and hasattr(NumpyTracer, _name):
        setattr(CapturedArray, _name, _method(_name))
