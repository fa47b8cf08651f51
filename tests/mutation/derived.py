"""Types, traces and keys that the judgements derive of some programs.

The oracle types and runs every case by the rules of `judgements.toml`; traces, keys and
the effects of whole programs are derived here alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from theorems.traced import SmallCall, calls, key_of, variants

from traceir.ir.jaxpr import ClosedJaxpr
from traceir.jit.cache.cache_key import KeyTable
from traceir.oracle.abstract_syntax import as_host_function, as_program, as_term
from traceir.oracle.derivations import Derivation
from traceir.rules import Rules
from traceir.text import parse

PROGRAMS = (
    "{ lambda ; a:f32[2] b:f32[]. let c:f32[2] = add a b; d:f32[] = neg b in (c, d) }",
    "{ lambda ; a:~f32[]. let b:~f32[] = mul a 2.0 in (b,) }",
    "{ lambda ; a:i32[] b:i32[]. let c:i32[] = sub b a; d:i32[] = sub c b in (d, c) }",
)
# Programs with effects before and after other equations, and with one that has programs
# of other results than operands.
TYPED = (
    "{ lambda ; a:f32[]. let b:f32[] = sin!io a; c:f32[] = cos a in (c,) }",
    "{ lambda ; a:f32[]. let b:f32[] = sin a; c:f32[] = cos!io b in (c,) }",
    "{ lambda ; a:i32[]. let b:i32[] = while["
    "body_jaxpr={ lambda ; c:i32[]. let d:i32[] = add c 1:i32[] in (d,) } "
    "body_nconsts=0 "
    "cond_jaxpr={ lambda ; e:i32[]. let f:bool[] = lt e 5:i32[] in (f,) } "
    "cond_nconsts=0] a in (b,) }",
)


@dataclass
class Subject:
    """The rules that derive keys."""

    derivation: Derivation
    key_table: KeyTable


def answers(rules: Rules) -> Sequence[str]:
    """The texts of all that some rules derive."""
    return list(_answers(rules))


def _answers(rules: Rules) -> Iterator[str]:
    try:
        subject = Subject(Derivation(rules), KeyTable(rules))
    except Exception as error:
        yield type(error).__name__
        return
    for text in TYPED:
        yield _answer(_typed, parse(text), subject)
    for text in PROGRAMS:
        program = parse(text)
        for one in variants(program):
            yield _answer(_traced, one, subject)
        for call in calls(program.in_avals):
            yield _answer(_key, call, subject)


def _answer(ask: Any, about: Any, subject: Subject) -> str:
    try:
        return str(ask(about, subject))
    except Exception as error:
        return type(error).__name__


def _typed(program: ClosedJaxpr, subject: Subject) -> Any:
    return subject.derivation.derive("judgement.typed-program", as_term(program))


def _traced(one: ClosedJaxpr, subject: Subject) -> Any:
    term = as_host_function(one)
    (found,) = subject.derivation.derive("judgement.trace", term, one.in_avals)
    return as_program(found)


def _function(*xs: Any, n: Any) -> None:
    """A function of arrays and a static number, which is not called."""


def _key(call: SmallCall, subject: Subject) -> Any:
    return key_of(_function, call, subject)[0]
