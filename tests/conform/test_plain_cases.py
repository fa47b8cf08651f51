"""Cases that are plain functions: how they are read, and what the judge tells.

Cites text.case, staged.*
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from traceir.conform import Case, Rejected, Verdict, judge, load_cases
from traceir.conform.casefiles.plain_functions import PlainCall
from traceir.conform.judging.plain import PYTHON, outcome, same
from traceir.errors import JaxprSyntaxError, make

CASES = {case.name: case for case in load_cases() if case.plain}
Function = Callable[..., Any]
TEXT = '''
def twice(x):
    """Cites staged.construct

    >>> twice(np.array([1.0, 2.0]))
    (array([1., 2.]), 2.0)
    >>> twice(np.array([]))
    Traceback (most recent call last):
    IndexError: return x, 2 * float(x[0])
    >>> twice(np.array([-1.0]))
    Traceback (most recent call last):
    staged.effect: print("seen")
    """
    if (x < 0).any():
        print("seen")
    return x, 2 * float(x[0])


import numpy as np
'''


@pytest.mark.parametrize("name", CASES)
def test_what_a_case_says_is_what_python_does(name: str) -> None:
    """The texts of results, and the exceptions of Python's own."""
    plain = CASES[name].plain
    assert plain is not None
    scope = {**plain.scope(), **PYTHON}
    lines = {line.strip() for line in plain.text.splitlines()}
    for call in plain.calls:
        assert not call.raises or call.at in lines
        if call.asks or call.rule:
            continue
        found = outcome(plain, call.text, scope)
        if call.raises:
            assert (type(found.error).__name__, found.line) == (call.raises, call.at)
        else:
            assert found.error is None
            assert found.printed + repr(found.result) == call.gives


def case_of(text: str, folder: Path) -> Case:
    """The one case of a file with this text."""
    (folder / "some.py").write_text(text, encoding="utf-8")
    (case,) = load_cases(folder)
    return case


def test_a_file_is_read_function_by_function(tmp_path: Path) -> None:
    case = case_of(TEXT, tmp_path)
    assert (case.name, case.file, case.line) == ("some/twice", "some.py", 2)
    assert case.cites == ("staged.construct",) and case.rejected == {"staged.effect"}
    assert case.session is None and case.reject is None and case.plain is not None
    assert [call.raises for call in case.plain.calls] == [
        "",
        "IndexError",
        "staged.effect",
    ]
    assert case.plain.calls[0] == PlainCall(
        "twice(np.array([1.0, 2.0]))", "(array([1., 2.]), 2.0)"
    )
    with pytest.raises(JaxprSyntaxError, match="no program"):
        case.program()
    empty = TEXT[: TEXT.index("    >>>")] + '"""\n'
    with pytest.raises(JaxprSyntaxError, match="twice: nothing is expected"):
        case_of(empty, tmp_path)


class Plain:
    """An implementation that has plain functions run by Python, with a fault."""

    name = "plain"

    def __init__(self, fault: Function) -> None:
        self.fault = fault

    def plain(self, function: Function) -> Function:
        return lambda x: self.fault(function, x)


def refusing(line: int, **columns: Any) -> Function:
    """A fault: for negative numbers, an error of another rule, or at another line."""

    def refuse(function: Function, x: Any) -> Any:
        if x.size and x[0] < 0:
            where = f"{function.__code__.co_filename}:{line} in twice"
            row = {"cls_name": "TypeError", "rule": "staged.effect", "says": "No."}
            raise make(**{**row, "where": where, **columns})
        return function(x)

    return refuse


def raised(error: Exception) -> Function:
    """A fault: for negative numbers, this exception."""

    def refuse(function: Function, x: Any) -> Any:
        if x.size and x[0] < 0:
            raise error
        return function(x)

    return refuse


def written(function: Function, x: Any) -> Any:
    """A fault: it writes to an argument."""
    found = function(x.copy())
    x += 1
    return found


def printing(function: Function, x: Any) -> Any:
    """A fault: it prints."""
    print(x)
    return function(x)


def silent(function: Function, x: Any) -> Any:
    """A fault: no exception."""
    return function(x) if x.size else None


RIGHT = 15
# What an implementation does, and how the verdict on it begins.
FAULTS: list[tuple[Function, str, str]] = [
    (refusing(RIGHT), "pass", ""),
    (raised(Rejected("TypeError")), "pass", "unattributed: TypeError"),
    (lambda f, x: f(x), "fail", "twice(np.array([-1.0])): accepted, expected staged"),
    (lambda f, x: f(np.float32(x)), "fail", "twice(np.array([1.0, 2.0])): result"),
    (lambda f, x: [*f(x)], "fail", "twice(np.array([1.0, 2.0])): result"),
    (written, "fail", "twice(np.array([1.0, 2.0])): arguments"),
    (printing, "fail", "twice(np.array([1.0, 2.0])): printed"),
    (silent, "fail", "twice(np.array([])): accepted, expected IndexError"),
    (refusing(RIGHT + 1), "fail", "twice(np.array([-1.0])): staged.effect at `retu"),
    (refusing(RIGHT, rule="staged.join"), "fail", "twice(np.array([-1.0])): raised st"),
    (refusing(RIGHT, says="No.\n" * 9), "fail", "twice(np.array([-1.0])): an error of"),
    (raised(Rejected("ValueError")), "fail", "twice(np.array([-1.0])): raised ValueE"),
    (raised(KeyError("x")), "crashed", "KeyError: 'x'"),
]


@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_each_fault_is_told(number: int, tmp_path: Path) -> None:
    fault, kind, why = FAULTS[number]
    verdict = judge(Plain(fault), case_of(TEXT, tmp_path))  # type: ignore[arg-type]  # no eval
    assert verdict.kind == kind and verdict.why.startswith(why), verdict


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("recorded/choice", "does not tell what is recorded"),
        ("decorators/usual-options", "no decorators in place of Numba's"),
    ],
)
def test_what_an_adapter_lacks_is_unsupported(name: str, why: str) -> None:
    found: Any = Plain(lambda f, x: f(x))
    assert judge(found, CASES[name]) == Verdict("unsupported", why)
    none: Any = object()
    lacking = Verdict("unsupported", "no functions as Python has them")
    assert judge(none, CASES[name]) == lacking


def test_results_are_compared_part_by_part() -> None:
    nested = {"a": [1.0, (2, None, "x")]}
    assert same(nested, ast.literal_eval(repr(nested)))
    for other in ({"a": [1.0, (2, None, "y")]}, {"b": 1}, [nested], {"a": [1, (2,)]}):
        assert not same(nested, other)
    assert not same(0.0, -0.0) and same(np.float64("nan"), float("nan"))
