"""Arguments that a plain function wrote to, and the copies back. Serves: update.*

A trace of such a function has these arrays among its results; a call copies them to the
arguments when the program has run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.jit.cache.cache_key import CallSignature
from traceir.jit.cache.fingerprints import MISSING, attributes_of, is_open
from traceir.pytrees.node_types import kind_of
from traceir.pytrees.registry import register_pytree_node
from traceir.pytrees.treedef import TreeDef


@dataclass(frozen=True, eq=False, slots=True)
class Written:
    """Results, and the new elements of the arguments of these numbers.

    `placed` are the arguments that must be C-contiguous, as they were in the trace.
    """

    results: Any
    values: tuple[Any, ...]
    numbers: tuple[int, ...]
    placed: tuple[int, ...] = ()


register_pytree_node(
    Written,
    lambda node: ((node.results, node.values), (node.numbers, node.placed)),
    lambda which, parts: Written(parts[0], parts[1], *which),
)
# The numbers of the arguments that are written to, and of those that are `placed`.
Which = tuple[tuple[int, ...], tuple[int, ...]]
# A way from the arguments to a container: steps of a kind and a key.
Path = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, eq=False, slots=True)
class Item:
    """An element of a container: a `leaf` of the arguments, what is at a `path`, a
    `result`, one that is a Python `number`, a `constant`, or a `list`, `tuple` or
    `dict` of items."""

    kind: str
    value: Any


@dataclass(frozen=True, eq=False, slots=True)
class ContainerWrite:
    """The contents of a caller's container after the run, by its keys."""

    path: Path
    label: str
    items: tuple[tuple[Any, Item], ...]


@dataclass(frozen=True, eq=False, slots=True)
class Updated:
    """Results, and the new elements of containers; `plan` has what is written, and the
    ways to all containers."""

    results: Any
    values: tuple[Any, ...]
    plan: tuple[tuple[ContainerWrite, ...], tuple[Path, ...]]


register_pytree_node(
    Updated,
    lambda node: ((node.results, node.values), node.plan),
    lambda plan, parts: Updated(parts[0], parts[1], plan),
)


def contents(value: Any) -> dict[Any, Any] | None:
    """The elements of a list, tuple or dict, or an object's attributes; else None.

    >>> contents(["a", "b"]), contents({"x": 1}), contents(2.5)
    ({0: 'a', 1: 'b'}, {'x': 1}, None)
    """
    if isinstance(value, (list, tuple)):
        return dict(enumerate(value))
    if isinstance(value, dict):
        return dict(value)
    kind: Any = type(value)
    if value is None or (kind_of(kind) is None and not is_open(kind)):
        return None
    return {n: v for n, v in attributes_of(value) if v is not MISSING}


def update_containers(updated: Updated, roots: Sequence[Any], leaves: Any) -> Any:
    """Repeat the function's changes in the caller's containers; returns the results.

    Raises ValueError (update.overlap) for one that is among the arguments twice.
    """
    writes, paths = updated.plan
    targets = [_at(write.path, roots) for write in writes]
    among = [id(_at(path, roots)) for path in paths]
    for write, target in zip(writes, targets, strict=True):
        if among.count(id(target)) > 1:
            got = f"argument {write.label}, a part of which occurs twice"
            raise rules.error("update.overlap", got=got)

    def made(item: Item) -> Any:
        """The element that an item describes."""
        match item.kind:
            case "leaf":
                return leaves[item.value]
            case "path":
                return _at(item.value, roots)
            case "result":
                return updated.values[item.value]
            case "number":
                found = updated.values[item.value]
                return found.item() if isinstance(found, np.generic) else found
            case "list":
                return list(map(made, item.value))
            case "tuple":
                return tuple(map(made, item.value))
            case "dict":
                return {key: made(part) for key, part in item.value}
        return item.value

    news = [{key: made(item) for key, item in write.items} for write in writes]
    for target, new in zip(targets, news, strict=True):
        _fill(target, new)
    return updated.results


def _at(path: Path, roots: Sequence[Any]) -> Any:
    found = roots
    for kind, key in path:
        found = getattr(found, key) if kind == "attribute" else found[key]
    return found


def _fill(target: Any, new: dict[Any, Any]) -> None:
    """Make these the elements of a container, or the attributes of an object."""
    if isinstance(target, list):
        target[:] = new.values()
    elif isinstance(target, dict):
        for key in [key for key in target if key not in new]:
            del target[key]
        target.update(new)
    else:
        for name, value in new.items():
            if getattr(target, name, MISSING) is not value:
                setattr(target, name, value)


def check_targets(which: Which, leaves: Sequence[Any], call: CallSignature) -> None:
    """Raise unless these arguments can be written to, and lie as they should.

    ValueError (update.readonly, update.overlap, update.layout), TypeError
    (update.argument).
    """
    numbers, placed = which
    _check_layout(placed, leaves, call)
    for k in numbers:
        target = leaves[k]
        if not isinstance(target, np.ndarray):
            got = f"argument {call.paths[k]}, of type {type(target).__name__}"
            raise rules.error("update.argument", got=got)
        if not target.flags.writeable:
            raise rules.error("update.readonly", got=f"argument {call.paths[k]}")
    _check_overlap(numbers, leaves, call)


