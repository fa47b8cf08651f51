"""The cache key of a call, computed from the rows of the table. Serves: cache.key.*"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

from traceir import rules
from traceir.base.config import FLAGS, Context
from traceir.base.fast_dataclass import dataclass
from traceir.errors import shown
from traceir.ir.avals import ShapedArray, short_dtype
from traceir.jit.cache.static_keys import typed
from traceir.pytrees import flatten
from traceir.rules import KeyRow, Rules
from traceir.rules.formulas.language import compile_formula

Key = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class CallSignature:
    """The values that the rows of the key may look at, and the names that `explain`
    shows.
    """

    function: Any
    context: Context
    face: str
    strict: bool
    labels: tuple[str, ...]
    treedef: flatten.TreeDef
    avals: tuple[ShapedArray, ...]
    statics: tuple[tuple[str, Any], ...]
    axes: tuple[tuple[Hashable, int], ...] = ()
    # The keys of the dicts among the arguments, where these count in their own order.
    orders: tuple[tuple[Any, ...], ...] = ()
    # Arguments that are known, though they are not static.
    known: tuple[tuple[str, Any], ...] = ()

    def __getattr__(self, flag: str) -> Any:
        """The value of a flag."""
        if flag in FLAGS:
            return getattr(self.context, FLAGS[flag].field)
        raise AttributeError(flag)

    @property
    def tree(self) -> Hashable:
        """The nesting of the traced arguments, with the arguments' names."""
        own = (self.orders,) if self.orders else ()
        return self.labels, self.treedef, *own

    @property
    def paths(self) -> tuple[str, ...]:
        """The user's spelling of each leaf of the traced arguments."""
        return leaf_paths(self.labels, self.treedef)

    @property
    def leaf_labels(self) -> tuple[str, ...]:
        """The argument of each leaf."""
        pairs = zip(self.labels, self.treedef.below, strict=True)
        return tuple(label for label, tree in pairs for _ in range(tree.num_leaves))


def leaf_paths(labels: Sequence[str], treedef: flatten.TreeDef) -> tuple[str, ...]:
    """The user's spelling of each leaf of the arguments, such as `d['k'][0]`."""
    return tuple(
        flatten.key_path(path, label)
        for label, child in zip(labels, treedef.below, strict=True)
        for path in child.paths()
    )


def axes_where(
    named: Mapping[Hashable, Any], context: Context
) -> tuple[tuple[Hashable, int], ...]:
    """The names of axes where a call is, and their sizes; the mesh that is set, too.

    >>> axes_where({"i": 2}, Context())
    (('i', 2),)
    """
    mesh = context.mesh
    return (*named.items(), *([] if mesh is None else [(mesh, mesh.size)]))


class KeyTable:
    """The rows of `cache.toml` as one function from calls to keys."""

    def __init__(self, rules: Rules, without: frozenset[str] = frozenset()) -> None:
        self.rows = tuple(row for row in rules.keys if row.id not in without)
        self._parts: dict[str, Callable[..., Hashable]] = {
            row.id: compile_formula(row.part, _NAMES[row.per]) for row in self.rows
        }

    def key(self, call: CallSignature) -> Key:
        """The parts of every row, in order; a tuple for a row per leaf or static.

        Raises ValueError (cache.static.hashable).
        """
        return tuple(self._row(row, call) for row in self.rows)

    def _row(self, row: KeyRow, call: CallSignature) -> Hashable:
        part = self._parts[row.id]
        match row.per:
            case "call":
                return part(call)
            case "leaf":
                return tuple(part(aval) for aval in call.avals)
            case "static":
                return tuple((name, part(v, typed)) for name, v in call.statics)
            case _:
                return tuple((name, part(v, typed)) for name, v in call.known)

    def differences(self, old: KeyedCall, new: KeyedCall) -> Iterator[str]:
        """One line for each row that differs, with the argument, old and new."""
        for row, was, now in zip(self.rows, old.key, new.key, strict=True):
            if _same(was, now):
                continue
            if row.per == "call":
                yield f"{row.id}: was {_show(was)}, now {_show(now)}"
            elif row.per == "leaf":
                yield from _by_leaf(row, new.call.paths, was, now)
            elif row.per == "known":
                yield from _by_known(row, old, new, was, now)
            else:
                yield from _by_static(row, old, new, was, now)


@dataclass(frozen=True, slots=True)
class KeyedCall:
    """A call and its key."""

    call: CallSignature
    key: Key


_NAMES = {
    "call": ("call",),
    "leaf": ("v",),
    "static": ("v", "typed"),
    "known": ("v", "typed"),
}


def _same(was: Any, now: Any) -> bool:
    """True if parts are equal; static values that cannot be compared are not."""
    try:
        return bool(was == now)
    except rules.TraceirError:
        return False


def _by_leaf(row: KeyRow, names: Sequence[str], was: Any, now: Any) -> Iterator[str]:
    if len(was) != len(now):
        return  # a different number of leaves shows in the tree
    part = row.id.rpartition(".")[2]
    for name, a, b in zip(names, was, now, strict=True):
        if a != b:
            # A bare True would read as the argument's value.
            label = f"{part}=" if isinstance(a, bool) else ""
            shown = f"was {label}{_show(a)}, now {label}{_show(b)}"
            yield f"{row.id}: argument {name} {shown}"


def _by_static(
    row: KeyRow, old: KeyedCall, new: KeyedCall, was: Any, now: Any
) -> Iterator[str]:
    """The static arguments that differ between two keys, one sentence each."""
    if len(was) != len(now):
        yield f"{row.id}: there were {len(was)} static arguments, now {len(now)}"
        return
    values = zip(old.call.statics, new.call.statics, strict=True)
    for ((name, before), (_, after)), a, b in zip(values, was, now, strict=True):
        if not _same(a, b):
            change = f"was {_static(before)}, now {_static(after)}"
            yield f"{row.id}: argument {name} {change}"


def _by_known(
    row: KeyRow, old: KeyedCall, new: KeyedCall, was: Any, now: Any
) -> Iterator[str]:
    """The known arguments that differ between two keys, one sentence each."""
    parts, others = dict(was), dict(now)
    before, after = dict(old.call.known), dict(new.call.known)
    for name in dict.fromkeys((*before, *after)):
        if parts.get(name) != others.get(name):
            shown = (
                _static(values[name]) if name in values else "traced"
                for values in (before, after)
            )
            yield f"{row.id}: argument {name} was {next(shown)}, now {next(shown)}"


def _show(part: Any) -> str:
    if hasattr(part, "itemsize"):
        return short_dtype(part)
    match part:
        case (tuple() as labels, flatten.TreeDef() as treedef, *_):
            return f"{treedef} for ({', '.join(labels)})"
    return repr(part)


def _static(value: Any) -> str:
    return f"{shown(value)} ({type(value).__name__})"
