"""Functions that share their meaning with NumPy, line by line (`lines.py`).

Cites promote.jax, face.*
"""

from __future__ import annotations

import re
import warnings
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from array_lines import Line, draw, lines
from soak import examples, sample

import traceir
import traceir.numpy as jnp
from traceir.dtypes import kind_of

LINES = [line for line in lines() if "plain" not in line.marks]
TRACED = [line for line in LINES if "static" not in line.marks]
MAPPED = [line for line in TRACED if "alone" not in line.marks and line.operands]
# What is compiled is primitives, each of which has cases and draws of its own.
STAGED = [(line, "reference") for line in TRACED]
STAGED += [(line, "numba") for line in sample(TRACED, 5)]
FEW = examples(5)
REFUSALS = (TypeError, ValueError, IndexError, ArithmeticError, AttributeError)


def same(got: Any, want: Any, line: Line) -> None:
    """Raise AssertionError unless a result is what NumPy gives."""
    if isinstance(want, (list, tuple)):
        assert isinstance(got, (list, tuple))
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            same(one, other, line)
        return
    found, wanted = np.asarray(got), np.asarray(want)
    assert found.shape == wanted.shape
    if "wide" not in line.marks:
        assert kind(found) == kind(wanted)
    if wanted.dtype.kind not in "iufb":
        assert repr(got) == repr(want)
        return
    close(found, wanted, line)


def kind(array: np.ndarray) -> str:
    """The kind of a dtype; signed and unsigned integers are one."""
    found = kind_of(array.dtype) if array.dtype == jnp.bfloat16 else array.dtype.kind
    return "i" if found == "u" else found


def close(found: np.ndarray, wanted: np.ndarray, line: Line) -> None:
    """Raise AssertionError unless numbers agree to the digits that both dtypes have."""
    floats = [a.dtype for a in (found, wanted) if a.dtype.kind == "f"]
    if not floats:
        np.testing.assert_array_equal(found, wanted)
        return
    step = max(float(np.finfo(d).eps) for d in floats)
    digits = step * (1e3 if "loose" in line.marks else 16)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            found.astype(float), wanted.astype(float), rtol=digits, atol=digits
        )


def arrays(operands: dict[str, np.ndarray]) -> dict[str, Any]:
    """Operands as arrays of the library under test."""
    return {name: jnp.asarray(value) for name, value in operands.items()}


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.text)
def test_a_line_gives_what_numpy_gives(line: Line) -> None:
    start = crc32(line.text.encode())
    for k in range(max(FEW, len(line.dtypes))):  # each dtype at least once
        operands = draw(line, line.dtypes[k % len(line.dtypes)], start + k)
        shown = {n: (v.dtype.name, v.tolist()) for n, v in operands.items()}
        try:
            gives_what_numpy_gives(line, operands)
        except (AssertionError, pytest.fail.Exception) as error:
            raise AssertionError(f"{shown}: {error}") from error


def gives_what_numpy_gives(line: Line, operands: dict[str, np.ndarray]) -> None:
    """Raise AssertionError or Failed if not, or if only one of both refuses."""
    with traceir.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            want = line.run(np, operands)
        except REFUSALS:
            if "admits" in line.marks:
                return
            with pytest.raises(REFUSALS):
                line.run(jnp, arrays(operands))
        else:
            same(line.run(jnp, arrays(operands)), want, line)


def example(line: Line, dtypes: list[str] | None = None) -> dict[str, np.ndarray]:
    """Operands of a line that NumPy takes, their dtype chosen by its text."""
    start = crc32(line.text.encode())
    known = dtypes or line.dtypes
    for seed in range(start, start + 200):
        operands = draw(line, known[seed % len(known)], seed)
        if not all(v.size for v in operands.values()):
            continue
        try:
            line.run(np, operands)
        except REFUSALS:
            continue
        return operands
    raise AssertionError(f"no operands for {line.text}")


@pytest.mark.parametrize(
    ("line", "backend"), STAGED, ids=lambda given: getattr(given, "text", given)
)
def test_a_line_is_the_same_when_it_is_traced(line: Line, backend: str) -> None:
    with traceir.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        operands = arrays(example(line))
        want = line.run(jnp, operands)
        staged = traceir.jit(lambda ops: line.run(jnp, ops), backend=backend)
        same(staged(operands), want, line)


@pytest.mark.parametrize("line", MAPPED, ids=lambda line: line.text)
def test_a_line_is_mapped_over_a_new_axis(line: Line) -> None:
    with traceir.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        operands = arrays(example(line))
        want = line.run(jnp, operands)
        rows = {name: jnp.stack([v, v]) for name, v in operands.items()}
        found = traceir.vmap(lambda ops: line.run(jnp, ops))(rows)
        twice = traceir.tree.map(lambda leaf: np.stack([np.asarray(leaf)] * 2), want)
        same(found, twice, line)


# Not those whose answer leaps: ranks, factors (which NumPy refuses in float16), cells.
ROUGH = [
    line
    for line in LINES
    if "f" in line.kinds and not re.search(r"np\.(linalg|histogram)", line.text)
]


@pytest.mark.parametrize("line", ROUGH, ids=lambda line: line.text)
def test_a_line_in_bfloat16_is_near_to_numpys_float32(line: Line) -> None:
    few = crc32(line.text.encode()) % 8 == 0 and line in TRACED
    with traceir.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        operands = example(line, ["float32"])
        want = line.run(np, operands)
        halves = {name: half(value) for name, value in operands.items()}
        near(line.run(jnp, halves), want)
        if few:
            near(traceir.jit(lambda ops: line.run(jnp, ops))(halves), want)


def half(value: np.ndarray) -> Any:
    """An operand with bfloat16 in the place of float32; its quarters remain."""
    return jnp.asarray(value, jnp.bfloat16 if value.dtype.kind == "f" else None)


def near(got: Any, want: Any) -> None:
    """Raise AssertionError unless results agree to what few digits there are."""
    if isinstance(want, (list, tuple)):
        for one, other in zip(got, want, strict=True):
            near(one, other)
        return
    found, wanted = np.asarray(got), np.asarray(want)
    if wanted.dtype.kind in "biuf":
        assert found.shape == wanted.shape
        assert kind(found) == kind(wanted)
        error = 2.0**-4
        np.testing.assert_allclose(
            found.astype(float), wanted.astype(float), error, error
        )
