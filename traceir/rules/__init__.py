"""The specification's engine: tables of named rules, and their formulas' language.

>>> default().prims["add"].inputs
('x', 'y')
"""

from __future__ import annotations

from traceir.base.caches import once
from traceir.errors import TraceirError
from traceir.rules.formulas.language import Formula, compile_formula, parse, walk
from traceir.rules.formulas.scope import Scope
from traceir.rules.load import load, spec_path
from traceir.rules.rows import (
    AccuracySet,
    Ask,
    Choice,
    Clause,
    DType,
    Face,
    KeyRow,
    Lattice,
    Levels,
    Nesting,
    Out,
    Param,
    Prim,
    Relation,
    Spelling,
    Transform,
)
from traceir.rules.rules import Rules

__all__ = [
    "AccuracySet",
    "Ask",
    "Choice",
    "Clause",
    "DType",
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

    return remembered(spec_path() / "rules")


def error(
    rule: str, got: str = "", hint: str | None = None, where: str | None = None
) -> TraceirError:
    """The error of a clause of the specification; see `Rules.error`."""
    return default().error(rule, got, hint, where)
