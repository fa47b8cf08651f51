"""Types, arrays, programs, sessions as JSON. Serves: every table

The form is told in `spec/data.rst`. Nothing is rounded: elements are texts,
hexadecimal ones where they are floating.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from traceir.conform.casefiles.outcomes import Outcome
from traceir.conform.casefiles.sessions import Function, SessionObject, SessionTransform
from traceir.conform.casefiles.values import HostName, TypedValue
from traceir.dtypes import KeyDType, is_key, key_of, kind_of, number_of_key
from traceir.errors import TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    HostFunction,
    Literal,
    UntypedVar,
    Var,
    subjaxprs,
)
from traceir.pytrees.treedef import TreeDef
from traceir.text import syntax
from traceir.text.lexer import SourceText

# The integers that every reader of JSON keeps as they are.
SAFE = 2**53
Json = Any


# Programs -----------------------------------------------------------------------------


def program_data(closed: ClosedJaxpr) -> dict[str, Json]:
    """A program; its variables are numbers, in the order in which they appear.

    >>> from traceir.text.parser import parse
    >>> data = program_data(parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }"))
    >>> data["equations"][0]["inputs"], data["results"]
    ([{'var': 0}], [{'var': 1}])
    """
    return _ProgramEncoder(closed, _shared(closed)).data()


def _shared(closed: ClosedJaxpr) -> dict[int, int]:
    """Numbers of the programs within one that stand there more than once."""
    seen: dict[int, int] = {}
    found: dict[int, int] = {}

    def visit(program: ClosedJaxpr) -> None:
        for inner in (p for eqn in program.eqns for p in subjaxprs(eqn)):
            if id(inner) in seen:
                found.setdefault(id(inner), len(found))
            else:
                seen[id(inner)] = 1
                visit(inner)

    visit(closed)
    return found


class _ProgramEncoder:
    """Writes a program; those within it that are `shared` have a number."""

    def __init__(self, closed: ClosedJaxpr, shared: Mapping[int, int]) -> None:
        self.closed = closed
        self.shared = shared
        self.numbers: dict[Var, int] = {}

    def data(self) -> dict[str, Json]:
        jaxpr = self.closed.jaxpr
        constants = [self.binder(v) for v in jaxpr.constvars]
        for binder, const in zip(constants, self.closed.consts):
            binder["elements"] = elements(const)
        return {
            "constants": constants,
            "inputs": [self.binder(v) for v in jaxpr.invars],
            "equations": [self.equation(eqn) for eqn in jaxpr.eqns],
            "results": [self.atom(a) for a in jaxpr.outvars],
        }

    def number(self, var: Var) -> int:
        return self.numbers.setdefault(var, len(self.numbers))

    def binder(self, var: Var) -> dict[str, Json]:
        told = None if isinstance(var, UntypedVar) else type_data(var.aval)
        return {"var": self.number(var), "type": told}

    def atom(self, atom: Atom) -> dict[str, Json]:
        if isinstance(atom, Literal):
            return {"literal": literal_data(atom), "type": type_data(atom.aval)}
        if atom not in self.numbers:  # used where nothing has defined it
            return self.binder(atom)
        return {"var": self.number(atom)}

    def equation(self, eqn: Eqn) -> dict[str, Json]:
        return {
            "primitive": eqn.primitive,
            "params": {name: self.param(value) for name, value in eqn.params},
            "effects": sorted(eqn.effects),
            "inputs": [self.atom(a) for a in eqn.inputs],
            "outputs": [self.binder(v) for v in eqn.outputs],
        }

    def param(self, value: Any) -> Json:
        if isinstance(value, tuple):
            return {"tuple": list(map(self.param, value))}
        if not isinstance(value, ClosedJaxpr):
            return object_data(value)
        found = _ProgramEncoder(value, self.shared).data()
        if id(value) in self.shared:
            found["number"] = self.shared[id(value)]
        return {"program": found}


# Values -------------------------------------------------------------------------------


def type_data(aval: ShapedArray) -> dict[str, Json]:
    """The type of an array.

    >>> type_data(ShapedArray((2,), "int8"))
    {'dtype': 'int8', 'shape': [2], 'weak': False}
    """
    shape = list(map(int, aval.shape))
    told = {"vma": list(map(str, aval.vma))} if aval.vma else {}
    return {"dtype": aval.dtype.name, "shape": shape, "weak": aval.weak_type, **told}


def array_data(value: TypedValue) -> dict[str, Json]:
    """An array: its type and its elements, the last axis running fastest."""
    return typed_data(value.array, value.aval)


def typed_data(array: Any, aval: ShapedArray) -> dict[str, Json]:
    """An array of a type."""
    return {"type": type_data(aval), "elements": elements(array)}


def of_array(array: Any) -> dict[str, Json]:
    """An array of which nothing but itself is known."""
    found = np.asarray(array)
    return typed_data(found, ShapedArray(found.shape, found.dtype))


def elements(array: Any) -> list[Json]:
    """The elements of an array, exactly.

    >>> elements(np.float32([0.1, -0.0, np.inf]))
    ['0x1.99999a0000000p-4', '-0x0.0p+0', 'inf']
    >>> elements(np.uint64([2**64 - 1])), elements(np.array([True]))
    (['18446744073709551615'], [True])
    >>> elements(np.complex64([2j]))
    [['0x0.0p+0', '0x1.0000000000000p+1']]
    """
    flat = np.asarray(array).reshape(-1)
    if is_key(flat.dtype):
        return [str(number_of_key(key)) for key in flat]
    match kind_of(flat.dtype):
        case "b":
            return list(map(bool, flat))
        case "i" | "u":
            return [str(int(x)) for x in flat]
        case "c":
            return [_complex(x) for x in flat]
    return [_float(x) for x in flat]


def literal_data(literal: Literal) -> Json:
    """The number of a literal, as it is written and not yet rounded to its type.

    >>> literal_data(Literal(0.1, ShapedArray((), "float32")))
    '0x1.999999999999ap-4'
    """
    value = literal.value
    if type(value) is float:
        return _float(value)
    if type(value) is complex:
        return _complex(value)
    return elements(literal.array)[0]


def _complex(x: Any) -> list[Json]:
    return [_float(x.real), _float(x.imag)]


def _float(x: Any) -> str:
    return _nan(np.asarray(x)) if np.isnan(x) else float(x).hex()


def _nan(x: np.ndarray) -> str:
    """A NaN; one that is not the usual one, or that with its sign, by all its bits.

    >>> _nan(np.array([0x7FC00001], "uint32").view("float32")[0])
    'nan(0x7fc00001)'
    """
    size = x.dtype.itemsize
    bits, usual = (int(n.view(f"u{size}")) for n in (x, np.array(np.nan, x.dtype)))
    sign = 1 << (8 * size - 1)
    if bits & ~sign == usual & ~sign:
        return "-nan" if bits & sign else "nan"
    return f"nan(0x{bits:0{2 * size}x})"


def object_data(value: Any) -> Json:
    """A parameter of an equation, an argument of a call, or a part of a session.

    >>> object_data((1, 1.0, "a", None))
    {'tuple': [1, {'float': '0x1.0000000000000p+0'}, 'a', None]}
    """
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if abs(value) < SAFE else {"int": str(value)}
        case float():
            return {"float": _float(value)}
        case complex():
            return {"complex": _complex(value)}
        case tuple():
            return {"tuple": list(map(object_data, value))}
        case list():
            return {"list": list(map(object_data, value))}
        case Mapping():
            pairs = value.items()
            return {"dict": [[object_data(k), object_data(v)] for k, v in pairs]}
        case KeyDType():
            return {"dtype": value.name}
        case np.dtype():
            return {"dtype": key_of(value).name if is_key(value) else value.name}
        case ShapedArray():
            return {"type": type_data(value)}
        case ClosedJaxpr():
            return {"program": program_data(value)}
        case TypedValue():
            return {"array": array_data(value)}
        case HostName():
            return {"ref": value.name}
        case HostFunction():
            return {"function": value.name}
        case TreeDef():
            return {"tree": str(value)}
    if is_dataclass(value):
        return node_data(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


# Kinds whose names in JSON are not those of their classes.
KINDS: dict[type, str] = {
    syntax.BinderNode: "binder",
    syntax.EquationNode: "equation",
    syntax.ListNode: "many",
    syntax.ModuleNode: "module",
    syntax.NameNode: "name",
    syntax.NumberNode: "number",
    syntax.ParameterNode: "parameter",
    syntax.ProgramNode: "program",
    syntax.WordNode: "word",
    SessionObject: "made",
    SessionTransform: "transform",
}


def kind_of_node(row: type) -> str:
    """The name in JSON of a kind of node."""
    return KINDS.get(row) or row.__name__.lower()


def node_data(value: Any) -> dict[str, Json]:
    """A part of a session or of an untyped program: its kind and its fields."""
    found: dict[str, Json] = {"is": kind_of_node(type(value))}
    for field in fields(value):
        part = getattr(value, field.name)
        # Where a text stood is no part of what it means.
        if field.name != "at" and not isinstance(part, SourceText):
            found[field.name] = _part(field.name, part)
    if isinstance(value, Function):
        found["closed"] = _closed(value)
    return found


def _closed(function: Function) -> Json:
    """The program of a function whose inputs have types, if it can be read."""
    try:
        program = function.closed
    except TraceirError:
        return None
    return None if program is None else program_data(program)


def _part(name: str, part: Any) -> Json:
    # A tuple is several things, a mapping has things by name; an answer is one thing.
    match part:
        case tuple() if name != "answer":
            return list(map(object_data, part))
        case Mapping() if name != "answer":
            return {key: object_data(value) for key, value in part.items()}
    return object_data(part)


def outcome_data(outcome: Outcome) -> dict[str, Json]:
    """The outcome of a call or a question."""
    values, program = outcome.values, outcome.program
    return {
        "event": outcome.event,
        "rule": outcome.rule,
        "class": outcome.cls,
        "text": outcome.text,
        "values": None if values is None else list(map(array_data, values)),
        "answer": object_data(outcome.answer),
        "program": None if program is None else program_data(program),
    }
