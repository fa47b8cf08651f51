"""From a call to a cache entry: bind, flatten, key, trace. Serves: cache.*"""

from __future__ import annotations

import functools
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from traceir import rules
from traceir.base import config, cost_model
from traceir.base.fast_dataclass import dataclass
from traceir.base.progress import progress
from traceir.ir.avals import ShapedArray
from traceir.ir.effects import calls_host
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Var
from traceir.ir.promotion import canonical_dtype, check_plain, is_reference
from traceir.ir.unroll_report import last_line, tell_unrolled
from traceir.jit.cache.cache_key import CallSignature, KeyTable, axes_where, leaf_paths
from traceir.jit.cache.captured_state import seal, verify
from traceir.jit.cache.external_state import unchanging
from traceir.jit.cache.known_arguments import demandable_inputs, known_at_once
from traceir.jit.cache.signature import Bound, argument_hint
from traceir.jit.cache.trace_cache import FunctionCache, TraceCacheEntry
from traceir.jit.runtime_checks import ListRoom
from traceir.pytrees import flatten
from traceir.pytrees.node_types import kind_of
from traceir.tracing.concretization import ArgumentDemand, demanded
from traceir.tracing.knowledge import way_of
from traceir.tracing.results import check_described, check_outputs, flatten_results
from traceir.tracing.staging import StagedTracer, face_module, stage
from traceir.tracing.trace import Tracer, check_open, current_trace, typeof

if TYPE_CHECKING:
    from traceir.references.reference import Ref

# Calls functions on arrays over several processes, and makes this process's part of one
# that is compiled ahead; who starts these enters both.
CROSSING: list[Callable[..., Any]] = []
AHEAD: list[Callable[..., Any]] = []


def traces_jit() -> bool:
    """True if a jitted function is traced now; else it is called as it is."""
    trace = current_trace()
    return way_of("jit").traces and not (trace is not None and trace.inlines)


@functools.cache
def key_table() -> KeyTable:
    """The rows of the key but the function's: the weak map of caches stands for it."""
    return KeyTable(rules.default(), frozenset({"cache.key.function"}))


@dataclass(frozen=True, slots=True)
class Prepared:
    """One call, ready to be looked up: its key material, its arguments, its leaves.

    `name` and `paths` are how errors call the function and the leaves, where that is
    not by their own names.
    """

    call: CallSignature
    bound: Bound
    leaves: list[Any]
    name: str = ""
    paths: tuple[str, ...] = ()
    # The references among the arguments, whose arrays are leaves.
    refs: tuple[Ref, ...] = ()
    # The call before arguments were known that others like it have demanded.
    bare: Prepared | None = None


def prepare(bound: Bound, face: str, strict: bool = False) -> Prepared:
    """Flatten the traced arguments.

    Raises TypeError (jit.argument), UnexpectedTracerError (level.lift) for a leaf of a
    trace that has ended, ValueError (ref.alias) for a reference that is there twice.
    """
    labels = tuple(label for label, _ in bound.dynamic)
    leaves, treedef = flatten.flatten(tuple(value for _, value in bound.dynamic))
    refs: tuple[Ref, ...] = ()
    if face == "jax" and any(map(is_reference, leaves)):
        from traceir.references import calls  # which few programs need

        values, refs = calls.opened(leaves, treedef, leaf_paths(labels, treedef))
        bound = replace(bound, dynamic=tuple(zip(labels, values, strict=True)))
        leaves, treedef = flatten.flatten(values)
    context = config.local.context
    avals = []
    for index, leaf in enumerate(leaves):
        if isinstance(leaf, Tracer):
            check_open(leaf, current_trace())
        try:
            avals.append(input_aval(leaf, context.x64))
            if face == "numpy":
                check_plain(leaf)
        except rules.TraceirError as error:
            path = leaf_paths(labels, treedef)[index]
            got, hint = f"{error.got} at argument {path}", argument_hint(error, path)
            raise rules.error(error.rule, got=got, hint=hint) from None
    trace = current_trace()
    call = CallSignature(
        None,
        context,
        face,
        strict,
        labels,
        treedef,
        tuple(avals),
        bound.statics,
        axes=axes_where(trace.axes if trace else {}, context),
        orders=orders_of(bound.dynamic) if face == "numpy" else (),
        known=bound.known,
    )
    return Prepared(call, bound, leaves, refs=refs)


def prepare_plain(cache: FunctionCache, bound: Bound, strict: bool) -> Prepared:
    """As `prepare`, of a plain function: known are arguments that no program computes
    with, and those that other calls like this one have demanded."""
    prepared = prepare(known_at_once(bound), "numpy", strict)
    if not cache.known.demands:
        return prepared
    key = key_table().key(prepared.call)
    return knowing(prepared, cache.known.wanted(key, prepared.bound))


