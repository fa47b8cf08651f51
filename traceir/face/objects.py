"""Objects of a user's classes as a traced function sees them.

Serves: face.random, face.reach
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any

from traceir.face.generator_arguments import GeneratorArgument, is_generator
from traceir.face.object_arguments import has_methods as has_methods
from traceir.jit.cache.fingerprints import MISSING, attribute, attributes_of, is_open
from traceir.pytrees.node_types import kind_of


def has_generator(value: Any) -> bool:
    """True if an object has a generator among its attributes.

    >>> has_generator(3)
    False
    """
    attributes = attribute(value, "__dict__")
    return type(attributes) is dict and any(map(is_generator, attributes.values()))


class Objects:
    """Copies of objects and of classes, one for each, with methods and generators as a
    traced function sees them; `seen` is a function as it is seen, `part` any value."""

    def __init__(
        self, seen: Callable[[FunctionType], Any], part: Callable[[Any], Any]
    ) -> None:
        self._seen = seen
        self._part = part
        self._made: dict[int, tuple[Any, Any, dict[str, Any]]] = {}
        self._classes: dict[type, type] = {}
        self._born: list[tuple[Any, type]] = []
        self._tables: dict[int, tuple[Any, Any, Any]] = {}

    def of(self, value: Any) -> Any:
        """The copy of an object, or itself where none can be made."""
        found = self._made.get(id(value))
        if found is not None:
            return found[0]
        kind = self.class_of(type(value))
        try:
            made: Any = object.__new__(kind)
        except TypeError:  # of a class that is made otherwise
            return value
        held: dict[str, Any] = vars(made)
        self._made[id(value)] = made, value, held
        if kind is type(value):
            for name, method in _methods(kind):
                held[name] = MethodType(self._seen(method), made)
        for name, part in attributes_of(value):
            if part is not MISSING:
                object.__setattr__(made, name, self._part(part))
        self._made[id(value)] = made, value, dict(held)
        return made

    def class_of(self, kind: type) -> type:
        """A class as a traced function sees it: derived from it, with its methods as
        they are seen. Its objects are of the class itself when the trace ends.
        """
        if not _is_plain(kind):
            return kind
        found = self._classes.get(kind)
        if found is None:
            meta = type("type", (SeenClass, type(kind)), {})
            found = self._classes[kind] = derived(meta, kind, self._born)
            for name, member in _members(kind):
                type.__setattr__(found, name, self._member(member))
        return found

    def _member(self, member: Any) -> Any:
        if type(member) is FunctionType:
            return self._seen(member)
        if isinstance(member, property):
            get, put, drop = (
                f and self._member(f) for f in (member.fget, member.fset, member.fdel)
            )
            return property(get, put, drop, member.__doc__)
        if isinstance(member, staticmethod | classmethod):
            return type(member)(self._member(member.__func__))
        return member  # such as a jitted function within one of these

    def table(self, value: Any) -> Any:
        """A dict or a list with its functions and generators as they are seen; itself
        without any."""
        found = self._tables.get(id(value))
        if found is not None:
            return found[0]
        parts = value.values() if type(value) is dict else value
        seen = (FunctionType, GeneratorArgument)
        if not any(type(part) in seen for part in parts):
            return value
        made = _mapped(value, self._part)
        self._tables[id(value)] = made, value, made.copy()
        return made

    def end(self) -> None:
        """Set the function's new values in objects and tables."""
        for made, value, before in self._made.values():
            for name, held in vars(made).items():
                if held is not before.get(name, MISSING):
                    setattr(value, name, held)
            for name in before.keys() - vars(made).keys() & vars(value).keys():
                delattr(value, name)
        for made, value, before in self._tables.values():
            if made != before:
                _hand_on(made, value, before)
        for one, kind in self._born:
            object.__dict__["__class__"].__set__(one, kind)


class SeenSuper:
    """`super()` in a method of a traced function: methods of bases, as they are seen.

    `seen` is a function as it is seen.
    """

    def __init__(
        self, seen: Callable[[FunctionType], Any], kind: type, value: Any
    ) -> None:
        object.__getattribute__(self, "__dict__").update(
            seen=seen, parent=super(kind, value)
        )

    def __getattribute__(self, name: str) -> Any:
        held = object.__getattribute__(self, "__dict__")
        found = getattr(held["parent"], name)
        if type(found) is not MethodType or type(found.__func__) is not FunctionType:
            return found
        return MethodType(held["seen"](found.__func__), found.__self__)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, "__dict__")["parent"], name, value)


class SeenClass(type):
    """The class of classes as a traced function sees them.

    `_traced` has the class itself, and the objects that this one has made.
    """

    _traced: tuple[type, list[tuple[Any, type]]]

    def __setattr__(cls, name: str, value: Any) -> None:
        setattr(cls._traced[0], name, value)
        if name in vars(cls):
            type.__delattr__(cls, name)

    def __delattr__(cls, name: str) -> None:
        delattr(cls._traced[0], name)
        if name in vars(cls):
            type.__delattr__(cls, name)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made: Any = super().__call__(*args, **kwargs)
        kind, born = cls._traced
        if type(made).__mro__[:2] == (cls, kind):  # `__new__` may give another's
            born.append((made, kind))
        return made

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls._traced[0])

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls._traced[0])

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls._traced[0]

    def __hash__(cls) -> int:
        return hash(cls._traced[0])


def derived(meta: Any, kind: type, born: list[tuple[Any, type]]) -> type:
    """A class like another one, which is of a class of classes."""
    members: dict[str, Any] = {"__slots__": (), "__module__": kind.__module__}
    members["__qualname__"] = kind.__qualname__
    # Objects say that they are of the class itself, as those outside do.
    members["__class__"] = property(lambda one: kind)
    made: type = meta(kind.__name__, (kind,), members)
    type.__setattr__(made, "_traced", (kind, born))
    return made


def _is_plain(kind: type) -> bool:
    """True if a class is a user's, as are those that it is derived from but `object`,
    and no node of a pytree.
    """
    bases = [base for base in kind.__mro__ if base not in (object, abc.ABC)]
    return (
        type(kind) in (type, abc.ABCMeta)
        and all(map(is_open, bases))
        and kind_of(kind) is None
        and not any("__init_subclass__" in vars(base) for base in bases)
    )


def _mapped(table: Any, change: Callable[[Any], Any]) -> Any:
    if type(table) is dict:
        return {key: change(part) for key, part in table.items()}
    return [change(part) for part in table]


def _hand_on(made: Any, value: Any, before: Any) -> None:
    """Make a table equal to its copy."""
    pairs = zip(*(t.values() if type(t) is dict else t for t in (before, value)))
    known = {id(seen): part for seen, part in pairs}
    new = _mapped(made, lambda part: known.get(id(part), part))
    value.clear()
    (value.update if type(value) is dict else value.extend)(new)


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """Functions, properties and the like of a class and its bases, the nearest last."""
    for cls in reversed(kind.__mro__):
        for name, member in vars(cls).items() if is_open(cls) else ():
            if isinstance(member, (FunctionType, staticmethod, classmethod, property)):
                yield name, member


def _methods(kind: type) -> Iterator[tuple[str, FunctionType]]:
    """The plain methods of a class and its bases, the nearest last."""
    for name, member in _members(kind):
        if type(member) is FunctionType and not name.startswith("__"):
            yield name, member
