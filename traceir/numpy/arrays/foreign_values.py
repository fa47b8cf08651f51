"""Values that are no arrays, numbers or lists, read as such. Serves: face.argument"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.dtypes import float0, is_float0, part_dtype
from traceir.errors import shown

TEXT = (str, bytes, np.str_, np.bytes_)


def has_jax_array(value: Any) -> bool:
    """True if an object says itself which array it is.

    >>> has_jax_array(np.ones(2))
    False
    """
    return hasattr(type(value), "__jax_array__")


def read(value: Any, dtype: np.dtype | None) -> Any:
    """An array, a number or a list for a value of another kind; others as they are.

    What has `__jax_array__` is what that gives, a range is the list of its numbers, and
    memory is the array of what is in it. Text, and objects of Python's, are numbers if
    a dtype is asked for.

    >>> read(range(3), None), read("1.5", np.dtype("float32"))
    ([0, 1, 2], array(1.5, dtype=float32))
    """
    if has_jax_array(value):
        return read(value.__jax_array__(), dtype)
    if isinstance(value, range):
        return list(value)
    if isinstance(value, TEXT):
        return value if dtype is None else from_text(value, dtype)
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind not in "OSUfc" else _checked(value, dtype)
    return value if hasattr(value, "__array__") else _memory(value)


def _checked(value: np.ndarray, dtype: np.dtype | None) -> np.ndarray:
    """A NumPy array, of numbers if it has text or objects and a dtype is asked for.

    Raises TypeError (jit.dtype) for numbers that are wider than any dtype here.
    """
    if value.dtype.kind not in "fc":
        return value if dtype is None else from_text(value, dtype)
    if dtype is None and part_dtype(value.dtype).itemsize > np.dtype(float).itemsize:
        raise rules.error("jit.dtype", got=value.dtype.name)
    return value


def _memory(value: Any) -> Any:
    try:
        return np.asarray(memoryview(value))
    except TypeError:
        return value


def from_text(value: Any, dtype: np.dtype) -> np.ndarray:
    """Text, objects, or lists of them, as numbers; raises (face.argument).

    >>> from_text(["1", "2"], np.dtype("int32"))
    array([1, 2], dtype=int32)
    """
    try:
        return np.array(value, dtype)
    except (TypeError, ValueError) as error:
        got = f"{shown(value)}: {error}"
        raise rules.error("face.argument", got=got) from None


def is_foreign(kinds: Iterable[type]) -> bool:
    """True if there are values of a kind that `with_read` reads among some of these.

    >>> is_foreign({int, float}), is_foreign({int, str})
    (False, True)
    """
    return any(
        kind is type(None) or issubclass(kind, TEXT) or hasattr(kind, "__jax_array__")
        for kind in kinds
    )


def with_read(value: Any, dtype: np.dtype | None) -> Any:
    """Nested lists in which values of other kinds are read; raises (face.argument).

    >>> with_read([1, ["2"]], np.dtype("int32"))
    [1, [array(2, dtype=int32)]]
    """
    if isinstance(value, (list, tuple)):
        return [with_read(part, dtype) for part in value]
    found = read(value, dtype)
    if found is None or isinstance(found, TEXT):
        raise rules.error("face.argument", got=f"{shown(value)} in a list")
    return found


def without_numbers(shape: tuple[int, ...]) -> Array:
    """The tangent of integers of a shape: of dtype `float0`, and NumPy's.

    >>> without_numbers((2,)).shape
    (2,)
    """
    return cast(Array, np.zeros(shape, float0))  # NumPy's, as all of these are


def is_tangent_dtype(dtype: Any) -> bool:
    """True for `float0`.

    >>> is_tangent_dtype(float0), is_tangent_dtype("float32"), is_tangent_dtype(float)
    (True, False, False)
    """
    return isinstance(dtype, np.dtype) and dtype.kind == "V" and dtype == float0


def is_tangent(value: Any, dtype: Any) -> bool:
    """True for an array of `float0`, or where this dtype is asked for.

    >>> is_tangent(1.5, None), is_tangent(np.zeros(2, float0), None)
    (False, True)
    """
    return is_tangent_dtype(dtype) or (dtype is None and is_float0(value))
