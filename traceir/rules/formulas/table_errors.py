"""Errors in a table of the specification. Serves: table.*

These sentences stand in code because they are about the tables themselves, so no table
can be trusted to hold them.
"""

from __future__ import annotations

from typing import Final

from traceir.errors import RuleTableError, make

PROBLEMS: Final = {
    "table.file": "A table is a TOML file of known sections.",
    "table.key": "A row has the keys of its form and no others.",
    "table.says": "Every clause says in one sentence what it demands.",
    "table.duplicate": "An id belongs to one row.",
    "table.needs": "A clause needs only clauses that stand before it in its row.",
    "table.class": "A row names an existing class of rows and an existing exception.",
    "table.formula": "A formula is an expression of the rule language.",
    "table.helper": "A formula calls only the helpers of the notation.",
    "table.name": "A formula's names are inputs, params, lets, dtypes and sets.",
    "table.domain": "A param has one of the closed list of domains.",
    "table.meaning": "A primitive has exactly one meaning.",
    "table.batch": "A row names a class of batching, and what of it changes.",
    "table.template": "A template is a few equations over the names of its row.",
    "table.derivative": "A derivative is of one kind, its templates can be applied.",
    "table.accuracy": "A primitive names an accuracy set that exists.",
    "table.lattice": "Dtypes are NumPy's, and two of them have one least bound.",
    "table.machine": "Each event in each state has one transition or is impossible.",
    "table.form": "A judgement or a term is written with each of its names once.",
    "table.keeps": "A way of running that keeps its traces knows no values.",
    "table.answer": "A value that is to answer a question has the answer.",
    "table.row": "A row that is asked for by its id exists.",
}


def problem(rule: str, where: str, got: str, hint: str = "") -> RuleTableError:
    """The error of one problem; `where` names file, row and key.

    >>> print(problem("table.key", "cache.toml: cache.key.x64", "colour"))
    A row has the keys of its form and no others.
      got: colour
      at cache.toml: cache.key.x64
      [table.key]
    """
    error = make("RuleTableError", rule, PROBLEMS[rule], got, hint, where)
    assert isinstance(error, RuleTableError)
    return error
