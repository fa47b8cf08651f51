"""An exported program as data, and to and from a file.

Serves: export.whole, export.program, export.same
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from traceir import pytree, rules, source
from traceir.avals import ShapedArray
from traceir.errors import TraceirError
from traceir.exports.constants import Blocks, from_bytes
from traceir.exports.container import Parts, broken, pack, unpack
from traceir.exports.trees import tree_from_json, tree_to_json
from traceir.ir import ClosedJaxpr, Eqn, HostFunction, Jaxpr
from traceir.jit.cache import Entry
from traceir.jit.written import refused
from traceir.records import dataclass
from traceir.text import parse, to_text
from traceir.typing import check
from traceir.version import VERSION


@dataclass(frozen=True, slots=True)
class Program:
    """A traced function without the function.

    `labels` are the names of the arguments, `in_tree` how they nest; results are
    NumPy's arrays with `numpy_out`, and 64-bit arguments are kept with `x64`.
    """

    name: str
    closed: ClosedJaxpr
    labels: tuple[str, ...]
    in_tree: pytree.TreeDef
    out_tree: pytree.TreeDef
    x64: bool
    numpy_out: bool


def program_of(entry: Entry, numpy_out: bool) -> Program:
    """The program of a trace; TypeError (export.whole, update.refused)."""
    call, closed = entry.call, entry.closed
    name = closed.jaxpr.debug_name
    if entry.captures:
        got = f"{name}, which holds a value of the trace around it"
        raise rules.error("export.whole", got=got)
    if entry.writes:
        raise refused(entry.out_tree.meta, call, name)
    return Program(
        name,
        portable(closed),
        call.labels,
        call.treedef,
        entry.out_tree,
        call.enable_x64,
        numpy_out,
    )


def portable(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program with the names of functions of the host in place of the functions.

    Raises TypeError (export.whole) for an equation that calls one when it is run.
    """
    made: ClosedJaxpr = closed.memo("portable", lambda: _portable(closed))
    return made


def _portable(closed: ClosedJaxpr) -> ClosedJaxpr:
    jaxpr = closed.jaxpr
    eqns = tuple(map(_equation, jaxpr.eqns))
    made = Jaxpr(jaxpr.constvars, jaxpr.invars, eqns, jaxpr.outvars, jaxpr.debug_name)
    return ClosedJaxpr(made, closed.consts)


def _equation(eqn: Eqn) -> Eqn:
    row = rules.default().prims.get(eqn.primitive)
    if row is not None and row.host:
        where = source.user_frame_summary(eqn.source) if eqn.source else None
        got = f"the equation `{eqn.primitive}`, which calls the host"
        raise rules.error("export.whole", got=got, where=where)
    params = tuple((name, _param(value)) for name, value in eqn.params)
    return Eqn(eqn.primitive, eqn.inputs, eqn.outputs, params, eqn.effects, eqn.source)


def _param(value: Hashable) -> Hashable:
    if type(value) is tuple:
        return tuple(map(_param, value))
    if isinstance(value, ClosedJaxpr):
        return portable(value)
    return HostFunction(value.name) if isinstance(value, HostFunction) else value


def to_file(program: Program) -> bytes:
    """The bytes of a program's file.

    Raises TypeError (export.tree) and ValueError (text.opaque) for what has no text.
    """
    blocks = Blocks()
    text = to_text(program.closed, full=True, keep=blocks.keep)
    head = {
        "name": program.name,
        "by": f"traceir {VERSION}",
        "arguments": list(program.labels),
        "in": tree_to_json(program.in_tree),
        "out": tree_to_json(program.out_tree),
        "x64": program.x64,
        "numpy": program.numpy_out,
    }
    return pack(Parts(head, text, tuple(blocks.found)))


def from_file(data: bytes) -> Program:
    """The program of a file; see `deserialize`."""
    parts = unpack(data)

    def constant(number: int, aval: ShapedArray) -> np.ndarray:
        if number >= len(parts.blocks):
            raise broken(f"there is no constant {number}")
        return from_bytes(parts.blocks[number], aval)

    try:
        closed = parse(parts.text, kept=constant)
        check(closed)
    except RecursionError:
        raise broken("its program nests too deeply") from None
    except TraceirError as error:
        if error.rule == "export.file":
            raise
        got = f"{error.rule}: {error.got}; the file was written by {_by(parts.head)}"
        raise rules.error("export.program", got=got) from error
    return _named(closed, parts.head)


def _by(head: Any) -> str:
    return str(head.get("by", "an unknown version"))[:80]


def _named(closed: ClosedJaxpr, head: Any) -> Program:
    """The program with what the head says of it; ValueError (export.file)."""
    try:
        name = str(head["name"])
        labels = tuple(map(str, head["arguments"]))
        trees = tree_from_json(head["in"]), tree_from_json(head["out"])
        options = bool(head["x64"]), bool(head["numpy"])
    except TraceirError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise broken(f"its head cannot be read: {error!r:.80}") from None
    jaxpr = closed.jaxpr
    counts = len(jaxpr.invars), len(jaxpr.outvars)
    if counts != tuple(tree.num_leaves for tree in trees):
        raise broken("its arguments and results are not those of its program")
    if trees[0].node_type is not tuple or len(trees[0].below) != len(labels):
        raise broken("it has other names of arguments than arguments")
    if len({*labels}) != len(labels):
        raise broken("two of its arguments have one name")
    parts = jaxpr.constvars, jaxpr.invars, jaxpr.eqns, jaxpr.outvars, name
    named = ClosedJaxpr(Jaxpr(*parts), closed.consts)
    return Program(name, named, labels, *trees, *options)
