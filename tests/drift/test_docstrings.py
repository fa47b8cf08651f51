"""Docstrings: most long functions have one, and none begins with a riddle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARIES = ("traceir", "traceir_numba")
OTHERS = ("tools", "docs/_ext", "docs/examples", "benchmarks", "tests")
# Comments of recorded cases, which are as they were when JAX ran them.
CORPUS = ROOT / "tests" / "corpus"
# A function is long that has more lines than this besides its docstring.
LONG = 10
FLOOR = 0.85
# "True if x is y", "the y of x", not "Whether x is y", "What y x has".
RIDDLES = {"What", "How", "Which", "Whether", "Where", "Why", "When", "Who", "Whose"}
Documented = ast.Module | ast.ClassDef | ast.FunctionDef


def files(*tops: str) -> list[Path]:
    """The modules below some folders."""
    found = (path for top in tops for path in (ROOT / top).rglob("*.py"))
    return sorted(path for path in found if CORPUS not in path.parents)


def documented(tree: ast.Module) -> Iterator[Documented]:
    """Everything in a module that can have a docstring, itself included."""
    return (n for n in ast.walk(tree) if isinstance(n, Documented))


def lines(node: ast.FunctionDef) -> int:
    """The number of lines of a function besides its docstring."""
    assert node.end_lineno is not None
    count = node.end_lineno - node.lineno + 1
    if ast.get_docstring(node) is not None:
        first = node.body[0]
        assert first.end_lineno is not None
        count -= first.end_lineno - first.lineno + 1
    return count


def share(trees: list[ast.Module]) -> float:
    """The share of long functions that have a docstring."""
    nodes = [n for tree in trees for n in documented(tree)]
    long = [n for n in nodes if isinstance(n, ast.FunctionDef) and lines(n) > LONG]
    return sum(ast.get_docstring(n) is not None for n in long) / len(long)


def riddles(tree: ast.Module) -> list[str]:
    """The docstrings of a module that begin with a question word."""
    found = (ast.get_docstring(node) or "-" for node in documented(tree))
    return [text for text in found if text.split()[0].rstrip(",:") in RIDDLES]


def test_most_long_functions_have_a_docstring() -> None:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in files(*LIBRARIES)]
    assert len(trees) > 400
    assert share(trees) >= FLOOR


def test_no_docstring_begins_with_a_question_word() -> None:
    found = {
        str(path.relative_to(ROOT)): texts
        for path in files(*LIBRARIES, *OTHERS)
        if (texts := riddles(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert found == {}


BODY = "".join(f"    a{n} = {n}\n" for n in range(LONG))


@pytest.mark.parametrize(
    "text, part",
    [
        (f"def f():\n{BODY}", 0),
        (f'def f():\n    """Numbers."""\n{BODY}', 1),
        (f'def f():\n    """Numbers."""\n{BODY}def g():\n{BODY}', 0.5),
        (f"def f():\n    return 1\ndef g():\n{BODY}", 0),
    ],
)
def test_only_long_functions_count(text: str, part: float) -> None:
    assert share([ast.parse(text)]) == part


def test_question_words_are_found() -> None:
    tree = ast.parse('"""Numbers."""\ndef f():\n    """Whether it is one."""\n')
    assert riddles(tree) == ["Whether it is one."]
