"""Arrays created inside a plain function.

Serves: face.box

These stand for NumPy's functions of the same names in a function that is traced;
outside of a trace they are these.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from operator import index
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from traceir import numpy as jnp
from traceir import rules
from traceir.errors import TraceirError
from traceir.face.arrays.aliasing import arrays, lay, lay_new, shared_or_new
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.arrays.loop_steps import TracedList
from traceir.face.arrays.memory_sharing import SHARED
from traceir.face.arrays.unwrapping import in_numpy_trace, unwrapped, wrapped
from traceir.face.arrays.values import array_of, cast
from traceir.face.functions.captured import CapturedArray
from traceir.face.functions.functions import apply
from traceir.face.functions.selection import Unsized
from traceir.lax.checks.operands import operand
from traceir.tracing.trace import Tracer

Function = Callable[..., Any]


def _made(name: str) -> Function:
    """A function of NumPy's whose result is an array of the trace."""
    func: Function = getattr(np, name)
    # Elements that nobody has written are part of the program: the same in each trace.
    known = np.zeros if func is np.empty else func

    @functools.wraps(func)
    def made(*args: Any, **kwargs: Any) -> Any:
        if not in_numpy_trace():
            return func(*args, **kwargs)
        try:
            plain, options = unwrapped(args), unwrapped(kwargs)
        except KeyError:
            pass
        else:
            return wrapped(known(*plain, **options))
        try:
            found = _of_traced(name, args, kwargs)
        except TraceirError:
            if (found := dynamic(name, args, kwargs)) is NotImplemented:
                raise
            return found
        return lay_new(found, func, args, kwargs)

    return made


def dynamic(name: str, args: Any, kwargs: Any) -> Any:
    """The array of a function whose extents values decide, by a layer above."""
    return NotImplemented


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
    with suppress(KeyError):  # of a traced shape `full` says that it is none
        shape = unwrapped(shape)
    return traced(jnp.full(shape, value), number=False)


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    **like: Any,
) -> Any:
    """NumPy's `array`, for numbers and arrays that may be traced."""
    if not in_numpy_trace():
        given = {"copy": copy, "order": order, "subok": subok, "ndmin": ndmin, **like}
        return np.array(object, dtype, **given)
    _check_like("array", like)
    made = _array_of("numpy.array", object, dtype, order, copy)
    return made if made.ndim >= ndmin else made[(None,) * (ndmin - made.ndim)]


def _check_like(name: str, like: Mapping[str, Any]) -> None:
    """Raise TypeError (face.meaning) for other arguments than `like`, which says for
    which library an array is made."""
    if like.keys() - {"like"}:
        got = f"{name}({', '.join(f'{key}=' for key in like)})"
        raise rules.error("face.meaning", got=got)


def asarray(
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    device: Any = None,
    copy: Any = None,
    **like: Any,
) -> Any:
    """NumPy's `asarray`: an array that has the dtype, and lies so, is itself."""
    if not in_numpy_trace():
        return np.asarray(a, dtype, order, device=device, copy=copy, **like)
    _check_like("asarray", like)
    return _array_of("numpy.asarray", a, dtype, order, copy)


def ascontiguousarray(a: Any, dtype: Any = None, **like: Any) -> Any:
    """NumPy's `ascontiguousarray`, which has one dimension at least."""
    made = asarray(a, dtype, "C", **like)
    return made if np.ndim(made) else made[None]


def asfortranarray(a: Any, dtype: Any = None, **like: Any) -> Any:
    """NumPy's `asfortranarray`, which has one dimension at least."""
    made = asarray(a, dtype, "F", **like)
    return made if np.ndim(made) else made[None]


