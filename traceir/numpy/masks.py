"""Updates through masks whose elements are not known. Serves: index.mask-shape,
update.mask"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traceir import lax, rules
from traceir.array import Array
from traceir.lax.operands import convert, is_tracer, shape_of
from traceir.numpy.creation import broadcast_to
from traceir.trace import typeof

Combine = Callable[[Any, Any], Any]


def traced_mask(index: Any) -> Any:
    """The mask that an index is, if its elements are not known, or None.

    >>> traced_mask(slice(3))
    """
    return index if is_tracer(index) and index.dtype == bool else None


def masked(x: Array, mask: Array, combine: Combine, new: Any) -> Array:
    """What `combine` makes of elements and an update where the mask says so.

    Raises IndexError (index.mask-shape), ValueError (update.mask).

    >>> import traceir.numpy as jnp
    >>> masked(jnp.arange(2), jnp.array([False, True]), jnp.add, 5)
    Array([0, 6], dtype=int32)
    """
    if mask.shape != x.shape[: mask.ndim]:
        raise rules.error("index.mask-shape", got=f"{mask.shape} on {x.shape}")
    if shape_of(new):
        raise rules.error("update.mask", got=typeof(new).str_short())
    which = lax.broadcast_in_dim(mask, x.shape, range(mask.ndim))
    changed = convert(combine(x, new), x.dtype, x.weak_type)
    return lax.select_n(which, x, broadcast_to(changed, x.shape))
