"""`JitFunction`: traced on the first call, compiled code after.

Serves: cache.*, jit.*

The path of a call:

1. `JitFunction.__call__` makes a *raw key*: the interned context and, for each
   argument, its interned type (or dtype and shape, or the Python type of a number). A
   hit runs the compiled program on the arrays' memory, and wraps the results.
2. Otherwise arguments are bound to the signature and flattened, and rows of
   `cache.toml` give the key, whose entry is found, or made by tracing once.
3. Inside another trace, the entry becomes one `jit` equation. Outside, it is compiled
   by the backend, and a runner for this raw key is kept.
"""

# mypy: no-warn-return-any
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from types import MethodType
from typing import Any, Generic, ParamSpec, TypeVar, overload

from traceir import rules
from traceir.base import config, cost_model
from traceir.base.config import local
from traceir.base.tracebacks import entry_points, users_frames, wraps
from traceir.errors import TraceirError
from traceir.ir.notebooks import NotebookText
from traceir.jit import stages
from traceir.jit.backends import default_backend, executable_of_calls, resolve
from traceir.jit.cache import signature
from traceir.jit.cache.cache_key import CallSignature
from traceir.jit.cache.known_arguments import CompiledFunction
from traceir.jit.cache.options import Options as Options
from traceir.jit.cache.trace_cache import (
    GUARD,
    LAST,
    CacheInfo,
    TraceCacheEntry,
    cache_of,
    make_room,
)
from traceir.jit.cache.writeback import refused, write_traced, writes_anything
from traceir.jit.hot_path.float_faults import fault_error, is_set
from traceir.jit.hot_path.guard_codegen import MISS, Runner
from traceir.jit.hot_path.known_values import RunnersByValue, admit, by_value
from traceir.jit.hot_path.raw_keys import keeps_on_device, make_fast_path, raw_key
from traceir.jit.inlining import inlined
from traceir.jit.instrument import instrumented
from traceir.jit.miss_report import explained, retrace_reason, tell_trace
from traceir.jit.pickling import Making, Pickled
from traceir.jit.runtime_checks import OutOfRoom
from traceir.jit.staging import (
    CROSSING,
    Prepared,
    check_seal,
    find_or_demand,
    function_name,
    held,
    prepare,
    prepare_plain,
    traces_jit,
)
from traceir.sanitize.nan_checks import watched
from traceir.tracing.knowledge import way_of
from traceir.tracing.staging import StagingTrace, apply, face_module
from traceir.tracing.trace import bind

# The parameters of a function, and its result.
P = ParamSpec("P")
R = TypeVar("R")


