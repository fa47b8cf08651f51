"""Chapters splice every rule once and name only what exists. Serves: every table"""

from __future__ import annotations

import ast
import builtins
import doctest
import re
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from traceir.conform import load_cases
from traceir.conform.reporting.status import recorded
from traceir.conform.systems.host import ACTIONS
from traceir.errors import CLASSES, RuleTableError
from traceir.rules import default, load, parse, spec_path

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted(spec_path().glob("*.rst"))
FOLDERS = [ROOT / "docs" / name for name in ("", "tutorials", "howto", "examples")]
OTHERS = [page for folder in FOLDERS for page in sorted(folder.glob("*.rst"))]
PAGES = [*CHAPTERS, *OTHERS, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
SPLICE = re.compile(r"^\.\. rule(?:-table)?:: (\S.*)$", re.MULTILINE)
# What is spliced as a whole: a class or a primitive, with the clauses of its row.
GROUPS = {*default().classes, *default().prims}
FILE = re.compile(r"(?<![\w./*-])((?:[\w-]+/)*[\w*-]+\.(?:py|rst|toml|ebnf|tir|md))\b")


def spliced() -> Counter[str]:
    """The number of times that each id is spliced, in all chapters together."""
    found = (rule for c in CHAPTERS for rule in SPLICE.findall(c.read_text()))
    return Counter(name for rule in found for name in below(rule))


def below(rule: str) -> list[str]:
    """The rules that a splice shows: `id.*` those whose ids begin like this, and a
    table with one of its sections, all rows of that."""
    table, _, section = rule.partition(" ")
    if section:
        return [row["id"] for row in default().tables[table][section]]
    found = [name for name in default().clauses if fnmatchcase(name, rule)]
    return found if "*" in rule else [rule]


def wanted() -> set[str]:
    """Every class and primitive, and every row that belongs to neither."""
    owned = {c.id for prim in default().prims.values() for c in prim.clauses}
    return GROUPS | (default().clauses.keys() - owned)


def test_every_rule_is_spliced_once() -> None:
    found = spliced()
    assert found.keys() - wanted() == set(), "spliced, but no rule"
    assert wanted() - found.keys() == set(), "a rule that no chapter splices"
    assert [rule for rule, times in found.items() if times > 1] == []


def test_a_rule_that_is_not_spliced_is_seen() -> None:
    assert {"add", "pointwise2", "cache.key.x64", "jit.callable"} <= wanted()
    assert not {"pointwise2.dtype", "pow.dtype", "jit.arity"} & wanted()


@pytest.mark.parametrize(
    "chapters, tables",
    [
        (["avals"], ["lattice"]),
        (["ir"], ["program"]),
        (["judgements"], ["judgements"]),
        (["levels"], ["levels"]),
        (["numerics"], ["accuracy"]),
        (["cache"], ["cache", "machine"]),
        (["text", "cases"], ["text"]),
    ],
    ids=str,
)
def test_chapters_splice_a_whole_table(chapters: list[str], tables: list[str]) -> None:
    text = "".join((spec_path() / f"{chapter}.rst").read_text() for chapter in chapters)
    rows = set(load({t: default().tables[t] for t in tables}).clauses)
    assert {name for rule in SPLICE.findall(text) for name in below(rule)} == rows


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_no_chapter_retypes_a_rule(chapter: Path) -> None:
    text = " ".join(chapter.read_text().replace("``", "`").split())
    assert [c.id for c in default().clauses.values() if c.says in text] == []


# What a formula has that a name, a call or a value does not.
SIGNS = (
    ast.BinOp,
    ast.BoolOp,
    ast.Compare,
    ast.GeneratorExp,
    ast.IfExp,
    ast.UnaryOp,
)


def formulas(text: str) -> list[str]:
    """The code and the indented lines of a text that are formulas, and its math."""
    parts = re.findall(r"``(.+?)``", text, re.DOTALL)
    # The sign of an item in a list is no minus.
    parts += re.findall(r"^ +(?:[-*] +)*(\S.*)$", text, re.MULTILINE)
    found = re.findall(r":math:`.*?`|^\.\. math::.*$", text, re.MULTILINE)
    for part in parts:
        try:
            tree = ast.walk(parse(part).node)
        except RuleTableError:
            continue
        if any(isinstance(node, SIGNS) for node in tree):
            found.append(part)
    return found


# Notation is about formulas, and has them to say what they are.
WRITTEN = [c for c in CHAPTERS if c.stem != "notation"]


@pytest.mark.parametrize("chapter", WRITTEN, ids=lambda path: path.stem)
def test_every_formula_is_in_a_table(chapter: Path) -> None:
    assert formulas(chapter.read_text()) == []


def test_a_formula_in_a_chapter_is_seen() -> None:
    text = "when ``x.shape == y.shape``, :math:`a^2` and\n\n    sum(k for k in s)\n"
    assert len(formulas(text)) == 3
    assert formulas("``x.shape``, ``take(s, axes)``, ``f32[]{2}`` and ``1``") == []


# The examples of the notation are formulas: tests/drift/test_language.py.
SHOWING = [c for c in CHAPTERS if ">>> " in c.read_text() and c.stem != "notation"]


@pytest.mark.parametrize("chapter", SHOWING, ids=lambda path: path.stem)
def test_the_examples_of_a_chapter_are_true(chapter: Path) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testfile(
        str(chapter), module_relative=False, optionflags=flags
    )
    assert tried and not failed


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_only_rules_bind(chapter: Path) -> None:
    # `What binds`, in the index, says why: a demand is a row, which has an id.
    assert re.findall(r"\b(?:MUST|SHALL|REQUIRED|SHOULD)\b", chapter.read_text()) == []


def test_the_index_says_what_binds() -> None:
    text = (spec_path() / "index.rst").read_text()
    _, head, rest = text.partition("\nWhat binds\n")
    kinds = re.findall(r"^- .*?\*(\w+)\*", rest, re.M)
    assert head and kinds == ["rule", "languages", "explanation"]


def test_the_chapter_on_errors_lists_the_classes() -> None:
    text = (spec_path() / "errors.rst").read_text()
    rows = dict(re.findall(r"^``(\w+)`` +``(\w+)``", text, re.M))
    ours = {name: c for name, c in CLASSES.items() if c.__name__ == name}
    assert rows.keys() == ours.keys()
    for name, base in rows.items():
        assert base in {c.__name__ for c in ours[name].__mro__}
        assert base in dir(builtins)


def test_a_case_that_a_chapter_shows_exists() -> None:
    cases = {case.name for case in load_cases()}
    texts = [c.read_text() for c in CHAPTERS]
    shown = {n for t in texts for n in re.findall(r"^\.\. case:: (\S+)$", t, re.M)}
    assert len(shown) > 20 and shown - cases == set()


def test_the_index_names_every_chapter() -> None:
    named = re.findall(r"^:doc:`(\w+)`$", (spec_path() / "index.rst").read_text(), re.M)
    assert sorted([*named, "index"]) == [chapter.stem for chapter in CHAPTERS]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_file_that_a_page_names_exists(page: Path) -> None:
    places = [ROOT, page.parent]
    named = FILE.findall(page.read_text().replace("\\_", "_"))
    lost = [n for n in named if not any(next(p.glob(n), None) for p in places)]
    assert lost == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_rule_that_a_page_links_to_exists(page: Path) -> None:
    linked = set(re.findall(r":rule:`([^`]+)`", page.read_text()))
    assert linked - default().clauses.keys() - GROUPS == set()


TUTORIALS = [p for p in OTHERS if p.parent.name == "tutorials" and p.stem != "index"]


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_ends_with_the_rules_that_it_was_about(page: Path) -> None:
    last = page.read_text().partition("\nWhat the specification says\n")[2]
    assert len(re.findall(r":rule:`", last)) >= 3 and ">>>" not in last


def test_every_host_action_and_setting_is_explained() -> None:
    text = (spec_path() / "cases.rst").read_text()
    code = " ".join(re.findall(r"``([^`]+)``", text))
    assert [name for name in ACTIONS if not re.search(rf"\b{name}\b", code)] == []
    assert "``enable_x64(true)``" in text and "``face(numpy)``" in text


def test_the_first_chapter_has_five_primitives_and_runs_all_that_it_shows() -> None:
    text = (spec_path() / "calculus.rst").read_text()
    (named,) = re.findall(r"^\.\. primitives:: (.*)$", text, re.M)
    examples = doctest.DocTestParser().get_examples(text)
    shown = "".join(example.source + example.want for example in examples)
    used = set(re.findall(r"\w:f32\[[\d,]*\] = (\w+)", shown))
    assert len(named.split()) == 5 and used == {*named.split(), "jit"}
    # A program that is no example is the grammar's.
    assert text.count("lambda ;") == shown.count("lambda ;") + 1


def test_the_drawing_of_levels_has_what_the_example_records() -> None:
    text = (spec_path() / "levels.rst").read_text()
    drawn = re.findall(r"^   \w+ \|.*\| (.*)$", text, re.M)
    program = text[text.index("make_jaxpr(slopes)") : text.index(".. nesting::")]
    recorded = re.findall(r"\w:f32\[3\] = \w+ a", drawn[0])
    assert len(drawn) == 3 and len(recorded) == 2
    assert [equation for equation in recorded if equation not in program] == []


def test_a_deviation_is_from_a_rule() -> None:
    rows = recorded("jax")
    assert len(rows) > 10
    assert [row.id for row in rows if not row.reason.endswith(".")] == []
    assert [row.id for row in rows if row.does.endswith(".")] == []
