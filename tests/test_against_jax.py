"""The fuzzer against JAX, without JAX: what it draws, and what its comparison tells."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from _ext.domain import ids
from against_jax import holes, known
from against_jax.compare import compare
from against_jax.minimise import minimised, simpler
from against_jax.outcomes import Leaf, Outcome, outcome
from against_jax.programs import Program, draw
from against_jax.running import translated

import traceir

PROGRAMS = [draw(0, number) for number in range(200)]


def array(values: object, dtype: str = "float32", weak: bool = False) -> Outcome:
    """The outcome of a program whose result is an array."""
    value = np.array(values, dtype)
    return Outcome((Leaf(dtype, weak, value.shape, value),), "*")


def error(*names: str, message: str = "") -> Outcome:
    """The outcome of a program that raises."""
    return Outcome(error=names, message=message)


def test_programs_are_drawn_by_seed_and_number() -> None:
    assert [draw(0, number) for number in range(200)] == PROGRAMS
    assert PROGRAMS[:20] != [draw(1, number) for number in range(20)]


def test_every_program_is_python_for_both_libraries() -> None:
    for program in PROGRAMS:
        for text in (program.text, translated(program.text)):
            compile(text, "program", "exec")
        assert "import jax" not in translated(program.text)


def test_every_line_of_the_table_can_be_filled() -> None:
    for name, lines in holes.calls().items():
        for line in lines:
            filler = holes.Filler(Random(line), False, False)
            filled = ast.parse(filler.fill(line, last="y0"))
            left = {n.id for n in ast.walk(filled) if isinstance(n, ast.Name)}
            unfilled = left & {*holes.CHOICES, *holes.DRAWN, "PICK", "NEED", "LAST"}
            assert not unfilled, (name, line)


def test_a_program_runs_under_the_names_of_this_library() -> None:
    text = translated(Program(("jnp.arange(3) + 1.5",), ()).text)
    names: dict[str, Any] = {"print": lambda result: None}
    exec(text, names)
    found = outcome(lambda: names["f"](*names["args"]), traceir)
    assert compare(found, array([1.5, 2.5, 3.5], weak=True)) is None


# What a library does that is wrong in one way, beside the right outcome.
WRONG = {
    "value: exact": (array([1, 2], "int32"), array([1, 3], "int32")),
    "value: number": (array([1.0, 2.0]), array([1.0, 2.5])),
    "value: number, within float16": (array([1.0, 2.0]), array([1.0, 2.001])),
    "value: nan": (array([1.0, np.nan]), array([1.0, 2.0])),
    "value: infinite": (array([np.inf]), array([-np.inf])),
    "value: zero": (array([0.0]), array([-0.0])),
    "dtype: int32 for int64": (array([1], "int32"), array([1], "int64")),
    "weak: True for False": (array(1.0, weak=True), array(1.0)),
    "shape: [1] for []": (array([1.0]), array(1.0)),
    "tree: list(*) for tuple(*)": (
        replace(array(1.0), tree="list(*)"),
        replace(array(1.0), tree="tuple(*)"),
    ),
    "refused: ValueError for a result": (error("ValueError"), array(1.0)),
    "missing: AttributeError for a result": (
        error("AttributeError", message="module 'traceir' has no attribute 'f'"),
        array(1.0),
    ),
    "missing: AttributeError for ValueError": (
        outcome(lambda: traceir.nn.scaled_matmul, traceir),
        error("ValueError"),
    ),
    "accepted: a result for TypeError": (array(1.0), error("TypeError")),
    "class: TypeError for ValueError": (error("TypeError"), error("ValueError")),
    "object: 1 for 1.0": (
        Outcome((Leaf("", False, (), 1),), "*"),
        Outcome((Leaf("", False, (), 1.0),), "*"),
    ),
}


@pytest.mark.parametrize("told", WRONG)
def test_the_comparison_tells(told: str) -> None:
    difference = compare(*WRONG[told])
    assert difference is not None
    assert f"{difference.kind}: {difference.detail}" == told


def test_what_is_alike_is_not_told() -> None:
    for ours, theirs in WRONG.values():
        assert compare(ours, ours) is None
        assert compare(theirs, theirs) is None
    assert compare(array([1.0]), array([1.0 + 2**-23])) is None
    assert compare(error("RuleTypeError", "TypeError"), error("TypeError")) is None
    nothing = np.zeros(2, traceir.dtypes.float0)  # the tangents of integers
    tangent = outcome(lambda: nothing, traceir)
    assert compare(tangent, tangent) is None


def test_a_difference_is_made_small() -> None:
    program = next(p for p in PROGRAMS if len(p.lines) > 2 and p.around)
    small = minimised(program, lambda p: p.lines[0] == program.lines[0])
    assert len(small.lines) == 1
    assert not small.around
    for candidate in simpler(program):
        compile(candidate.text, "program", "exec")


def test_a_known_difference_is_explained_and_others_are_not(tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text(
        """[[known]]
        program = 'jnp\\.f\\('
        kind = "dtype: .*"
        reason = "g.rule: why"
        rounding = true
        """
    )
    table = known.known(tmp_path / "known.toml")
    row = {"kind": "dtype", "detail": "int32 for int64", "body": "y0 = jnp.f(x0)"}
    row["theirs"] = "int64[]"
    found = known.explanation(row, table)
    assert found is not None
    assert (found.reason, found.rounding) == ("g.rule: why", True)
    assert not known.explanation({**row, "kind": "shape"}, table)
    assert not known.explanation({**row, "body": "y0 = jnp.g(x0)"}, table)


def test_every_known_difference_has_a_reason_whose_rules_exist() -> None:
    for entry in known.known():
        assert entry.reason
        cited = re.findall(r"\b([a-z_]+\.[a-z]+(?:-[a-z]+)*)\b(?=[,):])", entry.reason)
        assert set(cited) <= ids(), entry.reason
