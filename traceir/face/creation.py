"""Arrays made inside a plain function: known while tracing until they are written to.

Serves: face.box

These stand for NumPy's functions of the same names in a function that is traced;
outside of a trace they are these.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir.face.array import NumpyTracer, in_numpy_trace, traced, unwrapped, wrapped
from traceir.face.copies import duplicate
from traceir.face.selection import Selection
from traceir.face.values import array_of, cast
from traceir.lax.operands import operand

Function = Callable[..., Any]


def _made(name: str) -> Function:
    """A function of NumPy's whose result is an array of the trace."""
    func: Function = getattr(np, name)

    @functools.wraps(func)
    def made(*args: Any, **kwargs: Any) -> Any:
        if not in_numpy_trace():
            return func(*args, **kwargs)
        try:
            plain, options = unwrapped(args), unwrapped(kwargs)
        except KeyError:
            return _of_traced(name, args, kwargs)
        return wrapped(func(*plain, **options))

    return made


def _of_traced(name: str, args: Any, kwargs: Any) -> Any:
    """An array made of traced numbers: `full` with one, `linspace` between two."""
    if name == "full":
        return _full(*args, **kwargs)
    function = getattr(jnp, name)
    if name.endswith("space"):
        args = tuple(map(_real, args))
        kwargs = {key: _real(value) for key, value in kwargs.items()}
    return traced(function(*args, **kwargs))


def _real(value: Any) -> Any:
    """A traced integer in float64, where NumPy spaces numbers; others as they are."""
    if isinstance(value, NumpyTracer) and value.dtype.kind in "biu":
        return value.astype(np.float64)
    return value


def _full(shape: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    value = operand("full", fill_value)
    if dtype is not None:
        value = cast(value, np.dtype(dtype))
    return traced(jnp.full(unwrapped(shape), value), number=False)


def array(
    object: Any, dtype: Any = None, *, copy: Any = True, ndmin: int = 0, **options: Any
) -> Any:
    """NumPy's `array`, for numbers and arrays that may be traced."""
    return _array(object, dtype, copy is not False, ndmin, options)


def asarray(a: Any, dtype: Any = None, order: Any = None, **options: Any) -> Any:
    """NumPy's `asarray`: an array that has the dtype is itself."""
    return _array(a, dtype, bool(options.pop("copy", False)), 0, options)


def _array(value: Any, dtype: Any, copy: bool, ndmin: int, options: Any) -> Any:
    if not in_numpy_trace():
        return np.array(value, dtype, copy=copy or None, ndmin=ndmin, **options)
    if isinstance(value, Selection):
        return value if dtype is None else value.astype(dtype)
    same = isinstance(value, NumpyTracer) and dtype in (None, value.dtype)
    if same and not copy and value.ndim >= ndmin:
        return value
    try:
        plain = unwrapped(value)
    except KeyError:
        made = _converted(value, dtype)
    else:
        made = wrapped(np.array(plain, dtype, ndmin=ndmin))
    return made if made.ndim >= ndmin else made[(None,) * (ndmin - made.ndim)]


def _converted(value: Any, dtype: Any) -> Any:
    made = duplicate(value) if isinstance(value, NumpyTracer) else array_of(value)
    if dtype is not None and made.dtype != np.dtype(dtype):
        return traced(cast(made.now(), np.dtype(dtype)), number=False)
    return made


# Functions that make arrays of shapes and numbers.
MADE = (
    *("zeros", "ones", "empty", "full", "arange", "linspace", "logspace", "geomspace"),
    *("eye", "identity", "tri", "hanning", "hamming", "blackman", "bartlett", "kaiser"),
    *("indices", "fromfunction", "frombuffer", "fromiter"),
)


def standing_in() -> Iterator[tuple[Function, Function]]:
    """NumPy's functions, and what stands for them in a traced function."""
    yield from ((getattr(np, name), _made(name)) for name in MADE)
    yield np.array, functools.wraps(np.array)(array)
    yield np.asarray, functools.wraps(np.asarray)(asarray)
    yield np.asanyarray, functools.wraps(np.asanyarray)(asarray)
    yield np.ascontiguousarray, functools.wraps(np.ascontiguousarray)(_contiguous)


def _contiguous(a: Any, dtype: Any = None, **options: Any) -> Any:
    made = asarray(a, dtype)
    if isinstance(made, NumpyTracer) and made.strides is not None:
        made = duplicate(made, "C")
    return made if np.ndim(made) else made[None]
