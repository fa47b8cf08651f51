"""The corpus: printed alike by this project, and up to date where JAX is installed.

Rules: text.roundtrip, accuracy.program
"""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
import pytest
from corpus.program import GROUPS, Program, corpus

import traceir
from traceir.conform import Case, Verdict, load_cases
from traceir.conform.judging.adapters import load
from traceir.conform.judging.deviations import Record, read_deviations, record_path
from traceir.conform.judging.run import judge
from traceir.conform.judging.witness import faults
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.reference.interpreter import eval_jaxpr
from traceir.rules import default
from traceir.text import parse

PROGRAMS = list(corpus())
CASES = {case.name: case for case in load_cases()}
RECORDED = {n: c for n, c in CASES.items() if c.file.startswith("jax/")}


def case_of(program: Program) -> Case:
    """The case that was recorded of a program."""
    return RECORDED[f"jax/{program.name}"]


def test_every_program_is_recorded() -> None:
    assert RECORDED.keys() == {f"jax/{p.name}" for p in PROGRAMS}
    assert len(PROGRAMS) >= 60


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_the_same_program_has_the_same_jaxpr(program: Program) -> None:
    with program.context(traceir), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        closed = traceir.make_jaxpr(program.bound(traceir))(*program.python(traceir))
    assert str(closed) == case_of(program).prints


# The judgement of programs -----------------------------------------------------------

TEXT = """{ lambda ; a:f32[3]. let
    b:f32[3] = sin a
    c:f32[3] = jit[
      name=f
      jaxpr={ lambda ; b:f32[3]. let c:f32[3] = exp b in (c,) }
    ] b
  in (c, a) }"""


def test_each_equation_is_judged_by_the_values_that_its_operands_had() -> None:
    program, args = parse(TEXT), [np.float32([0.5, 1, 2])]
    asked: list[ClosedJaxpr] = []

    def evaluate(program: ClosedJaxpr, args: list[np.ndarray]) -> list[np.ndarray]:
        asked.append(program)
        return [np.sin(args[0]), np.exp(np.sin(args[0]))]

    right = [np.exp(np.sin(args[0])), args[0]]
    assert not faults(evaluate, program, args, right, default(), {})
    assert [e.primitive for e in asked[0].eqns] == ["sin", "exp"]
    assert len(asked[0].out_avals) == 2
    wrong = [np.nextafter(right[0], np.float32(9)), right[1]]
    (fault,) = faults(evaluate, program, args, wrong, default(), {})
    assert "result 0" in fault


def test_an_equation_that_is_wrong_by_itself_is_named() -> None:
    program, args = parse(TEXT), [np.float32([0.5, 1, 2])]
    sine = np.sin(args[0])
    found = [sine, np.exp(sine) * np.float32(1.001)]
    lines = faults(
        lambda program, args: found, program, args, [found[1], args[0]], default(), {}
    )
    assert lines and all(line.startswith("exp[") for line in lines)
    (line,) = faults(
        lambda program, args: found[:1],
        program,
        args,
        [found[1], args[0]],
        default(),
        {},
    )
    assert line == "other results where all variables are asked for"


def test_the_reference_returns_the_same_in_both_forms() -> None:
    case = CASES["jax/softmax"]
    program = case.program()
    args = [v.array for v in case.values("call")]
    got = eval_jaxpr(program, program.consts, *args)

    def evaluate(program: ClosedJaxpr, args: list[np.ndarray]) -> list[np.ndarray]:
        return list(eval_jaxpr(program, program.consts, *args))

    assert not faults(evaluate, program, args, got, default(), {})


# With JAX ----------------------------------------------------------------------------


def test_the_files_are_what_jax_prints() -> None:
    jax = pytest.importorskip("jax", reason="the corpus is recorded with JAX")
    record = import_module("corpus.record")
    assert len(GROUPS) > 10
    for path, text in record.files(jax):
        assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_jax_conforms_but_for_what_is_recorded(name: str) -> None:
    pytest.importorskip("jax", reason="this is a test of JAX itself")
    adapter = load("jax")
    record = Record(read_deviations(record_path("jax"), CASES.keys()))
    verdict = record.judged(name, judge(adapter.implementation, CASES[name]))
    # A rule that text has the name of alone is nothing that JAX could call.
    named = "of a rule that is a name" in (verdict.why or "")
    assert named or verdict.kind in ("pass", "deviation"), verdict == Verdict("pass")
