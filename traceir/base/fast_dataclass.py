"""Dataclasses that are created in a fourth of the time.

`dataclasses` writes each method of a class as text and compiles it, which was half of
the time of importing this package, and looks at each annotation with care. Here only
`__init__` is compiled, once for all classes of a shape; the others are closures over
the names of the fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import cache
from inspect import CO_NESTED
from operator import attrgetter
from reprlib import recursive_repr
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from traceir.base.generated_code import define

_KNOWN = {"frozen", "slots", "weakref_slot", "eq", "repr"}


class _Factory:
    """A default value in a signature that is made anew for each object."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """As `dataclasses.dataclass`, which makes those with bases or special fields.

        >>> @dataclass(frozen=True, slots=True)
        ... class Point:
        ...     x: int
        ...     y: int = 0
        >>> Point(1), Point(1) == Point(1, 0), hash(Point(2)) == hash(Point(2))
        (Point(x=1, y=0), True, True)
        >>> dataclasses.replace(Point(1), y=5)
        Point(x=1, y=5)
        """
        if cls is None:
            return lambda decorated: dataclass(decorated, **options)
        plain = cls.__bases__ == (object,) and type(cls) is type
        plain = plain and options.keys() <= _KNOWN and _has_fields_alone(cls)
        if not plain or any(map(_is_special, vars(cls).values())):
            return dataclasses.dataclass(cls, **options)
        return _made(cls, **options)


# What is no field, or one by name only, though it stands where fields do.
_SPECIAL = ("ClassVar", "InitVar", "KW_ONLY")


def _has_fields_alone(cls: type) -> bool:
    """True if each annotation is a text, and that of a field."""
    texts = cls.__annotations__.values()
    return all(
        type(text) is str and not any(word in text for word in _SPECIAL)
        for text in texts
    )


def _is_special(value: object) -> bool:
    """True if a field is no argument, or one by name only."""
    return isinstance(value, Field) and not (value.init and value.kw_only is MISSING)


# A class of the standard library's, for what all of them have.
_LIKE: Any = dataclasses.make_dataclass(
    "Example", [("field", int)], init=False, repr=False, eq=False
)
_FIELD_TYPE = _LIKE.__dataclass_fields__["field"]._field_type


def _made(
    cls: type,
    frozen: bool = False,
    slots: bool = False,
    eq: bool = True,
    repr: bool = True,
    weakref_slot: bool = False,
) -> type:
    own = set(cls.__dict__)
    fields = tuple(_field(cls, *item) for item in cls.__annotations__.items())
    if slots:
        cls = _slotted(cls, fields, weakref_slot)
    params = copy(_LIKE.__dataclass_params__)
    params.init, params.repr, params.eq, params.frozen = True, repr, eq, frozen
    if hasattr(params, "slots"):  # from Python 3.12 on
        params.slots, params.weakref_slot = slots, weakref_slot
    given = {
        "__dataclass_fields__": {field.name: field for field in fields},
        "__dataclass_params__": params,
        "__match_args__": tuple(field.name for field in fields),
    }
    if "__replace__" in vars(_LIKE):
        given["__replace__"] = _LIKE.__replace__
    methods: dict[str, Any] = {"__init__": _init(cls, fields, frozen)}
    if repr:
        methods["__repr__"] = _repr(fields)
    if eq:
        methods["__eq__"] = _eq([f.name for f in fields if f.compare])
        named = [f.name for f in fields if (f.compare if f.hash is None else f.hash)]
        methods["__hash__"] = _hash(named) if frozen else None
    if frozen:
        methods |= _frozen(cls, frozenset(f.name for f in fields))
    if frozen and slots:
        methods |= {"__getstate__": _state, "__setstate__": _with_state}
    for name, value in given.items():
        if name not in own or name != "__match_args__":
            setattr(cls, name, value)
    for name, method in methods.items():
        # A class that defines its equality has no hash, and says so by itself.
        if name not in own or (name == "__hash__" and cls.__dict__[name] is None):
            if callable(method):
                method.__qualname__ = f"{cls.__qualname__}.{name}"
            setattr(cls, name, method)
    return cls


def _field(cls: type, name: str, annotation: str) -> Any:
    """A field, as `dataclasses` makes one; its default is no attribute of the class if
    it has none, or is made anew."""
    default = vars(cls).get(name, MISSING)
    found: Any = default
    if not isinstance(default, Field):
        found = dataclasses.field(default=default)
        if default is not MISSING and default.__class__.__hash__ is None:
            kind = type(default)
            raise ValueError(
                f"mutable default {kind} for field {name} is not allowed: "
                "use default_factory"
            )
    elif default.default is MISSING:
        delattr(cls, name)
    else:
        setattr(cls, name, default.default)
    found.name, found.type, found.kw_only = name, annotation, False
    found._field_type = _FIELD_TYPE
    return found


def _slotted(cls: type, fields: tuple[Any, ...], weakref_slot: bool) -> type:
    """The class again, with a slot for each field."""
    if "__slots__" in vars(cls):
        raise TypeError(f"{cls.__name__} already specifies __slots__")
    names = tuple(field.name for field in fields)
    left_out = {*names, "__dict__", "__weakref__"}
    body = {name: value for name, value in vars(cls).items() if name not in left_out}
    body["__slots__"] = (*names, "__weakref__") if weakref_slot else names
    made = type(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    return made


def _init(
    cls: type, fields: tuple[Field[Any], ...], frozen: bool
) -> Callable[..., None]:
    """The `__init__` of a class: that of its shape, with the names of its fields."""
    scope: dict[str, Any] = {"_set": object.__setattr__, "_missing": _FACTORY}
    names: dict[object, str] = {}
    defaults = []
    for k, field in enumerate(fields):
        names[f"field_{k}"] = field.name
        if field.default_factory is not MISSING:
            scope[f"make_{k}"] = field.default_factory
            defaults.append(_FACTORY)
        elif field.default is not MISSING:
            defaults.append(field.default)
        elif defaults:
            raise TypeError(f"{field.name!r} has no default, and one before it has")
    made = tuple(k for k, f in enumerate(fields) if f.default_factory is not MISSING)
    code = _init_code(len(fields), made, frozen, hasattr(cls, "__post_init__"))

    def renamed(old: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(names.get(name, name) for name in old)

    code = code.replace(
        co_filename=f"<traceir {cls.__name__}>",
        co_varnames=renamed(code.co_varnames),
        co_names=renamed(code.co_names),
        co_consts=renamed(code.co_consts),
    )
    init = FunctionType(code, scope, "__init__", tuple(defaults))
    init.__annotations__ = {f.name: f.type for f in fields} | {"return": None}
    return init


@cache
def _init_code(count: int, made: tuple[int, ...], frozen: bool, then: bool) -> CodeType:
    """The code of an `__init__`: compiled once for all classes of a shape.

    `made` are the fields whose defaults are made anew, and `then` calls
    `__post_init__`. A field's name is `field_0` until the class is known.
    """
    fields = [f"field_{k}" for k in range(count)]
    body = [f"if field_{k} is _missing: field_{k} = make_{k}()" for k in made]
    body += [
        f"_set(self, {name!r}, {name})" if frozen else f"self.{name} = {name}"
        for name in fields
    ]
    if then:
        body.append("self.__post_init__()")
    head = f"def __init__({', '.join(['self', *fields])}):"
    lines = (head, *[f" {line}" for line in body], " return")
    return define("__init__", lines, {}, "dataclass").__code__


def _values(names: list[str]) -> Callable[[object], tuple[Any, ...]]:
    """The values of some attributes of an object."""
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return lambda _: ()
    get = attrgetter(names[0])
    return lambda one: (get(one),)


def _eq(names: list[str]) -> Callable[[Any, object], Any]:
    values = _values(names)

    def __eq__(self: Any, other: object) -> Any:
        if other.__class__ is self.__class__:
            return values(self) == values(other)
        return NotImplemented

    return __eq__


def compares_fields(cls: type) -> bool:
    """True if a class is a frozen dataclass whose equality is that of its fields.

    A class that defines ``__eq__`` may find objects equal whose fields are not.

    >>> @dataclass(frozen=True)
    ... class Opaque:
    ...     value: object
    ...
    ...     def __eq__(self, other):
    ...         return type(other) is Opaque
    ...
    ...     def __hash__(self):
    ...         return 0
    >>> compares_fields(Opaque), compares_fields(Field), compares_fields(int)
    (False, False, False)
    """
    params = getattr(cls, "__dataclass_params__", None)
    if not (params and params.frozen and params.eq):
        return False
    code = getattr(cls.__eq__, "__code__", None)
    if code is None or code is _EQ_CODE:
        return code is not None
    # `dataclasses` compiles a text whose functions are those of another function.
    return code.co_filename == "<string>" and bool(code.co_flags & CO_NESTED)


_EQ_CODE = _eq([]).__code__


def _hash(names: list[str]) -> Callable[[Any], int]:
    values = _values(names)

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __hash__


def _repr(fields: tuple[Field[Any], ...]) -> Callable[[Any], str]:
    names = [f.name for f in fields if f.repr]

    @recursive_repr()
    def __repr__(self: Any) -> str:
        texts = (f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({', '.join(texts)})"

    return __repr__


def _frozen(cls: Any, names: frozenset[str]) -> dict[str, Any]:
    def __setattr__(self: Any, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _with_state(self: Any, state: list[Any]) -> None:
    fields = dataclasses.fields(self)
    # One of an earlier version has none of the fields that came since, the last.
    later = [field.default for field in fields[len(state) :]]
    for field, value in zip(fields, [*state, *later], strict=True):
        object.__setattr__(self, field.name, value)
