"""The parameters of public functions beside JAX's: what is missing, or elsewhere."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path

from answers.signatures import MODULES, RECORD, Parameters, parameters, signatures

import traceir

GAPS = Path(__file__).parent / "gaps.txt"


def gap(ours: list[list[str]], theirs: list[list[str]]) -> str:
    """The names of parameters, or their order, at which a call of JAX's may fail."""
    known = set(chain(*ours))
    missing = [name for name in chain(*theirs) if name not in known]
    named = [name for name in theirs[0] if name in ours[1]]
    places = [name for name in theirs[0] if name in ours[0]]
    same = places == [name for name in ours[0] if name in theirs[0]]
    parts = [f"no {name}" for name in missing] + [f"{name} by name" for name in named]
    return ", ".join(parts if same else [*parts, "another order"])


def ours() -> Parameters:
    """Those of this library; its modules import functions when they are asked for."""
    found = signatures("traceir")
    for name in MODULES:
        module = traceir
        for part in name.split("."):
            module = getattr(module, part)
        for key in dir(module):
            own = None if key.startswith("_") else parameters(getattr(module, key))
            if own is not None:
                found[f"{name}.{key}"] = own
    return found


def test_parameters_are_those_of_jax() -> None:
    recorded, mine = json.loads(RECORD.read_text()), ours()
    both = sorted(recorded.keys() & mine.keys())
    found = [f"{k}: {text}" for k in both if (text := gap(mine[k], recorded[k]))]
    assert len(both) > 700
    assert found == GAPS.read_text().splitlines()
