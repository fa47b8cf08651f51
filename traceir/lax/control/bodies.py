"""Bodies of control flow: traced once, closures turned into operands.

Serves: control.callable, jit.argument
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from traceir import rules
from traceir.arrays.array import Array
from traceir.base import config
from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, Var
from traceir.ir.structs import struct_of
from traceir.jit.cache.signature import StaticSpec, bind_arguments, form_of
from traceir.jit.cache.trace_cache import TraceCacheEntry, cache_of
from traceir.jit.staging import find_entry, function_name, prepare
from traceir.lax.checks.operands import as_array, operand
from traceir.lax.control.wrappers import told
from traceir.pytrees import flatten
from traceir.pytrees.flatten import TreeDef
from traceir.tracing.manual_axes import varied
from traceir.tracing.staging import apply, stage
from traceir.tracing.trace import Tracer, Value, typeof

if TYPE_CHECKING:
    from traceir.references.reference import Ref

NO_STATICS = StaticSpec(frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class FlatTree:
    """A tree of arrays, flat; `label` is how the user calls the whole of it."""

    leaves: list[Any]
    tree: TreeDef
    label: str = ""

    @property
    def avals(self) -> tuple[ShapedArray, ...]:
        """The types of the leaves."""
        return tuple(map(typeof, self.leaves))

    @property
    def paths(self) -> list[str]:
        """The user's spelling of each leaf."""
        return [flatten.key_path(path, self.label) for path in self.tree.paths()]


def flat(tree: Any, asker: str, label: str) -> FlatTree:
    """The arrays of a tree; TypeError (jit.argument) for a leaf that is none."""
    leaves, treedef = flatten.flatten(tree)
    found = FlatTree(leaves, treedef, label)
    for k, leaf in enumerate(leaves):
        try:
            leaves[k] = as_array(operand(asker, leaf))
        except rules.TraceirError as error:
            got = f"{error.got}, which is {found.paths[k]}"
            raise rules.error(error.rule, got=got) from None
    return found


@dataclass(frozen=True, slots=True)
class TracedBody:
    """A traced body: its program, whose first inputs are the values it closes over."""

    closed: ClosedJaxpr
    consts: tuple[Value, ...]
    tree: TreeDef
    # The reference that each of these values is the array of, or None.
    sources: tuple[Ref | None, ...] = ()
    # References that it writes. Their arrays are inputs after the consts, and results
    # before the others.
    written: tuple[Ref, ...] = ()

    @property
    def out_avals(self) -> tuple[ShapedArray, ...]:
        """The types of the results, without those of references."""
        return self.closed.out_avals[len(self.written) :]


@dataclass(frozen=True, slots=True)
class LoopTurns:
    """Facts about a loop's turns: its user says that they are `independent`; the
    last `status` values of its carry are the values and the number of the check that
    has failed first, and nobody looks at anything else where one has.
    """

    independent: bool = False
    status: int = 0

    def params(self, kept: Sequence[bool]) -> dict[str, Any]:
        """The params of an equation that carries the values that are `kept`."""
        last = kept[len(kept) - self.status :]
        status = sum(last) if last and last[-1] else 0
        found = {"independent": self.independent, "status": status}
        return {name: value for name, value in found.items() if value}


def trace_body(
    fun: Callable[..., Any],
    args: Sequence[tuple[TreeDef, Sequence[ShapedArray]]],
    transform: str,
) -> TracedBody:
    """Trace `fun` on arguments of these types, unless it has been.

    Arrays and outer tracers that it reads become operands, in the order in which it
    first uses them.
    """
    structs = tuple(tree.unflatten(map(struct_of, avals)) for tree, avals in args)
    cache, owner = cache_of(fun)
    bound = bind_arguments(form_of(fun), NO_STATICS, structs, {})
    prepared = prepare(bound, config.local.context.face)
    body = told(fun, transform)
    prepared = replace(
        prepared, name=body.name, paths=tuple(map(body.spell, prepared.call.paths))
    )
    entry = find_entry(cache, prepared, owner, body.asker)
    closed, order, arrays = opened(entry)
    values = (*arrays, *entry.captures, *(ref[...] for ref in entry.refs))
    consts = tuple(values[k] for k in order)
    if not entry.refs:
        return TracedBody(closed, consts, entry.out_tree)
    first = len(values) - len(entry.refs)
    sources = tuple(entry.refs[k - first] if k >= first else None for k in order)
    found = TracedBody(closed, consts, entry.out_tree, sources)
    if not entry.writes_refs:
        return found
    ((numbers, _), (tree, _)) = entry.out_tree.meta, entry.out_tree.below
    written = tuple(entry.refs[k] for k in numbers)
    return carrying(replace(found, tree=tree), written, len(written))