@entry_points("trace", "lower", "eval_shape", "source", "explain")
class JitFunction(Pickled, CompiledFunction, Generic[P, R]):
    """A function under `jit`: called like the function, compiled per cache key.

    Type checkers know its parameters and its result.
    """

    __name__: str
    __wrapped__: Callable[P, R]
    __signature__ = signature.OfWrapped()

    # Not in `__dict__`, which is copied to what wraps the function.
    __slots__ = (
        *("_fun", "_name", "_options", "_form", "_static", "_cache", "_owner"),
        *("_traced", "_fast", "_raw_static", "_faults", "__dict__", "__weakref__"),
    )

    def __init__(
        self,
        fun: Callable[P, R],
        argnums: int | Sequence[int] | None,
        argnames: str | Iterable[str] | None,
        options: Options,
    ) -> None:
        signature.check_callable(fun)
        wraps(fun)(self)
        self._fun = fun
        self._name = function_name(fun)
        self._options = options
        self._form = signature.form_of(fun)
        self._static = signature.resolve_static(self._form.signature, argnums, argnames)
        if options.backend is not None:
            resolve(options.backend)
        self._cache, self._owner = cache_of(fun)
        self._traced = 0
        self._fast = self._cache.fast.setdefault((self._static, options), {})
        self._raw_static = self._static or None
        self._faults = is_set if options.face == "numpy" else None

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            state = local
            raw: Any = None
            if state.trace is None:
                if self._faults is not None and self._faults(None) is not None:
                    error = fault_error()
                    if error is not None:
                        return self._refused(error, args, kwargs)
                guard = self._fast.get(GUARD)
                if guard is not None:
                    found = guard(state.context, args, kwargs)
                    if found is not MISS:
                        return found
                raw = raw_key(state.context, args, kwargs, self._raw_static)
                runner: Any = self._fast.get(raw)
                if runner is not None:
                    if (
                        runner.hits < cost_model.GUARDED_CALLS
                        or self._fast.get(LAST) is not runner
                    ):
                        runner = self._counted(runner, args, kwargs)
                        if runner is None:
                            return self._call(args, kwargs, raw)
                    return runner.run(args, kwargs)
            return self._call(args, kwargs, raw)
        except Exception as error:
            users_frames(error)
            raise
        except OutOfRoom as error:
            if local.trace is not None and error.full.room is not self._cache.room:
                raise
            full = error.full
        try:
            make_room(full)
            return self(*args, **kwargs)
        except Exception as error:
            users_frames(error)
            raise

    def _refused(self, error: TraceirError, args: Any, kwargs: Any) -> Any:
        """A call that cannot be made."""
        raise error

    def _counted(
        self, runner: Runner | RunnersByValue, args: Any, kwargs: Any
    ) -> Runner | None:
        """The runner of a call; None if its known arguments have new values.

        Guards the function once calls of one kind come one after the other. Strict
        traces are looked at in each call, and have no guard.
        """
        if isinstance(runner, RunnersByValue):
            found = runner.chosen(args, kwargs)
            if found is None:
                return None
            runner = found
        if runner.entry.seal is not None:
            check_seal(runner.entry, self._fun)
            return runner
        calls = self._fast
        if runner.entry.writes:  # a guard takes no notice of the arguments
            return runner
        if calls.get(LAST) is not runner:
            self._cache.remember(calls, LAST, runner.entry, runner)
            runner.hits = 0
        runner.hits += 1
        if runner.hits == cost_model.GUARDED_CALLS:
            guard = runner.guard(args, kwargs)
            self._cache.remember(calls, GUARD, runner.entry, guard)
        return runner

    def _call(self, args: Any, kwargs: Any, raw: Any) -> Any:
        """A call that the raw keys do not know: bind, look up, perhaps trace."""
        if CROSSING and config.local.trace is None:
            return CROSSING[0](self, args, kwargs, raw, self._call_here)
        return self._call_here(args, kwargs, raw)

    def _call_here(self, args: Any, kwargs: Any, raw: Any) -> Any:
        """The same, of arrays whose elements are all in this process."""
        if not traces_jit():
            return self._fun(*args, **kwargs)
        call = self._options.face, self._fun, args, kwargs
        if part := inlined(*call):
            return part[0]
        args, kwargs = held(call[0], self._static, args, kwargs)
        if args is not call[2] or not way_of("jit").keeps:
            raw = None  # of what it stands for, if of anything
        with self._context():
            entry, prepared = self._entry(self._prepare(args, kwargs))
            if config.local.trace is not None:
                part = inlined(*call, (entry.closed.jaxpr, entry.out_tree))
                return part[0] if part else self._stage(entry, prepared)
            unused = self._options.keep_unused
            exe: Any = executable_of_calls(entry, self._backend(), unused)
            if watched(config.local.context):
                exe = instrumented(exe, entry.closed, config.local.context)
        if entry.uses_refs:
            from traceir.jit.hot_path import reference_arrays  # which few need

            return reference_arrays.call_on_refs(
                entry, exe, prepared, self._options.numpy_out
            )
        run = make_fast_path(entry, exe, prepared, self._options.numpy_out)
        if raw is not None:
            bound = prepared.bound
            static = self._static.extended(bound.known_origins)
            made = run, entry, raw[0], static, bound.origins, exe.run
            # A guard knows arrays of the host alone, which lie nowhere else.
            tried = keeps_on_device(exe) or hasattr(run, "places")
            runner = Runner(*made, self._options.numpy_out, _guard_tried=tried)
            found = by_value(self._fast.get(raw), bound, args, kwargs, runner)
            self._cache.remember(self._fast, raw, entry, found)
        entry.hits -= 1  # `run` counts this call, which was counted when looked up
        return run(args, kwargs)

    def _context(self) -> Any:
        return self._options.scope(config.local.context)

    def _prepare(self, args: Any, kwargs: Any) -> Prepared:
        args, kwargs = held(self._options.face, self._static, args, kwargs)
        bound = signature.bind_arguments(self._form, self._static, args, kwargs)
        if self._options.face == "numpy":
            prepared = prepare_plain(self._cache, bound, self._options.strict)
            admit(prepared.bound)
            return prepared
        return prepare(bound, self._options.face, self._options.strict)

    def _backend(self) -> str:
        return self._options.backend or default_backend()

    def _entry(
        self, prepared: Prepared, transform: str = "jit"
    ) -> tuple[TraceCacheEntry, Prepared]:
        """The entry of a call, and the call with what it demands known."""
        how = self._fun, transform, self._before_trace
        entry, prepared = find_or_demand(self._cache, prepared, *how)
        refuses = entry.writes and not self._options.write_arguments
        if refuses and writes_anything(entry.out_tree):
            raise refused(entry.out_tree, entry.call, self._name)
        return entry, prepared

    def _before_trace(self, call: CallSignature, key: Any) -> None:
        """Count and log a trace; raises what `tell_trace` does."""
        reason = functools.partial(retrace_reason, self._cache, call, key)
        tell_trace(self._name, self._traced + 1, self._options.max_traces, reason)
        self._traced += 1

    def _stage(self, entry: TraceCacheEntry, prepared: Prepared) -> Any:
        """Inside a trace: one `jit` equation, or with `inline` its equations."""
        if entry.uses_refs:
            from traceir.jit.hot_path import reference_arrays  # which few need

            return reference_arrays.record_on_refs(entry, prepared, self._bind)
        results = self._bind(entry, [*entry.captures, *prepared.leaves])
        found = entry.out_tree.unflatten(results)
        if not entry.writes:
            return found
        roots = [value for _, value in prepared.bound.dynamic]
        return write_traced(found, roots, prepared.leaves, entry.call)

    def _bind(self, entry: TraceCacheEntry, operands: list[Any]) -> Any:
        """The results of one `jit` equation, or with `inline` of its equations; what
        fails in it fails in the program around it."""
        trace = config.local.trace
        records, checks = isinstance(trace, StagingTrace), entry.checks
        if records and trace.face == "jax" and checks and not checks.raises:
            checks = None  # JAX's rule holds for places
        closed = entry.closed if checks is None else checks.closed
        # An equation that is recorded leaves the backend open.
        closed = closed if records else closed.on(self._backend())

        def run(values: Sequence[Any]) -> Sequence[Any]:
            if self._options.inline:
                return apply(closed, values)
            return list(bind("jit", *values, jaxpr=closed, name=self._name))

        if records and trace.transform == "jit":
            failed = trace.checks or trace.status is not None or trace.writes_outside
            if checks is None and not failed:
                return list(run(operands))
            called = face_module("numpy").called
            return list(called(trace, closed, checks, run, operands))
        found = run(operands)
        return found if checks is None else checks.looked_at(found)

    @overload
    def __get__(self, instance: None, owner: type) -> JitFunction[P, R]: ...

    # Asked for static methods, too, which are not bound: any arguments, then.
    @overload
    def __get__(self, instance: object, owner: Any = None) -> JitFunction[..., R]: ...

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def _making(self) -> Making:
        static = sorted(self._static.positions), sorted(self._static.names)
        return Making((*static, self._options))

    def __repr__(self) -> str:
        return f"<JitFunction of {self._fun!r}>"

    def trace(self, /, *args: Any, **kwargs: Any) -> stages.Traced:
        """Trace for these arguments (arrays or ShapeDtypeStruct) without running.

        >>> import traceir, traceir.numpy as jnp
        >>> traced = traceir.jit(jnp.sin).trace(1.0)
        >>> print(traced.jaxpr)
        { lambda ; a:f32[]. let b:f32[] = sin a in (b,) }
        """
        with self._context():
            entry, prepared = self._entry(self._prepare(args, kwargs))
            form = self._called(prepared, args, kwargs)
        made = self._backend(), self._options.keep_unused, self._options.numpy_out
        return stages.Traced(entry, *made, form)

    def _called(self, prepared: Prepared, args: Any, kwargs: Any) -> stages.CallForm:
        return stages.form_of(self, prepared)

    def lower(self, /, *args: Any, **kwargs: Any) -> stages.Lowered:
        """`trace` and lower to the backend's source."""
        return self.trace(*args, **kwargs).lower()

    def eval_shape(self, /, *args: Any, **kwargs: Any) -> Any:
        """The shapes and dtypes of the result, as a tree of ShapeDtypeStruct."""
        return self.trace(*args, **kwargs).out_info

    def source(self, /, *args: Any, **kwargs: Any) -> str:
        """The source that the backend generates for these arguments."""
        return self.lower(*args, **kwargs).as_text()

    def explain(self, /, *args: Any, **kwargs: Any) -> str:
        """Tell if a call would hit the cache, and if not, why; nothing is traced.

        A trace whose captures have changed is "stale", with the variable that did.
        With `what="speed"`, what the compiled program does with the machine: its
        kernels, what each one fuses, reads and writes, how wide its vectors are and
        how many threads share it, which arrays lie in memory between them and why,
        and how long the program took to make. With `what="compile"`, where that time
        went. With `what="sharding"`, how each result lies on devices, and where that
        would have been a guess. Then it is traced and, but for the last, compiled.

        Raises ValueError (jit.explain) for another `what`.

        >>> import traceir
        >>> f = traceir.jit(lambda x: x + 1)
        >>> f(1.0), f.explain(2.0)
        (Array(2., dtype=float32, weak_type=True), 'hit')
        >>> print(f.explain(2))
        miss: cache.key.dtype: argument x was f32, now i32
        >>> print(f.explain(2.0, what="speed"))
        lambda_: 1 kernel; 8 bytes of arguments and results
        1. lambda_0_map: add over one element; reads a, writes b, 8 bytes; ...
        made in: simplify and fuse ... ms, ...
        """
        own = "what" in self._form.signature.parameters
        what = "cache" if own else kwargs.pop("what", "cache")
        if what not in ("cache", "speed", "compile", "sharding"):
            raise rules.error("jit.explain", got=repr(what))
        with self._context():
            found = self._explained(what, self._prepare(args, kwargs))
        return NotebookText(found, "text", f"{what} of {self._name}")

    def _explained(self, what: str, prepared: Prepared) -> str:
        if what == "cache":
            return explained(self._cache, prepared, self._fun)
        entry, prepared = self._entry(prepared)
        if what == "sharding":
            from traceir.jit.hot_path import result_layouts  # which few programs need

            return result_layouts.explained(entry, prepared.leaves)
        exe = executable_of_calls(entry, self._backend(), self._options.keep_unused)
        return f"{exe.as_text(what)}, trace {entry.seconds * 1e3:.1f} ms"

    def cache_info(self) -> CacheInfo:
        """Hits, misses, size and compilations of the function's cache."""
        return self._cache.info()

    def _cache_size(self) -> int:
        """The number of entries, as JAX's functions tell it."""
        return self.cache_info().currsize

    def clear_cache(self) -> None:
        """Forget the function's traces, for every `jit` of the function."""
        self._cache.clear()
        self._traced = 0
