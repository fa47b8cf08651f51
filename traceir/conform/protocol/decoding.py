"""Types, arrays, programs, sessions from JSON. Serves: every table

What comes from another process is of any form: all that is none of these forms is
`Malformed`, which says what was there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar, get_origin, get_type_hints

import numpy as np

from traceir.conform.casefiles.outcomes import Outcome
from traceir.conform.casefiles.sessions import Call, Function, Probe, Session, Setting
from traceir.conform.casefiles.values import HostName, TypedValue
from traceir.conform.judging.answers import Malformed
from traceir.conform.protocol.encoding import KINDS, Json, kind_of_node
from traceir.conform.protocol.messages import shown
from traceir.dtypes import (
    as_dtype,
    iinfo,
    is_key,
    key_from_number,
    key_of,
    kind_of,
    part_dtype,
)
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    HostFunction,
    Jaxpr,
    Literal,
    UntypedVar,
    Var,
    sort_params,
)
from traceir.rules import default
from traceir.text.lexer import SourceText
from traceir.text.objects import read_tree

T = TypeVar("T")
_FLOAT = re.compile(r"-?(0x[0-9a-f]+(\.[0-9a-f]*)?p[+-]?[0-9]+|inf|nan)")
_NAN = re.compile(r"nan\((0x[0-9a-f]+)\)")
_INTEGER = re.compile(r"-?[0-9]+")
# What a message of ours shows of what is wrong.
_SHOWN = 200


def reading(what: str, read: Callable[[Json], T], data: Json) -> T:
    """JSON as `read` makes something of it; Malformed, naming `what`, if it can not.

    >>> reading("a type", read_type, {"dtype": "int8", "shape": [2], "weak": False})
    ShapedArray(int8[2])
    >>> reading("a type", read_type, {"dtype": "int8"})
    Traceback (most recent call last):
    traceir.conform.judging.answers.Malformed: {"dtype": "int8"} is no type: no `weak`
    """
    try:
        return read(data)
    except KeyError as error:
        why = f"no `{error.args[0]}`"
    except RecursionError:
        why = "too deep"
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
    ) as error:
        why = str(error)
    raise Malformed(f"{shown(data, _SHOWN)} is no {what.removeprefix('a ')}: {why}")


def listed(data: Json) -> Sequence[Json]:
    """A list of JSON."""
    if not isinstance(data, list):
        raise ValueError(f"{shown(data)} is no list")
    return data


def text_of(data: Json) -> str:
    """A text of JSON."""
    if not isinstance(data, str):
        raise ValueError(f"{shown(data)} is no text")
    return data


def read_type(data: Json) -> ShapedArray:
    """A type."""
    name, weak, shape = data["dtype"], data["weak"], listed(data["shape"])
    if name not in default().dtypes:
        raise ValueError(f"{shown(name)} is no dtype")
    if type(weak) is not bool or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError("`weak` is a truth value, `shape` a list of numbers")
    vma = [text_of(name) for name in listed(data.get("vma", []))]
    return ShapedArray(tuple(shape), as_dtype(name), weak, vma=vma)


def read_elements(data: Json, aval: ShapedArray) -> np.ndarray:
    """Elements of a type, each exactly as its text says."""
    items = listed(data)
    if len(items) != aval.size:
        raise ValueError(f"{len(items)} elements for {aval.str_short()}")
    if is_key(aval.dtype):
        most = (1 << 8 * aval.dtype.itemsize) - 1
        keys = np.empty(len(items), key_of(aval.dtype).dtype)
        for k, item in enumerate(items):
            keys[k] = key_from_number(_integer(item, 0, most), aval.dtype)
        return keys.reshape(aval.shape)
    found = np.empty(len(items), aval.dtype)
    for k, item in enumerate(items):
        found[k] = _element(item, aval.dtype)
    return found.reshape(aval.shape)


def _element(data: Json, dtype: np.dtype) -> Any:
    match kind_of(dtype):
        case "b":
            if type(data) is not bool:
                raise ValueError(f"{shown(data)} is no truth value")
            return data
        case "i" | "u":
            info = iinfo(dtype)
            return _integer(data, int(info.min), int(info.max))
        case "c":
            part = part_dtype(dtype)
            return np.array([_element(one, part) for one in _two(data)], part).view(
                dtype
            )[0]
    if isinstance(data, str) and (found := _NAN.fullmatch(data)):
        bits = np.array(int(found[1], 16), f"u{dtype.itemsize}")
        if np.isnan(number := bits.view(dtype)[()]):
            return number
    return _float(data, dtype)


def _two(data: Json) -> Sequence[Json]:
    if len(listed(data)) != 2:
        raise ValueError(f"{shown(data)} is no list of two parts")
    return listed(data)


def _literal(data: Json, aval: ShapedArray) -> Literal:
    """A literal: a number that is not rounded, unless it is a NaN of certain bits."""
    parts = data if isinstance(data, list) else [data]
    if kind_of(aval.dtype) not in "fc" or any(map(_NAN.fullmatch, map(str, parts))):
        return Literal(read_elements([data], aval.update(shape=()))[()], aval)
    if kind_of(aval.dtype) == "c":
        return Literal(complex(*map(_float, _two(data))), aval)
    return Literal(_float(data), aval)


def _integer(data: Json, low: int, high: int) -> int:
    if not (isinstance(data, str) and _INTEGER.fullmatch(data) and len(data) < 50):
        raise ValueError(f"{shown(data)} is no decimal text of an integer")
    if not low <= int(data) <= high:
        raise ValueError(f"{data} is not from {low} to {high}")
    return int(data)


def _float(data: Json, dtype: np.dtype | None = None) -> float:
    """A floating number that a dtype has, or one of 64 bits."""
    if not (isinstance(data, str) and _FLOAT.fullmatch(data)):
        raise ValueError(f"{shown(data)} is no hexadecimal text of a number")
    try:
        found = float.fromhex(data)
    except OverflowError:
        raise ValueError(f"{data} is too large") from None
    if dtype is not None:
        with np.errstate(over="ignore"):
            element = float(np.asarray(found).astype(dtype))
        if element != found and (element == element or found == found):
            raise ValueError(f"{data} is no element of {dtype.name}")
    return found


def read_array(data: Json) -> TypedValue:
    """An array and its type."""
    aval = read_type(data["type"])
    return TypedValue(aval, read_elements(data["elements"], aval))


# Programs -----------------------------------------------------------------------------


def read_program(data: Json) -> ClosedJaxpr:
    """A program; one that stands in it in several places is shared."""
    return _ProgramDecoder({}).program(data)


class _ProgramDecoder:
    """Reads a program; those within it that are shared are `known` by their numbers."""

    def __init__(self, known: dict[int, ClosedJaxpr]) -> None:
        self.known = known
        self.variables: dict[int, Var] = {}

    def program(self, data: Json) -> ClosedJaxpr:
        constants = [self.binder(c) for c in listed(data["constants"])]
        consts = tuple(
            read_elements(c["elements"], read_type(c["type"]))
            for c in data["constants"]
            if "elements" in c
        )
        inputs = tuple(map(self.binder, listed(data["inputs"])))
        eqns = tuple(map(self.equation, listed(data["equations"])))
        results = tuple(map(self.atom, listed(data["results"])))
        return ClosedJaxpr(Jaxpr(tuple(constants), inputs, eqns, results), consts)

    def binder(self, data: Json) -> Var:
        number, told = data["var"], data["type"]
        if type(number) is not int:
            raise ValueError(f"{shown(number)} is no number of a variable")
        if number not in self.variables:
            made = UntypedVar() if told is None else Var(read_type(told))
            self.variables[number] = made
        return self.variables[number]

    def atom(self, data: Json) -> Atom:
        if "literal" in data:
            return _literal(data["literal"], read_type(data["type"]))
        if "type" in data:  # nothing has defined it
            return self.binder(data)
        return self.variables[data["var"]]

    def equation(self, data: Json) -> Eqn:
        operands = tuple(map(self.atom, listed(data["inputs"])))
        params = {
            text_of(name): read_object(value, self.known)
            for name, value in data["params"].items()
        }
        outputs = tuple(map(self.binder, listed(data["outputs"])))
        effects = frozenset(map(text_of, listed(data["effects"])))
        name = text_of(data["primitive"])
        return Eqn(name, operands, outputs, sort_params(params), effects)


def read_object(data: Json, known: dict[int, ClosedJaxpr] | None = None) -> Any:
    """A parameter, an argument, or a part of a session."""
    if data is None or isinstance(data, bool | int | str):
        return data
    if not isinstance(data, dict):
        raise ValueError(f"{shown(data)} is no value")
    if "is" in data:
        return read_node(data)
    ((kind, part),) = data.items()
    inner = {} if known is None else known
    match kind:
        case "int":
            return int(text_of(part))
        case "float":
            return _float(part)
        case "complex":
            return complex(*map(_float, _two(part)))
        case "tuple" | "list":
            made = tuple if kind == "tuple" else list
            return made(read_object(item, inner) for item in listed(part))
        case "dict":
            return dict([read_object(o, inner) for o in _two(pair)] for pair in part)
        case "dtype":
            return read_type({"dtype": part, "shape": [], "weak": False}).dtype
        case "type":
            return read_type(part)
        case "array":
            return read_array(part)
        case "program":
            number = part.get("number")
            if number not in inner:
                program = _ProgramDecoder(inner).program(part)
                if number is None:
                    return program
                inner[number] = program
            return inner[number]
        case "ref":
            return HostName(text_of(part))
        case "function":
            return HostFunction(text_of(part))
        case "tree":
            return read_tree(text_of(part))
    raise ValueError(f"{shown(kind)} is no kind of value")


# Sessions -----------------------------------------------------------------------------

_NODES: Mapping[str, type] = {
    kind_of_node(row): row for row in (*KINDS, Call, Function, Probe, Session, Setting)
}


def read_session(data: Json) -> Session:
    """A session, less the texts that it was read from."""
    found = read_node(data)
    if not isinstance(found, Session):
        raise ValueError("no session")
    return found


def read_node(data: Json) -> Any:
    """A part of a session, or of a text as a tree."""
    row = _NODES[data["is"]]
    hints = _hints(row)
    values: dict[str, Any] = {}
    for field in fields(row):
        if field.name == "at":
            values["at"] = 0
        elif hints[field.name] is SourceText:
            values[field.name] = SourceText("")
        else:
            values[field.name] = _part(hints[field.name], data[field.name])
    return row(**values)


@cache
def _hints(row: type) -> Mapping[str, Any]:
    return get_type_hints(row)


def _part(hint: Any, data: Json) -> Any:
    """A field: several things are a list in JSON, things by name an object."""
    if isinstance(data, list):
        return tuple(map(read_object, data))
    origin = get_origin(hint)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return {name: read_object(value) for name, value in data.items()}
    return read_object(data)


def read_outcome(data: Json) -> Outcome:
    """The outcome of a call or a question."""
    values, program = data.get("values"), data.get("program")
    return Outcome(
        text_of(data["event"]),
        _maybe(text_of, data.get("rule")),
        None if values is None else tuple(map(read_array, listed(values))),
        _maybe(text_of, data.get("class")),
        read_object(data.get("answer")),
        _maybe(read_program, program),
        text_of(data.get("text", "")),
    )


def _maybe(read: Callable[[Json], T], data: Json) -> T | None:
    return None if data is None else read(data)
