"""The values that a strict trace read besides its arguments.

Serves: cache.strict.capture, cache.strict.static, cache.key.strict

With `strict=True` an entry keeps fingerprints of its static arguments and of what the
function reads: found in its code, and in that of the functions of its module that it
reads. Finding and fingerprinting run a user's objects, so nothing that such an object
raises, and no cycle in it, may come out. A hit takes the fingerprints again before it
runs, so it costs more the more there is to read.
"""

from __future__ import annotations

import builtins
import dis
import functools
import inspect
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.jit.cache.fingerprints import MISSING, Fingerprinter, attribute, described

# How a value is called in an error, and the value.
Read = tuple[str, Any]
# What wraps more than this wraps itself.
LAYERS = 100


@dataclass(frozen=True, slots=True)
class Seal:
    """The fingerprints of values that a trace depends on, with the values as texts."""

    statics: tuple[tuple[str, Any, str], ...]
    captures: tuple[tuple[str, Any, str], ...]


def seal(fun: Any, statics: Iterable[Read], states: bool = True) -> Seal:
    """Fingerprints of static arguments and of values that `fun` reads, as they are now.

    Without `states`, the states of generators and iterators are left out.
    """
    fingerprints = Fingerprinter(module_of(fun), states)

    def sealed(pairs: Iterable[Read]) -> tuple[tuple[str, Any, str], ...]:
        return tuple((name, fingerprints.of(v), described(v)) for name, v in pairs)

    return Seal(sealed(statics), sealed(reads(fun)))


def verify(
    sealed: Seal, fun: Any, statics: Iterable[Read], states: bool = True
) -> None:
    """Raise StaleCaptureError (cache.strict.static, .capture) if anything changed."""
    fingerprints = Fingerprinter(module_of(fun), states)
    for (name, value), (_, was, text) in zip(statics, sealed.statics, strict=True):
        if fingerprints.of(value) != was:
            got = _change(f"argument {name}", text, value)
            raise rules.error("cache.strict.static", got=got)
    # A function that was replaced differs itself, before what it reads.
    for (name, value), (_, was, text) in zip(reads(fun), sealed.captures, strict=False):
        if fingerprints.of(value) != was:
            got = _change(name, text, value)
            raise rules.error("cache.strict.capture", got=got)


def _change(name: str, was: str, value: Any) -> str:
    now = described(value)
    return f"{name} was {was}, now {now}" if was != now else f"{name}, within {now}"


def module_of(fun: Any) -> Mapping[str, Any]:
    """The globals of the function within a callable; functions of it are followed."""
    function = innermost(fun)
    # A decorator's wrapper stands in another module than what it wraps.
    for _ in range(LAYERS):
        below = innermost(_wrapped(function))
        if below is None:
            break
        function = below
    return function.__globals__ if function else {}


def innermost(fun: Any) -> FunctionType | None:
    """The Python function that a callable runs in the end, if there is one.

    >>> innermost(functools.partial(shape_of := lambda x: x.shape)) is shape_of
    True
    """
    for _ in range(LAYERS):
        if type(fun) is FunctionType:
            return fun
        if isinstance(fun, functools.partial):
            fun = fun.func
        elif isinstance(fun, MethodType):
            fun = fun.__func__
        elif (wrapped := _wrapped(fun)) is not None:
            fun = wrapped
        else:
            call = attribute(type(fun), "__call__")
            return call if isinstance(call, FunctionType) else None
    return None


def _wrapped(fun: Any) -> Any:
    """The callable that another one wraps, or None."""
    found = attribute(fun, "__wrapped__")
    return found if callable(found) else None


def reads(fun: Any) -> Iterator[Read]:
    """The values that a callable reads: those it carries, globals, cells and defaults.

    So for the functions of the same module that it reads, too, and for the methods of
    its own object. Attributes of modules are read one by one; other values whole.

    >>> n = 3
    >>> [name for name, _ in reads(lambda x: x + n)]
    ['the global n']
    """
    yield from _carried(fun)
    first, home = innermost(fun), module_of(fun)
    owner = _owner(fun, first)
    todo, seen = [(first, "")] if first else [], set()
    while todo:
        function, reader = todo.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        for name, value in _of_function(function):
            yield name + reader, value
            inner = innermost(value) if callable(value) else None
            if inner is not None and inner.__globals__ is home:
                todo.append((inner, f", which {inner.__name__} reads"))
        for name, method in _methods(owner, function.__code__):
            yield f"the method {name}{reader}", method
            todo.append((method, f", which {name} reads"))


