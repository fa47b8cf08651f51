"""The judge of plain functions: Python itself says what a call does.

The function, run by Python on NumPy's arrays, gives what an implementation has to give:
the result, what is left in the arguments, what is printed, or the exception and its
line. What an implementation refuses is an error of a rule, at a line of the function.
Serves: staged.*
"""

from __future__ import annotations

import ast
import linecache
import re
import traceback
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from types import SimpleNamespace
from typing import Any

import numpy as np

from traceir.conform.casefiles.outcomes import class_name, expected_class
from traceir.conform.casefiles.plain_functions import (
    DECORATORS,
    RECORDED,
    PlainCall,
    PlainFunction,
)
from traceir.conform.casefiles.values import same_bits
from traceir.conform.judging.answers import Unattributed

AnyFunction = Callable[..., Any]
# An error is so short.
LINES = 10


@dataclass
class PlainOutcome:
    """A call's result and its arguments after it, or an exception and its line."""

    result: Any = None
    arguments: list[np.ndarray] = field(default_factory=list)
    printed: str = ""
    error: Exception | None = None
    line: str = ""


def faults(
    function: PlainFunction,
    compiled: Callable[[AnyFunction], AnyFunction],
    names: Mapping[str, Any],
) -> str | None:
    """The first call that is not as it has to be, or None.

    `compiled` is the implementation's decorator, `names` are what the calls may use
    besides the names of the file. Raises Unattributed where a refusal names no rule.
    """
    ours, theirs = {**function.scope(), **names}, {**function.scope(), **PYTHON}
    if not function.decorates:
        ours[function.name] = compiled(ours[function.name])
    blurred = ""
    for call in function.calls:
        try:
            if why := _fault(function, call, ours, theirs):
                return f"{call.text}: {why}"
        except Unattributed as found:
            blurred = str(found)
    if blurred:
        raise Unattributed(blurred)
    return None


def _fault(
    function: PlainFunction,
    call: PlainCall,
    ours: Mapping[str, Any],
    theirs: Mapping[str, Any],
) -> str | None:
    if call.asks:
        found = eval(call.text, dict(ours))
        return None if found == ast.literal_eval(call.gives) else f"{found}"
    found = outcome(function, call.text, ours)
    if call.raises:
        return _mistaken(call, found)
    if found.error:
        raise found.error
    wanted = outcome(function, call.text, theirs)
    for name in ("result", "arguments", "printed"):
        a, b = getattr(found, name), getattr(wanted, name)
        if not same(a, b):
            return f"{name} {a!r}, expected {b!r}"
    return None


def _mistaken(call: PlainCall, found: PlainOutcome) -> str | None:
    """The reason why an exception is not the one that is expected, or None."""
    error = found.error
    if error is None:
        return f"accepted, expected {call.raises}"
    rule, cls = getattr(error, "rule", None), getattr(error, "class_", "")
    if rule is None and expected_class(cls, call.rule):
        raise Unattributed(cls)
    if rule is None and call.rule and not cls:
        raise error
    got = rule or cls or class_name(error)
    if got != call.raises:
        return f"raised {got}, expected {call.raises}: {error}"
    if rule and len(str(error).splitlines()) >= LINES:
        return f"an error of {LINES} lines or more"
    return None if found.line == call.at else f"{got} at `{found.line}`"


def outcome(
    function: PlainFunction, text: str, scope: Mapping[str, Any]
) -> PlainOutcome:
    """The outcome of a call that is given as text."""
    found, printed = PlainOutcome(), StringIO()
    inner = scope[function.name]

    def noted(*args: Any, **kwargs: Any) -> Any:
        found.arguments += [a for a in args if isinstance(a, np.ndarray)]
        return inner(*args, **kwargs)

    try:
        with redirect_stdout(printed):
            found.result = eval(text, {**scope, function.name: noted})
    except Exception as error:  # it is compared with the one that Python raises
        found.error, found.line = error, _line(error, function.path)
    found.printed = printed.getvalue()
    return found


def _line(error: Exception, path: str) -> str:
    """The line of the file at which an exception stands: by its text, which then names
    it, or by its traceback.
    """
    entries = traceback.extract_tb(error.__traceback__)
    own = [entry.lineno or 0 for entry in entries if entry.filename == path]
    told = re.search(rf"{re.escape(path)}:(\d+) ", getattr(error, "where", ""))
    number = int(told[1]) if told else max(own[-1:], default=0)
    return linecache.getline(path, number).strip()


def same(a: Any, b: Any) -> bool:
    """True for results of one structure with the same dtypes and bits.

    >>> same((1.0, [np.int64(2)]), (np.float64(1), [2])), same(1, 1.0)
    (True, False)
    """
    if a is None or isinstance(a, str):
        return type(a) is type(b) and bool(a == b)
    if isinstance(a, (tuple, list)):
        pairs = type(a) is type(b) and len(a) == len(b)
        return pairs and all(map(same, a, b))
    if isinstance(a, dict):
        keys = isinstance(b, dict) and list(a) == list(b)
        return keys and all(same(a[k], b[k]) for k in a)
    one, other = np.asarray(a), np.asarray(b)
    alike = one.dtype == other.dtype and one.shape == other.shape
    return alike and same_bits(one, other)


def _unchanged(*args: Any, **kwargs: Any) -> Any:
    """Numba's decorators as Python has them: the function as it is."""
    if len(args) == 1 and callable(args[0]) and not kwargs:
        return args[0]
    return lambda function: function


# What the names mean to Python itself.
PYTHON: Mapping[str, Any] = {
    DECORATORS: SimpleNamespace(jit=_unchanged, njit=_unchanged, prange=range),
    RECORDED: None,
}
