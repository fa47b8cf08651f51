"""Kernels are compiled where there is no device, or an error says what is missing.

Cites: backend.device
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rule_errors import raises_rule

import traceir
from traceir_numba.cuda import ptx
from traceir_numba.cuda.runtime import device
from traceir_numba.pipeline.build_program import build_program

# Functions of numbers, shared memory, barriers, two kernels and an atomic operation.
COMPILED = """
import numpy as np, traceir, traceir.numpy as jnp
from traceir.errors import TraceirError
from traceir_numba.pipeline.build_program import build_program
from traceir_numba.cuda import ptx

def both(x, at):
    return jnp.cumsum(jnp.exp(x)), at.at[at].add(at)

closed = traceir.make_jaxpr(both)(np.ones(9000), np.ones(9, int))
program = build_program(closed, "both")
try:
    texts = ptx.ptx(program)
except TraceirError as error:
    print(error.rule)
else:
    print(len(texts), all(".entry" in text for text in texts.values()))
    print(any("atom." in text for text in texts.values()))
    # A product is rounded, then added: the sum is no part of one instruction.
    function = traceir.make_jaxpr(lambda x, y, z: x * y + z)
    ((_, text),) = ptx.ptx(build_program(function(*np.ones((3, 4))), "sums")).items()
    print(text.count("fma.rn.f32") == text.count("80000000;") == text.count("add.f32"))
    print([ptx.machine_code(t).spilled for t in texts.values() if ptx.ptxas()])
"""


def test_kernels_become_ptx_without_a_device() -> None:
    settings = {**os.environ, "NUMBA_ENABLE_CUDASIM": "0"}
    command = [sys.executable, "-c", COMPILED]
    done = subprocess.run(command, capture_output=True, text=True, env=settings)
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    assert first in ("backend.device", "4 True"), done.stdout
    assert rest[:2] in ([], ["True"] * 2), done.stdout
    assert rest[2:] in ([], ["[]"], ["[0, 0, 0, 0]"])


def test_the_simulator_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "is_simulated", lambda: True)
    program = build_program(traceir.make_jaxpr(lambda x: x + 1)(1.0), "program")
    with raises_rule("backend.device"):
        ptx.ptx(program)


def test_without_an_assembler_the_error_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ptx, "ptxas", lambda: None)
    with raises_rule("backend.device"):
        ptx.machine_code("")


def test_what_the_assembler_refuses_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "ptxas"
    program.write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(ptx, "ptxas", lambda: str(program))
    with raises_rule("backend.device"):
        ptx.machine_code("")
