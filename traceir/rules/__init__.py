"""The specification's engine: tables of named rules, and their formula language.

Takes `spec/rules/*.toml` and gives one immutable `Rules`, checked. Start reading at
`load.load`.

- `formulas`: the formula language: parsed once, evaluated, compiled, explained
- `applied`: clauses applied to operands: which ones fail
- `batching`: the column `batch`: how a primitive is batched
- `compiled_typing`: the typing of one primitive as one Python function
- `derivatives`: the columns about derivatives of a primitive's row
- `hints`: hints that know where they are: the face of a function, and the user's line
- `judgements`: `judgements.toml`: abstract syntax, judgements, inference rules
- `lattice`: `lattice.toml`: dtypes, sets and promotion
- `levels`: knowledge of values, and whose operations these are; compiled from rows
- `load`: TOML tables to checked rules
- `machine`: the life of a trace as a state machine
- `parsed_tables`: tables that an earlier process has read and checked
- `primitives`: `primitives.toml`: the rows of primitives and classes
- `row_reader`: a reader of one row, key by key
- `rows`: the rows of the tables, as data
- `rules`: the tables as one immutable value, and the errors of their clauses

>>> default().prims["add"].inputs
('x', 'y')
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from traceir.base.caches import once, uncollected
from traceir.base.flags import spec_folder, spec_path
from traceir.errors import TraceirError
from traceir.rules.formulas.language import Formula, compile_formula, parse, walk
from traceir.rules.formulas.scope import Scope
from traceir.rules.levels import Ask, Levels, Nesting, Transform
from traceir.rules.load import load
from traceir.rules.rows import (
    AccuracySet,
    Choice,
    Clause,
    Decision,
    DType,
    Face,
    KeyRow,
    Lattice,
    Out,
    Param,
    Prim,
    Relation,
    Spelling,
)
from traceir.rules.rules import Rules

__all__ = [
    "AccuracySet",
    "Ask",
    "Choice",
    "Clause",
    "DType",
    "Decision",
    "Face",
    "Formula",
    "KeyRow",
    "Lattice",
    "Levels",
    "Nesting",
    "Out",
    "Param",
    "Prim",
    "Relation",
    "Rules",
    "Scope",
    "Spelling",
    "TraceirError",
    "Transform",
    "compile_formula",
    "compiled_from_rows",
    "decides",
    "default",
    "error",
    "load",
    "parse",
    "spec_path",
    "walk",
]


@once
def default() -> Rules:
    """The rules of the specification, loaded once.

    Reading and checking the tables takes longer than tracing and running a small
    function: the first process does it, others find it in the store.
    """
    from traceir.rules.parsed_tables import remembered  # not on the way of an import

    with uncollected():
        found = remembered(os.path.join(spec_folder(), "rules"))
    _read.append(found)
    for compiled in _compiled:
        compiled(found)
    return found


_compiled: list[Callable[[Rules], None]] = []
_read: list[Rules] = []


def compiled_from_rows(function: Callable[[Rules], None]) -> Callable[[Rules], None]:
    """A function that is called with the rules as soon as they are read, or now.

    So what a method does may follow from rows at no cost when it is called.
    """
    _compiled.append(function)
    for found in _read:
        function(found)
    return function


def decides(rule: str, **known: Any) -> bool:
    """A decision of the specification's `staged.toml`; see `Rules.decides`."""
    return default().decides(rule, **known)


def error(
    rule: str, got: str = "", hint: str | None = None, where: str | None = None
) -> TraceirError:
    """The error of a clause of the specification; see `Rules.error`."""
    return default().error(rule, got, hint, where)
