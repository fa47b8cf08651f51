"""Jitted functions in pickles: by name, or with their function.

Serves: export.pickled

A pickle has the names of functions. That of a function under `@jit` is the jitted
one's, so a copy of it with a name of its own, `f._body`, is pickled. There `pickle`
finds it; a pickler that writes functions with their code can write this one too.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.base.fork_safety import kept_over_forks

Function = Callable[..., Any]
_BODY = "._body"
_making_bodies = kept_over_forks(threading.Lock())


@dataclass(frozen=True, slots=True)
class Making:
    """The arguments of a jitted function's class, after the function."""

    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...] = ()


def found_at(module: str | None, qualname: str) -> Any:
    """The value at a name of a module that is imported, or None.

    >>> found_at("math", "tau"), found_at("math", "no.such.name")
    (6.283185307179586, None)
    """
    found: Any = sys.modules.get(module or "")
    for name in qualname.split("."):
        found = getattr(found, name, None)
    return found


def name_of(value: Any, module: str | None, qualname: str) -> str | None:
    """The name at which a value stands in a module: that one, or one that it was given.

    >>> import math
    >>> name_of(math.tau, "math", "pi"), name_of([], "math", "pi")
    ('tau', None)
    """
    if found_at(module, qualname) is value:
        return qualname
    named = vars(sys.modules.get(module or "", object)).items()
    return next((name for name, other in [*named] if other is value), None)


def body_of(fun: Function, name: str) -> Function:
    """A copy of a function whose name leads to the attribute `_body` of what has that
    name; other callables as they are."""
    if type(fun) is not FunctionType:
        return fun
    copy = _copied(fun)
    copy.__qualname__ = name + _BODY
    return copy


def _copied(fun: FunctionType) -> FunctionType:
    copy = FunctionType(
        fun.__code__, fun.__globals__, fun.__name__, fun.__defaults__, fun.__closure__
    )
    copy.__kwdefaults__ = fun.__kwdefaults__
    copy.__annotations__ = fun.__annotations__
    copy.__module__ = fun.__module__
    copy.__doc__ = fun.__doc__
    copy.__dict__.update(fun.__dict__)
    return copy


class Pickled:
    """An object that is pickled by name, as functions are, or by the way it was made.

    The name is one that leads to the object itself: that of the function, or another
    in its module. Copies are the object itself.
    """

    __slots__ = ("_last",)
    _fun: Function
    # The copy that was made last, under its name.
    _last: tuple[str, Function]

    def _making(self) -> Making:
        """The way in which it was made."""
        raise NotImplementedError

    @property
    def _body(self) -> Function:
        """The function, by a name of its own."""
        name = self._named()
        wanted = name[1] if name else getattr(self._fun, "__qualname__", "")
        with _making_bodies:
            last = getattr(self, "_last", None)
            if last is None or last[0] != wanted:
                last = self._last = wanted, body_of(self._fun, wanted)
            return last[1]

    def _named(self) -> tuple[str, str] | None:
        """Its module, and its name there."""
        module = self.__module__
        name = name_of(self, module, getattr(self, "__qualname__", ""))
        return None if name is None else (module, name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        name = self._named()
        if name and protocol < 4:  # which has no names with dots
            return name[1]
        state = self._body if name else self._fun, self._making()
        return blank, (type(self), name), state

    def __setstate__(self, state: tuple[Function, Making]) -> None:
        if hasattr(self, "_fun"):  # found by its name
            return
        fun, making = state
        if getattr(fun, "__qualname__", "").endswith(_BODY):
            assert type(fun) is FunctionType
            fun = _copied(fun)
            fun.__qualname__ = fun.__qualname__.removesuffix(_BODY)
        make: Any = type(self)
        make.__init__(self, fun, *making.args, **dict(making.kwargs))

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: object) -> Any:
        return self

    def __dask_tokenize__(self) -> object:
        """The token by which Dask tells tasks with different functions apart."""
        from dask.base import normalize_token  # who asks is Dask

        function, making = self._body if self._named() else self._fun, self._making()
        kind = type(self).__qualname__
        return normalize_token((kind, function, making.args, making.kwargs))


def blank(cls: type[Pickled], name: tuple[str, str] | None) -> Any:
    """The object of that name if there is one, else one that is not made yet.

    A function may refer to itself, so it is made when its body is complete.
    """
    found = found_at(*name) if name else None
    return found if type(found) is cls else cls.__new__(cls)
