"""`vmap`: a function of one example becomes one of a batch. Serves: vmap.*"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.base.tracebacks import wraps
from traceir.dtypes import is_float0
from traceir.ir.name_stack import under
from traceir.ir.promotion import is_reference
from traceir.jit.composite import run_as
from traceir.jit.staging import function_name
from traceir.pytrees import flatten
from traceir.tracing.results import check_outputs
from traceir.tracing.trace import Tracer, Value, living, typeof
from traceir.transforms.batching import axis_specs
from traceir.transforms.batching.batch_trace import BatchTrace
from traceir.transforms.rules.axes import first, place_at
from traceir.transforms.rules.registry import BatchAxis, Dim

if TYPE_CHECKING:
    from traceir.references.reference import Ref

P = ParamSpec("P")
R = TypeVar("R")


def vmap(
    fun: Callable[P, R],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Hashable = None,
    axis_size: int | None = None,
    spmd_axis_name: Hashable = None,
) -> Callable[P, R]:
    """A function that applies `fun` to all examples of a batch, as one computation.

    `in_axes` says along which axis each argument holds the examples: one int for all,
    or a tuple with an entry per positional argument, each an int, None (the argument is
    the same for every example), or a tree of these that is a prefix of the argument.
    Arguments passed by name are mapped along axis 0. `out_axes` says where the results
    have the axis; None takes a result that is the same for every example once.
    `axis_name` names the axis for `lax.psum` and its like; `axis_size` gives its size,
    which is needed only where no argument is mapped. Where a program of this is made, a
    `shard_map` in it divides the examples along the axes `spmd_axis_name` of its mesh.

    The function is traced once per call, on types without the axis. Values that are the
    same for all examples stay concrete, so Python may branch on them.

    Raises TypeError (jit.callable, jit.argument, jit.output, vmap.axes-type) and
    ValueError (vmap.sizes, vmap.rank, vmap.none, vmap.in-axes, vmap.out-axes,
    vmap.out-rank, vmap.batched-output, vmap.spmd).

    >>> import traceir, traceir.numpy as jnp
    >>> dot = lambda a, b: jnp.sum(a * b)
    >>> traceir.vmap(dot, in_axes=(0, None))(jnp.ones((2, 3)), jnp.arange(3.0))
    Array([3., 3.], dtype=float32)
    """
    if not callable(fun):
        raise rules.error("jit.callable", got=repr(fun))
    given: Any = () if spmd_axis_name is None else spmd_axis_name
    spmd = given if type(given) is tuple else (given,)
    in_axes = tuple(in_axes) if type(in_axes) is list else in_axes
    axis_specs.check_axes("in_axes", in_axes, top=True)
    axis_specs.check_axes("out_axes", out_axes)

    @wraps(fun)
    def batched(*args: P.args, **kwargs: P.kwargs) -> Any:
        own: Any = args
        named: Any = kwargs
        refs: Mapping[int, Ref] = {}
        if any(map(is_reference, flatten.leaves((args, kwargs)))):
            from traceir.references.calls import opened_call  # which few programs need

            own, named, refs = opened_call(args, kwargs)
        leaves, tree = axis_specs.mapped_leaves(fun, in_axes, own, named)
        size = axis_specs.common_size(leaves, axis_size)
        axis = BatchAxis(axis_name, size, spmd=spmd)
        return apply_batched(fun, axis, leaves, tree, out_axes, refs=refs)

    name = function_name(fun)
    batched.__doc__ = f"`{name}`, applied to all examples of a batch."
    if fun.__doc__:
        batched.__doc__ += f" That of one example:\n\n{fun.__doc__}"
    return batched


def apply_batched(
    fun: Callable[..., Any],
    axis: BatchAxis,
    leaves: Sequence[axis_specs.MappedLeaf],
    tree: flatten.TreeDef,
    out_axes: Any,
    of_first: bool = False,
    same: str = "vmap.batched-output",
    refs: Mapping[int, Ref] = MappingProxyType({}),
) -> Any:
    """Call a function on the examples of a batch; its results have the axis back.

    With `of_first`, a result that is asked for without the axis is the first example's;
    else it must be the `same` for all: this is the rule. The references among the
    arguments, `refs` by the numbers of their leaves, are written as examples were.
    """
    trace = BatchTrace(axis, function_name(fun))
    trace.paths = [leaf.path for leaf in leaves]
    with under("vmap", True), living(trace):
        args, kwargs = tree.unflatten(
            [trace.input(leaf.value, leaf.dim, k) for k, leaf in enumerate(leaves)]
        )
        inside = flatten.leaves((args, kwargs)) if refs else []
        results, out_tree = flatten.flatten(run_as("vmap", fun)(*args, **kwargs))
        check_outputs(results, out_tree)
        taken = [(r, None) if is_float0(r) else trace.take(r) for r in results]
    targets = axis_specs.spread("out_axes", out_axes, out_tree)
    rows = zip(taken, targets, out_tree.paths(), strict=True)
    with under("vmap", True):
        _write_all(trace, refs, [*filter(is_reference, inside)], leaves)
        results = [_result(trace, *row, of_first, same) for row in rows]
    return out_tree.unflatten(results)


def _write_all(
    trace: BatchTrace,
    refs: Mapping[int, Ref],
    mine: Sequence[Ref],
    leaves: Sequence[axis_specs.MappedLeaf],
) -> None:
    """Write the arrays of the references of all examples.

    Raises TypeError (ref.batched) for one that is the same for all.
    """
    for (k, outer), own in zip(refs.items(), mine, strict=True):
        leaf = leaves[k]
        if not own._written:
            continue
        if leaf.dim is None:
            got = f"{outer.aval!r}, argument {leaf.path} of {trace.name}"
            raise rules.error("ref.batched", got=got)
        value, dim = trace.take(own._value)
        outer[...] = place_at(value, dim, trace.axis.size, leaf.dim)


def _result(
    trace: BatchTrace,
    pair: tuple[Value, Dim],
    target: Dim,
    path: flatten.Path,
    of_first: bool,
    same: str,
) -> Value:
    """One result with its batched dimension where it is asked for."""
    value, dim = pair
    if is_float0(value):
        return _many(value, target, trace.axis.size)
    if target is None:
        if dim is not None and of_first:
            value = first(value, dim)
        elif dim is not None:
            along = f", along {trace.axis.name!r}" if trace.axis.checked else ""
            raise rules.error(same, got=_at(trace, value, path) + along)
        else:
            return value  # as the function returned it
    else:
        rank = typeof(value).ndim + (dim is None)
        if not -rank <= target < rank:
            got = f"axis {target} for {_at(trace, value, path)}"
            raise rules.error("vmap.out-rank", got=got)
        value = place_at(value, dim, trace.axis.size, target % rank)
    if isinstance(value, Tracer | Array):
        return value
    return trace.array(value, typeof(value))


def _many(value: np.ndarray, target: Dim, size: int) -> np.ndarray:
    """Tangents that carry nothing, one for each example."""
    if target is None:
        return value
    shape = list(value.shape)
    shape.insert(target % (len(shape) + 1), size)
    return np.zeros(shape, value.dtype)


def _at(trace: BatchTrace, value: Value, path: flatten.Path) -> str:
    component = flatten.key_path(path)
    at = f" at output component {component}" if component else ""
    return f"a result of type {typeof(value).str_short()}{at} of {trace.name}"
