"""Cases of loops and branches: functions of `spec/cases/staged.py`, and their calls."""

from __future__ import annotations

import doctest
import linecache
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from imperative_programs import ERRORS, shown

from traceir.rules import spec_path

Function = Callable[..., Any]
FILE = spec_path() / "cases" / "staged.py"


@dataclass(frozen=True)
class StagedCase:
    """A function, the rules that it cites, and calls of it as text."""

    name: str
    cites: tuple[str, ...]
    calls: tuple[str, ...]


def load() -> dict[str, Any]:
    """The names of the file, made anew: no implementation knows these functions yet."""
    scope: dict[str, Any] = {}
    linecache.checkcache(str(FILE))
    exec(compile(FILE.read_text(encoding="utf-8"), str(FILE), "exec"), scope)
    return scope


def cases() -> list[StagedCase]:
    """The cases in the order of the file."""
    found = []
    for name, function in load().items():
        text = getattr(function, "__doc__", None)
        if callable(function) and text and text.startswith("Cites "):
            examples = doctest.DocTestParser().get_examples(text)
            cites = tuple(text.splitlines()[0].removeprefix("Cites ").split(", "))
            calls = tuple(example.source.strip() for example in examples)
            found.append(StagedCase(name, cites, calls))
    return found


def fault(case: StagedCase, jit: Callable[[Function], Function]) -> str:
    """The first call that a `jit` has wrong, or nothing."""
    ours, plain = load(), load()
    ours[case.name] = jit(ours[case.name])
    for call in case.calls:
        found, wanted = (
            _outcome(call, case.name, ours),
            _outcome(call, case.name, plain),
        )
        if found != wanted:
            return f"{call}: {found}, not {wanted}"
    return ""


def _outcome(call: str, name: str, scope: dict[str, Any]) -> Any:
    """The result and the arguments after the call, or the exception's class."""
    given: list[Any] = []
    function = scope[name]

    def noted(*args: Any) -> Any:
        given.extend(a for a in args if isinstance(a, np.ndarray))
        return function(*args)

    try:
        found = eval(call, {**scope, name: noted})
    except ERRORS as error:
        return next(kind for kind in ERRORS if isinstance(error, kind))
    return shown(found), shown(given)
