"""Ahead-of-time stages: traced, lowered and compiled functions. Serves: jit.compiled"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from traceir import rules
from traceir.arrays.array import Array
from traceir.base import config
from traceir.base.fast_dataclass import dataclass
from traceir.base.moved_modules import attributes_of
from traceir.base.tracebacks import entry_points
from traceir.errors import shown
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.ir.notebooks import NotebookText
from traceir.ir.structs import struct_of
from traceir.ir.unroll_report import SourceReport, source_report
from traceir.jit.backends import Executable, executable, text_of
from traceir.jit.cache.trace_cache import TraceCacheEntry
from traceir.jit.cache.writeback import check_targets, write_back
from traceir.jit.hot_path.float_faults import check_not_raising
from traceir.jit.hot_path.raw_keys import inputs_of, to_numpy
from traceir.pytrees import flatten
from traceir.tracing.trace import Tracer, current_trace, typeof

# Earlier pickles have `ShapeDtypeStruct` by this module's name.
__getattr__ = attributes_of("traceir.ir.structs")


@dataclass(frozen=True, eq=False, repr=False, slots=True, weakref_slot=True)
class _Stage:
    """A traced function on its way to machine code."""

    entry: TraceCacheEntry
    backend: str
    keep_unused: bool
    numpy_out: bool

    def __repr__(self) -> str:
        name = self.entry.closed.jaxpr.debug_name
        return f"<{type(self).__name__} {name} for {self.backend}>"

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The traced program."""
        return self.entry.closed

    @property
    def in_avals(self) -> tuple[ShapedArray, ...]:
        """The types of the leaves of the arguments."""
        return self.entry.closed.in_avals

    @property
    def out_info(self) -> Any:
        """The shapes and dtypes of the result."""
        structs = list(map(struct_of, self.entry.closed.out_avals))
        return self.entry.out_tree.unflatten(structs)

    @property
    def out_tree(self) -> flatten.TreeDef:
        """The structure of the results."""
        return self.entry.out_tree

    @property
    def in_tree(self) -> flatten.TreeDef:
        """The structure of the traced arguments."""
        return self.entry.call.treedef


class Traced(_Stage):
    """A traced function: its program, not yet lowered."""

    __slots__ = ()

    def as_text(self) -> str:
        """The program's text."""
        name = self.entry.closed.jaxpr.debug_name
        return NotebookText(str(self.entry.closed), "jaxpr", f"jaxpr of {name}")

    def report(self) -> SourceReport:
        """The user's lines by the equations that they recorded, most first.

        >>> import traceir, traceir.numpy as jnp
        >>> traceir.jit(lambda x: jnp.sin(x) * x).trace(1.0).report().equations
        2
        """
        return source_report(self.entry.closed)

    def lower(self) -> Lowered:
        """Lower to the backend's source."""
        return Lowered(self.entry, self.backend, self.keep_unused, self.numpy_out)


@entry_points("as_text", "compile")
class Lowered(_Stage):
    """A function lowered to its backend's source."""

    __slots__ = ()

    def _executable(self) -> Executable:
        return executable(self.entry, self.backend, self.keep_unused)

    def as_text(self, dialect: str | None = None) -> str:
        """The text of `Compiled.as_text`: by default the generated source."""
        return text_of(self._executable(), self.backend, dialect)

    def compile(self) -> Compiled:
        """Compile to machine code."""
        exe = self._executable()
        return Compiled(self.entry, self.backend, self.keep_unused, self.numpy_out, exe)


@entry_points("__call__", "as_text")
@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Compiled(_Stage):
    """A compiled function: called with arguments of exactly the types it was made for.

    Static arguments, and those that are known by demand, are left out of the call.
    """

    exe: Executable

    def as_text(self, dialect: str | None = None) -> str:
        """The text that was compiled, or its translation in another `dialect`.

        By default the "source": the jaxpr, and below it the source that the backend
        made of it; of the reference, which makes none, the jaxpr alone. Compiled by
        Numba there are "llvm" and "asm", for a CUDA device "ptx". Raises ValueError
        (jit.dialect) for another.

        >>> import traceir, traceir.numpy as jnp
        >>> compiled = traceir.jit(jnp.sin).lower(1.0).compile()
        >>> [word in compiled.as_text() for word in ("lambda ;", "f32[] = sin")]
        [True, True]
        """
        return text_of(self.exe, self.backend, dialect)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self.numpy_out:
            check_not_raising()
        labels = self.entry.call.labels
        leaves = self._leaves(args, kwargs)
        values = [*args, *[kwargs[name] for name in labels[len(args) :]]]
        if self.entry.writes:
            check_targets(self.entry.out_tree.meta, leaves, self.entry.call)
        arrays = inputs_of(leaves, self.entry.call)
        results = self.exe.run(*arrays)
        avals = self.entry.closed.out_avals
        wrap = to_numpy if self.numpy_out else Array._wrap
        found = self.entry.out_tree.unflatten(list(map(wrap, results, avals)))
        if not self.entry.writes:
            return found
        return write_back(found, values, leaves)

    def _leaves(self, args: Any, kwargs: Any) -> list[Any]:
        """Check a call; raises TypeError (jit.compiled, jit.compiled-tree)."""
        call = self.entry.call
        labels, treedef = call.labels, call.treedef
        try:
            values = (*args, *[kwargs[name] for name in labels[len(args) :]])
        except KeyError as error:
            raise rules.error("jit.compiled-tree", got=f"no argument {error}") from None
        leaves, tree = flatten.flatten(values)
        if tree is not treedef or len(kwargs) + len(args) != len(labels):
            got = differing(labels, tree, treedef, "compiled")
            known = [f"; {label} is known, and left out" for label, _ in call.known]
            raise rules.error("jit.compiled-tree", got="".join((got, *known)))
        if current_trace() is not None or any(isinstance(v, Tracer) for v in leaves):
            raise rules.error("jit.compiled-traced", got="a traced argument")
        with self._wide():
            wrong = self._wrong(leaves)
        if wrong:
            raise rules.error("jit.compiled", got="; ".join(wrong))
        return leaves

    def _wide(self) -> config.ConfigScope:
        """A scope with 64-bit types if the function was traced with them."""
        fields = {"x64": True} if self.entry.call.enable_x64 else {}
        return config.ConfigScope(fields)

    def _wrong(self, leaves: list[Any]) -> list[str]:
        """A message for each leaf that has another type."""
        return [
            f"argument {path} compiled with {want.str_short()} and called with "
            f"{typeof(leaf).str_short()}"
            for path, leaf, want in zip(
                self.entry.call.paths, leaves, self.in_avals, strict=True
            )
            if not _fits(leaf, want)
        ]


def _fits(leaf: Any, want: ShapedArray) -> bool:
    """A leaf fits when it has the shape and dtype; weakness does not matter."""
    have = typeof(leaf)
    return have.shape == want.shape and have.dtype == want.dtype


def differing(
    labels: Sequence[str], given: flatten.TreeDef, wanted: flatten.TreeDef, made: str
) -> str:
    """The arguments in which two structures of all arguments differ.

    >>> given, wanted = flatten.structure((1, {})), flatten.structure((1, 2))
    >>> differing(("x", "y"), given, wanted, "compiled")
    'y is PyTreeDef({}), compiled for PyTreeDef(*)'
    """
    parts = [
        f"{label} is {shown(have)}, {made} for {shown(want)}"
        for label, have, want in zip(labels, given.below, wanted.below, strict=False)
        if have != want
    ]
    return "; ".join(parts) or f"{shown(given)}, {made} for {shown(wanted)}"
