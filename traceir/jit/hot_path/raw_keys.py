"""Raw keys of calls, and the runners that they lead to. Serves: cache.key.*

Equal raw keys imply equal keys by the rows of the table (tested): the context object
stands for the rows per call, an interned aval for shape, dtype and weakness, a type
for a number, `typed` for a static value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import (
    LIVING,
    Array,
    Far,
    Placed,
    Spread,
    far,
    place_of,
    with_place,
)
from traceir.arrays.sharding import CONSTRAINTS
from traceir.ir.avals import ShapedArray
from traceir.ir.promotion import no_array
from traceir.jit.cache.cache_key import CallSignature
from traceir.jit.cache.signature import StaticSpec
from traceir.jit.cache.static_keys import typed
from traceir.jit.cache.trace_cache import TraceCacheEntry
from traceir.jit.cache.writeback import Written, apart, check_targets, write_back
from traceir.jit.staging import Prepared
from traceir.pytrees import flatten
from traceir.pytrees.node_types import kind_of
from traceir.pytrees.typed_equality import typed as typed_meta


def _raw_ndarray(array: np.ndarray) -> Any:
    return array.dtype, array.shape


def _raw_sequence(tree: Any) -> Any:
    return (type(tree), *[RAW[type(v)](v) for v in tree])


_only_str = {str}.issuperset


def _raw_dict(tree: dict[Any, Any]) -> Any:
    if not _only_str(map(type, tree)):  # 1 and True are equal, and other keys
        raise KeyError
    return (dict, *tree, *[RAW[type(v)](v) for v in tree.values()])


def _raw_node(tree: Any) -> Any:
    """A node of a class that is registered, or a named tuple."""
    kind = kind_of(type(tree))
    if kind is None:
        raise KeyError
    try:
        children, meta = kind.split(tree)
        known = typed_meta(meta)
        hash(known)
    except Exception:  # which the slow path meets again, and tells
        raise KeyError from None
    # In what order a dict was made is known to plain functions.
    made = tuple(tree) if isinstance(tree, dict) else None
    return (type(tree), kind, known, made, *[RAW[type(v)](v) for v in children])


# How a leaf or tree of each type enters the raw key; others take the slow path.
RAW: dict[type, Callable[[Any], Any]] = {
    Array: attrgetter("aval"),
    Far: attrgetter("aval"),
    Placed: attrgetter("aval", "sharding"),
    Spread: attrgetter("aval", "sharding"),
    np.ndarray: _raw_ndarray,
    bool: type,
    int: type,
    float: type,
    complex: type,
    **{np.dtype(code).type: type for code in "?bhilqBHILQefdFD"},
    type(None): type,
    # What is known at once has its value beside the raw key, as numbers by demand have.
    **dict.fromkeys((str, bytes, type, FunctionType, BuiltinFunctionType), type),
    tuple: _raw_sequence,
    list: _raw_sequence,
    dict: _raw_dict,
}


def raw_key(context: Any, args: Any, kwargs: Any, static: StaticSpec | None) -> Any:
    """A cheap key of a call on plain trees and static values, or None.

    None, too, for a static value without a hash, which the slow path may refuse.
    """
    positions = static.positions if static else ()
    names = static.names if static else ()
    try:
        return (
            context,
            tuple(kwargs),
            *[
                typed(a) if k in positions else RAW[type(a)](a)
                for k, a in enumerate(args)
            ],
            *[typed(a) if n in names else RAW[type(a)](a) for n, a in kwargs.items()],
        )
    except KeyError as error:
        return raw_key(context, args, kwargs, static) if _admitted(error) else None
    except rules.TraceirError:
        return None


def _admitted(error: KeyError) -> bool:
    """True if the type that had no raw key is one of nodes, which has one now."""
    (type_,) = error.args or (None,)
    if not isinstance(type_, type) or type_ in RAW or kind_of(type_) is None:
        return False
    RAW[type_] = _raw_node
    return True


def make_fast_path(
    entry: TraceCacheEntry, exe: Any, prepared: Prepared, numpy_out: bool
) -> Callable[..., Any]:
    """A runner of one entry: from the call's arguments to its results."""
    if keeps_on_device(exe) and not numpy_out:
        return _on_device_path(entry, exe, prepared)
    run = _host_path(entry, exe, prepared, numpy_out)
    return placing_if_placed(run, entry, prepared.leaves, numpy_out)


def placing_if_placed(
    run: Callable[..., Any], entry: TraceCacheEntry, leaves: Sequence[Any], plain: bool
) -> Callable[..., Any]:
    """The runner; one that lays results out if an argument, or a variable of a program,
    lies somewhere, and results are not `plain` arrays of NumPy.
    """
    if plain or not (CONSTRAINTS or Placed in map(type, leaves)):
        return run
    from traceir.jit.hot_path.result_layouts import placing  # which few programs need

    return placing(run, entry, leaves)


