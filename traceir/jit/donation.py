"""`jit` with donated arguments, whose memory results may take.

Serves: jit.donate, jit.donate-twice, array.deleted
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from sys import getrefcount
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import APART, LIVING, Array, Placed
from traceir.base import source_info
from traceir.base.config import local
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import entry_points
from traceir.ir.avals import ShapedArray
from traceir.jit.backends import executable, used_inputs
from traceir.jit.cache.cache_key import CallSignature
from traceir.jit.cache.signature import StaticSpec, bind_arguments, resolve_static
from traceir.jit.cache.trace_cache import GUARD, TraceCacheEntry
from traceir.jit.function import JitFunction, Options, P, R
from traceir.jit.hot_path.guard_codegen import MISS, Runner
from traceir.jit.hot_path.raw_keys import input_of, placing_if_placed, raw_key, to_numpy
from traceir.jit.instrument import instrumented
from traceir.jit.pickling import Making
from traceir.jit.stages import CallForm
from traceir.jit.staging import CROSSING, Prepared, check_seal
from traceir.pytrees.flatten import leaves
from traceir.sanitize.nan_checks import watched

Numbers = int | Sequence[int] | None
Names = str | Iterable[str] | None


@entry_points("__call__")
class DonatingFunction(JitFunction[P, R]):
    """A jitted function that may write its results over some of its arguments."""

    __slots__ = ("_donated",)

    def __init__(
        self,
        fun: Callable[P, R],
        argnums: Numbers,
        argnames: Names,
        options: Options,
        donated: tuple[Numbers, Names],
    ) -> None:
        super().__init__(fun, argnums, argnames, options)
        self._donated = _resolved(self, donated)
        key = (self._static, self._donated, options)
        self._fast = self._cache.fast.setdefault(key, {})

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call it; raises ValueError (jit.donate-twice)."""
        context = local.context
        if local.trace is not None or context.disable_jit:
            return self._call(args, kwargs, None)
        if CROSSING and not APART.isdisjoint(map(type, leaves((args, kwargs)))):
            return self._given_back(APART, args, kwargs)
        guard = self._fast.get(GUARD)
        if guard is not None:
            found = guard(context, args, kwargs)
            if found is not MISS:
                return found
        raw = raw_key(context, args, kwargs, self._raw_static)
        runner: Any = self._fast.get(raw)
        if runner is None:
            if CROSSING:
                return CROSSING[0](self, args, kwargs, raw, self._first)
            return self._first(args, kwargs, raw)
        self._counted(runner, args, kwargs)
        check_seal(runner.entry, self._fun)
        return runner.run(args, kwargs)

    def _first(self, args: Any, kwargs: Any, raw: Any) -> Any:
        """The first call of its kind, of arrays that are all in this process."""
        runner = self._donor(args, kwargs, raw)
        if runner is None:
            return self._given_back(LIVING, args, kwargs)
        check_seal(runner.entry, self._fun)
        return runner.run(args, kwargs)

    def _given_back(self, kinds: Container[type], args: Any, kwargs: Any) -> Any:
        """A call after which the memory of donated arrays of these kinds is given
        back."""
        found = self._call(args, kwargs, None)
        donated = bind_arguments(self._form, self._donated, args, kwargs).statics
        for leaf in leaves([value for _, value in donated]):
            if type(leaf) in kinds:
                leaf.delete()
        return found

    def _making(self) -> Making:
        making, spec = super()._making(), self._donated
        donated = sorted(spec.positions), sorted(spec.names)
        return Making(making.args, (("donated", donated),))

    def _called(self, prepared: Prepared, args: Any, kwargs: Any) -> CallForm:
        form = super()._called(prepared, args, kwargs)
        return replace(form, donated=self._leaves(prepared, args, kwargs))

    def _donor(self, args: Any, kwargs: Any, raw: Any) -> Runner | None:
        """The runner of calls of one kind; None for those that use references."""
        with self._context():
            entry, prepared = self._entry(self._prepare(args, kwargs))
            if entry.uses_refs:
                return None
            wanted = self._leaves(prepared, args, kwargs)
            usable = _usable(entry, wanted, self._options.keep_unused)
            exe: Any = executable(
                entry, self._backend(), self._options.keep_unused, usable
            )
            if watched(local.context):
                exe = instrumented(exe, entry.closed, local.context)
        unusable = [entry.closed.in_avals[k] for k in wanted if k not in usable]
        if unusable:
            _tell(unusable)
        donor = _Donor(
            entry,
            exe,
            prepared.call,
            prepared.bound.origins,
            usable,
            self._options.numpy_out,
        )
        run = placing_if_placed(donor, entry, prepared.leaves, self._options.numpy_out)
        runner = Runner(
            run,
            entry,
            raw and raw[0],
            self._static,
            prepared.bound.origins,
            exe.run,
            self._options.numpy_out,
            usable,
            taken,
            _guard_tried=hasattr(run, "places"),
        )
        if raw is not None:
            self._cache.remember(self._fast, raw, entry, runner)
        entry.hits -= 1  # `run` counts this call
        return runner

    def _leaves(self, prepared: Prepared, args: Any, kwargs: Any) -> tuple[int, ...]:
        """The numbers of the leaves of the donated arguments."""
        bound = bind_arguments(self._form, self._donated, args, kwargs)
        donated = {label for label, _ in bound.statics}
        found: list[int] = []
        first = 0
        call = prepared.call
        for label, child in zip(call.labels, call.treedef.below, strict=True):
            count = len(child.paths())
            if label in donated:
                found += range(first, first + count)
            first += count
        return tuple(found)


