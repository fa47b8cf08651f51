"""The values of cases, filled in by the oracle.

A value is what the tables define, never what an implementation under test gives.
Serves: every table
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from traceir.conform.casefiles.cases import Case
from traceir.conform.casefiles.sessions import Call
from traceir.conform.casefiles.values import TypedValue, ValueReader, same_bits
from traceir.conform.judging.oracle_backend import tables_alone
from traceir.conform.systems.implementations import Oracle
from traceir.conform.systems.jitted import Jitted
from traceir.conform.systems.systems import TraceirSystem
from traceir.dtypes import kind_of
from traceir.errors import TraceirError
from traceir.oracle import scalar_interpreter
from traceir.text.lexer import SourceText
from traceir.text.words import number_text

# Exact decimals of so many characters are written as such.
SHORT = 8


class Unwritten(Exception):
    """A case whose value the oracle does not know, and why."""


def write_values(cases: Sequence[Case], folder: Path) -> list[str]:
    """Write the `value` of each case into its file; gives the names of what changed.

    All else in the files stays as it is. Raises Unwritten before anything is written.
    """
    edits: dict[Path, list[tuple[int, int, str]]] = defaultdict(list)
    changed = []
    for case in cases:
        text = written(case)
        start, stop = _place(case)
        if case.verbs["given"][0].text[start:stop] != text:
            edits[folder / case.file].append((start, stop, text))
            changed.append(case.name)
    texts = {path: path.read_bytes().decode() for path in edits}
    for path, text in texts.items():
        for start, stop, value in sorted(edits[path], reverse=True):
            if "#" in text[start:stop] or "\r" in text:
                raise Unwritten(f"{path.name}: a comment, or a CR, stands in a value")
            text = text[:start] + value + text[stop:]
        texts[path] = text
    for path, text in texts.items():
        path.write_bytes(text.encode())
    return changed


def written(case: Case) -> str:
    """The results of a case's call as its `value` has them; Unwritten if unknown.

    >>> from traceir.conform.casefiles.cases import read_cases
    >>> text = '''case a
    ...   cites  accuracy.ulp
    ...   given  { lambda ; a:f32[2]. let b:f32[2] = exp a in (b,) }
    ...   call   f32[2]{0 1}
    ...   value  ?
    ... '''
    >>> written(read_cases(text)[0])
    'f32[2]{1 0x1.5bf0a8p+1}'
    """
    results = _results(case)
    text = " ".join(map(_literal, results))
    again = ValueReader(SourceText(text)).arrays()
    for result, value in zip(results, again, strict=True):
        if not (result.aval is value.aval and same_bits(result.array, value.array)):
            raise Unwritten(f"{case.name}: {text} is read as another value")
    return text


def _results(case: Case) -> Sequence[TypedValue]:
    """The results of the one call of a case, by the oracle."""
    if not {"call", "value"} <= case.verbs.keys():
        raise Unwritten(f"{case.name}: a case with `call` and `value ?` can be written")
    verbs = {k: v for k, v in case.verbs.items() if k not in ("value", "prints")}
    case = replace(case, verbs=verbs)
    try:
        with tables_alone():
            return _transformed(case) if case.under else _evaluated(case)
    except (TraceirError, ValueError, NotImplementedError) as error:
        raise Unwritten(f"{case.name}: the oracle does not know: {error}") from error


def _evaluated(case: Case) -> Sequence[TypedValue]:
    program = case.program()
    args = [v.array for v in case.values("call")]
    oracle = Oracle()
    oracle.admit(program, args)
    found = scalar_interpreter.run(program, program.consts, args, oracle.rules)
    return [
        TypedValue(a, array) for a, array in zip(program.out_avals, found, strict=True)
    ]


def _transformed(case: Case) -> Sequence[TypedValue]:
    """The results of a compiled function, of which no kernel computes a part."""
    assert case.session is not None  # `under` makes one
    session = case.session
    calls = (k for k, step in enumerate(session.steps) if isinstance(step, Call))
    *before, first = session.steps[: next(calls) + 1]
    assert isinstance(first, Call)
    alone = replace(session, steps=(*before, replace(first, via="jit")))
    (outcome,) = Jitted(alone, TraceirSystem("oracle")).run()
    if outcome.values is None:
        raise ValueError(f"the call {outcome.event} {outcome.rule or ''}".rstrip())
    return outcome.values


def _literal(value: TypedValue) -> str:
    inner = " ".join(_number(x, value.aval.dtype) for x in value.array.reshape(-1))
    return f"{'~' * value.aval.weak_type}{value.aval.str_short()}{{{inner}}}"


def _number(x: Any, dtype: np.dtype) -> str:
    """A short exact decimal, or the bits in hexadecimal digits.

    >>> [_number(np.float32(x), np.dtype("float32")) for x in (0.1, -2)]
    ['0x1.99999ap-4', '-2']
    """
    text = number_text(x, dtype, True)
    if kind_of(dtype) != "f" or not np.isfinite(x):
        return text
    value = float(x)
    short = "-0.0" if text == "-0.0" else repr(value).removesuffix(".0")
    if len(short) <= SHORT and Fraction(short) == Fraction(value):
        return short
    digits, exponent = value.hex().split("p")
    return f"{digits.rstrip('0').removesuffix('.')}p{exponent}"


def _place(case: Case) -> tuple[int, int]:
    """The place of a case's value in its file."""
    source = case.verbs["value"][0]
    body = source.text[source.start : source.stop].rstrip()
    return source.start, source.start + len(body)
