"""The traces of a function: one per key, made once, held weakly. Serves: cache.*

An entry holds its programs, these their kernels, and a kernel's function the object
file that it runs. An object file holds those whose functions it calls: no table finds
code by its name. So all of it goes with the function, with `clear_caches`, or when
`base.caches.ClockEviction` finds too many entries: its hand passes over those whose
count of hits has changed since it last came by, and a hit costs nothing more. What
threads share and make on demand is made by `base.caches.once`, or put in place by
`setdefault` when it is whole.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet, ref

from traceir import rules
from traceir.base.caches import ClockEviction, clear_all
from traceir.base.fast_dataclass import dataclass
from traceir.base.fork_safety import in_child, kept_over_forks
from traceir.ir.effects import calls_host
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.ir.notebooks import table
from traceir.jit.cache.cache_key import CallSignature, Key
from traceir.jit.cache.captured_state import Seal
from traceir.jit.cache.known_arguments import KnownArguments
from traceir.jit.cache.writeback import Overwritten, Written
from traceir.jit.runtime_checks import FilledList, ListRoom, RuntimeChecks
from traceir.pytrees import flatten
from traceir.rules.machine import Transition
from traceir.tracing.trace import Trace

if TYPE_CHECKING:
    from traceir.references.reference import Ref


@dataclass(eq=False, slots=True, weakref_slot=True)
class TraceCacheEntry:
    """One trace: the program, the structure of its results, and the code compiled from
    it.

    Never refers to the traced function, which may then die with its last user.
    """

    call: CallSignature
    key: Key
    closed: ClosedJaxpr
    out_tree: flatten.TreeDef
    captures: tuple[Any, ...] = ()
    # References that it closes over, inputs after the captures; whether it uses any.
    refs: tuple[Ref, ...] = ()
    uses_refs: bool = False
    executables: dict[tuple[str, bool, tuple[int, ...]], Any] = field(
        default_factory=dict
    )
    hits: int = 0
    seconds: float = 0.0  # that tracing took
    seal: Seal | None = None  # of a strict trace
    checks: RuntimeChecks | None = None  # of a plain function
    lock: threading.Lock = field(default_factory=threading.Lock)
    raws: list[Any] = field(default_factory=list)  # the raw keys that lead here

    @property
    def lifted(self) -> int:
        """The number of inputs that are no leaves of the arguments."""
        return len(self.captures) + len(self.refs)

    @property
    def is_of_trace(self) -> bool:
        """True if it holds values of a trace around it, and is kept with that."""
        return bool(self.captures) or any(r._trace is not None for r in self.refs)

    @property
    def writes_refs(self) -> bool:
        """True if the function writes to references."""
        return getattr(self.out_tree.node_type, "of_references", False) is True

    @property
    def writes(self) -> bool:
        """True if the function writes to its arguments."""
        return self.out_tree.node_type is Written

    @property
    def overwritten(self) -> tuple[Overwritten, ...]:
        """The arguments that the program may write where they are.

        Nothing in the program may fail or be seen half done.
        """
        jaxpr = self.closed.jaxpr
        if not self.writes or self.checks is not None or calls_host(jaxpr):
            return ()
        numbers, _ = self.out_tree.meta
        outs, inputs = jaxpr.outvars, jaxpr.invars[len(self.captures) :]
        first = len(outs) - len(numbers)
        pairs = zip(numbers, range(first, len(outs)), strict=True)
        return tuple(
            Overwritten(k, n, outs.index(outs[n]))
            for k, n in pairs
            if outs[n] not in inputs
        )


@dataclass(eq=False, slots=True)
class TraceMaker:
    """A trace of one key under way, and the thread that makes it."""

    thread: int


_NOBODY = TraceMaker(0)


# Where a function's guard, and the runner of the last call, stand among its runners.
GUARD, LAST = "guard", "last"
# All entries of all functions, of which so many are kept.
_eviction: ClockEviction[TraceCacheEntry] = ClockEviction("trace_cache_size")


def _drop(cache: ref[FunctionCache], entry: TraceCacheEntry) -> None:
    alive = cache()
    if alive is not None:
        alive.drop(entry)


class CacheInfo(NamedTuple):
    """Counts of one function's cache: all `jit` of that function share it."""

    hits: int
    misses: int
    currsize: int
    compiles: int

    def _repr_html_(self) -> str:
        return table("cache of a jitted function", self._asdict())


