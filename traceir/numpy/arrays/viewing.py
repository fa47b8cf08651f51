"""Elements seen as the bits of another dtype. Serves: face.choice"""

from __future__ import annotations

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import bits_of, part_dtype
from traceir.lax.checks.operands import BOOL, DTypeLike, dtype_of

BYTE = np.dtype("uint8")


def view(x: Array, dtype: DTypeLike = None) -> Array:
    """The bits of elements as elements of another dtype, along the last dimension.

    Shape (..., n) to (..., m) with as many bytes. Raises ValueError (face.choice) where
    they make no whole elements, TypeError (face.dtype).

    >>> import traceir.numpy as jnp
    >>> view(jnp.array([1.0, 2.0]), "int32"), view(jnp.zeros(8, "int8"), "int32").shape
    (Array([1065353216, 1073741824], dtype=int32), (2,))
    """
    if dtype is None:
        return x
    wanted, own = dtype_of(dtype, "view"), x.dtype
    if wanted == own:
        return x
    if wanted == BOOL:
        return lax.convert_element_type(view(x, BYTE), wanted)
    if own == BOOL:
        return view(lax.convert_element_type(x, BYTE), wanted)
    have, bits = bits_of(own), bits_of(wanted)
    alike = bits == have
    if not alike and (not x.ndim or x.shape[-1] * have % bits):
        raise rules.error("face.choice", got=f"{x.aval.str_short()} as {wanted.name}")
    line = x if x.ndim else lax.reshape(x, (1,))
    *stack, last = line.shape
    count = last * have // bits
    found = lax.convert_element_type(_joined(_parted(line), wanted), wanted)
    return lax.reshape(found, (*stack, count) if x.ndim else ())


def _parted(x: Array) -> Array:
    """Complex numbers as their parts, along the last dimension."""
    if x.dtype.kind != "c":
        return x
    *stack, last = x.shape
    pairs = lax.stack([lax.real(x), lax.imag(x)], x.ndim)
    return lax.reshape(pairs, (*stack, 2 * last))


def _joined(x: Array, dtype: np.dtype) -> Array:
    """Real numbers as those of another dtype."""
    *stack, last = x.shape
    if dtype.kind == "c":
        parts = _joined(x, part_dtype(dtype))
        pairs = lax.reshape(parts, (*stack, parts.shape[-1] // 2, 2))
        return lax.complex(pairs[..., 0], pairs[..., 1])
    if dtype == x.dtype:
        return x  # the parts themselves: unlike their bits, they have a derivative
    of_one = bits_of(dtype) // bits_of(x.dtype)
    if of_one > 1:
        x = lax.reshape(x, (*stack, last // of_one, of_one))
    found = lax.bitcast_convert_type(x, dtype)
    return lax.reshape(found, (*stack, last * bits_of(x.dtype) // bits_of(dtype)))
