"""Functions that take and return arrays on a device. Serves: cache.key.face"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import config, pytree
from traceir.jit.backends import executable
from traceir.jit.cache import Entry
from traceir.jit.function import JitFunction
from traceir_numba.cuda.arrays import DeviceArray, is_foreign, put, shared
from traceir_numba.cuda.backend import Executable


class CudaFunction(JitFunction):
    """A function that is compiled for a device once per kind of arguments.

    Arguments that are on the device are read there; NumPy's are copied to it. Results
    are `DeviceArray`s. Made by `traceir_numba.jit(target="cuda")`.
    """

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if config.local.trace is not None or config.local.context.disable_jit:
            return super().__call__(*args, **kwargs)
        args, kwargs = pytree.map_(_taken, (args, kwargs))
        with self._context():
            prepared = self._prepare(args, kwargs)
            entry = self._entry(prepared)
            found = executable(entry, self._backend(), True)
        results = _run(found, entry, prepared.leaves)
        return entry.out_tree.unflatten(results)


def _taken(leaf: Any) -> Any:
    """An argument; another library's array as one of ours."""
    return shared(leaf) if is_foreign(leaf) else leaf


def _run(found: Any, entry: Entry, leaves: list[Any]) -> list[DeviceArray]:
    avals = entry.closed.in_avals
    operands = [*entry.captures, *leaves]
    if not isinstance(found, Executable):  # the host calls its parts
        arrays = [np.asarray(x, a.dtype) for x, a in zip(operands, avals, strict=True)]
        return [put(array) for array in found.run(*arrays)]
    taken = [
        x if isinstance(x, DeviceArray) else put(np.asarray(x, a.dtype))
        for x, a in zip(operands, avals, strict=True)
    ]
    memory = found.run_there([one.memory for one in taken])
    outs = entry.closed.out_avals
    return [DeviceArray(m, aval) for m, aval in zip(memory, outs, strict=True)]