class FunctionCache:
    """The entries of one function, shared by every `jit` of it and by all threads."""

    def __init__(self, owner: ref[Any]) -> None:
        self.owner = owner
        self.entries: dict[Key, TraceCacheEntry] = {}
        # Raw keys of whole calls, one mapping per set of jit options.
        self.fast: dict[object, dict[Any, Any]] = {}
        self.known = KnownArguments()
        self.room = ListRoom()
        self.misses = 0
        self._makers: dict[Key, list[TraceMaker]] = {}
        self._begin_locks()

    def info(self) -> CacheInfo:
        """Hits, misses, size and compilations."""
        entries = list(self.entries.values())
        return CacheInfo(
            sum(e.hits for e in entries),
            self.misses,
            len(entries),
            sum(len(e.executables) for e in entries),
        )

    def _begin_locks(self) -> None:
        # Reentrant, as each lock of a cache: a collection inside may run a user's code.
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)

    def clear(self) -> None:
        """Forget every trace; the next call traces anew."""
        with self._lock:
            for key in list(self.entries):
                self._take("clear", key)
            for mapping in self.fast.values():
                mapping.clear()
            self.known.clear()
            self.misses = 0

    def remember(
        self, calls: dict[Any, Any], raw: Any, entry: TraceCacheEntry, run: Any
    ) -> None:
        """Keep a runner under a raw key, unless its entry was cleared meanwhile."""
        with self._lock:
            if self.entries.get(entry.key) is entry:
                calls[raw] = run
                if raw not in (GUARD, LAST):
                    entry.raws.append(raw)

    def drop(self, entry: TraceCacheEntry) -> None:
        """Forget one trace; calls that are under way go on with it."""
        with self._lock:
            if self.entries.get(entry.key) is entry:
                self._take("clear", entry.key)
            for mapping in self.fast.values():
                for raw in (GUARD, LAST, *entry.raws):
                    mapping.pop(raw, None)

    def begin_alone(self) -> None:
        """Forget the work of other threads: a forked child has none of them."""
        me = threading.get_ident()
        self._begin_locks()
        mine = {k: [m for m in v if m.thread == me] for k, v in self._makers.items()}
        self._makers = {key: makers for key, makers in mine.items() if makers}
        for entry in self.entries.values():
            entry.lock = threading.Lock()

    def lookup(
        self, key: Key, make: Callable[[], TraceCacheEntry], trace: Trace | None
    ) -> TraceCacheEntry:
        """Decide a cache miss: the entry that a call in a trace finds, or a new one.

        What happens is the row of the machine for what is there. A thread that waits
        looks again whenever that has changed; a new entry is made by `make`.
        Raises RecursionError (cache.recursion) when this thread is making it already.
        """
        maker = TraceMaker(threading.get_ident())
        try:  # around the maker, so that no interrupt leaves it there
            with self._lock:
                while (outcome := self.begin(key, maker, trace)) == "waits":
                    self._changed.wait()
            if isinstance(outcome, TraceCacheEntry):
                return outcome
            made = make()
            with self._lock:
                self.end(key, maker, trace, made)
                found = made if made.is_of_trace else self.entries[key]
            if found is made and not made.is_of_trace:
                _eviction.add(made, partial(_drop, ref(self)))
            return found
        finally:
            with self._lock:
                if maker in self._makers.get(key, ()):
                    self.end(key, maker, trace, None)

    def begin(
        self, key: Key, maker: TraceMaker, trace: Trace | None
    ) -> TraceCacheEntry | str:
        """The entry that a call finds, or else the outcome of the call: it "traces" or
        "waits".

        Raises RecursionError (cache.recursion).
        """
        place, row = self._take("call", key, maker, trace)
        if row.raises:
            raise rules.error(row.raises, got="the same key again")
        if row.outcome != "hits":
            return row.outcome
        found: TraceCacheEntry | None = None
        if place == "function":
            found = self.entries[key]
        elif place == "trace" and trace is not None:
            found = trace.nested[self, key]
        assert found is not None  # so says the state
        found.hits += 1
        return found

    def end(
        self,
        key: Key,
        maker: TraceMaker,
        trace: Trace | None,
        made: TraceCacheEntry | None,
    ) -> None:
        """Keep a trace that has ended where the rows say; None is one that raised."""
        self.misses += made is not None
        self._take("return" if made is not None else "raise", key, maker, trace, made)

    def _take(
        self,
        event: str,
        key: Key,
        maker: TraceMaker = _NOBODY,
        trace: Trace | None = None,
        made: TraceCacheEntry | None = None,
    ) -> tuple[str, Transition]:
        """Take the transition of an event: what holds the entry found, and the row."""
        threads = {int(m.thread != maker.thread) for m in self._makers.get(key, ())}
        place, row = rules.default().machine.found(
            event,
            kept=key in self.entries,
            makers=tuple(threads),  # the thread of the event is 0, others are alike
            here=trace is not None and (self, key) in trace.nested,
            depth=int(trace is not None),
            captures=("x",) if made is not None and made.is_of_trace else (),
        )
        for effect in row.does:
            self._do(effect, key, maker, trace, made)
        return place, row

    def _do(
        self,
        effect: str,
        key: Key,
        maker: TraceMaker,
        trace: Trace | None,
        made: TraceCacheEntry | None,
    ) -> None:
        match effect:
            case "begin":
                self._makers.setdefault(key, []).append(maker)
            case "end":
                self._makers[key].remove(maker)
                if not self._makers[key]:
                    del self._makers[key]
                self._changed.notify_all()
            case "keep" if made is not None:
                self.entries[key] = made
                self._changed.notify_all()
            case "hold" if trace is not None:
                trace.nested[self, key] = made
            case "forget":
                del self.entries[key]
            case _:  # a trace releases what it holds, and Python what is dead
                raise AssertionError(effect)


