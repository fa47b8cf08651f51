"""References at the border of a traced function. Serves: ref.state, ref.alias

Those among the arguments are `opened`: the function gets new ones, of its own trace,
with the arrays. Those that it closes over are inputs of its program (`closed_over`,
`operands`). What it wrote are results (`with_written`), which the caller writes
(`written_back`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from traceir import rules
from traceir.arrays.array import Array
from traceir.base.fast_dataclass import dataclass
from traceir.pytrees import flatten
from traceir.pytrees.registry import register_pytree_node
from traceir.references.cells import AbstractRef, LocalState, read, write
from traceir.references.reference import Ref, made_ref
from traceir.tracing.staging import StagingTrace
from traceir.tracing.trace import Value, typeof


@dataclass(frozen=True, eq=False, slots=True)
class RefArgument:
    """Stands for a reference among the arguments of a traced function."""

    value: Any
    aval: AbstractRef


def _of_trace(aval: AbstractRef, parts: Sequence[Any]) -> Any:
    """A reference of the trace in force to an array; for what stands for one, the same
    as before."""
    (value,) = parts
    if not isinstance(value, Array):
        return RefArgument(value, aval)
    return made_ref(value, replace(aval, inner_aval=typeof(value)))


register_pytree_node(RefArgument, lambda node: ((node.value,), node.aval), _of_trace)


@dataclass(frozen=True, eq=False, slots=True)
class RefResults:
    """Results, and the new arrays of references: those of these numbers that are closed
    over, and of these that are arguments."""

    of_references: ClassVar[bool] = True
    results: Any
    values: tuple[Any, ...]
    numbers: tuple[tuple[int, ...], tuple[int, ...]]


register_pytree_node(
    RefResults,
    lambda node: ((node.results, node.values), node.numbers),
    lambda numbers, parts: RefResults(parts[0], parts[1], numbers),
)


def opened(
    leaves: list[Any], tree: flatten.TreeDef, paths: Sequence[str]
) -> tuple[Any, tuple[Ref, ...]]:
    """Arguments in which the references are their arrays, and these references.

    Raises ValueError (ref.alias) for one that is there twice.
    """
    refs = [leaf for leaf in leaves if type(leaf) is Ref]
    for k, leaf in enumerate(leaves):
        twice = [n for n in range(k) if leaves[n] is leaf] if type(leaf) is Ref else []
        if twice:
            got = f"{leaf.aval!r}, which is {paths[twice[0]]} and {paths[k]}"
            raise rules.error("ref.alias", got=got)
    held = [RefArgument(read(x), x.aval) if type(x) is Ref else x for x in leaves]
    return tree.unflatten(held), tuple(refs)


def opened_call(args: Any, kwargs: Any) -> tuple[Any, Any, dict[int, Ref]]:
    """The arguments of a call, as `opened` makes them, and the references among their
    leaves, by number."""
    leaves, tree = flatten.flatten((args, kwargs))
    if Ref not in map(type, leaves):
        return args, kwargs, {}
    paths = [flatten.key_path(path[1:], "args") for path in tree.paths()]
    (args, kwargs), _ = opened(leaves, tree, paths)
    return args, kwargs, {k: x for k, x in enumerate(leaves) if type(x) is Ref}


def refs_in(tree: Any) -> list[Ref]:
    """The references among the leaves of a tree."""
    return [leaf for leaf in flatten.leaves(tree) if type(leaf) is Ref]


def with_written(trace: StagingTrace, own: Sequence[Ref], results: Any) -> Any:
    """The results of a function that has been traced, with the arrays of references
    that it wrote, if there are any."""
    states: list[LocalState] = list((trace.refs or {}).values())
    outer = tuple(k for k, state in enumerate(states) if state.written)
    mine = tuple(k for k, ref in enumerate(own) if ref._written)
    if not outer and not mine:
        return results
    values = (*(states[k].value for k in outer), *(own[k]._value for k in mine))
    return RefResults(results, values, (outer, mine))


def closed_over(trace: StagingTrace) -> tuple[Ref, ...]:
    """The references of traces around that a function used, in the order of its
    inputs."""
    return tuple(state.ref for state in (trace.refs or {}).values())


def operands(outer: Sequence[Ref], given: Sequence[Ref]) -> list[Value]:
    """The arrays of references that a program closes over, which is called with others.

    Raises ValueError (ref.alias) for one that is both.
    """
    for ref in outer:
        if any(ref is other for other in given):
            got = f"{ref.aval!r}, which is closed over and an argument"
            raise rules.error("ref.alias", got=got)
    return [read(ref) for ref in outer]


def written_back(found: Any, outer: Sequence[Ref], given: Sequence[Ref]) -> Any:
    """The results of a call, after what it wrote has been written."""
    if type(found) is not RefResults:
        return found
    closed, own = found.numbers
    targets = [*(outer[k] for k in closed), *(given[k] for k in own)]
    for ref, value in zip(targets, found.values, strict=True):
        write(ref, value)
    return found.results
