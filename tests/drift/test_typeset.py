"""Formulas as mathematics: what is shown reads back as what is computed.

Serves: every formula of the tables
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from xml.etree import ElementTree

import pytest
from _ext.mathematics.markup import broken, latex, mathml
from _ext.mathematics.typeset import COMPARE, elements, typeset
from drift.test_language import (
    FORMULAS,
    formulas_of_other_tables,
    formulas_of_primitives,
)
from hypothesis import example, given, settings
from latex_reader import read
from soak import examples

from traceir.rules import Formula, parse
from traceir.rules.formulas import language

TABLES: dict[str, Formula] = {
    name: formula
    for name, formula, _ in (*formulas_of_primitives(), *formulas_of_other_tables())
}
# Those of one row, or of one family of rows.
GROUPS: dict[str, list[str]] = defaultdict(list)
for name in TABLES:
    GROUPS[re.split("[.:]", name)[0]].append(name)
# Each needs parentheses somewhere, or may not have them: text, then LaTeX.
SHOWN = {
    "(a - b) - (c - d)": "a - b - ( c - d )",
    "a - (b + c) * -d": r"a - ( b + c ) \cdot ( - d )",
    "-(a + b) * c": r"- ( a + b ) \cdot c",
    "(a or b) and not c": r"( a \lor b ) \land \lnot c",
    "not a == b": r"\lnot ( a = b )",
    "(a < b) == (c < d)": "( a < b ) = ( c < d )",
    "a // b * c": r"\lfloor \frac{a}{b} \rfloor \cdot c",
    "(a * b) % c": r"( a \cdot b ) \text{ mod } c",
    "sum(a for a in s) + b": r"\sum_{a \in s} a + b",
    "sum(a + b for a in s)": r"\sum_{a \in s} ( a + b )",
    "b * sum(a for a in s)": r"b \cdot ( \sum_{a \in s} a )",
    "all(a < b for a in s) and c": r"( \forall a \in s \colon a < b ) \land c",
    "(a if b else c) + d": r"( \begin{cases} a & \text{if } b \\ "
    r"c & \text{otherwise} \end{cases} ) + d",
    "real('pow', -a, b + c)": "{( - a )}^{b + c}",
    "(a, b)[0]": "( a , b ) [ 0 ]",
    "(a,)": "( a , )",
    "real('floor', a / b)": r"\operatorname{floor} ( \frac{a}{b} )",
}


def same(text: str) -> str:
    """The tree of a formula, as text."""
    return ast.dump(parse(text).node)


@pytest.mark.parametrize("text", SHOWN)
def test_parentheses_stand_where_they_are_needed(text: str) -> None:
    assert latex(typeset(parse(text))) == SHOWN[text]


@pytest.mark.parametrize("group", GROUPS)
def test_formulas_of_the_tables_read_back(group: str) -> None:
    for name in GROUPS[group]:
        formula = TABLES[name]
        assert same(read(latex(typeset(formula)))) == same(formula.text), name


@given(FORMULAS)
@example("abs()")
@example("abs(a, a)")
@settings(max_examples=examples(400))
def test_a_random_formula_reads_back(text: str) -> None:
    assert same(read(latex(typeset(parse(text))))) == same(text)


@pytest.mark.parametrize("group", GROUPS)
def test_mathml_is_well_formed_and_has_all_names(group: str) -> None:
    for name in GROUPS[group]:
        formula = TABLES[name]
        tree = ElementTree.fromstring(f"<p>{elements(typeset(formula))}</p>")
        shown = {e.text for e in tree.iter() if e.tag in ("mi", "mtext")}
        assert formula.names <= shown, name
        notes = [e.text or "" for e in tree.iter("annotation")]
        assert " ".join(notes) == latex(typeset(formula)), name


def test_a_long_line_is_broken_before_a_sign() -> None:
    long = "preferred_element_type"
    parts = broken(typeset(parse(f"{long} is None or {long} == f(a, {long})")))
    starts = [latex(part).split()[0] for part in parts]
    assert starts[0] == r"\mathit{preferred\_element\_type}"
    assert starts[1:] == [r"\lor", "=", r"\mathit{preferred\_element\_type}"]
    assert broken(typeset(parse("a == b"))) == [typeset(parse("a == b"))]


def test_signs_of_html_are_escaped() -> None:
    shown = elements(typeset(parse("a < b & c")))
    assert "&lt;" in shown and "&amp;" in shown
    assert mathml(typeset(parse("2"))) == "<mn>2</mn>"


def test_every_comparison_has_a_sign() -> None:
    assert COMPARE.keys() == language.COMPARE.keys()
