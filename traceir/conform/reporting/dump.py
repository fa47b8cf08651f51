"""The cases as JSON, their programs parsed. Serves: every table

The form is told in `spec/conformance.rst`. Nothing is rounded: elements are texts,
hexadecimal ones where they are floating.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TextIO

import numpy as np

from traceir.conform.casefiles.cases import Case
from traceir.conform.casefiles.plain_functions import PlainFunction
from traceir.conform.casefiles.profiles import profile_of
from traceir.conform.casefiles.sessions import SessionObject, SessionTransform
from traceir.conform.casefiles.values import Ref, TypedValue
from traceir.dtypes import is_key, kind_of
from traceir.errors import TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, HostFunction, Literal, Var
from traceir.pytrees.treedef import TreeDef
from traceir.text import syntax
from traceir.text.lexer import SourceText

# Raised by one when a reader of the old form could misread the new one.
FORMAT = 2
# The integers that every reader of JSON keeps as they are.
SAFE = 2**53
Json = Any


def write(cases: Sequence[Case], stream: TextIO) -> None:
    """Write the cases, one a line."""
    lines = ",\n".join(json.dumps(case_data(case)) for case in cases)
    stream.write(f'{{"format": {FORMAT}, "cases": [\n{lines}\n]}}\n')


def case_data(case: Case) -> dict[str, Json]:
    """One case.

    A text that cannot be read, which then is what the case is about, is `unreadable`.
    """
    found: dict[str, Json] = {
        "name": case.name,
        "file": case.file,
        "line": case.line,
        "profile": profile_of(case),
        "cites": list(case.cites),
        "reject": case.reject,
        "prints": case.prints,
        "full": case.full,
        "given": list(map(_text, case.verbs.get("given", ()))),
        "weak": list(case.words("weak")),
        "call": [array_data(v) for v in case.values("call")],
        "value": None,
        "type": None,
        "program": None,
        "session": None,
        "plain": None,
        "unreadable": None,
    }
    if case.plain:
        found["plain"] = plain_data(case.plain)
        return found
    if "value" in case.verbs:
        found["value"] = [array_data(v) for v in case.values("value")]
    if "type" in case.verbs:
        found["type"] = [type_data(aval) for aval in case.types or ()]
    try:
        if case.session:
            found["session"] = _node(case.session)
        else:
            found["program"] = program_data(case.program())
    except TraceirError as error:
        found["unreadable"] = {"text": "\n".join(found["given"]), "rule": error.rule}
    return found


def plain_data(function: PlainFunction) -> dict[str, Json]:
    """A plain function: the text of its file, and its calls as text."""
    calls = [{f.name: getattr(c, f.name) for f in fields(c)} for c in function.calls]
    return {"function": function.name, "text": function.text, "calls": calls}


def _text(source: SourceText) -> str:
    return source.text[source.start : source.stop].strip()


# Programs -----------------------------------------------------------------------------


def program_data(closed: ClosedJaxpr) -> dict[str, Json]:
    """A program; its variables are numbers, in the order in which they appear.

    >>> from traceir.text.parser import parse
    >>> data = program_data(parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }"))
    >>> data["equations"][0]["inputs"], data["results"]
    ([{'var': 0}], [{'var': 1}])
    """
    return _ProgramDump(closed).data()


class _ProgramDump:
    def __init__(self, closed: ClosedJaxpr) -> None:
        self.closed = closed
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
        return {"var": self.number(var), "type": type_data(var.aval)}

    def atom(self, atom: Atom) -> dict[str, Json]:
        if isinstance(atom, Literal):
            (element,) = elements(atom.array)
            return {"literal": element, "type": type_data(atom.aval)}
        if atom not in self.numbers:  # used where nothing has defined it
            return self.binder(atom)
        return {"var": self.number(atom)}

    def equation(self, eqn: Eqn) -> dict[str, Json]:
        return {
            "primitive": eqn.primitive,
            "params": {name: object_data(value) for name, value in eqn.params},
            "effects": sorted(eqn.effects),
            "inputs": [self.atom(a) for a in eqn.inputs],
            "outputs": [self.binder(v) for v in eqn.outputs],
        }


# Values -------------------------------------------------------------------------------


def type_data(aval: ShapedArray) -> dict[str, Json]:
    """The type of an array.

    >>> type_data(ShapedArray((2,), "int8"))
    {'dtype': 'int8', 'shape': [2], 'weak': False}
    """
    shape = list(map(int, aval.shape))
    return {"dtype": aval.dtype.name, "shape": shape, "weak": aval.weak_type}


def array_data(value: TypedValue) -> dict[str, Json]:
    """An array: its type and its elements, the last axis running fastest."""
    return {"type": type_data(value.aval), "elements": elements(value.array)}


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
        words = flat.view("uint32").reshape(-1, 2).tolist()
        return [str(first << 32 | second) for first, second in words]
    match kind_of(flat.dtype):
        case "b":
            return list(map(bool, flat))
        case "i" | "u":
            return [str(int(x)) for x in flat]
        case "c":
            return [_complex(x) for x in flat]
    return [_float(x) for x in flat]


def _complex(x: Any) -> list[Json]:
    return [_float(x.real), _float(x.imag)]


def _float(x: Any) -> str:
    return "-" * bool(np.isnan(x) and np.signbit(x)) + float(x).hex()


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
        case np.dtype():
            return {"dtype": value.name}
        case ShapedArray():
            return {"type": type_data(value)}
        case ClosedJaxpr():
            return {"program": program_data(value)}
        case TypedValue():
            return {"array": array_data(value)}
        case Ref():
            return {"ref": value.name}
        case HostFunction():
            return {"function": value.name}
        case TreeDef():
            return {"tree": str(value)}
    if is_dataclass(value):
        return _node(value)
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


def _node(value: Any) -> dict[str, Json]:
    """A part of a session or of an untyped program: its kind and its fields."""
    kind = KINDS.get(type(value)) or type(value).__name__.lower()
    found: dict[str, Json] = {"is": kind}
    for field in fields(value):
        part = getattr(value, field.name)
        # Where a text stood is no part of what it means.
        if field.name != "at" and not isinstance(part, SourceText):
            found[field.name] = _part(field.name, part)
    return found


def _part(name: str, part: Any) -> Json:
    # A tuple is several things, a mapping has things by name; an answer is one thing.
    match part:
        case tuple() if name != "answer":
            return list(map(object_data, part))
        case Mapping() if name != "answer":
            return {key: object_data(value) for key, value in part.items()}
    return object_data(part)
