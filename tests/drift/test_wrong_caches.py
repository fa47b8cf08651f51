"""Caches and levels that are wrong on purpose, and the case that tells each one.

Cites cache.key.*, cache.event.*, level.*
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from small_jit import Small, SmallJit, Store

from traceir.conform import judge, load_cases
from traceir.conform.casefiles.outcomes import Outcome
from traceir.conform.casefiles.sessions import Session
from traceir.conform.systems.implementations import Reference
from traceir.conform.systems.jitted import Jitted
from traceir.errors import UnexpectedTracerError
from traceir.ir.jaxpr import sort_params
from traceir.jit.cache.cache_key import CallSignature, KeyTable
from traceir.jit.cache.captured_state import innermost
from traceir.jit.cache.static_keys import typed
from traceir.jit.cache.trace_cache import TraceCacheEntry
from traceir.rules import default
from traceir.tracing.trace import Tracer, bind, evaluate

CASES = {case.name: case for case in load_cases()}


def changed(call: CallSignature, **statics: Any) -> CallSignature:
    """The call with its static arguments replaced by what a function makes of them."""
    (function,) = statics.values()
    return replace(call, statics=tuple((n, function(v)) for n, v in call.statics))


class IgnoresWeakness(Small):
    """Takes a number of Python for a strong scalar."""

    without = frozenset({"cache.key.weak_type"})


class IgnoresShape(Small):
    """Takes arrays of one dtype for one another."""

    without = frozenset({"cache.key.shape"})


class IgnoresDtype(Small):
    """Takes arrays of one shape for one another."""

    without = frozenset({"cache.key.dtype"})


class IgnoresX64(Small):
    """Runs a trace of 32-bit types while 64-bit ones are on."""

    without = frozenset({"cache.key.x64"})


class IgnoresFace(Small):
    """Runs a trace of one face in the other."""

    without = frozenset({"cache.key.face"})


class IgnoresTree(Small):
    """Sees the leaves and not how they nest."""

    without = frozenset({"cache.key.tree"})


class IgnoresStatics(Small):
    """Sees traced arguments alone."""

    without = frozenset({"cache.key.static"})


class KeyedByName(Small):
    """Two functions of one name share their traces."""

    def store(self, jitted: SmallJit) -> dict[Hashable, TraceCacheEntry]:
        """By the name."""
        return self.named.setdefault(jitted.fun.__name__, {})

    def __init__(self) -> None:
        super().__init__()
        self.named: dict[str, dict[Hashable, TraceCacheEntry]] = {}


class KeyedByCode(Small):
    """Functions with the same code share, whatever they carry: a stale closure."""

    def store(self, jitted: SmallJit) -> dict[Hashable, TraceCacheEntry]:
        """By the code of the Python function within."""
        inner = getattr(jitted.fun, "function", jitted.fun)
        found = innermost(inner)
        assert found is not None
        cells = found.__closure__ or ()
        held = [c.cell_contents for c in cells if callable(c.cell_contents)]
        return self.stores.setdefault((held or [found])[0].__code__, {})


class KeyedByIdentity(Small):
    """Equal functions do not share."""

    def store(self, jitted: SmallJit) -> dict[Hashable, TraceCacheEntry]:
        """By the address, of functions that are kept."""
        return self.held.setdefault(id(jitted.fun), (jitted.fun, {}))[1]

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[int, tuple[Any, dict[Hashable, TraceCacheEntry]]] = {}


class KeyedByWrapper(Small):
    """Each `jit` of a function has traces of its own."""

    def store(self, jitted: SmallJit) -> dict[Hashable, TraceCacheEntry]:
        """By the object that `jit` made."""
        return self.wrappers.setdefault(id(jitted), (jitted, {}))[1]

    def __init__(self) -> None:
        super().__init__()
        self.wrappers: dict[int, tuple[SmallJit, dict[Hashable, TraceCacheEntry]]] = {}


class HoldsFunctions(Small):
    """Keeps every function alive, and its traces with it."""

    def __init__(self) -> None:
        super().__init__()
        self.stores = {}


class StaticByEquality(Small):
    """1, True and 1.0 are one static argument."""

    def key(self, call: CallSignature, args: Any, kwargs: Any) -> Hashable:
        """The values themselves in place of their typed keys."""
        plain = KeyTable(default(), frozenset({"cache.key.static"}))
        return plain.key(replace(call, function=None)), call.statics


class StaticByHash(Small):
    """Static arguments of one hash are one."""

    def key(self, call: CallSignature, args: Any, kwargs: Any) -> Hashable:
        """The hashes of the typed keys."""
        return super().key(changed(call, of=lambda v: hash(typed(v))), args, kwargs)


class StaticByText(Small):
    """Static arguments that print alike are one."""

    def key(self, call: CallSignature, args: Any, kwargs: Any) -> Hashable:
        """The texts of the values."""
        return super().key(changed(call, of=lambda v: str(v)), args, kwargs)


class StaticWithoutBits(Small):
    """0.0 and -0.0 are one static argument."""

    def key(self, call: CallSignature, args: Any, kwargs: Any) -> Hashable:
        """A float is made positive where it is zero."""
        return super().key(
            changed(call, of=lambda v: v + 0.0 if type(v) is float else v), args, kwargs
        )


class KeyedByValue(Small):
    """A new value is a new trace."""

    def key(self, call: CallSignature, args: Any, kwargs: Any) -> Hashable:
        """The bytes of each array besides."""
        values = (np.asarray(a).tobytes() for a in args if not isinstance(a, Tracer))
        return super().key(call, args, kwargs), tuple(values)


class KeyedByKeywords(Small):
    """Passing by name is another call than passing by position."""

    def key(self, call: CallSignature, args: Any, kwargs: Any) -> Hashable:
        """The names of keywords, in their order, besides."""
        return super().key(call, args, kwargs), tuple(kwargs)


class KeyedByOrderOfDicts(Small):
    """A dict in another order is another tree."""

    def key(self, call: CallSignature, args: Any, kwargs: Any) -> Hashable:
        """The keys of dicts, in their order, besides."""
        dicts = tuple(tuple(a) for a in args if isinstance(a, dict))
        return super().key(call, args, kwargs), dicts


class RemembersRaises(Small):
    """A trace that raised raises again without being made."""

    def __init__(self) -> None:
        super().__init__()
        self.raised: dict[int, Exception] = {}

    def failed(self, jitted: SmallJit, key: Hashable, error: Exception) -> None:
        """Keep the exception."""
        self.raised[id(jitted)] = error

    def store(self, jitted: SmallJit) -> dict[Hashable, TraceCacheEntry]:
        """Raises what was kept."""
        if id(jitted) in self.raised:
            raise self.raised[id(jitted)]
        return super().store(jitted)


class KeepsLiftedTraces(Small):
    """A trace that lifted is kept with the function, with tracers that will be dead."""

    def place(self, jitted: SmallJit, entry: TraceCacheEntry) -> Store:
        """With the function, as any other."""
        return self.store(jitted)


class ForgetsLiftedTraces(Small):
    """A trace that lifted is made again for each call."""

    def place(self, jitted: SmallJit, entry: TraceCacheEntry) -> Store:
        """Nowhere."""
        return {} if entry.captures else self.store(jitted)


class ClearsOneKey(Small):
    """Clearing forgets the trace that was made last."""

    def clear(self, jitted: SmallJit) -> None:
        """The last one."""
        store = self.store(jitted)
        if store:
            store.popitem()


class ClearsEverything(Small):
    """Clearing one function forgets the traces of all."""

    def clear(self, jitted: SmallJit) -> None:
        """All functions."""
        self.stores.clear()


class ReadsGlobalsAnew(Small):
    """A global that has changed is another trace."""

    def key(self, call: CallSignature, args: Any, kwargs: Any) -> Hashable:
        """The globals besides."""
        host, names = self.session.host, self.session.session.objects
        values = tuple(np.asarray(host.scope[name]).tobytes() for name in names)
        return super().key(call, args, kwargs), values

    session: Jitted


class NeverDisabled(Small):
    """Does not know the flag `disable_jit`."""

    def disabled(self) -> bool:
        """Never."""
        return False


class LetsTracersLeak(Small):
    """A value of a trace that has ended counts as zero."""

    def bind(self, primitive: str, /, *values: Any, **params: Any) -> Any:
        """Dead tracers replaced."""
        try:
            return bind(primitive, *values, **params)
        except UnexpectedTracerError:
            zeros = (
                np.zeros(v.shape, v.dtype) if isinstance(v, Tracer) else v
                for v in values
            )
            return bind(primitive, *zeros, **params)


class RecordsWhatIsTracedAlone(Small):
    """An operation on concrete values is evaluated, inside a trace too."""

    def bind(self, primitive: str, /, *values: Any, **params: Any) -> Any:
        """Evaluated unless an operand is traced."""
        if any(isinstance(v, Tracer) for v in values):
            return bind(primitive, *values, **params)
        (result,) = evaluate(primitive, values, sort_params(params))
        return result


WRONG: list[tuple[type[Small], str]] = [
    (IgnoresWeakness, "cache/weakness"),
    (IgnoresShape, "cache/shape"),
    (IgnoresDtype, "cache/dtype"),
    (IgnoresX64, "cache/x64"),
    (IgnoresFace, "cache/face"),
    (IgnoresTree, "cache/tree"),
    (IgnoresStatics, "cache/static-by-value"),
    (KeyedByName, "machine/an-equal-function-finds-the-traces"),
    (KeyedByCode, "machine/what-wraps-a-function-has-its-own-traces"),
    (KeyedByIdentity, "machine/an-equal-function-finds-the-traces"),
    (KeyedByWrapper, "cache/two-jits-of-a-function-share"),
    (HoldsFunctions, "machine/a-function-dies-with-its-traces"),
    (StaticByEquality, "cache/static-by-type"),
    (StaticByHash, "machine/a-hash-is-no-key"),
    (StaticByText, "cache/static-objects-by-their-own-equality"),
    (StaticWithoutBits, "cache/static-by-bits"),
    (KeyedByValue, "cache/same-type-hits"),
    (KeyedByKeywords, "cache/keyword-or-position"),
    (KeyedByOrderOfDicts, "machine/the-order-of-a-dict"),
    (RemembersRaises, "machine/a-raise-is-not-remembered"),
    (KeepsLiftedTraces, "cache/a-trace-that-lifted-is-kept-with-the-outer-one"),
    (ForgetsLiftedTraces, "machine/lifted-outlives-a-clear"),
    (ClearsOneKey, "machine/clear"),
    (ClearsEverything, "machine/clear-is-for-every-jit"),
    (ReadsGlobalsAnew, "cache/a-global-is-read-by-the-trace"),
    (NeverDisabled, "level/disable_jit"),
    (LetsTracersLeak, "level/leak"),
    (RecordsWhatIsTracedAlone, "level/every-operation-is-recorded"),
]


class Under(Reference):
    """The reference with another system for its sessions."""

    kind: type[Small] = Small

    def session(self, session: Session) -> Sequence[Outcome]:
        """The session on a new system of the kind."""
        system = self.kind()
        run = Jitted(session, system)
        if isinstance(system, ReadsGlobalsAnew):
            system.session = run
        return run.run()


def under(kind: type[Small]) -> Under:
    """The reference with that system."""
    found: Under = type(kind.__name__, (Under,), {"kind": kind})()
    return found


@pytest.mark.parametrize("wrong, name", WRONG, ids=lambda x: getattr(x, "__name__", x))
def test_a_wrong_cache_is_told_by_a_case(wrong: type[Small], name: str) -> None:
    assert judge(under(Small), CASES[name]).kind == "pass"
    assert judge(under(wrong), CASES[name]).kind in ("fail", "crashed")


def test_the_small_jit_is_right() -> None:
    files = ("cache.tir", "machine.tir", "levels.tir")
    cases = [c for c in CASES.values() if c.file in files]
    verdicts = {c.name: judge(under(Small), c) for c in cases}
    wrong = {n: v for n, v in verdicts.items() if v.kind in ("fail", "crashed")}
    assert wrong == {}
    assert sum(map(bool, verdicts.values())) > len(cases) * 0.8
