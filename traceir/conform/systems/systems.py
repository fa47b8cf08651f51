"""The protocol `System`, and `traceir` as one.

Serves: cache.*, level.*
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial, update_wrapper
from typing import Any, Protocol

import numpy as np

import traceir.lax
import traceir.numpy
from traceir.arrays.array import Array
from traceir.base import config
from traceir.base.caches import LIMITS
from traceir.conform.casefiles.values import TypedValue
from traceir.conform.judging.run import Unsupported
from traceir.dtypes import is_key, key_of
from traceir.errors import TraceirError
from traceir.exports import deserialize, export
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.jit.api import check_options
from traceir.jit.function import JitFunction, Options
from traceir.jit.make_jaxpr import eval_shape, make_jaxpr
from traceir.pytrees.flatten import leaves
from traceir.reference.kernels.random import keys_of
from traceir.tracing.staging import apply
from traceir.tracing.trace import bind, typeof

Scope = AbstractContextManager[Any]
AnyFunction = Callable[..., Any]
Static = tuple[str, ...]
JitOptions = Mapping[str, Any]
# By the first word of a dotted name in a host function.
NAMESPACES: Mapping[str, Any] = {
    "numpy": traceir.numpy,
    "random": traceir.random,
    "lax": traceir.lax,
    "api": traceir,
}


@dataclass(frozen=True)
class Target:
    """A host function, its static parameters, and the jitted function."""

    fun: AnyFunction
    static: Static
    jitted: AnyFunction


class System(Protocol):
    """A tracing system on which sessions can be run."""

    @property
    def namespaces(self) -> Mapping[str, Any]:
        """Its functions of arrays: the modules of `numpy.sum` and `lax.add`.

        `api` is the package itself, with `devices` and `Array`.
        """

    def bind(self, primitive: str, /, *values: Any, **params: Any) -> Any:
        """A primitive applied; its name and params are those of the tables."""

    def jit(self, fun: AnyFunction, static: Static, options: JitOptions) -> AnyFunction:
        """The function jitted, the parameters of these names being static."""

    def via(self, transform: str, target: Target) -> AnyFunction:
        """The function to call in the function's place: `make_jaxpr`, `lower`, ...

        That of `compiled` is called with arguments to compile for, and returns what is
        called with arguments to run on; that of `exported` returns what the file of
        the program is read as. Raises Unsupported for what does not exist.
        """

    def function(self, program: ClosedJaxpr) -> AnyFunction:
        """A function of arrays that applies the equations of a program."""

    def array(self, value: TypedValue) -> Any:
        """The array that a case writes; a weak one may be a number of Python."""

    def value(self, leaf: Any) -> TypedValue:
        """A result, or an element of a nested one, with its type."""

    def program(self, staged: Any) -> ClosedJaxpr:
        """The result of `make_jaxpr` or `trace`, as a program of the tables."""

    def setting(self, name: str, args: tuple[Any, ...]) -> Scope | None:
        """Change the context of calls, until the returned scope is left.

        In place of the name of a function stands what `jit` made of it. Raises
        Unsupported for an unknown setting.
        """

    def probe(self, name: str, args: tuple[Any, ...]) -> Any:
        """The answer to a question such as `cache_size`; arguments as of settings."""

    def rule(self, error: Exception) -> str | None:
        """The rule that a rejection names, None where the system names none.

        Raises the error again where it is no rejection.
        """


@dataclass
class TraceirSystem:
    """`traceir.jit` with one backend, in each face.

    >>> system = TraceirSystem("reference")
    >>> square = system.jit(lambda x: x * x, (), {})
    >>> str(system.value(square(3.0)))
    '~f32[]{9.0}'
    """

    backend: str
    face: str = "jax"
    namespaces: Mapping[str, Any] = field(default_factory=lambda: NAMESPACES)

    def bind(self, primitive: str, /, *values: Any, **params: Any) -> Any:
        """`traceir.tracing.trace.bind`."""
        return bind(primitive, *values, **params)

    def jit(self, fun: AnyFunction, static: Static, options: JitOptions) -> AnyFunction:
        """A function that is jitted once for each face in which it is called."""
        return _Faces(self, fun, static, options)

    def via(self, transform: str, target: Target) -> AnyFunction:
        """`make_jaxpr`, and the stages of a jitted function."""
        if transform == "make_jaxpr":
            names = list(inspect.signature(target.fun).parameters)
            return make_jaxpr(
                target.fun, static_argnums=[names.index(n) for n in target.static]
            )
        assert isinstance(target.jitted, _Faces)
        function = target.jitted.function
        if transform == "compiled":
            return lambda *args, **kwargs: function.lower(*args, **kwargs).compile()
        if transform == "exported":
            return lambda *args: deserialize(
                export(function, *args).serialize(), self.backend
            )
        # The function of JAX's knows no options of `jit`; the stage has them.
        if transform == "eval_shape" and not (
            target.static or function._options.strict
        ):
            return partial(eval_shape, target.fun)
        if transform in ("eval_shape", "trace", "lower"):
            found: AnyFunction = getattr(function, transform)
            return found
        raise Unsupported(f"calls through {transform}")

    def function(self, program: ClosedJaxpr) -> AnyFunction:
        """`traceir.tracing.staging.apply` of the program."""

        def call(*args: Any) -> Any:
            found = apply(program, args)
            return found[0] if len(found) == 1 else tuple(found)

        return call

    def array(self, value: TypedValue) -> Any:
        """The array, weak where it is."""
        return as_array(value)

    def value(self, leaf: Any) -> TypedValue:
        """The leaf with its type."""
        return as_value(leaf)

    def program(self, staged: Any) -> ClosedJaxpr:
        """The program itself, or that of a stage."""
        found = staged if isinstance(staged, ClosedJaxpr) else staged.jaxpr
        assert isinstance(found, ClosedJaxpr)
        return found

    def setting(self, name: str, args: tuple[Any, ...]) -> Scope | None:
        """The faces, the flags of the configuration, forgetting traces."""
        match name, args:
            case "face", (str() as face,):
                self.face = face
            case "clear_cache", (_Faces() as faces,):
                faces.function.clear_cache()
            case _:
                return flag_scope(name, args)
        return None

    def probe(self, name: str, args: tuple[Any, ...]) -> Any:
        """`cache_size` of a function."""
        match name, args:
            case "cache_size", (_Faces() as faces,):
                return faces.function.cache_info().currsize
        raise Unsupported(f"the probe {name}")

    def rule(self, error: Exception) -> str | None:
        """The rule that the error carries."""
        if isinstance(error, TraceirError):
            return error.rule
        raise error


class _Faces:
    """One function under `jit`, by the face of its system when it is called."""

    def __init__(
        self,
        system: TraceirSystem,
        fun: AnyFunction,
        static: Static,
        options: JitOptions,
    ) -> None:
        update_wrapper(self, fun, updated=())
        self.system = system
        self.make = partial(_jitted, fun, static, options, system.backend)
        self.faces: dict[str, JitFunction[..., Any]] = {}
        assert self.function

    @property
    def function(self) -> JitFunction[..., Any]:
        """The function in the face in force."""
        face = self.system.face
        if face not in self.faces:
            self.faces[face] = self.make(face)
        return self.faces[face]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def _jitted(
    fun: AnyFunction, static: Static, options: JitOptions, backend: str, face: str
) -> JitFunction[..., Any]:
    rest = {"backend": backend, **options, "face": face}
    argnums = rest.pop("static_argnums", None)
    argnames = rest.pop("static_argnames", None) or static
    refused = rest.pop("compiler_options", None), rest.pop("device", None)
    check_options(*refused, (options.get("backend"),))
    return JitFunction(fun, argnums, argnames, Options(**rest))


def flag_scope(name: str, args: tuple[Any, ...]) -> Scope:
    """`enable_x64(true)` or `config('enable_x64', true)` as a scope."""
    flag, values = (args[0], args[1:]) if name == "config" and args else (name, args)
    if flag in config.FLAGS and len(values) == 1:
        scope: Scope = config.scope(flag, values[0])
        return scope
    if flag in LIMITS and len(values) == 1:
        return _limit_scope(flag, values[0])
    raise Unsupported(f"the setting {name}{args}")


@contextmanager
def _limit_scope(name: str, value: object) -> Iterator[None]:
    """A number of the process, as it was afterwards."""
    before = LIMITS[name]
    config.update(name, value)  # type: ignore[arg-type]  # checked there
    try:
        yield
    finally:
        config.update(name, before)


def as_array(value: TypedValue) -> Array:
    """The array of a case's value, weak where it is."""
    return Array._wrap(np.array(value.array, order="C"), value.aval)


def as_value(leaf: Any) -> TypedValue:
    """A leaf of a result as cases write it."""
    aval: ShapedArray = typeof(leaf)
    if is_key(aval.dtype):
        words = np.asarray(traceir.random.key_data(leaf))
        return TypedValue(aval, keys_of(words, key_of(aval.dtype).tag))
    return TypedValue(aval, np.asarray(leaf, aval.dtype))


def results(value: Any) -> list[TypedValue]:
    """The leaves of a result as cases write them."""
    return list(map(as_value, leaves(value)))
