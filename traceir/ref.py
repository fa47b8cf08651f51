"""References as functions: `jax.ref`. Serves: ref.*

>>> import traceir
>>> ref = traceir.new_ref(traceir.numpy.arange(5))
>>> traceir.ref.swap(ref, 3, 10)
Array(3, dtype=int32)
>>> ref
Ref([ 0,  1,  2, 10,  4], dtype=int32)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.ir.avals import ShapedArray
from traceir.references.cells import DELETED, AbstractRef, read
from traceir.references.places import as_value
from traceir.references.reference import Ref, made_ref, put

__all__ = [
    "AbstractRef",
    "Ref",
    "addupdate",
    "empty_ref",
    "free_ref",
    "freeze",
    "get",
    "new_ref",
    "set",
    "swap",
]


def new_ref(init_val: Any, *, memory_space: Any = None, kind: str | None = None) -> Ref:
    """A reference to an array, which `ref[...]` reads and `ref[...] = x` writes.

    `init_val` is an array or a number; shape and dtype of the reference are its own.
    `memory_space` and `kind` are kept in its type, and change nothing.

    Raises TypeError (jit.argument) for what is no array.

    >>> import traceir
    >>> counter = traceir.new_ref(0)
    >>> @traceir.jit
    ... def count():
    ...     counter[...] += 1
    >>> count(), count()
    (None, None)
    >>> counter
    Ref(2, dtype=int32, weak_type=True)
    """
    value = as_value(init_val)
    return made_ref(value, AbstractRef(value.aval, memory_space, kind))


def empty_ref(ty: Any, memory_space: Any = None) -> Ref:
    """A reference to an array of a shape and a dtype, whose elements are zeros.

    >>> import traceir
    >>> empty_ref(traceir.ShapeDtypeStruct((2,), "float32"))
    Ref([0., 0.], dtype=float32)
    """
    aval = ShapedArray(tuple(ty.shape), np.dtype(ty.dtype))
    return new_ref(np.zeros(aval.shape, aval.dtype), memory_space=memory_space)


def freeze(ref: Ref) -> Array:
    """The array of a reference that is not to be written any more.

    >>> import traceir
    >>> freeze(traceir.new_ref(3.0))
    Array(3., dtype=float32, weak_type=True)
    """
    value: Array = read(ref)
    return value


def free_ref(ref: Ref) -> None:
    """Give up the array of a reference, which can't be used any more (ref.open).

    >>> import traceir
    >>> free_ref(traceir.new_ref(3.0))
    """
    read(ref)
    ref._value = DELETED


def get(ref: Ref, idx: Any = None) -> Array:
    """The elements of a reference at an index, as `ref[idx]`; None means all.

    Raises ValueError (ref.index).

    >>> import traceir
    >>> get(traceir.new_ref(traceir.numpy.arange(5)), slice(1, 3))
    Array([1, 2], dtype=int32)
    """
    found: Array = ref[idx]
    return found


def set(ref: Ref, idx: Any, value: Any) -> None:
    """Write elements of a reference, as `ref[idx] = value`.

    Raises ValueError (ref.index, ref.value), TypeError (ref.differentiated,
    ref.batched).

    >>> import traceir
    >>> ref = traceir.new_ref(traceir.numpy.zeros(3))
    >>> set(ref, 1, 10.0)
    >>> ref
    Ref([ 0., 10.,  0.], dtype=float32)
    """
    ref[idx] = value


def swap(ref: Ref, idx: Any, value: Any, _function_name: str = "ref_swap") -> Array:
    """Write elements of a reference; the result is those that were there.

    Raises ValueError (ref.index, ref.value), TypeError (ref.differentiated,
    ref.batched).

    >>> import traceir
    >>> swap(traceir.new_ref(traceir.numpy.arange(5)), 3, 10)
    Array(3, dtype=int32)
    """
    before: Array = ref[idx]
    ref[idx] = value
    return before


def addupdate(ref: Ref, idx: Any, x: Any) -> None:
    """Add to elements of a reference; to one that an index names twice, twice.

    Raises ValueError (ref.index, ref.value), TypeError (ref.differentiated,
    ref.batched).

    >>> import traceir, traceir.numpy as jnp
    >>> ref = traceir.new_ref(jnp.zeros(3))
    >>> addupdate(ref, jnp.array([0, 0]), jnp.ones(2))
    >>> ref
    Ref([2., 0., 0.], dtype=float32)
    """
    put(ref, idx, x, "add")


_publish(globals())
