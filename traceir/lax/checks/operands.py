"""Operands checked, typed, converted and broadcast.

Serves: face.argument, face.dtype, face.broadcast, face.no-out, promote.*
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, TypeAlias, TypeVar, overload

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.base import config
from traceir.dtypes import (
    as_dtype,
    finfo,
    iinfo,
    is_added,
    is_inexact,
    is_key,
    kind_of,
    part_dtype,
)
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Literal
from traceir.ir.promotion import canonical_dtype, check_unmasked, promote
from traceir.lax.checks.warnings import (
    loses_part,
    refuse_part,
    warn,
    warn_of_part,
    warn_of_ranks,
)
from traceir.reference.kernels import KERNELS
from traceir.tracing.staging import StagedTracer
from traceir.tracing.trace import Tracer, bind, bind_one, current_trace, typeof

# What functions take: an array, a tracer, a NumPy array or scalar, a Python number.
Operand: TypeAlias = Any
DTypeLike: TypeAlias = Any
Number = TypeVar("Number", int, float)

BOOL = np.dtype(bool)
_SCALARS = (bool, int, float, complex, np.generic)


def default_dtype(kind: type) -> np.dtype:
    """The dtype that Python's `int`, `float`, `complex` or `bool` stands for.

    >>> default_dtype(float)
    dtype('float32')
    """
    return canonical_dtype(np.dtype(kind), config.local.context.x64)


def dtype_of(dtype: DTypeLike, asker: str = "") -> np.dtype:
    """The dtype that a request stands for: `float32` for `float` and for `"float64"`.

    Asking for a 64-bit dtype by name while they are off warns (UserWarning). Raises
    TypeError (face.dtype) for what is no dtype of an array.

    >>> dtype_of("uint8"), dtype_of(float)
    (dtype('uint8'), dtype('float32'))
    """
    if dtype is bool or dtype is int or dtype is float or dtype is complex:
        return default_dtype(dtype)
    try:
        asked = as_dtype(dtype)
    except TypeError:
        raise rules.error("face.dtype", got=f"{dtype!r} for {asker}") from None
    if kind_of(asked) not in "biufc" or part_dtype(asked).itemsize > 8:
        raise rules.error("face.dtype", got=f"{asked.name} for {asker}")
    found = canonical_dtype(asked, config.local.context.x64)
    if found != asked:
        _warn_truncation(asked, found, asker)
    return found


def _warn_truncation(asked: np.dtype, found: np.dtype, asker: str) -> None:
    warn(
        f"Explicitly requested dtype {asked.name} requested in {asker} is not "
        f"available, and will be truncated to dtype {found.name}. To enable more "
        "dtypes, use traceir.enable_x64(True) or TRACEIR_ENABLE_X64=1."
    )


def inexact(dtype: np.dtype) -> np.dtype:
    """The floating or complex dtype in which functions take this dtype's numbers.

    Raises TypeError (promote.key) for that of keys.

    >>> inexact(np.dtype("int32")), inexact(np.dtype("float16"))
    (dtype('float32'), dtype('float16'))
    """
    if is_inexact(dtype):
        return dtype
    if is_key(dtype):
        raise rules.error("promote.key", got=dtype.name)
    return np.dtype(
        "float64" if kind_of(dtype) != "b" and dtype.itemsize == 8 else "f4"
    )


def complex_dtype(dtype: np.dtype) -> np.dtype:
    """The complex dtype in which functions take this dtype's numbers.

    >>> complex_dtype(np.dtype("int32")), complex_dtype(np.dtype("float64"))
    (dtype('complex64'), dtype('complex128'))
    """
    wide = part_dtype(inexact(dtype)).itemsize == 8
    return np.dtype("complex128" if wide else "complex64")


def is_scalar(value: object) -> bool:
    """True if a value is a Python or NumPy number."""
    return isinstance(value, _SCALARS)


def operand(name: str, value: Operand, position: int = 0) -> Operand:
    """A checked operand: an Array, a tracer, a NumPy array of rank 1 or more, a number;
    an object with `__jax_array__` is what that gives.

    Raises TypeError (face.argument) for a list, a string or another object and
    ValueError (jit.masked).
    """
    kind = type(value)
    if kind is Array or kind is StagedTracer or kind is float or kind is bool:
        return value
    if isinstance(value, int):
        return fitting(int(value))
    if isinstance(value, Tracer):
        return value.now()
    if isinstance(value, (np.ndarray, np.generic)) and kind_of(value.dtype) in "biufc":
        check_unmasked(value)
        if value.ndim:
            return value
        dtype = canonical_dtype(value.dtype, config.local.context.x64)
        return value.astype(dtype)[()]
    if isinstance(value, float | complex):
        return float(value) if isinstance(value, float) else complex(value)
    if isinstance(value, Array):  # a deleted one: whoever reads it raises
        return value
    if hasattr(kind, "__jax_array__"):
        return operand(name, value.__jax_array__(), position)
    got = f"{kind.__name__} at position {position} of {name}"
    raise rules.error("face.argument", got=got)


def fitting(value: Number, dtype: np.dtype | None = None) -> Number:
    """A Python number that fits an integer dtype, by default that of integers.

    The fraction of a float does not count. Raises OverflowError, which for NaN is meant
    as a ValueError (jit.overflow).
    """
    wanted = default_dtype(int) if dtype is None else dtype
    if kind_of(wanted) not in "iu":
        return value
    limits = iinfo(wanted)
    if not limits.min - 1 < value < limits.max + 1:
        raise rules.error("jit.overflow", got=f"{value} for {wanted.name}")
    return value


def given(name: str, value: Operand, dtype: np.dtype, position: int = 0) -> Operand:
    """A checked operand in a dtype that was asked for: a Python int must fit that one.

    >>> given("array", 200, np.dtype("uint8"))
    np.uint8(200)
    """
    if type(value) is int:
        return typed(fitting(value, dtype), dtype, False)
    if isinstance(value, np.integer):
        return typed(value, dtype, False)  # not narrowed first
    return convert(operand(name, value, position), dtype)


def is_tracer(value: Any) -> bool:
    """True if a value is traced; `isinstance(tracer, Array)` holds, too."""
    return isinstance(value, Tracer)


def constant(value: np.ndarray) -> Array:
    """A NumPy array as an Array or a tracer, its dtype narrowed if need be."""
    trace = current_trace()
    if trace is None:
        dtype = canonical_dtype(value.dtype, config.local.context.x64)
        return own(np.array(value, dtype, order="C"))
    return trace.array(value, typeof(value))  # type: ignore[no-any-return]


def own(value: np.ndarray, weak: bool = False) -> Array:
    """The Array of a fresh contiguous NumPy array, without a copy."""
    return Array._wrap(value, ShapedArray(value.shape, value.dtype, weak))


def number_of(value: Operand) -> Any:
    """The number that an operand is known to be, even in a trace, or None."""
    if isinstance(value, StagedTracer):
        return value._var.value if type(value._var) is Literal else None
    return value if isinstance(value, _SCALARS) else None


def as_array(value: Operand) -> Array:
    """A checked operand as an Array or a tracer, in a trace a number as a literal."""
    if isinstance(value, np.ndarray):
        return constant(value)
    if not isinstance(value, _SCALARS):
        return value  # type: ignore[no-any-return]
    aval = typeof(value)
    trace = current_trace()
    if trace is None:
        return Array._wrap(np.array(value, aval.dtype), aval)
    return trace.array(value, aval)  # type: ignore[no-any-return]


def typed(value: Any, dtype: np.dtype, weak: bool) -> Operand:
    """A number as a scalar of a dtype; integers wrap, floats saturate as everywhere.

    >>> typed(300, np.dtype("uint8"), False)
    np.uint8(44)
    """
    low, high, kinds = _plain(dtype)
    # Here the dtype's own constructor is right, without a warning; NaN goes on.
    if not weak and type(value) in kinds and low <= value <= high:
        return dtype.type(value)
    refuse_part((value,), dtype)
    if weak and type(value) is float and typeof(value).dtype == dtype:
        return value  # with all its digits, as one that the user wrote
    with np.errstate(all="ignore"):
        found = KERNELS["convert_element_type"](np.asarray(value), new_dtype=dtype)
    if not weak:
        return np.asarray(found)[()]
    number = found.item()
    if typeof(number).dtype == dtype:
        return number
    return converted(number, dtype, True)


@cache
def _plain(dtype: np.dtype) -> tuple[float, float, tuple[type, ...]]:
    """Least, greatest and types of the Python numbers that need no care."""
    if is_key(dtype):
        raise rules.error("promote.key", got=f"a number and {dtype.name}")
    if is_added(dtype) and kind_of(dtype) == "f":
        end = 2 ** (finfo(dtype).nmant + 1)
        end = min(end, int(finfo(dtype).max))
        return -end, end, (int, bool)  # its constructor rounds a float twice
    if kind_of(dtype) == "f":
        end = float(finfo(dtype).max) / 2
        return -end, end, (float, int, bool)
    if kind_of(dtype) == "b":
        return 0, 1, (bool,)
    if kind_of(dtype) == "c":
        return 0, 0, ()
    limits = iinfo(dtype)
    return int(limits.min), int(limits.max), (int, bool)


def like(number: Any, x: Operand) -> Operand:
    """A number as a scalar of the dtype of `x`, weak where `x` is a weak scalar.

    >>> like(2, np.float32(0.5)), like(2, 0.5)
    (np.float32(2.0), 2.0)
    """
    aval = typeof(x)
    return typed(number, aval.dtype, aval.weak_type and not aval.shape)


@overload
def convert(value: Array, dtype: np.dtype, weak: bool = False) -> Array: ...
@overload
def convert(value: Operand, dtype: np.dtype, weak: bool = False) -> Operand: ...
def convert(value: Operand, dtype: np.dtype, weak: bool = False) -> Operand:
    """A checked operand with this dtype and weakness; no equation for a number."""
    aval = typeof(value)
    if aval.dtype == dtype and aval.weak_type == weak:
        return value
    if not isinstance(value, _SCALARS):
        warn_of_part(aval.dtype, dtype)
        number = number_of(value)
        if number is None:
            return converted(value, dtype, weak)
        if loses_part(aval.dtype, dtype):
            number = number.real
        return as_array(typed(number, dtype, weak))
    if isinstance(value, np.generic):
        warn_of_part(aval.dtype, dtype)
    return typed(value, dtype, weak)


def converted(value: Operand, dtype: np.dtype, weak: bool) -> Array:
    """As `convert`, always an equation, and without a warning of losses."""
    return bind_one("convert_element_type", value, new_dtype=dtype, weak_type=weak)


def joined(values: Iterable[Operand], face: str = "jax") -> tuple[np.dtype, bool]:
    """The dtype and weakness in which operands meet."""
    return promote(*map(typeof, values), face=face)


def operands(name: str, values: Sequence[Operand]) -> list[Operand]:
    """All operands of a function, checked."""
    return [operand(name, v, k) for k, v in enumerate(values)]


def promoted(name: str, *values: Operand, face: str = "jax") -> list[Operand]:
    """Operands converted to the dtype in which they meet."""
    checked = operands(name, values)
    dtype, weak = joined(checked, face)
    return [convert(v, dtype, weak) for v in checked]


def promoted_inexact(name: str, *values: Operand) -> list[Operand]:
    """As `promoted`, and then to a floating dtype; of booleans never a weak one."""
    checked = operands(name, values)
    dtype, weak = joined(checked)
    floating, weak = inexact(dtype), weak and dtype != BOOL
    return [convert(v, floating, weak) for v in checked]


def promoted_numeric(name: str, *values: Operand) -> list[Operand]:
    """As `promoted`; booleans count as 0 and 1, in int32 whichever types are on.

    >>> promoted_numeric("power", True, False)
    [np.int32(1), np.int32(0)]
    """
    found = promoted(name, *values)
    if typeof(found[0]).dtype == BOOL:
        return [convert(v, np.dtype(np.int32)) for v in found]
    return found


def no_out(name: str, out: object) -> None:
    """Raise NotImplementedError (face.no-out) if there is an array to store in.

    >>> no_out("sum", None)
    """
    if out is not None:
        raise rules.error("face.no-out", got=f"out= of {name}")


def refuse_key(*values: Operand) -> None:
    """Raise TypeError (promote.key) for an array of keys."""
    for value in values:
        if is_key(typeof(value).dtype):
            raise rules.error("promote.key", got=typeof(value).str_short())


def refuse_complex(name: str, *values: Operand) -> None:
    """Raise TypeError (face.complex) for a complex operand."""
    for value in operands(name, values):
        if typeof(value).dtype.kind == "c":
            raise rules.error("face.complex", got=f"{name} of {typeof(value)}")


def shape_of(value: Operand) -> tuple[int, ...]:
    """The shape of a checked operand."""
    if isinstance(value, _SCALARS):
        return ()
    shape: tuple[int, ...] = value.shape
    return shape


def broadcast_shapes(name: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape to which all shapes stretch; ValueError (face.broadcast) if none is."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(map(str, shapes))
        raise rules.error("face.broadcast", got=f"{name} of {listed}") from None


def aligned(name: str, values: Sequence[Operand]) -> list[Operand]:
    """Operands with ranks made equal, numbers and 0-d ones excepted.

    Raises TypeError (face.broadcast) unless the shapes broadcast, ValueError
    (face.rank) where the context wants ranks to be equal.
    """
    shapes = [shape_of(v) for v in values]
    if all(s == shapes[0] or not s for s in shapes):
        return list(values)
    rank = len(broadcast_shapes(name, shapes))
    warn_of_ranks(name, [s for s in shapes if s])
    return [with_rank(v, s, rank) for v, s in zip(values, shapes, strict=True)]


def with_rank(value: Operand, shape: tuple[int, ...], rank: int) -> Operand:
    """The operand with leading dimensions of extent 1; a scalar stays a scalar."""
    missing = rank - len(shape)
    if not shape or not missing:
        return value
    return bind(
        "broadcast_in_dim",
        value,
        shape=(1,) * missing + shape,
        broadcast_dimensions=tuple(range(missing, rank)),
    )
