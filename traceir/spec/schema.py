"""The JSON Schema of the document, made of the types of the rows' fields.

Serves: every table
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from traceir.rules import Rules
from traceir.rules.formulas.language import Formula
from traceir.rules.judgements import Judgements
from traceir.spec.codec import kind_name, members, rows_among
from traceir.spec.document import FORMAT, NAME, TABLES
from traceir.spec.sets import EQUATIONS, EXACT, RELATIONS
from traceir.spec.trees import BINARY_SIGNS, COMPARE_SIGNS, Json

ADDRESS: Final = "https://traceir.github.io/traceir/specification.schema.json"
TEXT: Final = {"type": "string"}
NODE: Final = {"$ref": "#/$defs/formula"}
NODES: Final = {"type": "array", "items": NODE}
MAYBE_NODE: Final = {"anyOf": [NODE, {"type": "null"}]}
INTEGER: Final = {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/exact"}]}
NUMBER: Final = {"anyOf": [{"type": "number"}, {"$ref": "#/$defs/exact"}]}
DIGEST: Final = {"type": "string", "pattern": "^[0-9a-f]{64}$"}


def schema() -> dict[str, Json]:
    """The schema of the whole document.

    >>> found = schema()
    >>> found["$defs"]["Out"]["required"]
    ['shape', 'dtype', 'weak_type']
    """
    made = _Definitions()
    hints = get_type_hints(Rules)
    tables = {name: made.of(hints[name]) for name in TABLES}
    tables["judgements"] = made.of(Judgements)
    tables["others"] = {"type": "array", "items": made.of(hints["program"])["items"]}
    tables["errors"] = _list(TEXT)
    parts = {
        "format": _record({"name": {"const": NAME}, "version": {"const": FORMAT}}),
        "suite": _record(
            {
                "version": TEXT,
                "sha256": _record(
                    dict.fromkeys(("rules", "grammar", "vocabulary", "cases"), DIGEST)
                ),
            }
        ),
        "rules": _record(tables),
        "grammar": _record(
            {
                "rules": _mapping({"$ref": "#/$defs/grammar"}),
                "words": _list(TEXT),
            }
        ),
        "vocabulary": _record(
            {
                "helpers": _mapping(TEXT),
                "scopes": _mapping(_list(TEXT)),
                **dict.fromkeys(
                    ("python", "folds", "steps", "domains", "batching"), _list(TEXT)
                ),
            }
        ),
        "cases": _list({"$ref": "#/$defs/case"}),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ADDRESS,
        "title": "The traceir specification as data",
        **_record(parts),
        "$defs": {**PLAIN, **made.found},
    }


def _record(
    parts: Mapping[str, Json], maybe: Mapping[str, Json] | None = None
) -> dict[str, Json]:
    """An object that has these members, it may be some more, and no others."""
    return {
        "type": "object",
        "properties": {**parts, **(maybe or {})},
        "required": list(parts),
        "additionalProperties": False,
    }


def _list(items: Json) -> dict[str, Json]:
    return {"type": "array", "items": items}


def _mapping(values: Json) -> dict[str, Json]:
    return {"type": "object", "additionalProperties": values}


class _Definitions:
    """The schemas of types; those of rows have names, and are `found`."""

    def __init__(self) -> None:
        self.found: dict[str, Json] = {}

    def of(self, kind: Any) -> dict[str, Json]:
        """The schema of a type."""
        if kind is Any:
            return {"$ref": "#/$defs/value"}
        if kind is Formula:
            return NODE
        if is_dataclass(kind) and isinstance(kind, type):
            return self.row(kind)
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin in (Union, types.UnionType):
            several = len(rows_among(kind)) > 1
            return {"anyOf": [self.one(a, several) for a in arguments]}
        if origin is frozenset or (origin is tuple and arguments[1:] == (...,)):
            return _list(self.of(arguments[0]))
        if origin is tuple:
            return {"type": "array", "prefixItems": [self.of(a) for a in arguments]}
        if origin is not None and issubclass(origin, Mapping):
            return _mapping(self.of(arguments[1]))
        return _SIMPLE[kind]

    def one(self, kind: Any, several: bool) -> dict[str, Json]:
        """The schema of one of several types; a row then says which it is."""
        if not (several and is_dataclass(kind) and isinstance(kind, type)):
            return self.of(kind)
        self.of(kind)
        found = self.found[kind.__name__]
        own = {"is": {"const": kind_name(kind)}, **found["properties"]}
        return {**_record(own), "description": found["description"]}

    def row(self, kind: type) -> dict[str, Json]:
        """A reference to the schema of a kind of row."""
        name = kind.__name__
        if name not in self.found:
            self.found[name] = {}  # rows may contain rows of their own kind
            parts = {m: self.of(k) for m, _, k in members(kind)}
            about = " ".join(inspect.cleandoc(kind.__doc__ or "").split())
            assert fields(kind)
            self.found[name] = {**_record(parts), "description": about}
        return {"$ref": f"#/$defs/{name}"}


_SIMPLE: Final[Mapping[Any, dict[str, Json]]] = {
    str: TEXT,
    bool: {"type": "boolean"},
    int: INTEGER,
    float: NUMBER,
    type(None): {"type": "null"},
}


def _forms(parts: Mapping[str, Mapping[str, Json]]) -> dict[str, Json]:
    """One of several kinds of nodes, told apart by the member `is`."""
    found = [_record({"is": {"const": kind}, **p}) for kind, p in parts.items()]
    return {"oneOf": found}


_TYPE = {"$ref": "#/$defs/type"}
_TYPE_OR_NULL = {"anyOf": [_TYPE, {"type": "null"}]}
_ARRAY = {"$ref": "#/$defs/array"}
_VALUE = {"$ref": "#/$defs/value"}
_ATOM = {"$ref": "#/$defs/atom"}
_PROGRAM = {"$ref": "#/$defs/program"}
_ELEMENTS = _list({"$ref": "#/$defs/element"})
_NULL = {"type": "null"}
_BOOLEAN = {"type": "boolean"}
_INTEGER = {"type": "integer"}
_FLOAT = {
    "type": "string",
    "pattern": "^(-?(0x[01]\\.[0-9a-f]+p[+-][0-9]+|inf|nan)|nan\\(0x[0-9a-f]+\\))$",
}
_ELEMENT = {"$ref": "#/$defs/element"}
_SETS = _list({"$ref": "#/$defs/set"})
# What is no row: formulas, the grammar, values, programs and cases.
PLAIN: Final[dict[str, Json]] = {
    "exact": {
        "description": "A number that readers of JSON may round.",
        "oneOf": [_record({"int": TEXT}), _record({"float": _FLOAT})],
    },
    "formula": _forms(
        {
            "constant": {
                "value": {"anyOf": [NUMBER, TEXT, {"type": ["boolean", "null"]}]}
            },
            "name": {"name": TEXT},
            "attribute": {"of": NODE, "name": TEXT},
            "tuple": {"items": NODES},
            "element": {"of": NODE, "at": NODE},
            "slice": {"of": NODE, "from": MAYBE_NODE, "to": MAYBE_NODE},
            "binary": {
                "op": {"enum": list(BINARY_SIGNS.values())},
                "left": NODE,
                "right": NODE,
            },
            "negate": {"of": NODE},
            "not": {"of": NODE},
            "and": {"parts": NODES},
            "or": {"parts": NODES},
            "compare": {
                "first": NODE,
                "rest": _list(
                    _record({"op": {"enum": list(COMPARE_SIGNS.values())}, "to": NODE})
                ),
            },
            "if": {"test": NODE, "then": NODE, "else": NODE},
            "call": {"function": TEXT, "arguments": NODES},
            "fold": {
                "function": TEXT,
                "item": NODE,
                "names": {"anyOf": [TEXT, _list(TEXT)]},
                "over": NODE,
                "where": MAYBE_NODE,
            },
        }
    ),
    "grammar": {
        "oneOf": [
            _record({"is": {"enum": ["text", "special", "rule"]}, "text": TEXT}),
            _record(
                {
                    "is": {"enum": ["all", "any", "maybe", "many", "but"]},
                    "parts": _list({"$ref": "#/$defs/grammar"}),
                }
            ),
        ]
    },
    "type": _record(
        {
            "dtype": TEXT,
            "shape": _list(_INTEGER),
            "weak": _BOOLEAN,
        },
        {"vma": _list(TEXT)},
    ),
    "element": {
        "anyOf": [
            {"type": "boolean"},
            {"type": "string", "pattern": "^-?[0-9]+$"},
            _FLOAT,
            {"type": "array", "prefixItems": [_FLOAT, _FLOAT]},
        ]
    },
    "set": {
        "description": "The right elements: numbers, intervals of them, or rectangles.",
        **_list(
            {
                "anyOf": [
                    _ELEMENT,
                    _record({"from": _ELEMENT, "to": _ELEMENT}),
                    _record(
                        {"re": {"$ref": "#/$defs/set"}, "im": {"$ref": "#/$defs/set"}}
                    ),
                ]
            }
        ),
    },
    "array": _record({"type": _TYPE, "elements": _ELEMENTS}),
    "value": {
        "anyOf": [
            {"type": ["null", "boolean", "integer", "string"]},
            {"$ref": "#/$defs/exact"},
            _record({"complex": _list(_FLOAT)}),
            _record({"tuple": _list(_VALUE)}),
            _record({"list": _list(_VALUE)}),
            _record({"dict": _list(_list(_VALUE))}),
            _record({"dtype": TEXT}),
            _record({"type": _TYPE}),
            _record({"array": _ARRAY}),
            _record({"program": _PROGRAM}),
            _record({"ref": TEXT}),
            _record({"function": TEXT}),
            _record({"tree": TEXT}),
            {"$ref": "#/$defs/node"},
        ]
    },
    "binder": {
        "type": "object",
        "properties": {
            "var": {"type": "integer"},
            "type": _TYPE,
            "elements": _ELEMENTS,
        },
        "required": ["var", "type"],
        "additionalProperties": False,
    },
    "atom": {
        "anyOf": [
            _record({"var": _INTEGER}),
            {"$ref": "#/$defs/binder"},
            _record({"literal": {"$ref": "#/$defs/element"}, "type": _TYPE}),
        ]
    },
    "equation": _record(
        {
            "primitive": TEXT,
            "params": _mapping(_VALUE),
            "effects": _list(TEXT),
            "inputs": _list(_ATOM),
            "outputs": _list({"$ref": "#/$defs/binder"}),
        }
    ),
    "program": _record(
        {
            "constants": _list({"$ref": "#/$defs/binder"}),
            "inputs": _list({"$ref": "#/$defs/binder"}),
            "equations": _list({"$ref": "#/$defs/equation"}),
            "results": _list(_ATOM),
        },
        {"number": _INTEGER},
    ),
    "node": {
        "description": "A part of a session, or of a text as a tree.",
        "type": "object",
        "properties": {"is": TEXT},
        "required": ["is"],
    },
    "case": _record(
        {
            "name": TEXT,
            "file": TEXT,
            "line": _INTEGER,
            "profile": TEXT,
            "cites": _list(TEXT),
            "reject": {"anyOf": [TEXT, _NULL]},
            "prints": {"anyOf": [TEXT, _NULL]},
            "full": {"anyOf": [TEXT, _NULL]},
            "given": _list(TEXT),
            "weak": _list(TEXT),
            "call": _list(_ARRAY),
            "value": {"anyOf": [_list(_ARRAY), _NULL]},
            "type": {"anyOf": [_list(_TYPE), _NULL]},
            "sets": {
                "anyOf": [_NULL, {"enum": [EXACT, EQUATIONS, RELATIONS]}, _list(_SETS)]
            },
            "program": {"anyOf": [_PROGRAM, _NULL]},
            "session": {"anyOf": [{"$ref": "#/$defs/node"}, _NULL]},
            "plain": {"anyOf": [{"type": "object"}, _NULL]},
            "unreadable": {"anyOf": [_record({"text": TEXT, "rule": TEXT}), _NULL]},
        }
    ),
}
