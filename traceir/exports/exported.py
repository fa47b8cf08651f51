"""`Exported`: a program that can be called, traced and pickled. Serves: export.*"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from hashlib import sha256
from keyword import iskeyword
from typing import Any

import numpy as np

from traceir import rules
from traceir.base import config
from traceir.base.tracebacks import entry_points
from traceir.dtypes import float0
from traceir.exports.calls import calls_of
from traceir.exports.derivatives import as_typed, named_alone
from traceir.exports.portable import portable
from traceir.exports.program import ExportedProgram, from_file, program_of, to_file
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.ir.structs import ShapeDtypeStruct, struct_of
from traceir.jit import JitFunction, jit
from traceir.jit.cache.cache_key import leaf_paths
from traceir.jit.function import Options
from traceir.jit.miss_report import differing
from traceir.pytrees import flatten
from traceir.tracing.staging import apply
from traceir.tracing.trace import typeof
from traceir.transforms import vjp
from traceir.transforms.autodiff.jvp_trace import is_inexact

Bytes = bytes | bytearray | memoryview


@entry_points()
class Exported(JitFunction[..., Any]):
    """A program under the name of the function that it was traced from.

    Called with arguments of the types that it was exported for, alone or inside a
    trace: it can be differentiated, batched and jitted like any function. The
    derivative rule of a traced function holds here, and in files that have the rule;
    without it a derivative is an error (custom.named).

    Raises TypeError (jit.signature, jit.compiled-tree, jit.compiled) for other
    arguments. Pickling it is pickling its file, with rules for first derivatives.
    """

    __slots__ = ("_exported", "_files", "_pickle")

    def __init__(
        self,
        program: ExportedProgram,
        backend: str | None = None,
        file: bytes | None = None,
    ) -> None:
        self._exported = program
        options = Options(backend=backend, x64=program.x64, numpy_out=program.numpy_out)
        super().__init__(_function(program), None, None, options)
        # What cannot be written is told when it is exported.
        self._files = {0: to_file(program)} if file is None else {}
        self._pickle = file

    @property
    def backend(self) -> str | None:
        """The backend that runs the program, None for the default."""
        return self._options.backend

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The program, with the names of functions alone."""
        return portable(self._exported.closed)

    @property
    def fun_name(self) -> str:
        """The name of the function."""
        return self._name

    @property
    def call(self) -> Exported:
        """The program itself, which is called."""
        return self

    @property
    def in_avals(self) -> tuple[ShapedArray, ...]:
        """The types of the leaves of the arguments."""
        return self.jaxpr.in_avals

    @property
    def out_avals(self) -> tuple[ShapedArray, ...]:
        """The types of the leaves of the result."""
        return self.jaxpr.out_avals

    @property
    def in_tree(self) -> flatten.TreeDef:
        """The structure of the arguments: a tuple of them."""
        return self._exported.in_tree

    @property
    def out_tree(self) -> flatten.TreeDef:
        """The structure of the results."""
        return self._exported.out_tree

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platforms that the program runs on, whichever it was exported for."""
        return "cpu", "cuda"

    @property
    def nr_devices(self) -> int:
        """The number of devices that run the program: one."""
        return 1

    def has_vjp(self) -> bool:
        """True if the derivative rules of all functions in the program are known.

        >>> import traceir
        >>> program = traceir.export(traceir.nn.relu, 1.0)
        >>> data = program.serialize()
        >>> program.has_vjp(), traceir.deserialize(data).has_vjp()
        (True, False)
        """
        return not any(map(named_alone, calls_of(self._exported.closed)))

    def vjp(self) -> Exported:
        """The program of the reverse-mode derivative.

        It takes the leaves of the arguments, then a cotangent for each leaf of the
        result that is a real or complex number, and gives a tuple of the cotangents
        of the arguments, with float0 for those that are integers.

        Raises TypeError (custom.named) where a rule is not known.

        >>> import traceir, traceir.numpy as jnp
        >>> program = traceir.export(lambda x, n: n * x * x, 3.0, 2)
        >>> program.vjp()(3.0, 2, 1.0)
        (Array(12., dtype=float32, weak_type=True), array(..., dtype=[('float0', 'V')]))
        """
        program = self._exported
        ins = program.closed.in_avals
        outs = program.closed.out_avals
        real = [k for k, aval in enumerate(outs) if is_inexact(aval)]

        def pullback(*values: Any) -> Any:
            found, back = vjp(
                lambda *leaves: run_flat(program, leaves), *values[: len(ins)]
            )
            given = iter(values[len(ins) :])
            cts = [
                next(given) if k in real else np.zeros(np.shape(out), float0)
                for k, out in enumerate(found)
            ]
            return back(cts)

        pullback.__name__ = f"{program.name}_vjp"
        types = [struct_of(aval) for aval in (*ins, *[outs[k] for k in real])]
        with config.ConfigScope(program.surroundings()), config.enable_x64(program.x64):
            entry = jit(pullback).trace(*types).entry
        return Exported(program_of(entry, program.numpy_out))

    def serialize(self, vjp_order: int = 0) -> bytes:
        """The file of the program, for `deserialize`; its form is in the specification.

        With `vjp_order=n` the file has the derivative rules of functions in the
        program, so that what is read can be differentiated n times, in either mode. It
        is not needed without such functions. The rules are traced now.

        Raises ValueError (export.order) for a number that is no order, TypeError
        (custom.named) where a rule is not known, (export.whole) where a rule calls
        the host, and what rules raise.

        >>> import traceir, traceir.numpy as jnp
        >>> program = traceir.export(traceir.nn.relu, 1.0)
        >>> data = program.serialize(vjp_order=1)
        >>> data[:17]
        b'traceir program 1'
        >>> traceir.grad(traceir.deserialize(data))(2.0)
        Array(1., dtype=float32, weak_type=True)
        """
        if type(vjp_order) is not int or vjp_order < 0:
            raise rules.error("export.order", got=f"vjp_order={vjp_order!r}")
        if vjp_order not in self._files:
            self._files[vjp_order] = to_file(self._exported, vjp_order)
        return self._files[vjp_order]

    def __reduce_ex__(self, protocol: Any) -> Any:
        data = self.serialize(1) if self._pickle is None else self._pickle
        return deserialize, (data, self.backend)

    def __dask_tokenize__(self) -> object:
        return "traceir.Exported", sha256(self.serialize()).hexdigest(), self.backend

    def __repr__(self) -> str:
        inner = ", ".join(aval.str_short() for aval in self.in_avals)
        return f"<Exported {self._name}({inner})>"


def trace(fun: Callable[..., Any], args: Any, kwargs: Any) -> Exported:
    """The program of a function for these arguments; see `traceir.export`."""
    function = fun if isinstance(fun, JitFunction) else jit(fun)
    check_shapes(flatten.leaves((args, kwargs)))
    traced = function.trace(*args, **kwargs)
    return Exported(program_of(traced.entry, traced.numpy_out))


def check_shapes(leaves: Sequence[Any]) -> None:
    """Raise TypeError (export.shapes) for a dimension that is no number."""
    for leaf in leaves:
        shape = leaf.shape if isinstance(leaf, ShapeDtypeStruct) else ()
        if not all(hasattr(type(size), "__index__") for size in shape):
            raise rules.error("export.shapes", got=f"an argument of shape {shape}")


def deserialize(data: Bytes, backend: str | None = None) -> Exported:
    """The program of a file that `Exported.serialize` gave.

    Nothing in a file is run when it is read. `backend` is as of `jit`.

    Raises ValueError: export.file where bytes are missing or were changed,
    export.version where the format is a later one, export.program for a program that
    this version does not know; TypeError (export.tree) for a class that is not
    registered.

    >>> import traceir, traceir.numpy as jnp
    >>> data = traceir.export(jnp.sin, traceir.ShapeDtypeStruct((2,), "float32"))
    >>> sin = traceir.deserialize(data.serialize())
    >>> sin(jnp.zeros(3))
    Traceback (most recent call last):
        ...
    traceir.errors.RuleTypeError: Argument types differ from the types for which this...
      got: argument x compiled with f32[2] and called with f32[3]
      ...
    """
    if not isinstance(data, Bytes):
        raise TypeError(
            f"a program's file is bytes, got {type(data).__name__}; pass what "
            "`pathlib.Path(...).read_bytes()` gives"
        )
    whole = bytes(data)
    return Exported(from_file(whole), backend, whole)


def _function(program: ExportedProgram) -> Callable[..., Any]:
    """A function that applies the program, with the signature that the labels tell."""

    def run(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *[kwargs[name] for name in program.labels[len(args) :]])
        leaves, tree = flatten.flatten(given)
        if tree is not program.in_tree:
            got = differing(program.labels, tree, program.in_tree, "exported")
            hint = "pass what it was exported for, without static arguments"
            raise rules.error("jit.compiled-tree", got=got, hint=hint)
        return program.out_tree.unflatten(run_flat(program, leaves))

    run.__name__ = run.__qualname__ = program.name
    run.__doc__ = f"The exported program of {program.name}."
    setattr(run, "__signature__", signature(program.labels))  # noqa: B010  # unknown to type checkers
    return run


def run_flat(program: ExportedProgram, leaves: Sequence[Any]) -> list[Any]:
    """The leaves of the results; TypeError (jit.compiled) for leaves of other types."""
    return apply(program.closed, _typed(program, leaves))


def signature(labels: Sequence[str]) -> inspect.Signature:
    """The signature of a program whose arguments have these names.

    Those up to the last that is no name, such as one of `*args`, are passed by their
    positions alone.

    >>> signature(("x", "args[0]", "n"))
    <Signature (x, _1, /, n)>
    """
    named = [label.isidentifier() and not iskeyword(label) for label in labels]
    last = max((k for k, good in enumerate(named) if not good), default=-1)
    alone, usual = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    return inspect.Signature(
        [
            inspect.Parameter(
                label if named[k] else f"_{k}", alone if k <= last else usual
            )
            for k, label in enumerate(labels)
        ]
    )


def _typed(program: ExportedProgram, leaves: Sequence[Any]) -> list[Any]:
    """The leaves as strong or weak as the program has them.

    Raises TypeError (jit.compiled) for another shape or dtype.
    """
    wrong, found = [], []
    paths = leaf_paths(program.labels, program.in_tree)
    for path, leaf, want in zip(paths, leaves, program.closed.in_avals, strict=True):
        have = typeof(leaf)
        if (have.shape, have.dtype) != (want.shape, want.dtype):
            wrong.append(
                f"argument {path} compiled with {want.str_short()} and called with "
                f"{have.str_short()}"
            )
        found.append(leaf if wrong else as_typed(leaf, want))
    if wrong:
        hint = "export the function for these types as well"
        raise rules.error("jit.compiled", got="; ".join(wrong), hint=hint)
    return found
