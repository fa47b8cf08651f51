"""An exported program as data, and its conversion to a file.

Serves: export.whole, export.program, export.same
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from traceir import rules
from traceir.base import config
from traceir.base.fast_dataclass import dataclass
from traceir.base.version import VERSION
from traceir.errors import TraceirError
from traceir.exports.calls import count_calls
from traceir.exports.container import FileContents, broken, pack, unpack
from traceir.exports.kept import ProgramReader, ProgramWriter
from traceir.exports.portable import portable
from traceir.exports.trees import tree_from_json, tree_to_json
from traceir.ir.jaxpr import ClosedJaxpr, Jaxpr
from traceir.jit.cache.trace_cache import TraceCacheEntry
from traceir.jit.cache.writeback import refused, writes_anything
from traceir.pytrees import flatten


@dataclass(frozen=True, slots=True)
class ExportedProgram:
    """A traced function without the function.

    `labels` are the names of the arguments, `in_tree` how they nest; results are
    NumPy's arrays with `numpy_out`, and 64-bit arguments are kept with `x64`. Its
    derivative rules are functions where it was traced here, and programs elsewhere.
    """

    name: str
    closed: ClosedJaxpr
    labels: tuple[str, ...]
    in_tree: flatten.TreeDef
    out_tree: flatten.TreeDef
    x64: bool
    numpy_out: bool
    context: config.Context | None = None

    def surroundings(self) -> dict[str, Any]:
        """The context that the function was traced in, where it was traced here."""
        names = [each.name for each in fields(config.Context)]
        return {name: getattr(self.context, name) for name in names if self.context}


def program_of(entry: TraceCacheEntry, numpy_out: bool) -> ExportedProgram:
    """The program of a trace; TypeError (export.whole, update.refused)."""
    call, closed = entry.call, entry.closed
    name = closed.jaxpr.debug_name
    if entry.captures:
        got = f"{name}, which holds a value of the trace around it"
        raise rules.error("export.whole", got=got)
    if entry.uses_refs:
        raise rules.error("ref.region", got=f"{name}, which is exported")
    if entry.checks is not None and entry.checks.raises:
        got = f"{name}, which may raise an exception of its own"
        raise rules.error("export.whole", got=got, where=entry.checks.first_line)
    out_tree = entry.out_tree
    if entry.writes:
        if writes_anything(out_tree):
            raise refused(out_tree, call, name)
        out_tree = out_tree.below[0]  # arguments are C-contiguous here
    portable(closed)
    return ExportedProgram(
        name,
        closed,
        call.labels,
        call.treedef,
        out_tree,
        call.enable_x64,
        numpy_out,
        replace(call.context, face=call.face),
    )


def to_file(program: ExportedProgram, order: int = 0) -> bytes:
    """The bytes of a program's file, with derivative rules to that depth.

    Raises TypeError (export.tree) and ValueError (text.opaque) for what has no text,
    and what tracing a rule raises.
    """
    writer = ProgramWriter()
    text = writer.text(program.closed)
    head: dict[str, Any] = {
        "name": program.name,
        "by": f"traceir {VERSION}",
        "arguments": list(program.labels),
        "in": tree_to_json(program.in_tree),
        "out": tree_to_json(program.out_tree),
        "x64": program.x64,
        "numpy": program.numpy_out,
    }
    if order and count_calls(program.closed):
        with config.ConfigScope(program.surroundings()):
            head["derivatives"] = writer.derivatives(program.closed, order)
    return pack(FileContents(head, text, tuple(writer.blocks.found)))


def from_file(data: bytes) -> ExportedProgram:
    """The program of a file; see `deserialize`."""
    parts = unpack(data)
    reader = ProgramReader(parts)
    found = _named(reader.program(parts.text), parts.head)
    if "derivatives" not in parts.head:
        return found
    ruled = reader.with_derivatives(found.closed, parts.head["derivatives"])
    return replace(found, closed=ruled)


def _named(closed: ClosedJaxpr, head: Any) -> ExportedProgram:
    """The program with the head's statements about it; ValueError (export.file)."""
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
    return ExportedProgram(name, named, labels, *trees, *options)
