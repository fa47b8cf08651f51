"""Rules of callbacks: the host is called for each example.

Serves: callback.derivative, callback.vmap, callback.ordered
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir import rules
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Params, sort_params
from traceir.tracing.staging import stage
from traceir.tracing.trace import Value, bind, bind_all, typeof
from traceir.transforms.rules.axes import at_front, move, place_at, stretch
from traceir.transforms.rules.registry import (
    BATCH,
    JVP,
    BatchAxis,
    Batched,
    Dim,
    Dims,
    JvpResult,
    Tangents,
    Values,
)

TOLD = ("debug_print", "debug_callback")


def _primal_only(primitive: str) -> Any:
    def rule(primals: Values, tangents: Tangents, params: Params) -> JvpResult:
        return bind_all(primitive, primals, params), ()

    return rule


def _no_derivative(primitive: str) -> Any:
    def rule(primals: Values, tangents: Tangents, params: Params) -> JvpResult:
        got = f"{dict(params)['callback']!r} in `{primitive}`"
        raise rules.error("callback.derivative", got=got)

    return rule


def _each(primitive: str) -> Any:
    """Applied to one example after the other."""

    def rule(axis: BatchAxis, values: Values, dims: Dims, params: Params) -> Batched:
        for k in range(axis.size):
            pairs = zip(values, dims, strict=True)
            bind_all(primitive, [_example(v, d, k) for v, d in pairs], params)
        return (), ()

    return rule


def _example(value: Value, dim: Dim, k: int) -> Value:
    """One example of a batch."""
    if dim is None:
        return value
    shape = typeof(value).shape
    start = tuple(k if n == dim else 0 for n in range(len(shape)))
    stop = tuple(k + 1 if n == dim else size for n, size in enumerate(shape))
    one = bind(
        "slice",
        value,
        start_indices=start,
        limit_indices=stop,
        strides=(1,) * len(shape),
    )
    return bind("squeeze", one, dimensions=(dim,))


def _pure(axis: BatchAxis, values: Values, dims: Dims, params: Params) -> Batched:
    method: Any = dict(params)["vmap_method"]
    if method is None:
        raise rules.error("callback.vmap", got=f"{dict(params)['callback']!r}")
    return METHODS[method](axis, values, dims, params)


def _io(axis: BatchAxis, values: Values, dims: Dims, params: Params) -> Batched:
    if dict(params)["ordered"]:
        raise rules.error("callback.ordered", got=f"{dict(params)['callback']!r}")
    return _scan("io_callback", 1)(axis, values, dims, params)


def _scan(primitive: str, unroll: int) -> Callable[..., Batched]:
    """Called for one example after the other, in a loop; `unroll` 0: without one."""

    def rule(axis: BatchAxis, values: Values, dims: Dims, params: Params) -> Batched:
        """Batch by a loop over the examples."""
        constant = [k for k, d in enumerate(dims) if d is None]
        mapped = [k for k, d in enumerate(dims) if d is not None]
        order = constant + mapped
        body = _body(primitive, axis, values, dims, order, params)
        rows = [at_front(values[k], dims[k], axis.size) for k in mapped]
        results = bind(
            "scan",
            *[values[k] for k in constant],
            *rows,
            jaxpr=body,
            length=axis.size,
            reverse=False,
            num_consts=len(constant),
            num_carry=0,
            unroll=unroll or axis.size,
        )
        return results, [0] * len(results)

    return rule


def _body(
    primitive: str,
    axis: BatchAxis,
    values: Values,
    dims: Dims,
    order: Sequence[int],
    params: Params,
) -> ClosedJaxpr:
    """The primitive as a program whose inputs stand in another order."""
    avals = [_one(typeof(values[k]), dims[k]) for k in order]

    def call(inputs: Values) -> Values:
        known = dict(zip(order, inputs, strict=True))
        return bind_all(primitive, [known[k] for k in range(len(known))], params)

    name = repr(dict(params)["callback"])
    jaxpr, consts, _ = stage(call, avals, [""] * len(avals), name, "jit", "jax")
    return ClosedJaxpr(jaxpr, consts)


def _one(aval: ShapedArray, dim: Dim) -> ShapedArray:
    if dim is None:
        return aval
    return aval.update(shape=aval.shape[:dim] + aval.shape[dim + 1 :])


def _at_once(unmapped: Callable[[Value, BatchAxis], Value]) -> Callable[..., Batched]:
    """Called once with all examples along a leading axis."""

    def rule(axis: BatchAxis, values: Values, dims: Dims, params: Params) -> Batched:
        """Batch by one call with all examples."""
        whole = [
            unmapped(v, axis) if d is None else move(v, d, 0)
            for v, d in zip(values, dims, strict=True)
        ]
        known: dict[str, Any] = dict(params)
        known["result_avals"] = tuple(
            aval.update(shape=(axis.size, *aval.shape))
            for aval in known["result_avals"]
        )
        results = bind_all("pure_callback", whole, sort_params(known))
        return results, [0] * len(results)

    return rule


def _expanded(value: Value, axis: BatchAxis) -> Value:
    shape = typeof(value).shape
    return stretch(value, (1, *shape), range(1, len(shape) + 1))


def _stretched(value: Value, axis: BatchAxis) -> Value:
    return place_at(value, None, axis.size, 0)


METHODS: dict[str, Callable[..., Batched]] = {
    "sequential": _scan("pure_callback", 1),
    "sequential_unrolled": _scan("pure_callback", 0),
    "expand_dims": _at_once(_expanded),
    "broadcast_all": _at_once(_stretched),
    "legacy_vectorized": _at_once(lambda value, axis: value),
}

for _name in TOLD:
    JVP[_name] = _primal_only(_name)
    BATCH[_name] = _each(_name)
for _name in ("pure_callback", "io_callback"):
    JVP[_name] = _no_derivative(_name)
BATCH["pure_callback"] = _pure
BATCH["io_callback"] = _io