def _host_path(
    entry: TraceCacheEntry, exe: Any, prepared: Prepared, numpy_out: bool
) -> Callable[..., Any]:
    """A runner whose arrays are memory of the host."""
    wrap: Callable[..., Any] = to_numpy if numpy_out else Array._wrap
    if entry.writes:
        return _writing_path(entry, exe.run, prepared, wrap)
    read, run, avals = _input_reader(prepared), exe.run, entry.closed.out_avals
    tree = entry.out_tree

    def several(args: Any, kwargs: Any) -> Any:
        values = read(args, kwargs)
        entry.hits += 1
        return tree.unflatten(list(map(wrap, run(*values), avals)))

    if tree.kind is not None:
        return several
    (aval,) = avals

    def single(args: Any, kwargs: Any) -> Any:
        values = read(args, kwargs)
        entry.hits += 1
        return wrap(run(*values)[0], aval)

    def single_of_arrays(args: Any, kwargs: Any) -> Any:
        entry.hits += 1
        return wrap(run(*[a._value for a in args])[0], aval)

    return single_of_arrays if read is _values else single


def keeps_on_device(exe: Any) -> bool:
    """True if results of a program stay on the device that computes them."""
    return hasattr(exe, "run_there")


def _on_device_path(
    entry: TraceCacheEntry, exe: Any, prepared: Prepared
) -> Callable[..., Any]:
    """A runner whose arrays stay on a device; those of the host are copied there once.

    The program puts an array there (`put`), and runs on what is there (`run_there`).
    """
    origins, call, tree = prepared.bound.origins, prepared.call, entry.out_tree

    def on_device(k: int, leaf: Any) -> Any:
        found = place_of(leaf)
        if found is None:
            found = exe.put(input_of(call, k, leaf), call.avals[k])
            if type(leaf) in LIVING:
                with_place(leaf, found)
        return found

    def run(args: Any, kwargs: Any) -> Any:
        values = [args[o] if type(o) is int else kwargs[o] for o in origins]
        places = [on_device(k, leaf) for k, leaf in enumerate(flatten.leaves(values))]
        entry.hits += 1
        results = exe.run_there(places)
        return tree.unflatten(list(map(far, results, entry.closed.out_avals)))

    return run


def _writing_path(
    entry: TraceCacheEntry,
    run: Callable[..., Any],
    prepared: Prepared,
    wrap: Callable[..., Any],
) -> Callable[..., Any]:
    """A runner that repeats the function's writes to the arguments."""
    origins, call, own = prepared.bound.origins, entry.call, entry.overwritten
    which, (tree, _) = entry.out_tree.meta, entry.out_tree.below
    flat = all(child.kind is None for child in prepared.call.treedef.below)
    avals = entry.closed.out_avals
    first = len(avals) - len(which[0])

    def writing(args: Any, kwargs: Any) -> Any:
        values = [args[o] if type(o) is int else kwargs[o] for o in origins]
        leaves = values if flat else flatten.leaves(values)
        check_targets(which, leaves, call)
        inputs = inputs_of(leaves, call)
        entry.hits += 1
        outs = apart(run(*inputs), inputs, own)
        results = tree.unflatten(list(map(wrap, outs[:first], avals)))
        return write_back(Written(results, tuple(outs[first:]), *which), values, leaves)

    return writing


def to_numpy(array: np.ndarray, aval: ShapedArray) -> Any:
    """A result as NumPy would return it: a scalar where there are no dimensions."""
    return array if aval.shape else array[()]


def _input_reader(prepared: Prepared) -> Callable[[Any, Any], list[np.ndarray]]:
    """A function from a call's arguments to its leaves as arrays of the program's
    types.
    """
    origins, call, avals = prepared.bound.origins, prepared.call, prepared.call.avals
    flat = all(child.kind is None for child in call.treedef.below)
    others = prepared.bound.statics or prepared.bound.known
    in_order = origins == tuple(range(len(avals))) and not others
    if flat and in_order:
        leaves = zip(prepared.leaves, avals, strict=True)
        if all(type(v) is Array and v.aval is a for v, a in leaves):
            return _values
        return lambda args, kwargs: inputs_of(args, call)

    def read(args: Any, kwargs: Any) -> list[np.ndarray]:
        values = [args[o] if type(o) is int else kwargs[o] for o in origins]
        return inputs_of(values if flat else flatten.leaves(values), call)

    return read


def inputs_of(leaves: Any, call: CallSignature) -> list[np.ndarray]:
    """Leaves as arrays of the types of a call; an error names the argument."""
    try:
        return list(map(as_input, leaves, call.avals))
    except rules.TraceirError:
        return [input_of(call, k, leaf) for k, leaf in enumerate(leaves)]


def input_of(call: CallSignature, k: int, leaf: Any) -> np.ndarray:
    """A leaf as an array of the type of a call; an error names the argument."""
    try:
        return as_input(leaf, call.avals[k])
    except rules.TraceirError as error:
        got = f"{error.got} at argument {call.paths[k]}"
        raise rules.error(error.rule, got=got) from None


def _values(args: Any, kwargs: Any) -> list[np.ndarray]:
    return [a._value for a in args]


def as_input(value: Any, aval: ShapedArray) -> np.ndarray:
    """A traced argument as a C-contiguous array of the program's type.

    Raises OverflowError (jit.overflow) for a Python integer that does not fit.
    """
    dtype = aval.dtype
    if type(value) is np.ndarray:
        if value.dtype is dtype and value.flags.c_contiguous:
            return value
    elif type(value) in LIVING and value.aval.dtype is dtype:
        own: np.ndarray = value._value
        return own
    try:
        return np.array(value, dtype, order="C", copy=None)
    except OverflowError:
        raise rules.error(
            "jit.overflow", got=f"{value} for {aval.str_short()}"
        ) from None
    except TypeError:  # a struct, which has no elements
        raise no_array(value) from None
