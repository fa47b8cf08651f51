"""Functions of exported programs: called, traced and pickled. Serves: export.*"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from hashlib import sha256
from keyword import iskeyword
from typing import Any

from traceir import pytree, rules
from traceir.avals import ShapedArray
from traceir.exports.program import Program, from_file, program_of, to_file
from traceir.ir import ClosedJaxpr
from traceir.jit import JitFunction, jit
from traceir.jit.function import Options
from traceir.jit.key import leaf_paths
from traceir.recording import apply
from traceir.trace import bind, typeof


class Exported(JitFunction):
    """A program under the name of the function that it was traced from.

    Called with arguments of the types that it was exported for, alone or inside a
    trace: it can be differentiated, batched and jitted like any function. Where a
    function with a derivative rule of its own was traced, the rule is not part of the
    program, and its derivative is an error (custom.named).

    Raises TypeError (jit.signature, jit.compiled-tree, jit.compiled) for other
    arguments. Pickling it is pickling its file.
    """

    __slots__ = ("_exported", "_file")

    def __init__(self, program: Program, backend: str | None = None) -> None:
        self._exported = program
        options = Options(backend=backend, x64=program.x64, numpy_out=program.numpy_out)
        super().__init__(_function(program), None, None, options)
        self._file = to_file(program)

    @property
    def backend(self) -> str | None:
        """What runs the program, None for the default."""
        return self._options.backend

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The program."""
        return self._exported.closed

    @property
    def in_avals(self) -> tuple[ShapedArray, ...]:
        """The types of the leaves of the arguments."""
        return self.jaxpr.in_avals

    @property
    def out_avals(self) -> tuple[ShapedArray, ...]:
        """The types of the leaves of the result."""
        return self.jaxpr.out_avals

    @property
    def in_tree(self) -> pytree.TreeDef:
        """How the arguments nest: a tuple of them."""
        return self._exported.in_tree

    @property
    def out_tree(self) -> pytree.TreeDef:
        """How the results nest."""
        return self._exported.out_tree

    def serialize(self) -> bytes:
        """The file of the program, for `deserialize`; its form is in the specification.

        >>> import traceir, traceir.numpy as jnp
        >>> traceir.export(jnp.sin, 1.0).serialize()[:17]
        b'traceir program 1'
        """
        return self._file

    def __reduce_ex__(self, protocol: Any) -> Any:
        return deserialize, (self._file, self.backend)

    def __dask_tokenize__(self) -> object:
        return "traceir.Exported", sha256(self._file).hexdigest(), self.backend

    def __repr__(self) -> str:
        inner = ", ".join(aval.str_short() for aval in self.in_avals)
        return f"<Exported {self._name}({inner})>"


def export(fun: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Exported:
    """Trace a function for arguments of these types, as a program that can be kept.

    Arguments are arrays, or `ShapeDtypeStruct` in place of arrays; static ones are
    values, and are no arguments of the program. `Exported.serialize` gives the bytes
    of a file that any process can `deserialize`.

    Raises TypeError (export.whole) for a function that calls the host, such as one
    with `pure_callback`, TypeError (export.tree) for arguments or results in classes
    that are not registered, and what tracing raises.

    >>> import traceir, traceir.numpy as jnp
    >>> def line(w, x):
    ...     return w["a"] * x + w["b"]
    >>> w = {"a": jnp.float32(2), "b": jnp.float32(1)}
    >>> program = traceir.export(line, w, traceir.ShapeDtypeStruct((3,), "float32"))
    >>> program
    <Exported line(f32[], f32[], f32[3])>
    >>> print(program.jaxpr)
    { lambda ; a:f32[] b:f32[] c:f32[3]. let
        d:f32[3] = mul a c
        e:f32[3] = add d b
      in (e,) }
    """
    function = fun if isinstance(fun, JitFunction) else jit(fun)
    traced = function.trace(*args, **kwargs)
    return Exported(program_of(traced.entry, traced.numpy_out))


def deserialize(data: bytes, backend: str | None = None) -> Exported:
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
    if not isinstance(data, bytes):
        raise TypeError(f"a program's file is bytes, got {type(data).__name__}")
    return Exported(from_file(data), backend)


def _function(program: Program) -> Callable[..., Any]:
    """A function that applies the program, with the signature that the labels tell."""

    def run(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *[kwargs[name] for name in program.labels[len(args) :]])
        leaves, tree = pytree.flatten(given)
        if tree is not program.in_tree:
            got = f"{tree}, exported for {program.in_tree}"
            hint = "pass what it was exported for, without static arguments"
            raise rules.error("jit.compiled-tree", got=got, hint=hint)
        results = apply(program.closed, _typed(program, leaves))
        return program.out_tree.unflatten(results)

    run.__name__ = run.__qualname__ = program.name
    run.__doc__ = f"The exported program of {program.name}."
    setattr(run, "__signature__", signature(program.labels))  # noqa: B010  # unknown to type checkers
    return run


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


def _typed(program: Program, leaves: Sequence[Any]) -> list[Any]:
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
        same = have.weak_type == want.weak_type
        found.append(leaf if same else _weakened(leaf, want))
    if wrong:
        hint = "export the function for these types as well"
        raise rules.error("jit.compiled", got="; ".join(wrong), hint=hint)
    return found


def _weakened(leaf: Any, want: ShapedArray) -> Any:
    return bind(
        "convert_element_type",
        leaf,
        new_dtype=want.dtype,
        weak_type=want.weak_type,
        sharding=None,
    )
