"""Kernels that call the host.

Serves: debug_print.*, debug_callback.*, pure_callback.*, io_callback.*,
callback.result
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.base import config
from traceir.dtypes import kind_of
from traceir.ir.avals import ShapedArray
from traceir.ir.promotion import canonical_dtype
from traceir.reference.kernels.host_context import call
from traceir.reference.kernels.registry import kernel


def own(x: np.ndarray) -> Array:
    """A copy of an array that a program may write to again."""
    return Array._wrap(np.array(x), ShapedArray(x.shape, x.dtype))


@kernel("debug_print")
def debug_print(
    *xs: np.ndarray,
    fmt: str,
    in_tree: Any,
    np_printoptions: Sequence[tuple[str, Any]] = (),
    static_args: Sequence[tuple[int, Any]] = (),
    **_: Any,
) -> list[Any]:
    """Print the operands as `fmt` says, each as an array of its own."""
    fixed, rest = dict(static_args), iter(xs)
    leaves = [
        fixed[k] if k in fixed else own(next(rest)) for k in range(in_tree.num_leaves)
    ]
    args, kwargs = in_tree.unflatten(leaves)
    with np.printoptions(**dict(np_printoptions)):
        text = fmt.format(*args, **kwargs)
    call(builtins.print, text)
    return []


@kernel("debug_callback")
def debug_callback(
    *xs: np.ndarray, callback: Callable[..., Any], **_: Any
) -> list[Any]:
    """Call a function of the user's; its result is ignored."""
    call(callback, *xs)
    return []


@kernel("pure_callback", "io_callback")
def answered(
    *xs: np.ndarray,
    callback: Callable[..., Any],
    result_avals: Sequence[ShapedArray],
    **_: Any,
) -> list[np.ndarray]:
    """The results of a function of the user's."""
    return checked(call(callback, *xs), result_avals, repr(callback))


def checked(
    found: Sequence[np.ndarray], avals: Sequence[ShapedArray], name: str
) -> list[np.ndarray]:
    """Results in their dtypes; RuntimeError (callback.result) if one is not of its
    type, but for 64 bits that are not kept."""
    x64 = config.local.context.x64
    for k, (array, aval) in enumerate(zip(found, avals, strict=True)):
        kept = array.dtype == aval.dtype or (
            kind_of(array.dtype) in "biufc"
            and canonical_dtype(array.dtype, x64) == aval.dtype
        )
        if array.shape != aval.shape or not kept:
            shape = ",".join(map(str, array.shape))
            got = (
                f"{array.dtype.name}[{shape}] as result {k} of {name}, "
                f"expected {aval.dtype.name}{list(aval.shape)}"
            )
            raise rules.error("callback.result", got=got)
    return [np.array(x, a.dtype, order="C") for x, a in zip(found, avals)]
