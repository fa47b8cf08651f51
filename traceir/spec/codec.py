"""Rows to JSON and back, by the types of their fields. Serves: table.row

A row is an object with a member for each of its fields, under the field's name; the
docstrings of `traceir.rules` tell what each one is. By the type of a field:

    text, flag       as they are; one of a closed list is one of these texts
    number           as it is, or exact, see `trees`
    formula          a tree, see `trees`
    tuple, set       a list; a set's is sorted
    mapping          an object; names that are several are joined by spaces
    None             null
    one of several   of several kinds of rows, an object with `is`, the kind's name
    default, dtype   `{"tuple": [...]}`, `{"dtype": "int8"}`
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from traceir.dtypes import as_dtype
from traceir.rules.formulas.language import Formula
from traceir.spec.trees import Json, formula, number, read_number, tree

_UNION = (Union, types.UnionType)


def encode(value: Any) -> Json:
    """A row, or a part of one, as JSON.

    >>> from traceir.rules import default
    >>> encode(default().prims["neg"].out[0].shape)["name"]
    'shape'
    """
    match value:
        case None | bool() | str():
            return value
        case int() | float():
            return number(value)
        case Formula():
            return tree(value.node)
        case frozenset():
            return sorted(map(encode, value))
        case tuple() | list():
            return list(map(encode, value))
        case Mapping():
            return {_key(k): encode(v) for k, v in value.items()}
    if not is_dataclass(value):
        raise TypeError(f"{type(value).__name__} has no form in JSON")
    row: Any = type(value)
    return {
        member: _tagged(getattr(value, name), kind)
        for member, name, kind in members(row)
    }


def _key(key: Any) -> str:
    return key if isinstance(key, str) else " ".join(key)


def _tagged(value: Any, kind: Any) -> Json:
    """A field's value: what its type leaves open is told by a member."""
    if kind is Any:
        return _loose(value)
    if len(rows_among(kind)) > 1 and is_dataclass(value):
        return {"is": kind_name(type(value)), **encode(value)}
    if get_origin(kind) is tuple and isinstance(value, tuple):
        inner = _items(kind, len(value))
        return [_tagged(v, k) for v, k in zip(value, inner, strict=True)]
    return encode(value)


def _loose(value: Any) -> Json:
    match value:
        case tuple():
            return {"tuple": list(map(_loose, value))}
        case np.dtype():
            return {"dtype": value.name}
    return encode(value)


def _read_loose(data: Json) -> Any:
    match data:
        case {"tuple": items}:
            return tuple(map(_read_loose, items))
        case {"dtype": name}:
            return as_dtype(name)
    return read_number(data)


def decode(kind: Any, data: Json) -> Any:
    """The value of a type that JSON stands for; ValueError where it stands for none.

    >>> decode(tuple[str, ...], ["x", "y"])
    ('x', 'y')
    """
    if kind is Any:
        return _read_loose(data)
    if kind is Formula:
        return formula(data)
    if is_dataclass(kind) and isinstance(kind, type):
        return kind(**{n: decode(k, data[m]) for m, n, k in members(kind)})
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in _UNION:
        return _decode_one(kind, arguments, data)
    if origin is Literal:
        if data not in arguments:
            raise ValueError(f"{data!r} is none of {arguments}")
        return data
    if origin is tuple:
        inner = _items(kind, len(data))
        return tuple(decode(k, d) for k, d in zip(inner, data, strict=True))
    if origin is frozenset:
        return frozenset(decode(arguments[0], d) for d in data)
    if origin is not None and issubclass(origin, Mapping):
        key, inner_kind = arguments
        several = key is not str
        return {
            tuple(k.split()) if several else k: decode(inner_kind, d)
            for k, d in data.items()
        }
    found = read_number(data)
    if not isinstance(found, (int, float) if kind is float else kind):
        raise ValueError(f"{data!r} is no {kind.__name__}")
    return found


def _decode_one(kind: Any, arguments: tuple[Any, ...], data: Json) -> Any:
    """A value of the one of several types that fits."""
    if data is None and type(None) in arguments:
        return None
    rows = rows_among(kind)
    if len(rows) > 1:
        (found,) = (row for row in rows if kind_name(row) == data["is"])
        return decode(found, data)
    for one in arguments:
        if _fits(one, data):
            return decode(one, data)
    raise ValueError(f"{data!r} is none of {arguments}")


def _fits(kind: Any, data: Json) -> bool:
    """True if JSON has the form of a type, as far as types of one field differ."""
    if kind is Formula:
        return isinstance(data, dict) and "is" in data
    if get_origin(kind) is tuple:
        return isinstance(data, list)
    if get_origin(kind) is Literal:
        return data in get_args(kind)
    if is_dataclass(kind):
        return isinstance(data, dict)
    return isinstance(kind, type) and isinstance(read_number(data), kind)


def _items(kind: Any, count: int) -> tuple[Any, ...]:
    """The types of so many items of a tuple's type."""
    arguments = get_args(kind)
    return arguments[:1] * count if arguments[1:] == (...,) else arguments


def rows_among(kind: Any) -> tuple[type, ...]:
    """The kinds of rows that a type is one of, none if it is not one of several."""
    if get_origin(kind) is tuple:
        return ()
    arguments = get_args(kind) if get_origin(kind) in _UNION else ()
    found = (a for a in arguments if is_dataclass(a) and a is not Formula)
    return tuple(a for a in found if isinstance(a, type))


def kind_name(row: type) -> str:
    """The name of a kind of row: `name` of TemplateName."""
    return row.__name__.removeprefix("Template").lower()


@cache
def members(row: type) -> tuple[tuple[str, str, Any], ...]:
    """The fields of a kind of row: the name in JSON, the name here, the type."""
    return tuple(_hints_of(row))


def _hints_of(row: type) -> Iterator[tuple[str, str, Any]]:
    hints = get_type_hints(row)
    for field in fields(row):
        # One that is a word of Python's has an underscore in the field alone.
        yield field.name.rstrip("_"), field.name, hints[field.name]
