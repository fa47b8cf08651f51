"""Arrays as text, in files and from buffers. Serves: face.dtype

All of these run on the host: they need concrete arrays and give such.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.dtypes import as_dtype  # narrowed once it has been read
from traceir.lax.checks.operands import DTypeLike, Operand
from traceir.numpy.arrays.creation import array, asarray
from traceir.tracing.trace import Tracer


def array_str(
    a: Operand,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """The text of an array's elements.

    >>> import traceir.numpy as jnp
    >>> array_str(jnp.array([0.123456, 1.0]), precision=2)
    '[0.12 1.  ]'
    """
    return np.array_str(np.asarray(a), max_line_width, precision, suppress_small)


def get_printoptions() -> dict[str, Any]:
    """NumPy's settings for how arrays are shown.

    >>> get_printoptions()["linewidth"]
    75
    """
    return dict(np.get_printoptions())


def set_printoptions(**options: Any) -> None:
    """Change how arrays are shown, NumPy's too: `numpy.set_printoptions`.

    >>> set_printoptions(linewidth=75)
    """
    np.set_printoptions(**options)


def printoptions(**options: Any) -> AbstractContextManager[Any]:
    """A context in which arrays are shown so: `numpy.printoptions`.

    >>> import traceir.numpy as jnp
    >>> with printoptions(precision=2):
    ...     print(jnp.array([0.123456]))
    [0.12]
    """
    return np.printoptions(**options)


def iterable(y: Any) -> bool:
    """True if a value has elements to go through.

    >>> import traceir.numpy as jnp
    >>> iterable(jnp.ones(2)), iterable(jnp.float32(2))
    (True, False)
    """
    return bool(np.iterable(y))


def save(file: Any, arr: Operand, allow_pickle: bool = True) -> None:
    """Write an array to a file, which `load` reads: `numpy.save`.

    >>> import io
    >>> import traceir.numpy as jnp
    >>> save(io.BytesIO(), jnp.ones(2))
    """
    np.save(file, np.asarray(arr), allow_pickle)


def savez(
    file: Any, *args: Operand, allow_pickle: bool = True, **kwds: Operand
) -> None:
    """Write several arrays to a file, by their names or as `arr_0`, `arr_1` ...

    >>> import io
    >>> import traceir.numpy as jnp
    >>> savez(io.BytesIO(), x=jnp.ones(2), y=jnp.zeros(3))
    """
    arrays = [np.asarray(arg) for arg in args]
    named: dict[str, Any] = {name: np.asarray(arg) for name, arg in kwds.items()}
    np.savez(file, *arrays, allow_pickle=allow_pickle, **named)


def array_repr(
    arr: Operand,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """The text of an array, with its type.

    >>> import traceir.numpy as jnp
    >>> array_repr(jnp.array([0.123456, 1.0]), precision=2)
    'Array([0.12, 1.  ], dtype=float32)'
    """
    return np.array_repr(arr, max_line_width, precision, suppress_small)


def copy(a: Operand, order: str | None = None) -> Array:
    """An array with memory of its own; elements are in row-major order, as always.

    Raises ValueError (face.choice) for another order.

    >>> import traceir.numpy as jnp
    >>> copy(jnp.array([1, 2]))
    Array([1, 2], dtype=int32)
    """
    if order not in (None, "K", "A", "C"):
        raise rules.error(
            "face.choice", got=f"order={order!r}", hint='leave it out, or "C"'
        )
    return array(a, copy=True)


def isscalar(element: Any) -> bool:
    """True if a value is a number, or an array without dimensions.

    >>> import traceir.numpy as jnp
    >>> isscalar(2), isscalar(jnp.float32(2)), isscalar(jnp.ones(1))
    (True, True, False)
    """
    if isinstance(element, (Array, Tracer, np.ndarray)):
        return element.ndim == 0
    return bool(np.isscalar(element))


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """The array that `save` has written; arguments are those of `numpy.load`.

    A file of `savez` gives NumPy's mapping of names to arrays.

    >>> import io
    >>> import traceir.numpy as jnp
    >>> file = io.BytesIO()
    >>> jnp.save(file, jnp.array([1, 2]))
    >>> _ = file.seek(0)
    >>> load(file)
    Array([1, 2], dtype=int32)
    """
    found = np.load(file, *args, **kwargs)
    return asarray(found) if isinstance(found, np.ndarray) else found


def fromfile(
    file: Any, dtype: DTypeLike = float, count: int = -1, sep: str = "", offset: int = 0
) -> Array:
    """The numbers of a file, binary or, with `sep`, as text: `numpy.fromfile`.

    >>> import tempfile
    >>> with tempfile.TemporaryFile() as file:
    ...     _ = file.write(bytes([1, 2])), file.seek(0)
    ...     fromfile(file, "uint8")
    Array([1, 2], dtype=uint8)
    """
    return asarray(np.fromfile(file, as_dtype(dtype), count, sep, offset))


def fromiter(iter: Iterable[Any], dtype: DTypeLike, count: int = -1) -> Array:
    """The numbers that an iterator gives.

    >>> fromiter((k * k for k in range(3)), "int32")
    Array([0, 1, 4], dtype=int32)
    """
    return asarray(np.fromiter(iter, as_dtype(dtype), count))


def fromstring(
    string: str, dtype: DTypeLike = float, count: int = -1, *, sep: str
) -> Array:
    """The numbers of a text, with this between them.

    >>> fromstring("1 2", "int32", sep=" ")
    Array([1, 2], dtype=int32)
    """
    return asarray(np.fromstring(string, as_dtype(dtype), count, sep=sep))


def frombuffer(
    buffer: Any, dtype: DTypeLike = float, count: int = -1, offset: int = 0
) -> Array:
    """The numbers that the bytes of an object are.

    >>> frombuffer(bytes([1, 0, 2, 0]), "int16")
    Array([1, 2], dtype=int16)
    """
    return asarray(np.frombuffer(buffer, as_dtype(dtype), count, offset))