def _resolved(
    function: JitFunction[..., Any], donated: tuple[Numbers, Names]
) -> StaticSpec:
    """The donated arguments; raises ValueError (jit.donate)."""
    try:
        spec = resolve_static(function._form.signature, *donated)
    except rules.TraceirError as error:
        raise rules.error("jit.donate", got=error.got) from None
    both = sorted(spec.names & function._static.names)
    if both or spec.positions & function._static.positions:
        shown = ", ".join(both) or "an argument"
        raise rules.error("jit.donate", got=f"{shown}, which is static")
    return spec


def _usable(
    entry: TraceCacheEntry, donated: Sequence[int], keep_unused: bool
) -> tuple[int, ...]:
    """The donated leaves whose memory a result can have: as many as fit, in order."""
    closed = entry.closed
    used = range(len(closed.in_avals)) if keep_unused else used_inputs(closed.jaxpr)
    free = [(aval.shape, aval.dtype) for aval in closed.out_avals]
    found = []
    # Operands that were lifted are no leaves of the call; here there are none.
    for k in donated:
        aval = closed.in_avals[k]
        kind = aval.shape, aval.dtype
        if k in used and kind in free:
            free.remove(kind)
            found.append(k)
    return tuple(found)


def _tell(unusable: Iterable[ShapedArray]) -> None:
    shown = ", ".join(aval.str_short() for aval in unusable)
    text = (
        f"Some donated arrays were not usable: {shown}. A result of the same shape and "
        "dtype takes the memory of one; these stay as they are."
    )
    source_info.warn(text, UserWarning)


@dataclass(frozen=True, slots=True)
class _Donor:
    """A runner of one entry that takes the memory of arguments.

    Caches keep it, so it holds neither the function, which holds its cache, nor an
    argument.
    """

    entry: TraceCacheEntry
    exe: Any
    call: CallSignature
    origins: tuple[int | str, ...]
    usable: tuple[int, ...]
    numpy_out: bool

    def __call__(self, args: Any, kwargs: Any) -> Any:
        entry, call = self.entry, self.call
        values = [args[o] if type(o) is int else kwargs[o] for o in self.origins]
        found = leaves(values)
        self.check(found)
        entry.hits += 1
        # Looked at before anything is taken: an error leaves all arrays as they were.
        arrays = [
            None if k in self.usable else input_of(call, k, leaf)
            for k, leaf in enumerate(found)
        ]
        for k in self.usable:
            arrays[k] = taken(found[k], call.avals[k])
        results = self.exe.run(*arrays)
        wrap: Callable[..., Any] = to_numpy if self.numpy_out else Array._wrap
        outs = map(wrap, results, entry.closed.out_avals)
        return entry.out_tree.unflatten(list(outs))

    def check(self, found: Sequence[Any]) -> None:
        """Raise ValueError (jit.donate-twice) for an array that is passed again."""
        if len({*map(id, found)}) == len(found):
            return
        for k in self.usable:
            again = [n for n, v in enumerate(found) if v is found[k] and n != k]
            if again and type(found[k]) in (Array, Placed):
                paths = self.call.paths
                got = f"{paths[k]}, which is also {paths[again[0]]}"
                raise rules.error("jit.donate-twice", got=got)


def taken(value: Any, aval: ShapedArray) -> np.ndarray:
    """The memory of a donated leaf, whose array is deleted; a copy if others hold it.

    Holders are views, foreign arrays made of the same memory, and arrays that share it.
    """
    if type(value) not in LIVING:
        return np.array(value, aval.dtype, order="C")
    memory: np.ndarray = value._value
    value.delete()
    # Most often: the array alone refers to memory of its own.
    alone = memory.base is None and getrefcount(memory) == _OWN
    if (alone or _is_free(memory)) and memory.dtype == aval.dtype:
        return memory
    value._restored(memory)
    return np.array(memory, aval.dtype, order="C")


def _own() -> int:
    memory = np.zeros(1)
    return getrefcount(memory)


# What is counted for an array that one variable holds.
_OWN = _own()


def _count(memory: np.ndarray) -> int:
    return getrefcount(memory)


def _is_free(memory: np.ndarray) -> bool:
    """True if nothing else refers to an array, or to its base."""
    base = memory.base
    if base is None or getattr(type(base), "recycled", False):
        return _count(memory) == _ALONE
    # Of a view and the array that it is a view of, each may be held by the other alone.
    owns = type(base) is np.ndarray and base.nbytes == memory.nbytes
    if not owns or _count(memory) != _ALONE or _count(base) != _OF_VIEW:
        return False
    return base.base is None or getattr(type(base.base), "recycled", False)


def _held_once() -> int:
    memory = np.zeros(1)
    return _held(memory)


def _held(memory: np.ndarray) -> int:
    return _count(memory)


def _held_by_view() -> int:
    view = np.zeros(1).reshape(1, 1)
    base = view.base
    assert base is not None
    return _count(base)


# What `_is_free` counts for an array that only the caller's variable holds, and for one
# that only a view of it does.
_ALONE = _held_once()
_OF_VIEW = _held_by_view()
