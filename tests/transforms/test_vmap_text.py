"""The programs of batches are those that JAX prints."""

from __future__ import annotations

import tomllib

import pytest

import traceir
from tests.transforms.batch_texts import DATA, cases, program

TEXTS = {row["of"]: row["is"] for row in tomllib.loads(DATA.read_text())["text"]}
PARTS = {line: parts for line, *parts in cases()}


def test_every_case_is_recorded() -> None:
    assert list(PARTS) == list(TEXTS)


@pytest.mark.parametrize("line", PARTS)
def test_a_batch_prints_as_in_jax(line: str) -> None:
    assert program(traceir, traceir.numpy, *PARTS[line]) == TEXTS[line]
