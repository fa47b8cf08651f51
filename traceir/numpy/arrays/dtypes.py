"""Dtypes as `traceir.numpy` names them, and constants. Serves: face.dtype, promote.*"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import dtypes as known
from traceir import rules
from traceir.arrays.array import Array
from traceir.arrays.devices import check_device
from traceir.base import config
from traceir.base.tracebacks import entry_points
from traceir.ir.avals import ShapedArray
from traceir.ir.promotion import canonical_dtype, promote
from traceir.ir.structs import ShapeDtypeStruct
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    as_array,
    convert,
    converted,
    dtype_of,
    joined,
    operand,
)
from traceir.lax.checks.warnings import loses_part, warn_of_part
from traceir.numpy.arrays.creation import asarray
from traceir.tracing.trace import Tracer, typeof

pi = np.pi
e = np.e
inf = np.inf
nan = np.nan
newaxis = None
floating = np.floating
integer = np.integer


@entry_points("__call__")
class ScalarType(type):
    """A dtype by its name, that makes arrays of that dtype when it is called.

    It is a class, as hints and `isinstance` need one: numbers of NumPy's are its
    instances, and arrays are not.

    >>> float32(1.5), float32 == np.float32, np.dtype(float32)
    (Array(1.5, dtype=float32), True, dtype('float32'))
    >>> isinstance(np.float32(1.5), float32), isinstance(float32(1.5), float32)
    (True, False)
    """

    # An earlier pickle sets the name afterwards.
    def __new__(mcs, name: str = "") -> ScalarType:
        return super().__new__(mcs, name, (), {"__module__": "traceir.numpy"})

    def __init__(cls, name: str = "") -> None:
        super().__init__(name, (), {})

    @property
    def dtype(cls) -> np.dtype:
        """The dtype of NumPy's; that of bfloat16 takes an import."""
        return known.as_dtype(cls.__name__)

    def __call__(cls, x: Operand = 0) -> Array:  # as in NumPy, nothing is zero
        return asarray(x, dtype=cls)

    def __eq__(cls, other: object) -> bool:
        # Dtypes compare themselves; any other object is no dtype, whatever its text.
        if type(other) is ScalarType:
            return cls.__name__ == other.__name__
        return other is cls.dtype.type or NotImplemented

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.dtype.type)

    def __repr__(cls) -> str:
        return f"traceir.numpy.{cls.__name__}"


bool_ = ScalarType("bool")
int8 = ScalarType("int8")
int16 = ScalarType("int16")
int32 = ScalarType("int32")
int64 = ScalarType("int64")
uint8 = ScalarType("uint8")
uint16 = ScalarType("uint16")
uint32 = ScalarType("uint32")
uint64 = ScalarType("uint64")
float16 = ScalarType("float16")
bfloat16 = ScalarType("bfloat16")
float32 = ScalarType("float32")
complex64 = ScalarType("complex64")
complex128 = ScalarType("complex128")
float64 = ScalarType("float64")
int2 = ScalarType("int2")
int4 = ScalarType("int4")
uint2 = ScalarType("uint2")
uint4 = ScalarType("uint4")
float8_e3m4 = ScalarType("float8_e3m4")
float8_e4m3 = ScalarType("float8_e4m3")
float8_e4m3b11fnuz = ScalarType("float8_e4m3b11fnuz")
float8_e4m3fn = ScalarType("float8_e4m3fn")
float8_e4m3fnuz = ScalarType("float8_e4m3fnuz")
float8_e5m2 = ScalarType("float8_e5m2")
float8_e5m2fnuz = ScalarType("float8_e5m2fnuz")
float8_e8m0fnu = ScalarType("float8_e8m0fnu")
float4_e2m1fn = ScalarType("float4_e2m1fn")


# The class itself: programs ask whether a value is an instance of it.
dtype = np.dtype


def result_type(*values: Operand | DTypeLike | ShapeDtypeStruct) -> np.dtype:
    """The dtype in which arrays, numbers and dtypes meet (promote.jax).

    Of an object that has a dtype, as a struct has, nothing else counts.

    The types `int`, `float` and `complex` are weak, as their numbers are.

    >>> result_type(1, 2.0), result_type(float32, "int32"), result_type("int8", int)
    (dtype('float32'), dtype('float32'), dtype('int8'))
    """
    return joined([_example(v) for v in values])[0]


def promote_types(a: DTypeLike, b: DTypeLike) -> np.dtype:
    """The dtype in which two dtypes meet (promote.jax); one of 64 bits stays one.

    The types `int`, `float` and `complex` are weak. Raises TypeError (face.dtype).

    >>> promote_types("int8", "uint8"), promote_types(float, "float16")
    (dtype('int16'), dtype('float16'))
    """
    types = _typed(a), _typed(b)
    # Without x64 no dtype of 64 bits is made of narrower ones.
    wide = any(canonical_dtype(t.dtype, False) != t.dtype for t in types)
    return promote(*types, x64=wide or None)[0]


def _typed(dtype: DTypeLike) -> ShapedArray:
    found = known.as_dtype(dtype)
    if not known.is_key(found) and known.kind_of(found) not in "biufc":
        raise rules.error("face.dtype", got=f"{found.name} for promote_types")
    # To NumPy, the type `int` equals the dtype int64.
    weak = any(dtype is kind for kind in (int, float, complex))
    return ShapedArray((), found, weak)


