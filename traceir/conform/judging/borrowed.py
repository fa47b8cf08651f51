"""The project's own code, watched while an implementation answers.

Who passes what is asked on to the code by which it is judged has shown nothing. An
implementation that is made of such parts declares them as `shares`. Serves: all tables
"""

from __future__ import annotations

import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from traceir.ir import typecheck
from traceir.jit.function import JitFunction
from traceir.oracle import scalar_interpreter
from traceir.reference import interpreter
from traceir.text import printer
from traceir.tracing import trace

# The parts of this project that an implementation can be made of.
PARTS: Mapping[str, str] = {
    "typing": "the types of results, and what is refused, by the tables",
    "evaluation": "the values of results, by the tables or the reference's kernels",
    "tracing": "traced values, transforms, `jit` and its cache",
    "text": "programs as text",
}
_FUNCTIONS: Mapping[str, tuple[Callable[..., Any], ...]] = {
    "typing": (
        typecheck.check,
        typecheck.infer,
        typecheck.violations,
        typecheck.Typer.infer,
    ),
    "evaluation": (
        scalar_interpreter.run,
        interpreter.eval_jaxpr,
        interpreter.evaluate_eqn,
    ),
    "tracing": (trace.bind, trace.bind_all, JitFunction.__call__),
    "text": (printer.to_text,),
}
CODE: Mapping[CodeType, str] = {
    inspect.unwrap(function).__code__: part
    for part, functions in _FUNCTIONS.items()
    for function in functions
}


class Borrowed(Exception):
    """An answer was computed by code of this project, which is not declared."""


@contextmanager
def watched(part: str, shares: Iterable[str]) -> Iterator[None]:
    """Raises Borrowed for an answer by a part of this project that is not declared.

    Threads that begin meanwhile are watched, and children that are forked, in which
    the part raises. Other processes, and threads that ran before, are not.

    >>> from traceir import ShapedArray
    >>> with watched("typing", ()):
    ...     typecheck.infer("sin", (ShapedArray((), "float32"),), {"accuracy": None})
    Traceback (most recent call last):
    traceir.conform.judging.borrowed.Borrowed: answered by `infer` of this project: who
    is made of its typing declares that in `shares`
    """
    if part in shares:
        yield
        return
    seen: list[str] = []
    process = os.getpid()

    def note(frame: FrameType, event: str, arg: Any) -> None:
        if event == "call" and CODE.get(frame.f_code) == part:
            seen.append(frame.f_code.co_qualname)
            if os.getpid() != process:  # what a child notes is not seen here
                _honest(part, seen)

    try:
        with _profiled(note):
            yield
    except Exception:
        _honest(part, seen)
        raise
    _honest(part, seen)


@contextmanager
def _profiled(note: Callable[[FrameType, str, Any], None]) -> Iterator[None]:
    """Within this, the function gets the events of this thread and of new ones."""
    own, others = sys.getprofile(), threading.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(own)
        threading.setprofile(others)


def _honest(part: str, seen: Sequence[str]) -> None:
    if seen:
        raise Borrowed(
            f"answered by `{seen[0]}` of this project: who is made of its {part}"
            " declares that in `shares`"
        )
