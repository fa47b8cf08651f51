"""The text of programs with control flow is JAX's. Rules: control.*, text.layout"""

from __future__ import annotations

import re

import control.transformed  # enters its programs
import pytest
from control.programs import PROGRAMS
from recorded import Record

import traceir
from traceir.text import parse
from traceir.text.printer import to_text

assert control.transformed
RECORDED = dict(
    re.findall(
        r"^# (\w+)\n(.*?)\n(?=\n#|\Z)",
        Record("control-texts.txt.xz").read_text(),
        re.MULTILINE | re.DOTALL,
    )
)


def test_every_program_is_recorded() -> None:
    assert RECORDED.keys() == PROGRAMS.keys()
    assert len(RECORDED) >= 60


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_is_what_jax_prints(name: str) -> None:
    function, arguments = PROGRAMS[name]
    made = traceir.make_jaxpr(lambda *xs: function(traceir, *xs))(*arguments)
    assert str(made) == RECORDED[name]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_is_read_checked_and_written_again(name: str) -> None:
    program = parse(RECORDED[name])
    traceir.check(program)
    assert str(program) == RECORDED[name]
    assert parse(to_text(program, full=True)) == program
