"""A small `jit`, right in all that the cases of a cache ask: what wrong ones change.

One page over the project's tracing: a key, a place where traces are kept, equations for
calls inside a trace.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, MutableMapping
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from traceir import rules
from traceir.arrays.array import Array
from traceir.base import config
from traceir.conform.judging.run import Unsupported
from traceir.conform.systems.systems import Scope, Target, TraceirSystem
from traceir.jit.cache.cache_key import CallSignature, KeyTable
from traceir.jit.cache.signature import bind_arguments, form_of, resolve_static
from traceir.jit.cache.trace_cache import TraceCacheEntry
from traceir.jit.runtime_checks import ListRoom
from traceir.jit.staging import Prepared, make_entry, prepare
from traceir.reference.interpreter import eval_jaxpr
from traceir.rules import default
from traceir.tracing.concretization import ArgumentDemand
from traceir.tracing.trace import as_numpy, bind, current_trace, typeof

Store = MutableMapping[Hashable, TraceCacheEntry]


class Small(TraceirSystem):
    """A system whose `jit` is on this page.

    What a wrong one may have otherwise: the rows of the key, the key of a call, which
    function a trace belongs to and what is kept where.
    """

    without: frozenset[str] = frozenset()

    def __init__(self) -> None:
        super().__init__("reference")
        self.table = KeyTable(default(), self.without)
        self.stores: MutableMapping[Any, dict[Hashable, TraceCacheEntry]] = (
            WeakKeyDictionary()
        )

    def key(self, call: CallSignature, args: Any, kwargs: Any) -> Hashable:
        """The key of a call."""
        return self.table.key(replace(call, function=None))

    def store(self, jitted: SmallJit) -> dict[Hashable, TraceCacheEntry]:
        """The traces that are kept with a function."""
        return self.stores.setdefault(jitted.owner, {})

    def owner(self, fun: Callable[..., Any]) -> Callable[..., Any]:
        """The function that traces are kept with: the first of those that are equal."""
        return next((known for known in self.stores if known == fun), fun)

    def place(self, jitted: SmallJit, entry: TraceCacheEntry) -> Store:
        """The store of a new trace: with the function or with the trace around it."""
        trace = current_trace()
        if entry.captures and trace is not None:
            return trace.nested
        return self.store(jitted)

    def failed(self, jitted: SmallJit, key: Hashable, error: Exception) -> None:
        """Called when a trace has raised."""

    def clear(self, jitted: SmallJit) -> None:
        """Forget the traces of a function."""
        self.store(jitted).clear()
        jitted.made = 0

    def disabled(self) -> bool:
        """True if functions run as they are."""
        return config.current().disable_jit

    # What a session asks of a system ------------------------------------------------

    def jit(
        self,
        fun: Callable[..., Any],
        static: tuple[str, ...],
        options: Mapping[str, Any],
    ) -> Callable[..., Any]:
        """The function under the small `jit`."""
        if options.keys() - {"max_traces"}:
            raise Unsupported(f"the options {', '.join(options)}")
        return SmallJit(self, fun, static, options.get("max_traces"))

    def via(self, transform: str, target: Target) -> Callable[..., Any]:
        """Every stage is a trace."""
        assert isinstance(target.jitted, SmallJit)
        if transform == "compiled":
            raise Unsupported("compiling ahead of time")
        return target.jitted.entry

    def setting(self, name: str, args: tuple[Any, ...]) -> Scope | None:
        """Forgetting traces, and what the project's own system can set."""
        match name, args:
            case "clear_cache", (SmallJit() as jitted,):
                self.clear(jitted)
                return None
        return super().setting(name, args)

    def probe(self, name: str, args: tuple[Any, ...]) -> Any:
        """`cache_size` of a function."""
        match name, args:
            case "cache_size", (SmallJit() as jitted,):
                return len(self.store(jitted))
        return super().probe(name, args)


class SmallJit:
    """A function under the small `jit`."""

    def __init__(
        self,
        system: Small,
        fun: Callable[..., Any],
        static: tuple[str, ...],
        limit: int | None,
    ) -> None:
        self.system = system
        self.fun = fun
        self.owner = system.owner(fun)
        self.limit = limit
        self.made = 0
        self.form = form_of(fun)
        self.static = resolve_static(self.form.signature, None, static)
        self.open: set[Hashable] = set()

    def prepared(self, args: Any, kwargs: Any) -> Prepared:
        """The call, bound and flattened."""
        bound = bind_arguments(self.form, self.static, args, kwargs)
        return prepare(bound, self.system.face)

    def entry(self, *args: Any, **kwargs: Any) -> TraceCacheEntry:
        """The trace of a call, made now if there is none."""
        prepared = self.prepared(args, kwargs)
        key = self.system.key(prepared.call, args, kwargs)
        trace = current_trace()
        for store in (trace.nested if trace else {}, self.system.store(self)):
            if key in store:
                return store[key]
        if key in self.open:
            raise rules.error("cache.recursion")
        if self.limit is not None and self.made >= self.limit:
            raise rules.error("cache.max_traces")
        self.made += 1
        self.open.add(key)
        try:
            entry = make_entry(prepared, key, self.fun, "jit", ListRoom())
        except ArgumentDemand as error:
            raise Unsupported("arguments that are known by demand") from error
        except Exception as error:
            self.system.failed(self, key, error)
            raise
        finally:
            self.open.discard(key)
        self.system.place(self, entry)[key] = entry
        return entry

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.system.disabled():
            return self.fun(*args, **kwargs)
        entry, leaves = self.entry(*args, **kwargs), self.prepared(args, kwargs).leaves
        if current_trace() is not None:
            operands = [*entry.captures, *leaves]
            results = bind("jit", *operands, jaxpr=entry.closed, name="small")
        else:
            avals = entry.closed.in_avals
            arrays = [as_numpy(v, typeof(v)) for v in leaves]
            narrow = [a.astype(t.dtype) for a, t in zip(arrays, avals, strict=True)]
            found = eval_jaxpr(entry.closed, entry.closed.consts, *narrow)
            results = tuple(map(Array._wrap, found, entry.closed.out_avals))
        return entry.out_tree.unflatten(list(results))
