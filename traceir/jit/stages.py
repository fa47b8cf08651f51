"""Ahead-of-time stages: traced, lowered and compiled functions. Serves: jit.compiled"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import LAID_OUT, Array
from traceir.base import config
from traceir.base.fast_dataclass import dataclass
from traceir.base.moved_modules import attributes_of
from traceir.base.tracebacks import entry_points
from traceir.errors import shown
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.ir.notebooks import NotebookText
from traceir.ir.structs import ShapeDtypeStruct, struct_of
from traceir.ir.unroll_report import SourceReport, source_report
from traceir.jit.backends import Executable, executable_of_calls, text_of
from traceir.jit.cache.trace_cache import TraceCacheEntry
from traceir.jit.cache.writeback import apart, check_targets, write_back
from traceir.jit.hot_path.float_faults import check_not_raising
from traceir.jit.hot_path.raw_keys import inputs_of, placing_if_placed, to_numpy
from traceir.jit.miss_report import differing
from traceir.jit.runtime_checks import OutOfRoom
from traceir.jit.staging import AHEAD, Prepared
from traceir.pytrees import flatten
from traceir.tracing.trace import Tracer, current_trace, typeof

# Earlier pickles have `ShapeDtypeStruct` by this module's name.
__getattr__ = attributes_of("traceir.ir.structs")


@dataclass(frozen=True, slots=True)
class ArgInfo:
    """A leaf of the arguments: its type, and whether results may have its memory.

    >>> ArgInfo(ShapedArray((3,), "float32"), False)
    ArgInfo(aval=f32[3], donated=False)
    """

    aval: ShapedArray
    donated: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the leaf."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the leaf."""
        return self.aval.dtype

    def __repr__(self) -> str:
        return f"ArgInfo(aval={self.aval.str_short()}, donated={self.donated})"


@dataclass(frozen=True, slots=True)
class CallForm:
    """A call of a function: where each traced argument stood, the leaves that it
    donates, and how arguments and results are to lie on devices.
    """

    origins: tuple[int | str, ...] = ()
    donated: tuple[int, ...] = ()
    places: tuple[Any, ...] = ()  # of each leaf; none if nothing is said of any
    out_shardings: Any = None
    parts: Any = None  # what this process does of it, if there are several


def form_of(function: Any, prepared: Prepared) -> CallForm:
    """The form of a call: its arguments lie as these leaves do, or are said to."""
    kinds = *LAID_OUT, ShapeDtypeStruct
    found = [v.sharding if type(v) in kinds else None for v in prepared.leaves]
    places = tuple(found) if any(found) else ()
    parts = AHEAD[0](function, prepared, places) if AHEAD else None
    return CallForm(prepared.bound.origins, places=places, parts=parts)


@dataclass(frozen=True, eq=False, repr=False, slots=True, weakref_slot=True)
class _Stage:
    """A traced function on its way to machine code."""

    entry: TraceCacheEntry
    backend: str
    keep_unused: bool
    numpy_out: bool
    form: CallForm

    def __repr__(self) -> str:
        name = self.entry.closed.jaxpr.debug_name
        return f"<{type(self).__name__} {name} for {self.backend}>"

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The traced program."""
        return self.entry.closed

    @property
    def in_avals(self) -> Any:
        """The types of the arguments: a tuple of those by place, a dict of others."""
        return self._arguments(self.entry.call.avals)

    @property
    def args_info(self) -> Any:
        """An `ArgInfo` for each leaf of the arguments, as these nest."""
        donated = set(self.form.donated)
        avals = enumerate(self.entry.call.avals)
        return self._arguments([ArgInfo(aval, k in donated) for k, aval in avals])

    @property
    def in_tree(self) -> flatten.TreeDef:
        """The structure of the traced arguments, as `in_avals` has them."""
        return flatten.structure(self.in_avals)

    @property
    def donate_argnums(self) -> tuple[int, ...]:
        """The numbers of the leaves whose memory results may have."""
        return self.form.donated

    @property
    def out_info(self) -> Any:
        """The shapes and dtypes of the result."""
        structs = list(map(struct_of, self.entry.closed.out_avals))
        return self.out_tree.unflatten(structs[: self.out_tree.num_leaves])

    @property
    def out_tree(self) -> flatten.TreeDef:
        """The structure of the results."""
        tree = self.entry.out_tree
        return tree.below[0] if self.entry.writes_refs else tree

    def _arguments(self, leaves: Sequence[Any]) -> tuple[tuple[Any, ...], Any]:
        """Values of the leaves of the traced arguments, as a call has them."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        rest = iter(leaves)
        trees = self.entry.call.treedef.below
        for origin, tree in zip(self.form.origins, trees, strict=True):
            own = tree.unflatten(list(islice(rest, tree.num_leaves)))
            if isinstance(origin, int):
                args.append(own)
            else:
                kwargs[origin] = own
        return tuple(args), kwargs

    def _next(self, kind: Callable[..., Any], *more: Any) -> Any:
        """The stage after this one."""
        given = self.entry, self.backend, self.keep_unused, self.numpy_out, self.form
        return kind(*given, *more)


class Traced(_Stage):
    """A traced function: its program, not yet lowered."""

    __slots__ = ()

    @property
    def fun_name(self) -> str:
        """The name of the function."""
        return self.entry.closed.jaxpr.debug_name

    @property
    def out_avals(self) -> Any:
        """The types of the result."""
        avals = list(self.entry.closed.out_avals)
        return self.out_tree.unflatten(avals[: self.out_tree.num_leaves])

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
        found: Lowered = self._next(Lowered)
        return found