def require(a: Any, dtype: Any = None, requirements: Any = None, **like: Any) -> Any:
    """NumPy's `require`: an array that is as it should be is itself."""
    np.require((), requirements=requirements)  # it checks the words
    asked = {str(word)[0].upper() for word in requirements or ()}
    order = next((o for o in ("F", "C") if o in asked), "A")
    made = asarray(a, dtype, order, **like)
    if not isinstance(made, NumpyTracer):
        return np.require(made, dtype, requirements)
    lacks = ("W" in asked and not made.memory.flags.writeable) or (
        "O" in asked and made.base is not None
    )
    return apply(np.copy, (made,), {"order": order}) if lacks else made


def _array_of(name: str, value: Any, dtype: Any, order: Any, copy: Any) -> Any:
    """An array of a value, or the value itself, by the row of the table."""
    value = value.seen() if isinstance(value, CapturedArray) else value
    if isinstance(value, TracedList):
        return value.array() if dtype is None else value.array().astype(dtype)
    if isinstance(value, Unsized):
        if dtype is not None:
            return value.astype(dtype)
        return value.copy() if copy else value
    if isinstance(value, NumpyTracer) and not value.number:
        of = SHARED[name].of
        given = {of: value, "dtype": dtype, "order": order, "copy": copy}
        return shared_or_new(
            name, given, lambda **_: _copied(value, dtype, order, copy)
        )
    try:
        plain = unwrapped(value)
    except KeyError:
        made = array_of(value)
        if dtype is not None and made.dtype != np.dtype(dtype):
            made = traced(cast(made.now(), np.dtype(dtype)), number=False)
        return lay_new(made, np.array, (value, dtype), {"order": order})
    return wrapped(np.array(plain, dtype, order=order))


def _copied(a: NumpyTracer, dtype: Any, order: Any, copy: Any) -> Any:
    if copy is False:
        raise rules.error("face.meaning", got="copy=False where there must be a copy")
    value, wanted = a.concrete, a.dtype if dtype is None else np.dtype(dtype)
    if value is not None:
        return wrapped(np.array(value, wanted, order=order))
    made = traced(cast(a.now(), wanted), number=False)
    return lay(made, np.array, (a, wanted), {"order": order})


def _iterated(op: Any, *args: Any, **options: Any) -> Any:
    """NumPy's iterator, which asks for elements. Raises TypeError (face.function)."""
    if any(True for _ in arrays((op,))):
        raise rules.error("face.function", got="numpy.nditer")
    return np.nditer(op, *args, **options)


def _frequencies(function: Function) -> Function:
    """NumPy's `fftfreq` or `rfftfreq`, which have a count that is known."""

    @functools.wraps(function)
    def counted(n: Any, *args: Any, **options: Any) -> Any:
        return function(index(n) if isinstance(n, Tracer) else n, *args, **options)

    return counted


def _strided(x: Any, *args: Any, **options: Any) -> Any:
    """NumPy's `as_strided`, which it does not offer to other arrays."""
    if not isinstance(x, NumpyTracer):
        return as_strided(x, *args, **options)
    return apply(as_strided, (x, *args), options)


# Functions that make arrays of shapes and numbers.
MADE = (
    *("zeros", "ones", "empty", "full", "arange", "linspace", "logspace", "geomspace"),
    *("eye", "identity", "tri", "hanning", "hamming", "blackman", "bartlett", "kaiser"),
    *("indices", "fromfunction", "frombuffer", "fromiter"),
)


empty = _made("empty")


def standing_in() -> Iterator[tuple[Function, Function]]:
    """NumPy's functions, and their stand-ins in a traced function."""
    yield from ((getattr(np, name), _made(name)) for name in MADE)
    for function in (array, asarray, ascontiguousarray, asfortranarray, require):
        own = getattr(np, function.__name__)
        yield own, functools.wraps(own)(function)
    yield np.nditer, functools.wraps(np.nditer)(_iterated)
    yield np.asanyarray, functools.wraps(np.asanyarray)(asarray)
    yield np.fft.fftfreq, _frequencies(np.fft.fftfreq)
    yield np.fft.rfftfreq, _frequencies(np.fft.rfftfreq)
    yield as_strided, functools.wraps(as_strided)(_strided)
