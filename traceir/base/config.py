"""Flags, and the context that holds their values. Serves: cache.key.x64, cache.flag.*

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

import os
import threading
from collections.abc import Callable, Mapping
from functools import wraps
from types import TracebackType
from typing import Any, TypeAlias, TypeVar, cast

from traceir.base.caches import LIMITS, once, set_limit
from traceir.base.fast_dataclass import dataclass
from traceir.base.fork_safety import kept_over_forks

FACES = ("jax", "numpy")
Value: TypeAlias = bool | str | None
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, eq=False, slots=True)
class Context:
    """The flags that surround a trace; equal contexts are the same object (see
    `current`).

    ``x64``: 64-bit dtypes are kept.  ``face``: whose promotion table the operators of
    tracers use, ``"jax"`` or ``"numpy"``.  The other fields are the values of the flags
    of their names.  The rows of the key say which of them split a trace.
    """

    x64: bool = False
    face: str = "jax"
    numpy_dtype_promotion: str = "standard"
    numpy_rank_promotion: str = "allow"
    default_matmul_precision: str | None = None
    disable_jit: bool = False
    no_tracing: bool = False
    debug_nans: bool = False
    debug_infs: bool = False
    debug_key_reuse: bool = False
    sanitize: bool = False
    boundscheck: bool = True
    threefry_partitionable: bool = True
    default_prng_impl: str = "threefry2x32"
    check_tracer_leaks: bool = False
    unrolled_loops: str = "warn"
    log_compiles: bool = False
    explain_cache_misses: bool = False


@dataclass(frozen=True, slots=True)
class ConfigFlag:
    """A flag: its field of `Context`, the values that it may have, the first of them.

    >>> FLAGS["numpy_rank_promotion"].default
    'allow'
    """

    field: str
    values: tuple[Value, ...] = (False, True)

    @property
    def default(self) -> Value:
        """The value of a flag that is not set."""
        return self.values[0]


_PRECISIONS = (
    None,
    "default",
    "high",
    "highest",
    "bfloat16",
    "tensorfloat32",
    "float32",
)
# Names are JAX's, less its prefix.
FLAGS: Mapping[str, ConfigFlag] = {
    "enable_x64": ConfigFlag("x64"),
    "numpy_dtype_promotion": ConfigFlag(
        "numpy_dtype_promotion", ("standard", "strict")
    ),
    "numpy_rank_promotion": ConfigFlag(
        "numpy_rank_promotion", ("allow", "warn", "raise")
    ),
    "default_matmul_precision": ConfigFlag("default_matmul_precision", _PRECISIONS),
    "disable_jit": ConfigFlag("disable_jit"),
    "no_tracing": ConfigFlag("no_tracing"),
    "unrolled_loops": ConfigFlag("unrolled_loops", ("warn", "allow", "raise")),
    "debug_nans": ConfigFlag("debug_nans"),
    "debug_infs": ConfigFlag("debug_infs"),
    "debug_key_reuse": ConfigFlag("debug_key_reuse"),
    "sanitize": ConfigFlag("sanitize"),
    "boundscheck": ConfigFlag("boundscheck", (True, False)),
    "threefry_partitionable": ConfigFlag("threefry_partitionable", (True, False)),
    "default_prng_impl": ConfigFlag("default_prng_impl", ("threefry2x32",)),
    "check_tracer_leaks": ConfigFlag("check_tracer_leaks"),
    "log_compiles": ConfigFlag("log_compiles"),
    "explain_cache_misses": ConfigFlag("explain_cache_misses"),
}


@once
def _interned(values: tuple[tuple[str, Any], ...]) -> Context:
    return Context(**dict(values))


def _context(values: Mapping[str, Any]) -> Context:
    return _interned(tuple(sorted(values.items())))


def _checked(name: str, value: object) -> Value:
    """The value, if the flag may have it; TypeError or ValueError if not."""
    values = FLAGS[name].values
    if isinstance(values[0], bool):
        if not isinstance(value, bool):
            raise TypeError(f"the flag {name} is a bool, got {value!r}")
        return value
    if (value is None or isinstance(value, str)) and value in values:
        return value
    listed = ", ".join(map(repr, values))
    raise ValueError(f"the flag {name} is one of {listed}, got {value!r}")


def _named(flag: str) -> str:
    """The name of a flag without prefix; AttributeError if there is none."""
    name = flag.removeprefix("jax_")
    if name in FLAGS:
        return name
    import difflib  # not on the way of an import

    known = [*FLAGS, *LIMITS]
    close = difflib.get_close_matches(name, known, n=3) or known
    raise AttributeError(
        f"unknown configuration flag {flag!r}; close names: {', '.join(close)}"
    )


_TEXTS: Mapping[str, Value] = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
    "none": None,
}


def from_environment(environment: Mapping[str, str]) -> dict[str, Value]:
    """The fields that variables such as ``TRACEIR_ENABLE_X64=1`` set.

    ValueError if a variable's text is no value of its flag; those of a bool are
    1/true/yes/on and 0/false/no/off.

    >>> from_environment({"TRACEIR_ENABLE_X64": "1", "HOME": "/"})
    {'x64': True}
    """
    found = {}
    for name, flag in FLAGS.items():
        text = environment.get(f"TRACEIR_{name.upper()}", "").strip().lower()
        if not text:
            continue
        value = _TEXTS.get(text, text)
        if value not in flag.values:
            known = ("1", "0") if type(flag.default) is bool else map(str, flag.values)
            listed = " or ".join(known)
            raise ValueError(f"TRACEIR_{name.upper()} must be {listed}, got {text!r}")
        found[flag.field] = value
    return found


class _Local(threading.local):
    """The context of each thread: the class attribute until a scope is entered.

    ``trace`` is the innermost trace in force (see `traceir.tracing.trace`), kept here
    so that a cache hit reads one thread-local object. ``outside`` is the context where
    there is none, and None in a trace: one look tells an operation both.
    """

    context: Context
    trace: Any = None
    outside: Context | None
    # The line of the equation that a transform stands for, or None: the user's own.
    source: Any = None
    scopes: tuple[Mapping[str, Any], ...] = ()


_values: dict[str, Any] = {"face": "jax"}
_values.update({flag.field: flag.default for flag in FLAGS.values()})
_values.update(from_environment(os.environ))
_Local.context = _Local.outside = _context(_values)
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
    else:
        merged = dict(_values)
        for scope_values in local.scopes:
            merged.update(scope_values)
        local.context = _context(merged)
    _look_outside()


def _look_outside() -> None:
    """Derive the context of this thread's operations outside every trace."""
    if local.trace is not None:
        local.outside = None
    elif local.scopes:
        local.outside = local.context
    else:
        local.__dict__.pop("outside", None)


