"""Tracebacks of the user's frames alone, without those of the packages.

Serves: cache.flag.traceback_filtering

On its way out an exception passes through an *entry point*, a function or a method that
the user calls; there its traceback is cut. A call that raises nothing pays for a `try`,
which costs nothing, or for one call more where the entry point is a wrapper.

>>> import traceir, traceback
>>> try:
...     traceir.numpy.zeros("three")
... except TypeError as error:
...     [entry.name for entry in traceback.extract_tb(error.__traceback__)]
['<module>']
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from types import FunctionType, TracebackType
from typing import Any, TypeVar

from traceir.base.config import FLAGS, local
from traceir.base.source_info import is_shown, is_users_code

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)
# A function that takes any number of arguments.
_MORE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_LIBRARY = os.path.dirname(os.__file__) + os.sep
_CALLED = frozenset({"__init__", "__call__", "__enter__", "__exit__", "__getattr__"})
_FLAG = FLAGS["traceback_filtering"]
NOTE = f"(frames of traceir are left out; {_FLAG.variable}=off shows them)"


def users_frames(error: BaseException) -> None:
    """Take the packages' own frames, and exceptions that they have handled, out of what
    is shown of an exception; with the flag's `tracebackhide` mark them."""
    filtering = local.context.traceback_filtering
    if filtering == "off":
        return
    for shown in _chain(error):
        frames = list(_frames(shown.__traceback__))
        ours = [step for step in frames if not _is_users(step)]
        if filtering == "tracebackhide":
            for step in ours:
                step.tb_frame.f_locals["__tracebackhide__"] = True
        elif ours:
            raised_here = shown is error and frames[-1] is ours[-1]
            shown.__traceback__ = _linked(step for step in frames if _is_users(step))
            if raised_here and not _is_noted(error):
                error.add_note(NOTE)


def entry_point(function: F, makes: bool = True) -> F:
    """The function, whose exceptions show the user's frames alone; so do those of
    functions of the packages that it `makes` and returns.

    >>> entry_point(len)([1, 2])
    2
    """

    if _takes_self_alone(function):

        @functools.wraps(function)
        def call(self: Any) -> Any:
            try:
                return function(self)
            except Exception as error:
                users_frames(error)
                raise

        return call  # type: ignore[return-value]  # `wraps` forgets the type

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            found = function(*args, **kwargs)
        except Exception as error:
            users_frames(error)
            raise
        if not makes:
            return found
        if type(found) is tuple:
            return tuple(map(_returned, found))
        return _returned(found)

    return called  # type: ignore[return-value]  # as above


def wraps(function: Any) -> Callable[[F], F]:
    """As `functools.wraps`, of any callable: what no function can have is left out.

    >>> class Scaled:
    ...     __name__ = 3
    >>> wraps(Scaled())(lambda x: x).__name__
    '<lambda>'
    """

    def named(wrapper: F) -> F:
        for name in functools.WRAPPER_ASSIGNMENTS:
            with suppress(AttributeError, TypeError):
                setattr(wrapper, name, getattr(function, name))
        return functools.update_wrapper(wrapper, function, ())  # type: ignore[return-value]  # it is the same

    return named


def behind(function: Any) -> Any:
    """The function that an entry point calls; anything else as it is.

    >>> behind(entry_point(len)) is len, behind(len) is len
    (True, True)
    """
    entry = type(function) is FunctionType and _file(function) == __file__
    return function.__wrapped__ if entry else function


def _returned(value: Any) -> Any:
    ours = type(value) is FunctionType and not is_users_code(_file(value))
    return entry_point(value) if ours and behind(value) is value else value


def publish(package: dict[str, Any]) -> None:
    """Make the public functions of a package or a module entry points: of a package
    those in its `__all__`. Each is put into the module that it is of, too, by which
    pickles find it."""
    place = package["__name__"]
    names = package.get("__all__") or [n for n in package if n[0] != "_"]
    for name in [*names, "__getattr__"]:
        value = package.get(name)
        if type(value) is not FunctionType or not _is_in(value.__module__, place):
            continue
        home = vars(sys.modules[value.__module__])
        found = home.get(value.__name__)
        if behind(found) is not value:  # it stands elsewhere in its module
            package[name] = entry_point(value) if behind(value) is value else value
            continue
        if behind(found) is found:
            found = home[value.__name__] = entry_point(found, name != "__getattr__")
        package[name] = found


def published(package: str, name: str, value: Any) -> Any:
    """The value under a public name of a package that is asked for late: an entry
    point, if it is a function of its own, as `publish` makes them.

    >>> from traceir.tree import map
    >>> published("traceir.tree", "map", map) is map
    True
    """
    named = {"__name__": package, "__all__": [name], name: value}
    publish(named)
    return named[name]


def entry_points(*names: str) -> Callable[[C], C]:
    """A decorator of a class: methods of these names are entry points; without names
    all that have a public one, and calls."""

    def marked(cls: C) -> C:
        own = vars(cls)
        for name in names or [n for n in own if n[0] != "_" or n in _CALLED]:
            value = own[name]
            if isinstance(value, staticmethod | classmethod):
                setattr(cls, name, type(value)(entry_point(value.__func__)))
            elif type(value) is FunctionType:
                setattr(cls, name, entry_point(value))
        return cls

    return marked


def _takes_self_alone(function: Callable[..., Any]) -> bool:
    code = getattr(function, "__code__", None)
    if code is None or code.co_varnames[:1] != ("self",) or code.co_argcount != 1:
        return False
    return not code.co_kwonlyargcount and not code.co_flags & _MORE


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _file(function: FunctionType) -> str:
    return function.__code__.co_filename


def _is_users(step: TracebackType) -> bool:
    return is_shown(step.tb_frame.f_code.co_filename)


def _frames(step: TracebackType | None) -> Iterator[TracebackType]:
    while step is not None:
        yield step
        step = step.tb_next


def _linked(steps: Iterable[TracebackType]) -> TracebackType | None:
    """A traceback of these steps."""
    linked = None
    for step in reversed(list(steps)):
        linked = TracebackType(linked, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return linked


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exceptions that are shown with one, from which those that these packages have
    handled are taken out."""
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        shown = todo.pop()
        if shown is None or id(shown) in seen:
            continue
        seen.add(id(shown))
        context = shown.__context__
        while context is not None and context is not error and _handled_here(context):
            context = context.__context__
        if context is not shown.__context__:
            shown.__context__ = context
            shown.__suppress_context__ = shown.__cause__ is not None
        todo += (context, shown.__cause__)
        yield shown


def _handled_here(error: BaseException) -> bool:
    """True if a frame of the packages has caught it, or one of Python's library."""
    trace = error.__traceback__
    if trace is None:
        return False
    file = trace.tb_frame.f_code.co_filename
    library = file.startswith(_LIBRARY) and "site-packages" not in file
    return library or not _is_users(trace)


def _is_noted(error: BaseException) -> bool:
    """True if an exception has the note, or may have none: an example of a docstring
    runs, and `doctest` compares notes with the text."""
    if NOTE in getattr(error, "__notes__", ()):
        return True
    frame = sys._getframe(2) if "doctest" in sys.modules else None
    while frame is not None:
        if frame.f_globals.get("__name__") == "doctest":
            return True
        frame = frame.f_back
    return False
