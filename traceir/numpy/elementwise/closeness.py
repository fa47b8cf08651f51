"""Nearly equal arrays, and parts of complex numbers. Serves: promote.*"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.dtypes import is_inexact, is_key, part_dtype
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    aligned,
    as_array,
    convert,
    default_dtype,
    like,
    operand,
    promoted_inexact,
    shape_of,
    typed,
)
from traceir.numpy.arrays.creation import asarray
from traceir.numpy.elementwise.logic import equal, isfinite, isnan
from traceir.numpy.elementwise.rounding import degrees
from traceir.tracing.trace import typeof


@composite(static_argnames=["equal_nan"])
def isclose(
    a: Operand,
    b: Operand,
    rtol: Operand = 1e-05,
    atol: Operand = 1e-08,
    equal_nan: bool = False,
) -> Array:
    """True where two elements differ by at most `atol + rtol * |b|`.

    An infinity is close to itself alone, NaN to NaN with `equal_nan` alone. Integers
    are compared as floats, and keys are close if they are equal. Raises TypeError
    (face.argument, face.broadcast).

    >>> import traceir.numpy as jnp
    >>> isclose(jnp.array([1.0, 1.0]), jnp.array([1.000001, 1.1]))
    Array([ True, False], dtype=bool)
    """
    if is_key(typeof(operand("isclose", a)).dtype):
        return equal(a, b)
    x, y = aligned("isclose", promoted_inexact("isclose", a, b))
    dtype = typeof(x).dtype
    relative, absolute = (
        convert(operand("isclose", bound, 2 + k), part_dtype(dtype))
        for k, bound in enumerate((rtol, atol))
    )
    neither = lax.bitwise_and(*aligned("isclose", [isnan(x), isnan(y)]))
    finite = isfinite(y)
    distance = lax.abs(lax.sub(x, y))
    allowed = lax.mul(*aligned("isclose", [relative, lax.abs(y)]))
    allowed = lax.add(*aligned("isclose", [absolute, allowed]))
    near = lax.le(*aligned("isclose", [distance, allowed]))
    same = lax.eq(x, y)
    near = lax.bitwise_and(*aligned("isclose", [finite, near]))
    found = lax.bitwise_or(same, near)
    return lax.bitwise_or(found, neither) if equal_nan else found


@composite(static_argnames=["equal_nan"])
def allclose(
    a: Operand,
    b: Operand,
    rtol: Operand = 1e-05,
    atol: Operand = 1e-08,
    equal_nan: bool = False,
) -> Array:
    """True if all elements are close, as `isclose` has it: a boolean scalar.

    >>> import traceir.numpy as jnp
    >>> allclose(jnp.ones(3), 1.000001)
    Array(True, dtype=bool)
    """
    near = isclose(a, b, rtol, atol, equal_nan)
    return lax.reduce_and(near, range(near.ndim))


def array_equiv(a1: Operand, a2: Operand) -> Array:
    """True if two arrays broadcast together and are equal then: a boolean scalar.

    >>> import traceir.numpy as jnp
    >>> array_equiv(jnp.ones((2, 3)), 1), array_equiv(jnp.ones(2), jnp.ones(3))
    (Array(True, dtype=bool), Array(False, dtype=bool))
    """
    x, y = asarray(a1), asarray(a2)
    try:
        np.broadcast_shapes(shape_of(x), shape_of(y))
    except ValueError:
        return as_array(np.bool_(False))
    same = equal(x, y)
    return lax.reduce_and(same, range(same.ndim))


def _is_complex(value: Operand) -> bool:
    return typeof(value).dtype.kind == "c"


def real(val: Operand, /) -> Array:
    """The real part of each element, which of a real one is the element.

    >>> real(2.5)
    Array(2.5, dtype=float32, weak_type=True)
    """
    value = operand("real", val)
    return lax.real(value) if _is_complex(value) else as_array(value)


def imag(val: Operand, /) -> Array:
    """The imaginary part of each element, which of a real one is 0.

    >>> import traceir.numpy as jnp
    >>> imag(jnp.array([1 + 2j, 3]))
    Array([2., 0.], dtype=float32)
    """
    value = operand("imag", val)
    aval = typeof(value)
    if _is_complex(value):
        return lax.imag(value)
    return lax.broadcast_in_dim(typed(0, aval.dtype, aval.weak_type), aval.shape, ())


def conjugate(x: Operand, /) -> Array:
    """The conjugate of each element, which of a real one is the element.

    >>> import traceir.numpy as jnp
    >>> conjugate(jnp.array([1 + 2j, 3]))
    Array([1.-2.j, 3.-0.j], dtype=complex64)
    """
    value = operand("conjugate", x)
    return lax.conj(value) if _is_complex(value) else as_array(value)


conj = conjugate


@composite(static_argnames=["deg"])
def angle(z: Operand, deg: bool = False) -> Array:
    """The angle of each element in the complex plane, of a real one 0 or pi; floating.

    In radians, with `deg` in degrees; NaN stays.

    >>> import traceir.numpy as jnp
    >>> angle(jnp.array([1.0, -1.0]), deg=True)
    Array([  0., 180.], dtype=float32)
    """
    value = operand("angle", z)
    aval = typeof(value)
    if not is_inexact(aval.dtype) or not aval.shape:
        weak = aval.weak_type and aval.dtype.kind == "c"
        value = convert(value, _wide(aval.dtype), weak)
    across = real(value)
    found = lax.atan2(imag(value), across)
    return degrees(found) if deg else found


def _wide(dtype: np.dtype) -> np.dtype:
    """The floating dtype of Python's numbers, or the complex one."""
    return default_dtype(complex if dtype.kind == "c" else float)


@composite
def isreal(x: Operand) -> Array:
    """True where the imaginary part of an element is 0.

    >>> import traceir.numpy as jnp
    >>> isreal(jnp.ones(2))
    Array([ True,  True], dtype=bool)
    """
    return lax.eq(*_imaginary(x))


@composite
def iscomplex(x: Operand) -> Array:
    """True where the imaginary part of an element is not 0.

    >>> import traceir.numpy as jnp
    >>> iscomplex(jnp.ones(2))
    Array([False, False], dtype=bool)
    """
    return lax.ne(*_imaginary(x))


def _imaginary(x: Operand) -> tuple[Array, Operand]:
    """The imaginary part, and the zero that it is compared with."""
    part = imag(x)
    return part, like(0, part)


def iscomplexobj(x: Any) -> bool:
    """True if a value has a complex dtype.

    >>> iscomplexobj(2.5), iscomplexobj(1j)
    (False, True)
    """
    return _is_complex(x) if isinstance(x, Array) else bool(np.iscomplexobj(x))


def isrealobj(x: Any) -> bool:
    """True if a value has a dtype that is not complex.

    >>> isrealobj(2.5)
    True
    """
    return not iscomplexobj(x)
