"""Plain functions that run untraced where they cannot be traced.

Serves: face.fallback
"""

from __future__ import annotations

import warnings
from typing import Any

from traceir import rules
from traceir.base import config, source_info
from traceir.errors import TraceirError
from traceir.jit.cache.trace_cache import TraceCacheEntry
from traceir.jit.function import JitFunction, P, R
from traceir.jit.staging import Prepared

# What has been told, by file: once for each line that calls and each reason.
_told: dict[str, dict[Any, Any]] = {}
_MOST_FILES = 1024


class _Untraceable(Exception):
    """Carries the error of a trace to the call that then does without."""

    def __init__(self, error: TraceirError) -> None:
        super().__init__(error)
        self.error = error


class FallbackFunction(JitFunction[P, R]):
    """A jitted function that NumPy runs, with a warning, where it cannot be traced."""

    __slots__ = ()

    def _call(self, args: Any, kwargs: Any, raw: Any) -> Any:
        try:
            return super()._call(args, kwargs, raw)
        except _Untraceable as found:
            error = found.error
        if config.local.trace is not None:
            raise error
        return self._refused(error, args, kwargs)

    def _refused(self, error: TraceirError, args: Any, kwargs: Any) -> Any:
        self._tell(error)
        return self._as_it_is(args, kwargs)

    def _as_it_is(self, args: Any, kwargs: Any) -> Any:
        """Run the function untraced."""
        return self._fun(*args, **kwargs)

    def _entry(
        self, prepared: Prepared, transform: str = "jit"
    ) -> tuple[TraceCacheEntry, Prepared]:
        try:
            return super()._entry(prepared, transform)
        except TraceirError as error:
            raise _Untraceable(error) from None

    def _tell(self, error: TraceirError) -> None:
        """Warn at the user's line, once for each, that NumPy runs the function."""
        says = rules.default().clauses[error.rule].says
        text = (
            f"{self._name} cannot be traced, and NumPy runs it as it is: {says} "
            f"Got: {error.got} [{error.rule}]"
        )
        place = source_info.capture()
        file, line = (place.file, place.line) if place else ("", 0)
        if len(_told) >= _MOST_FILES:  # of code that was made by exec
            _told.clear()
        registry = _told.setdefault(file, {})
        warnings.warn_explicit(text, UserWarning, file, line, registry=registry)


def check_fallback(fallback: str | None) -> None:
    """Raise ValueError (face.fallback) for a fallback that there is not."""
    if fallback not in (None, "numpy"):
        raise rules.error("face.fallback", got=repr(fallback))
