"""Short programs beside JAX's recorded answers: types, shapes, values, errors."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from answers.record import RECORD, answer, names, programs

CLOSE = {"bfloat16": 0.02, "float16": 2e-3}


def same(ours: Any, theirs: Any) -> bool:
    """True if answers agree: elements up to rounding, the rest exactly."""
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, str) or isinstance(theirs, str):
        return ours == theirs or str(theirs) in str(ours).split(",")
    if any(ours[key] != theirs[key] for key in ("type", "shape")):
        return False
    near = CLOSE.get(theirs["type"], 1e-5)
    mine, other = (np.array(a["value"], dtype=float) for a in (ours, theirs))
    return bool(np.allclose(mine, other, near, near, equal_nan=True))


def test_answers_are_those_of_jax() -> None:
    recorded = json.loads(RECORD.read_text())
    known = names("traceir")
    assert list(recorded) == programs()
    wrong = {
        program: (ours, theirs)
        for program, theirs in recorded.items()
        if not same(ours := answer(program, known), theirs)
    }
    assert wrong == {}
