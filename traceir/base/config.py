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
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from traceir.base.caches import LIMITS, limits_from_environment, once, set_limit
from traceir.base.fast_dataclass import dataclass
from traceir.base.flags import FLAGS as FLAGS
from traceir.base.flags import (
    NO_EFFECT,
    ConfigFlag,
    Value,
    is_kept,
    keep,
    kept,
    meant_bool,
)
from traceir.base.fork_safety import kept_over_forks

FACES = ("jax", "numpy")
F = TypeVar("F", bound=Callable[..., Any])

if TYPE_CHECKING:

    @dataclass(frozen=True, eq=False)
    class Context:
        """The values of `face`, of `mesh`, of `x64` and of the flags: see below."""

        __slots__: ClassVar[tuple[str, ...]]
        face: str = "jax"
        mesh: Any = None
        x64: bool = False

        def __getattr__(self, flag: str) -> Any: ...

else:

    def _context_class() -> type:
        """A class with a field for the face, the mesh, and for each flag."""
        flags = {f.field: f.default for f in FLAGS.values()}
        fields = {"face": "jax", "mesh": None, **flags}
        names = dict.fromkeys(fields, Any)
        body = {**fields, "__annotations__": names, "__module__": __name__}
        return dataclass(type("Context", (), body), frozen=True, eq=False, slots=True)

    Context = _context_class()
    Context.__doc__ = """What surrounds a trace; equal ones are one object: `current`.

    ``face``: whose promotion table the operators of tracers use, ``"jax"`` or
    ``"numpy"``.  ``mesh``: the mesh that is set, or None.  The other fields are the
    values of the flags.  The rows of the key say which of them split a trace.
    """


@once
def _interned(values: tuple[tuple[str, Any], ...]) -> Context:
    return Context(**dict(values))


def _context(values: Mapping[str, Any]) -> Context:
    return _interned(tuple(sorted(values.items())))


# Values of JAX's, and those that mean the same here.
_SAME: Mapping[tuple[str, object], Value] = {
    ("traceback_filtering", "auto"): "remove_frames",
    ("traceback_filtering", "quiet_remove_frames"): "remove_frames",
}


def _checked(name: str, value: object) -> Value:
    """The value, if the flag may have it; TypeError or ValueError if not."""
    values = FLAGS[name].values
    if isinstance(values[0], bool):
        value = meant_bool(value)
        if not isinstance(value, int) or value not in (0, 1):
            raise TypeError(f"the flag {name} is a bool, got {value!r}")
        return bool(value)
    if isinstance(value, str):
        value = _SAME.get((name, value), value)
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


def from_environment(environment: Mapping[str, str]) -> dict[str, Value]:
    """The fields that variables such as ``TRACEIR_ENABLE_X64=1`` set.

    ``JAX_ENABLE_X64=1`` is the same, where the other is not set. ValueError if a
    variable's text is no value of its flag; those of a bool are 1/true/yes/on and
    0/false/no/off.

    >>> from_environment({"TRACEIR_ENABLE_X64": "1", "HOME": "/"})
    {'x64': True}
    >>> from_environment({"JAX_ENABLE_X64": "True"})
    {'x64': True}
    """
    found = {}
    for name, flag in FLAGS.items():
        for variable in (flag.variable, f"JAX_{name.upper()}"):
            text = environment.get(variable, "").strip().lower()
            if text:
                found[flag.field] = _meant(flag, variable, text)
                break
    return found


def _meant(flag: ConfigFlag, variable: str, text: str) -> Value:
    """The value that a variable's text is; ValueError if it is none."""
    text = str(_SAME.get((flag.name, text), text))
    value = text if text in flag.values else {"none": None}.get(text, meant_bool(text))
    if value not in flag.values:
        known = ("1", "0") if type(flag.default) is bool else map(str, flag.values)
        raise ValueError(f"{variable} must be {' or '.join(known)}, got {text!r}")
    return value


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
    # The frame that calls the function being traced, or None: lines above it are of
    # one of the program's callers, and the program is kept for all.
    staging_frame: Any = None
    # The names that equations are recorded in, from the outermost: scopes, transforms.
    name_stack: tuple[Any, ...] = ()
    scopes: tuple[Mapping[str, Any], ...] = ()


_values: dict[str, Any] = {"face": "jax", "mesh": None}
_values.update({flag.field: flag.default for flag in FLAGS.values()})
_of_environment: dict[str, Value] = from_environment(os.environ)
_values.update(_of_environment)
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


def scope_function(flag: ConfigFlag) -> Callable[..., ConfigScope]:
    """The function that gives the scopes of a flag, named and documented by its row.

    >>> with scope_function(FLAGS["disable_jit"])():
    ...     current().disable_jit
    True
    """
    if flag.is_bool:

        def made(new_val: bool = True) -> ConfigScope:
            return scope(flag.name, new_val)

    else:

        def made(new_val: Value) -> ConfigScope:  # type: ignore[misc]  # the other form of it
            return scope(flag.name, new_val)

    made.__name__ = made.__qualname__ = flag.name
    made.__doc__ = flag.doc
    return made


enable_x64 = scope_function(FLAGS["enable_x64"])


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
    ``trace_cache_size``, is a whole number, and the process's alone. So are flags of
    JAX's that change nothing here (`NO_EFFECT`): their values are kept, and read.
    """
    name = flag.removeprefix("jax_")
    if name in LIMITS:
        set_limit(name, value)
        return
    if is_kept(name):
        keep(name, value)
        return
    name = _named(flag)
    with _update_lock:
        _values[FLAGS[name].field] = _checked(name, value)
        _Local.context = _Local.outside = _context(_values)
    _refresh()


def read_environment() -> None:
    """Set the flags whose variables have changed since they were last read.

    A program may set variables before it imports JAX; this library is there by then.
    """
    found = from_environment(os.environ)
    with _update_lock:
        _values.update(found.items() - _of_environment.items())
        _of_environment.update(found)
        _Local.context = _Local.outside = _context(_values)
    limits_from_environment(os.environ)
    _refresh()


def parse_flags_with_absl() -> None:
    """Nothing: flags are set by `update` and by the environment, not by absl's."""


config_with_absl = parse_flags_with_absl


def read(flag: str) -> Any:
    """The value of a flag of this thread, by its name with or without `jax_`.

    AttributeError for an unknown flag.

    >>> read("jax_enable_x64")
    False
    """
    return __getattr__(flag)


def __getattr__(flag: str) -> Any:
    """A flag of this thread, by its prefixed name: `config.jax_enable_x64`."""
    if flag.startswith("__"):
        raise AttributeError(flag)
    if flag == "values":
        return {f"jax_{name}": __getattr__(name) for name in (*FLAGS, *NO_EFFECT)}
    name = "enable_x64" if flag == "x64_enabled" else flag.removeprefix("jax_")
    if name in LIMITS:
        return LIMITS[name]
    if is_kept(name):
        return kept(name)
    return getattr(local.context, FLAGS[_named(name)].field)