def with_results_varied(
    body: TracedBody, along: Sequence[Sequence[Hashable]]
) -> TracedBody:
    """A body whose first results may vary along these axes, too (shard_map.vma)."""
    results = body.closed.out_avals
    along = [*[()] * len(body.written), *along]
    if all({*names} <= {*a.vma} for a, names in zip(results, along)):
        return body

    def call(inputs: Sequence[Value]) -> list[Value]:
        found = apply(body.closed, inputs)
        pairs = zip(found, along)
        return [*(varied(v, names) for v, names in pairs), *found[len(along) :]]

    def make() -> ClosedJaxpr:
        avals = body.closed.in_avals
        name, face = body.closed.jaxpr.debug_name, config.local.context.face
        jaxpr, constants, _ = stage(call, avals, [""] * len(avals), name, "jit", face)
        return ClosedJaxpr(jaxpr, constants, body.closed.backend)

    key = "varied", tuple(map(tuple, along))
    return replace(body, closed=body.closed.memo(key, make))


def carrying(body: TracedBody, written: Sequence[Ref], last: int = 0) -> TracedBody:
    """A body that has the arrays of all these references as it has those that it
    writes; of a body just traced they are the `last` results."""
    own, count = len(body.consts), len(body.written)
    ends = len(body.closed.out_avals) - last
    places = {id(r): k for k, r in enumerate(body.sources) if r is not None}
    mine = {id(r): k for k, r in enumerate(body.written)}
    plan: list[tuple[Any, int | None]] = []
    for k, ref in enumerate(written):
        place: Any = places.get(id(ref), ref.aval.inner_aval)
        out = ends + k if last else mine.get(id(ref))
        plan.append((own + mine[id(ref)] if id(ref) in mine else place, out))
    gone = {place for place, _ in plan}
    kept = tuple(k for k in range(own) if k not in gone)

    def make() -> ClosedJaxpr:
        jaxpr = body.closed.jaxpr
        outer = [
            Var(at) if isinstance(at, ShapedArray) else jaxpr.invars[at]
            for at, _ in plan
        ]
        finals = [
            var if out is None else jaxpr.outvars[out]
            for var, (_, out) in zip(outer, plan, strict=True)
        ]
        invars = (
            *(jaxpr.invars[k] for k in kept),
            *outer,
            *jaxpr.invars[own + count :],
        )
        outvars = (*finals, *jaxpr.outvars[count:ends])
        return ClosedJaxpr(
            replace(jaxpr, invars=invars, outvars=outvars), (), body.closed.backend
        )

    return TracedBody(
        body.closed.memo(("carrying", own, count, tuple(plan)), make),
        tuple(body.consts[k] for k in kept),
        body.tree,
        tuple(body.sources[k] for k in kept) if body.sources else (),
        tuple(written),
    )


Opened = tuple[ClosedJaxpr, tuple[int, ...], tuple[Array, ...]]


def opened(entry: TraceCacheEntry) -> Opened:
    """The program of an entry with its constants as inputs, before the captured ones.

    Both stand in the order in which they are first used; their numbers in that order,
    constants first, come with the constants.
    """
    closed, captured = entry.closed, entry.lifted

    def make() -> Opened:
        jaxpr = closed.jaxpr
        outer = (*jaxpr.constvars, *jaxpr.invars[:captured])
        number = {v: k for k, v in enumerate(outer)}
        atoms: list[Atom] = [a for e in jaxpr.eqns for a in e.inputs]
        used = dict.fromkeys(a for a in (*atoms, *jaxpr.outvars) if a in number)
        order = tuple(number[v] for v in used if isinstance(v, Var))
        invars = (*(outer[k] for k in order), *jaxpr.invars[captured:])
        program = Jaxpr((), invars, jaxpr.eqns, jaxpr.outvars, jaxpr.debug_name)
        pairs = zip(closed.consts, jaxpr.constvars, strict=True)
        arrays = tuple(Array._wrap(c, v.aval) for c, v in pairs)
        return ClosedJaxpr(program), order, arrays

    return closed.memo(("opened", captured), make)


def demand_callable(asker: str, **functions: Any) -> None:
    """Raise TypeError (control.callable) unless all of these can be called."""
    for name, function in functions.items():
        if not callable(function):
            got = f"{name} of {asker} is {type(function).__name__}"
            raise rules.error("control.callable", got=got)


def called(fun: Callable[..., Any]) -> str:
    """The name of a user's function in an error."""
    return function_name(fun)


def first_parameter(fun: Callable[..., Any], default: str) -> str:
    """The name of a body's first argument."""
    names = form_of(fun).names
    return names[0] if names else default


def known_number(value: Any, kind: Callable[[Any], Any] = int) -> Any:
    """The Python number that a value is known to be, or None inside a trace."""
    row = "level.concretize.number"
    if isinstance(value, Tracer):
        if not value.knows(row):
            return None
        value = value.known(row, "int()")
    return kind(value)