_caches: WeakKeyDictionary[Any, FunctionCache] = WeakKeyDictionary()
# Reentrant, as each lock of a cache: a collection inside may run a user's code.
_caches_lock = kept_over_forks(threading.RLock())
_all: WeakSet[FunctionCache] = WeakSet()


def cache_of(function: Any) -> tuple[FunctionCache, Any]:
    """The cache of a function, by the function's own equality and hash, and its owner.

    The owner is the first of several equal functions. The cache dies with it, so who
    uses the one holds the other. Raises TypeError (cache.function.hashable) when the
    function has no hash or no weak reference.
    """
    with _caches_lock:
        try:
            found = _caches.get(function)
            owner = found.owner() if found is not None else None
            if found is None or owner is None:
                found, owner = FunctionCache(ref(function)), function
                _caches[function] = found
                _all.add(found)
        except TypeError as error:
            raise rules.error(
                "cache.function.hashable", got=f"{function!r}: {error}"
            ) from None
        return found, owner


def make_room(full: FilledList) -> None:
    """Have more room for lists, and forget the traces of all functions without.

    Raises TypeError (staged.effect) if there can be no more.
    """
    full.room.extend(full)
    for cache in caches():
        for entry in list(cache.entries.values()):
            if entry.checks is not None and entry.checks.fills(full.room):
                cache.drop(entry)


def caches() -> list[FunctionCache]:
    """The caches of all functions that are alive."""
    with _caches_lock:
        return list(_all)


def clear_caches() -> None:
    """Forget the traces of every function, and all that was made on the way.

    Machine code that no call under way uses is freed, and so are the plans of eager
    operations; types and derivatives that were worked out are worked out anew.

    >>> import traceir
    >>> f = traceir.jit(lambda x: x + 1)
    >>> f(1)
    Array(2, dtype=int32, weak_type=True)
    >>> clear_caches()
    >>> f.cache_info().currsize
    0
    """
    # Not under both locks: the other order is had by a static's `__eq__` that jits.
    for cache in caches():
        cache.clear()
    clear_all()


@in_child
def _begin_alone() -> None:
    for cache in list(_all):
        cache.begin_alone()