def knowing(prepared: Prepared, labels: Collection[str]) -> Prepared:
    """The same call with these arguments known."""
    if not labels:
        return prepared
    call, bare = prepared.call, prepared.bare or prepared
    made = prepare(prepared.bound.knowing(labels), call.face, call.strict)
    return replace(made, name=prepared.name, bare=bare)


def held(face: str, static: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments of a call, some of them static, in the form that a face passes."""
    module = face_module(face)
    if module is not None:
        args, kwargs = module.held_arguments(args, kwargs, static)
    return args, kwargs


def _dicts(tree: Any) -> Iterator[dict[Any, Any]]:
    """The dicts of a tree that come apart by sorted keys, from outside in."""
    kind = kind_of(type(tree))
    if kind is None:
        return
    if isinstance(tree, dict) and not isinstance(tree, OrderedDict):
        yield tree
    for child in kind.split(tree)[0]:
        yield from _dicts(child)


def orders_of(tree: Any) -> tuple[tuple[Any, ...], ...]:
    """The keys of the dicts of a tree, in their order; none if all are sorted.

    >>> orders_of([{"b": 1, "a": 2}]), orders_of({"a": 1, "b": 2})
    ((('b', 'a'),), ())
    """
    found = tuple(map(tuple, _dicts(tree)))
    return found if any(list(keys) != sorted(keys) for keys in found) else ()


def reorder(tree: Any, orders: Sequence[Sequence[Any]]) -> None:
    """Put the keys of the dicts of a tree into an order, in place."""
    for one, keys in zip(list(_dicts(tree)), orders, strict=True):
        items = [(key, one[key]) for key in keys]
        one.clear()
        one.update(items)


def input_aval(value: Any, x64: bool) -> ShapedArray:
    """The type under which a traced argument enters a program."""
    aval = typeof(value)
    dtype = canonical_dtype(aval.dtype, x64)
    return aval if dtype == aval.dtype else aval.update(dtype=dtype)


def function_name(fun: Callable[..., Any]) -> str:
    """The name that equations and kernels of a function carry."""
    while isinstance(fun, functools.partial):
        fun = fun.func
    name = getattr(fun, "__name__", None)
    return name if isinstance(name, str) else type(fun).__name__


def find_entry(
    cache: FunctionCache,
    prepared: Prepared,
    fun: Callable[..., Any],
    transform: str,
    before_trace: Callable[[CallSignature, Any], None] = lambda call, key: None,
) -> TraceCacheEntry:
    """The entry for a call, traced now if there is none.

    An entry that lifted tracers is kept with the trace around it and dies with it.
    Raises what the traced function raises, and then keeps nothing; for a strict trace
    StaleCaptureError (cache.strict.static, cache.strict.capture). While a flag asks
    for it, KeyReuseError (random.reuse) for a program that uses a key twice.
    """
    key, room = key_table().key(prepared.call), cache.room

    def make() -> TraceCacheEntry:
        before_trace(prepared.call, key)
        entry = make_entry(prepared, key, fun, transform, room)
        grows = entry.checks is not None and entry.checks.fills(room)
        if grows and calls_host(entry.closed.jaxpr) and room.extend_once():
            entry = make_entry(prepared, key, fun, transform, room)
        return entry

    keeps = rules.default().levels.way(transform).keeps
    entry = cache.lookup(key, make, current_trace()) if keeps else make()
    if transform != "eval_shape":
        check_described(entry.out_tree)
    check_seal(entry, fun)
    check_keys(entry.closed)
    return entry


def find_or_demand(
    cache: FunctionCache,
    prepared: Prepared,
    fun: Callable[..., Any],
    transform: str,
    before_trace: Callable[[CallSignature, Any], None],
) -> tuple[TraceCacheEntry, Prepared]:
    """The entry for a call, as `find_entry` has it, and the call that it is of: where a
    trace demands arguments it starts again with these known.
    """
    where: dict[str, str] = {}
    while True:
        try:
            entry = find_entry(cache, prepared, fun, transform, before_trace)
            break
        except ArgumentDemand as demand:
            labels = _demanded_labels(prepared, demand)
            where.update((label, demand.where) for label in labels)
            prepared = knowing(prepared, labels)
            before_trace = _no_trace  # it is the same
    if where and prepared.bare is not None:
        cache.known.note(key_table().key(prepared.bare.call), where)
    if prepared.bare is not None:
        cache.known.count(prepared.name or function_name(fun), prepared.call.known)
    return entry, prepared


def _no_trace(call: CallSignature, key: Any) -> None:
    """Stands for what is done before a trace, where that is done."""


def _demanded_labels(prepared: Prepared, demand: ArgumentDemand) -> list[str]:
    """The arguments of a call that a demand is about.

    Raises the demand, or that of the arguments of a function around it, or the error of
    what can't be known.
    """
    if not demand.leaves:
        raise demand
    labels, found = prepared.call.leaf_labels, []
    for k in demand.leaves:
        if labels[k] not in found:
            found.append(labels[k])
    values = dict(prepared.bound.dynamic)
    leaves = flatten.leaves([values[label] for label in found])
    traced = [leaf for leaf in leaves if isinstance(leaf, Tracer)]
    if traced:
        raise demanded(demand.error, *traced) from None
    return found


def check_seal(entry: TraceCacheEntry, fun: Callable[..., Any]) -> None:
    """Raise StaleCaptureError if a strict trace would be another one now."""
    if entry.seal is not None:
        verify(entry.seal, fun, entry.call.statics, _states_count(entry.call))


def _states_count(call: CallSignature) -> bool:
    """True if a strict trace depends on the states of generators, which it does not if
    these draw when the program runs.
    """
    return face_module(call.face) is None


def check_keys(closed: ClosedJaxpr) -> None:
    """Raise KeyReuseError (random.reuse) for a program that uses a key twice, while a
    flag asks for it."""
    if config.local.context.debug_key_reuse:
        from traceir.sanitize.key_reuse import uses_of  # not on the way of an import

        uses_of(closed)


def make_entry(
    prepared: Prepared,
    key: Any,
    fun: Callable[..., Any],
    transform: str,
    room: ListRoom,
) -> TraceCacheEntry:
    """Trace `fun` once on the types of this call; lists have this room."""
    call, bound = prepared.call, prepared.bound
    out_trees: list[flatten.TreeDef] = []
    emitted: list[Any] = []
    own: dict[Var, int] = {}
    recorded: list[list[Eqn]] = []
    outer: list[Ref] = []

    def run(tracers: list[StagedTracer]) -> Sequence[Any]:
        """Run the user's function on tracers; return its results as leaves."""
        trace: Any = current_trace()
        recorded.append(trace.eqns)  # not the trace, which is to end
        trace.look_at = cost_model.REPORTED_EQUATIONS
        trace.room = room
        if call.face == "numpy" and transform == "jit":
            own.update(demandable_inputs(bound, call.leaf_labels, tracers))
            trace.demandable = frozenset(own)
        values = call.treedef.unflatten(tracers)
        leaves = flatten.leaves(values) if prepared.refs else []
        mine = [*filter(is_reference, leaves)]
        if call.orders:
            reorder(values, call.orders)
        args, kwargs = bound.rebuild(values)
        face = face_module(call.face)
        if face is None:
            trace.refs = {}
            results = _called(fun, args, kwargs)
            if trace.refs or mine:
                from traceir.references import calls  # which few programs need

                results = calls.with_written(trace, mine, results)
                outer.extend(calls.closed_over(trace))
        else:
            # What a body of a loop writes to its arguments it has to return.
            whole = transform == "jit"
            held = face.Containers(values, call.labels) if whole else None
            results = face.call(fun, args, kwargs, tracers if whole else (), held)
        leaves, tree = flatten_results(results, described=transform == "eval_shape")
        check_outputs(leaves, tree)
        out_trees.append(tree)
        if transform == "jit" and (trace.checks or trace.failures):
            emitted.append(face_module("numpy").CheckedProgram(trace))
        return leaves

    start = time.perf_counter()
    name = prepared.name or function_name(fun)
    paths = prepared.paths or call.paths

    def so_far() -> str:
        return last_line(recorded[-1] if recorded else ())

    def record() -> Any:
        with ExitStack() as scopes:
            scopes.enter_context(progress(f"tracing {name}", so_far))
            for scope in surroundings(call):
                scopes.enter_context(scope)
            return stage(run, call.avals, paths, name, transform, call.face, users=True)

    states = _states_count(call)
    try:
        if transform == "jit" and (call.strict or not states):
            rule = "cache.strict.capture" if states else "update.external"
            jaxpr, constants, captured = unchanging(record, fun, call.statics, rule)
        else:
            jaxpr, constants, captured = record()
    except ArgumentDemand as demand:
        demand.leaves = tuple(k for var, k in own.items() if var in demand.inputs)
        raise
    checks = None
    if emitted:
        jaxpr, checks = emitted[-1].split(jaxpr, constants)
    tell_unrolled(jaxpr)
    closed = ClosedJaxpr(jaxpr, constants)
    check_keys(closed)
    entry = TraceCacheEntry(call, key, closed, out_trees[-1], captured, checks=checks)
    entry.refs, entry.uses_refs = tuple(outer), bool(outer or prepared.refs)
    entry.seconds = time.perf_counter() - start
    # Sealed last: what the function itself sets up while it runs is no change.
    entry.seal = seal(fun, call.statics, states) if call.strict else None
    return entry


def _called(fun: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    if config.local.context.control_flow != "staged":
        return fun(*args, **kwargs)
    return face_module("numpy").staged(fun, args, kwargs)


def surroundings(call: CallSignature) -> Iterator[config.ConfigScope]:
    """The configuration that a call's trace runs in, where it differs from now."""
    context = config.local.context
    if context.x64 != call.enable_x64:
        yield config.enable_x64(call.enable_x64)
    if context.face != call.face:
        yield config.face(call.face)
