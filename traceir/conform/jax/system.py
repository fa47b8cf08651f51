"""JAX as a system that sessions run on. Imported only where JAX is.

Serves: cache.*, level.*
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.export
from jax._src import core

from traceir.conform.casefiles.values import TypedValue
from traceir.conform.casefiles.width import WIDE
from traceir.conform.jax import keys, programs
from traceir.conform.judging.run import Unsupported
from traceir.conform.systems.jitted import Target
from traceir.conform.systems.systems import AnyFunction, JitOptions, Scope, Static
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.text import parse

NAMESPACES: Mapping[str, Any] = {
    "numpy": jax.numpy,
    "random": jax.random,
    "lax": jax.lax,
    "api": jax,
}
FLAGS = frozenset(
    {
        *("enable_x64", "numpy_dtype_promotion", "numpy_rank_promotion"),
        *("default_matmul_precision", "disable_jit", "no_tracing"),
        *("log_compiles", "explain_cache_misses", "debug_nans", "debug_infs"),
        *("check_tracer_leaks", "debug_key_reuse"),
    }
)
OPTIONS = frozenset(
    {"static_argnums", "static_argnames", "keep_unused", "inline", "backend"}
)


@dataclass(frozen=True)
class JaxSystem:
    """`jax.jit` as a system."""

    namespaces: Mapping[str, Any] = field(default_factory=lambda: NAMESPACES)

    def bind(self, primitive: str, /, *values: Any, **params: Any) -> Any:
        """A primitive of JAX, bound as its users' libraries bind it."""
        return programs.bind(primitive, *values, **params)

    def jit(self, fun: AnyFunction, static: Static, options: JitOptions) -> AnyFunction:
        """`jax.jit`; options that it lacks are unsupported."""
        if unknown := sorted(options.keys() - OPTIONS):
            raise Unsupported(f"jit has no {', '.join(unknown)}")
        given = dict(options)
        if not given.keys() & {"static_argnums", "static_argnames"}:
            given["static_argnames"] = static
        function: AnyFunction = jax.jit(fun, **given)
        return function

    def via(self, transform: str, target: Target) -> AnyFunction:
        """`make_jaxpr`, and the stages of a jitted function."""
        jitted: Any = target.jitted
        if transform == "make_jaxpr":
            names = list(inspect.signature(target.fun).parameters)
            numbers = tuple(names.index(n) for n in target.static)
            staged: AnyFunction
            staged = jax.make_jaxpr(target.fun, static_argnums=numbers)
            return staged
        if transform == "compiled":
            return lambda *args, **kwargs: jitted.lower(*args, **kwargs).compile()
        if transform == "exported":
            # Called without its file, which takes a package that JAX does not bring.
            return lambda *args: jax.export.export(jitted)(*args).call
        if transform in ("eval_shape", "trace", "lower"):
            found: AnyFunction = getattr(jitted, transform)
            return found
        raise Unsupported(f"calls through {transform}")

    def function(self, program: ClosedJaxpr) -> AnyFunction:
        """A program of JAX as a function."""
        function = core.jaxpr_as_fun(programs.Translation().program(program))

        def call(*args: Any) -> Any:
            found = function(*args)
            return found[0] if len(found) == 1 else tuple(found)

        return call

    def array(self, value: TypedValue) -> Any:
        """The array, or a number of Python where it is weakly typed."""
        if value.aval.weak_type and not value.aval.shape:
            return value.array.item()
        if value.aval.weak_type:
            raise Unsupported("weak arrays that are no scalars, as arguments")
        if value.aval.dtype.itemsize == WIDE.get(value.aval.dtype.kind):
            # What it becomes depends on the flag in force, as for any user.
            return value.array
        return keys.array(value.array)

    def value(self, leaf: Any) -> TypedValue:
        """A leaf of a result with its type."""
        ours = keys.aval(jax.typeof(leaf))
        return TypedValue(ours, keys.kept(jax.numpy.asarray(leaf)))

    def program(self, staged: Any) -> ClosedJaxpr:
        """The program as JAX prints it, read."""
        found = staged if hasattr(staged, "consts") else staged.jaxpr
        return parse(str(found))

    def setting(self, name: str, args: tuple[Any, ...]) -> Scope | None:
        """The flags of JAX's configuration, and forgetting traces."""
        if name == "clear_cache":
            args[0].clear_cache()
            return None
        flag, values = (args[0], args[1:]) if name == "config" else (name, args)
        if (flag, values) == ("num_cpu_devices", (jax.device_count(),)):
            return nullcontext()
        if flag not in FLAGS or len(values) != 1:
            raise Unsupported(f"the setting {name}")
        scope: Scope = getattr(jax, flag)(*values)
        return scope

    def probe(self, name: str, args: tuple[Any, ...]) -> Any:
        """`cache_size`: JAX counts the signatures of calls, not traces."""
        if name != "cache_size":
            raise Unsupported(f"the probe {name}")
        return args[0]._cache_size()

    def rule(self, error: Exception) -> str | None:
        """None: the class of an exception is all that JAX's errors tell."""
        return None
