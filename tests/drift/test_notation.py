"""Every name in a formula of the tables is bound, or defined in the chapter.

Serves: table.name, table.helper
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from traceir.exact import complex_functions, functions
from traceir.rules import Formula, Prim, default, load, parse, spec_path
from traceir.rules.derivatives import templates_of
from traceir.rules.formulas.language import VOCABULARY
from traceir.rules.formulas.names import FormulaNames
from traceir.rules.formulas.templates import Template, TemplateName, TemplateSpread
from traceir.rules.primitives import STEP_CALLS
from traceir.rules.rules import PRIMITIVES

NOTATION = (spec_path() / "notation.rst").read_text(encoding="utf-8")


def section(title: str) -> str:
    """The text of a section of the chapter."""
    _, head, rest = NOTATION.partition(f"\n{title}\n{'-' * len(title)}\n")
    assert head, title
    return re.split(r"\n[^\n]+\n-{3,}\n", rest)[0]


@cache
def defined() -> Mapping[str, set[str]]:
    """The names that the chapter explains, by table; primitives have one for all."""
    found: dict[str, set[str]] = {}
    for part in section("Names").split(".. list-table:: ")[1:]:
        title, _, rows = part.partition("\n")
        table = re.search(r"rules/(\w+)\.toml", title)
        heads = re.findall(r"^   \* - (``.*)$", rows, re.M)
        names = {name for head in heads for name in re.findall(r"``(\w+)``", head)}
        found[table[1] if table else "primitives"] = names
    return found


@cache
def read() -> tuple[tuple[str, Formula], ...]:
    """Every formula that is read from the tables, and where it stands."""
    found: list[tuple[str, Formula]] = []
    whole = FormulaNames.formula

    def noted(self: FormulaNames, text: str, where: str) -> Formula:
        formula = whole(self, text, where)
        found.append((where, formula))
        return formula

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FormulaNames, "formula", noted)
        load(default().tables)
    return tuple(found)


def row_of(where: str) -> Prim | None:
    """The primitive in whose row a formula stands."""
    found = re.match(r"\w+\.toml: prim\.([\w-]+)", where)
    return default().prims[found[1]] if found else None


def own(prim: Prim) -> set[str]:
    """The names that a row declares."""
    params = (param.name for param in prim.params)
    batch = prim.batch.let if prim.batch else ()
    return {*prim.inputs, *params, *prim.let, *prim.each, *prim.results, *batch}


def free(where: str, formula: Formula) -> set[str]:
    """The names of a formula that neither it nor its row explains."""
    rules, prim = default(), row_of(where)
    known = {*rules.constants, *(own(prim) if prim else ())}
    if where.startswith("machine.toml: transition"):
        known |= rules.machine.facts.keys()
    return set(formula.names) - known


def table_of(where: str) -> str:
    """The list of names that is for a formula."""
    stem = where.partition(".")[0]
    return "primitives" if stem in PRIMITIVES else stem


@cache
def used() -> Mapping[str, set[str]]:
    """The names that need a definition, by table."""
    found: dict[str, set[str]] = defaultdict(set)
    for where, formula in read():
        # The patterns of a rule of inference bind its names, or it is not loaded.
        if not where.startswith("judgements.toml"):
            found[table_of(where)] |= free(where, formula)
    for prim in default().prims.values():
        for template in templates_of(prim):
            found["primitives"] |= set(of_template(template)) - own(prim)
    return {table: names for table, names in found.items() if names}


def of_template(template: Template) -> Iterator[str]:
    """The names that a template reads and does not define."""
    given = {name for s in template.statements for name in s.results}
    operands = [p for s in template.statements for p in s.operands]
    for part in (*operands, *template.results):
        if isinstance(part, TemplateName | TemplateSpread) and part.name not in given:
            yield re.sub(r"^t_\w+$", "t_x", part.name)


def test_all_tables_with_formulas_are_read() -> None:
    tables = {where.partition(".")[0] for where, _ in read()}
    assert {*PRIMITIVES, "cache", "levels", "machine", "program", "staged"} <= tables
    assert len(read()) > 1500


@pytest.mark.parametrize("table", sorted(used()))
def test_a_name_is_bound_or_defined(table: str) -> None:
    assert used()[table] - defined().get(table, set()) == set()


@pytest.mark.parametrize("table", sorted(defined()))
def test_a_name_that_is_defined_is_used(table: str) -> None:
    assert defined()[table] - used().get(table, set()) == set()


def test_a_name_that_nobody_defines_is_seen() -> None:
    of_levels, of_add = (
        "levels.toml: nesting level.bind: level",
        "primitives.toml: prim.add",
    )
    assert free(of_levels, parse("max(whole, a)")) == {"whole", "a"}
    assert free(of_add, parse("at(x, i) + z")) == {"i", "z"}


# Functions of numbers ----------------------------------------------------------------


def names_of(call: ast.Call) -> Iterator[str]:
    """The functions that a call of `real` may name."""
    for node in ast.walk(call.args[0]):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def called() -> set[str]:
    """The functions of numbers that formulas call."""
    nodes = (node for _, formula in read() for node in ast.walk(formula.node))
    calls = (node for node in nodes if isinstance(node, ast.Call))
    ours = [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "real"]
    return {name for call in ours for name in names_of(call)}


def test_every_function_of_numbers_is_explained() -> None:
    named = set(re.findall(r"``(\w+)``", section("Functions of numbers"))) - {"real"}
    ours = {*functions.FUNCTIONS, *complex_functions.FUNCTIONS, "pair"}
    assert called() - named == set()
    assert named == ours


def test_every_call_is_of_a_function_that_the_chapter_has() -> None:
    calls = {name for _, formula in read() for name in formula.calls}
    judged = (spec_path() / "judgements.rst").read_text(encoding="utf-8")
    shown = set(re.findall(r"``(\w+)(?:\(|``)", NOTATION + judged))
    shown |= default().judgements.syntax.keys()
    assert calls - shown == set()
    assert {*VOCABULARY, *STEP_CALLS} - shown == set()