def _owner(fun: Any, function: FunctionType | None) -> Any:
    """The class whose method a callable is: that of its object, or the one that the
    module has under its name."""
    while isinstance(fun, functools.partial):
        fun = fun.func
    if isinstance(fun, MethodType):
        made = fun.__self__
        return made if isinstance(made, type) else type(made)
    if function is None or type(fun) is not FunctionType:
        return type(fun)
    named = function.__globals__.get(function.__qualname__.partition(".")[0])
    return named if isinstance(named, type) else None


def _methods(owner: Any, code: CodeType) -> Iterator[tuple[str, FunctionType]]:
    """The methods and properties of a class that code may read of an object."""
    for name in code.co_names if owner is not None else ():
        found = inspect.getattr_static(owner, name, None)
        if isinstance(found, property):
            found = found.fget
        found = getattr(found, "__func__", found)
        if type(found) is FunctionType and found.__module__ == owner.__module__:
            yield name, found


def _carried(fun: Any) -> Iterator[Read]:
    """The values that a callable carries besides its function."""
    if isinstance(fun, functools.partial):
        yield "an argument of the partial", (fun.args, fun.keywords)
        yield from _carried(fun.func)
    elif isinstance(fun, MethodType):
        yield "the object of the method", fun.__self__
    elif type(fun) is not FunctionType and _wrapped(fun) is None:
        yield "the callable object", fun


def _of_function(function: FunctionType) -> Iterator[Read]:
    """The globals, closure cells and defaults of one function."""
    code, known = function.__code__, function.__globals__
    for name, *parts in chains(code):
        value = known.get(name, getattr(builtins, name, MISSING))
        for part in parts:
            if not isinstance(value, ModuleType):
                break
            value, name = attribute(value, part), f"{name}.{part}"
        yield f"the global {name}", value
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:  # not yet assigned
            value = MISSING
        yield f"the variable {name}", value
    if function.__defaults__ or function.__kwdefaults__:
        yield "a default", (function.__defaults__, function.__kwdefaults__)


def stored(fun: Any) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The globals that a callable's function sets, as their module's and a name."""
    function = innermost(fun)
    for name in _stored(function.__code__) if function else ():
        yield function.__globals__, name  # type: ignore[union-attr]  # it has names


@functools.lru_cache(maxsize=1024)
def _stored(code: CodeType) -> tuple[str, ...]:
    names = [i.argval for i in dis.get_instructions(code) if i.opname == "STORE_GLOBAL"]
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return (*names, *(name for c in inner for name in _stored(c)))


@functools.lru_cache(maxsize=1024)
def sets(code: CodeType, name: str) -> bool:
    """True if code, or code within, gives a name of a function around it a value.

    >>> sets((lambda: name).__code__, "name")
    False
    """
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return any(
        i.argval == name and i.opname in ("STORE_DEREF", "DELETE_DEREF")
        for i in dis.get_instructions(code)
    ) or any(sets(c, name) for c in inner if name in c.co_freevars)


@functools.lru_cache(maxsize=1024)
def chains(code: CodeType) -> tuple[tuple[str, ...], ...]:
    """Each global that code reads, with the attributes read of it, code within too.

    >>> chains((lambda x: np.linalg.norm(x) + n).__code__)
    (('np', 'linalg', 'norm'), ('n',))
    """
    found: dict[tuple[str, ...], None] = {}
    chain: tuple[str, ...] = ()
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and chain:
            chain = (*chain, instruction.argval)
            continue
        if chain:
            found[chain] = None
        named = instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
        chain = (instruction.argval,) if named else ()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found.update(dict.fromkeys(chains(constant)))
    return tuple(found)
