"""Work in forked children: each finds the store as a process does that begins."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable
from typing import Any

from traceir.base.caches import clear_all
from traceir.store import files
from traceir.store.place import Place
from traceir_numba.gemm import blocked
from traceir_numba.pipeline import kernel_cache
from traceir_numba.store import identity, units


class Child:
    """A forked process that works; it has the modules of this one, but no code yet.

    It keeps its entries in the directory, or nowhere.
    """

    def __init__(self, directory: str | None, work: Callable[[], Any]) -> None:
        ours, theirs = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(ours)
            self._run(theirs, directory, work)
        os.close(theirs)
        self._ours = ours

    def _run(self, pipe: int, directory: str | None, work: Callable[[], Any]) -> None:
        try:
            signal.alarm(120)  # whatever hangs is ended
            files.use(None if directory is None else Place(directory))
            _forget()
            with os.fdopen(pipe, "wb") as out:
                try:
                    out.write(pickle.dumps((True, work())))
                except BaseException as error:
                    out.write(pickle.dumps((False, f"{type(error).__name__}: {error}")))
        finally:
            os._exit(0)

    def result(self) -> Any:
        """The result of the work; raises AssertionError if it raised."""
        with os.fdopen(self._ours, "rb") as pipe:
            data = pipe.read()
        os.waitpid(self.pid, 0)
        assert data, "the child was ended"
        good, found = pickle.loads(data)
        assert good, found
        return found


def in_child(directory: str | None, work: Callable[[], Any]) -> Any:
    """The result of work in a child."""
    return Child(directory, work).result()


def _forget() -> None:
    """Forget what this process has compiled and found out so far."""
    identity.identity.cache_clear()
    identity.compiler.cache_clear()
    compiled: Any = (
        kernel_cache._kernels,
        kernel_cache._loops,
        blocked._codes,
    )
    for known in (units._loaded, *compiled):
        known.clear()
    clear_all()