def put_in_force(trace: Any) -> Any:
    """Make a trace, or None, the innermost one of this thread; gives the one before."""
    before, local.trace = local.trace, trace
    if (before is None) is not (trace is None):
        _look_outside()
    return before


class ConfigScope:
    """A context manager, and a decorator: sets fields of this thread's context.

    It may be re-entered. A function that it decorates is called within it; the body of
    a generator or a coroutine, which runs after the call, is not within.

    >>> @enable_x64(True)
    ... def wide():
    ...     return current().x64
    >>> wide(), current().x64
    (True, False)
    """

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
        scopes = local.scopes
        # Generators that are run in turn do not leave in the order of entering.
        for k in reversed(range(len(scopes))):
            if scopes[k] is self._fields:
                local.scopes = scopes[:k] + scopes[k + 1 :]
                break
        _refresh()

    def __call__(self, function: F) -> F:
        """The function, each call of it within this scope."""

        @wraps(function)
        def within(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return cast(F, within)


def scope(flag: str, value: Value) -> ConfigScope:
    """Within ``with``: a flag, named as for `update`, has this value in this thread.

    >>> with scope("numpy_rank_promotion", "raise"):
    ...     current().numpy_rank_promotion
    'raise'
    """
    name = _named(flag)
    return ConfigScope({FLAGS[name].field: _checked(name, value)})


def enable_x64(value: bool = True) -> ConfigScope:
    """Within ``with``: keep 64-bit dtypes (or not), in this thread.

    >>> import traceir, traceir.numpy as jnp
    >>> with traceir.enable_x64():
    ...     jnp.arange(2.0).dtype
    dtype('float64')
    """
    return scope("enable_x64", value)


def face(name: str) -> ConfigScope:
    """Within ``with``: tracers' operators promote as ``"jax"`` or ``"numpy"`` does."""
    if name not in FACES:
        raise ValueError(f"a face is one of {', '.join(FACES)}, got {name!r}")
    return ConfigScope({"face": name})


def update(flag: str, value: Value | int) -> None:
    """Set the process-wide value of a flag, named with or without the prefix ``jax_``.

    A thread that is within a context manager sees another thread's update when it
    leaves; the flag that the manager sets stays as it is until then.
    AttributeError for an unknown flag, TypeError for a value that is no bool where the
    flag is one, ValueError for a value that is none of the flag's. A limit, such as
    ``trace_cache_size``, is a whole number, and the process's alone.
    """
    name = flag.removeprefix("jax_")
    if name in LIMITS:
        set_limit(name, value)
        return
    name = _named(flag)
    with _update_lock:
        _values[FLAGS[name].field] = _checked(name, value)
        _Local.context = _Local.outside = _context(_values)
    _refresh()


def __getattr__(flag: str) -> Any:
    """A flag of this thread, by its prefixed name: `config.jax_enable_x64`."""
    if flag.startswith("__"):
        raise AttributeError(flag)
    name = flag.removeprefix("jax_")
    if name in LIMITS:
        return LIMITS[name]
    return getattr(local.context, FLAGS[_named(flag)].field)
