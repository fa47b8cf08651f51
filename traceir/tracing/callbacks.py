"""Callbacks: functions of the user's, called while a program runs. Serves: callback.*

A callback gets arrays, and runs as often and in the order that the program says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.base import config
from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import as_dtype
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import HostFunction, Params
from traceir.ir.promotion import canonical_dtype
from traceir.pytrees import flatten
from traceir.reference.kernels import KERNELS
from traceir.tracing.callback_kernels import own
from traceir.tracing.trace import EAGER, Tracer, bind, typeof

Leaves = tuple[list[Any], flatten.TreeDef, tuple[tuple[int, Any], ...]]
VMAP_METHODS = (
    "sequential",
    "sequential_unrolled",
    "expand_dims",
    "broadcast_all",
    "legacy_vectorized",
    None,
)
# What makes the error of a program of one that a callback raises; by itself it is that.
RAISED: list[Callable[[Exception], Exception]] = []
_OPERANDS = (Array, Tracer, np.ndarray, np.generic, bool, int, float, complex)


def operands(args: Any, kwargs: Any) -> Leaves:
    """The leaves of arguments that are arrays or numbers, the structure of all, and the
    other leaves with their places, which are passed as they are."""
    leaves, tree = flatten.flatten((tuple(args), dict(kwargs)))
    values = [leaf for leaf in leaves if isinstance(leaf, _OPERANDS)]
    fixed = [(k, v) for k, v in enumerate(leaves) if not isinstance(v, _OPERANDS)]
    return values, tree, tuple(fixed)


@dataclass(frozen=True, eq=False)
class Called:
    """A function of the user's as one of arrays, the leaves of its arguments."""

    function: Callable[..., Any]
    tree: flatten.TreeDef
    fixed: tuple[tuple[int, Any], ...]

    def __call__(self, *xs: np.ndarray) -> Any:
        """Call the function on arrays that are its own to keep."""
        fixed, rest = dict(self.fixed), iter(xs)
        leaves = [
            fixed[k] if k in fixed else own(next(rest))
            for k in range(self.tree.num_leaves)
        ]
        args, kwargs = self.tree.unflatten(leaves)
        if not RAISED:
            return self.function(*args, **kwargs)
        try:
            return self.function(*args, **kwargs)
        except Exception as error:
            found = RAISED[0](error)
            if found is error:
                raise
            raise found from error


@dataclass(frozen=True, eq=False)
class Answering:
    """A function of the user's whose results are the leaves of a tree."""

    called: Called
    tree: flatten.TreeDef

    def __call__(self, *xs: np.ndarray) -> list[np.ndarray]:
        """The results as arrays; RuntimeError (callback.tree) for another number."""
        leaves, tree = flatten.flatten(self.called(*xs))
        if len(leaves) != self.tree.num_leaves:
            got = f"{tree} from {_name(self.called.function)}, expected {self.tree}"
            raise rules.error("callback.tree", got=got)
        return list(map(np.asarray, leaves))


def _name(function: Callable[..., Any]) -> str:
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__name__", type(function).__name__)


def host_function(function: Any, target: Callable[..., Any]) -> HostFunction:
    """The param of an equation that calls a function.

    Raises TypeError (callback.callable) for what cannot be called.
    """
    if not callable(function):
        raise rules.error("callback.callable", got=repr(function))
    return HostFunction(_name(function), target)


def _answers(
    primitive: str,
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    args: Any,
    kwargs: Any,
    **params: Any,
) -> Any:
    """Bind a callback that gives results of the types that were announced."""
    values, tree, fixed = operands(args, kwargs)
    structs, out_tree = flatten.flatten(result_shape_dtypes)
    avals = tuple(map(_result_aval, structs))
    answering = Answering(Called(callback, tree, fixed), out_tree)
    results = bind(
        primitive,
        *values,
        callback=host_function(callback, answering),
        result_avals=avals,
        **params,
    )
    return out_tree.unflatten(results)


def _result_aval(struct: Any) -> ShapedArray:
    if hasattr(struct, "shape") and hasattr(struct, "dtype"):
        dtype = canonical_dtype(as_dtype(struct.dtype), config.local.context.x64)
        return ShapedArray(tuple(struct.shape), dtype)
    return typeof(struct).update(weak_type=False)


def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: None = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """Results of a function of the user's, called on arrays when the program runs.

    `callback(*args, **kwargs)` gets arrays and must give as many as there are leaves in
    `result_shape_dtypes`, a tree of arrays or `ShapeDtypeStruct`, of their shapes and
    dtypes. It should be pure: it may be called more than once, or not at all where no
    result is used.

    Under `vmap`, by `vmap_method`: it is called for each example ("sequential", or
    "sequential_unrolled"), or once with a leading axis on every argument, of extent 1
    where an argument is not mapped ("expand_dims") or stretched ("broadcast_all").

    Raises TypeError (callback.callable), ValueError (callback.vmap-method,
    callback.vmap, callback.derivative); RuntimeError (callback.result, callback.tree)
    when it runs. An exception of the function itself reaches the caller as it is.

    >>> import numpy as np, traceir, traceir.numpy as jnp
    >>> @traceir.jit
    ... def f(x):
    ...     return traceir.pure_callback(np.cbrt, x, x, vmap_method="sequential") + 1
    >>> f(jnp.float32(8))
    Array(3., dtype=float32)
    """
    if vmap_method not in VMAP_METHODS:
        raise rules.error("callback.vmap-method", got=repr(vmap_method))
    return _answers(
        "pure_callback",
        callback,
        result_shape_dtypes,
        args,
        kwargs,
        sharding=sharding,
        vmap_method=vmap_method,
    )


def io_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: None = None,
    ordered: bool = False,
    **kwargs: Any,
) -> Any:
    """As `pure_callback`, for a function with effects: it is called exactly as often,
    and in the order, that the program says.

    Under `vmap` it is called for each example; one that is `ordered` is refused there
    (callback.ordered).

    >>> import traceir, traceir.numpy as jnp
    >>> seen = []
    >>> def note(x):
    ...     seen.append(float(x))
    ...     return x
    >>> traceir.jit(lambda x: io_callback(note, x, x) * 2)(jnp.float32(3))
    Array(6., dtype=float32)
    >>> seen
    [3.0]
    """
    return _answers(
        "io_callback",
        callback,
        result_shape_dtypes,
        args,
        kwargs,
        sharding=sharding,
        ordered=ordered,
    )


def effects_barrier() -> None:
    """Wait until all that running programs print or call has been done.

    A call returns when everything has been done, so there is nothing to wait for.

    >>> effects_barrier()
    """


def _eagerly(primitive: str) -> Callable[[Params], Callable[..., Sequence[np.ndarray]]]:
    def ready(params: Params) -> Callable[..., Sequence[np.ndarray]]:
        return partial(KERNELS[primitive], **dict(params))

    return ready


for _primitive in ("debug_print", "debug_callback", "pure_callback", "io_callback"):
    EAGER[_primitive] = _eagerly(_primitive)
