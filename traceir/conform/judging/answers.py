"""An implementation's answers, checked before they are believed. Serves: every table"""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Sequence
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

import numpy as np

import traceir
from traceir.conform.casefiles.outcomes import Outcome
from traceir.conform.casefiles.values import TypedValue
from traceir.dtypes import as_dtype
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.rules import default

# Where the code of this package is; that of Python's library and installed packages.
_HERE = str(Path(traceir.__file__).parent)
_LIBRARIES = tuple(map(sysconfig.get_path, ("stdlib", "purelib", "platlib")))

EVENTS = ("traces", "hits", "raises", "answers")


class Malformed(Exception):
    """An answer is not of the form that the protocol asks for."""


class Unattributed(Exception):
    """Ends a judgement: passed, but by a rejection that names no rule."""


def describe(error: BaseException, named: bool = True) -> str:
    """An exception in words, even one whose own text cannot be made.

    >>> describe(KeyError("a"))
    "KeyError: 'a'"
    """
    try:
        text = str(error)
    except BaseException as inner:  # it is the implementation's code that runs here
        text = f"its text raised {type(inner).__name__}"
    if not named:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def located(error: BaseException) -> str:
    """An exception in words, and where it was raised in the implementation's own code.

    >>> located(KeyError("a"))
    "KeyError: 'a'"
    """
    text = describe(error)
    entries = traceback.extract_tb(error.__traceback__)
    foreign = [e for e in entries if not e.filename.startswith(_HERE)]
    # What a library raises was called by someone.
    own = [e for e in foreign if not e.filename.startswith(_LIBRARIES)] or foreign
    if not own:
        return text
    return f"{text}\nat {PurePath(own[-1].filename).name}:{own[-1].lineno}"


def listed(method: str, found: Any, expected: int) -> list[Any]:
    """A sequence's items, one more than expected at most; raises Malformed.

    >>> listed("eval", (n for n in (1, 2, 3)), 1)
    [1, 2]
    >>> listed("eval", None, 1)
    Traceback (most recent call last):
    traceir.conform.judging.answers.Malformed: `eval` gave NoneType, not a sequence
    """
    if isinstance(found, np.ndarray | str | bytes | dict) or not _iterates(found):
        name = type(found).__name__
        raise Malformed(f"`{method}` gave {name}, not a sequence")
    return list(islice(found, expected + 1))


def _iterates(found: Any) -> bool:
    return hasattr(type(found), "__iter__") or hasattr(type(found), "__getitem__")


def types_of(found: Any, program: ClosedJaxpr) -> tuple[ShapedArray, ...]:
    """The types that `type` gave."""
    types = listed("type", found, len(program.jaxpr.outvars))
    for k, aval in enumerate(types):
        if not isinstance(aval, ShapedArray):
            name = type(aval).__name__
            raise Malformed(f"result {k} has a {name} as its type, not a ShapedArray")
    return tuple(types)


def arrays_of(found: Sequence[Any]) -> list[np.ndarray]:
    """The arrays that `eval` gave, of dtypes that the tables know."""
    return [_array(k, value) for k, value in enumerate(found)]


def _array(k: int, value: Any) -> np.ndarray:
    name = type(value).__name__
    try:
        array = np.asarray(value)
    except Exception as error:  # whatever an object of theirs does when asked
        raise Malformed(f"result {k}, {name}, is no array: {error!r}") from None
    if as_dtype(array.dtype).name not in default().dtypes:
        raise Malformed(f"result {k}, {name}, is an array of {array.dtype}")
    return array


def outcomes_of(found: Any, expected: int) -> list[Outcome]:
    """The outcomes that `session` gave."""
    outcomes = listed("session", found, expected)
    for k, outcome in enumerate(outcomes):
        if not isinstance(outcome, Outcome):
            name = type(outcome).__name__
            raise Malformed(f"outcome {k} is {name}, not an Outcome")
        if problem := _problem(outcome):
            raise Malformed(f"outcome {k}: {problem}")
    return outcomes


def _problem(outcome: Outcome) -> str | None:
    if outcome.event not in EVENTS:
        return f"the event {outcome.event!r}"
    for field in ("rule", "cls"):
        if not isinstance(getattr(outcome, field), str | None):
            return f"the {field} {getattr(outcome, field)!r}"
    values: Any = outcome.values
    if values is None:
        return None
    if not isinstance(values, tuple):
        return f"values that are no tuple but {type(values).__name__}"
    return next(filter(None, map(_problem_of_value, values)), None)


def _problem_of_value(value: Any) -> str | None:
    if not isinstance(value, TypedValue):
        return f"a value that is no TypedValue but {type(value).__name__}"
    aval: Any = value.aval
    array: Any = value.array
    if not isinstance(aval, ShapedArray):
        return f"a value of the type {aval!r}"
    # A scalar of NumPy has no dimensions, shape and dtype like any array.
    if not isinstance(array, np.ndarray | np.generic):
        return f"a value that is no array but {type(array).__name__}"
    if (array.shape, array.dtype) != (aval.shape, aval.dtype):
        short = aval.str_short()
        return f"a value of type {short} with an array {array.dtype}{[*array.shape]}"
    return None