class _Analyzed(_Stage):
    """A stage that has a text, and whose cost can be told."""

    __slots__ = ()

    def cost_analysis(self) -> dict[str, float]:
        """The work of the program's equations: "flops", "transcendentals", and the
        "bytes accessed" that they read and write, each equation by itself.

        >>> import traceir, traceir.numpy as jnp
        >>> lowered = traceir.jit(lambda x: jnp.sin(x) * 2).lower(jnp.ones(3))
        >>> lowered.cost_analysis()
        {'flops': 3.0, 'transcendentals': 3.0, 'bytes accessed': 52.0}
        """
        from traceir.ir.program_cost import program_cost

        return program_cost(self.entry.closed)


@entry_points("as_text", "compile", "compiler_ir")
class Lowered(_Analyzed):
    """A function lowered to its backend's source."""

    __slots__ = ()

    def _executable(self) -> Executable:
        if (parts := self.form.parts) is not None:
            found: Executable = parts.lowered(self.form.places)._executable()
            return found
        return executable_of_calls(self.entry, self.backend, self.keep_unused)

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """The text of `Compiled.as_text`: by default the generated source.

        Lines of the function stand in it always, so `debug_info` changes nothing.
        """
        return text_of(self._executable(), self.backend, dialect)

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """The program that is compiled: by default the jaxpr, as an object, else its
        text in a dialect of the backend.

        Raises ValueError (jit.dialect) for another dialect.

        >>> import traceir, traceir.numpy as jnp
        >>> print(traceir.jit(jnp.sin).lower(1.0).compiler_ir())
        { lambda ; a:f32[]. let b:f32[] = sin a in (b,) }
        """
        return self.jaxpr if dialect in (None, "jaxpr") else self.as_text(dialect)

    def compile(self, compiler_options: Any = None) -> Compiled:
        """Compile to machine code; ValueError (jit.compiler-options) for options."""
        if compiler_options:
            raise rules.error("jit.compiler-options", got=shown(compiler_options))
        return self._made(self._executable())

    def _made(self, exe: Executable) -> Compiled:
        found: Compiled = self._next(Compiled, exe)
        return found


@entry_points("__call__", "as_text")
@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Compiled(_Analyzed):
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

    def runtime_executable(self) -> Executable:
        """The backend's compiled program, which runs on NumPy arrays."""
        return self.exe

    def memory_analysis(self) -> Any:
        """The bytes of arguments, results, temporary buffers and machine code.

        None with a backend that plans no memory, as the reference.
        """
        found: Any = getattr(self.exe, "memory_analysis", None)
        return None if found is None else found()

    @property
    def input_shardings(self) -> Any:
        """The layouts of the leaves of the arguments on devices, as `in_avals` nest."""
        return self._arguments(_layouts().of_arguments(self.form, self.entry))

    @property
    def output_shardings(self) -> Any:
        """The layouts of the leaves of the result on devices, as a tree like it."""
        places = _layouts().of_results(self.form, self.entry)
        return self.out_tree.unflatten(places[: self.out_tree.num_leaves])

    @property
    def input_formats(self) -> Any:
        """The order of the elements of each argument, and where they are to lie."""
        return flatten.map_(_layouts().format_of, self.in_avals, self.input_shardings)

    @property
    def output_formats(self) -> Any:
        """The order of the elements of each result, and where they lie."""
        return flatten.map_(_layouts().format_of, self.out_info, self.output_shardings)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self.numpy_out:
            check_not_raising()
        labels = self.entry.call.labels
        if self.entry.uses_refs:
            from traceir.jit.hot_path import reference_arrays  # which few need

            return reference_arrays.compiled_on_refs(self, args, kwargs)
        leaves, form = self._leaves(args, kwargs), self.form
        if (form.places or form.parts) and not self.entry.writes:
            leaves = _layouts().laid_arguments(form, leaves)
        if form.parts is not None:
            return self._put(form.parts.called(form.places, leaves))
        values = [*args, *[kwargs[name] for name in labels[len(args) :]]]
        if self.entry.writes:
            check_targets(self.entry.out_tree.meta, leaves, self.entry.call)
        arrays = inputs_of(leaves, self.entry.call)
        try:
            results = apart(self.exe.run(*arrays), arrays, self.entry.overwritten)
        except OutOfRoom as error:
            raise error.full.error("of a program that is not traced again") from None
        avals = self.entry.closed.out_avals
        wrap = to_numpy if self.numpy_out else Array._wrap
        found = self.entry.out_tree.unflatten(list(map(wrap, results, avals)))
        if not self.entry.writes:
            return self._laid_out(found, leaves)
        return write_back(found, values, leaves)

    def _laid_out(self, found: Any, leaves: Sequence[Any]) -> Any:
        run = placing_if_placed(lambda *_: found, self.entry, leaves, self.numpy_out)
        return self._put(run((), {}))

    def _put(self, found: Any) -> Any:
        wanted = self.form.out_shardings
        return found if wanted is None else _layouts().put(wanted, found)

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
                self.entry.call.paths, leaves, self.entry.call.avals, strict=True
            )
            if not _fits(leaf, want)
        ]


def _layouts() -> Any:
    from traceir.jit.hot_path import result_layouts  # which few programs need

    return result_layouts


def _fits(leaf: Any, want: ShapedArray) -> bool:
    """A leaf fits when it has the shape and dtype; weakness does not matter."""
    have = typeof(leaf)
    return have.shape == want.shape and have.dtype == want.dtype
