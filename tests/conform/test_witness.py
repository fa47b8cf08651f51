"""The witness follows every region: its own programs, choices, loops, lanes.

Cites accuracy.program
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from traceir.conform import load_cases
from traceir.conform.judging.witness import faults
from traceir.oracle.scalar_interpreter import declared_choices
from traceir.reference.interpreter import eval_jaxpr
from traceir.rules import default
from traceir.text import parse

CASES = [
    case
    for case in load_cases()
    if case.name.split("/")[0] in ("while", "scan", "cond")
    and {"value", "call"} <= case.verbs.keys()
]


def run(program: Any, args: Any) -> Any:
    return eval_jaxpr(program, program.consts, *args)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_reference_has_no_faults(case: Any) -> None:
    text = case.verbs["given"][0]
    program = parse(text.text[text.start : text.stop])
    args = [value.array for value in case.values("call")]
    got = run(program, args)
    choices = declared_choices(default())
    assert faults(run, program, args, got, default(), choices) == []
    wrong = [np.asarray(x) + np.asarray(1).astype(x.dtype) for x in got]
    if any(x.size for x in wrong):
        assert faults(run, program, args, wrong, default(), choices)
