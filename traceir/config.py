"""Flags, and the context that a trace runs in: the rows ``cache.key.x64``, ``.face``.

A flag has a process-wide value (`update`, or the environment at import) and,
within a context manager, a value for the current thread.  `current()` gives all of them
at once as one immutable, interned `Context`.

>>> from traceir import config
>>> with enable_x64(True):
...     current().x64, config.jax_enable_x64
(True, True)
>>> config.jax_enable_x64
False
"""

from __future__ import annotations

import difflib
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import TracebackType
from typing import Any

from traceir.forks import kept_over_forks

FACES = ("jax", "numpy")


@dataclass(frozen=True, eq=False, slots=True)
class Context:
    """What surrounds a trace; equal contexts are the same object (see `current`).

    ``x64``: 64-bit dtypes are kept.  ``face``: whose promotion table the operators of
    tracers use, ``"jax"`` or ``"numpy"``.  ``disable_jit``: jitted functions run their
    body.  ``log_compiles``: each trace and compilation is logged.  ``key`` holds what
    belongs to the jit key.
    """

    x64: bool = False
    face: str = "jax"
    disable_jit: bool = False
    log_compiles: bool = False
    key: tuple[bool, str] = (False, "jax")


# Names of the flags (JAX's, less its prefix) -> fields of Context.
FLAGS: Mapping[str, str] = {
    "enable_x64": "x64",
    "disable_jit": "disable_jit",
    "log_compiles": "log_compiles",
}


@cache
def _interned(values: tuple[tuple[str, Any], ...]) -> Context:
    context = Context(**dict(values))
    return replace(context, key=(context.x64, context.face))


def _context(values: Mapping[str, Any]) -> Context:
    return _interned(tuple(sorted(values.items())))


def _checked(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"the flag {name} is a bool, got {value!r}")
    return value


def _field(flag: str) -> str:
    name = flag.removeprefix("jax_")
    if name in FLAGS:
        return FLAGS[name]
    close = difflib.get_close_matches(name, FLAGS, n=3) or list(FLAGS)
    raise AttributeError(
        f"unknown configuration flag {flag!r}; close names: {', '.join(close)}"
    )


def from_environment(environment: Mapping[str, str]) -> dict[str, bool]:
    """The fields that variables such as ``TRACEIR_ENABLE_X64=1`` set.

    ValueError if a variable's text is neither 1/true/yes/on nor 0/false/no/off.

    >>> from_environment({"TRACEIR_ENABLE_X64": "1", "HOME": "/"})
    {'x64': True}
    """
    found = {}
    for flag, field in FLAGS.items():
        text = environment.get(f"TRACEIR_{flag.upper()}", "").strip().lower()
        if text in ("1", "true", "yes", "on"):
            found[field] = True
        elif text in ("0", "false", "no", "off"):
            found[field] = False
        elif text:
            raise ValueError(f"TRACEIR_{flag.upper()} must be 1 or 0, got {text!r}")
    return found


class _Local(threading.local):
    """The context of each thread: the class attribute until a scope is entered.

    ``trace`` is the innermost trace in force (see `traceir.trace`), kept here so that
    a cache hit reads one thread-local object.
    """

    context: Context
    trace: Any = None
    scopes: tuple[Mapping[str, Any], ...] = ()


_values: dict[str, Any] = {"face": "jax"}
_values.update(dict.fromkeys(FLAGS.values(), False))
_values.update(from_environment(os.environ))
_Local.context = _context(_values)
_update_lock = kept_over_forks(threading.Lock())

# Read `local.context` directly on hot paths: one attribute, no call.
local = _Local()


def current() -> Context:
    """The context of this thread."""
    return local.context


def _refresh() -> None:
    """Derive this thread's context from the process-wide values and its scopes."""
    if not local.scopes:
        local.__dict__.pop("context", None)
        return
    merged = dict(_values)
    for scope_values in local.scopes:
        merged.update(scope_values)
    local.context = _context(merged)


class Scope:
    """A context manager: sets fields of this thread's context; may be re-entered."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields

    def __enter__(self) -> None:
        local.scopes = (*local.scopes, self._fields)
        _refresh()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        local.scopes = local.scopes[:-1]
        _refresh()


def enable_x64(value: bool = True) -> Scope:
    """Within ``with``: keep 64-bit dtypes (or not), in this thread."""
    return Scope({"x64": _checked("enable_x64", value)})


def disable_jit(value: bool = True) -> Scope:
    """Within ``with``: jitted functions run their Python body at each call."""
    return Scope({"disable_jit": _checked("disable_jit", value)})


def log_compiles(value: bool = True) -> Scope:
    """Within ``with``: log each trace and each compilation at level WARNING."""
    return Scope({"log_compiles": _checked("log_compiles", value)})


def face(name: str) -> Scope:
    """Within ``with``: tracers' operators promote as ``"jax"`` or ``"numpy"`` does."""
    if name not in FACES:
        raise ValueError(f"a face is one of {', '.join(FACES)}, got {name!r}")
    return Scope({"face": name})


def update(flag: str, value: bool) -> None:
    """Set the process-wide value of a flag, named with or without the prefix ``jax_``.

    A thread that is within a context manager sees another thread's update when it
    leaves; the flag that the manager sets stays as it is until then.
    AttributeError for an unknown flag, TypeError for a value that is no bool.
    """
    with _update_lock:
        _values[_field(flag)] = _checked(flag, value)
        _Local.context = _context(_values)
    _refresh()


def __getattr__(flag: str) -> bool:
    """A flag of this thread, by its prefixed name: `config.jax_enable_x64`."""
    if flag.startswith("__"):
        raise AttributeError(flag)
    value: bool = getattr(local.context, _field(flag))
    return value
