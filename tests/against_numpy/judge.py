"""Runs a program by NumPy and under the decorator, and says how they compare."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from against_numpy.programs import Program, made, outer
from traceir.errors import TraceirError
from traceir.jit.function import JitFunction, Options

AGREE, REFUSED, WRONG = "agree", "refused", "wrong"
# NumPy's result is another one if it is given copies of what it reads.
OVERLAP = "overlap"


@dataclass(frozen=True)
class Verdict:
    """The verdict on a program: `kind`, and of a refusal the rule, of a fault what it
    is.
    """

    kind: str
    what: str = ""


def outcome(program: Program, function: Any) -> tuple[Any, list[np.ndarray]]:
    """The result of a function, or its exception; its arguments after the call."""
    given = made(program)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*given), given
        except Exception as error:
            return error, given


def judged(program: Program, backend: str = "reference") -> Verdict:
    """The verdict on the decorator for a program."""
    names = outer()
    exec(compile(program.text, "<program>", "exec"), names)
    function = names["program"]
    options = Options(backend=backend, face="numpy", x64=True, numpy_out=True)
    jitted = JitFunction(function, None, None, options)
    wanted, plain = outcome(program, function)
    found, given = outcome(program, jitted)
    if isinstance(wanted, Exception):
        if isinstance(found, Exception):
            return Verdict(AGREE)
        return Verdict(WRONG, f"no error, where NumPy raises {type(wanted).__name__}")
    if isinstance(found, TraceirError):
        return Verdict(REFUSED, f"{found.rule}: {found.got}")
    if isinstance(found, Exception):
        return Verdict(WRONG, f"{type(found).__name__}: {found}"[:200])
    different = differences(found, given, wanted, plain)
    if not different:
        return Verdict(AGREE)
    again = outcome(program, apart(program))
    is_ours = not isinstance(again[0], Exception) and not differences(
        found, given, *again
    )
    return Verdict(OVERLAP if is_ours else WRONG, different)


def differences(found: Any, given: Any, wanted: Any, plain: Any) -> str:
    """In what results and arguments differ from NumPy's, or nothing."""
    for kind, ours, numpys in (("result", found, wanted), ("argument", given, plain)):
        for k, (one, other) in enumerate(zip(ours, numpys, strict=True)):
            different = difference(one, other)
            if different:
                return f"{kind} {k}: {different}"
    return ""


class _Copied(ast.NodeTransformer):
    """Copies what a statement reads before it writes to a part of an array.

    NumPy copies in order, and a value that it has written before may be read again,
    where the array that is read lies across the one that is written.
    """

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if isinstance(node.targets[0], ast.Subscript):
            node.value = _copy(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if any(word.arg == "out" for word in node.keywords):
            node.args = [_copy(value) for value in node.args]
        return self.generic_visit(node)


def _copy(value: ast.expr) -> ast.expr:
    is_array = not isinstance(value, (ast.Constant, ast.List, ast.Tuple))
    made = ast.Call(ast.parse("np.copy", mode="eval").body, [value], [])
    return made if is_array else value


def apart(program: Program) -> Any:
    """The function of a program, with what it reads copied before it is written."""
    tree = ast.fix_missing_locations(_Copied().visit(ast.parse(program.text)))
    names = outer()
    exec(compile(tree, "<program>", "exec"), names)
    return names["program"]


def difference(one: Any, other: Any) -> str:
    """In what two results differ, or nothing."""
    # An array without dimensions is returned as the number in it.
    if np.ndim(other) and not isinstance(one, np.ndarray):
        return f"{type(one).__name__} for {type(other).__name__}"
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype != other.dtype:
        return f"{one.dtype} for {other.dtype}"
    if one.shape != other.shape:
        return f"shape {one.shape} for {other.shape}"
    if one.dtype.kind in "fc":
        loose = 1e-4 if one.dtype == np.float32 else 1e-9
        with np.errstate(all="ignore"):
            same = np.isclose(one, other, loose, loose, equal_nan=True)
    else:
        same = one == other
    return "" if np.all(same) else f"{one.tolist()} for {other.tolist()}"[:300]
