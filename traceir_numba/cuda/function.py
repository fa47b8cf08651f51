"""Jitted functions of arrays on a device. Serves: cache.key.face"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir.arrays.array import Array
from traceir.base.config import local
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import entry_points
from traceir.ir.avals import ShapedArray
from traceir.jit import stages
from traceir.jit.backends import executable
from traceir.jit.cache.trace_cache import TraceCacheEntry
from traceir.jit.cache.writeback import results_of
from traceir.jit.fallback import FallbackFunction
from traceir.jit.function import JitFunction, P, R
from traceir.jit.hot_path.float_faults import check_not_raising
from traceir.jit.hot_path.raw_keys import raw_key
from traceir.jit.instrument import instrumented
from traceir.jit.staging import check_seal
from traceir.pytrees import flatten
from traceir.sanitize.nan_checks import watched
from traceir_numba.cuda.arrays.arrays import DeviceArray, buffer_of, put
from traceir_numba.cuda.arrays.foreign import TakenArrays, given_back
from traceir_numba.cuda.backend import CudaExecutable
from traceir_numba.cuda.run import to_device, to_host


@entry_points("__call__", "trace")
class CudaFunction(JitFunction[P, R]):
    """A function that is compiled for a device once per kind of arguments.

    Arguments that are on the device are read there; NumPy's are copied to it. Results
    are `DeviceArray`s, or arrays of the library whose arrays the function was given.
    Made by `traceir_numba.jit(target="cuda")`.
    """

    __slots__ = ()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        check_not_raising()
        context = local.context
        if local.trace is not None or context.disable_jit or watched(context):
            return self._call(args, kwargs, None)
        raw = raw_key(context, args, kwargs, self._raw_static)
        run = self._fast.get(raw)
        if run is None:
            return self._call(args, kwargs, raw)
        check_seal(run.entry, self._fun)
        return run(args, kwargs)

    def _call(self, args: Any, kwargs: Any, raw: Any) -> Any:
        """A call that the raw keys do not know, or one inside a trace."""
        context = local.context
        if local.trace is not None or context.disable_jit:
            return super()._call(args, kwargs, raw)
        taken = TakenArrays()
        args, kwargs = flatten.map_(taken.take, (args, kwargs))
        with self._context():
            entry, prepared = self._entry(self._prepare(args, kwargs))
            found: Any = executable(entry, self._backend(), True)
            if watched(local.context):
                found = instrumented(found, entry.closed, local.context)
        run = _CallRunner(entry, found, prepared.bound.origins)
        # A raw key says nothing of values, nor of arrays of other libraries.
        if raw is not None and not prepared.bound.known:
            self._cache.remember(self._fast, raw, entry, run)
        entry.hits -= 1  # `run` counts this call, which was counted when looked up
        results = run.launched(prepared.leaves)
        taken.end()
        return results_of(
            entry.out_tree.unflatten(given_back(results, taken.libraries))
        )

    def trace(self, /, *args: Any, **kwargs: Any) -> stages.Traced:
        """Trace for these arguments (arrays or ShapeDtypeStruct) without running."""
        args, kwargs = flatten.map_(TakenArrays().take, (args, kwargs))
        traced = super().trace(*args, **kwargs)
        return _CudaTraced(traced.entry, traced.backend, True, True, traced.form)


class CudaFallbackFunction(FallbackFunction[P, R], CudaFunction[P, R]):
    """Such a function that NumPy runs, on the host, where it cannot be traced."""

    __slots__ = ()

    def _as_it_is(self, args: Any, kwargs: Any) -> Any:
        """Run the function on NumPy's arrays, and put its results on the device."""
        taken = TakenArrays()
        args, kwargs = flatten.map_(taken.take, (args, kwargs))
        args, kwargs = flatten.map_(on_host, (args, kwargs))
        results, tree = flatten.flatten(self._fun(*args, **kwargs))
        return tree.unflatten(given_back(list(map(put, results)), taken.libraries))


def on_host(leaf: Any) -> Any:
    """An array on the device as NumPy's; other values as they are."""
    return np.asarray(leaf) if isinstance(leaf, DeviceArray) else leaf


@dataclass(frozen=True, slots=True)
class _CallRunner:
    """The runner of calls of one kind."""

    entry: TraceCacheEntry
    exe: Any
    origins: tuple[int | str, ...]

    def __call__(self, args: Any, kwargs: Any) -> Any:
        values = [args[o] if type(o) is int else kwargs[o] for o in self.origins]
        results = self.launched(flatten.leaves(values))
        return results_of(self.entry.out_tree.unflatten(results))

    def launched(self, leaves: Sequence[Any]) -> list[DeviceArray]:
        """The results of a call with these leaves, in the making."""
        entry = self.entry
        entry.hits += 1
        return launched(self.exe, entry, [*entry.captures, *leaves])


def launched(
    exe: Any, entry: TraceCacheEntry, operands: Sequence[Any]
) -> list[DeviceArray]:
    """Give the device a program's launches; its results, in the making."""
    avals, outs = entry.closed.in_avals, entry.closed.out_avals
    if not isinstance(exe, CudaExecutable):  # the host calls its parts, or looks at it
        found = exe.run(*map(_host, operands, avals))
        memory = [to_device(x, buffer_of(a)) for x, a in zip(found, outs, strict=True)]
        return [DeviceArray(m, aval) for m, aval in zip(memory, outs, strict=True)]
    return exe.run_there([_there(x, a) for x, a in zip(operands, avals, strict=True)])


def _there(x: Any, aval: ShapedArray) -> DeviceArray:
    """An operand on the device."""
    if type(x) in (DeviceArray, Array):
        return put(x)
    return put(np.asarray(x, aval.dtype))


def _host(x: Any, aval: ShapedArray) -> np.ndarray:
    """An operand as the host's programs take it, of keys their words."""
    if isinstance(x, DeviceArray):
        return to_host(x.memory, buffer_of(aval))
    return x._value if type(x) is Array else np.asarray(x, aval.dtype)


# -- ahead of time --------------------------------------------------------------------


class _CudaTraced(stages.Traced):
    """A function traced for a device."""

    __slots__ = ()

    def lower(self) -> stages.Lowered:
        found: stages.Lowered = self._next(_CudaLowered)
        return found


class _CudaLowered(stages.Lowered):
    __slots__ = ()

    def _made(self, exe: Any) -> stages.Compiled:
        return _CudaCompiled(self.entry, self.backend, True, True, self.form, exe)


@entry_points("__call__")
class _CudaCompiled(stages.Compiled):
    """A compiled function, whose results stay on the device."""

    __slots__ = ()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        taken = TakenArrays()
        args, kwargs = flatten.map_(taken.take, (args, kwargs))
        results = launched(self.exe, self.entry, self._leaves(args, kwargs))
        taken.end()
        return results_of(
            self.entry.out_tree.unflatten(given_back(results, taken.libraries))
        )
