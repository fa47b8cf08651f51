"""Generators, clocks and files, as a traced function sees them.

Serves: face.random, face.external

A generator draws when the program runs. Other sources of values that differ in each
call have no place in a program: asking for one is an error.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from traceir import rules
from traceir.face.arrays.unwrapping import in_numpy_trace
from traceir.face.control_flow.iteration import prange_of
from traceir.face.generator_arguments import GeneratorArgument, is_generator
from traceir.face.host_calls import maker, of_generator
from traceir.jit.cache.fingerprints import attribute

Function = Callable[..., Any]
# Functions of `time` that say the same whenever they are called, or nothing.
_TIMELESS = frozenset(
    {
        *("mktime", "sleep", "strptime", "tzset", "get_clock_info", "clock_getres"),
        *("clock_settime", "clock_settime_ns", "pthread_getcpuclockid"),
    }
)
# What the system says of its entropy, its load, and what is in files.
_SYSTEM = frozenset(
    {
        *("urandom", "getrandom", "times", "getloadavg", "open", "read", "access"),
        *("stat", "lstat", "fstat", "listdir", "scandir", "readlink"),
    }
)
# Functions by module and name whose results are others in each call.
_EXTERNAL: Mapping[str, frozenset[str]] = {
    "time": frozenset(vars(time)) - _TIMELESS,
    "posix": _SYSTEM,
    "nt": _SYSTEM,
    "secrets": frozenset({"token_bytes", "token_hex", "token_urlsafe", "randbelow"}),
    "uuid": frozenset({"uuid1", "uuid4"}),
    "builtins": frozenset({"input"}),
    "io": frozenset({"open"}),
    "_io": frozenset({"open"}),
    "numpy": frozenset({"load", "loadtxt", "genfromtxt", "fromfile"}),
}
# Classes with such methods.
_CLASSES = {("datetime", "datetime"), ("datetime", "date")}
_NOW = frozenset({"now", "utcnow", "today"})
# Modules of which a traced function sees these.
MODULES = frozenset({"random", "time", "os", "secrets", "uuid", "datetime"})


def of_external(value: Any) -> Any:
    """The stand-in for a generator, a method of one, or a clock in a traced function.

    Anything else is itself.

    >>> of_external(len) is len
    True
    """
    if type(value) is GeneratorArgument or is_generator(value):
        return of_generator(value)
    if isinstance(value, ModuleType) or not callable(value):
        return value
    name, module = attribute(value, "__name__"), attribute(value, "__module__")
    if type(name) is not str:
        return value
    if getattr(sys.modules.get("numpy.random"), name, None) is value:
        return getattr(RandomModule("numpy.random"), name)
    owner = attribute(value, "__self__")
    if is_generator(owner):
        return getattr(of_generator(owner), name)
    if isinstance(value, type):
        if is_of_numba(value, "prange"):
            return prange_of
        if issubclass(value, random.Random):
            return _class_of_generators(value)
        return _Clock(value) if (module, name) in _CLASSES else value
    if type(module) is str and name in _EXTERNAL.get(module, ()):
        return refused(name, value)
    return value


def refused(name: str, function: Function) -> Function:
    """A function that a trace cannot call; outside of a trace it is itself."""

    def called(*args: Any, **kwargs: Any) -> Any:
        if in_numpy_trace():
            raise rules.error("face.external", got=f"{name}()")
        return function(*args, **kwargs)

    return called


def is_of_numba(kind: type, name: str) -> bool:
    """True for a class of Numba's by its name: this package does without Numba.

    >>> is_of_numba(range, "prange")
    False
    """
    return kind.__name__ == name and kind.__module__.startswith(
        ("numba.", "traceir_numba.")
    )


class _Seen(type):
    """A class that stands for another one: its instances are that one's."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, vars(cls)["seen"])

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, vars(cls)["seen"])


class _Maker(_Seen):
    """A class of generators: to make one is a call of the host."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return maker(vars(cls)["seen"])(*args, **kwargs)


def _class_of_generators(seen: type) -> type:
    return _Maker(seen.__name__, (), {"seen": seen})


class _Clock:
    """`datetime` or `date`: a class that has the time of a call."""

    def __init__(self, seen: type) -> None:
        self._seen = seen

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._seen(*args, **kwargs)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, self._seen)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._seen, name)
        if name not in _NOW:
            return found
        return refused(f"{self._seen.__name__}.{name}", found)


class RandomModule(ModuleType):
    """`numpy.random` as a traced function sees it."""

    def __getattr__(self, name: str) -> Any:
        module = sys.modules["numpy.random"]
        found = getattr(module, name)
        if isinstance(found, type):
            return _class_of_generators(found)
        owner = getattr(found, "__self__", None)
        if is_generator(owner):
            return getattr(of_generator(owner), name)
        if name == "default_rng":
            return maker(found)
        own = _METHODS.get(name)
        if own is not None:
            return getattr(of_generator(module.mtrand._rand), own)
        return refused(f"np.random.{name}", found) if callable(found) else found


# Functions that are methods of the module's generator under another name.
_METHODS = {"seed": "seed", "ranf": "random_sample", "sample": "random_sample"}