# What has a dtype and is more than that.
_ARRAYS = (Array, Tracer, np.ndarray, np.generic)


def _example(value: Any) -> Operand:
    if value is int or value is float or value is complex:
        return value(0)
    if isinstance(value, ScalarType):  # a name of this library's: nothing to warn of
        return canonical_dtype(value.dtype, config.local.context.x64).type(0)
    if isinstance(value, (type, str, np.dtype)):
        return dtype_of(value, "result_type").type(0)
    if isinstance(value, ShapeDtypeStruct):
        return Array._wrap(np.zeros((), value.dtype), value.aval.update(shape=()))
    dtype = getattr(value, "dtype", None)
    if isinstance(dtype, np.dtype) and not isinstance(value, _ARRAYS):
        return canonical_dtype(dtype, config.local.context.x64).type(0)
    return operand("result_type", value)


# The classes of NumPy's that dtypes of ml_dtypes count as being of.
_CLASSES = {"f": np.floating, "i": np.signedinteger, "u": np.unsignedinteger}


# Kinds of dtypes, which are none themselves.
ABSTRACT = {np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger}
ABSTRACT |= {np.inexact, np.floating, np.complexfloating, np.flexible, np.character}


def issubdtype(arg1: DTypeLike, arg2: DTypeLike) -> bool:
    """True if a dtype, or a kind of them, is another, or of a kind, such as `floating`.

    >>> issubdtype(float32, floating)
    True
    """
    kind = arg2.dtype if isinstance(arg2, ScalarType) else arg2
    if isinstance(arg1, type) and arg1 in ABSTRACT:
        return bool(np.issubdtype(arg1, kind))
    found = known.as_dtype(arg1)
    if known.is_added(found):
        if isinstance(kind, type) and issubclass(kind, np.generic | known.prng_key):
            return (
                issubclass(_CLASSES[known.kind_of(found)], kind) or kind is found.type
            )
        return bool(known.as_dtype(kind) == found)
    if known.is_key(found):
        ours = isinstance(kind, type) and issubclass(known.prng_key, kind)
        return ours or kind == found
    return bool(np.issubdtype(found, kind))


# The kinds of dtypes of the Array API standard, as NumPy's letters.
KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


def isdtype(dtype: DTypeLike, kind: DTypeLike | tuple[DTypeLike, ...]) -> bool:
    """True if a dtype is of a kind, such as "integral", or is another dtype.

    A tuple asks for any of several. Raises ValueError (dtype.kind) for a kind that
    there is not.

    >>> isdtype(float32, "real floating"), isdtype("int8", ("bool", "int8"))
    (True, True)
    """
    found = known.as_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(found, k) for k in kind)
    if isinstance(kind, str) and kind in KINDS and kind != "bool":
        return known.kind_of(found) in KINDS[kind]
    try:
        return found == known.as_dtype(kind)
    except TypeError:
        raise rules.error("dtype.kind", got=repr(kind)) from None


def can_cast(from_: DTypeLike | Array, to: DTypeLike, casting: Any = "safe") -> bool:
    """True if a dtype holds every number of another, or of an array's dtype.

    `casting` is one of NumPy's words for what else may be done, as "same_kind".

    >>> can_cast("int16", "float32"), can_cast(int32, "float32")
    (True, False)
    """
    source = from_.dtype if isinstance(from_, Array) else known.as_dtype(from_)
    return bool(np.can_cast(source, known.as_dtype(to), casting))


def finfo(dtype: DTypeLike | Array) -> Any:
    """The limits of a floating dtype, or of an array's: bits, eps, max, min, ...

    Raises ValueError for a dtype that is not floating.

    >>> finfo(float32).bits, float(finfo(bfloat16).eps)
    (32, 0.0078125)
    """
    return known.finfo(dtype.dtype if isinstance(dtype, Array) else dtype)


def iinfo(int_type: DTypeLike | Array) -> Any:
    """The limits of an integer dtype, or of an array's: bits, min and max.

    Raises ValueError for a dtype that is not one of integers.

    >>> iinfo(int8).max, iinfo("uint16").bits
    (127, 16)
    """
    return known.iinfo(int_type.dtype if isinstance(int_type, Array) else int_type)


def astype(
    x: Operand, dtype: DTypeLike, /, *, copy: bool = False, device: object = None
) -> Array:
    """Elements as another dtype; floats saturate at an integer dtype's ends.

    `copy` asks for memory of its own, which nothing but a deletion can tell. Raises
    TypeError (face.dtype), ValueError (array.device) for a device that there is not.
    Warns (DeprecationWarning) where imaginary parts are dropped.

    >>> astype(2.75, int)
    Array(2, dtype=int32)
    """
    check_device(device)
    if known.are_keys(x, dtype):
        return as_array(x)
    value, wanted = operand("astype", x), dtype_of(dtype, "astype")
    have = typeof(value).dtype
    if loses_part(have, wanted):
        warn_of_part(have, wanted, DeprecationWarning)
        return converted(value, wanted, False)
    found = as_array(convert(value, wanted))
    return found.copy() if copy and found is x else found