def _check_layout(
    placed: Sequence[int], leaves: Sequence[Any], call: CallSignature
) -> None:
    """Raise ValueError (update.layout) unless these arguments are C-contiguous."""
    for k in placed:
        flags = getattr(leaves[k], "flags", None)
        if flags is not None and not flags.c_contiguous:
            got = f"argument {call.paths[k]}, with strides {leaves[k].strides}"
            raise rules.error("update.layout", got=got)


def _check_overlap(
    numbers: Sequence[int], leaves: Sequence[Any], call: CallSignature
) -> None:
    """Raise ValueError (update.overlap) if another argument shares an element."""
    if len(leaves) == 1:
        return
    # What is traced has an array that lies as it would.
    memories = [getattr(leaf, "memory", leaf) for leaf in leaves]
    arrays = {k: m for k, m in enumerate(memories) if isinstance(m, np.ndarray)}
    for k in (k for k in numbers if k in arrays):
        for other, memory in arrays.items():
            if other != k and overlap(arrays[k], memory):
                paths = call.paths[k], call.paths[other]
                got = "argument {}, which overlaps argument {}".format(*paths)
                raise rules.error("update.overlap", got=got)


def overlap(one: np.ndarray, other: np.ndarray) -> bool:
    """True if two arrays share an element, or may do so.

    >>> x = np.arange(4)
    >>> overlap(x[:2], x[2:]), overlap(x[:2], x[1:])
    (False, True)
    """
    if not np.may_share_memory(one, other):
        return False
    work: Any = 10_000  # to decide it for all strides may take very long
    try:
        return np.shares_memory(one, other, max_work=work)
    except np.exceptions.TooHardError:
        return True


def write_back(written: Written, roots: Sequence[Any], leaves: Sequence[Any]) -> Any:
    """Copy written values to the arguments, the `roots`; returns the results."""
    for k, value in zip(written.numbers, written.values, strict=True):
        if value is not leaves[k]:
            np.copyto(leaves[k], value)
    return _updated(written.results, roots, leaves)


class Overwritten(NamedTuple):
    """An argument's number, that of the result that is written to it, and of the first
    result that has the same elements.
    """

    argument: int
    result: int
    first: int


def apart(
    outs: Sequence[np.ndarray],
    inputs: Sequence[np.ndarray],
    over: Sequence[Overwritten],
) -> list[np.ndarray]:
    """A program's results, of which only those that are written to arguments are in
    the memory of these.

    >>> x, y = np.zeros(2), np.ones(2)
    >>> found = apart([x, y, y.copy()], [x, y], [Overwritten(1, 2, 1)])
    >>> found[0] is x, found[1] is y, found[2] is y
    (True, False, True)
    """
    found = [*outs]
    kept = set()
    for k, n, first in over:
        place = _place(inputs[k])
        if n != first and _place(found[first]) == place:
            found[first], found[n] = found[n], found[first]  # one is a copy
        if _place(found[n]) == place:
            found[n] = inputs[k]
            kept.add(n)
    for number, out in enumerate(found):
        shared = (np.may_share_memory(out, inputs[k]) for k, _, _ in over)
        if number not in kept and any(shared):
            found[number] = out.copy()
    return found


def _place(array: np.ndarray) -> int:
    """The address of an array's elements."""
    address: int = array.__array_interface__["data"][0]
    return address


def _updated(found: Any, roots: Sequence[Any], leaves: Sequence[Any]) -> Any:
    """The results, after the containers have been updated."""
    return update_containers(found, roots, leaves) if type(found) is Updated else found


def write_traced(
    written: Written, roots: Sequence[Any], leaves: Sequence[Any], call: CallSignature
) -> Any:
    """As `write_back`, inside the trace of another plain function: to its arrays.

    Raises TypeError (update.argument) for an array that cannot be written to,
    ValueError (update.layout, update.overlap).
    """
    _check_layout(written.placed, leaves, call)
    _check_overlap(written.numbers, leaves, call)
    for k, value in zip(written.numbers, written.values, strict=True):
        store = getattr(type(leaves[k]), "store", None)
        if store is None:
            got = f"argument {call.paths[k]}, of type {type(leaves[k]).__name__}"
            raise rules.error("update.argument", got=got)
        store(leaves[k], value)
    return _updated(written.results, roots, leaves)


def results_of(found: Any) -> Any:
    """The results of a function that has written nothing to its arguments."""
    return found.results if type(found) is Written else found


def writes_anything(tree: TreeDef) -> bool:
    """True if a function writes to an argument, by the structure of its results."""
    return bool(tree.meta[0]) or tree.below[0].node_type is Updated


def refused(tree: TreeDef, call: CallSignature, name: str) -> Exception:
    """The error of a function that may not write to its arguments and does, by the
    structure of its results."""
    paths = [call.paths[k] for k in tree.meta[0]]
    inner = tree.below[0]
    if inner.node_type is Updated:
        paths += [write.label for write in inner.meta[0]]
    return rules.error("update.refused", got=f"{name} writes to {', '.join(paths)}")
